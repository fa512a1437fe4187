"""Columns beside their kernel map, from features of any kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, TargetEncoder

from noisypairs.estimators.inner.features import (
    LINEAR,
    FiniteNumbers,
    KernelColumns,
    PreparedItems,
    QuantileBins,
    TailScaler,
    beside_kernel,
    filled,
    filler_of,
    joined,
    numeric_features,
)


def test_features_are_scaled_columns_beside_a_kernel_map():
    X = np.random.default_rng(0).normal(3, [1, 20, 0.1], (100, 3))
    X[0, 1] = 1e6  # an outlier
    X[1:, 1] *= 1e-3
    Z = numeric_features(X, 20, seed=1)
    scaled = TailScaler().fit_transform(X)
    kernel = Nystroem(n_components=20, random_state=1).fit_transform(scaled)
    assert Z.shape == (100, 3 + 20)
    assert_allclose(Z[:, :3], LINEAR * scaled / np.sqrt(3))
    spread = np.subtract(*np.percentile(X, [75, 25], axis=0)) / 1.349
    drawn_in = np.arcsinh((X - np.median(X, axis=0)) / (3 * spread))
    centred = (drawn_in - drawn_in.mean(axis=0)) / drawn_in.std(axis=0)
    assert_allclose(scaled[:, [0, 2]], centred[:, [0, 2]])
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
    filled = np.where(np.isfinite(X), X, 0.0)
    filled[[4, 5], 0], filled[6, 1] = filled[:, 0].sum() / 48, filled[:, 1].sum() / 49
    assert_allclose(numeric_features(X, 10, seed=0), numeric_features(filled, 10, seed=0))
    assert_allclose(FiniteNumbers().fit_transform(X), filled)
    with pytest.raises(ValueError, match="infinity"):
        FiniteNumbers().fit(X).transform(X)


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


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("n_columns", [3, 45])  # beside the map, and the map alone
def test_kernel_columns_of_the_training_items_are_those_of_the_fit(kind, n_columns):
    X = kind(np.random.default_rng(0).poisson(1.0, (60, n_columns)).astype(float))
    columns = KernelColumns(n_components=10, random_state=0)
    first = columns.fit_transform(X)
    assert first.shape == (60, 13 if n_columns == 3 else 10)
    assert_allclose(columns.transform(X), first, rtol=0, atol=1e-9)
    again = KernelColumns(n_components=10, random_state=0).fit(X)
    assert_allclose(again.transform(X[:5]), first[:5], rtol=0, atol=1e-9)


# --- bins ----------------------------------------------------------------------------------------


def test_bins_keep_the_order_and_are_at_most_so_many():
    X = np.random.default_rng(0).normal(size=(500, 1)) ** 3
    binned = QuantileBins(16).fit_transform(X)[:, 0]
    assert (np.diff(binned[X[:, 0].argsort()]) >= 0).all()
    sizes = np.unique(binned, return_counts=True)[1]
    assert 8 <= len(sizes) <= 16
    assert sizes.max() < 500 / 4, "many items would share one bin"


def test_missing_values_stay_missing_and_move_no_edge():
    X = np.random.default_rng(0).normal(size=(200, 2))
    gaps = np.vstack([X, np.full((50, 2), np.nan)])
    found = QuantileBins(8).fit_transform(gaps)
    assert_array_equal(found[:200], QuantileBins(8).fit_transform(X))
    assert np.isnan(found[200:]).all()
    nothing = np.column_stack([X[:, 0], np.full(200, np.nan)])
    assert np.isnan(QuantileBins(8).fit_transform(nothing)[:, 1]).all()


def test_few_values_have_one_bin_each_and_new_ones_go_to_the_nearest():
    values = np.array([-5.0, 0.0, 0.1, 100.0])
    X = np.repeat(values, [1, 90, 3, 6])[:, None]
    bins = QuantileBins(4).fit(X)
    assert_array_equal(bins.transform(values[:, None])[:, 0], [0, 1, 2, 3])
    assert_array_equal(bins.transform([[-99.0], [0.04], [40.0], [99.0]])[:, 0], [0, 1, 2, 3])


def test_a_column_that_is_mostly_zero_keeps_bins_above_zero():
    X = np.zeros((1000, 1))
    X[:50, 0] = np.random.default_rng(0).exponential(size=50)
    binned = QuantileBins(16).fit_transform(X)[:, 0]
    assert len(np.unique(binned[50:])) == 1
    assert len(np.unique(binned[:50])) >= 6


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([["red"], ["blue"]]), "could not convert string to float"),
        (np.array([[np.inf], [1.0]]), "infinity"),
        (np.ones(4), "Expected 2D array"),
    ],
)
def test_bins_refuse_what_has_none(X, message):
    with pytest.raises(ValueError, match=message):
        QuantileBins().fit(X)


def test_bins_refuse_another_number_of_columns():
    with pytest.raises(ValueError, match="expecting 2 features"):
        QuantileBins().fit(np.ones((3, 2))).transform(np.ones((3, 1)))


def test_too_few_bins_are_refused():
    with pytest.raises(ValueError, match="n_bins=2: expected at least 4"):
        QuantileBins(2).fit([[1.0], [2.0]])


def one_hot(n=90, seed=0):
    """Numbers, the four columns of a kind, a column that overlaps them, and one with a gap."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(5, size=n)  # the fifth has no column
    overlaps, gap = rng.integers(2, size=(2, n)).astype(float)
    gap[0] = np.nan
    return kind, np.column_stack([rng.normal(size=n), np.eye(5)[kind][:, :4], overlaps, gap])


