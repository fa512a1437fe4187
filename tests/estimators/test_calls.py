"""One warning of class names for one call of the user, however many folds it fits."""

from __future__ import annotations

import warnings

import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, learning_curve

from noisypairs import Pairs, WeightedPairClassifier, datasets, sample_pairs
from noisypairs.errors import ClassNamesWarning
from noisypairs.estimators.calls import said_before
from noisypairs.noise import PairingNoise

NOISE = PairingNoise(0.1, 0.1)


@pytest.fixture(scope="module")
def problem():
    X, y = datasets.load("gaussians", n_samples=120, prior=0.15, random_state=0)
    return X, sample_pairs(y, 2000, NOISE, random_state=0)


def count(call) -> int:
    """Return how often the names of the classes are warned of, whatever the filters."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return sum(issubclass(one.category, ClassNamesWarning) for one in caught)


def unnamed() -> WeightedPairClassifier:
    return WeightedPairClassifier(noise=NOISE, random_state=0)


@pytest.mark.parametrize(
    "call",
    [
        lambda X, pairs: cross_val_score(unnamed(), X, pairs, cv=KFold(3)),
        lambda X, pairs: GridSearchCV(unnamed(), {"random_state": [0, 1]}, cv=KFold(2)).fit(
            X, pairs
        ),
        lambda X, pairs: learning_curve(unnamed(), X, pairs, cv=KFold(2), train_sizes=[0.7, 1.0]),
        lambda X, pairs: unnamed().fit(X, pairs),
    ],
    ids=["cross_val_score", "GridSearchCV", "learning_curve", "fit"],
)
def test_a_call_warns_once_and_the_next_one_again(call, problem):
    assert [count(lambda: call(*problem)) for _ in range(2)] == [1, 1]


def test_fits_in_a_loop_are_calls_of_their_own(problem):
    X, pairs = problem
    assert count(lambda: [unnamed().fit(X, pairs) for _ in range(3)]) == 3
    assert not said_before("names")


def test_with_labels_nothing_is_warned_of(problem):
    X, pairs = problem
    labelled = pairs.with_labels(dict(enumerate(range(2))))
    assert isinstance(labelled, Pairs)
    assert count(lambda: unnamed().fit(X, labelled)) == 0
