"""Sums over answers in memory, and the key of an unordered pair: functions of flat arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from noisypairs.pairs.pairs import Pairs
    from noisypairs.pairs.protocol import Batch

#: Answers that are counted at once.
CHUNK = 1 << 16

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

    def halved(self, rng: np.random.Generator) -> tuple[ItemCounts, ItemCounts]:
        """Split the occurrences of each item in two at random.

        >>> counts = ItemCounts(np.array([4.0]), np.array([0.5]))
        >>> one, other = counts.halved(np.random.default_rng(0))
        >>> float(one.same[0] + other.same[0]), float(one.different[0] + other.different[0])
        (4.0, 0.5)
        """
        parts = []
        for count in (self.same, self.different):
            whole = np.maximum(np.ceil(count), 1.0)
            parts.append(rng.binomial(whole.astype(np.int64), 0.5) / whole * count)
        same, different = parts
        return ItemCounts(same, different), ItemCounts(self.same - same, self.different - different)


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


def weights_of(answers: Pairs | Batch) -> Array:
    """Return the weight of each answer in double precision: one where none is given; (n_pairs,).

    >>> from noisypairs import Pairs
    >>> weights_of(Pairs([0, 0], [1, 2], [True, False]))
    array([1., 1.])
    """
    if answers.weight is None:
        return np.ones(answers.left.size)
    return answers.weight.astype(np.float64)


def count_by_item(
    left: IntArray, right: IntArray, same: NDArray[np.bool_], n_items: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many "same" and how many "different" answers each item has, shape (n_items,).

    >>> count_by_item(np.array([0, 0]), np.array([1, 2]), np.array([True, False]), 3)
    (array([1, 1, 0]), array([1, 0, 1]))
    """
    counts = np.zeros(2 * n_items, dtype=np.int64)
    for some in _chunks(left.size):
        for end in (left[some], right[some]):
            np.add.at(counts, 2 * end.astype(np.int64) + same[some], 1)
    return counts[1::2], counts[::2]


def some_pairs(left: IntArray, right: IntArray, most: int) -> NDArray[np.intp] | slice:
    """Return about ``most`` answers, or all if there are no more: every answer on a pair, or none.

    Pairs are chosen by a hash of their ends, so that neither order of the answers nor that of the
    ends decides.

    >>> left, right = np.repeat(np.triu_indices(200, 1), 2, axis=1)
    >>> chosen = some_pairs(left, right, 5_000)
    >>> np.unique(chosen // 2, return_counts=True)[1].min(), 4_500 < chosen.size < 5_500
    (np.int64(2), True)
    """
    if left.size <= most:
        return slice(None)
    chosen = []
    for some in _chunks(left.size):
        one, other = left[some].astype(np.uint32), right[some].astype(np.uint32)
        hashes = (one * one + other * other) * np.uint32(0x9E3779B9)
        low = hashes < np.uint32(2**32 * most // left.size)
        chosen.append(some.start + np.flatnonzero(low))
    return np.concatenate(chosen)


def _chunks(size: int) -> Iterator[slice]:
    """Cut answers into chunks that stay in the processor's cache."""
    return (slice(start, start + CHUNK) for start in range(0, size, CHUNK))


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
