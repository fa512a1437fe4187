"""A linear model of the signed point-wise risk, for losses that are not a plain regression."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from noisypairs.algebra import Array
from noisypairs.errors import did_you_mean, warn_user


def _logistic(t: Array) -> tuple[Array, Array]:
    return np.logaddexp(0.0, -t), -expit(-t)


def _squared(t: Array) -> tuple[Array, Array]:
    return (1.0 - t) ** 2, -2.0 * (1.0 - t)


def _squared_hinge(t: Array) -> tuple[Array, Array]:
    short = np.maximum(1.0 - t, 0.0)
    return short**2, -2.0 * short


def _sigmoid(t: Array) -> tuple[Array, Array]:
    value = expit(-t)
    return value, -value * (1.0 - value)


def _brier(t: Array) -> tuple[Array, Array]:
    wrong = expit(-t)
    return wrong**2, -2.0 * wrong**2 * (1.0 - wrong)


LossName = Literal["brier", "logistic", "sigmoid", "squared", "squared_hinge"]
#: Margin losses l(t) with their derivatives; l(t, +1) = l(t) and l(t, −1) = l(−t).
LOSSES = {
    "brier": _brier,  # (1 − 1/(1+e⁻ᵗ))², the squared loss of a logistic linear model
    "logistic": _logistic,  # log(1 + e⁻ᵗ), convex, stays convex when corrected
    "squared": _squared,  # (1 − t)², convex, stays convex when corrected
    "squared_hinge": _squared_hinge,  # max(0, 1 − t)², may lose convexity when corrected
    "sigmoid": _sigmoid,  # 1/(1 + eᵗ), bounded, never convex
}


class LinearRiskClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Minimise Σ_i [u_i l(t_i) + v_i l(−t_i)] / m + (penalty/2) |w|² over t = w·x + w₀ by L-BFGS.

    u and v may have any sign; m = Σ |u + v|. The intercept is not penalised. ``non_negative=True``
    in `fit_risk` minimises max(0, R₊) + max(0, R₋) instead, R₊ = Σ u l(t)/m and R₋ = Σ v l(−t)/m:
    the true parts are risks and cannot be negative, so a negative one is over-fitting.

    >>> model = LinearRiskClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.2], [2.8]])
    array([0, 1])
    """

    def __init__(
        self, loss: LossName = "logistic", penalty: float = 1e-4, max_iter: int = 1000
    ) -> None:
        self.loss = loss
        self.penalty = penalty
        self.max_iter = max_iter

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to class labels: u = weight of the second class, v = of the first."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(f"expected labels of two classes, got {len(self.classes_)}")
        weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, float)
        return self._minimise(X, weight * codes, weight * (1 - codes), non_negative=False)

    def fit_risk(self, X: Any, u: ArrayLike, v: ArrayLike, *, non_negative: bool = False) -> Self:
        """Fit to the signed risk; classes are then 0 and 1."""
        self.classes_ = np.array([0, 1])
        return self._minimise(X, np.asarray(u, float), np.asarray(v, float), non_negative)

    def _minimise(self, X: Any, u: Array, v: Array, non_negative: bool) -> Self:
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        if self.loss not in LOSSES:
            raise ValueError(f"loss={self.loss!r}: {did_you_mean(str(self.loss), LOSSES)}")
        scale = np.abs(u + v).sum()
        if scale == 0:
            raise ValueError("all weights are zero: there is nothing to fit")
        u, v = u / scale, v / scale

        def objective(parameters: Array) -> tuple[float, Array]:
            w, intercept = parameters[:-1], parameters[-1]
            t = X @ w + intercept
            plus, slope_plus = LOSSES[self.loss](t)
            minus, slope_minus = LOSSES[self.loss](-t)
            parts = (float(u @ plus), float(v @ minus))
            slopes = (u * slope_plus, -v * slope_minus)
            used = [part >= 0 or not non_negative for part in parts]
            value = sum(part for part, on in zip(parts, used, strict=True) if on)
            slope = sum((s for s, on in zip(slopes, used, strict=True) if on), np.zeros(len(t)))
            gradient = np.append(X.T @ slope + self.penalty * w, slope.sum())
            return value + self.penalty * float(w @ w) / 2, gradient

        with np.errstate(over="ignore", invalid="ignore"):  # see _check_minimum
            found = optimize.minimize(
                objective,
                np.zeros(X.shape[1] + 1),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": self.max_iter, "ftol": 1e-15, "gtol": 1e-9},
            )
        self._check_minimum(found)
        self.coef_, self.intercept_ = found.x[None, :-1], found.x[-1:]
        self.n_iter_ = int(found.nit)
        return self

    def _check_minimum(self, found: Any) -> None:
        """Refuse a risk that has no minimum, warn where the minimum was not reached."""
        way_out = "raise penalty, use non_negative=True, or choose the loss 'brier' or 'squared'"
        if not np.isfinite(found.fun):
            raise ValueError(
                f"the {self.loss} risk with these signed weights has no minimum: {way_out}"
            )
        if found.status == 1:  # a limit was reached; 2 is the end of floating point
            warn_user(
                f"the {self.loss} risk was still falling after {found.nit} iterations: raise "
                f"max_iter; if its weights are signed it may have no minimum: {way_out}",
                ConvergenceWarning,
            )

    def decision_function(self, X: Any) -> Array:
        """Return t = w·x + w₀, shape (n,)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        margin: Array = X @ self.coef_[0] + self.intercept_[0]
        return margin

    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x): 1/(1+e⁻ᵗ) for logistic and brier, else (1+t)/2 cut to [0, 1].

        The sigmoid loss estimates no probability; its t is mapped in the same way for ranking.
        """
        t = self.decision_function(X)
        positive = (
            expit(t) if self.loss in ("brier", "logistic") else np.clip((1.0 + t) / 2.0, 0.0, 1.0)
        )
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with t of its sign, shape (n,)."""
        winner = (self.decision_function(X) > 0).astype(np.intp)  # first: it says "not fitted"
        names: NDArray[Any] = self.classes_[winner]
        return names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags
