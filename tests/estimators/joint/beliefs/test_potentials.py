"""P(class | x) out of fold: the closed form against plain solves, classifiers against a witness."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs.estimators.inner.logistic import LogisticClasses
from noisypairs.estimators.joint.beliefs import potentials
from noisypairs.estimators.joint.beliefs.potentials import (
    EstimatorPotential,
    RidgePotential,
    class_proba,
    fit_beliefs,
)


def items(n=60, n_classes=3, seed=0):
    """Features, beliefs that follow them, folds and which items are in pairs."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    logits = Z[:, :n_classes] * 2 + rng.normal(size=(n, n_classes))
    beliefs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    folds = list(KFold(4, shuffle=True, random_state=seed).split(Z))
    return Z, beliefs, folds, rng.random(n) < 0.7


@pytest.mark.parametrize("penalty", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_ridge_is_a_ridge_fit_per_fold(penalty, n_classes):
    Z, beliefs, folds, in_pairs = items(n_classes=n_classes)
    found = RidgePotential(Z, folds, in_pairs.astype(float), penalty)(beliefs)
    design = np.column_stack([Z, np.ones(len(Z))])
    ridge = np.diag([penalty] * 4 + [1e-6])  # the intercept is free
    expected = np.empty_like(beliefs)
    for train, test in folds:
        rows = design[train][in_pairs[train]]
        target = beliefs[train][in_pairs[train]]
        expected[test] = design[test] @ np.linalg.solve(rows.T @ rows + ridge, rows.T @ target)
    # The penalty's shrinking is undone by one slope for all: that of the beliefs on the fit.
    centre = expected[in_pairs].mean(axis=0)
    x, y = (expected[in_pairs] - centre).ravel(), (beliefs[in_pairs] - centre).ravel()
    slope = max(np.linalg.lstsq(x[:, None], y, rcond=None)[0][0], 1.0)
    assert (slope > 1) == (penalty == 30)
    expected = centre + slope * (expected - centre)
    assert_allclose(found, np.clip(expected, 0.02, 0.98), rtol=0, atol=1e-8)
    assert np.unique(found).size > beliefs.size / 2  # not all cut off


def test_moments_are_those_of_the_items_that_a_fold_is_learnt_from():
    Z, _, folds, in_pairs = items()
    design = np.column_stack([Z, np.ones(len(Z))])
    found = RidgePotential(Z, folds, in_pairs.astype(float)).moments
    for (train, _), moments in zip(folds, found, strict=True):
        rows = design[train][in_pairs[train]]
        assert_allclose(moments, rows.T @ rows, atol=1e-10)


def test_ridge_never_sees_the_item_itself_nor_items_without_pairs():
    Z, beliefs, folds, in_pairs = items()
    potential = RidgePotential(Z, folds, in_pairs.astype(float))
    before = potential(beliefs)
    test = folds[0][1]
    changed = beliefs.copy()
    changed[test] = changed[test][:, ::-1]
    changed[~in_pairs] = 1 / 3
    assert_allclose(potential(changed)[test], before[test], rtol=0, atol=1e-12)
    others = np.setdiff1d(np.arange(len(Z)), test)
    assert np.abs(potential(changed)[others] - before[others]).max() > 1e-3


class Witness(ClassifierMixin, BaseEstimator):
    """Write down every fit and every prediction; items carry their number in column 0."""

    diary: list = []  # noqa: RUF012 (shared by all clones on purpose)

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        self.trained_ = set(X[:, 0].astype(int).tolist())
        self.diary.append(("fit", X[:, 0].astype(int), np.asarray(y), np.asarray(sample_weight)))
        return self

    def predict_proba(self, X):
        self.diary.append(("predict", X[:, 0].astype(int), self.trained_))
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


@pytest.fixture
def diary(monkeypatch):
    monkeypatch.setattr(Witness, "diary", [])
    return Witness.diary


def test_classifiers_are_out_of_fold_and_trained_on_pairs_only(diary):
    Z, beliefs, folds, in_pairs = items()
    numbered = np.column_stack([np.arange(len(Z)), Z])
    EstimatorPotential(Witness(), numbered, folds, in_pairs)(beliefs)
    predictions = [entry for entry in diary if entry[0] == "predict"]
    assert len(predictions) == len(folds)
    for _, asked, trained in predictions:
        assert not trained & set(asked.tolist())
        expected = set(np.flatnonzero(in_pairs).tolist()) - set(asked.tolist())
        assert trained == expected
    assert_array_equal(np.sort(np.concatenate([p[1] for p in predictions])), np.arange(len(Z)))


def test_soft_rows_carry_the_beliefs(diary):
    Z, beliefs, _, _ = items()
    beliefs[0] = [1 - 2e-4, 1e-4, 1e-4]  # a negligible class gets no row
    numbered = np.column_stack([np.arange(len(Z)), Z])
    chosen = np.array([0, 3, 8, 20])
    fit_beliefs(Witness(), numbered, beliefs, chosen)
    ((_, item, label, weight),) = diary
    assert_allclose(weight, beliefs[item, label])
    told = {(int(i), int(k)) for i, k in zip(item, label, strict=True)}
    assert len(told) == len(item)
    assert told == {(int(i), k) for i in chosen for k in range(3) if beliefs[i, k] > 1e-3}
    assert {k for i, k in told if i == 0} == {0}


def test_fit_on_beliefs_is_the_soft_logistic_regression():
    Z, beliefs, _, _ = items(n_classes=2)
    exact = {"solver": "newton-cholesky", "tol": 1e-12}
    chosen = np.arange(0, 60, 2)
    found = fit_beliefs(LogisticRegression(**exact), Z, beliefs, chosen)
    rows = np.repeat(Z[chosen], 2, axis=0)
    plain = LogisticRegression(**exact).fit(
        rows, np.tile([0, 1], len(chosen)), beliefs[chosen].ravel()
    )
    # rows below the negligible weight of .001 are left out: a difference of their size
    assert_allclose(found.coef_, plain.coef_, rtol=0, atol=5e-3)
    untouched = LogisticRegression(**exact)
    fit_beliefs(untouched, Z, beliefs, chosen)
    assert not hasattr(untouched, "coef_")


def test_a_class_never_seen_has_probability_zero():
    model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 2, 2])
    proba = class_proba(model, np.array([[0.5], [2.5]]), 4)
    assert proba.shape == (2, 4)
    assert_array_equal(proba[:, [1, 3]], 0)
    assert_array_equal(proba[:, [0, 2]], model.predict_proba([[0.5], [2.5]]))


