"""Weighted classification: α, the turn of the answers, probabilities, and which estimators fit."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from noisypairs import LabelingNoise, PairingNoise, WeightedPairClassifier, datasets, sample_pairs

NOISE = PairingNoise(0.1, 0.25)


def data(prior=0.3, n_items=500, n_pairs=5000, noise=NOISE, seed=0):
    X, y = datasets.load("gaussians", n_samples=n_items, prior=prior, random_state=seed)
    return X, y, sample_pairs(y, n_pairs, noise, random_state=seed)


def overlapping(n_items, prior=0.3, seed=0):
    """Two Gaussians on a line, near enough that η(x) = 1/(1+e^(−2x−ln((1−π)/π))) is soft."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_items) < prior).astype(int)
    X = rng.normal(2.0 * y - 1.0, 1.0)[:, None]
    return X, y, expit(2 * X[:, 0] + np.log(prior / (1 - prior)))


@pytest.mark.parametrize("prior", [0.3, 0.7])
def test_alpha_and_gain_of_the_noise(prior):
    X, y, pairs = data(prior)
    clf = WeightedPairClassifier(noise=NOISE, prior=prior, random_state=0).fit(X, pairs)
    a, b = 0.9 * prior + 0.25 * (1 - prior), 0.25 * prior + 0.9 * (1 - prior)
    assert clf.alpha_ == pytest.approx((a + b) / 2)
    assert clf.gain_ == pytest.approx((a - b) / 2)
    assert clf.score(X, y) > 0.97


def test_answers_are_turned_over_where_the_gain_is_negative():
    X, y, pairs = data(0.3)
    low, high = (
        WeightedPairClassifier(LogisticRegression(), NOISE, p).fit(X, pairs) for p in (0.3, 0.7)
    )
    assert low.gain_ < 0 < high.gain_
    assert_allclose(low.estimator_.predict_proba(X), high.estimator_.predict_proba(X))
    assert_array_equal(low.predict(X), 1 - high.predict(X))
    assert_allclose(low.decision_function(X), -high.decision_function(X))
    assert_allclose(low.predict_proba(X), high.predict_proba(X)[:, ::-1], atol=1e-12)
    # the inner classifier says "same" where the rule says 0: most pairs are of two negatives
    assert np.mean(low.estimator_.predict(X) == 1 - y) > 0.97


def test_one_half_is_the_unweighted_rule():
    X, _, pairs = data()
    exact = {"solver": "newton-cholesky", "tol": 1e-12}
    clf = WeightedPairClassifier(LogisticRegression(**exact), NOISE, 0.3, alpha=0.5).fit(X, pairs)
    rows = np.vstack([X[pairs.left], X[pairs.right]])
    answer = np.r_[pairs.same, pairs.same].astype(int)
    # one row per occurrence; C spreads the penalty as weights of mean one over items do
    ends = np.r_[pairs.left, pairs.right]
    n_rows = len(np.unique(2 * ends + answer))
    plain = LogisticRegression(C=n_rows / len(rows), **exact).fit(rows, answer)
    assert_allclose(clf.estimator_.coef_, plain.coef_, rtol=0, atol=1e-8)
    assert_array_equal(clf.predict(X), 1 - plain.predict(X))


@pytest.mark.parametrize("alpha", [0.4, 0.65])
def test_pooled_weights_equal_expanded_ones(alpha):
    X, _, pairs = data()
    inner = LogisticRegression(solver="newton-cholesky", tol=1e-12)
    clf = WeightedPairClassifier(inner, NOISE, 0.3, alpha=alpha).fit(X, pairs)
    rows = np.vstack([X[pairs.left], X[pairs.right]])
    same = np.r_[pairs.same, pairs.same]
    n_rows = len(np.unique(2 * np.r_[pairs.left, pairs.right] + same))
    weight = np.where(same, 1 - alpha, alpha)
    weight *= n_rows / weight.sum()
    plain = clone(inner).fit(rows, same, weight)
    assert_allclose(clf.estimator_.coef_, plain.coef_, rtol=0, atol=1e-8)
    assert clf.alpha_ == alpha


def test_alpha_by_cross_validation():
    noise = PairingNoise(0.05, 0.4)
    X, y, pairs = data(0.25, n_items=2000, n_pairs=40_000, noise=noise)
    clf = WeightedPairClassifier(noise=noise, prior=0.25, alpha="cv", random_state=0)
    clf.fit(X, pairs)
    assert clf.alpha_ == pytest.approx((1 - 0.05 + 0.4) / 2, abs=0.03)  # .675, far from ½
    assert clf.score(X, y) > 0.99


