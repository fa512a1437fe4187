"""Classifiers that learn in stages, and say what each stage would predict."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from noisypairs.algebra import Array

#: Trees, or epochs, after which a stage is looked at.
TREES, EPOCHS = (10, 20, 30, 50, 80), (5, 10, 20, 40)


@runtime_checkable
class Staged(Protocol):
    """A classifier whose number of stages is best chosen by items it was not fitted to."""

    def stages(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike, X_new: Any
    ) -> Iterator[tuple[int, Array]]:
        """Fit, and yield after how many ``max_iter`` P(class | x_new) is what, shape (m, K)."""
        ...


class BoostedTrees(HistGradientBoostingClassifier):  # type: ignore[misc]
    """scikit-learn's boosted trees, of as many rounds as held-out items call for."""

    def stages(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike, X_new: Any
    ) -> Iterator[tuple[int, Array]]:
        """Fit once, and yield what the first 10, 20, … trees predict."""
        self.fit(X, y, sample_weight=sample_weight)
        for number, proba in enumerate(self.staged_predict_proba(X_new), start=1):
            if number in TREES or number == self.max_iter:
                yield number, proba


class SmallNetwork(MLPClassifier):  # type: ignore[misc]
    """scikit-learn's network, of as many epochs as held-out items call for."""

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit for ``max_iter`` epochs: where to end was chosen before, so it is no failure."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            super().fit(X, y, sample_weight)
        return self

    def stages(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike, X_new: Any
    ) -> Iterator[tuple[int, Array]]:
        """Go through the items epoch by epoch, and yield what the network then predicts."""
        classes = np.unique(np.asarray(y))
        for epoch in range(1, self.max_iter + 1):
            self.partial_fit(X, y, classes=classes, sample_weight=sample_weight)
            if epoch in EPOCHS or epoch == self.max_iter:
                yield epoch, self.predict_proba(X_new)
