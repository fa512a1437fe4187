from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs import CleanPairs, LabelingNoise, PairingNoise, Pairs, datasets, sample_pairs
from noisypairs.pairs import ItemCounts
from noisypairs.pairs.counts import weights_of
from noisypairs.reduction import (
    accepts_weights,
    fit_weighted,
    risk_weights,
    squared_loss_rows,
    weighted_rows,
)

NOISES = [CleanPairs(), PairingNoise(0.1, 0.3), LabelingNoise(0.3, 0.1)]


def random_pairs(seed, n_items=12, n_pairs=80, weighted=True):
    """Pairs with repeats, self pairs, an item without pairs, and weights that are not whole."""
    rng = np.random.default_rng(seed)
    left, right = rng.integers(n_items - 1, size=(2, n_pairs))
    weight = rng.integers(1, 20, size=n_pairs) / 8 if weighted else None  # exact in float32
    return Pairs(left, right, rng.random(n_pairs) < 0.5, n_items=n_items, weight=weight)


def occurrences(pairs):
    """Yield (item, answer, weight), two for every pair of distinct items."""
    weight = weights_of(pairs)
    for i, j, same, w in zip(
        pairs.left.tolist(), pairs.right.tolist(), pairs.same.tolist(), weight, strict=True
    ):
        if i != j:
            yield i, same, float(w)
            yield j, same, float(w)


@pytest.fixture(scope="module")
def gaussian_pairs():
    """200 items, 3,000 pairs, so that one row per item is a real saving; prior .3."""
    X, y = datasets.gaussians(200, prior=0.3, random_state=0)
    X = X / 2 + np.random.default_rng(1).normal(size=X.shape)  # overlap: no perfect separation
    return X, sample_pairs(y, 3000, PairingNoise(0.1, 0.3), random_state=2)


# --- counting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_items_are_counted_as_a_loop_counts_them(seed, weighted):
    pairs = random_pairs(seed, weighted=weighted)
    assert (pairs.left == pairs.right).any()
    same, different = np.zeros(12), np.zeros(12)
    for item, answer, weight in occurrences(pairs):
        (same if answer else different)[item] += weight
    counts = pairs.item_counts()
    np.testing.assert_allclose(counts.same, same, rtol=0, atol=1e-12)
    np.testing.assert_allclose(counts.different, different, rtol=0, atol=1e-12)
    np.testing.assert_allclose(counts.total, same + different, rtol=0, atol=1e-12)
    seen = same + different > 0
    np.testing.assert_allclose(counts.share[seen], same[seen] / (same + different)[seen])
    assert np.isnan(counts.share[~seen]).all()
    assert not seen[11]


def test_an_item_with_one_kind_of_answer_has_exactly_none_of_the_other():
    """Odd weights must not leave 1e-17 of a "different" answer, which would become a row."""
    weight = np.array([0.1, 0.7, 0.3, 0.9])
    pairs = Pairs([0, 0, 0, 1], [1, 2, 3, 2], [True, True, True, False], weight=weight)
    counts = pairs.item_counts()
    assert counts.different[0] == counts.different[3] == 0.0


# --- the pooled risk ------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("formula", ["unbiased", "printed"])
def test_the_pooled_risk_is_the_sum_over_occurrences(noise, formula):
    """For arbitrary values of the two losses at each item, so for every loss and every model."""
    pairs = random_pairs(5)
    C = noise.corrected_coefficients(0.3, formula)
    plus, minus = np.random.default_rng(0).normal(size=(2, 12))  # l(f(x), +1), l(f(x), −1)
    expanded = sum(
        weight * (C[0 if same else 1] @ [plus[item], minus[item]])
        for item, same, weight in occurrences(pairs)
    )
    u, v = risk_weights(pairs.item_counts(), C)
    assert u @ plus + v @ minus == pytest.approx(expanded, rel=1e-12)


@given(
    first=st.floats(0.0, 0.45),
    second=st.floats(0.0, 0.45),
    prior=st.floats(0.05, 0.45),
    labeling=st.booleans(),
)
def test_unbiased_weights_sum_to_the_occurrences(first, second, prior, labeling):
    noise = (LabelingNoise if labeling else PairingNoise)(first, second)
    if labeling and abs(noise.flipped_prior(prior)[1] - 0.5) < 1e-3:
        return  # a − b = 0: there is no corrected loss
    counts = random_pairs(6).item_counts()
    u, v = risk_weights(counts, noise.corrected_coefficients(prior))
    scale = np.abs(u).max()
    np.testing.assert_allclose(u + v, counts.total, rtol=0, atol=1e-9 * max(scale, 1.0))


@pytest.mark.parametrize("noise", [CleanPairs(), PairingNoise(0.1, 0.3)], ids=repr)
@pytest.mark.parametrize("penalty", [0.0, 5.0])
def test_pooled_ridge_is_the_pair_expanded_ridge(gaussian_pairs, noise, penalty):
    """Minimise Σ C[q,+](1−f)² + C[q,−] f² over occurrences by its normal equations."""
    X, pairs = gaussian_pairs
    C = noise.corrected_coefficients(0.3)
    items, same, _ = (np.array(column) for column in zip(*occurrences(pairs), strict=True))
    q = np.where(same, 0, 1)
    design = np.column_stack([X[items], np.ones(len(items))])
    # The derivative of C₊(1−f)² + C₋f² is 2((C₊+C₋) f − C₊): signed weights are no obstacle.
    gram = design.T @ (C[q].sum(axis=1)[:, None] * design)
    rows, target, weight = squared_loss_rows(*risk_weights(pairs.item_counts(), C))
    # fit_weighted rescales weights to mean one: the penalty of the expanded risk follows.
    gram[:2, :2] += penalty * weight.mean() * np.eye(2)
    expected = np.linalg.solve(gram, design.T @ C[q, 0])
    model = fit_weighted(Ridge(alpha=penalty), X[rows], target, weight)
    np.testing.assert_allclose(np.r_[model.coef_, model.intercept_], expected, rtol=0, atol=1e-6)
    assert len(rows) <= 200 < len(items)


