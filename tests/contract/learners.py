"""Find every pair classifier of the package and give it what its parameters ask for."""

from __future__ import annotations

import importlib
import inspect
import itertools
import pkgutil
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from noisypairs import (
    JointPairClassifier,
    NoiseModel,
    PairingNoise,
    Pairs,
    datasets,
    estimators,
    sample_pairs,
)
from noisypairs.estimators.base import PairClassifier

NOISE = PairingNoise(0.1, 0.2)


def is_concrete(kind: type) -> bool:
    """Whether a class leaves no abstract method open (scikit-learn's bases know no ABCMeta)."""
    members = (getattr(kind, name, None) for name in dir(kind))
    return not any(getattr(member, "__isabstractmethod__", False) for member in members)


def pair_classifiers() -> list[type[PairClassifier]]:
    """Return every public concrete PairClassifier of the rooms of learners, by name."""
    found = set()
    room = pkgutil.walk_packages(estimators.__path__, f"{estimators.__name__}.")
    modules = (importlib.import_module(module.name) for module in room)
    for module in itertools.chain([sys.modules[JointPairClassifier.__module__]], modules):
        for name, kind in inspect.getmembers(module, inspect.isclass):
            if issubclass(kind, PairClassifier) and is_concrete(kind) and name[0] != "_":
                found.add(kind)
    return sorted(found, key=lambda kind: kind.__name__)


def has(kind: type[PairClassifier], name: str) -> bool:
    """Whether the constructor has this parameter."""
    return name in kind().get_params(deep=False)


def build(kind: type[PairClassifier], **wanted: Any) -> PairClassifier:
    """Return an estimator with those of the wanted parameters that it has; the rest are dropped.

    By default class 1 is the minority, the noise is known, and the seed is 0.
    """
    wanted = {"n_classes": 2, "noise": NOISE, "class_order": "falling", "random_state": 0} | wanted
    known = kind().get_params(deep=False)
    return kind(**{name: value for name, value in wanted.items() if name in known})


@cache
def problem(
    prior: float = 0.25,
    n_items: int = 300,
    n_pairs: int = 4000,
    noise: NoiseModel = NOISE,
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.int64], Pairs]:
    """Return (X, y, pairs): the two Gaussians, pairs drawn at random and corrupted."""
    X, y = datasets.load("gaussians", n_samples=n_items, prior=prior, random_state=seed)
    return X, y, sample_pairs(y, n_pairs, noise, random_state=seed + 1)


#: The classes under test; ``--learner`` puts one from outside the package in their place.
ALL = pair_classifiers()
every = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)


def every_with(*names: str) -> pytest.MarkDecorator:
    """Parametrise over the classes that have all of these parameters."""
    kinds = [kind for kind in ALL if all(has(kind, name) for name in names)]
    assert kinds or len(ALL) == 1, f"no estimator has {names}: this check would check nothing"
    return pytest.mark.parametrize("kind", kinds, ids=[kind.__name__ for kind in kinds])


def rebuilt(
    pairs: Pairs, order: Any = slice(None), swap: bool = False, same: Any = None, weight: Any = None
) -> Pairs:
    """Return the same pairs in another form: in another order, ends exchanged, answers recoded."""
    left, right = (pairs.right, pairs.left) if swap else (pairs.left, pairs.right)
    same = pairs.same if same is None else same
    return Pairs(left[order], right[order], same[order], pairs.n_items, weight=weight)


def assert_same_model(
    one: PairClassifier, other: PairClassifier, X: Any, atol: float = 1e-5
) -> None:
    """Predictions agree, and probabilities to the rounding that iterative solvers blow up."""
    np.testing.assert_array_equal(one.classes_, other.classes_)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=0, atol=atol)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
