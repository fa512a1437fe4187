"""Copies: one answer that was recorded more than once.

A copy has the same unordered pair, the same answer, the same annotator and the same weight as
another answer. It is no new evidence, so counting it makes noise look smaller and every interval
too short. The same annotator with the other answer is a contradiction, not a copy.

Where nothing says who answered, a repeat may be a copy or another person. `look_copied` is the
judgement then: people who err contradict each other now and then, copies never do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.pairs.counts import IntArray, pair_keys

if TYPE_CHECKING:
    from noisypairs.pairs.pairs import Pairs

Mask = NDArray[np.bool_]

#: Fewer repeated pairs than this say nothing about whether answers were copied.
FEWEST_PAIRS = 20
#: Votes are looked at one by one up to this number.
MOST_VOTES = 2_000_000
#: Share of all pairs that must be repeated, and share of those that may be answered both ways.
MOSTLY_REPEATED, HARDLY_CONTRADICTED = 0.9, 0.01


def copied(
    left: IntArray,
    right: IntArray,
    same: Mask,
    n_items: int,
    annotator: IntArray | None = None,
    weight: NDArray[np.floating[Any]] | None = None,
) -> Mask:
    """Return which answers are copies of an earlier one, shape (n_pairs,).

    Without annotators every repetition of an answer on a pair counts as a copy.

    >>> copied(np.array([0, 1, 0]), np.array([1, 0, 1]), np.array([True, True, False]), 2)
    array([False,  True, False])
    """
    columns: list[NDArray[Any]] = [2 * pair_keys(left, right, n_items) + same]
    columns += [column for column in (annotator, weight) if column is not None]
    order = np.lexsort(columns)  # stable: of equal answers the first comes first
    again = np.ones(max(order.size - 1, 0), dtype=bool)
    for column in columns:
        again &= np.diff(column[order]) == 0
    found = np.zeros(order.size, dtype=bool)
    found[order[1:][again]] = True
    return found


def look_copied(key: NDArray[np.int64], same: Mask) -> bool:
    """Return whether answers without annotators were probably copied; ``key`` names the pair.

    Either every answer on a pair is there a multiple of m ≥ 2 times ("same" three times and
    "different" six times, say), or nearly all pairs are repeated and hardly any of them is answered
    both ways (`MOSTLY_REPEATED`, `HARDLY_CONTRADICTED`). Below `FEWEST_PAIRS` repeated pairs: no.

    >>> key, same = np.arange(50), np.arange(50) % 3 == 0
    >>> look_copied(np.tile(key, 3), np.tile(same, 3)), look_copied(key, same)
    (True, False)
    """
    asked, contradicted, n_pairs = repeats(key, same)
    if asked < FEWEST_PAIRS:
        return False
    _, times = np.unique(2 * key + same, return_counts=True)
    if np.gcd.reduce(times) > 1:
        return True
    return asked >= MOSTLY_REPEATED * n_pairs and contradicted <= HARDLY_CONTRADICTED * asked


def repeats(key: NDArray[np.int64], same: Mask) -> tuple[int, int, int]:
    """Return how many pairs were asked again, how many of those answered both ways, and all."""
    _, pair = np.unique(key, return_inverse=True)
    asked, yes = np.bincount(pair), np.bincount(pair, same)
    both_ways = (yes > 0) & (yes < asked)
    return int(np.count_nonzero(asked > 1)), int(np.count_nonzero(both_ways)), asked.size


def single_answers(pairs: Pairs) -> Pairs:
    """Return votes as one answer each; pairs that do not hold votes as they are.

    Weights are votes where they are whole numbers, nobody is named, and pairs hold both answers far
    more often than one answer twice: votes that agree stand in one row.

    >>> from noisypairs.pairs import Pairs
    >>> single_answers(Pairs.from_votes([0, 1], [1, 2], [2, 0], [1, 2])).same.tolist()
    [True, True, False, False, False]
    """
    weight = pairs.weight
    if weight is None or pairs.annotator is not None or weight.sum() > MOST_VOTES:
        return pairs
    _, both_ways, _ = repeats(pairs.pair_keys, pairs.same)
    alike = int(np.count_nonzero(pairs.reweighted(None).copies()))
    if not ((weight % 1 == 0).all() and both_ways > 5 * alike):
        return pairs
    return pairs.select(np.repeat(np.arange(pairs.n_pairs), weight.astype(int))).reweighted(None)
