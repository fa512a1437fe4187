"""Belief propagation on the pair graph: what all the answers together say about each item.

Items i carry potentials φ_i(y) = P(class y | item alone); an answer a on items (i, j) from group r
(an annotator) multiplies by a factor, raised to the power of the answer's weight w_a:

    P(y, answers) ∝ Π_i φ_i(y_i) · Π_a ψ_a(y_i, y_j)^{w_a},   ψ_a = S_r if "same", 1 − S_r if not.

All answers on one unordered pair are merged into a single factor (logarithms add). That is exact,
while parallel edges would be short loops that count the same evidence again and again. A soft
answer p is two answers of weight p ("same") and 1 − p ("different").

Messages are kept as log-ratios to class 0, K − 1 numbers per direction. They are float64, or, if
edges are many and the tolerance is no finer than float32 can show, float32: half the memory (8
bytes an edge for K = 2) and several times faster. Sums over edges are always float64. Edges are
processed in blocks, so extra memory is bounded, and one sweep costs O(edges · K²).

Noiseless answers (entries 0 or 1 in S) are floored (see `factors`): messages stay finite, and
contradictory "certain" answers outvote each other instead of dividing zero by zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy.sparse import csc_array, csr_array

from noisypairs.inference.factors import Factors
from noisypairs.inference.graph import FloatArray, PairGraph, checked_positions
from noisypairs.inference.messages import (
    Floats,
    cavity,
    cavity_two,
    joint,
    joint_two,
    message_two,
    odds,
)

Clamp = Mapping[int, int] | tuple[ArrayLike, ArrayLike]
#: A slice of the edges with the transposed incidence of their right and of their left ends.
Ends = tuple[slice, csc_array, csc_array]

#: Incidence matrices of so many edges are kept from sweep to sweep: building them would take longer
#: than using them. Larger graphs build them block by block, which bounds their memory.
FEW_EDGES = 1 << 16
#: Messages on more edges are float32 where ``tol`` is no smaller than this.
COARSE = 1e-4


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What belief propagation found.

    ``item`` (n_items, K) holds P(class | everything), ``log_item`` its logarithm, and
    ``messages`` (2, n_edges, K − 1) the log-ratios to class 0 sent to the right end [0] and to the
    left end [1] of each edge. ``max_change`` is the largest change of the last sweep, of a
    probability in ``item`` or of a message; ``converged`` says that it fell below ``tol``.
    ``log_scale`` is Σ_i log Σ_y φ_i(y) Π m(y), the items' share of the Bethe log-likelihood.
    """

    item: FloatArray
    log_item: FloatArray
    messages: Floats
    log_scale: float
    converged: bool
    n_iter: int
    max_change: float


