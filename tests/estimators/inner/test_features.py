"""Columns beside their kernel map, from features of any kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import StandardScaler

from noisypairs.estimators.inner.features import LINEAR, beside_kernel, numeric_features


def test_features_are_scaled_columns_beside_a_kernel_map():
    X = np.random.default_rng(0).normal(3, [1, 20, 0.1], (100, 3))
    X[0, 1] = 1e6  # an outlier is cut at ten standard deviations
    X[1:, 1] *= 1e-3
    Z = numeric_features(X, 20, seed=1)
    scaled = StandardScaler().fit_transform(X)
    kernel = Nystroem(n_components=20, random_state=1).fit_transform(scaled)
    assert Z.shape == (100, 3 + 20)
    assert_allclose(Z[:, :3], LINEAR * np.clip(scaled, -10, 10) / np.sqrt(3))
    assert_allclose(Z[:, 3:], kernel)


def test_never_more_kernel_columns_than_half_the_items():
    X = np.random.default_rng(0).normal(size=(30, 2))
    assert numeric_features(X, 200, seed=0).shape == (30, 2 + 15)


def test_wide_tables_keep_the_kernel_map_only():
    X = np.random.default_rng(0).normal(size=(60, 90))
    assert numeric_features(X, 20, seed=0).shape == (60, 20)


def test_missing_and_infinite_values_become_the_mean():
    X = np.random.default_rng(0).normal(size=(50, 3))
    X[:, 2] = np.nan  # not one value
    X[4, 0], X[5, 0], X[6, 1] = np.nan, np.inf, -np.inf
    Z = numeric_features(X, 10, seed=0)
    assert np.isfinite(Z).all()
    assert_allclose(Z[[4, 5], 0], 0, atol=1e-12)
    assert_allclose(Z[6, 1], 0, atol=1e-12)


def test_sparse_items_like_dense_ones():
    X = np.random.default_rng(0).poisson(0.5, (80, 6)).astype(float)
    sparse = numeric_features(csr_array(X), 20, seed=0)
    scaled = X / X.std(axis=0)  # centring would fill the zeros
    assert_allclose(sparse[:, :6], LINEAR * np.clip(scaled, -10, 10) / np.sqrt(6))
    assert sparse.shape == (80, 26)


def test_words_have_no_numeric_features():
    table = pd.DataFrame({"colour": ["red", "blue"] * 10, "size": np.arange(20.0)})
    assert numeric_features(table, 10, seed=0) is None
    assert numeric_features(table[["size"]], 10, seed=0) is not None
    assert numeric_features(np.array([["a"], ["b"]]), 10, seed=0) is None


def test_columns_beside_the_kernel_are_cut_and_weigh_their_share():
    kernel = np.array([[0.3], [0.4]])
    found = beside_kernel(np.array([[100.0, -3.0], [0.5, -12.0]]), kernel, share=0.5)
    np.testing.assert_allclose(found[:, :2] * np.sqrt(2), [[5.0, -1.5], [0.25, -5.0]])
    np.testing.assert_array_equal(found[:, 2:], kernel)
