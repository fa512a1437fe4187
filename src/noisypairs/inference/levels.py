"""Belief propagation over many classes where every factor has two levels, as under pairing noise.

A factor is then ψ_on where the two classes are equal and ψ_off elsewhere. With ρ = ψ_on / ψ_off and
the cavities p, p' of the two ends, scaled to sum to one,

    the message to the other end         ∝ 1 + (ρ − 1) p(y),
    Σ_{y,y'} p(y) ψ(y, y') p'(y')        = ψ_off (1 + (ρ − 1) Σ_y p(y) p'(y)).

So an edge costs O(K). Messages are kept as they stand here and not as logarithms: a cavity is then
the belief divided by the message received, and a sweep needs no exponential. The class is the last
axis: what an item believes lies together, and sums over edges are products with sparse matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.inference.graph import FloatArray, PairGraph
from noisypairs.inference.messages import Floats, joint, most

if TYPE_CHECKING:
    from noisypairs.inference.factors import Factors
    from noisypairs.inference.propagation import Beliefs

#: From so many classes on this is quicker than `messages`, which has the class first.
FEWEST_CLASSES = 7
#: Where ρ is smaller, 1 + (ρ − 1) p may lose it by rounding.
SMALL_RATIO = 1e-3


class RowMessages:
    """Messages to the right ``ends[0]`` and to the left ends ``ends[1]``, (n_edges, K) each.

    They may be kept from one call to the next. New ones sum to K − 1 + ρ, see `scaled_for`.
    """

    def __init__(self, ends: tuple[Floats, Floats]) -> None:
        self.ends = ends

    @classmethod
    def silent(cls, factors: Factors) -> RowMessages:
        """Return messages that prefer no class."""
        n_edges, K = factors.graph.n_edges, factors.n_classes
        each = np.empty(n_edges, dtype=factors.dtype)
        for block in factors.graph.blocks():
            each[block] = (K - 1 + _ratio(factors, block)) / K
        one = np.broadcast_to(each[:, None], (n_edges, K))
        return cls((one.copy(), one.copy()))

    @classmethod
    def of(cls, log_ratio: Floats) -> RowMessages:
        """Return messages whose log-ratios to class 0 are these, (2, K − 1, n_edges)."""
        _, others, n_edges = log_ratio.shape
        reach = most(log_ratio.dtype)

        def end(ratios: Floats) -> Floats:
            logs = np.zeros((n_edges, others + 1), dtype=log_ratio.dtype)
            np.clip(ratios.T, -reach, reach, out=logs[:, 1:])
            return np.exp(logs, out=logs)

        return cls((end(log_ratio[0]), end(log_ratio[1])))

    def scaled_for(self, factors: Factors) -> RowMessages:
        """Return a copy in the precision of the factors that sums to K − 1 + ρ of these."""
        to = (np.empty(old.shape, dtype=factors.dtype) for old in self.ends)
        copy = RowMessages((next(to), next(to)))
        ones = np.ones(factors.n_classes, dtype=factors.dtype)
        for block in factors.graph.blocks():
            wanted = factors.n_classes - 1 + _ratio(factors, block)
            for old, new in zip(self.ends, copy.ends, strict=True):
                scale = (wanted / (old[block] @ ones))[:, None]
                np.multiply(old[block], scale, out=new[block])
        return copy

    def on_edges(self, edges: NDArray[np.intp]) -> RowMessages:
        """Return the messages on some edges."""
        return RowMessages((self.ends[0][edges], self.ends[1][edges]))

    def reordered(self, order: NDArray[np.intp]) -> RowMessages:
        """Return the messages with class ``order[k]`` as number k."""
        return RowMessages((self.ends[0][:, order], self.ends[1][:, order]))

    @property
    def shape(self) -> tuple[int, ...]:
        """Edges and classes."""
        return self.ends[0].shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Precision of the messages."""
        return self.ends[0].dtype

    def log_ratios(self) -> Floats:
        """Return the log-ratios to class 0, (2, K − 1, n_edges), the class last in memory."""
        logs = np.log(self.ends)
        return (logs[..., 1:] - logs[..., :1]).transpose(0, 2, 1)


def sweep(factors: Factors, log_item: FloatArray, sent: RowMessages, damping: float) -> float:
    """Renew all messages in place; return the largest change, as a share."""
    graph, message, change, share = factors.graph, sent.ends, 0.0, 1 - damping
    item = np.exp(log_item).astype(sent.dtype)
    for block in graph.blocks():
        ratio = _ratio(factors, block)
        ends = (graph.left, message[1]), (graph.right, message[0])
        # share · (1 + (ρ − 1) p), both ends before either is renewed
        new = [_cavity(item, end[block], seen[block], share * (ratio - 1)) for end, seen in ends]
        for towards, one in enumerate(new):
            one += share
            if ratio.min() < SMALL_RATIO:
                np.maximum(one, share * np.minimum(ratio, 1)[:, None], out=one)
            change = max(change, _renew(message[towards][block], one, share))
    return change


