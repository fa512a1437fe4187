"""Tables by name, and the parameters they take."""

import subprocess
import sys

import pytest

from noisypairs import datasets


def test_unknown_name_offers_the_nearest():
    with pytest.raises(ValueError, match="unknown data set 'diabets': did you mean 'diabetes'"):
        datasets.load("diabets")


def test_parameters_are_checked_before_anything_is_read(pip, isolated):
    fake = pip(None)
    with pytest.raises(TypeError, match="'n_sample' of the data set 'gaussians': did you mean 'n"):
        datasets.load("gaussians", n_sample=3)
    with pytest.raises(TypeError, match="'toy' takes no parameters, got 'random_state'"):
        datasets.load("toy", random_state=0)
    assert fake.commands == []


def test_importing_the_module_does_not_import_scikit_learn():
    code = "import sys, noisypairs.datasets; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