def test_columns_of_which_one_at_most_is_on_become_one():
    kind, X = one_hot()
    bins = QuantileBins().fit(X)
    assert [list(bundle) for bundle in bins.bundles_] == [[1, 2, 3, 4]]
    found = bins.transform(X)
    assert_array_equal(found[:, -1], np.where(kind < 4, kind + 1, 0))
    assert_array_equal(found[:, 1:-1], X[:, 5:])
    both = X[:1].copy()
    both[0, 1:5] = 0, 1, 1, 0  # not seen in fit: the first counts
    assert bins.transform(both)[0, -1] == 2


def test_columns_become_one_as_long_as_there_are_bins():
    X = np.eye(9)[np.arange(90) % 9]
    bins = QuantileBins(5).fit(X)
    assert [list(bundle) for bundle in bins.bundles_] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert bins.transform(X).shape == (90, 3)


def test_bins_found_and_used_at_once_are_those_found_first():
    X = np.random.default_rng(0).normal(size=(300, 5))
    X[:, 2:4] = np.eye(3)[np.arange(300) % 3][:, :2]  # which become one column
    X[::7, 4] = np.nan
    found = QuantileBins(32).fit_transform(X)
    assert found.shape == (300, 4)
    assert_array_equal(found, QuantileBins(32).fit(X).transform(X))


HOLES = np.array([[1.0, np.nan, 5.0], [3.0, np.nan, np.nan], [8.0, np.nan, 7.0]])


def test_medians_and_where_the_gaps_were():
    expected = [[1, 0, 5, 1, 0], [3, 0, 6, 1, 1], [8, 0, 7, 1, 0]]  # an empty column is all zeros
    for X in (HOLES, pd.DataFrame(HOLES), HOLES.astype(np.float32)):
        np.testing.assert_array_equal(filled(filler_of(X), X), expected)


def test_items_without_gaps_stay_the_same_object():
    X = np.eye(3)
    assert filled(filler_of(X), X) is X
    np.testing.assert_array_equal(filled(filler_of(X), HOLES), np.nan_to_num(HOLES, nan=0.0))


@pytest.mark.parametrize("X", [csr_array(np.eye(2)), np.array([["red"]]), np.full((2, 2), np.inf)])
def test_what_is_no_table_of_finite_numbers_is_left_to_the_estimator(X):
    assert filler_of(X) is None
    assert filled(None, X) is X


def data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(3.0, [1.0, 10.0, 0.1], (n, 3))
    return X, (X[:, 0] > 3.0).astype(int)


