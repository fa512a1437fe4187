"""The corrected risk, pooled to items, against the same risk written out pair by pair."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from noisypairs import (
    CleanPairs,
    LabelingNoise,
    LossCorrectionClassifier,
    PairingNoise,
    Pairs,
    datasets,
    sample_pairs,
)
from noisypairs.estimators import LinearRiskClassifier

PRIOR = 0.3
NOISES = [
    PairingNoise(0.1, 0.2),
    LabelingNoise(0.15, 0.05),
    LabelingNoise(0.1, 0.05).then(PairingNoise(0.05, 0.1)),
    CleanPairs(),
]


class Recorder(RegressorMixin, BaseEstimator):
    """Predicts the mean and remembers what it was given."""

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_, self.weight_ = X, y, sample_weight
        return self

    def predict(self, X):
        return np.full(len(X), self.y_.mean())


class WeightlessRecorder(Recorder):
    """The same, without weights."""

    def fit(self, X, y):
        return super().fit(X, y)


def data(noise=NOISES[0], n_items=400, n_pairs=3000, prior=PRIOR, seed=0):
    X, y = datasets.load("gaussians", n_samples=n_items, prior=prior, random_state=seed)
    return X / 3, y, sample_pairs(y, n_pairs, noise, random_state=seed)


def expanded(X, pairs, noise, prior=PRIOR):
    """Return the rows of all ends of all pairs and their coefficients on l(t, +1) and l(t, −1).

    Solved from the definition: E[c₊(Q) | +] = 1 and E[c₊(Q) | −] = 0, c₋ the other way round.
    """
    S = noise.same_probability()
    a, b = (S[k] @ [1 - prior, prior] for k in (1, 0))
    answer_given_class = np.array([[a, 1 - a], [b, 1 - b]])  # rows +, −; columns same, different
    on_plus = np.linalg.solve(answer_given_class, [1.0, 0.0])  # by answer
    on_minus = np.linalg.solve(answer_given_class, [0.0, 1.0])
    rows = np.vstack([X[pairs.left], X[pairs.right]])
    answer = np.where(np.r_[pairs.same, pairs.same], 0, 1)
    return rows, on_plus[answer], on_minus[answer]


@pytest.mark.parametrize("noise", NOISES, ids=str)
def test_pooled_squared_risk_is_the_expanded_one(noise):
    X, _, pairs = data(noise)
    rows, plus, minus = expanded(X, pairs, noise)
    A = np.column_stack([rows, np.ones(len(rows))])
    # the minimum of Σ c₊ (1−f)² + c₋ f² over f = w·x + w₀, by its normal equations
    w = np.linalg.solve(A.T @ (A * (plus + minus)[:, None]), A.T @ plus)
    clf = LossCorrectionClassifier(LinearRegression(), noise=noise, prior=PRIOR).fit(X, pairs)
    assert_allclose(clf.estimator_.coef_, w[:-1], rtol=0, atol=1e-9)
    assert clf.estimator_.intercept_ == pytest.approx(w[-1], abs=1e-9)
    f = X @ w[:-1] + w[-1]
    assert_allclose(clf.predict_proba(X)[:, 1], np.clip(f, 0, 1), rtol=0, atol=1e-9)


@pytest.mark.parametrize("noise", NOISES[:2], ids=str)
def test_pooled_logistic_risk_is_the_expanded_one(noise):
    X, _, pairs = data(noise)
    rows, plus, minus = expanded(X, pairs, noise)
    penalty = 0.01

    def risk(w):
        t = rows @ w[:-1] + w[-1]
        value = plus @ np.logaddexp(0, -t) + minus @ np.logaddexp(0, t)
        return value / len(rows) + penalty / 2 * w[:-1] @ w[:-1]

    def slope(w):
        t = rows @ w[:-1] + w[-1]
        s = (minus - (plus + minus) / (1 + np.exp(t))) / len(rows)
        return np.append(rows.T @ s + penalty * w[:-1], s.sum())

    w = optimize.minimize(risk, np.zeros(3), jac=slope, method="BFGS", options={"gtol": 1e-9}).x
    assert np.abs(slope(w)).max() < 1e-7
    inner = LinearRiskClassifier("logistic", penalty=penalty)
    clf = LossCorrectionClassifier(inner, noise=noise, prior=PRIOR, loss="logistic").fit(X, pairs)
    assert_allclose(clf.estimator_.coef_[0], w[:-1], rtol=0, atol=1e-6)
    assert clf.estimator_.intercept_[0] == pytest.approx(w[-1], abs=1e-6)


def positions(rows, X):
    """Return which items of X, all distinct, the rows are: learners have an order of their own."""
    place = {row.tobytes(): i for i, row in enumerate(X)}
    return [place[row.tobytes()] for row in rows]


@pytest.mark.filterwarnings("ignore::noisypairs.WeakEstimatorWarning")  # it predicts the mean
def test_weights_are_the_number_of_occurrences():
    X, _, pairs = data()
    clf = LossCorrectionClassifier(Recorder(), noise=NOISES[0], prior=PRIOR).fit(X, pairs)
    times = np.bincount(np.r_[pairs.left, pairs.right], minlength=len(X))
    seen = clf.estimator_
    items = positions(seen.X_, X)
    assert_allclose(seen.weight_ / seen.weight_.sum(), times[items] / times.sum())
    assert len(seen.X_) == np.count_nonzero(times)  # one row per item, however many pairs


@pytest.mark.filterwarnings("ignore::noisypairs.WeakEstimatorWarning")  # it predicts the mean
def test_without_weights_every_item_counts_once():
    X, y, pairs = data()
    weighted, plain = (
        LossCorrectionClassifier(inner, noise=NOISES[0], prior=PRIOR).fit(X, pairs).estimator_
        for inner in (Recorder(), WeightlessRecorder())
    )
    assert_allclose(plain.y_, weighted.y_)
    assert plain.weight_ is None
    clf = LossCorrectionClassifier(KNeighborsRegressor(25), noise=NOISES[0], prior=PRIOR)
    assert clf.fit(X, pairs).score(X, y) > 0.97


@pytest.mark.filterwarnings("ignore::noisypairs.WeakEstimatorWarning")  # it predicts the mean
@pytest.mark.parametrize(
    ("noise", "a", "b"),
    [
        (PairingNoise(0.1, 0.2), 0.9 * 0.3 + 0.2 * 0.7, 0.2 * 0.3 + 0.9 * 0.7),
        # π̃ = .3·.85 + .7·.05 = .29, and the paper's printed brackets
        (LabelingNoise(0.15, 0.05), 0.85 * 0.29 + 0.05 * 0.71, 0.05 * 0.29 + 0.85 * 0.71),
    ],
    ids=str,
)
def test_printed_formula_uses_the_printed_numbers(noise, a, b):
    X, _, pairs = data(noise)
    clf = LossCorrectionClassifier(Recorder(), noise=noise, prior=PRIOR, formula="printed")
    clf.fit(X, pairs)
    inverse = np.linalg.inv([[a, b], [1 - a, 1 - b]])  # rows: same, different
    ends, twice = np.r_[pairs.left, pairs.right], np.r_[pairs.same, pairs.same]
    s = np.bincount(ends[twice], minlength=len(X))
    d = np.bincount(ends[~twice], minlength=len(X))
    u, v = (s * inverse[0, k] + d * inverse[1, k] for k in (0, 1))
    items = positions(clf.estimator_.X_, X)
    assert len(items) == np.count_nonzero(s + d)
    assert_allclose(clf.estimator_.y_, (u / (u + v))[items])
    weight = clf.estimator_.weight_
    assert_allclose(weight / weight.sum(), (u + v)[items] / (u + v).sum())
    unbiased = LossCorrectionClassifier(Recorder(), noise=noise, prior=PRIOR).fit(X, pairs)
    assert np.abs(unbiased.estimator_.y_ - clf.estimator_.y_).max() > 0.1


def test_printed_formula_agrees_at_equal_rates():
    noise = PairingNoise(0.2, 0.2)
    X, _, pairs = data(noise)
    one, other = (
        LossCorrectionClassifier(Ridge(), noise=noise, prior=PRIOR, formula=formula).fit(X, pairs)
        for formula in ("unbiased", "printed")
    )
    assert_allclose(one.estimator_.coef_, other.estimator_.coef_, rtol=1e-9)


def test_printed_formula_without_a_minimum_is_refused():
    X, _, pairs = data(PairingNoise(0.0, 0.6))
    clf = LossCorrectionClassifier(
        Ridge(), noise=PairingNoise(0.0, 0.6), prior=PRIOR, formula="printed"
    )
    with pytest.raises(ValueError, match=r"not convex.*unbiased"):
        clf.fit(X, pairs)


def test_clean_pairs_give_the_sd_loss():
    X, _, pairs = data(CleanPairs())
    clf = LossCorrectionClassifier(LinearRegression(), noise=PairingNoise(0, 0), prior=PRIOR)
    clf.fit(X, pairs)
    # Shimada et al.: L(f, S) = [π l(f,+) − (1−π) l(f,−)]/(2π−1), L(f, D) with the two exchanged
    rows = np.vstack([X[pairs.left], X[pairs.right]])
    same = np.r_[pairs.same, pairs.same]
    plus = np.where(same, PRIOR, PRIOR - 1) / (2 * PRIOR - 1)
    minus = np.where(same, PRIOR - 1, PRIOR) / (2 * PRIOR - 1)
    A = np.column_stack([rows, np.ones(len(rows))])
    w = np.linalg.solve(A.T @ (A * (plus + minus)[:, None]), A.T @ plus)
    assert_allclose(clf.estimator_.coef_, w[:-1], rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore::noisypairs.WeakEstimatorWarning")  # it predicts the mean
def test_non_negative_cuts_the_targets():
    X, _, pairs = data()
    free, cut = (
        LossCorrectionClassifier(
            Recorder(), noise=NOISES[0], prior=PRIOR, non_negative=non_negative
        ).fit(X, pairs)
        for non_negative in (False, True)
    )
    assert free.estimator_.y_.min() < 0
    assert_allclose(cut.estimator_.y_, np.clip(free.estimator_.y_, 0, 1))


@pytest.mark.parametrize("loss", ["logistic", "brier", "sigmoid"])
@pytest.mark.parametrize("non_negative", [False, True])
def test_other_losses_learn(loss, non_negative):
    X, y, pairs = data(n_pairs=6000)
    clf = LossCorrectionClassifier(
        noise=NOISES[0], prior=PRIOR, loss=loss, non_negative=non_negative
    )
    # an unbounded loss falls without end on what noise alone separates, and costs a few items
    assert clf.fit(X, pairs).score(X, y) > (0.9 if loss == "logistic" else 0.97)


@pytest.mark.parametrize(
    "inner",
    [
        HistGradientBoostingRegressor(max_iter=20, random_state=0),
        make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge()),
    ],
    ids=["boosting", "pipeline"],
)
def test_any_regressor_serves(inner):
    X, y, pairs = data(n_pairs=6000)
    clf = LossCorrectionClassifier(inner, noise=NOISES[0], prior=PRIOR).fit(X, pairs)
    assert clf.score(X, y) > 0.95
    assert clf.estimator is inner
    assert clf.estimator_ is not inner


def test_networks_serve():
    torch = pytest.importorskip("torch", reason="the extra [torch] is not installed")
    from noisypairs.torch import TorchClassifier, TorchRegressor

    X, y, pairs = data(n_pairs=6000)
    quick = {"learning_rate": 0.02, "max_epochs": 60, "random_state": 0}  # small steps: less spread
    line = torch.nn.Linear(2, 1)
    squared = LossCorrectionClassifier(
        TorchRegressor(line, **quick), noise=NOISES[0], prior=PRIOR
    ).fit(X, pairs)
    assert squared.score(X, y) > 0.95
    ridge = LossCorrectionClassifier(Ridge(1e-6), noise=NOISES[0], prior=PRIOR).fit(X, pairs)
    assert_allclose(squared.predict_proba(X), ridge.predict_proba(X), rtol=0, atol=0.05)
    signed = LossCorrectionClassifier(
        TorchClassifier(line, loss="logistic", **quick),
        noise=NOISES[0],
        prior=PRIOR,
        loss="logistic",
    ).fit(X, pairs)
    assert signed.score(X, y) > 0.95


def test_labels_choose_the_root_of_the_prior():
    X, y, pairs = data(n_pairs=6000)
    for names in (("a", "b"), ("b", "a")):
        labels = {i: names[y[i]] for i in (*np.flatnonzero(y)[:2], *np.flatnonzero(y == 0)[:2])}
        clf = LossCorrectionClassifier(noise=NOISES[0], random_state=0).fit(
            X, pairs.with_labels(labels)
        )
        share = y.mean() if names[1] == "b" else 1 - y.mean()
        assert clf.prior_ == pytest.approx(share, abs=0.05)
        assert clf.score(X, np.array(names)[y]) > 0.97


@pytest.mark.filterwarnings("ignore::noisypairs.WeakEstimatorWarning")  # at the wrong root
def test_labeling_noise_has_two_unrelated_roots():
    noise = LabelingNoise(0.1, 0.3)  # π = .2 reports π̃ = .42, as π̃ = .58 would from π = .467
    X, y, pairs = data(noise, n_items=1000, n_pairs=60_000, prior=0.2)
    other = (1 - (0.9 * y.mean() + 0.3 * (1 - y.mean())) - 0.3) / 0.6
    labels = {i: int(y[i]) for i in (*np.flatnonzero(y)[:5], *np.flatnonzero(y == 0)[:5])}
    clf = LossCorrectionClassifier(Ridge(), noise).fit(X, pairs.with_labels(labels))
    low, high = (root.estimate for root in clf.prior_estimate_.roots)
    assert (low, high) == pytest.approx((y.mean(), other), abs=0.05)
    assert clf.prior_ == low
    assert clf.score(X, y) > 0.97
    for order, root in (("falling", low), ("rising", high)):
        clf = LossCorrectionClassifier(Ridge(), noise, class_order=order).fit(X, pairs)
        assert clf.prior_ == root


def test_estimated_noise_is_kept():
    X, y, pairs = data(n_pairs=20_000)
    clf = LossCorrectionClassifier(class_order="falling", random_state=0).fit(X, pairs)
    assert clf.noise_ is clf.rate_choice_.noise
    assert_allclose(
        (clf.noise_.similar_flip, clf.noise_.dissimilar_flip), (0.1, 0.2), rtol=0, atol=0.08
    )
    assert clf.score(X, y) > 0.97


def test_wrong_kinds():
    X, _, pairs = data()
    known = {"noise": NOISES[0], "prior": PRIOR}
    with pytest.raises(TypeError, match="LogisticRegression is a classifier"):
        LossCorrectionClassifier(LogisticRegression(), **known).fit(X, pairs)
    with pytest.raises(TypeError, match=r"both signs.*Ridge cannot take"):
        LossCorrectionClassifier(Ridge(), loss="logistic", **known).fit(X, pairs)
    with pytest.raises(ValueError, match="did you mean 'logistic'"):
        LossCorrectionClassifier(loss="logist", **known).fit(X, pairs)
    with pytest.raises(ValueError, match="formula 'print'"):
        LossCorrectionClassifier(formula="print", **known).fit(X, pairs)
    with pytest.raises(ValueError, match="noise='paring'"):
        LossCorrectionClassifier(noise="paring", class_order="falling").fit(X, pairs)


def test_items_of_one_pair():
    X = np.array([[0.0], [1.0]])
    pairs = Pairs(np.zeros(400, int), np.ones(400, int), np.arange(400) % 4 > 0)
    clf = LossCorrectionClassifier(Recorder(), noise=CleanPairs(), prior=PRIOR).fit(X, pairs)
    # s/(s+d) = 3/4 and (m − b)/(a − b) with a = .3, b = .7
    assert_allclose(clf.estimator_.y_, (0.75 - 0.7) / (0.3 - 0.7))
