"""Logistic regression on beliefs, against scikit-learn's at the optimum."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from scipy.sparse import csr_array, random_array, vstack
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisypairs.estimators.inner import classifiers
from noisypairs.estimators.inner.classifiers import (
    EPOCHS,
    TREES,
    BoostedTrees,
    DrawnRows,
    GaussianClasses,
    LogisticClasses,
    SmallNetwork,
    Staged,
)
from noisypairs.reduction import soft_rows

#: Close enough to the optimum to be compared with another solver.
EXACT = {"tol": 1e-14, "max_iter": 2000}


def data(n_classes, n=150, n_columns=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.normal(2.0, [1.0, 5.0, 0.3][:n_columns], (n, n_columns)) + y[:, None] * [1.0, -1.0, 0.2]
    return X, y, rng.uniform(0.1, 3.0, n)


def reference(C, n_classes):
    """scikit-learn's, which penalises one column of two classes where ours has both."""
    return LogisticRegression(C=2 * C if n_classes == 2 else C, tol=1e-10, max_iter=20_000)


@parametrize_with_checks([LogisticClasses()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_labels_give_the_optimum_that_scikit_learn_finds(n_classes, weighted, sparse):
    X, y, weight = data(n_classes)
    weight = weight if weighted else None
    expected = reference(0.3, n_classes).fit(X, y, weight).predict_proba(X)
    seen = csr_array(X) if sparse else X
    found = LogisticClasses(C=0.3, **EXACT).fit(seen, y, weight)
    assert_allclose(found.predict_proba(seen), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_default_tolerance_is_close_to_the_optimum(n_classes):
    X, y, _ = data(n_classes)
    expected = reference(1.0, n_classes).fit(X, y).predict_proba(X)
    assert_allclose(LogisticClasses().fit(X, y).predict_proba(X), expected, rtol=0, atol=5e-3)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_beliefs_are_one_weighted_row_per_item_and_class(n_classes):
    X, _, _ = data(n_classes)
    beliefs = np.random.default_rng(1).dirichlet(np.ones(n_classes), len(X))
    rows, label = np.repeat(X, n_classes, axis=0), np.tile(np.arange(n_classes), len(X))
    found = LogisticClasses(**EXACT).fit_beliefs(X, beliefs).predict_proba(X)
    repeated = LogisticClasses(**EXACT).fit(rows, label, beliefs.ravel())
    other = reference(1.0, n_classes).fit(rows, label, beliefs.ravel())
    assert_allclose(found, repeated.predict_proba(X), rtol=0, atol=1e-5)
    assert_allclose(found, other.predict_proba(X), rtol=0, atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_columns_too_many_to_factorise_give_the_same(n_classes, monkeypatch):
    X, y, weight = data(n_classes)
    factorised = LogisticClasses(**EXACT).fit(X, y, weight)
    monkeypatch.setattr(classifiers, "MOST_FACTORISED", 2)
    plain = LogisticClasses(**EXACT).fit(X, y, weight)
    assert_allclose(plain.predict_proba(X), factorised.predict_proba(X), rtol=0, atol=1e-4)
    assert not np.array_equal(plain.coef_, factorised.coef_), "both were solved in one way"


def test_classes_that_are_believed_in_by_nobody_have_little_probability():
    X, y, _ = data(2)
    proba = LogisticClasses().fit_beliefs(X, np.eye(3)[y]).predict_proba(X)
    assert proba.shape == (len(X), 3)
    assert proba[:, 2].max() < 1e-3


def test_classes_keep_their_names():
    X, y, _ = data(2)
    model = LogisticClasses().fit(X, np.array(["no", "yes"])[y])
    codes = LogisticClasses().fit(X, y).predict(X)
    assert model.predict(X).tolist() == np.array(["no", "yes"])[codes].tolist()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("factorised", [True, False])
def test_a_warm_start_ends_at_the_same_optimum_in_fewer_steps(monkeypatch, n_classes, factorised):
    if not factorised:
        monkeypatch.setattr(classifiers, "MOST_FACTORISED", 0)
    X, _, _ = data(n_classes)
    beliefs = np.random.default_rng(1).dirichlet(np.ones(n_classes), len(X))
    nearly = np.random.default_rng(2).dirichlet(np.ones(n_classes), len(X)) * 0.05 + beliefs * 0.95
    cold = LogisticClasses(**EXACT).fit_beliefs(X, nearly)
    warm = LogisticClasses(**EXACT, warm_start=True).fit_beliefs(X, beliefs)
    first = warm.n_iter_
    warm.fit_beliefs(X, nearly)
    assert_allclose(warm.predict_proba(X), cold.predict_proba(X), atol=1e-5)
    warm.fit_beliefs(X, nearly)
    assert warm.n_iter_ < first


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fewer_sparse_rows_than_columns_are_solved_by_rows(n_classes, monkeypatch):
    X = random_array((60, 400), density=0.05, format="csr", rng=np.random.default_rng(0))
    X = vstack([X, X[:5]], format="csr")  # and some that are equal
    one, other = np.random.default_rng(1).dirichlet(np.ones(n_classes), (2, 65))
    by_rows = LogisticClasses(**EXACT, warm_start=True).fit_beliefs(X, one)
    steps = by_rows.n_iter_
    monkeypatch.setattr(classifiers, "MOST_FACTORISED", 0)
    plain = LogisticClasses(**EXACT).fit_beliefs(X, one)
    assert_allclose(by_rows.coef_, plain.coef_, atol=1e-4)
    assert_allclose(by_rows.predict_proba(X), plain.predict_proba(X), atol=1e-5)
    monkeypatch.setattr(classifiers, "MOST_FACTORISED", 1000)
    assert by_rows.fit_beliefs(X, one).n_iter_ < steps  # it begins where it ended
    plain.fit_beliefs(X, other)
    assert_allclose(by_rows.fit_beliefs(X, other).coef_, plain.coef_, atol=1e-4)


def test_a_warm_start_of_another_shape_begins_anew():
    X, _, _ = data(4)
    beliefs = np.random.default_rng(1).dirichlet(np.ones(4), len(X))
    warm = LogisticClasses(warm_start=True).fit_beliefs(X, beliefs)
    warm.fit_beliefs(X[:, :2], beliefs)
    cold = LogisticClasses().fit_beliefs(X[:, :2], beliefs)
    assert_allclose(warm.predict_proba(X[:, :2]), cold.predict_proba(X[:, :2]))


def test_it_is_bayes_rule_and_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 200, p=[0.6, 0.3, 0.1])
    X = rng.normal(size=(200, 2)) + 1.5 * y[:, None]
    times = rng.integers(1, 5, 200)
    found = GaussianClasses(smoothing=0.0).fit(X, y, times).predict_proba(X)
    rows, names = np.repeat(X, times, axis=0), np.repeat(y, times)
    means = np.array([rows[names == k].mean(axis=0) for k in range(3)])
    deviation = np.sqrt(((rows - means[names]) ** 2).mean(axis=0))
    density = stats.norm.pdf(X[:, None], means, deviation).prod(axis=2) * np.bincount(names)
    assert_allclose(found, density / density.sum(axis=1, keepdims=True), rtol=1e-9)


def test_beliefs_of_gaussian_classes_are_one_weighted_row_per_item_and_class():
    rng = np.random.default_rng(0)
    beliefs = rng.dirichlet([0.5, 1.0, 2.0], size=80)
    X = rng.normal(size=(80, 2)) + 3.0 * beliefs[:, 1:]
    found = GaussianClasses().fit_beliefs(X, beliefs).predict_proba(X)
    rows, label = np.repeat(X, 3, axis=0), np.tile(np.arange(3), 80)
    repeated = GaussianClasses().fit(rows, label, beliefs.ravel())
    assert_allclose(found, repeated.predict_proba(X), rtol=0, atol=1e-9)
    assert np.ptp(found, axis=0).min() > 0.1


def test_ask_only_after_fit():
    with pytest.raises(NotFittedError):
        GaussianClasses().predict([[0.0]])


def staged_data(n=120, n_classes=2, seed=0):
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
    X, y, weight, new = staged_data(n_classes=n_classes)
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
    X, y, weight, new = staged_data(n=40)
    stages = list(make(most).stages(X, y, weight, new))
    assert [number for number, _ in stages] == expected
    for _, proba in stages:
        assert_allclose(proba.sum(axis=1), 1.0)


def test_a_network_after_some_epochs_is_that_of_fewer_epochs():
    X, y, weight, new = staged_data()
    long = dict(network(24).stages(X, y, weight, new))
    short = dict(network(12).stages(X, y, weight, new))
    assert_allclose(long[12], short[12], rtol=0, atol=1e-12)
    assert np.abs(long[24] - long[12]).max() > 1e-3


def test_epochs_that_were_chosen_are_no_failure_to_converge():
    X, y, weight, new = staged_data()
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


def test_rows_are_drawn_by_their_weights():
    """Over many draws a row comes up in proportion to its weight."""

    class Rows(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            self.count_ = np.bincount(np.asarray(X)[:, 0].astype(int), minlength=4)
            return self

    X = np.arange(4.0)[:, None]
    weight = [0.3, 0.7, 1.0, 2.5]
    model = DrawnRows(Rows(), n_draws=4000, random_state=0).fit(X, [0, 1, 0, 1], weight)
    seen = {one.count_.tobytes(): one.count_ for one in model.estimators_}
    assert len(seen) == len(model.estimators_)  # equal draws are fitted once
    assert all(np.all(np.abs(count - weight) < 1) for count in seen.values())


def test_probabilities_are_averaged_over_the_draws():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    beliefs = expit(3 * X)
    rows, label, weight = soft_rows(np.column_stack([1 - beliefs, beliefs]))
    model = DrawnRows(KNeighborsClassifier(40), random_state=0).fit(X[rows], label, weight)
    found = model.predict_proba(X)[:, 1]
    assert np.abs(found - beliefs[:, 0]).mean() < 0.05
    assert (model.predict(X) == (found > 0.5)).all()


def test_one_class_leaves_nothing_to_tell_apart():
    with pytest.raises(ValueError, match="nearly all of class 1"):
        DrawnRows(KNeighborsClassifier(), random_state=0).fit(
            [[0.0], [1.0], [1.0]], [1, 1, 0], [1.0, 1.0, 0.0]
        )
