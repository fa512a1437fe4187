"""Class shares by ridge regression: the normal equations, soft labels, and what users expect."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from noisypairs import reduction
from noisypairs.estimators.inner import ridge
from noisypairs.estimators.inner.features import LINEAR, beside_kernel
from noisypairs.estimators.inner.ridge import CUT, RidgeClasses, widening


def bumps(n=300, seed=0):
    """Class 1 lies within a ring: no straight line divides them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (np.hypot(*X.T) > 1.1).astype(int)


@parametrize_with_checks(
    [RidgeClasses(random_state=0)],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "the kernel map draws rows, not weights",
    },
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_it_solves_the_penalised_least_squares_problem():
    X, y = bumps()
    weight = np.random.default_rng(1).uniform(0.2, 2.0, size=len(X))
    model = RidgeClasses(n_components=20, penalty=0.7, random_state=0).fit(X, y, weight)
    scaled = model.scaler_.transform(X)
    linear = LINEAR * np.clip(scaled, -10, 10) / np.sqrt(X.shape[1])
    Z = np.column_stack([linear, model.kernel_.transform(scaled), np.ones(len(X))])
    root, penalty = np.sqrt(weight)[:, None], np.full(Z.shape[1], 0.7)
    penalty[-1] = 1e-6
    rows = np.vstack([root * Z, np.diag(np.sqrt(penalty))])
    wanted = np.vstack([root * np.eye(2)[y], np.zeros((Z.shape[1], 2))])
    expected = np.linalg.lstsq(rows, wanted, rcond=None)[0]
    assert_allclose(model.coef_, expected, atol=1e-8)
    fitted = Z @ expected
    centre = np.average(fitted, axis=0, weights=weight)
    slope = np.polyfit(
        np.repeat((fitted - centre)[:, 1], 1), np.eye(2)[y][:, 1] - centre[1], 1, w=np.sqrt(weight)
    )[0]
    assert model.width_ == pytest.approx(max(slope, 1.0), abs=1e-6)
    proba = model.predict_proba(X)
    assert_allclose(proba, np.clip(centre + slope * (fitted - centre), CUT, 1 - CUT), atol=1e-6)


def test_more_columns_than_rows_are_solved_alike(monkeypatch):
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(30, 60)), np.arange(30) % 2, rng.uniform(0.0, 2.0, size=30)
    weight[:3] = 0.0
    by_columns = RidgeClasses(n_components=5, random_state=0).fit(X, y, weight)
    monkeypatch.setattr(ridge, "MANY_COLUMNS", 0)
    by_rows = RidgeClasses(n_components=5, random_state=0).fit(X, y, weight)
    assert_allclose(by_rows.coef_, by_columns.coef_, atol=1e-7)
    assert not np.array_equal(by_rows.coef_, by_columns.coef_), "both were solved in one way"


def test_soft_labels_are_regressed_on():
    X, y = bumps()
    soft = np.clip(np.eye(2)[y], 0.2, 0.8)
    rows, label, weight = reduction.soft_rows(soft)
    model = RidgeClasses(n_components=30, random_state=0).fit(X[rows], label, weight)
    # Labels that are .8 at most: the fit is not wider than they are.
    assert np.percentile(model.predict_proba(X)[:, 1], 90) < 0.9
    assert np.mean(model.predict(X) == y) > 0.9


def test_a_curve_is_learnt_and_certainty_is_cut():
    X, y = bumps(600)
    model = RidgeClasses(random_state=0).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.95
    proba = model.predict_proba(X)
    assert proba.min() >= CUT / (1 + CUT)
    assert_allclose(proba.sum(axis=1), 1.0)


def test_three_named_classes_and_a_constant_column():
    rng = np.random.default_rng(0)
    names = np.array(["apple", "pear", "quince"])
    codes = rng.integers(3, size=200)
    X = np.column_stack([3 * np.eye(3)[codes] + rng.normal(size=(200, 3)), np.ones(200)])
    model = clone(RidgeClasses(random_state=0)).fit(X, names[codes])
    assert model.classes_.tolist() == names.tolist()
    assert model.predict_proba(X).shape == (200, 3)
    assert model.score(X, names[codes]) > 0.85


def test_a_fit_is_never_narrowed():
    wanted = np.eye(2)[[0, 1, 1]]
    centre, width = widening(0.5 + 4 * (wanted - 0.5), wanted, np.ones(3))
    assert width == 1.0
    np.testing.assert_allclose(centre, [0.5 - 4 / 6, 0.5 + 4 / 6])


def test_beliefs_are_one_weighted_row_per_item_and_class():
    """Both on one kernel map: of repeated rows another would be drawn."""
    rng = np.random.default_rng(0)
    X, _ = bumps(80)
    beliefs = rng.dirichlet([0.5, 1.0, 2.0], size=80)
    model = RidgeClasses(n_components=10, random_state=0).fit_beliefs(X, beliefs)
    scaled = model.scaler_.transform(X)
    Z = beside_kernel(scaled, model.kernel_.transform(scaled), np.ones(80))
    rows, member = np.repeat(Z, 3, axis=0), np.tile(np.eye(3), (80, 1))
    penalty = np.diag(np.r_[np.ones(Z.shape[1] - 1), 1e-6])
    weighted = rows * beliefs.ravel()[:, None]
    expected = np.linalg.solve(weighted.T @ rows + penalty, weighted.T @ member)
    assert_allclose(model.coef_, expected, rtol=0, atol=1e-7)
    centre, width = widening(rows @ expected, member, beliefs.ravel())
    assert_allclose(model.centre_, centre, atol=1e-7)
    assert model.width_ == pytest.approx(width, rel=1e-6)
    assert model.classes_.tolist() == [0, 1, 2]
