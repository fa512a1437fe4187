"""The linear model of the signed risk: derivatives, closed forms, scikit-learn's own solution."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge

from noisypairs.estimators import LinearRiskClassifier
from noisypairs.estimators.linear import LOSSES

#: l(t, +1) written again, not taken from the package.
WRITTEN = {
    "brier": lambda t: (1 - 1 / (1 + np.exp(-t))) ** 2,
    "logistic": lambda t: np.log(1 + np.exp(-t)),
    "squared": lambda t: (1 - t) ** 2,
    "squared_hinge": lambda t: np.where(t < 1, (1 - t) ** 2, 0.0),
    "sigmoid": lambda t: 1 / (1 + np.exp(t)),
}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X @ [1.0, -2.0, 0.5] + rng.normal(size=60) > 0.3).astype(int)
    return X, y


@pytest.fixture
def signed(rows):
    """Weights of both signs with u + v > 0, as the loss correction makes them."""
    rng = np.random.default_rng(1)
    total, y = rng.integers(1, 5, 60).astype(float), rows[1]
    share = 1.4 * y - 0.2 + rng.normal(0, 0.2, 60)
    u, v = total * share, total * (1 - share)
    assert (u < 0).any()
    assert (v < 0).any()
    return u, v


def captured_objective(monkeypatch, model, *args, **kwargs):
    """Return the (value, gradient) function that the fit would minimise, without minimising it."""
    seen = []

    def spy(function, start, **options):
        seen.append(function)
        return optimize.OptimizeResult(x=start, fun=0.0, nit=0, status=0)

    with monkeypatch.context() as patch:
        patch.setattr(optimize, "minimize", spy)
        clone(model).fit_risk(*args, **kwargs)
    return seen[0]


def test_every_loss_is_written_here_too():
    assert set(LOSSES) == set(WRITTEN)


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_and_their_slopes(loss):
    t = np.linspace(-4, 4, 83)
    value, slope = LOSSES[loss](t)
    assert_allclose(value, WRITTEN[loss](t), rtol=1e-12)
    step = 1e-6
    numeric = (WRITTEN[loss](t + step) - WRITTEN[loss](t - step)) / (2 * step)
    assert_allclose(slope, numeric, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("loss", ["brier", "logistic", "sigmoid"])
def test_losses_survive_huge_margins(loss):
    value, slope = LOSSES[loss](np.array([-1e4, 1e4]))
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()
    assert value[1] == pytest.approx(0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("non_negative", [False, True])
def test_objective_and_gradient(loss, non_negative, rows, signed, monkeypatch):
    (X, _), (u, v) = rows, signed
    model = LinearRiskClassifier(loss, penalty=0.7)
    objective = captured_objective(monkeypatch, model, X, u, v, non_negative=non_negative)
    m = np.abs(u + v).sum()
    for point in np.random.default_rng(2).normal(size=(5, 4)):
        t = X @ point[:3] + point[3]
        parts = np.array([u @ WRITTEN[loss](t), v @ WRITTEN[loss](-t)]) / m
        risk = np.maximum(parts, 0).sum() if non_negative else parts.sum()
        value, gradient = objective(point)
        assert value == pytest.approx(risk + 0.35 * point[:3] @ point[:3], rel=1e-12)
        numeric = optimize.approx_fprime(point, lambda at: objective(at)[0], 1e-6)
        assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-5)


def test_non_negative_risk_is_kept_from_below_zero(rows, signed, monkeypatch):
    (X, _), (u, v) = rows, signed
    model = LinearRiskClassifier("logistic", penalty=0.0)
    objective = captured_objective(monkeypatch, model, X, u, v, non_negative=True)
    model.fit_risk(X, u, v, non_negative=True)
    free = LinearRiskClassifier("logistic", penalty=1e-3).fit_risk(X, u, v)
    at_free = np.append(free.coef_[0], free.intercept_)
    t = free.decision_function(X)
    parts = np.array([u @ WRITTEN["logistic"](t), v @ WRITTEN["logistic"](-t)])
    assert parts.min() < 0  # the free minimum over-fits, which is what the option is for
    assert objective(at_free)[0] >= 0
    found = objective(np.append(model.coef_[0], model.intercept_))[0]
    assert 0 <= found <= objective(np.zeros(4))[0]


@pytest.mark.parametrize("weighted", [False, True])
def test_plain_labels_equal_logistic_regression(rows, weighted):
    X, y = rows
    weight = np.random.default_rng(3).integers(1, 6, 60).astype(float) if weighted else None
    penalty = 0.05
    total = 60.0 if weight is None else weight.sum()
    # scikit-learn minimises C Σ l + |w|²/2; ours divides by m: penalty = 1/(C m)
    theirs = LogisticRegression(C=1 / (penalty * total), tol=1e-10, max_iter=1000)
    theirs.fit(X, y, sample_weight=weight)
    ours = LinearRiskClassifier("logistic", penalty=penalty).fit(X, y, sample_weight=weight)
    assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-6)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=1e-6)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-6)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_signed_squared_risk_has_a_closed_form(rows, signed):
    (X, _), (u, v) = rows, signed
    penalty, m = 0.03, np.abs(u + v).sum()
    # u(1−t)² + v(1+t)² = (u+v)(t − z)² + const with z = (u−v)/(u+v): weighted ridge regression
    ridge = Ridge(alpha=penalty * m / 2, tol=1e-12).fit(X, (u - v) / (u + v), sample_weight=u + v)
    model = LinearRiskClassifier("squared", penalty=penalty).fit_risk(X, u, v)
    assert_allclose(model.coef_[0], ridge.coef_, rtol=0, atol=1e-6)
    assert_allclose(model.intercept_[0], ridge.intercept_, rtol=0, atol=1e-6)
    expected = np.clip((1 + ridge.predict(X)) / 2, 0, 1)
    assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=0, atol=1e-6)


def test_the_scale_of_the_weights_does_not_matter(rows, signed):
    (X, _), (u, v) = rows, signed
    one, many = (LinearRiskClassifier().fit_risk(X, k * u, k * v) for k in (1.0, 1000.0))
    assert_allclose(many.coef_, one.coef_, rtol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_sparse_rows_and_names(rows, loss):
    X, y = rows
    names = np.array(["no", "yes"])[y]
    model = LinearRiskClassifier(loss, penalty=0.01)
    dense, sparse = (clone(model).fit(rows_, names) for rows_ in (X, csr_array(X)))
    assert dense.classes_.tolist() == ["no", "yes"]
    assert np.mean(dense.predict(X) == names) > 0.8
    # a loss without curvature in flat places leaves the last digits open
    assert_allclose(sparse.predict_proba(csr_array(X)), dense.predict_proba(X), atol=1e-4)


def test_a_risk_without_minimum_is_refused():
    u, v = np.array([-1.0, -0.5, 1.5, 2.0]), np.array([2.0, 1.5, -0.5, -1.0])
    X = [[-2.0], [-1.0], [1.0], [2.0]]
    with pytest.raises(ValueError, match=r"no minimum.*penalty"):
        LinearRiskClassifier("squared_hinge").fit_risk(X, u, v)
    with pytest.warns(ConvergenceWarning, match=r"still falling.*non_negative"):
        LinearRiskClassifier("logistic", penalty=0.0, max_iter=20).fit_risk(X, u, v)


def test_what_is_refused(rows):
    X, y = rows
    with pytest.raises(ValueError, match="did you mean 'logistic'"):
        LinearRiskClassifier("logistik").fit(X, y)
    with pytest.raises(ValueError, match="two classes, got 3"):
        LinearRiskClassifier().fit(X, np.arange(60) % 3)
    with pytest.raises(ValueError, match="all weights are zero"):
        LinearRiskClassifier().fit_risk(X, np.zeros(60), np.zeros(60))
    with pytest.raises(ValueError, match="NaN"):
        LinearRiskClassifier().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(NotFittedError):
        LinearRiskClassifier().predict(X)
    with pytest.raises(ValueError, match="2 features"):
        LinearRiskClassifier().fit(X, y).predict(X[:, :2])