def _ratio(factors: Factors, block: slice) -> Floats:
    """Return ρ of the edges of a block, (m,), in a range that cannot overflow later."""
    on, off = factors(block)[0]
    reach = np.exp(most(factors.dtype))
    return np.asarray(np.clip(on / off, 1 / reach, reach))


def _cavity(item: Floats, end: NDArray[np.int32], received: Floats, total: Floats) -> Floats:
    """Return beliefs (m, K) of the items at one end without what they received, of these sums."""
    found = item.take(end, axis=0)
    found /= received
    found *= (total / (found @ np.ones(found.shape[1], dtype=found.dtype)))[:, None]
    return found


def _renew(old: Floats, new: Floats, share: float) -> float:
    """Let ``old`` keep what ``new``, times its share already, leaves; return the largest change."""
    quotient = new / old
    change = max(float(quotient.max()) - share, share - float(quotient.min()))
    old *= 1 - share
    old += new
    return change


def collected(graph: PairGraph, log_phi: FloatArray, sent: RowMessages, logs: Floats) -> FloatArray:
    """Return log φ + Σ log m, (n_items, K), with m as a ratio to class 0, not normalised.

    ``logs`` (n_edges, K) is overwritten: room for the logarithms of one end.
    """
    total = graph.incidences[0] @ np.log(sent.ends[0], out=logs)
    total += graph.incidences[1] @ np.log(sent.ends[1], out=logs)
    found: FloatArray = log_phi + (total - total[:, :1])
    return found


def cavities(factors: Factors, beliefs: Beliefs, block: slice) -> tuple[Floats, Floats, FloatArray]:
    """Return the cavities at the left and right ends, (m, K) each, and the log of their scales.

    Scales are those of messages as ratios to class 0, as in `collected`.
    """
    graph, log_scale, found = factors.graph, np.zeros(block.stop - block.start), []
    sent = beliefs.rows.ends
    for end, received in ((graph.left, sent[1][block]), (graph.right, sent[0][block])):
        one = beliefs.narrow_item.take(end[block], axis=0)
        one /= received
        total = one @ np.ones(factors.n_classes, dtype=one.dtype)
        one /= total[:, None]
        log_scale += np.log(total)
        log_scale += np.log(received[:, 0])
        found.append(one)
    return found[0], found[1], log_scale


def _totals(levels: Floats, left: Floats, right: Floats) -> Floats:
    """Return Σ p(y) ψ(y, y') p'(y'), shape (m,), by way of Σ_y p(y) ψ(y, y'), as it may cancel."""
    on, off = levels
    carried = left * (on - off)[:, None]
    carried += off[:, None]
    np.maximum(carried, np.minimum(on, off)[:, None], out=carried)
    return np.asarray(np.einsum("ek,ek->e", carried, right))


def log_totals(factors: Factors, beliefs: Beliefs, block: slice) -> FloatArray:
    """Return the logarithms of Σ [b/m](y) ψ(y, y') [b'/m'](y') of the edges of a block, (m,)."""
    left, right, log_scale = cavities(factors, beliefs, block)
    levels, factor_scale = factors(block)
    return np.asarray(np.log(_totals(levels, left, right)) + log_scale + factor_scale)


def same_class(factors: Factors, beliefs: Beliefs, block: slice) -> FloatArray:
    """Return P(y = y' | everything) of the edges of a block, (m,)."""
    left, right, _ = cavities(factors, beliefs, block)
    levels, _ = factors(block)
    equal = levels[0] * np.einsum("ek,ek->e", left, right)
    return np.minimum(np.asarray(equal / _totals(levels, left, right), dtype=np.float64), 1.0)


def counts(factors: Factors, beliefs: Beliefs, block: slice) -> FloatArray:
    """Sum P(y, y' | everything) of a block by kind of answer, times weight, (n_kinds, K·K).

    Edges whose answers leave no doubt are taken one by one, since their totals may cancel.
    """
    left, right, _ = cavities(factors, beliefs, block)
    levels, _ = factors(block)
    on, off = levels
    evidence, K = factors.graph.evidence(block), factors.n_classes
    certain = np.flatnonzero(np.minimum(on, off) < SMALL_RATIO)
    one_by_one, _ = joint(left[certain].T, right[certain].T, levels[:, certain][factors.place])
    found = evidence[certain].T @ one_by_one.reshape(K * K, -1).T.astype(np.float64)
    weight = evidence.toarray() / _totals(levels, left, right)[:, None]
    weight[certain] = 0
    weight = weight.astype(factors.dtype)
    found[:, :: K + 1] += (weight * (on - off)[:, None]).T @ (left * right)
    for k, own in enumerate((weight * off[:, None]).T):
        rows = np.flatnonzero(own)
        found[k] += ((left[rows] * own[rows, None]).T @ right[rows]).ravel()
    return np.asarray(found)
