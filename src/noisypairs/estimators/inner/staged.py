"""Classifiers that learn in stages, and say what each stage would predict."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from noisypairs.algebra import Array

#: Trees, or epochs, after which a stage is looked at.
TREES, EPOCHS = (10, 20, 30, 50, 80), (3, 6, 12, 24, 40)


@runtime_checkable
class Staged(Protocol):
    """A classifier whose number of stages is best chosen by items it was not fitted to."""

    def stages(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, X_new: Any, first: int = 1
    ) -> Iterator[tuple[int, Array]]:
        """Fit, and yield after how many ``max_iter`` P(class | x_new) is what, shape (m, K).

        Stages before the ``first`` are of no interest.
        """
        ...


class BoostedTrees(HistGradientBoostingClassifier):  # type: ignore[misc]
    """scikit-learn's boosted trees, of as many rounds as held-out items call for.

    Of two classes ``y`` may also hold the share of class 1, as floats in [0, 1]: one row per item
    then does what a row for either class would do.

    >>> X, share = np.arange(40.0)[:, None], np.linspace(0.1, 0.9, 40)
    >>> BoostedTrees(min_samples_leaf=5).fit(X, share).predict_proba([[3.0], [37.0]]).round(1)
    array([[0.9, 0.1],
           [0.1, 0.9]])
    """

    takes_shares = True

    def stages(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, X_new: Any, first: int = 1
    ) -> Iterator[tuple[int, Array]]:
        """Grow 10, 20, … trees, each time only so many more, and yield what they predict."""
        most = self.max_iter
        self.set_params(warm_start=True)
        for number in sorted({*(few for few in TREES if first <= few < most), most}):
            self.set_params(max_iter=number).fit(X, y, sample_weight=sample_weight)
            yield number, self.predict_proba(X_new)

    def _encode_y(self, y: NDArray[Any]) -> NDArray[Any]:
        """Name the classes; leave shares as they are, which the loss of two classes allows."""
        if not _are_shares(y):
            return np.asarray(super()._encode_y(y))
        super()._encode_y(np.arange(2))
        return y

    def _bin_data(self, X: Array, *how: Any, **named: Any) -> NDArray[np.uint8]:
        """Spare the search for bins, a sort of every column, where items are in bins already."""
        missing = np.isnan(X)
        with np.errstate(invalid="ignore"):  # what is missing gets its bin below
            bins = X.astype(np.uint8, order="F")
        binned = self.is_categorical_ is None and not missing.all(axis=0).any()
        if not binned or not np.all(missing | ((bins == X) & (self.max_bins > X))):
            return np.asarray(super()._bin_data(X, *how, **named))
        mapper, last = self._bin_mapper, np.fmax.reduce(X, axis=0)
        mapper.is_categorical_ = np.zeros(X.shape[1], dtype=np.uint8)
        mapper.missing_values_bin_idx_ = mapper.n_bins - 1
        mapper.bin_thresholds_ = [np.arange(int(top)) + 0.5 for top in last]
        mapper.n_bins_non_missing_ = last.astype(np.uint32) + 1
        bins[missing] = mapper.missing_values_bin_idx_
        return bins


class SmallNetwork(MLPClassifier):  # type: ignore[misc]
    """scikit-learn's network, of as many epochs as held-out items call for.

    Of two classes ``y`` may also hold the share of class 1, as `BoostedTrees` take it.
    """

    takes_shares = True

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit for ``max_iter`` epochs: where to end was chosen before, so it is no failure."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            super().fit(X, y, sample_weight)
        return self

    def stages(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, X_new: Any, first: int = 1
    ) -> Iterator[tuple[int, Array]]:
        """Go through the items epoch by epoch, and yield what the network then predicts."""
        y = np.asarray(y)
        classes = np.arange(2) if _are_shares(y) else np.unique(y)
        for epoch in range(1, self.max_iter + 1):
            known = {"classes": classes} if epoch == 1 else {}
            self.partial_fit(X, y, sample_weight=sample_weight, **known)
            if (epoch in EPOCHS and epoch >= first) or epoch == self.max_iter:
                yield epoch, self.predict_proba(X_new)

    def _validate_input(
        self, X: Any, y: NDArray[Any], incremental: bool, reset: bool
    ) -> tuple[Any, NDArray[Any]]:
        """Name the classes; leave shares as they are, which the loss of two classes allows."""
        y = np.asarray(y)
        if not _are_shares(y):
            seen, wanted = super()._validate_input(X, y, incremental, reset)
            return seen, np.asarray(wanted)
        if reset:  # in later epochs the items are the same
            named = np.arange(len(y)) % 2  # both classes, for scikit-learn to name them by
            X, _ = super()._validate_input(X, named, incremental, reset)
        return X, y[:, None]


def _are_shares(y: NDArray[Any]) -> bool:
    """Return whether y holds shares of class 1, and refuse what only looks like them."""
    if y.dtype.kind != "f":
        return False
    if not ((y >= 0) & (y <= 1)).all():
        raise ValueError("y holds floats outside [0, 1]: give labels, or shares of class 1")
    return True