class Counted(StandardScaler):
    """Count the fits; it stands in scikit-learn's room, as far as one can tell."""

    __module__ = "sklearn.preprocessing"
    fits: list = []  # noqa: RUF012 (shared by all clones on purpose)

    def fit(self, X, y=None, sample_weight=None):
        self.fits.append(len(X))
        return super().fit(X, y, sample_weight)


@pytest.fixture
def fits(monkeypatch):
    monkeypatch.setattr(Counted, "fits", [])
    return Counted.fits


def test_equal_fronts_are_fitted_once_and_shared(fits):
    X, _ = data()
    items = PreparedItems(X)
    strong, weak = (make_pipeline(Counted(), LogisticRegression(C=C)) for C in (0.1, 10.0))
    first, learner, seen = items.split(strong)
    again, other, same = items.split(weak)
    assert fits == [60]
    assert first is again
    assert seen is same
    assert (learner.C, other.C) == (0.1, 10.0)
    assert_allclose(seen, StandardScaler().fit_transform(X))
    assert not hasattr(strong.steps[0][1], "mean_"), "what the user gave is left alone"


def test_fronts_that_differ_are_not_shared(fits):
    items = PreparedItems(data()[0])
    items.split(make_pipeline(Counted(), LogisticRegression()))
    uncentred = items.split(make_pipeline(Counted(with_mean=False), LogisticRegression()))[2]
    longer = items.split(make_pipeline(Counted(), PCA(2), LogisticRegression()))[2]
    assert len(fits) == 3
    assert uncentred.mean() > 1.0
    assert longer.shape == (60, 2)


def times(X, factors):
    return X * factors[: len(X), None]


def test_fronts_that_differ_deep_inside_long_arrays_are_not_shared():
    X = np.ones((3000, 1))
    items, other = PreparedItems(X), np.ones(3000)
    other[1500] = 2.0
    seen = [
        items.split(
            make_pipeline(
                FunctionTransformer(times, kw_args={"factors": factors}), LogisticRegression()
            )
        )[2]
        for factors in (np.ones(3000), other)
    ]
    assert seen[0][1500] == 1.0
    assert seen[1][1500] == 2.0


@pytest.mark.parametrize(
    ("steps", "n_before"),
    [
        ([StandardScaler(), SelectKBest(k=1)], 1),
        ([SelectKBest(k=1), StandardScaler()], 0),
        ([TargetEncoder(), StandardScaler()], 0),
        ([SimpleImputer(), StandardScaler(), PCA(2)], 3),
        ([KernelColumns(n_components=5, random_state=0)], 1),
        ([QuantileBins(), SelectKBest(k=2)], 1),
        (["passthrough", StandardScaler()], 0),
    ],
)
def test_steps_from_the_first_that_uses_labels_on_stay_in_the_rest(steps, n_before):
    X, y = data()
    whole = make_pipeline(*steps, LogisticRegression())
    front, rest, seen = PreparedItems(X).split(whole)
    assert (0 if front is None else len(front.steps)) == n_before
    n_rest = len(rest.steps) if isinstance(rest, Pipeline) else 1
    assert n_before + n_rest == len(whole.steps)
    # Together they are the pipeline that they were cut from.
    model = joined(front, whole, clone(rest).fit(seen, y))
    expected = clone(whole).fit(X, y)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=0, atol=1e-9)
    if isinstance(model, Pipeline):
        assert [name for name, _ in model.steps] == [name for name, _ in whole.steps]


def test_what_is_no_pipeline_sees_the_items_as_they_are():
    X, y = data()
    table = pd.DataFrame(X, columns=list("abc"))
    inner = LogisticRegression()
    front, rest, seen = PreparedItems(table).split(inner)
    assert front is None
    assert rest is inner
    assert seen is table
    model = clone(inner).fit(seen, y)
    assert joined(front, inner, model) is model


def test_named_columns_reach_the_front():
    X, y = data()
    table = pd.DataFrame(X, columns=list("abc"))
    whole = make_pipeline(StandardScaler(), LogisticRegression())
    front, rest, seen = PreparedItems(table).split(whole)
    assert front.feature_names_in_.tolist() == ["a", "b", "c"]
    model = joined(front, whole, clone(rest).fit(seen, y))
    assert_array_equal(model.predict(table), clone(whole).fit(table, y).predict(table))
