"""Logistic regression on beliefs: one row per item, however many classes it may belong to."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from noisypairs.algebra import Array

#: Up to so many columns their second moments are worth factorising: steps are then few.
MOST_FACTORISED = 1000


class LogisticClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Multinomial logistic regression with a ridge penalty, fitted to labels or to beliefs.

    scikit-learn's takes hard labels, so beliefs need a row per item and class there. Here
    `fit_beliefs` minimises −Σ_i Σ_k b_ik log p_k(x_i) + |W|²/2C directly, by L-BFGS in coordinates
    where the curvature is nearly that of the unit matrix: (¼ XᵀX + 1/C) bounds it from above. With
    ``warm_start`` it begins at the coefficients of the last fit, if they are of the same shape.

    >>> model = LogisticClasses().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> model.predict([[0.4], [4.1]])
    array([0, 1])
    >>> beliefs = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> LogisticClasses(C=1e6).fit_beliefs([[0.0], [1.0]], beliefs).predict_proba([[1.0]]).round(2)
    array([[0.2, 0.8]])
    """

    takes_moments = True

    def __init__(
        self, C: float = 1.0, tol: float = 1e-6, max_iter: int = 200, warm_start: bool = False
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    warm_start: bool = False  # models of older files have none of their own

    @classmethod
    def of_scores(cls, slope: Array, constant: Array) -> Self:
        """Return the model with these scores of K classes, xᵀ slope + constant, (d, K) and (K,).

        >>> model = LogisticClasses.of_scores(np.array([[0.0, 1.0]]), np.zeros(2))
        >>> model.predict_proba([[0.0], [9.0]]).round(2).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
        """
        model = cls()
        model.classes_, model.n_features_in_ = np.arange(len(constant)), len(slope)
        if len(constant) == 2:  # one score, the log-odds of the second class
            slope, constant = slope[:, 1:] - slope[:, :1], constant[1:] - constant[:1]
        model.coef_, model.intercept_, model.n_iter_ = slope, constant, 0
        return model

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to hard labels."""
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse="csr")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        return self._minimise(X, np.eye(len(self.classes_))[codes] * weight[:, None])

    def fit_beliefs(self, X: Any, beliefs: Array, moments: Array | None = None) -> Self:
        """Fit to P(class | item), shape (n, K); the classes are 0 to K − 1.

        ``moments`` (d + 1, d + 1) are XᵀX with a constant as the last column, where known.
        """
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr")
        self.classes_ = np.arange(beliefs.shape[1])
        return self._minimise(X, beliefs, moments)

    def _minimise(self, X: Any, wanted: Array, moments: Array | None = None) -> Self:
        K, n_columns = wanted.shape[1], X.shape[1]
        # Between two classes the second coefficients are the first with the other sign.
        wanted, pair = (wanted, False) if K > 2 else (wanted[:, ::-1], True)
        weight = wanted.sum(axis=1, keepdims=True)
        root = self._curvature_root(X, weight, moments)

        def coefficients(v: Array) -> Array:
            W = v.reshape(n_columns + 1, -1)
            return W if root is None else solve_triangular(root, W, trans=1, lower=True)

        def objective(v: Array) -> tuple[float, Array]:
            W = coefficients(v)
            value, residual = _loss(X @ W[:-1] + W[-1], wanted, weight)
            slope = np.vstack([X.T @ residual + W[:-1] / penalised, residual.sum(axis=0)])
            if root is not None:
                slope = solve_triangular(root, slope, lower=True)
            return value + float((W[:-1] ** 2).sum()) / (2 * penalised), slope.ravel()

        penalised = 2 * self.C if pair else self.C
        start = self._first_coefficients(n_columns, 1 if pair else K)
        found = minimize(
            objective,
            (start if root is None else root.T @ start).ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iter, "ftol": self.tol, "gtol": 1e-8},
        )
        W = coefficients(found.x)
        self.coef_, self.intercept_, self.n_iter_ = W[:-1], W[-1], int(found.nit)
        return self

    def _first_coefficients(self, n_columns: int, n_scores: int) -> Array:
        """Return where to begin, (n_columns + 1, n_scores): at zero, or at the last fit."""
        last = getattr(self, "coef_", None) if self.warm_start else None
        if last is None or last.shape != (n_columns, n_scores):
            return np.zeros((n_columns + 1, n_scores))
        return np.vstack([last, self.intercept_])

    def _curvature_root(self, X: Any, weight: Array, moments: Array | None) -> Array | None:
        """Return the lower Cholesky factor of ¼ XᵀX + 1/C with a constant column, or None.

        None where it would cost too much.
        """
        if issparse(X) or X.shape[1] > MOST_FACTORISED:
            return None
        if moments is None:
            beside = np.column_stack([X, np.ones(len(X))])
            moments = (beside * weight).T @ beside
        bound: Array = 0.25 * moments
        bound[np.diag_indices_from(bound)] += np.r_[np.full(X.shape[1], 1.0 / self.C), 1e-6]
        root: Array = cholesky(bound, lower=True)
        return root

    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x), shape (n, K)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)
        scores = X @ self.coef_ + self.intercept_
        if len(self.classes_) != 2:
            return np.asarray(softmax(scores, axis=1))
        second = expit(scores)
        return np.column_stack([1.0 - second[:, 0], second[:, 0]])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class, shape (n,)."""
        likeliest = self.predict_proba(X).argmax(axis=1)  # first, for it says if fit is missing
        names: NDArray[Any] = self.classes_[likeliest]
        return names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _loss(scores: Array, wanted: Array, weight: Array) -> tuple[float, Array]:
    """Return −Σ b log p and its derivative with respect to the scores, (n, 1) for two classes.

    The one score of two classes is the log-odds of the first column of ``wanted``.
    """
    if scores.shape[1] == 1:
        value = weight * np.logaddexp(0.0, scores) - wanted[:, :1] * scores
        return float(value.sum()), weight * expit(scores) - wanted[:, :1]
    shifted = scores - scores.max(axis=1, keepdims=True)
    exponential = np.exp(shifted)
    total = exponential.sum(axis=1, keepdims=True)
    value = weight * np.log(total) - (wanted * shifted).sum(axis=1, keepdims=True)
    return float(value.sum()), weight * (exponential / total) - wanted