def test_frames_and_sparse_items_give_the_same():
    Z, beliefs, folds, in_pairs = items()
    plain = EstimatorPotential(LogisticRegression(), Z, folds, in_pairs)(beliefs)
    assert_allclose(plain.sum(axis=1), 1)
    for X in (pd.DataFrame(Z, columns=list("abcd")), csr_array(Z)):
        other = EstimatorPotential(LogisticRegression(), X, folds, in_pairs)(beliefs)
        assert_allclose(other, plain, rtol=0, atol=1e-4)


def test_potentials_equal_a_fit_by_hand_per_fold():
    Z, beliefs, folds, in_pairs = items()
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    found = EstimatorPotential(inner, Z, folds, in_pairs)(beliefs)
    for train, test in folds:
        rows = train[in_pairs[train]]
        item = np.repeat(rows, 3)
        label, weight = np.tile(np.arange(3), len(rows)), beliefs[rows].ravel()
        kept = weight > 1e-3
        scaled = StandardScaler().fit_transform(Z)  # no labels: all items, and once
        model = LogisticRegression()
        model.fit(scaled[item[kept]], label[kept], sample_weight=weight[kept])
        assert_allclose(found[test], model.predict_proba(scaled[test]), rtol=0, atol=1e-10)


# --- many classes --------------------------------------------------------------------------------


class Moments(Witness):
    """Keep the moments that it is given."""

    given: list = []  # noqa: RUF012 (shared by all clones on purpose)

    def fit_beliefs(self, X, beliefs, moments=None):
        assert len(X) == len(beliefs)
        self.given.append(moments)
        self.classes_ = np.arange(beliefs.shape[1])
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_every_fold_is_given_its_own_moments_where_they_are_known(monkeypatch):
    monkeypatch.setattr(Moments, "given", [])
    Z, beliefs, folds, in_pairs = items()
    EstimatorPotential(Moments(), Z, folds, in_pairs)(beliefs)
    assert Moments.given == [None] * 4
    Moments.given.clear()
    EstimatorPotential(Moments(), Z, folds, in_pairs, moments=list("abcd"))(beliefs)
    assert Moments.given == list("abcd")


def test_a_discriminant_of_certain_classes_is_that_of_scikit_learn(monkeypatch):
    monkeypatch.setattr(potentials, "STEADIER", 0.0)
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(400) % 8)
    fit = rng.normal(size=(8, 8))[y] + rng.normal(size=(400, 8))
    expected = LinearDiscriminantAnalysis().fit(fit, y).predict_proba(fit)
    found = potentials.discriminant(fit, np.eye(8)[y], np.ones(400))
    # scikit-learn divides by n − K where the likelihood divides by n.
    assert_allclose(found, expected, atol=0.02)
    doubled = potentials.discriminant(fit, np.eye(8)[y], np.full(400, 2.0))
    assert_allclose(found, doubled, atol=1e-12)


def test_of_many_classes_ridge_potentials_are_certain_where_items_are_far_apart():
    K, n = potentials.MANY_CLASSES + 2, 480
    y = np.random.default_rng(0).permutation(np.arange(n) % K)
    Z = np.eye(K)[y] + 0.05 * np.random.default_rng(1).normal(size=(n, K))
    folds = list(KFold(3).split(Z))
    phi = RidgePotential(Z, folds, np.ones(n))(np.eye(K)[y])
    assert_allclose(phi.sum(axis=1), 1.0)
    assert phi[np.arange(n), y].min() > 0.9


def test_later_rounds_go_on_from_the_last_and_end_where_a_new_fit_does():
    X, first, folds, in_pairs = items()
    second = 0.9 * first + 0.1 * np.random.default_rng(5).dirichlet(np.ones(3), len(X))
    learner = LogisticClasses(tol=1e-12, max_iter=2000)
    goes_on = EstimatorPotential(learner, X, folds, in_pairs)
    goes_on(first)
    steps = {number: model.n_iter_ for number, model in goes_on.last.items()}
    again = goes_on(second)
    assert_allclose(again, EstimatorPotential(learner, X, folds, in_pairs)(second), atol=1e-5)
    goes_on(second)
    assert all(goes_on.last[number].n_iter_ < steps[number] for number in steps)
    assert not hasattr(learner, "coef_")
    assert learner.warm_start is False
