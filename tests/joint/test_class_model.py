"""P(class | x) out of fold: closed forms against refits without the item, calibration by search."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logit, softmax
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from noisypairs.estimators.inner.classifiers import GaussianClasses
from noisypairs.joint import class_model
from noisypairs.joint.choices import CALIBRATION_VARIANCE, CERTAIN, RIDGE_PENALTY
from noisypairs.joint.class_model import (
    Calibration,
    EstimatorModel,
    GaussianModel,
    RidgeModel,
    SharesModel,
    calibrate,
    class_proba,
    discriminant,
    fit_beliefs,
    fold_proba,
)


def items(n=60, n_classes=3, seed=0):
    """Features, beliefs that follow them, folds, and weight one of most items."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    logits = Z[:, :n_classes] * 2 + rng.normal(size=(n, n_classes))
    beliefs = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    folds = list(KFold(4, shuffle=True, random_state=seed).split(Z))
    return Z, beliefs, folds, (rng.random(n) < 0.7).astype(float)


def as_it_is():
    return Pipeline([("same", FunctionTransformer())])


# --- ridge ---------------------------------------------------------------------------------------


def refit(Z, beliefs, weight, group, own):
    """Return the fits of one group's items, by a ridge regression that never saw the group."""
    design = np.column_stack([Z, np.ones(len(Z))])
    rows = (group != own) & (weight > 0)
    penalty = np.diag([RIDGE_PENALTY] * Z.shape[1] + [1e-6])  # the constant is free
    gram = design[rows].T @ design[rows] + penalty
    return design[group == own] @ np.linalg.solve(gram, design[rows].T @ beliefs[rows])


