"""Gaussian classes: Bayes' rule with moments of repeated rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.exceptions import NotFittedError

from noisypairs.estimators.inner.gaussian import GaussianClasses


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


def test_beliefs_are_one_weighted_row_per_item_and_class():
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
