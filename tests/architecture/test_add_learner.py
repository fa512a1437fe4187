"""The recipe "Add a learner", followed to the letter."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs import PairingNoise, datasets, sample_pairs
from noisypairs.app import model_file

ROOT = Path(__file__).parents[2]
HEADING, MODULE = "Add a learner", "grouping"


def test_it_keeps_the_whole_contract(recipe):
    """The command of the recipe; every check that applies to the class must pass."""
    asked = ["tests/contract", "--learner", f"{MODULE}:GroupingClassifier"]
    path = os.pathsep.join([str(Path(recipe.__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *asked],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= 40


def test_it_learns_and_saving_is_refused_by_name(recipe, tmp_path):
    X, y = datasets.load("gaussians", n_samples=300, prior=0.3, random_state=0)
    pairs = sample_pairs(y, 2000, PairingNoise(0.1, 0.2), random_state=0)
    learner = recipe.GroupingClassifier(class_order="falling", random_state=0)
    model = make_pipeline(StandardScaler(), learner).fit(X, pairs)
    assert model.score(X, y) > 0.98
    # About 1,000 pairs of each kind: three standard errors.
    assert learner.noise_.similar_flip == pytest.approx(0.1, abs=0.03)
    assert learner.noise_.dissimilar_flip == pytest.approx(0.2, abs=0.04)
    with pytest.raises(TypeError, match=r"cannot hold grouping\.GroupingClassifier"):
        model_file.save(tmp_path / "model.skops", model, {})
    assert list(tmp_path.iterdir()) == []
