"""What needs no labels is done once: compared with whole pipelines, and counted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, TargetEncoder

from noisypairs.estimators.inner.features import KernelColumns, QuantileBins
from noisypairs.estimators.inner.front import PreparedItems, joined


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
