"""The mean of several classifiers' probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from noisypairs import reduction
from noisypairs.algebra import Array


class AveragedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Average the probabilities of several classifiers, each fitted with the same weights.

    Unlike scikit-learn's soft voting it hands ``sample_weight`` to the last step of pipelines.

    >>> from sklearn.linear_model import LogisticRegression
    >>> model = AveragedClassifier([LogisticRegression(), LogisticRegression(C=0.1)])
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.2], [2.8]])
    array([0, 1])
    """

    def __init__(self, estimators: Sequence[Any]) -> None:
        self.estimators = estimators

    @classmethod
    def of(cls, fitted: Sequence[Any]) -> Self:
        """Return the mean of classifiers that are fitted already.

        A class that some have not seen, since nobody believed in it, they give no probability.
        """
        mean = cls([clone(member) for member in fitted])
        mean.estimators_ = list(fitted)
        mean.classes_ = np.unique(np.concatenate([member.classes_ for member in fitted]))
        return mean

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit a clone of every member."""
        weight = np.ones(len(np.asarray(y))) if sample_weight is None else np.asarray(sample_weight)
        self.estimators_ = [
            reduction.fit_weighted(clone(member), X, y, weight, rescale=False)
            for member in self.estimators
        ]
        self.classes_ = self.estimators_[0].classes_
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the mean of the members' P(class | x), shape (n, K)."""
        check_is_fitted(self)
        return np.asarray(np.mean([self._all_classes(m, X) for m in self.estimators_], axis=0))

    def _all_classes(self, member: Any, X: Any) -> Array:
        proba: Array = member.predict_proba(X)
        full = np.zeros((len(proba), len(self.classes_)))
        full[:, np.searchsorted(self.classes_, member.classes_)] = proba
        return full

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest mean probability, shape (n,)."""
        winner = self.predict_proba(X).argmax(axis=1)  # first, for it says if fit is missing
        names: NDArray[Any] = self.classes_[winner]
        return names