def propagate(
    graph: PairGraph,
    log_potential: ArrayLike,
    S: ArrayLike,
    messages: Floats | None = None,
    *,
    damping: float = 0.1,
    tol: float = 1e-6,
    max_iter: int = 200,
    clamp: Clamp | None = None,
) -> Beliefs:
    """Sum-product belief propagation: exact marginals on forests, the Bethe fixed point elsewhere.

        m_{i→j}(y') ∝ Σ_y ψ_ij(y, y') φ_i(y) Π_{k≠j} m_{k→i}(y),   b_i(y) ∝ φ_i(y) Π_k m_{k→i}(y)

    All messages are renewed at once from the last beliefs; in logarithms the new one gets the share
    1 − ``damping``, which leaves every fixed point where it is.

    - ``log_potential`` (n_items, K): log φ; rows need not be normalised, −inf excludes a class.
    - ``S``: (K, K) or (n_groups, K, K), symmetric, ``S[y, y'] = P("same" | y, y')``.
    - ``messages``: those of an earlier call on this graph, to start from (left unchanged).
    - ``damping``: share of the old message, in [0, 1).
    - ``tol``: stop when neither a belief nor a message moved by more. Beliefs alone are not enough:
      two opposite messages can meet at an item, cancel there, and still have to travel on.
    - ``clamp``: known classes, ``{item: class}`` or ``(items, classes)``.

    Potentials that prefer no class leave pairing noise without a preference too: start elsewhere.
    An S far more certain than the answers deserve (rates of .05 for answers wrong at .3) makes the
    loops contradict each other, and no damping settles that: look at ``converged``.

    >>> graph = PairGraph.from_answers([0, 1], [1, 2], [True, False])
    >>> S = np.array([[0.9, 0.2], [0.2, 0.9]])
    >>> beliefs = propagate(graph, np.zeros((3, 2)), S, clamp={0: 1})
    >>> beliefs.converged, beliefs.item.round(3).tolist()
    (True, [[0.0, 1.0], [0.182, 0.818], [0.747, 0.253]])
    """
    if not 0 <= damping < 1:
        raise ValueError(f"damping must be in [0, 1), got {damping}")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {max_iter}")
    log_phi = _checked_potential(graph, log_potential, clamp)
    n_classes = log_phi.shape[1]
    dtype = np.float32 if graph.n_edges > FEW_EDGES and tol >= COARSE else np.float64
    factors = Factors(graph, S, n_classes, dtype)
    sent = _first_messages(graph, n_classes, messages, dtype)
    sweep = _sweep_two if n_classes == 2 else _sweep_any
    kept = list(_ends(graph)) if graph.n_edges <= FEW_EDGES else None
    log_item, log_scale = _collect(kept or _ends(graph), log_phi, sent)
    item = np.exp(log_item)
    change, n_iter = np.inf, 0
    while n_iter < max_iter and change >= tol:
        n_iter += 1
        change = sweep(factors, log_item, sent, damping)
        log_item, log_scale = _collect(kept or _ends(graph), log_phi, sent)
        before, item = item, np.exp(log_item)
        change = max(change, float(np.abs(item - before).max(initial=0)))
    return Beliefs(item, log_item, sent, log_scale, change < tol, n_iter, change)


def _ends(graph: PairGraph) -> Iterator[Ends]:
    """Yield the edges in slices with the transposed incidence of their ends, (n_items, m) each."""
    for block in graph.blocks(at_least=graph.n_items):
        size = block.stop - block.start
        ones, rows = np.ones(size), np.arange(size + 1, dtype=np.int32)
        right, left = (
            csr_array((ones, end[block], rows), shape=(size, graph.n_items)).T
            for end in (graph.right, graph.left)
        )
        yield block, right, left


def _collect(ends: Iterable[Ends], log_phi: FloatArray, sent: Floats) -> tuple[FloatArray, float]:
    """Normalised log-beliefs log φ_i + Σ log m, and the sum of their log-normalisers.

    Sums per item are products with the transposed incidence matrix: for K > 2 measured three to ten
    times faster than ``bincount`` per class, and equal to it for K = 2.
    """
    total = log_phi.copy()
    for block, right, left in ends:
        total[:, 1:] += right @ sent[0, block]
        total[:, 1:] += left @ sent[1, block]
    log_normaliser = normalise(total)
    return total, float(log_normaliser.sum())


def normalise(log_weight: FloatArray) -> FloatArray:
    """Let exp of each row (n, K) sum to one, in place; return what was taken off, (n,).

    By hand, because scipy's ``logsumexp`` was measured to need far more temporary memory.
    """
    top = log_weight.max(axis=1)
    log_weight -= top[:, None]
    rest = np.log(np.exp(log_weight).sum(axis=1))
    log_weight -= rest[:, None]
    return np.asarray(top + rest)


def _sweep_any(factors: Factors, log_item: FloatArray, sent: Floats, damping: float) -> float:
    """Renew all messages in place, for any K; return the largest change."""
    graph, change, log_item = factors.graph, 0.0, log_item.astype(sent.dtype, copy=False)
    carry = _carry_by_kind if len(factors.table) <= factors.n_classes else _carry_by_edge
    for block in graph.blocks():
        from_left, _ = cavity(log_item[graph.left[block]], sent[1, block])
        from_right, _ = cavity(log_item[graph.right[block]], sent[0, block])
        new = np.log(carry(factors, block, np.stack([from_left, from_right])))
        new = new[:, :, 1:] - new[:, :, :1]
        change = max(change, _renew(sent[:, block], new, damping))
    return change


def _carry_by_edge(factors: Factors, block: slice, cavities: Floats) -> Floats:
    """Σ_y c(y) ψ_e(y, y') for cavities (2, m, K), with the factor of each edge."""
    carried: Floats = np.einsum("dmy,myz->dmz", cavities, factors(block)[0])
    return carried


