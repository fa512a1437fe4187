"""What beliefs say about pairs and answers: classes behind them, wrong ones, their likelihood.

All of it follows from the cavities of an edge, the beliefs of its two ends without what they heard
over the edge itself, and from its factor: P(y, y' | everything) ∝ c(y) ψ(y, y') c'(y').
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.inference import levels
from noisypairs.inference.factors import Factors
from noisypairs.inference.graph import FloatArray, PairGraph
from noisypairs.inference.messages import Floats, cavity, cavity_two, joint, joint_two
from noisypairs.inference.propagation import Beliefs


def edge_posterior(graph: PairGraph, beliefs: Beliefs, S: ArrayLike) -> FloatArray:
    """P(y_left, y_right | everything) of each distinct edge, shape (n_edges, K, K).

    >>> from noisypairs.inference.propagation import propagate
    >>> graph = PairGraph.from_answers([0], [1], [True])
    >>> S = np.array([[0.9, 0.3], [0.3, 0.9]])
    >>> edge_posterior(graph, propagate(graph, np.zeros((2, 2)), S), S).round(3).tolist()
    [[[0.375, 0.125], [0.125, 0.375]]]
    """
    n_classes = beliefs.item.shape[1]
    posterior = np.empty((graph.n_edges, n_classes, n_classes))
    for block, of_block in edge_posteriors(graph, beliefs, S):
        posterior[block] = of_block
    return posterior


def edge_posteriors(
    graph: PairGraph, beliefs: Beliefs, S: ArrayLike
) -> Iterator[tuple[slice, Floats]]:
    """Yield `edge_posterior` block by block, with the slice of its edges."""
    factors = _factors_of(graph, beliefs, S)
    shape = -1, factors.n_classes, factors.n_classes
    for block in graph.blocks():
        yield block, _edge_joint(factors, beliefs, block)[0].T.reshape(shape)


def expected_counts(
    graph: PairGraph, beliefs: Beliefs, S: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Count the classes behind the answers, as the M-step needs them: (N_same, N_different).

        N_q[r, y, y'] = Σ over answers q of group r of weight · P(y, y' | everything)

    Each is (n_groups, K, K), symmetrised, since left and right mean nothing. A free S is then
    re-estimated by N_same / (N_same + N_different).

    >>> from noisypairs.inference.propagation import propagate
    >>> graph = PairGraph.from_answers([0, 0], [1, 1], [True, False])
    >>> S = np.array([[0.5, 0.5], [0.5, 0.5]])
    >>> same, different = expected_counts(graph, propagate(graph, np.zeros((2, 2)), S), S)
    >>> same.tolist()
    [[[0.25, 0.25], [0.25, 0.25]]]
    """
    factors = _factors_of(graph, beliefs, S)
    k = factors.n_classes
    counts = np.zeros((factors.n_kinds, k * k))
    for block in graph.blocks():
        counts += _edge_counts(factors, beliefs, block)
    by_answer = counts.reshape(graph.n_groups, 2, k, k)
    by_answer = (by_answer + by_answer.swapaxes(2, 3)) / 2
    return by_answer[:, 1], by_answer[:, 0]


