"""Sums over answers in memory, and the key of an unordered pair: functions of flat arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

Array = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class ItemCounts:
    """How often each item occurs in "same" and in "different" pairs, both of shape (n_items,)."""

    same: Array
    different: Array

    @property
    def total(self) -> Array:
        """Return s + d, the occurrences of each item."""
        total: Array = self.same + self.different
        return total

    @property
    def share(self) -> Array:
        """Return s / (s + d) for each item, NaN where it occurs in no pair."""
        unknown = np.full(len(self.same), np.nan)
        share: Array = np.divide(self.same, self.total, out=unknown, where=self.total > 0)
        return share


def pair_keys(left: IntArray, right: IntArray, n_items: int) -> NDArray[np.int64]:
    """Return one number per unordered pair, shape (n_pairs,): low · n_items + high.

    >>> pair_keys(np.array([0, 2]), np.array([2, 0]), 3)
    array([2, 2])
    """
    # int64 before multiplying: positions are int32 and their product is not.
    low = np.minimum(left, right).astype(np.int64)
    keys: NDArray[np.int64] = low * n_items + np.maximum(left, right)
    return keys


def pair_ends(keys: NDArray[np.int64], n_items: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the two ends low ≤ high behind `pair_keys`.

    >>> pair_ends(np.array([2]), 3)
    (array([0]), array([2]))
    """
    low, high = np.divmod(keys, max(n_items, 1))
    return low.astype(np.intp), high.astype(np.intp)


def answer_weights(weight: NDArray[np.floating[Any]] | None, n_pairs: int) -> Array:
    """Return the weight of each answer in double precision: one where none is given.

    >>> answer_weights(None, 2), answer_weights(np.array([3], np.float32), 1)
    (array([1., 1.]), array([3.]))
    """
    return np.ones(n_pairs) if weight is None else weight.astype(np.float64)


def sum_by_item(left: IntArray, right: IntArray, value: Array, n_items: int) -> Array:
    """Return for every item the sum of ``value``, one per pair, over the pairs it is in."""
    sums = np.bincount(left, value, n_items) + np.bincount(right, value, n_items)
    return np.asarray(sums, dtype=float)


def sum_neighbours(
    left: IntArray, right: IntArray, same: NDArray[np.bool_], weight: Array, values: ArrayLike
) -> tuple[Array, Array]:
    """Return Σ_j weight · values[j] over "same" and over "different" answers of each item.

    ``values`` is (n_items, k); both results are too.
    """
    given = np.asarray(values, dtype=float)
    shape = (len(given), len(given))
    yes, no = (
        csr_array((weight[which], (left[which], right[which])), shape=shape)
        for which in (same, ~same)
    )
    return yes @ given + yes.T @ given, no @ given + no.T @ given
