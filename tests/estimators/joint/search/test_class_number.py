"""How many classes: chosen by likelihood and held-out answers; too few are warned of."""

import warnings

import numpy as np
import pytest

from noisypairs import (
    ClassNamesWarning,
    ClassNumberWarning,
    JointPairClassifier,
    LabelingNoise,
    PairingNoise,
    sample_pairs,
)
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.estimators.joint.search.class_number import AUTOMATIC, held_out_gain
from noisypairs.estimators.joint.search.selection import Search

STARTS = ("aligned", "answers", "kmeans", "spectral")


def gaussians(n_classes: int, seed: int, n_items: int = 240):
    """Return items of equally large Gaussian classes and their classes."""
    random = np.random.default_rng(seed)
    y = np.arange(n_items) % n_classes
    means = 2.0 * random.normal(size=(n_classes, 4))
    return means[y] + random.normal(size=(n_items, 4)), y


def search(X, pairs, numbers):
    problem = JointProblem(X, pairs, list(numbers), 5, 0)
    return Search(problem, None, "auto", STARTS, 0)


def quiet_fit(X, pairs, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClassNamesWarning)
        return JointPairClassifier(random_state=0, **settings).fit(X, pairs)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_the_number_is_chosen(n_classes):
    X, y = gaussians(n_classes, seed=n_classes)
    pairs = sample_pairs(y, 8 * len(y), PairingNoise(0.2, 0.2), random_state=1)
    clf = quiet_fit(X, pairs, n_classes="auto")
    assert clf.n_classes_ == len(clf.classes_) == n_classes
    scores = clf.class_numbers_
    assert set(scores) <= set(AUTOMATIC)
    assert all(scores[n_classes] - scores[K] > 3 for K in scores if n_classes > K)


@pytest.mark.parametrize("rates", [(0.1, 0.3), (0.05, 0.4)])
def test_noise_that_treats_classes_differently_is_not_a_third_class(rates):
    X, y = gaussians(2, seed=5, n_items=400)
    pairs = sample_pairs(y, 5 * len(y), LabelingNoise(*rates), random_state=1)
    found = search(X, pairs, (2, 3))
    found.choose_classes((2, 3))
    assert found.n_classes == 2
    # Two rates alone would ask for the third class: its likelihood is higher by far.
    two, three = found.tried[2].families["pairing"], found.tried[3].families["pairing"]
    assert three.log_likelihood - two.log_likelihood > 10


def test_a_number_that_is_too_small_is_said_and_the_right_one_is_not():
    X, y = gaussians(3, seed=3)
    pairs = sample_pairs(y, 8 * len(y), PairingNoise(0.2, 0.2), random_state=1)
    with pytest.warns(ClassNumberWarning, match="3 classes explain the answers better than 2"):
        few = quiet_fit(X, pairs, n_classes=2)
    assert few.class_numbers_[3] > few.class_numbers_[2] + 10
    right = quiet_fit(X, pairs, n_classes=3)  # a warning would be an error here
    assert right.class_numbers_[4] < right.class_numbers_[3] + 3


def test_the_largest_number_of_a_range_is_said_to_be_too_small():
    X, y = gaussians(4, seed=2)
    pairs = sample_pairs(y, 8 * len(y), PairingNoise(0.2, 0.2), random_state=1)
    with pytest.warns(ClassNumberWarning, match="4 classes explain the answers better than 3"):
        quiet_fit(X, pairs, n_classes=(2, 3))


def test_labels_may_name_fewer_classes_than_are_chosen():
    X, y = gaussians(3, seed=3)
    pairs = sample_pairs(y, 8 * len(y), PairingNoise(0.2, 0.2), random_state=1)
    known = pairs.with_labels({0: "a", 3: "a", 1: "b", 4: "b"})
    with pytest.warns(ClassNamesWarning, match="called unnamed 1"):
        clf = JointPairClassifier(n_classes="auto", random_state=0).fit(X, known)
    assert clf.classes_.tolist() == ["a", "b", "unnamed 1"]
    assert (clf.predict(X) == np.array(["a", "b", "unnamed 1"])[y]).mean() > 0.9


@pytest.mark.parametrize(
    ("n_classes", "says"),
    [("three", "'auto'"), (1, "at least 2"), ((), "at least 2"), (3, "name 2 classes")],
)
def test_numbers_that_cannot_be(n_classes, says):
    X, y = gaussians(2, seed=0, n_items=60)
    pairs = sample_pairs(y, 120, PairingNoise(0.1, 0.1), random_state=0).with_labels({0: 0, 1: 1})
    with pytest.raises(ValueError, match=says):
        JointPairClassifier(n_classes=n_classes).fit(X, pairs)


def test_held_out_answers_are_predicted_without_their_pair():
    X, y = gaussians(3, seed=3)
    once = sample_pairs(y, 6 * len(y), PairingNoise(0.2, 0.2), random_state=1)
    twice = once.select(np.repeat(np.arange(once.n_pairs), 2))  # every answer copied
    found = search(X, twice, (2, 3))
    more, fewer = found.explain(3), found.explain(2)
    gain, error = held_out_gain(found, more, fewer)
    assert gain > error
    predicted = found.held_out[3].reshape(-1, 2)
    # Copies stand in one fold, so both are predicted by the same beliefs, which saw neither.
    np.testing.assert_allclose(predicted[:, 0], predicted[:, 1], atol=1e-12)
