"""Gaussian classes with one diagonal covariance: a class model of the features themselves."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from noisypairs.algebra import Array

#: A class of fewer other items than this is taken to have so many.
FEWEST_OTHERS = 0.3


class GaussianClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """P(x | y) = N(μ_y, diag(v)), the same v for all classes; takes ``sample_weight``.

    P(y | x) ∝ π_y exp(−Σ_j (x_j − μ_yj)² / 2v_j). Where features cluster by class it trusts the
    clusters more than any discriminative model would, which is what answers that err on the same
    hard items again and again call for. (scikit-learn's naive Bayes has a covariance per class, its
    discriminant analysis takes no weights.)

    >>> model = GaussianClasses().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> model.predict([[0.4], [4.1]])
    array([0, 1])
    """

    def __init__(self, smoothing: float = 1e-6) -> None:
        self.smoothing = smoothing

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit weighted class means, shares, and the pooled variance of each column."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, float)
        return self._estimate(X, np.eye(len(self.classes_))[codes] * weight[:, None])

    def fit_beliefs(self, X: Any, beliefs: Array) -> Self:
        """Fit to P(class | item), shape (n, K), one row per item; the classes are 0 to K − 1."""
        X = validate_data(self, X, dtype=np.float64)
        self.classes_ = np.arange(beliefs.shape[1])
        return self._estimate(X, beliefs)

    def _estimate(self, X: Array, member: Array) -> Self:
        total = np.maximum(member.sum(axis=0), 1e-12)
        self.class_prior_ = total / total.sum()
        centre = X.mean(axis=0)  # about which squares are summed: far from it they would cancel
        means = member.T @ (X - centre) / total[:, None]
        squares = member.sum(axis=1) @ (X - centre) ** 2 - total @ means**2
        within = np.maximum(squares, 0.0) / total.sum()
        self.means_ = centre + means
        self.variance_ = within + self.smoothing * max(float(X.var(axis=0).max()), 1e-12)
        return self

    def leave_one_out(self, X: Any, beliefs: Array, weight: Array) -> Array:
        """Return P(class | x) of every item, (n, K), learnt from the beliefs of all others.

        Without item i the mean of class k is (n_k μ_k − b_ik x_i)/(n_k − b_ik), so x_i lies
        n_k/(n_k − b_ik) times as far from it; and it is the mean of so few items that x scatters
        by 1 + 1/(n_k − b_ik) times the variance about it. In folds a class of five items would lose
        one of them for every fold. ``weight`` (n,) is 1 for items to learn from and 0 for others.
        """
        X = validate_data(self, X, dtype=np.float64)
        member = beliefs * weight[:, None]
        self.classes_ = np.arange(beliefs.shape[1])
        self._estimate(X[weight > 0], member[weight > 0])
        scale, total = np.sqrt(self.variance_), member.sum(axis=0)
        seen, means = (X - X.mean(axis=0)) / scale, (self.means_ - X.mean(axis=0)) / scale
        squares = (seen**2).sum(axis=1)[:, None] - 2.0 * seen @ means.T + (means**2).sum(axis=1)
        others = np.maximum(total - member, FEWEST_OTHERS)
        far = squares * (total / others).clip(1.0) ** 2
        wider = 1.0 + 1.0 / others
        log_chance = np.log(others) - far / (2.0 * wider) - X.shape[1] / 2.0 * np.log(wider)
        return np.asarray(softmax(log_chance, axis=1))

    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x), shape (n, K)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False) / np.sqrt(self.variance_)
        means = self.means_ / np.sqrt(self.variance_)
        # |x − μ|² less the |x|² that all classes share
        distance = (means**2).sum(axis=1) - 2.0 * X @ means.T
        proba: Array = softmax(np.log(self.class_prior_) - distance / 2.0, axis=1)
        return proba

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class, shape (n,)."""
        likeliest = self.predict_proba(X).argmax(axis=1)  # first, for it says if fit is missing
        names: NDArray[Any] = self.classes_[likeliest]
        return names
