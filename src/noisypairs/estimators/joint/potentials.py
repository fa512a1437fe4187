"""What turns item beliefs into P(class | x): a fast closed form, and any classifier out of fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from noisypairs import reduction
from noisypairs.algebra import Array
from noisypairs.estimators.inner.ridge import CUT, widening

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


class RidgePotential:
    """Ridge regression of the beliefs on fixed features, out of fold, factorised once.

    Only the right-hand side Zᵀ B changes from round to round, so a round costs two products with
    Z, shape (n_items, m). ``weight`` (n_items,) is 1 for items in pairs and 0 for the others.
    """

    def __init__(self, Z: Array, folds: Sequence[Fold], weight: Array, penalty: float = 1.0):
        tests = [test for _, test in folds]
        self.order, self.weight = np.concatenate(tests), weight[:, None]
        ends = np.cumsum([test.size for test in tests])
        self.folds = [slice(end - test.size, end) for test, end in zip(tests, ends, strict=True)]
        # Fold by fold, so that the rows of each lie together.
        self.Z = np.column_stack([Z[self.order], np.ones(self.order.size)])
        grams = [self._gram(fold) for fold in self.folds]
        ridge = penalty * np.eye(self.Z.shape[1])
        ridge[-1, -1] = 1e-6
        self.factors = [cho_factor(sum(grams) - gram + ridge) for gram in grams]

    def _gram(self, fold: slice) -> Array:
        part: Array = self.Z[fold].T @ (self.Z[fold] * self.weight[self.order[fold]])
        return part

    def __call__(self, beliefs: Array) -> Array:
        """Return out-of-fold P(class | x), shape (n_items, K), cut as `RidgeClasses` does."""
        weighted = (beliefs * self.weight)[self.order]
        sums = [self.Z[fold].T @ weighted[fold] for fold in self.folds]
        phi = np.empty_like(beliefs)
        for fold, factor, own in zip(self.folds, self.factors, sums, strict=True):
            phi[self.order[fold]] = self.Z[fold] @ cho_solve(factor, sum(sums) - own)
        # Left alone, shrinking would flatten φ round after round where answers are weak, and S
        # would come out too certain to make up for it.
        centre, width = widening(phi, beliefs, self.weight[:, 0])
        cut: Array = np.clip(centre + width * (phi - centre), CUT, 1 - CUT)
        return cut


class EstimatorPotential:
    """Any probabilistic classifier, refitted on the beliefs of the other folds each round.

    In-sample probabilities of a flexible classifier would confirm its own errors; out-of-fold
    ones cannot. Items in no pair are predicted but never trained on.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        folds: Sequence[Fold],
        in_pairs: NDArray[np.bool_],
        n_jobs: int | None = None,
    ) -> None:
        self.estimator, self.X, self.folds = estimator, X, folds
        self.in_pairs, self.n_jobs = in_pairs, n_jobs

    def __call__(self, beliefs: Array) -> Array:
        """Return out-of-fold P(class | x), shape (n_items, K)."""
        K = beliefs.shape[1]
        phi = np.empty_like(beliefs)
        predictions = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_predict)(
                self.estimator, self.X, beliefs, train[self.in_pairs[train]], test, K
            )
            for train, test in self.folds
        )
        for (_, test), values in zip(self.folds, predictions, strict=True):
            phi[test] = values
        return phi


def fit_beliefs(estimator: Any, X: Any, beliefs: Array, items: NDArray[np.intp]) -> Any:
    """Fit a clone of the classifier to beliefs of some items: one row per item and class."""
    rows, label, weight = reduction.soft_rows(beliefs[items])
    return reduction.fit_weighted(
        clone(estimator), _safe_indexing(X, items[rows]), label, weight, rescale=False
    )


def class_proba(model: Any, X: Any, n_classes: int) -> Array:
    """Return P(class | x), shape (n, K), also where the model never saw some class."""
    proba = np.zeros((X.shape[0], n_classes))
    proba[:, np.asarray(model.classes_, dtype=np.intp)] = model.predict_proba(X)
    return proba


def _fit_predict(
    estimator: Any,
    X: Any,
    beliefs: Array,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    n_classes: int,
) -> Array:
    model = fit_beliefs(estimator, X, beliefs, train)
    return class_proba(model, _safe_indexing(X, test), n_classes)
