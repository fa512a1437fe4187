from __future__ import annotations

import warnings

import pytest

from noisypairs.errors import (
    ClassNamesWarning,
    NotIdentifiableWarning,
    collected_warnings,
    did_you_mean,
)


def test_warnings_are_collected_once_each_and_class_names_never():
    with collected_warnings() as found:
        for kind, text in (
            (NotIdentifiableWarning, "few pairs"),
            (ClassNamesWarning, "named by size"),
            (UserWarning, "odd"),
            (NotIdentifiableWarning, "few pairs"),
        ):
            warnings.warn(text, kind, stacklevel=1)
        assert found == []  # filled when the block ends
    assert found == ["few pairs", "odd"]


def test_one_kind_alone_can_be_collected():
    with collected_warnings(NotIdentifiableWarning) as found:
        warnings.warn("odd", stacklevel=1)
        warnings.warn("few pairs", NotIdentifiableWarning, stacklevel=1)
    assert found == ["few pairs"]


def test_errors_pass_through():
    with pytest.raises(KeyError), collected_warnings():
        raise KeyError("lost")


def test_the_nearest_name_is_offered():
    assert did_you_mean("frest", ["forest", "mlp"]) == "did you mean 'forest'? Known: forest, mlp"
    assert did_you_mean("xyz", ["forest", "mlp"]) == "Known: forest, mlp"