def cavities(
    graph: PairGraph, beliefs: Beliefs, edges: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """P(class | everything but the answers on the pair) of both ends of some edges, (m, K) each.

    >>> from noisypairs.inference.propagation import propagate
    >>> graph = PairGraph.from_answers([0, 1], [1, 2], [True, False])
    >>> S = np.array([[0.9, 0.2], [0.2, 0.9]])
    >>> beliefs = propagate(graph, np.zeros((3, 2)), S, clamp={0: 1})
    >>> [end.round(3).tolist() for end in cavities(graph, beliefs, np.array([1]))]
    [[[0.182, 0.818]], [[0.5, 0.5]]]
    """
    found, sent = [], beliefs.on_edges(edges).messages
    for end, received in ((graph.left, sent[1]), (graph.right, sent[0])):
        log_item = np.ascontiguousarray(beliefs.log_item[end[edges]].T)
        weight, _ = cavity(log_item, received)
        found.append((weight / weight.sum(axis=0)).T)
    return found[0], found[1]


def answer_wrong_probability(
    graph: PairGraph, beliefs: Beliefs, S: ArrayLike, alike: ArrayLike | None = None
) -> FloatArray:
    """Posterior probability that each answer, in the order given, is wrong, shape (n,).

    P(y ≠ y' | everything) for the answer "same", P(y = y' | everything) for "different". A self
    pair is of one class for certain, so there it is 0 or 1. ``alike`` (K, K) says which states are
    of one class where states are not classes.

    >>> from noisypairs.inference.propagation import propagate
    >>> graph = PairGraph.from_answers([0, 1, 2], [1, 0, 2], [True, False, False])
    >>> S = np.array([[0.9, 0.3], [0.3, 0.9]])
    >>> answer_wrong_probability(graph, propagate(graph, np.zeros((3, 2)), S), S).round(3).tolist()
    [0.7, 0.3, 1.0]
    """
    factors = _factors_of(graph, beliefs, S)
    one_class = np.ones(graph.n_edges + 1)  # the last entry, index −1, is that of self pairs
    of_one = np.ravel(np.eye(factors.n_classes, dtype=bool) if alike is None else alike)
    for block in graph.blocks():
        if factors.by_row:
            one_class[block] = levels.same_class(factors, beliefs, block)
            continue
        posterior, _ = _edge_joint(factors, beliefs, block)
        one_class[block] = posterior[of_one].sum(axis=0)
    probability = one_class[graph.edge_of_answer]
    wrong: FloatArray = np.where(graph.same, 1 - probability, probability)
    return wrong


def bethe_log_likelihood(graph: PairGraph, beliefs: Beliefs, S: ArrayLike) -> float:
    """Bethe's log Σ_y Π_i φ_i(y_i) Π_a ψ_a^{w_a}, with normalised φ: exact on forests.

        Σ_i log Σ_y φ_i(y) Π_k m_{k→i}(y) + Σ_e log Σ_{y,y'} [b_i/m](y) ψ_e(y, y') [b_j/m](y')

    With clamped items this is log P(answers | the known classes). Self pairs do not enter.

    >>> from noisypairs.inference.propagation import propagate
    >>> graph = PairGraph.from_answers([0], [1], [True])
    >>> S = np.array([[0.9, 0.3], [0.3, 0.9]])
    >>> value = bethe_log_likelihood(graph, propagate(graph, np.zeros((2, 2)), S), S)
    >>> round(float(np.exp(value)), 6)
    0.6
    """
    factors = _factors_of(graph, beliefs, S)
    edges = (_edge_totals(factors, beliefs, block).sum() for block in graph.blocks())
    return beliefs.log_scale + float(sum(edges))


def _factors_of(graph: PairGraph, beliefs: Beliefs, S: ArrayLike) -> Factors:
    """Return the factors in the precision of the messages."""
    return Factors(graph, S, beliefs.item.shape[1], beliefs.sent.dtype)


def _cavities(factors: Factors, beliefs: Beliefs, block: slice) -> tuple[list[Floats], FloatArray]:
    """Return the cavities at the left and right ends, (K, m) each, and their log-scale (m,)."""
    graph, log_scale, found = factors.graph, np.zeros(block.stop - block.start), []
    for end, received in ((graph.left, beliefs.messages[1]), (graph.right, beliefs.messages[0])):
        log_item = np.ascontiguousarray(beliefs.log_item.take(end[block], axis=0).T)
        one, own_scale = cavity(log_item, received[:, block])
        found.append(one.astype(factors.dtype, copy=False))
        log_scale += own_scale
    return found, log_scale


def _edge_joint(factors: Factors, beliefs: Beliefs, block: slice) -> tuple[Floats, FloatArray]:
    """P(y_left, y_right | everything) for the edges of a block, (K·K, m), and log-normalisers."""
    entries, factor_scale = factors(block)
    if factors.n_classes == 2:
        ends = factors.graph.left[block], factors.graph.right[block]
        (left, left_scale), (right, right_scale) = (
            cavity_two(beliefs.log_item.take(end, axis=0), received[0, block], factors.dtype)
            for end, received in zip(ends, beliefs.messages[::-1], strict=True)
        )
        posterior, total = joint_two(left, right, entries)
        return posterior, np.log(total) + left_scale + right_scale + factor_scale
    (left, right), log_scale = _cavities(factors, beliefs, block)
    posterior, total = joint(left, right, entries[factors.place])
    return posterior.reshape(-1, total.size), np.log(total) + log_scale + factor_scale


def _edge_totals(factors: Factors, beliefs: Beliefs, block: slice) -> FloatArray:
    """Return only the log-normalisers (m,): no posterior is needed for them if K > 2."""
    if factors.n_classes == 2:
        return _edge_joint(factors, beliefs, block)[1]
    if factors.by_row:
        return levels.log_totals(factors, beliefs, block)
    (left, right), log_scale = _cavities(factors, beliefs, block)
    total = (factors.carried(block, [left])[0] * right).sum(axis=0)
    return np.asarray(np.log(total) + log_scale + factors(block)[1])


def _edge_counts(factors: Factors, beliefs: Beliefs, block: slice) -> FloatArray:
    """Sum the posteriors of a block by kind of answer, times weight, shape (n_kinds, K·K).

    Where edges with one answer of weight one are of few kinds, Σ_e P(y, y') is a matrix product:
    ψ(y, y') Σ_e c(y) c'(y') / total, without a posterior for each edge.
    """
    graph, K = factors.graph, factors.n_classes
    evidence = graph.evidence(block)
    if K == 2 or factors.n_kinds > K:
        posterior = _edge_joint(factors, beliefs, block)[0]
        return np.asarray(evidence.T @ posterior.T.astype(np.float64, copy=False))
    if factors.by_row:
        return levels.counts(factors, beliefs, block)
    (left, right), _ = _cavities(factors, beliefs, block)
    rows, merged, _ = factors.compound(block)
    compound = joint(left[:, rows], right[:, rows], merged[factors.place])[0]
    counts = evidence[rows].T @ compound.reshape(K * K, -1).T.astype(np.float64, copy=False)
    total = (factors.carried(block, [left])[0] * right).sum(axis=0)
    plain = (left / total).astype(np.float64, copy=False)
    plain[:, rows] = 0
    kind, factor = factors.first_kind(block), factors.table[factors.place]
    for k in range(factors.n_kinds):
        of_kind = np.flatnonzero(kind == k)
        counts[k] += (factor[..., k] * (plain[:, of_kind] @ right[:, of_kind].T)).ravel()
    return np.asarray(counts)
