"""Logistic regression on beliefs, against scikit-learn's at the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisypairs.estimators.inner import logistic
from noisypairs.estimators.inner.logistic import LogisticClasses

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
    monkeypatch.setattr(logistic, "MOST_FACTORISED", 2)
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


@pytest.mark.parametrize("n_classes", [2, 3])
def test_moments_that_are_known_change_nothing(n_classes):
    X, y = data(n_classes)[:2]
    beliefs = np.full((len(y), n_classes), 0.1) + (1 - 0.1 * n_classes) * np.eye(n_classes)[y]
    beside = np.column_stack([X, np.ones(len(X))])
    alone = LogisticClasses(C=5.0).fit_beliefs(X, beliefs)
    known = LogisticClasses(C=5.0).fit_beliefs(X, beliefs, moments=beside.T @ beside)
    assert_allclose(known.coef_, alone.coef_, rtol=1e-9, atol=1e-12)
    assert known.n_iter_ == alone.n_iter_
    # They are used: with others the way is longer.
    other = LogisticClasses(C=5.0).fit_beliefs(X, beliefs, np.diag([1e6, 1e3, 1.0, 1.0]))
    assert other.n_iter_ > alone.n_iter_


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("factorised", [True, False])
def test_a_warm_start_ends_at_the_same_optimum_in_fewer_steps(monkeypatch, n_classes, factorised):
    if not factorised:
        monkeypatch.setattr(logistic, "MOST_FACTORISED", 0)
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


def test_a_warm_start_of_another_shape_begins_anew():
    X, _, _ = data(4)
    beliefs = np.random.default_rng(1).dirichlet(np.ones(4), len(X))
    warm = LogisticClasses(warm_start=True).fit_beliefs(X, beliefs)
    warm.fit_beliefs(X[:, :2], beliefs)
    cold = LogisticClasses().fit_beliefs(X[:, :2], beliefs)
    assert_allclose(warm.predict_proba(X[:, :2]), cold.predict_proba(X[:, :2]))
