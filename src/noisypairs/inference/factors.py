"""The factors of the pair graph: what the answers on one pair say about its two classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from noisypairs.inference import messages
from noisypairs.inference.graph import FloatArray, PairGraph
from noisypairs.inference.messages import Floats

#: The entries of a symmetric 2 × 2 matrix.
_TRIANGLE = ((0, 0), (0, 1), (1, 1))

PROBABILITY_FLOOR = 1e-12
"""Entries of S and of 1 − S below this are raised to it."""


class Factors:
    """Merged pair factors ψ_e(y, y') of a graph under S, made block by block.

    ``S`` is (K, K), or (n_groups, K, K) with one matrix per group; ``S[y, y'] = P("same" | y, y')``
    and every matrix is symmetric, so the orientation of an edge does not matter. ``dtype`` is that
    of the factors.
    """

    def __init__(
        self, graph: PairGraph, S: ArrayLike, n_classes: int, dtype: DTypeLike = np.float64
    ) -> None:
        self.graph, self.n_classes, self.dtype = graph, n_classes, np.dtype(dtype)
        same = _checked_same_probability(S, graph.n_groups, n_classes)
        both = np.stack([1 - same, same], axis=1).reshape(-1, n_classes * n_classes)
        self.log_table: FloatArray = np.log(np.maximum(both, PROBABILITY_FLOOR))
        self.table, self.table_log_scale = self._scaled(self.log_table)
        # Those of a graph that is one block, kept from sweep to sweep.
        self._only: tuple[Floats, FloatArray] | None = None
        self._only_triangle: tuple[Floats, FloatArray] | None = None
        # For two classes: ψ₀₀, ψ₀₁, ψ₁₁ by kind of answer, each contiguous.
        self._columns = [np.ascontiguousarray(self.table[:, y, z]) for y, z in _TRIANGLE]

    def _scaled(self, log_factor: FloatArray) -> tuple[Floats, FloatArray]:
        """Split log-factors (m, K·K) into factors (m, K, K) with maximum one and a log-scale."""
        log_scale = log_factor.max(axis=1)
        reach = 2 * messages.most(self.dtype)  # exp(−reach) is still above zero
        factor = np.exp(np.maximum(log_factor - log_scale[:, None], -reach)).astype(self.dtype)
        return factor.reshape(-1, self.n_classes, self.n_classes), log_scale

    def compound(self, block: slice) -> tuple[NDArray[np.intp], Floats, FloatArray]:
        """Rows of the block whose edges need merging, their factors and log-scales.

        An edge with one answer of weight one takes its factor from the small table; in most data
        nearly all edges are such, and only the rest pays for exponentials.
        """
        merged_edges = self.graph.compound_edges
        among = slice(*np.searchsorted(merged_edges, (block.start, block.stop)))
        edges = merged_edges[among]
        if edges.size == 0:
            none = np.empty((0, self.n_classes, self.n_classes), dtype=self.dtype)
            return edges, none, np.empty(0)
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
        """Return the factors (m, K, K), scaled to maximum one, and their log-scale (m,)."""
        if self._only is not None:
            return self._only
        kind = self.first_kind(block)
        factor, log_scale = self.table[kind], self.table_log_scale[kind]
        rows, factor[rows], log_scale[rows] = self.compound(block)
        if (block.start, block.stop) == (0, self.graph.n_edges):
            self._only = factor, log_scale
        return factor, log_scale

    def triangle(self, block: slice) -> tuple[Floats, FloatArray]:
        """Return the same for two classes as ψ₀₀, ψ₀₁, ψ₁₁, shape (3, m), and the log-scale."""
        if self._only_triangle is not None:
            return self._only_triangle
        kind = self.first_kind(block)
        psi = np.empty((3, kind.size), dtype=self.dtype)
        for column, row in zip(self._columns, psi, strict=True):
            # Kinds are in range; "clip" spares numpy the buffer that it needs for raising errors.
            column.take(kind, out=row, mode="clip")
        log_scale = self.table_log_scale.take(kind)
        rows, merged, log_scale[rows] = self.compound(block)
        for (y, z), row in zip(_TRIANGLE, psi, strict=True):
            row[rows] = merged[:, y, z]
        if (block.start, block.stop) == (0, self.graph.n_edges):
            self._only_triangle = psi, log_scale
        return psi, log_scale


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