def test_weights_matter_under_unequal_rates():
    noise = PairingNoise(0.0, 0.5)
    X, y, _ = overlapping(4000)
    pairs = sample_pairs(y, 80_000, noise, random_state=0)
    scores = {
        alpha: WeightedPairClassifier(LogisticRegression(), noise, 0.3, alpha=alpha)
        .fit(X, pairs)
        .score(X, y)
        for alpha in ("noise", 0.5)
    }
    assert scores["noise"] > scores[0.5] + 0.05


@pytest.mark.parametrize("noise", [NOISE, LabelingNoise(0.05, 0.1)], ids=str)
def test_probabilities_are_calibrated(noise):
    prior = 0.3
    X, y, _ = overlapping(6000, prior)
    pairs = sample_pairs(y, 200_000, noise, random_state=1)
    # P(same | x) is linear in η, hence no logistic curve: the inner model must be able to bend
    inner = make_pipeline(SplineTransformer(12), LogisticRegression(C=100.0, max_iter=1000))
    clf = WeightedPairClassifier(inner, noise, prior).fit(X, pairs)
    new, truth, eta = overlapping(20_000, prior, seed=9)
    proba = clf.predict_proba(new)[:, 1]
    assert proba.mean() == pytest.approx(prior, abs=0.03)
    assert np.abs(proba - eta).mean() < 0.025
    bins = np.digitize(proba, np.linspace(0.1, 0.9, 9))
    for k in range(10):
        if (inside := bins == k).sum() > 300:  # a bin's own error is then below .03
            assert truth[inside].mean() == pytest.approx(proba[inside].mean(), abs=0.06)


@pytest.mark.parametrize(
    "inner",
    [
        HistGradientBoostingClassifier(max_iter=15, random_state=0),
        MLPClassifier((8,), solver="lbfgs", max_iter=400, alpha=1.0, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GaussianNB(),
    ],
    ids=["boosting", "network", "pipeline", "bayes"],
)
def test_any_classifier_with_weights_serves(inner):
    X, y, pairs = data()
    clf = WeightedPairClassifier(inner, NOISE, 0.3).fit(X, pairs)
    assert clf.score(X, y) > 0.95
    assert clf.estimator is inner
    assert clf.estimator_ is not inner


@pytest.mark.parametrize("inner", [LinearSVC(), SVC(kernel="linear")], ids=["LinearSVC", "SVC"])
def test_classifiers_without_probabilities(inner):
    X, y, pairs = data(n_items=200, n_pairs=1500)
    clf = WeightedPairClassifier(inner, NOISE, 0.3)
    assert not hasattr(clf, "predict_proba")
    clf.fit(X, pairs)
    assert clf.score(X, y) > 0.95
    assert not hasattr(clf, "predict_proba")
    assert clf.predict_same(X, pairs).shape == (1500,)
    with pytest.raises(AttributeError, match="predict_proba"):
        clf.same_proba(X, pairs)
    clf.set_params(alpha="cv").fit(X, pairs)  # tuning takes the sigmoid of its margin
    assert clf.score(X, y) > 0.95


def test_labels_choose_the_root_without_probabilities():
    X, y, pairs = data(n_items=200, n_pairs=3000)
    labels = {i: "ab"[y[i]] for i in (*np.flatnonzero(y)[:2], *np.flatnonzero(y == 0)[:2])}
    clf = WeightedPairClassifier(LinearSVC(), NOISE).fit(X, pairs.with_labels(labels))
    assert clf.score(X, np.array(["a", "b"])[y]) > 0.95
    assert clf.prior_ == pytest.approx(y.mean(), abs=0.08)


def test_wrong_kinds():
    X, _, pairs = data(n_items=100, n_pairs=2000)
    with pytest.raises(TypeError, match="Ridge is a regressor"):
        WeightedPairClassifier(Ridge(), NOISE, 0.3).fit(X, pairs)
    for alpha in ("rates", 0.0, 1.0):
        with pytest.raises(ValueError, match="alpha="):
            WeightedPairClassifier(noise=NOISE, prior=0.3, alpha=alpha).fit(X, pairs)
    agreed = pairs.select(pairs.same)
    with pytest.raises(ValueError, match="all answers are equal"):
        WeightedPairClassifier(noise=NOISE, prior=0.3).fit(X, agreed)
