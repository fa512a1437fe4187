"""Gaussian classes: Bayes' rule with moments of repeated rows."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy import stats

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
