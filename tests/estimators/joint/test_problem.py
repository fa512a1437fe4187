"""One fit as a problem: its folds, and what stays when the pairs change."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from noisypairs import Pairs
from noisypairs.estimators.inner.features import KernelColumns
from noisypairs.estimators.joint.problem import JointProblem, n_folds, reordered, sampled_items
from noisypairs.inference.posteriors import cavities

from .builders import data, joint


@pytest.mark.parametrize(
    ("n_items", "expected"),
    [(2, 5), (1_999, 5), (2_000, 3), (19_999, 3), (20_000, 2), (10**7, 2)],
)
def test_fewer_folds_of_more_items(n_items, expected):
    assert n_folds(n_items) == expected


@pytest.mark.parametrize(("cv", "expected"), [("auto", 5), (4, 4)])
def test_every_item_is_tested_in_one_fold(cv, expected):
    X, _, pairs = data(n_items=100, n_pairs=200)
    folds = JointProblem(X, pairs, [2], cv, 0).folds
    assert len(folds) == expected
    assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(100))
    assert all(not set(train) & set(test) for train, test in folds)


def test_other_pairs_of_the_same_items_keep_folds_and_features():
    X, _, pairs = data(n_items=100, n_pairs=300)
    problem = JointProblem(X, pairs, [2], 3, 0)
    some = pairs.select(np.arange(60))
    other = problem.with_pairs(some)
    assert other.folds is problem.folds
    assert other.Z is problem.Z
    assert other.share == pytest.approx(np.mean(some.same))
    assert_array_equal(np.flatnonzero(other.in_pairs), np.union1d(some.left, some.right))
    assert problem.in_pairs.sum() > other.in_pairs.sum()
    # Items in no pair teach the potentials nothing.
    beliefs = np.random.default_rng(0).dirichlet([1, 1], 100)
    changed = np.where(other.in_pairs[:, None], beliefs, 0.5)
    assert_allclose(other.fast_potential(beliefs), other.fast_potential(changed), atol=1e-9)


def test_kernel_columns_of_the_starts_are_shared_with_the_candidates():
    X, _, pairs = data(n_items=100, n_pairs=200)
    problem = JointProblem(X, pairs, [2], 3, 0)
    assert_array_equal(problem.Z, KernelColumns(random_state=problem.seed).fit_transform(X))


def test_answers_alone_need_no_folds():
    _, _, pairs = data(n_items=50, n_pairs=100)
    problem = JointProblem(None, pairs, [2], "auto", 0)
    assert problem.Z is None
    assert not hasattr(problem, "folds")
    assert problem.predicted_gain(np.full((50, 2), 0.5)) == 0.0


def test_words_have_folds_but_no_fixed_features():
    pairs = Pairs([0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [True, False, True, False, True], n_items=10)
    problem = JointProblem(np.array([["a"], ["b"]] * 5), pairs, [2], "auto", 0)
    assert problem.Z is None
    assert len(problem.folds) == 5


def test_items_in_random_pairs_stand_for_all_where_some_were_chosen():
    pairs = Pairs([0, 1, 2], [1, 2, 3], [1, 0, 1], n_items=6, chosen=[False, True, True])
    everybody = pairs.item_counts().total > 0
    assert sampled_items(pairs, everybody).tolist() == [True, True, False, False, False, False]
    plain = Pairs(pairs.left, pairs.right, pairs.same, n_items=6)
    assert sampled_items(plain, everybody).tolist() == [True] * 4 + [False] * 2
    assert sampled_items(pairs.select([1, 2]), everybody).all()  # none at random: all must do


@pytest.mark.parametrize("order", [[1, 0], [2, 0, 1], [0, 2, 1]])
def test_everything_follows_when_classes_are_put_in_another_order(order):
    X, _, pairs = data(n_items=100, n_pairs=300)
    problem = JointProblem(X, pairs, [len(order)], "auto", 0)
    search = joint().search(problem)
    found = search.choose_family(search.choose_classes([len(order)]))
    other, edges = reordered(found, np.array(order)), np.arange(problem.graph.n_edges)
    assert_allclose(other.beliefs.item, found.beliefs.item[:, order])
    assert_allclose(other.potential, found.potential[:, order])
    both = (cavities(problem.graph, one.beliefs, edges) for one in (other, found))
    for end, expected in zip(*both, strict=True):
        assert_allclose(end, expected[:, order], atol=1e-6)
