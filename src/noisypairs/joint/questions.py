"""Answers to one question about several items: only those that are a partition are possible.

    P(answers) = Π_e σ_e(a_e) / Σ over partitions a' of Π_e σ_e(a'_e),   σ_e(1) ∝ P_e e^δ

with P_e the odds of "same" of pair e alone (`noisypairs.noise.answers.chance_of_same`) and the
product over the pairs e of the question. Among consistent answers "same" is rarer than P_e says,
since one "same" too many breaks a triangle; the shift δ makes up for that, one number for each size
of question, learnt from the questions of the fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logit, logsumexp

from noisypairs.algebra import Array
from noisypairs.pairs import Pairs

#: More items in one question have too many partitions to go through (877 of seven).
MOST_ITEMS = 7
#: The shift is looked for within these.
SHIFTS = (-4.0, 4.0)

Edges = tuple[tuple[int, int], ...]


@cache
def partitions(n_items: int) -> NDArray[np.intp]:
    """Return the group of every item in all partitions, shape (n_partitions, n_items).

    >>> [len(partitions(n_items)) for n_items in (2, 3, 4, 5)]
    [2, 5, 15, 52]
    """
    found: list[tuple[int, ...]] = [(0,)]
    for _ in range(n_items - 1):
        found = [(*groups, new) for groups in found for new in range(max(groups) + 2)]
    return np.array(found)


@cache
def consistent_answers(edges: Edges) -> NDArray[np.bool_]:
    """Return all answers to pairs of items 0 … m−1 that partitions give, (n_answers, n_edges).

    >>> consistent_answers(((0, 1), (0, 2), (1, 2))).astype(int).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]]
    """
    first, second = np.array(edges).T
    groups = partitions(int(max(first.max(), second.max())) + 1)
    return np.unique(groups[:, first] == groups[:, second], axis=0)


def question_log_chance(chance: Array, pairs: Pairs, shifts: Mapping[int, float]) -> Array:
    """Return log P of the answers to every question, shape (n_questions,), in rising order of code.

    ``chance`` (n_pairs,) is P("same") of each answer alone; ``shifts`` has δ by the number of
    items, zero where it is missing.
    """
    found: Array = np.empty(len(np.unique(_asked(pairs))))
    for where, rows, edges in _shapes(pairs):
        shift = shifts.get(1 + max(map(max, edges)), 0.0)
        found[where] = _log_chance(logit(chance[rows]), pairs.same[rows], edges, shift)
    return found


def fit_shifts(chance: Array, pairs: Pairs) -> dict[int, float]:
    """Return δ that explains the answers best, for every number of items in whole questions."""
    found: dict[int, float] = {}
    for _, rows, edges in _shapes(pairs):
        n_items = 1 + max(map(max, edges))
        if n_items > 2 and len(edges) == n_items * (n_items - 1) // 2:
            odds, same = logit(chance[rows]), pairs.same[rows]
            found[n_items] = _best_shift(odds, same, edges)
    return found


def _best_shift(odds: Array, same: NDArray[np.bool_], edges: Edges) -> float:
    def unlikely(shift: float) -> float:
        return -float(_log_chance(odds, same, edges, shift).sum())

    return float(minimize_scalar(unlikely, bounds=SHIFTS, method="bounded").x)


def _log_chance(odds: Array, same: NDArray[np.bool_], edges: Edges, shift: float) -> Array:
    """Return log P of answers to questions of one shape, (n,), from log-odds, (n, n_edges)."""
    moved = odds + shift * (len(edges) > 1)
    all_answers = logsumexp(moved @ consistent_answers(edges).T, axis=1)
    return np.asarray((moved * same).sum(axis=1) - all_answers)


def _shapes(pairs: Pairs) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], Edges]]:
    """Yield questions with the same pairs: which, (n,), their answers, (n, n_edges), and the pairs.

    Items of a question are numbered, and its answers ordered, so that all whole questions of a size
    have one shape.
    """
    question, left, right = _asked(pairs), pairs.left, pairs.right
    low, high = np.minimum(left, right), np.maximum(left, right)
    order = np.lexsort((high, low, question))
    first = np.flatnonzero(np.diff(question[order], prepend=-1))
    shapes: dict[Edges, list[tuple[int, NDArray[np.intp]]]] = {}
    for which, rows in enumerate(np.split(order, first[1:])):
        items = np.unique([low[rows], high[rows]])
        if len(items) > MOST_ITEMS:
            raise ValueError(
                f"a question is about {len(items)} items: the partitions of at most {MOST_ITEMS} "
                "are gone through. Split it, or leave `question` out"
            )
        ends = np.searchsorted(items, [low[rows], high[rows]]).T.tolist()
        shapes.setdefault(tuple(map(tuple, ends)), []).append((which, rows))
    for edges, alike in shapes.items():
        where, answers = zip(*alike, strict=True)
        yield np.array(where), np.array(answers), edges


def _asked(pairs: Pairs) -> NDArray[np.int32]:
    if pairs.question is None:
        raise ValueError("the pairs do not say what was asked together: give Pairs(question=...)")
    return pairs.question