@pytest.mark.parametrize("size", [1, 3], ids=["items", "groups"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_ridge_leaves_out_every_group_as_a_refit_would(size, n_classes):
    Z, beliefs, _, weight = items(n_classes=n_classes)
    group = np.arange(60) // size
    fit = np.empty_like(beliefs)
    for own in np.unique(group):
        fit[group == own] = refit(Z, beliefs, weight, group, own)
    slope, constant = discriminant(fit, beliefs, weight)
    found = RidgeModel(as_it_is(), Z, group, weight).scores(beliefs)
    assert_allclose(found, fit @ slope + constant, atol=1e-6)


def test_what_is_believed_of_a_group_does_not_fit_the_group_itself():
    """Only the discriminant, two numbers per class, sees all items: the fits do not."""
    Z, beliefs, _, weight = items()
    group = np.arange(60) // 3
    before = refit(Z, beliefs, weight, group, 0)
    changed = beliefs.copy()
    changed[group == 0] = changed[group == 0][:, ::-1]
    assert_array_equal(refit(Z, changed, weight, group, 0), before)
    alone, together = (
        RidgeModel(as_it_is(), Z, one, weight).scores(changed) for one in (np.arange(60), group)
    )
    assert np.abs(alone - together)[group == 0].max() > 0.05


def test_a_discriminant_of_certain_classes_is_that_of_scikit_learn(monkeypatch):
    monkeypatch.setattr(class_model, "WITHIN_SMOOTHING", 0.0)
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    fit = 0.3 * np.eye(3)[y] + 0.1 * rng.normal(size=(120, 3))
    slope, constant = discriminant(fit, np.eye(3)[y], np.ones(120))
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(fit, y)
    assert_allclose(
        softmax(fit @ slope + constant, axis=1), theirs.predict_proba(fit), rtol=0, atol=1e-6
    )


def test_the_fitted_ridge_is_its_own_regression_discriminant_and_line():
    """By hand for new items: regression on all items, discriminant, calibrated probabilities."""
    Z, beliefs, _, weight = items()
    model = RidgeModel(as_it_is(), Z, np.arange(60), weight)
    line = Calibration(0.4, np.array([0.1, -0.3, 0.2]))
    classifier, after = model.fitted(beliefs, line)
    assert after.log_slope == 0
    assert not after.weight.any()  # the line is in the classifier
    new = np.random.default_rng(5).normal(size=(10, 4))
    design = np.column_stack([Z, np.ones(60)])[weight > 0]
    gram = design.T @ design + np.diag([RIDGE_PENALTY] * 4 + [1e-6])
    coefficients = np.linalg.solve(gram, design.T @ beliefs[weight > 0])
    left_out = np.vstack([refit(Z, beliefs, weight, np.arange(60), own) for own in range(60)])
    slope, constant = discriminant(left_out, beliefs, weight)
    scores = np.column_stack([new, np.ones(10)]) @ coefficients @ slope + constant
    expected = softmax(np.exp(0.4) * scores + line.weight, axis=1)
    assert_allclose(classifier.predict_proba(new), expected, atol=1e-6)


# --- other class models --------------------------------------------------------------------------


def test_gaussian_classes_leave_out_every_item():
    """Shares and means without the item, by hand; x scatters about a mean of n by 1 + 1/n."""
    Z, beliefs, folds, weight = items(40)
    found = GaussianModel(as_it_is(), Z, np.arange(40), weight, folds[:1]).scores(beliefs)
    on = weight > 0
    spread = np.sqrt(GaussianClasses().fit_beliefs(Z[on], beliefs[on]).variance_)
    for item in range(40):
        rest = (np.arange(40) != item) & on
        total = beliefs[rest].sum(axis=0)
        means = beliefs[rest].T @ Z[rest] / total[:, None]
        wider = spread * np.sqrt(1 + 1 / total)[:, None]
        chance = total * norm.pdf(Z[item], means, wider).prod(axis=1)
        assert_allclose(np.exp(found[item]), chance / chance.sum(), atol=1e-9)


def test_gaussian_classes_of_groups_are_out_of_fold():
    Z, beliefs, folds, weight = items()
    group = np.minimum(np.arange(60), 58)  # the last two are one
    found = GaussianModel(as_it_is(), Z, group, weight, folds).scores(beliefs)
    for train, test in folds:
        rows = train[weight[train] > 0]
        alone = GaussianClasses().fit_beliefs(Z[rows], beliefs[rows]).predict_proba(Z[test])
        assert_allclose(found[test], np.log(np.maximum(alone, CERTAIN / 10)), atol=1e-9)


def test_shares_are_those_of_the_items_to_learn_from():
    _, beliefs, _, weight = items()
    phi, line = SharesModel(weight).proba(beliefs, beliefs, None)
    assert_allclose(phi, np.tile(beliefs[weight > 0].mean(axis=0), (60, 1)))
    assert not line.weight.any()
    with pytest.raises(ValueError, match="without features there is no classifier"):
        SharesModel(weight).fitted(beliefs, line)


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


def test_classifiers_are_out_of_fold_and_trained_on_items_of_weight_only(diary):
    Z, beliefs, folds, weight = items()
    numbered = np.column_stack([np.arange(len(Z)), Z])
    EstimatorModel(Witness(), numbered, folds, weight).scores(beliefs)
    predictions = [entry for entry in diary if entry[0] == "predict"]
    assert len(predictions) == len(folds)
    for _, asked, trained in predictions:
        assert trained == set(np.flatnonzero(weight).tolist()) - set(asked.tolist())
    assert_array_equal(np.sort(np.concatenate([p[1] for p in predictions])), np.arange(len(Z)))


def test_soft_rows_carry_the_beliefs(diary):
    Z, beliefs, _, _ = items()
    beliefs[0] = [1 - 2e-4, 1e-4, 1e-4]  # a negligible class gets no row
    numbered = np.column_stack([np.arange(len(Z)), Z])
    fit_beliefs(Witness(), numbered, beliefs)
    ((_, item, label, weight),) = diary
    assert_allclose(weight, beliefs[item, label])
    rows = {(int(i), int(k)) for i, k in zip(item, label, strict=True)}
    assert len(rows) == len(item)
    assert rows == {(i, k) for i in range(60) for k in range(3) if beliefs[i, k] > 1e-3}


def test_scores_equal_a_fit_by_hand_per_fold():
    Z, beliefs, folds, weight = items()
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    found = EstimatorModel(inner, Z, folds, weight).scores(beliefs)
    scaled = StandardScaler().fit_transform(Z)  # no labels: all items, and once
    for train, test in folds:
        rows = train[weight[train] > 0]
        item, label = np.repeat(rows, 3), np.tile(np.arange(3), len(rows))
        share = beliefs[rows].ravel()
        kept = share > 1e-3
        model = LogisticRegression().fit(scaled[item[kept]], label[kept], share[kept])
        expected = np.log(np.maximum(model.predict_proba(scaled[test]), CERTAIN / 10))
        assert_allclose(found[test], expected, rtol=0, atol=1e-9)


def test_frames_and_sparse_items_give_the_same():
    Z, beliefs, folds, weight = items()
    plain = EstimatorModel(LogisticRegression(), Z, folds, weight).scores(beliefs)
    for X in (pd.DataFrame(Z, columns=list("abcd")), csr_array(Z)):
        other = EstimatorModel(LogisticRegression(), X, folds, weight).scores(beliefs)
        assert_allclose(np.exp(other), np.exp(plain), rtol=0, atol=1e-4)


def test_items_of_one_class_alone_are_of_that_class():
    Z, beliefs, _, _ = items()
    beliefs[:] = [0.0, 1.0, 0.0]
    model = fit_beliefs(LogisticRegression(), Z, beliefs)  # which would refuse them
    assert_array_equal(class_proba(model, Z, 3), beliefs)


def test_a_class_never_seen_has_probability_zero():
    model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 2, 2])
    proba = class_proba(model, np.array([[0.5], [2.5]]), 4)
    assert_array_equal(proba[:, [1, 3]], 0)
    assert_array_equal(proba[:, [0, 2]], model.predict_proba([[0.5], [2.5]]))


