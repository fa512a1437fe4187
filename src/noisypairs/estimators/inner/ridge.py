"""Class shares by ridge regression: the steadiest classifier where beliefs are weak."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from noisypairs.algebra import Array
from noisypairs.estimators.inner.features import LINEAR, N_COMPONENTS, beside_kernel, kernel_map

#: P(class | x) stays this far from certainty.
CUT = 0.02
#: The most that a fit is widened against its shrinking.
WIDEST = 20.0
#: From so many columns on, items that are fewer give the smaller system of equations.
MANY_COLUMNS = 1000


def widening(fit: Array, wanted: Array, weight: Array) -> tuple[Array, float]:
    """Return the mean (K,) of a fit (n, K) and how far to scale it about that mean, at least one.

    A penalty shrinks direction and size; the slope of what was wanted on the fit undoes the second.

    >>> wanted = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> widening(0.5 + (wanted - 0.5) / 4, wanted, np.ones(2))
    (array([0.5, 0.5]), 4.0)
    """
    share = weight[:, None] / weight.sum()
    centre = (share * fit).sum(axis=0)
    spread = fit - centre
    variance = max(float((share * spread**2).sum()), 1e-9)
    slope = float((share * spread * (wanted - centre)).sum()) / variance
    return centre, min(max(slope, 1.0), WIDEST)


def _ridge(Z: Array, member: Array, weight: Array, penalty: Array) -> Array:
    """Return (ZᵀWZ + P)⁻¹ ZᵀW member, shape (d, K), P the diagonal matrix of the penalties.

    With more columns than rows, and thousands of them, the equal P⁻¹RᵀQ⁻¹ √W member is quicker,
    where R = √W Z and Q = R P⁻¹ Rᵀ + I has one row per item.
    """
    if Z.shape[1] <= max(len(Z), MANY_COLUMNS):
        weighted = Z * weight[:, None]
        normal = weighted.T @ Z + np.diag(penalty)
        solved: Array = cho_solve(cho_factor(normal), weighted.T @ member)
        return solved
    root = np.sqrt(weight)[:, None]
    rows = root * Z
    shrunk = rows / penalty
    return shrunk.T @ cho_solve(cho_factor(shrunk @ rows.T + np.eye(len(Z))), root * member)


class RidgeClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(class | x) as a ridge regression on the columns and on their RBF kernel map.

    Regression shrinks soft labels towards their mean, where logistic regression follows them; so
    it is the better choice where beliefs are mostly noise. The penalty shrinks direction and size;
    the second is undone by scaling about the mean to the slope of the labels on the fit. Takes
    ``sample_weight``.

    >>> model = RidgeClasses().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> model.predict([[0.4], [4.1]])
    array([0, 1])
    """

    linear_ = 1.0  # what columns weighed in models of version 0.1

    def __init__(
        self,
        n_components: int = N_COMPONENTS,
        penalty: float = 1.0,
        random_state: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.penalty = penalty
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the regression of class membership, and how far to widen it."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        if not weight.any():
            raise ValueError("all sample weights are zero: nothing to learn from")
        return self._solve(X, np.eye(len(self.classes_))[codes], weight)

    def fit_beliefs(self, X: Any, beliefs: Array) -> Self:
        """Fit to P(class | item), shape (n, K), one row per item; the classes are 0 to K − 1."""
        X = validate_data(self, X, dtype=np.float64)
        self.classes_ = np.arange(beliefs.shape[1])
        return self._solve(X, beliefs, np.ones(len(beliefs)))

    def _solve(self, X: Array, member: Array, weight: Array) -> Self:
        self.scaler_, self.kernel_ = kernel_map(X, self.random_state, self.n_components)
        self.linear_ = LINEAR
        self.kernel_.fit(self.scaler_.fit_transform(X))
        Z = self._columns(X)
        penalty = np.full(Z.shape[1], float(self.penalty))
        penalty[-1] = 1e-6  # the constant is free
        self.coef_ = _ridge(Z, member, weight, penalty)
        self.centre_, self.width_ = widening(Z @ self.coef_, member, weight)
        return self

    def _columns(self, X: Array) -> Array:
        """Return the standardised columns, their kernel map, and a constant, (n, d + m + 1)."""
        scaled = self.scaler_.transform(X)
        kernel = self.kernel_.transform(scaled)
        return beside_kernel(scaled, kernel, np.ones(len(X)), share=self.linear_)

    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x), shape (n, K)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        spread = self._columns(X) @ self.coef_ - self.centre_
        cut = np.clip(self.centre_ + self.width_ * spread, CUT, 1 - CUT)
        proba: Array = cut / cut.sum(axis=1, keepdims=True)
        return proba

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class, shape (n,)."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        names: NDArray[Any] = self.classes_[likeliest]
        return names
