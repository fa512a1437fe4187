"""The number of classes by cuts and mergers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from noisypairs import PairingNoise, sample_pairs
from noisypairs.errors import ClassNamesWarning
from noisypairs.estimators.inner.ridge import RidgeClasses
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.estimators.joint.search.selection import Search
from noisypairs.estimators.joint.search.splits import Moves, two_rates
from noisypairs.noise import MatrixNoise
from tests.estimators.joint.builders import joint

NOISE = PairingNoise(0.1, 0.1)


def classes(K, n_items=240, per_item=10, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_items) % K)
    X = 2.0 * rng.normal(size=(K, 5))[y] + rng.normal(size=(n_items, 5))
    return X, y, sample_pairs(y, per_item * n_items, NOISE, random_state=seed)


def moves(X, pairs, **limits):
    problem = JointProblem(X, pairs, [2], "auto", 0)
    return Moves(Search(problem, None, "pairing", ("aligned",), 0), **limits)


def belief_in(labels):
    K = labels.max() + 1
    return 0.8 * np.eye(K)[labels] + 0.2 / K


def test_cuts_find_classes_that_were_one():
    X, y, pairs = classes(5)
    step = moves(X, pairs)
    run = step.split(step.rounds(belief_in(np.minimum(y, 1)), NOISE))
    assert run.beliefs.item.shape[1] == 5
    assert adjusted_rand_score(y, run.beliefs.item.argmax(axis=1)) > 0.9
    few = moves(X, pairs, most=3)
    assert few.split(few.rounds(belief_in(np.minimum(y, 1)), NOISE)).beliefs.item.shape[1] == 3


def test_mergers_undo_a_needless_cut_and_keep_to_the_least():
    X, y, pairs = classes(3)
    cut = np.where((y == 2) & (np.arange(240) % 2 == 0), 3, y)
    step = moves(X, pairs)
    run = step.rounds(belief_in(cut), NOISE, 1)
    assert run.beliefs.item.shape[1] == 4
    assert step.merge(run).beliefs.item.shape[1] == 3
    assert moves(X, pairs, least=4).merge(run).beliefs.item.shape[1] == 4


def test_named_classes_are_not_merged():
    X, y, pairs = classes(3)
    cut = np.where((y == 2) & (np.arange(240) % 2 == 0), 3, y)
    items = [int(np.flatnonzero(cut == k)[0]) for k in range(4)]
    labelled = pairs.with_labels(dict(zip(items, "abcd", strict=True)))
    problem = JointProblem(X, labelled, [4], "auto", 0)
    step = Moves(Search(problem, None, "pairing", ("aligned",), 0))
    run = step.merge(step.rounds(belief_in(cut), NOISE, 1))
    assert run.beliefs.item.shape[1] == 4


def test_the_number_of_classes_grows_beyond_the_range():
    X, y, pairs = classes(8, n_items=160, per_item=16)
    with pytest.warns(ClassNamesWarning):
        model = joint(RidgeClasses(), n_classes="auto", noise_model="pairing", positive=None).fit(
            X, pairs
        )
    assert 7 <= model.n_classes_ <= 9  # cuts and mergers stop at the first number that stays
    assert adjusted_rand_score(y, model.item_proba_.argmax(axis=1)) > 0.9


def test_two_rates_of_any_noise():
    matrix = MatrixNoise([[0.9, 0.2], [0.2, 0.7]])
    found = two_rates(matrix, np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert (found.similar_flip, found.dissimilar_flip) == pytest.approx((0.2, 0.2))
    assert two_rates(NOISE, np.eye(2)) is NOISE