@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.65])
def test_pooled_logistic_regression_is_the_pair_expanded_one(gaussian_pairs, alpha):
    X, pairs = gaussian_pairs
    items, same, _ = (np.array(column) for column in zip(*occurrences(pairs), strict=True))
    expanded_weight = np.where(same, 1 - alpha, alpha)
    rows, label, weight = weighted_rows(pairs.item_counts(), alpha)
    assert weight.sum() == pytest.approx(expanded_weight.sum())

    def model(C):
        return LogisticRegression(C=C, solver="newton-cholesky", tol=1e-12, max_iter=200)

    # C multiplies the sum of weighted losses; pooled weights were divided by their mean.
    expanded = model(0.01).fit(X[items], same.astype(int), sample_weight=expanded_weight)
    pooled = fit_weighted(model(0.01 * weight.mean()), X[rows], label, weight)
    np.testing.assert_allclose(pooled.coef_, expanded.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(pooled.intercept_, expanded.intercept_, rtol=0, atol=1e-6)
    assert len(rows) <= 400 < len(items)


def test_the_squared_loss_is_a_regression_up_to_a_constant():
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(2, 9))
    u, v = np.where(u + v < 0, -u, u), np.where(u + v < 0, -v, v)
    u[4] = v[4] = 0.0
    rows, target, weight = squared_loss_rows(u, v)
    assert rows.tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    f, g = rng.normal(size=(2, 9))

    def risk(f):
        return float((u * (1 - f) ** 2 + v * f**2).sum())

    def regression(f):
        return float((weight * (f[rows] - target) ** 2).sum())

    assert risk(f) - risk(g) == pytest.approx(regression(f) - regression(g), rel=1e-10)


def test_negative_weights_have_no_minimum():
    with pytest.raises(ValueError, match=r"not convex for this .* Use formula='unbiased'"):
        squared_loss_rows(np.array([1.0, -2.0]), np.array([1.0, 1.0]))


def test_weighted_rows_are_one_per_item_and_answer():
    counts = random_pairs(7).item_counts()
    alpha = 0.3
    rows, label, weight = weighted_rows(counts, alpha)
    found = {(int(r), int(k)): w for r, k, w in zip(rows, label, weight, strict=True)}
    assert len(found) == len(rows)
    expected = {(i, 1): (1 - alpha) * s for i, s in enumerate(counts.same) if s > 0}
    expected |= {(i, 0): alpha * d for i, d in enumerate(counts.different) if d > 0}
    assert found == pytest.approx(expected)


# --- handing over to scikit-learn -----------------------------------------------------------------


def test_weights_are_scaled_to_mean_one():
    X, y = np.arange(6.0)[:, None], np.array([0.0, 1, 1, 2, 4, 3])
    weight = np.array([1.0, 2, 3, 1, 2, 3])
    small, large = (fit_weighted(Ridge(), X, y, k * weight) for k in (1.0, 1000.0))
    np.testing.assert_allclose(small.coef_, large.coef_, rtol=1e-12)
    plain = Ridge().fit(X, y, sample_weight=weight / 2)
    np.testing.assert_allclose(small.coef_, plain.coef_, rtol=1e-12)


def test_a_pipeline_hands_weights_to_its_last_step():
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(50, 2)) * [1, 100], rng.normal(size=50), 1 + rng.random(50)
    pipeline = make_pipeline(StandardScaler(), Ridge())
    fitted = fit_weighted(pipeline, X, y, weight)
    assert fitted is pipeline
    scaled = StandardScaler().fit_transform(X)
    by_hand = Ridge().fit(scaled, y, sample_weight=weight / weight.mean())
    np.testing.assert_allclose(fitted.predict(X), by_hand.predict(scaled), rtol=0, atol=1e-12)
    unweighted = Ridge().fit(scaled, y)
    assert np.abs(fitted.predict(X) - unweighted.predict(scaled)).max() > 1e-3


def test_weights_arrive_with_metadata_routing_on_and_off():
    X, y, weight = np.arange(8.0)[:, None], np.arange(8.0) % 3, np.arange(1.0, 9.0)
    predicted = []
    for routing in (False, True):
        with config_context(enable_metadata_routing=routing):
            model = fit_weighted(make_pipeline(StandardScaler(), Ridge()), X, y, weight)
            predicted.append(model.predict(X))
    np.testing.assert_array_equal(*predicted)


@pytest.mark.parametrize(
    ("estimator", "takes"),
    [
        (Ridge(), True),
        (RandomForestRegressor(), True),
        (KNeighborsRegressor(), False),
        (make_pipeline(StandardScaler(), Ridge()), True),
        (make_pipeline(StandardScaler(), KNeighborsRegressor()), False),
        (make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), Ridge())), True),
        (make_pipeline(make_pipeline(StandardScaler(), KNeighborsRegressor())), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_which_estimators_take_weights(estimator, takes):
    assert accepts_weights(estimator) is takes
    X, y, weight = np.arange(8.0)[:, None], np.arange(8.0), np.arange(1.0, 9.0)
    if takes:
        assert np.isfinite(fit_weighted(estimator, X, y, weight).predict(X)).all()


def test_counts_are_plain_values():
    counts = ItemCounts(np.array([1.0]), np.array([3.0]))
    assert (counts.total.item(), counts.share.item()) == (4.0, 0.25)