def _carry_by_kind(factors: Factors, block: slice, cavities: Floats) -> Floats:
    """Σ_y c(y) ψ_e(y, y') by one matrix product for each kind of answer: faster for few kinds."""
    kind = factors.first_kind(block)
    carried = np.empty_like(cavities)
    for k, factor in enumerate(factors.table):
        carried[:, kind == k] = cavities[:, kind == k] @ factor
    rows, factor, _ = factors.compound(block)
    carried[:, rows] = np.einsum("dmy,myz->dmz", cavities[:, rows], factor)
    return carried


def _sweep_two(factors: Factors, log_item: FloatArray, sent: Floats, damping: float) -> float:
    """Renew all messages in place, for K = 2; return the largest change."""
    graph, change = factors.graph, 0.0
    ratio = (log_item[:, 1] - log_item[:, 0]).astype(sent.dtype)
    for block in graph.blocks():
        factor, _ = factors.triangle(block)
        from_left = ratio.take(graph.left[block])
        from_left -= sent[1, block, 0]
        from_right = ratio.take(graph.right[block])
        from_right -= sent[0, block, 0]
        for towards, h in enumerate((from_left, from_right)):
            new = message_two(odds(h), factor)
            change = max(change, _renew(sent[towards, block, 0], new, damping))
    return change


def _renew(old: Floats, new: Floats, damping: float) -> float:
    """Move ``old`` towards ``new`` in place, which is used up; return the largest step."""
    new -= old
    new *= 1 - damping
    old += new
    return max(float(new.max()), -float(new.min()))


def _edge_joint(factors: Factors, beliefs: Beliefs, block: slice) -> tuple[Floats, FloatArray]:
    """P(y_left, y_right | everything) for the edges of a block, (m, K·K), and log-normalisers."""
    ends = factors.graph.left[block], factors.graph.right[block]
    rows = (beliefs.log_item.take(end, axis=0) for end in ends)
    both = zip(rows, beliefs.messages[::-1, block], strict=True)
    if factors.n_classes == 2:
        (left, left_scale), (right, right_scale) = (
            cavity_two(log_item, received[:, 0], factors.dtype) for log_item, received in both
        )
        factor, factor_scale = factors.triangle(block)
        posterior, total = joint_two(left, right, factor)
        posterior = posterior.T
    else:
        (left, left_scale), (right, right_scale) = (cavity(*one) for one in both)
        factor, factor_scale = factors(block)
        posterior, total = joint(left, right, factor)
    return posterior, np.log(total) + left_scale + right_scale + factor_scale


def edge_posterior(graph: PairGraph, beliefs: Beliefs, S: ArrayLike) -> FloatArray:
    """P(y_left, y_right | everything) of each distinct edge, shape (n_edges, K, K).

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
        yield block, _edge_joint(factors, beliefs, block)[0].reshape(shape)


def expected_counts(
    graph: PairGraph, beliefs: Beliefs, S: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Count the classes behind the answers, as the M-step needs them: (N_same, N_different).

        N_q[r, y, y'] = Σ over answers q of group r of weight · P(y, y' | everything)

    Each is (n_groups, K, K), symmetrised, since left and right mean nothing. A free S is then
    re-estimated by N_same / (N_same + N_different).

    >>> graph = PairGraph.from_answers([0, 0], [1, 1], [True, False])
    >>> S = np.array([[0.5, 0.5], [0.5, 0.5]])
    >>> same, different = expected_counts(graph, propagate(graph, np.zeros((2, 2)), S), S)
    >>> same.tolist()
    [[[0.25, 0.25], [0.25, 0.25]]]
    """
    factors = _factors_of(graph, beliefs, S)
    k = factors.n_classes
    counts = np.zeros((2 * graph.n_groups, k * k))
    for block in graph.blocks():
        posterior, _ = _edge_joint(factors, beliefs, block)
        counts += graph.evidence(block).T @ posterior.astype(np.float64, copy=False)
    by_answer = counts.reshape(graph.n_groups, 2, k, k)
    by_answer = (by_answer + by_answer.swapaxes(2, 3)) / 2
    return by_answer[:, 1], by_answer[:, 0]


