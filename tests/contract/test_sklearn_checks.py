"""scikit-learn's own checks of every learner, as they are, and with classes turned into pairs.

`check_estimator` hands classes to ``fit``, and a pair classifier refuses what is no `Pairs`. So
each learner is checked twice. As it is, everything that fits must fail, and all else pass.
*Taught*, it draws pairs of the classes that the check gives, answered without error, and goes on
as ever: then nothing may fail but what `docs/contrib.md` lists with its reason.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.fixes import parse_version
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d

from noisypairs import (
    CleanPairs,
    COPKMeans,
    JointPairClassifier,
    LossCorrectionClassifier,
    PairKMeans,
    Pairs,
    WeightedPairClassifier,
)

from .learners import ALL

pytestmark = pytest.mark.skipif(len(ALL) == 1, reason="one learner of one's own is asked for")
PAGE = Path(__file__).parents[2] / "docs" / "contrib.md"
PRIOR = 0.2


def answered(y: Any) -> Pairs:
    """Return pairs of items of known classes; one in five ends is of the last class."""
    if not len(y):
        return Pairs([], [], np.zeros(0, dtype=bool), n_items=0)
    classes, code, counts = np.unique(y, return_inverse=True, return_counts=True)
    share = np.full(len(classes), (1 - PRIOR) / max(len(classes) - 1, 1))
    share[-1] = PRIOR if len(classes) > 1 else 1.0
    chance = (share / counts)[code]
    rng = np.random.default_rng(0)
    left, right = rng.choice(len(y), size=(2, 3000), p=chance / chance.sum())
    first = {int(np.flatnonzero(code == k)[0]): name for k, name in enumerate(classes)}
    return Pairs(left, right, code[left] == code[right], n_items=len(y), labels=first)


class Taught:
    """What is put before a learner so that it takes classes in the place of pairs."""

    def fit(self, X: Any, y: Any) -> Any:
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = column_or_1d(np.asarray(y), warn=True)
        check_classification_targets(y)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        return super().fit(X, answered(y))  # type: ignore[misc]


class TaughtLossCorrection(Taught, LossCorrectionClassifier):
    """Given what it needs: no noise, and the prior of the pairs."""


class TaughtWeighted(Taught, WeightedPairClassifier):
    """Given what it needs: no noise, and the prior of the pairs."""


class TaughtJoint(Taught, JointPairClassifier):
    """Given nothing."""


class TaughtPairKMeans(Taught, PairKMeans):
    """Given nothing."""


class TaughtCOPKMeans(Taught, COPKMeans):
    """Given nothing."""


known = {"noise": CleanPairs(), "prior": PRIOR}
TAUGHT = {
    "LossCorrectionClassifier": TaughtLossCorrection(Ridge(), **known),
    "WeightedPairClassifier": TaughtWeighted(LogisticRegression(), **known),
    "JointPairClassifier": TaughtJoint(LogisticRegression(), n_classes=2),
    "PairKMeans": TaughtPairKMeans(),
    "COPKMeans": TaughtCOPKMeans(),
}
BARE = [
    LossCorrectionClassifier(),
    WeightedPairClassifier(),
    JointPairClassifier(n_classes=2),
    PairKMeans(),
    COPKMeans(),
]


def reasons(heading: str) -> dict[str, str]:
    """Return {check: reason} of the table under a heading of the page."""
    section = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`check_[^|]+) \| ([^|]+) \|$", section, re.MULTILINE)
    return {check: why for checks, why in rows for check in re.findall(r"check_\w+", checks)}


def statuses(estimator: Any, failing: dict[str, str]) -> dict[str, set[str]]:
    """Return the checks by status; ``xfail`` are those that fail and are expected to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            estimator, expected_failed_checks=failing, on_fail=None, on_skip=None
        )
    by_status: dict[str, set[str]] = {}
    for one in found:
        by_status.setdefault(one["status"], set()).add(one["check_name"])
    return by_status


@pytest.mark.parametrize("name", TAUGHT)
def test_with_pairs_of_its_classes_every_check_passes_but_those_with_a_reason(name: str) -> None:
    failing = reasons("Checks that fail with pairs")
    found = statuses(TAUGHT[name], failing)
    assert found.get("failed", set()) == set()
    assert found.get("xfail", set()) == set(failing)
    assert len(found["passed"]) > 45


@pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason="the page lists the checks of scikit-learn 1.9",
)
@pytest.mark.parametrize("learner", BARE, ids=lambda one: type(one).__name__)
def test_without_pairs_whatever_fits_fails_and_all_else_passes(learner: Any) -> None:
    failing = reasons("Checks that fail without pairs")
    found = statuses(learner, failing)
    assert found.get("failed", set()) == set()
    stops = {f"check_{kind}_n_iter" for kind in ("transformer", "non_transformer_estimators")}
    assert set(failing) - stops <= found["xfail"] <= set(failing)  # stops: only with max_iter
    assert len(found["passed"]) >= 12
