"""Where the joint learner begins: guesses by name, rates of a guess."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from noisypairs import PairingNoise, Pairs, datasets, sample_pairs
from noisypairs.estimators.inner.features import numeric_features
from noisypairs.estimators.joint.beliefs import starts
from noisypairs.inference.graph import PairGraph
from noisypairs.metrics import accuracy_up_to_names


def seeded(seed=0):
    return np.random.RandomState(seed)


def guesses(kinds, Z, pairs, n_classes=2, n_random=0):
    graph = PairGraph.from_pairs(pairs)
    return starts.guesses(kinds, Z, pairs, graph, n_classes, n_random, seeded())


def problem(prior=0.3, n_items=300, n_pairs=4000, seed=0):
    X, y = datasets.load("gaussians", n_samples=n_items, prior=prior, random_state=seed)
    return X, y, sample_pairs(y, n_pairs, PairingNoise(0.1, 0.2), random_state=seed)


def test_guesses_by_name():
    X, y, pairs = problem()
    Z = numeric_features(X, 50, seed=0)
    found = guesses(starts.KINDS, Z, pairs, n_random=2)
    expected = [
        "aligned",
        "answers-median",
        "answers-mean",
        "kmeans",
        "spectral",
        "spectral-smooth",
    ]
    assert list(found) == [*expected, "random-0", "random-1"]
    for guess in found.values():
        assert guess.shape == (300, 2)
        assert_allclose(guess.sum(axis=1), 1)
        assert 0.05 < guess.min() < guess.max() < 0.95
    good = {name for name in found if accuracy_up_to_names(y, found[name].argmax(axis=1)) > 0.95}
    assert {"answers-mean", "kmeans", "spectral", "spectral-smooth"} <= good
    assert not np.array_equal(found["random-0"], found["random-1"])


def test_answers_are_read_item_by_item_without_features():
    """Item 0 differs from all others, which agree: by hand, its share is 0 and theirs 3/4."""
    left, right = np.triu_indices(5, 1)
    pairs = Pairs(left, right, left > 0, n_items=6)  # item 5 is in no pair
    found = guesses(("answers",), None, pairs)
    assert_array_equal(found["answers-mean"].argmax(axis=1), [0, 1, 1, 1, 1, 0])
    assert_allclose(found["answers-mean"][0], [0.8, 0.2])


def test_what_needs_features_is_left_out_without():
    _, y, pairs = problem()
    found = guesses(("answers", "kmeans", "spectral"), None, pairs)
    assert list(found) == ["answers-median", "answers-mean", "spectral"]
    assert accuracy_up_to_names(y, found["spectral"].argmax(axis=1)) > 0.95
    assert guesses(("kmeans",), None, pairs) == {}


def test_three_classes():
    crowd = datasets.simulated_crowd(n_items=200, n_annotators=5, spammer_share=0, random_state=0)
    Z = numeric_features(crowd.data, 50, seed=0)
    found = guesses(("answers", "kmeans", "spectral"), Z, crowd.pairs, n_classes=3)
    assert list(found) == ["kmeans", "spectral", "spectral-smooth"]  # shares order two groups only
    for name, guess in found.items():
        assert guess.shape == (200, 3)
        assert accuracy_up_to_names(crowd.target, guess.argmax(axis=1)) > 0.85, name


def test_the_same_seed_gives_the_same_guesses():
    X, _, pairs = problem(n_items=100, n_pairs=500)
    Z = numeric_features(X, 50, seed=0)
    one, two = (guesses(starts.KINDS, Z, pairs, n_random=1) for _ in range(2))
    assert all(np.array_equal(one[name], two[name]) for name in one)


def test_poor_material_gives_a_poor_guess_and_no_noise():
    """Constant features, or answers all alike, leave k-means one point; warnings are errors."""
    pairs = Pairs([0, 1, 2], [1, 2, 3], [True, True, True])
    found = guesses(("answers", "kmeans", "spectral"), np.zeros((4, 2)), pairs)
    assert all(np.unique(guess, axis=0).shape == (1, 2) for guess in found.values())


def test_misspelt_start():
    _, _, pairs = problem(n_items=20, n_pairs=50)
    with pytest.raises(ValueError, match=r"unknown start 'kmean': .*kmeans"):
        guesses(("kmean",), None, pairs)


# --- rates of a guess ----------------------------------------------------------------------------


def test_rates_at_which_a_guess_contradicts_the_answers():
    guess = np.array([[0.8, 0.2]] * 3 + [[0.2, 0.8]] * 3)
    left = [0, 0, 1, 3, 3, 0, 1, 2, 2, 2]
    right = [1, 2, 2, 4, 5, 3, 4, 5, 3, 4]
    same = [1, 1, 1, 0, 1, 0, 0, 1, 0, 1]  # 1 of 5 wrong inside, 2 of 5 across
    assert starts.guessed_noise(guess, Pairs(left, right, same)) == PairingNoise(0.2, 0.4)


def test_rates_of_a_guess_stay_sensible():
    guess = np.array([[0.8, 0.2], [0.8, 0.2], [0.2, 0.8]])
    clean = Pairs([0, 0], [1, 2], [1, 0])
    assert starts.guessed_noise(guess, clean) == PairingNoise(0.1, 0.1)
    opposite = Pairs([0, 0], [1, 2], [0, 1])
    assert starts.guessed_noise(guess, opposite) == PairingNoise(0.4, 0.4)
    inside = Pairs([0], [1], [1], n_items=3)  # nothing seen across: .3
    assert starts.guessed_noise(guess, inside) == PairingNoise(0.1, 0.3)


def test_smoothed_values_are_those_of_ridge_regression():
    rng = np.random.default_rng(0)
    Z, values, weight = rng.random((300, 20)), rng.random(300), rng.integers(4, size=300) + 1e-9
    Z[:, 3] = 1.0
    expected = Ridge().fit(Z, values, sample_weight=weight).predict(Z)
    assert_allclose(starts.smoothed(Z, values, weight), expected, atol=1e-10)
