"""One fit as a problem: its folds, and what stays when the pairs change."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from noisypairs import Pairs
from noisypairs.estimators.inner.features import KernelColumns
from noisypairs.joint.problem import Problem, sampled_items

from .builders import data


@pytest.mark.parametrize(("cv", "expected"), [("auto", 5), (4, 4)])
def test_every_item_is_tested_in_one_fold(cv, expected):
    X, _, pairs = data(n_items=100, n_pairs=200)
    folds = Problem(X, pairs, 2, cv, 0).folds
    assert len(folds) == expected
    assert_array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(100))
    assert all(not set(train) & set(test) for train, test in folds)


def test_other_pairs_of_the_same_items_keep_folds_and_features():
    X, _, pairs = data(n_items=100, n_pairs=300)
    problem = Problem(X, pairs, 2, 3, 0)
    some = pairs.select(np.arange(60))
    other = problem.with_pairs(some)
    for (_, one), (_, two) in zip(other.folds, problem.folds, strict=True):
        assert_array_equal(one, two)
    assert other.Z is problem.Z
    assert other.share == pytest.approx(np.mean(some.same))
    assert other.in_pairs is problem.in_pairs  # an item may teach though its answers are held out
    assert other.alignment.pairs.n_pairs == 60
    assert other.class_model("ridge") is problem.class_model("ridge")


def test_items_in_no_pair_teach_the_class_model_nothing():
    X, _, pairs = data(n_items=100, n_pairs=300)
    few = Problem(X, pairs.select(np.arange(60)), 2, 3, 0)
    assert 0 < few.in_pairs.sum() < 100
    beliefs = np.random.default_rng(0).dirichlet([1, 1], 100)
    changed = np.where(few.in_pairs[:, None], beliefs, 0.5)
    for name in ("ridge", "gaussian"):
        model = few.class_model(name)
        assert_allclose(model.scores(beliefs), model.scores(changed), atol=1e-9)


def test_kernel_columns_of_the_starts_are_shared_with_the_candidates():
    X, _, pairs = data(n_items=100, n_pairs=200)
    problem = Problem(X, pairs, 2, 3, 0)
    assert_array_equal(problem.Z, KernelColumns(random_state=problem.seed).fit_transform(X))


def test_answers_alone_have_the_shares_of_the_classes():
    _, _, pairs = data(n_items=50, n_pairs=100)
    problem = Problem(None, pairs, 2, "auto", 0)
    assert problem.Z is None
    assert problem.class_models == ["shares"]


def test_words_have_folds_but_no_fixed_features():
    pairs = Pairs([0, 1, 2, 3, 4], [5, 6, 7, 8, 9], [True, False, True, False, True], n_items=10)
    problem = Problem(np.array([["a"], ["b"]] * 5), pairs, 2, "auto", 0)
    assert problem.Z is None
    assert problem.class_models == ["shares"]
    assert len(problem.folds) == 5


def test_groups_of_items_are_never_divided_between_folds():
    X, _, pairs = data(n_items=90, n_pairs=200)
    group = np.arange(90) // 3
    for train, test in Problem(X, pairs, 2, 5, 0, groups=group).folds:
        assert not set(group[train]) & set(group[test])
        assert len(test) == 18


def test_blind_log_likelihood_is_that_of_the_share_and_weights_count():
    pairs = Pairs([0, 1, 2], [1, 2, 3], [1, 0, 1], n_items=4)
    one = Problem(None, pairs)
    assert one.blind_log_likelihood == pytest.approx(2 * np.log(2 / 3) + np.log(1 / 3))
    weighted = Problem(None, pairs.reweighted([1.0, 3.0, 2.0]))
    assert weighted.share == pytest.approx(0.5)
    assert weighted.blind_log_likelihood == pytest.approx(6 * np.log(0.5))


def test_sparse_items_are_learnt_by_ridge_alone():
    X, _, pairs = data(n_items=100, n_pairs=200)
    assert Problem(csr_array(X), pairs, 2, 3, 0).class_models == ["ridge"]
    assert Problem(X, pairs, 2, 3, 0).class_models == ["gaussian", "ridge"]


def test_items_in_random_pairs_stand_for_all_where_some_were_chosen():
    pairs = Pairs([0, 1, 2], [1, 2, 3], [1, 0, 1], n_items=6, chosen=[False, True, True])
    everybody = pairs.item_counts().total > 0
    assert sampled_items(pairs, everybody).tolist() == [True, True, False, False, False, False]
    plain = Pairs(pairs.left, pairs.right, pairs.same, n_items=6)
    assert sampled_items(plain, everybody).tolist() == [True] * 4 + [False] * 2
    assert sampled_items(pairs.select([1, 2]), everybody).all()  # none at random: all must do