# --- calibration ---------------------------------------------------------------------------------


def drawn(n=400, steep=3.0, n_classes=2, seed=0):
    """Scores, weak evidence of classes that follow P(class | x), and that P, of another slope."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_classes))
    true = softmax(steep * scores, axis=1)
    y = (true.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    other = (y + rng.integers(1, n_classes, size=n)) % n_classes
    said = np.where(rng.random(n) < 0.7, y, other)
    evidence = np.where(np.eye(n_classes, dtype=bool)[said], 0.7, 0.3 / (n_classes - 1))
    return scores, evidence, true


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_line_is_the_best_one(n_classes):
    """Against a search over slope and class weights that knows no gradient."""
    scores, evidence, _ = drawn(n_classes=n_classes)

    def loss(line):
        phi = softmax(np.exp(line[0]) * scores + line[1:], axis=1)
        return line @ line / 2 / CALIBRATION_VARIANCE - np.log((phi * evidence).sum(axis=1)).sum()

    options = {"xatol": 1e-7, "fatol": 1e-10, "maxiter": 5000}
    best = minimize(loss, np.zeros(1 + n_classes), method="Nelder-Mead", options=options).x
    found = calibrate(scores, evidence)
    assert_allclose([found.log_slope, *found.weight], best, atol=5e-3)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("steep", [0.2, 3.0], ids=["too certain", "too flat"])
def test_scores_are_made_as_certain_as_the_truth(n_classes, steep):
    scores, evidence, true = drawn(6000, steep, n_classes)
    found = calibrate(scores, evidence)(scores)
    plain = softmax(scores, axis=1)
    assert np.abs(found - true).mean() < 0.3 * np.abs(plain - true).mean()


def test_the_order_of_classes_does_not_matter():
    scores, evidence, _ = drawn(n_classes=3)
    order = np.array([2, 0, 1])
    found = calibrate(scores[:, order], evidence[:, order])
    expected = calibrate(scores, evidence).permuted(order)
    assert found.log_slope == pytest.approx(expected.log_slope, abs=1e-3)
    assert_allclose(found.weight, expected.weight, atol=1e-3)


def test_no_probability_is_more_certain_than_the_limit():
    phi = Calibration(0.0, np.zeros(2))(np.array([[50.0, -50.0], [0.3, 0.0]]))
    assert phi[0, 1] == pytest.approx(CERTAIN / (1 + CERTAIN))
    assert logit(phi[1, 0]) == pytest.approx(0.3)


def test_items_without_weight_do_not_calibrate():
    scores, evidence, _ = drawn()
    weight = (np.arange(400) % 2).astype(float)

    class Fixed(SharesModel):
        calibrated = True

        def scores(self, beliefs):
            del beliefs
            return scores

    changed = np.where(weight[:, None] > 0, evidence, evidence[:, ::-1])
    lines = [Fixed(weight).proba(evidence, one, None)[1] for one in (evidence, changed)]
    assert lines[0].log_slope == lines[1].log_slope
    _, every = Fixed(np.ones(400)).proba(evidence, changed, None)
    assert abs(every.log_slope - lines[0].log_slope) > 0.1


class Noted(LogisticRegression):
    """Notes how many columns it is given."""

    widths: ClassVar[list[int]] = []

    def fit(self, X, y, sample_weight=None):
        self.widths.append(X.shape[1])
        return super().fit(X, y, sample_weight)


def test_linear_models_are_spared_columns_without_entries():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 400)) < 0.01, 1.0, 0.0)
    beliefs = np.eye(2)[rng.integers(2, size=60)]
    train, test = np.arange(40), np.arange(40, 60)
    full, few = (
        fold_proba(Noted(tol=1e-8), one, beliefs, train, test) for one in (X, csr_array(X))
    )
    assert Noted.widths == [400, np.count_nonzero(X[train].any(axis=0))]
    assert_allclose(few, full, atol=1e-6)
    empty = csr_array(np.zeros((60, 3)))
    assert_allclose(
        fold_proba(Noted(), empty, beliefs, train, test),
        beliefs[train].mean(axis=0)[None].repeat(20, axis=0),
        atol=1e-3,
    )
