"""Where EM begins: guesses by name, rates of a guess, directions that answers follow."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge

from noisypairs import PairingNoise, Pairs, datasets, sample_pairs
from noisypairs.joint import starts
from noisypairs.joint.problem import Problem
from noisypairs.joint.starts import (
    Alignment,
    Starts,
    crossed,
    graph_excess,
    guessed_noise,
    joined,
)
from noisypairs.metrics import accuracy_up_to_names

# --- alignment -----------------------------------------------------------------------------------

N, D = 600, 40


def problem(n_items=300, n_pairs=1500, seed=0, noise=(0.1, 0.2)):
    X, y = datasets.load("gaussians", n_samples=n_items, prior=0.3, random_state=seed)
    pairs = sample_pairs(y, n_pairs, PairingNoise(*noise), random_state=seed)
    return X, y, pairs


def guesses(problem, n_classes, seed):
    starts = Starts(problem, n_classes, seed)
    return {name: starts(name) for name in starts.names}


def test_every_guess_is_a_distribution_and_some_find_the_classes():
    X, y, pairs = problem()
    found = guesses(Problem(X, pairs, random_state=0), 2, 0)
    for guess in found.values():
        assert guess.shape == (300, 2)
        assert_allclose(guess.sum(axis=1), 1.0)
    assert max(accuracy_up_to_names(y, g.argmax(axis=1)) for g in found.values()) > 0.95


def test_without_features_the_graph_alone_guesses():
    _, y, pairs = problem(n_pairs=4000)
    found = guesses(Problem(None, pairs, random_state=0), 2, 0)
    assert list(found) == ["spectral"]
    assert accuracy_up_to_names(y, found["spectral"].argmax(axis=1)) > 0.9


def test_columns_are_matched_to_known_classes():
    X, y, pairs = problem()
    known = pairs.with_labels({i: int(y[i]) for i in range(20)})
    for guess in guesses(Problem(X, known, random_state=0), 2, 0).values():
        assert (guess[:20].argmax(axis=1) == y[:20]).mean() >= 0.5


def test_another_guess_of_a_start_is_another_clustering():
    X, _, pairs = problem()
    starts = Starts(Problem(X, pairs, random_state=0), 5, 0)
    assert not np.array_equal(starts("clusters"), starts("clusters"))


def test_clusters_are_joined_where_that_makes_the_answers_most_likely():
    """Every couple of six clusters is tried; the shares of "same" are those before it is joined."""
    rng = np.random.default_rng(3)
    cluster = rng.integers(6, size=60)
    pairs = sample_pairs(cluster // 2, 400, PairingNoise(0.3, 0.2), random_state=3)
    weight = rng.uniform(0.5, 2.0, 400)
    pairs = Pairs(pairs.left, pairs.right, pairs.same, 60, weight=weight)
    inside = cluster[pairs.left] == cluster[pairs.right]
    p = (weight[inside & pairs.same].sum() * 2 + 1) / (weight[inside].sum() * 2 + 2)
    q = (weight[~inside & pairs.same].sum() * 2 + 1) / (weight[~inside].sum() * 2 + 2)
    likelihood = {}
    for k in range(6):
        for gone in range(k + 1, 6):
            one = np.where(cluster == gone, k, cluster)
            chance = np.where(one[pairs.left] == one[pairs.right], p, q)
            log_chance = np.log(np.where(pairs.same, chance, 1 - chance))
            likelihood[k, gone] = float(weight @ log_chance)
    k, gone = max(likelihood, key=likelihood.get)
    expected = np.where(cluster == gone, k, cluster)
    found = joined(cluster, pairs, 5)
    assert accuracy_up_to_names(expected, found) == 1.0
    assert len(np.unique(found)) == 5


def test_fewer_clusters_than_classes_stay_as_they_are():
    pairs = Pairs([0, 1], [1, 2], [True, False])
    assert joined(np.array([0, 0, 1]), pairs, 3).tolist() == [0, 0, 1]


def test_what_two_beliefs_agree_on_is_kept():
    """Each takes two of three classes for one, another two each, and cuts the third."""
    rng = np.random.default_rng(0)
    y, side = rng.integers(3, size=90), rng.integers(2, size=90)
    pairs = sample_pairs(y, 600, PairingNoise(0.1, 0.1), random_state=0)
    one = np.where(y < 2, 0, 1 + side)
    other = np.where(y > 0, 0, 1 + side)
    found, moved = crossed(np.eye(3)[one], np.eye(3)[other], pairs)
    assert accuracy_up_to_names(y, found.argmax(axis=1)) == 1.0
    assert_allclose(found.sum(axis=1), 1.0)
    apart = min((y == 0).mean(), (y == 1).mean())  # these two were together
    joined_again = min(((y == 2) & (side == k)).mean() for k in (0, 1))
    assert moved == pytest.approx(max(apart, joined_again))
    assert crossed(np.eye(3)[y], np.eye(3)[y], pairs)[1] == 0.0


def test_rates_of_a_guess_are_counted_and_kept_within_bounds():
    pairs = Pairs([0, 0, 2, 0], [1, 1, 3, 2], [True, False, True, True], n_items=4)
    guess = starts.soften(np.array([0, 0, 1, 1]), 2)
    noise = guessed_noise(guess, pairs)  # one of three same pairs is called different
    assert noise.similar_flip == pytest.approx(1 / 3)
    assert noise.dissimilar_flip == 0.4  # all of one: cut


def test_smoothing_is_ridge_regression():
    rng = np.random.default_rng(0)
    Z, values = rng.normal(size=(60, 4)), rng.normal(size=(60, 2))
    expected = Ridge(alpha=1.0).fit(Z, values).predict(Z) - values.mean(axis=0)
    assert_allclose(starts.smoothed(Z, values), expected, atol=1e-8)


def test_random_answers_follow_neither_features_nor_graph():
    X, _, pairs = problem()
    rng = np.random.default_rng(1)
    coin = Pairs(pairs.left, pairs.right, rng.random(pairs.n_pairs) < 0.5, n_items=300)
    Z = Problem(X, coin, random_state=0).Z
    assert Alignment(Z, coin).excess(np.random.default_rng(0)) < 4
    assert Alignment(Z, pairs).excess(np.random.default_rng(0)) > 10
    graph = Problem(None, coin, random_state=0).graph
    assert graph_excess(graph, np.random.default_rng(0)) < 4
    assert graph_excess(Problem(None, pairs, random_state=0).graph, np.random.default_rng(0)) > 6


def test_which_starts_are_made():
    """None may go missing: on easy problems the others find the same classes."""
    X, _, pairs = problem()
    plain = ["spectral", "aligned", "smooth", "clusters"]
    found = guesses(Problem(X, pairs, random_state=0), 2, 0)
    assert list(found) == plain
    found = guesses(Problem(X, pairs, random_state=0), 3, 0)
    assert list(found) == [*plain, "mixed 0.3", "mixed 0.7"]
    assert list(guesses(Problem(None, pairs, random_state=0), 3, 0)) == ["spectral"]
    # Each is one of its own, and "smooth" is not the graph alone.
    assert len({guess.tobytes() for guess in found.values()}) == 6
