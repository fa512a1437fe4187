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
processed in blocks, so extra memory is bounded. One sweep costs O(edges · K) under pairing noise,
whose matrix has two levels, and O(edges · K²) under others.

Noiseless answers (entries 0 or 1 in S) are floored (see `factors`): messages stay finite, and
contradictory "certain" answers outvote each other instead of dividing zero by zero.
What the beliefs say about pairs and answers is in `posteriors`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.inference import levels
from noisypairs.inference.factors import Factors
from noisypairs.inference.graph import FloatArray, PairGraph, checked_positions
from noisypairs.inference.messages import Floats, cavity, message_two, odds

Clamp = Mapping[int, int] | tuple[ArrayLike, ArrayLike]

#: Messages on more edges are float32 where ``tol`` is no smaller than `COARSE`.
FEW_EDGES = 1 << 12
COARSE = 1e-4


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What belief propagation found.

    ``item`` (n_items, K) holds P(class | everything), ``log_item`` its logarithm, and ``sent`` the
    messages as they were renewed: `messages`, or those of `levels`. ``max_change`` is the largest
    change of the last sweep, of a probability in ``item`` or of a message; ``converged`` says that
    it fell below ``tol``.
    ``log_scale`` is Σ_i log Σ_y φ_i(y) Π m(y), the items' share of the Bethe log-likelihood.
    """

    item: FloatArray
    log_item: FloatArray
    sent: Floats | levels.RowMessages
    log_scale: float
    converged: bool
    n_iter: int
    max_change: float

    @cached_property
    def messages(self) -> Floats:
        """Log-ratios to class 0, (2, K − 1, n_edges), to the right end [0] and to the left [1]."""
        return self.sent if isinstance(self.sent, np.ndarray) else self.sent.log_ratios()

    @cached_property
    def rows(self) -> levels.RowMessages:
        """The messages as `levels` takes them."""
        return levels.RowMessages.of(self.sent) if isinstance(self.sent, np.ndarray) else self.sent

    def on_edges(self, edges: NDArray[np.intp]) -> Beliefs:
        """Return the same with the messages on some edges alone."""
        if isinstance(self.sent, levels.RowMessages):
            return replace(self, sent=self.sent.on_edges(edges))
        return replace(self, sent=self.sent[..., edges])

    def reordered(self, order: NDArray[np.intp]) -> Beliefs:
        """Return the same with class ``order[k]`` as number k, the messages too."""
        if isinstance(self.sent, levels.RowMessages):
            sent: Floats | levels.RowMessages = self.sent.reordered(order)
        else:  # log-ratios to the first class: the new first one is taken off
            ratio = np.concatenate([np.zeros_like(self.sent[:, :1]), self.sent], axis=1)[:, order]
            sent = ratio[:, 1:] - ratio[:, :1]
        item, log_item = self.item[:, order], self.log_item[:, order]
        return replace(self, item=item, log_item=log_item, sent=sent)

    @cached_property
    def narrow_item(self) -> Floats:
        """``item`` in the precision of the messages."""
        return np.asarray(self.item, dtype=self.sent.dtype)


def propagate(
    graph: PairGraph,
    log_potential: ArrayLike,
    S: ArrayLike,
    messages: Floats | levels.RowMessages | None = None,
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
    sweep: Callable[..., float] = _sweep_two if n_classes == 2 else _sweep_any
    collect: Callable[..., FloatArray] = _collected
    if factors.by_row:
        logs = np.empty((graph.n_edges, n_classes), dtype)
        sweep, collect = levels.sweep, partial(levels.collected, logs=logs)
    sent = _first_messages(factors, messages)
    log_item = collect(graph, log_phi, sent)
    log_scale = float(normalise(log_item).sum())
    item = np.exp(log_item)
    change, n_iter = np.inf, 0
    while n_iter < max_iter and change >= tol:
        n_iter += 1
        change = sweep(factors, log_item, sent, damping)
        log_item = collect(graph, log_phi, sent)
        log_scale = float(normalise(log_item).sum())
        before, item = item, np.exp(log_item)
        change = max(change, float(np.abs(item - before).max(initial=0)))
    return Beliefs(item, log_item, sent, log_scale, change < tol, n_iter, change)


def _collected(graph: PairGraph, log_phi: FloatArray, sent: Floats) -> FloatArray:
    """Return log φ + Σ log m, not normalised, shape (n_items, K)."""
    total = log_phi.copy(order="K")
    for block in graph.blocks(at_least=graph.n_items):
        for end, received in ((graph.right, sent[0]), (graph.left, sent[1])):
            item = end[block].astype(np.intp)
            for k, row in enumerate(received[:, block], start=1):
                total[:, k] += np.bincount(item, row, minlength=graph.n_items)
    return total


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
    graph, change = factors.graph, 0.0
    by_class = np.ascontiguousarray(log_item.T, dtype=sent.dtype)
    for block in graph.blocks():
        cavities = [
            cavity(by_class.take(end[block], axis=1), received[:, block])[0]
            for end, received in ((graph.left, sent[1]), (graph.right, sent[0]))
        ]
        for towards, new in enumerate(factors.carried(block, cavities)):
            np.log(new, out=new)
            new[1:] -= new[0]
            change = max(change, _renew(sent[towards, :, block], new[1:], damping))
    return change


def _sweep_two(factors: Factors, log_item: FloatArray, sent: Floats, damping: float) -> float:
    """Renew all messages in place, for K = 2; return the largest change."""
    graph, change = factors.graph, 0.0
    ratio = (log_item[:, 1] - log_item[:, 0]).astype(sent.dtype)
    for block in graph.blocks():
        factor, _ = factors(block)
        from_left = ratio.take(graph.left[block])
        from_left -= sent[1, 0, block]
        from_right = ratio.take(graph.right[block])
        from_right -= sent[0, 0, block]
        for towards, h in enumerate((from_left, from_right)):
            new = message_two(odds(h), factor)
            change = max(change, _renew(sent[towards, 0, block], new, damping))
    return change


def _renew(old: Floats, new: Floats, damping: float) -> float:
    """Move ``old`` towards ``new`` in place, which is used up; return the largest step."""
    new -= old
    new *= 1 - damping
    old += new
    return max(float(new.max()), -float(new.min()))


def _checked_potential(
    graph: PairGraph, log_potential: ArrayLike, clamp: Clamp | None
) -> FloatArray:
    """Normalise the rows of log φ, (n_items, K), after setting clamped rows to certainty."""
    log_phi = np.array(log_potential, dtype=np.float64, order="F")
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
    factors: Factors, messages: Floats | levels.RowMessages | None
) -> Floats | levels.RowMessages:
    """Copy the messages to start from, or say nothing on every edge."""
    n_edges, n_classes = factors.graph.n_edges, factors.n_classes
    shape = (2, n_classes - 1, n_edges)
    if messages is None:
        by_row = factors.by_row
        return levels.RowMessages.silent(factors) if by_row else np.zeros(shape, factors.dtype)
    if isinstance(messages, levels.RowMessages):
        if factors.by_row and messages.shape == (n_edges, n_classes):
            return messages.scaled_for(factors)
        messages = messages.log_ratios()
    if messages.shape != shape or not np.all(np.isfinite(messages)):
        raise ValueError(
            f"messages must be finite and of shape {shape}, got shape {messages.shape}; "
            "they can only come from the same graph and number of classes"
        )
    if factors.by_row:
        return levels.RowMessages.of(messages.astype(factors.dtype)).scaled_for(factors)
    return np.array(messages, dtype=factors.dtype)
