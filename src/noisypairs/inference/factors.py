"""The factors of the pair graph: what the answers on one pair say about its two classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from noisypairs.inference import levels, messages
from noisypairs.inference.graph import FloatArray, PairGraph
from noisypairs.inference.messages import Floats

PROBABILITY_FLOOR = 1e-12
"""Entries of S and of 1 − S below this are raised to it."""

KEPT_BYTES = 1 << 22
"""Factors of all edges are kept from sweep to sweep if they take no more than this."""


class Factors:
    """Merged pair factors ψ_e(y, y') of a graph under S, made block by block.

    ``S`` is (K, K), or (n_groups, K, K) with one matrix per group; ``S[y, y'] = P("same" | y, y')``
    and every matrix is symmetric, so the orientation of an edge does not matter. ``dtype`` is that
    of the factors.

    Only entries that may differ are kept: ``even`` matrices, with one value on the diagonal and one
    beside it, have two ``levels``; others the triangle on and above the diagonal. ``place`` (K, K)
    says which of these stands where, so ``entries[place]`` are whole matrices, (K, K, m).
    """

    def __init__(
        self, graph: PairGraph, S: ArrayLike, n_classes: int, dtype: DTypeLike = np.float64
    ) -> None:
        self.graph, self.n_classes, self.dtype = graph, n_classes, np.dtype(dtype)
        same = _checked_same_probability(S, graph.n_groups, n_classes)
        self.even = n_classes > 2 and _has_two_levels(same)
        # With many classes and two levels the class is the last axis: see `levels`.
        self.by_row = self.even and n_classes >= levels.FEWEST_CLASSES
        self.place = _places(n_classes, self.even)
        both = np.stack([1 - same, same], axis=1).reshape(-1, n_classes * n_classes)
        _, first = np.unique(self.place, return_index=True)
        # By kind of answer, 2·group + same: (n_kinds, n_entries), and (n_entries, n_kinds).
        self.log_table: FloatArray = np.log(np.maximum(both[:, first], PROBABILITY_FLOOR))
        self.table, self.table_log_scale = self._scaled(self.log_table)
        size = len(self.table) * self.dtype.itemsize * graph.n_edges
        # By start of the block, kept from sweep to sweep: merging answers costs more than a sweep.
        self._kept: dict[int, tuple[Floats, FloatArray]] | None = {} if size <= KEPT_BYTES else None

    @property
    def n_kinds(self) -> int:
        """Number of kinds of answers: two for each group."""
        return len(self.log_table)

    def _scaled(self, log_factor: FloatArray) -> tuple[Floats, FloatArray]:
        """Split log-entries (m, n_entries) into (n_entries, m) of maximum one and a log-scale."""
        log_scale = log_factor.max(axis=1)
        reach = 2 * messages.most(self.dtype)  # exp(−reach) is still above zero
        factor = np.exp(np.maximum(log_factor.T - log_scale, -reach)).astype(self.dtype)
        return np.ascontiguousarray(factor), log_scale

    def compound(self, block: slice) -> tuple[NDArray[np.intp], Floats, FloatArray]:
        """Rows of the block whose edges need merging, their entries (n_entries, m) and log-scales.

        An edge with one answer of weight one takes its factor from the small table; in most data
        nearly all edges are such, and only the rest pays for exponentials.
        """
        merged_edges = self.graph.compound_edges
        among = slice(*np.searchsorted(merged_edges, (block.start, block.stop)))
        edges = merged_edges[among]
        if edges.size == 0:
            return edges, np.empty((len(self.table), 0), dtype=self.dtype), np.empty(0)
        start = self.graph.answer_start[edges]
        own = self.graph.answer_start[edges + 1] - start
        first = np.cumsum(own) - own
        answer = np.repeat(start - first, own) + np.arange(own.sum())
        logs = self.log_table[self.graph.answer_kind[answer]]
        merged = np.add.reduceat(logs * self.graph.answer_weight[answer, None], first, axis=0)
        return edges - block.start, *self._scaled(merged)

    def first_kind(self, block: slice) -> NDArray[np.int32]:
        """Kind of the first answer on each edge: the only one, unless the edge is compound."""
        return self.graph.first_kind[block]

    def __call__(self, block: slice) -> tuple[Floats, FloatArray]:
        """Return the entries (n_entries, m), scaled to maximum one, and their log-scale (m,)."""
        if self._kept is not None and block.start in self._kept:
            return self._kept[block.start]
        kind = self.first_kind(block)
        entries = np.empty((len(self.table), kind.size), dtype=self.dtype)
        for of_kinds, row in zip(self.table, entries, strict=True):
            # Kinds are in range; "clip" spares numpy the buffer that it needs for raising errors.
            of_kinds.take(kind, out=row, mode="clip")
        log_scale = self.table_log_scale.take(kind)
        rows, entries[:, rows], log_scale[rows] = self.compound(block)
        if self._kept is not None:
            self._kept[block.start] = entries, log_scale
        return entries, log_scale

    def carried(self, block: slice, cavities: list[Floats]) -> list[Floats]:
        """Σ_y c(y) ψ_e(y, y'), (K, m), for cavities (K, m) at either end of the edges.

        Two levels need O(K) for an edge. With few kinds of answers, one matrix product for each
        kind is faster than a factor for each edge.
        """
        if self.even:
            levels = self(block)[0]
            return [messages.carried_by_levels(one, levels) for one in cavities]
        if self.n_kinds > self.n_classes:
            factor = self(block)[0][self.place]
            return [messages.carried(one, factor) for one in cavities]
        kind = self.first_kind(block)
        rows, merged, _ = self.compound(block)
        found: list[Floats] = []
        for one in cavities:
            by_kind = self.table[self.place]
            total = by_kind[..., 0] @ one
            for k in range(1, self.n_kinds):
                np.copyto(total, by_kind[..., k] @ one, where=kind == k)
            total[:, rows] = messages.carried(one[:, rows], merged[self.place])
            found.append(total)
        return found


def _has_two_levels(same: FloatArray) -> bool:
    """Return whether each matrix (n, K, K) has one value on its diagonal and one beside it."""
    on = np.eye(same.shape[1], dtype=bool)
    return all(np.all(part == part[:, :1]) for part in (same[:, on], same[:, ~on]))


def _places(n_classes: int, even: bool) -> NDArray[np.intp]:
    """Return which distinct entry stands at (y, y'), shape (K, K): 0 on the diagonal if even."""
    if even:
        return 1 - np.eye(n_classes, dtype=np.intp)
    place = np.zeros((n_classes, n_classes), dtype=np.intp)
    upper = np.triu_indices(n_classes)
    place[upper] = place.T[upper] = np.arange(len(upper[0]))
    return place


def _checked_same_probability(S: ArrayLike, n_groups: int, n_classes: int) -> FloatArray:
    """Bring S to (n_groups, K, K); refuse wrong shapes, values outside [0, 1] and asymmetry."""
    same = np.asarray(S, dtype=np.float64)
    one = (n_classes, n_classes)
    if same.shape not in (one, (n_groups, *one)):
        raise ValueError(f"S must be {one} or {(n_groups, *one)}, got shape {same.shape}")
    if not np.all((same >= 0) & (same <= 1)):
        raise ValueError("S holds probabilities of the answer 'same': found values outside [0, 1]")
    if not np.allclose(same, same.swapaxes(-1, -2), rtol=0, atol=1e-9):
        raise ValueError("S must be symmetric: left and right have no meaning; use (S + S.T) / 2")
    return np.broadcast_to(same, (n_groups, *one))