def answer_wrong_probability(graph: PairGraph, beliefs: Beliefs, S: ArrayLike) -> FloatArray:
    """Posterior probability that each answer, in the order given, is wrong, shape (n,).

    P(y ≠ y' | everything) for the answer "same", P(y = y' | everything) for "different". A self
    pair is of one class for certain, so there it is 0 or 1.

    >>> graph = PairGraph.from_answers([0, 1, 2], [1, 0, 2], [True, False, False])
    >>> S = np.array([[0.9, 0.3], [0.3, 0.9]])
    >>> answer_wrong_probability(graph, propagate(graph, np.zeros((3, 2)), S), S).round(3).tolist()
    [0.7, 0.3, 1.0]
    """
    factors = _factors_of(graph, beliefs, S)
    one_class = np.ones(graph.n_edges + 1)  # the last entry, index −1, is that of self pairs
    for block in graph.blocks():
        posterior, _ = _edge_joint(factors, beliefs, block)
        one_class[block] = posterior[:, :: factors.n_classes + 1].sum(axis=1)
    probability = one_class[graph.edge_of_answer]
    wrong: FloatArray = np.where(graph.same, 1 - probability, probability)
    return wrong


def bethe_log_likelihood(graph: PairGraph, beliefs: Beliefs, S: ArrayLike) -> float:
    """Bethe's log Σ_y Π_i φ_i(y_i) Π_a ψ_a^{w_a}, with normalised φ: exact on forests.

        Σ_i log Σ_y φ_i(y) Π_k m_{k→i}(y) + Σ_e log Σ_{y,y'} [b_i/m](y) ψ_e(y, y') [b_j/m](y')

    With clamped items this is log P(answers | the known classes). Self pairs do not enter.

    >>> graph = PairGraph.from_answers([0], [1], [True])
    >>> S = np.array([[0.9, 0.3], [0.3, 0.9]])
    >>> value = bethe_log_likelihood(graph, propagate(graph, np.zeros((2, 2)), S), S)
    >>> round(float(np.exp(value)), 6)
    0.6
    """
    factors = _factors_of(graph, beliefs, S)
    edges = (_edge_joint(factors, beliefs, block)[1].sum() for block in graph.blocks())
    return beliefs.log_scale + float(sum(edges))


def _factors_of(graph: PairGraph, beliefs: Beliefs, S: ArrayLike) -> Factors:
    """Return the factors in the precision of the messages."""
    return Factors(graph, S, beliefs.item.shape[1], beliefs.messages.dtype)


def _checked_potential(
    graph: PairGraph, log_potential: ArrayLike, clamp: Clamp | None
) -> FloatArray:
    """Normalise the rows of log φ, (n_items, K), after setting clamped rows to certainty."""
    log_phi = np.array(log_potential, dtype=np.float64)
    if log_phi.ndim != 2 or log_phi.shape[0] != graph.n_items or log_phi.shape[1] < 2:
        raise ValueError(
            f"log_potential must be (n_items={graph.n_items}, K >= 2), got shape {log_phi.shape}"
        )
    if clamp is not None:
        known = (list(clamp), list(clamp.values())) if isinstance(clamp, Mapping) else clamp
        items = checked_positions("clamped items", known[0], graph.n_items)
        classes = checked_positions("clamped classes", known[1], log_phi.shape[1])
        log_phi[items] = -np.inf
        log_phi[items, classes] = 0
    if not np.all(log_phi < np.inf) or not np.all(log_phi.max(axis=1) > -np.inf):
        raise ValueError(
            "log_potential needs a finite entry in every row and neither NaN nor +inf; "
            "only -inf is allowed, for a class that is ruled out"
        )
    normalise(log_phi)
    return log_phi


def _first_messages(
    graph: PairGraph, n_classes: int, messages: Floats | None, dtype: DTypeLike
) -> Floats:
    """Copy the messages to start from, or say nothing on every edge."""
    shape = (2, graph.n_edges, n_classes - 1)
    if messages is None:
        return np.zeros(shape, dtype=dtype)
    if messages.shape != shape or not np.all(np.isfinite(messages)):
        raise ValueError(
            f"messages must be finite and of shape {shape}, got shape {messages.shape}; "
            "they can only come from the same graph and number of classes"
        )
    return np.array(messages, dtype=dtype)
