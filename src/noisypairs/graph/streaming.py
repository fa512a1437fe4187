"""Belief propagation over a stream of answers: item-sized arrays, and no edge is remembered.

Belief propagation keeps two messages per pair. They need not be kept: with h the log-beliefs of the
items and f the message an answer makes of a cavity,

    m_{j→i}(t) = f( h_j(t−1) − m_{i→j}(t−1) ),   m_{i→j}(t−1) = f( h_i(t−2) − m_{j→i}(t−2) ),   …

so the beliefs of the last ``depth`` sweeps give them back, pair by pair, while the pairs stream by.
For the first ``depth`` sweeps this is exactly belief propagation. Later the truncation error
shrinks with every level by the slope of f, which is below one. Memory grows with the items, time
with the pairs. Two things differ from `noisypairs.graph.propagation`: answers on one pair are
not merged (each is an edge of its own, which counts repeats a little too often), and damping acts
on items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from noisypairs.algebra import Array
from noisypairs.graph import progress
from noisypairs.graph.propagation import (
    COARSE,
    Beliefs,
    Factors,
    Floats,
    PairGraph,
    add_messages,
    answer_wrong_probability,
    normalise,
    renew_messages,
    statistics,
)

#: Answers read at once: the arrays of one batch stay within tens of megabytes.
BATCH = 500_000
#: No first belief is more certain than this.
CERTAIN = 1e-3


class Stream(Protocol):
    """What can be streamed: `noisypairs.tables.PairTable`, or anything like it."""

    @property
    def n_items(self) -> int:
        """Number of items."""
        ...

    def batches(self, size: int) -> Iterator[Any]:
        """Yield batches with left, right, same, annotator and weight."""
        ...


@dataclass(frozen=True)
class Sweep:
    """One pass over the answers: new log-beliefs and, under the old ones, what was counted.

    ``log_item`` (n_items, K); ``log_scale`` is Σ_i log Σ_y φ_i(y) Π m(y) of the new beliefs;
    ``same`` and ``different`` (n_groups, K, K) are the expected counts of the M-step and
    ``log_edges`` the pairs' share of the Bethe log-likelihood, both at the beliefs swept from.
    """

    log_item: Array
    log_scale: float
    same: Array
    different: Array
    log_edges: float


class Suspects(NamedTuple):
    """The answers most probably wrong, worst first, shape (k,) each; annotator codes or None.

    ``wrong`` holds the probabilities, ``n_wrong`` how many answers of all are more likely wrong
    than right.
    """

    left: NDArray[Any]
    right: NDArray[Any]
    same: NDArray[np.bool_]
    annotator: NDArray[Any] | None
    wrong: Array
    n_wrong: int


def sweep(
    table: Stream,
    log_phi: Array,
    past: list[Array],
    S: Array,
    *,
    clamped: NDArray[np.bool_] | None = None,
    size: int = BATCH,
    dtype: DTypeLike = np.float64,
) -> Sweep:
    """Renew all beliefs in one pass; ``past`` holds log-beliefs (n_items, K), newest first.

    ``S`` is (K, K), or (R, K, K) by annotator code. ``clamped`` items keep log φ. Messages are
    computed in ``dtype``; float32 is faster.
    """
    K, n_groups = log_phi.shape[1], len(S) if S.ndim == 3 else 1
    items = [np.exp(one, order="F").astype(dtype, copy=False) for one in past]
    total, log_edges = log_phi.copy(order="F"), 0.0
    counts = np.zeros((n_groups, 2, K, K))
    for batch in table.batches(size):
        graph = _graph(batch, table.n_items, n_groups)
        factors = Factors(graph, S, K, dtype)
        sent = _remembered_messages(factors, items)
        one, one_log = statistics(factors, items[0], sent)
        counts += one
        log_edges += one_log
        renew_messages(factors, items[0], sent)
        add_messages(total, graph, sent)
    if clamped is not None:
        total[clamped] = log_phi[clamped]
    log_normaliser = normalise(total)
    return Sweep(total, float(log_normaliser.sum()), counts[:, 1], counts[:, 0], log_edges)


class Streamed(NamedTuple):
    """What passes over a stream found: beliefs, counts (n_groups, K, K), Bethe's log-likelihood.

    ``complete`` says whether enough passes were made for the loop to stop.
    """

    beliefs: Beliefs
    same: Array
    different: Array
    log_likelihood: float
    complete: bool
    passes: int


class StreamEStep:
    """The E-step on a stream: at most ``sweeps`` passes a round.

    A sweep counts for the M-step as it goes, so a round needs no pass of its own for S. With
    ``n_groups`` > 1 answers are counted by annotator. The beliefs of the last ``depth`` sweeps are
    remembered from round to round; a round ends early if no belief changes by ``tol``.
    """

    def __init__(
        self,
        table: Stream,
        *,
        n_groups: int = 1,
        clamp: Mapping[int, int] | None = None,
        tol: float = 5e-3,
        sweeps: int = 5,
        depth: int = 3,
        damping: float = 0.1,
        size: int = BATCH,
    ) -> None:
        if sweeps < 2 or depth < 1:
            raise ValueError(
                f"sweeps={sweeps}, depth={depth}: expected at least 2 sweeps and depth 1"
            )
        self.table, self.n_groups, self.clamp = table, n_groups, dict(clamp or {})
        self.tol, self.sweeps, self.depth = tol, sweeps, depth
        self.damping, self.size = damping, size
        self.clamped = np.zeros(table.n_items, dtype=bool)
        self.clamped[list(self.clamp)] = True
        self.past: list[Array] = []
        self.passes = 0

    def __call__(self, phi: Array, item_proba: Array, S: Array) -> Streamed:
        """Return beliefs and counts at potentials ``phi``, (n_items, K), under S."""
        K = phi.shape[1]
        log_phi = np.log(phi)
        if self.clamp:
            known = np.array(list(self.clamp.values()))[:, None]
            log_phi[list(self.clamp)] = np.where(np.arange(K) == known, 0.0, -np.inf)
        if not self.past:
            self.past = [np.log(np.clip(item_proba, CERTAIN, None))]
            self.past[0][self.clamped] = log_phi[self.clamped]
        groups = np.broadcast_to(S, (self.n_groups, K, K)) if self.n_groups > 1 else S
        log_scale = np.nan
        for n_iter in progress.each("pass", range(1, self.sweeps + 1)):
            one, change = self._sweep(log_phi, groups)
            value = log_scale + one.log_edges
            log_scale = one.log_scale
            # With fewer past sweeps than ``depth``, or no scale from the sweep before: go on.
            converged = n_iter > 1 and self._deep and change < self.tol
            if converged:
                break
        self.passes += n_iter
        log_item, no_messages = self.past[0], np.empty((2, K - 1, 0))
        item = np.exp(log_item)
        beliefs = Beliefs(item, log_item, no_messages, log_scale, converged, n_iter, change)
        return Streamed(beliefs, one.same, one.different, value, self._deep, self.passes)

    @property
    def _deep(self) -> bool:
        return len(self.past) == self.depth

    def _sweep(self, log_phi: Array, S: Array) -> tuple[Sweep, float]:
        """Make one pass and remember the damped beliefs; return the largest change of a belief."""
        dtype = np.float32 if self.tol >= COARSE else np.float64
        how: dict[str, Any] = {"clamped": self.clamped, "size": self.size, "dtype": dtype}
        one = sweep(self.table, log_phi, self.past, S, **how)
        before, share = self.past[0], self.damping
        mixed = (1 - share) * one.log_item + share * before
        mixed[self.clamped] = log_phi[self.clamped]
        normalise(mixed)
        self.past = [mixed, *self.past[: self.depth - 1]]
        return one, float(np.abs(np.exp(mixed) - np.exp(before)).max())


def most_suspect(
    table: Stream, item_proba: Array, S: Array, k: int, *, depth: int = 3, size: int = BATCH
) -> Suspects:
    """Return the ``k`` answers most probably wrong, in one pass that keeps only ``k`` of them.

    Once beliefs (n_items, K) have converged, the messages of a pair follow from them: m = f(h − m')
    and m' = f(h' − m), iterated ``depth`` times from zero. ``S`` as in `sweep`. A self pair
    certainly has one class. Ties are broken by the items, so the order of the stream does not
    matter.

    >>> from noisypairs import Pairs
    >>> class Stream:
    ...     n_items = 3
    ...     def batches(self, size):
    ...         yield Pairs([0, 1, 2], [1, 2, 2], [True, True, False])
    >>> S = np.array([[0.9, 0.3], [0.3, 0.9]])
    >>> certain = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> most_suspect(Stream(), certain, S, k=2).left.tolist()
    [1, 2]
    """
    K, n_groups = item_proba.shape[1], len(S) if S.ndim == 3 else 1
    log_item = np.log(np.maximum(item_proba, np.finfo(float).tiny))
    item = np.asfortranarray(np.exp(log_item))
    n_wrong, kept = 0, np.zeros((5, 0))
    has_annotator = False
    for batch in table.batches(size):
        graph = _graph(batch, table.n_items, n_groups)
        sent = _remembered_messages(Factors(graph, S, K, np.float64), [item] * depth)
        beliefs = Beliefs(item, log_item, sent, np.nan, False, depth, np.nan)
        wrong = answer_wrong_probability(graph, beliefs, S)
        n_wrong += int((wrong > 0.5).sum())
        has_annotator = batch.annotator is not None
        who = batch.annotator if has_annotator else np.zeros(len(wrong))
        rows = np.stack([wrong, batch.left, batch.right, batch.same, who])
        if kept.shape[1] >= k:  # most answers are better than the worst k so far
            rows = rows[:, wrong >= kept[0, -1]] if k else rows[:, :0]
        both = np.concatenate([kept, rows], axis=1)
        kept = both[:, np.lexsort([both[4], both[3], both[2], both[1], -both[0]])[:k]]
    left, right, said, who = kept[1:].astype(np.int64)
    return Suspects(left, right, said == 1, who if has_annotator else None, kept[0], n_wrong)


def _graph(batch: Any, n_items: int, n_groups: int) -> PairGraph:
    """Return the answers of a batch as a graph in which each is an edge of its own."""
    proper = batch.left != batch.right
    group = 0 if n_groups == 1 else batch.annotator[proper]
    n_edges = int(np.count_nonzero(proper))
    weight = np.ones(n_edges) if batch.weight is None else batch.weight[proper]
    return PairGraph(
        n_items=n_items,
        n_groups=n_groups,
        left=batch.left[proper].astype(np.int32),
        right=batch.right[proper].astype(np.int32),
        answer_start=np.arange(n_edges + 1, dtype=np.int32),
        answer_kind=(2 * group + batch.same[proper]).astype(np.int32),
        answer_weight=weight.astype(np.float32),
        edge_of_answer=np.where(proper, np.cumsum(proper) - 1, -1).astype(np.int32),
        same=batch.same,
    )


def _remembered_messages(factors: Factors, items: Sequence[Floats]) -> Floats:
    """Return the messages that had reached the items before their newest beliefs.

    ``items`` are the beliefs of the last sweeps, (n_items, K) each, newest first. The oldest have
    no message to take out.
    """
    shape = (2, factors.n_classes - 1, factors.graph.n_edges)
    sent: Floats = np.zeros(shape, dtype=factors.dtype)
    for item in reversed(items[1:]):
        renew_messages(factors, item, sent)
    return sent
