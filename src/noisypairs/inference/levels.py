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

from typing import TYPE_CHECKING

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
    """Messages (2, n_edges, K) to the right end [0] and the left end [1], and their logarithms.

    They are made from log-ratios to class 0, (2, K − 1, n_edges), and give them back; in memory the
    class then is still the last axis. Messages are scaled as new ones are, to sum to K − 1 + ρ.
    """

    def __init__(self, factors: Factors, log_ratio: Floats) -> None:
        n_ends, others, n_edges = log_ratio.shape
        self.logs = np.zeros((n_ends, n_edges, others + 1), dtype=log_ratio.dtype)
        reach = most(log_ratio.dtype)
        np.clip(log_ratio.transpose(0, 2, 1), -reach, reach, out=self.logs[..., 1:])
        self.values: Floats = np.exp(self.logs)
        for block in factors.graph.blocks():
            for part in self.values[:, block]:
                part *= ((others + _ratio(factors, block)) / part.sum(axis=1))[:, None]

    def log_ratios(self) -> Floats:
        """Return the log-ratios to class 0 when logarithms were taken last, (2, K − 1, n_edges)."""
        return (self.logs[..., 1:] - self.logs[..., :1]).transpose(0, 2, 1)


def sweep(factors: Factors, log_item: FloatArray, sent: RowMessages, damping: float) -> float:
    """Renew all messages in place; return the largest change, as a share."""
    graph, message, change = factors.graph, sent.values, 0.0
    item = np.exp(log_item).astype(message.dtype)
    for block in graph.blocks():
        ratio = _ratio(factors, block)
        ends = (graph.left, message[1]), (graph.right, message[0])
        cavities = [_cavity(item, end[block], received[block]) for end, received in ends]
        for towards, new in enumerate(cavities):
            new *= (ratio - 1)[:, None]
            new += 1
            if ratio.min() < SMALL_RATIO:
                np.maximum(new, np.minimum(ratio, 1)[:, None], out=new)
            change = max(change, _renew(message[towards, block], new, damping))
    return change


def _ratio(factors: Factors, block: slice) -> Floats:
    """Return ρ of the edges of a block, (m,), in a range that cannot overflow later."""
    on, off = factors(block)[0]
    reach = np.exp(most(factors.dtype))
    return np.asarray(np.clip(on / off, 1 / reach, reach))


def _cavity(item: Floats, end: NDArray[np.int32], received: Floats) -> Floats:
    """Return beliefs (m, K) of the items at one end without what they received, summing to one."""
    found = item.take(end, axis=0)
    found /= received
    found /= (found @ np.ones(found.shape[1], dtype=found.dtype))[:, None]
    return found


def _renew(old: Floats, new: Floats, damping: float) -> float:
    """Move ``old`` towards ``new`` in place, which is used up; return the largest share of it."""
    new /= old
    new -= 1
    new *= 1 - damping
    change = max(float(new.max()), -float(new.min()))
    new += 1
    old *= new
    return change


def collected(graph: PairGraph, log_phi: FloatArray, sent: RowMessages) -> FloatArray:
    """Return log φ + Σ log m, (n_items, K), with m as a ratio to class 0, not normalised."""
    logs = np.log(sent.values, out=sent.logs)
    total = sum(incidence @ end for incidence, end in zip(graph.incidences, logs, strict=True))
    found: FloatArray = log_phi + (total - total[:, :1])
    return found


def cavities(factors: Factors, beliefs: Beliefs, block: slice) -> tuple[Floats, Floats, FloatArray]:
    """Return the cavities at the left and right ends, (m, K) each, and the log of their scales."""
    graph, log_scale, found = factors.graph, np.zeros(block.stop - block.start), []
    for end, received in ((graph.left, beliefs.messages[1]), (graph.right, beliefs.messages[0])):
        one = beliefs.log_item.take(end[block], axis=0).astype(factors.dtype)
        one[:, 1:] -= received[:, block].T
        top = one.max(axis=1)
        np.exp(one - top[:, None], out=one)
        total = one.sum(axis=1)
        one /= total[:, None]
        log_scale += top + np.log(total)
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
    for k, own in enumerate(weight.T.astype(factors.dtype)):
        rows = np.flatnonzero(own)
        one, other = left[rows] * own[rows, None], right[rows]
        found[k] += ((one * off[rows, None]).T @ other).ravel()
        found[k, :: K + 1] += ((one * other) * (on - off)[rows, None]).sum(axis=0)
    return np.asarray(found)
