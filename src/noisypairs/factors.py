"""The factors of the pair graph: what the answers on one pair say of its two classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.graph import FloatArray, PairGraph

PROBABILITY_FLOOR = 1e-12
"""Entries of S and of 1 − S below this are raised to it."""

LOG_FACTOR_RANGE = 600.0
"""Merged log-factors reach at most this far below their maximum: exp(−600) is still above zero."""


class Factors:
    """Merged pair factors ψ_e(y, y') of a graph under S, made block by block.

    ``S`` is (K, K), or (n_groups, K, K) with one matrix per group; ``S[y, y'] = P("same" | y, y')``
    and every matrix is symmetric, so the orientation of an edge does not matter.
    """

    def __init__(self, graph: PairGraph, S: ArrayLike, n_classes: int) -> None:
        self.graph, self.n_classes = graph, n_classes
        same = _checked_same_probability(S, graph.n_groups, n_classes)
        both = np.stack([1 - same, same], axis=1).reshape(-1, n_classes * n_classes)
        self.log_table: FloatArray = np.log(np.maximum(both, PROBABILITY_FLOOR))
        self.table, self.table_log_scale = self._scaled(self.log_table)
        self._only: tuple[FloatArray, FloatArray] | None = None  # of a graph that is one block

    def _scaled(self, log_factor: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Split log-factors (m, K·K) into factors (m, K, K) with maximum one and a log-scale."""
        log_scale = log_factor.max(axis=1)
        factor = np.exp(np.maximum(log_factor - log_scale[:, None], -LOG_FACTOR_RANGE))
        return factor.reshape(-1, self.n_classes, self.n_classes), log_scale

    def compound(self, block: slice) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
        """Rows of the block whose edges need merging, their factors and log-scales.

        An edge with one answer of weight one takes its factor from the small table; in most data
        nearly all edges are such, and only the rest pays for exponentials.
        """
        start = self.graph.answer_start[block.start : block.stop + 1]
        plain = (np.diff(start) == 1) & (self.graph.answer_weight[start[:-1]] == 1)
        rows = np.flatnonzero(~plain)
        if rows.size == 0:
            none = np.empty((0, self.n_classes, self.n_classes))
            return rows, none, np.empty(0)
        own = np.diff(start)[rows]
        first = np.cumsum(own) - own
        answer = np.repeat(start[rows] - first, own) + np.arange(own.sum())
        logs = self.log_table[self.graph.answer_kind[answer]]
        merged = np.add.reduceat(logs * self.graph.answer_weight[answer, None], first, axis=0)
        return rows, *self._scaled(merged)

    def first_kind(self, block: slice) -> NDArray[np.int32]:
        """Kind of the first answer on each edge: the only one, unless the edge is compound."""
        return self.graph.answer_kind[self.graph.answer_start[block]]

    def __call__(self, block: slice) -> tuple[FloatArray, FloatArray]:
        """Return the factors (m, K, K), scaled to maximum one, and their log-scale (m,)."""
        if self._only is not None:
            return self._only
        kind = self.first_kind(block)
        factor, log_scale = self.table[kind], self.table_log_scale[kind]
        rows, factor[rows], log_scale[rows] = self.compound(block)
        if (block.start, block.stop) == (0, self.graph.n_edges):
            self._only = factor, log_scale
        return factor, log_scale


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
