"""Stages of a classifier, against classifiers that were fitted so far and no further."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from noisypairs.estimators.inner.staged import EPOCHS, TREES, BoostedTrees, SmallNetwork, Staged


def data(n=120, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = (X @ [1.0, -0.5] > 0).astype(int) + (n_classes == 3) * (X[:, 1] > 1)
    return X, y, rng.uniform(0.2, 1.0, n), rng.normal(size=(30, 2))


def trees(max_iter):
    fixed = {"max_leaf_nodes": 4, "min_samples_leaf": 5, "early_stopping": False}
    return BoostedTrees(max_iter=max_iter, random_state=0, **fixed)


def network(max_iter):
    return SmallNetwork((5,), max_iter=max_iter, learning_rate_init=0.01, random_state=0)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_first_trees_are_those_of_a_fit_with_fewer(n_classes):
    X, y, weight, new = data(n_classes=n_classes)
    found = dict(trees(30).stages(X, y, weight, new))
    assert list(found) == [10, 20, 30]
    for number, proba in found.items():
        alone = trees(number).fit(X, y, sample_weight=weight)
        assert_allclose(proba, alone.predict_proba(new), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "most", "expected"),
    [
        (trees, 4, [4]),  # the end is a stage, too
        (trees, TREES[-1], list(TREES)),
        (network, 7, [3, 6, 7]),
        (network, EPOCHS[-1], list(EPOCHS)),
    ],
)
def test_stages_come_in_order_and_with_the_last(make, most, expected):
    X, y, weight, new = data(n=40)
    stages = list(make(most).stages(X, y, weight, new))
    assert [number for number, _ in stages] == expected
    for _, proba in stages:
        assert_allclose(proba.sum(axis=1), 1.0)


def test_a_network_after_some_epochs_is_that_of_fewer_epochs():
    X, y, weight, new = data()
    long = dict(network(24).stages(X, y, weight, new))
    short = dict(network(12).stages(X, y, weight, new))
    assert_allclose(long[12], short[12], rtol=0, atol=1e-12)
    assert np.abs(long[24] - long[12]).max() > 1e-3


def test_epochs_that_were_chosen_are_no_failure_to_converge():
    X, y, weight, new = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = network(6).fit(X, y, weight)
    # The epochs that `stages` goes through, but for the order of the items.
    *_, (number, proba) = network(6).stages(X, y, weight, new)
    assert number == model.n_iter_ == 6
    assert_allclose(model.predict_proba(new), proba, rtol=0, atol=0.1)


def test_who_has_stages_says_so_and_is_cloned_with_its_number():
    assert isinstance(trees(10), Staged)
    assert isinstance(network(10), Staged)
    assert not isinstance(LogisticRegression(), Staged)
    assert clone(network(10)).set_params(max_iter=5).max_iter == 5


def test_a_share_of_class_one_is_as_good_as_a_row_for_either_class():
    X, y, share, new = data(n=400)
    share = np.where(y == 1, share, 1 - share)
    both = np.repeat([1, 0], len(X)), np.concatenate([share, 1 - share])
    fixed = {"max_leaf_nodes": 4, "early_stopping": False, "max_iter": 20, "random_state": 0}
    of_rows = BoostedTrees(min_samples_leaf=10, **fixed).fit(
        np.vstack([X, X]), both[0], sample_weight=both[1]
    )
    found = BoostedTrees(min_samples_leaf=5, **fixed).fit(X, share)
    assert found.classes_.tolist() == [0, 1]
    assert_allclose(found.predict_proba(new), of_rows.predict_proba(new), rtol=0, atol=1e-6)


def test_items_in_bins_give_the_trees_that_searched_bins_give():
    rng = np.random.default_rng(0)
    X = rng.integers(9, size=(300, 3)).astype(float)
    X[::17, 1] = np.nan
    y = (X[:, 0] + rng.normal(size=300) > 4).astype(int)
    found, searched = trees(10).fit(X, y), trees(10).fit(X - 0.5, y)
    assert_allclose(found.predict_proba(X), searched.predict_proba(X - 0.5), rtol=0, atol=1e-9)


def test_stages_before_the_first_are_skipped():
    X, y, weight, new = data(n=40)
    late = list(trees(30).stages(X, y, weight, new, first=20))
    assert [number for number, _ in late] == [20, 30]
    epochs = [number for number, _ in network(24).stages(X, y, weight, new, first=12)]
    assert epochs == [12, 24]


@pytest.mark.parametrize("odd", [-1.0, 2.5, 128.0, 300.0])
def test_items_that_only_look_like_bins_have_their_bins_searched(odd):
    """Beyond `max_bins`, below zero or between two bins, a value is none."""
    rng = np.random.default_rng(0)
    X = rng.integers(9, size=(300, 2)).astype(float)
    X[:40, 0] = odd
    y = (X[:, 0] == odd).astype(int)
    found = BoostedTrees(max_bins=128, max_iter=10, early_stopping=False).fit(X, y)
    plain = HistGradientBoostingClassifier(max_bins=128, max_iter=10, early_stopping=False)
    assert_allclose(found.predict_proba(X), plain.fit(X, y).predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("by_stages", [False, True])
def test_a_network_takes_a_share_for_a_row_of_either_class(by_stages):
    """All items in one batch: the gradients are then the same, whatever the order of the rows."""
    X, y, share, new = data()
    share = np.where(y == 1, share, 1 - share)
    rows = np.vstack([X, X]), np.repeat([1, 0], len(X)), np.concatenate([share, 1 - share])
    fixed = {"max_iter": 12, "learning_rate_init": 0.05, "alpha": 0.5, "random_state": 0}
    one = SmallNetwork((5,), batch_size=len(X), **fixed)
    both = SmallNetwork((5,), batch_size=2 * len(X), **fixed)
    if by_stages:
        found, wanted = dict(one.stages(X, share, None, new)), dict(both.stages(*rows, new))
        assert list(found) == [3, 6, 12]
    else:
        found = {12: one.fit(X, share).predict_proba(new)}
        wanted = {12: both.fit(*rows).predict_proba(new)}
    assert one.classes_.tolist() == [0, 1]
    for number, proba in found.items():
        assert_allclose(proba, wanted[number], rtol=0, atol=1e-9)
    assert np.ptp(found[12][:, 1]) > 0.2


@pytest.mark.parametrize("make", [trees, network])
def test_shares_outside_zero_and_one_are_refused(make):
    with pytest.raises(ValueError, match="shares of class 1"):
        make(2).fit([[0.0], [1.0]], [0.5, 1.5])
