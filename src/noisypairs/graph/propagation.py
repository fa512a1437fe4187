"""The pair graph, and belief propagation on it: what all answers together say about each item.

Pairs in any order and either orientation, asked once or often, become one edge per unordered pair
of items. What the edges alone say about the items is `signed_embedding`.

Items i carry potentials φ_i(y) = P(class y | item alone); an answer a on items (i, j) from group r
(an annotator) multiplies by a factor, raised to the power of the answer's weight w_a:

    P(y, answers) ∝ Π_i φ_i(y_i) · Π_a ψ_a(y_i, y_j)^{w_a},   ψ_a = S_r if "same", 1 − S_r if not.

Where answers have more levels than these, ψ_a is the response table of the level that was answered,
P(level | y, y'), shape (L, K, K), in place of S and 1 − S.

All answers on one unordered pair are merged into a single factor ψ_e (logarithms add). That is
exact, while parallel edges would be short loops that count the same evidence again and again. A
soft answer p is two answers of weight p ("same") and 1 − p ("different").

The cavity c of an item on an edge is its belief divided by the message it received over that edge.
The cavities c, c' of the two ends give

    the message to the other end  m(y') ∝ Σ_y c(y) ψ_e(y, y')   and
    P(y, y' | everything)               ∝ c(y) ψ_e(y, y') c'(y').

Messages are kept as log-ratios to class 0, (2, K − 1, n_edges). Arrays over edges have the class
before the edge, so that operations run over long rows. Edges are processed in blocks that share
their work arrays, so extra memory is bounded. One sweep costs O(edges · K) if S has one value on
its diagonal and one beside it, as under pairing noise, and O(edges · K²) otherwise.

Entries 0 or 1 in S are floored: messages stay finite, and contradictory "certain" answers outvote
each other instead of dividing zero by zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import csc_array, csr_array
from scipy.sparse.linalg import eigsh

from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import pair_keys
from noisypairs.pairs.levels import PLAIN, Scale

FloatArray = NDArray[np.float64]
RandomSource = int | np.random.Generator | np.random.RandomState | None

_BLOCK = 1 << 15  # edges worked on at once: a handful of such arrays stays in cache
_ENTRIES = 1 << 24  # … fewer if a matrix for each of them has more entries than this
_NEAR = 1e-3  # of an eigenvalue: a guess needs no more, and few answers make more of it slow
_DENSE_ITEMS = 64  # below this a dense eigensolver is faster, and never fails


@dataclass(frozen=True, eq=False)
class PairGraph:
    """Distinct unordered pairs of items, and the answers given on each, in flat arrays.

    Build it once with ``from_pairs`` or ``from_answers``; it does not depend on S or on the number
    of classes. Edges are sorted by (left, right) with left < right. The answers on edge e are the
    slice ``answer_start[e]:answer_start[e + 1]`` of ``answer_weight`` and of ``answer_kind``, which
    is L·group + level on a ``scale`` of L levels: 0 different and 1 same where it is plain.
    ``edge_of_answer`` leads from the answers as given to their edges (−1 for self pairs, which say
    nothing on classes and are left out).

    >>> graph = PairGraph.from_answers([0, 1, 2], [1, 0, 3], [True, False, True], n_items=5)
    >>> graph.n_edges, graph.edge_of_answer.tolist()
    (2, [0, 0, 1])
    """

    n_items: int
    n_groups: int
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    answer_start: NDArray[np.int32]
    answer_kind: NDArray[np.int32]
    answer_weight: NDArray[np.float32]
    edge_of_answer: NDArray[np.int32]
    same: NDArray[np.bool_]
    scale: Scale = PLAIN
    level: NDArray[np.int8] | None = None

    @classmethod
    def from_answers(
        cls,
        left: ArrayLike,
        right: ArrayLike,
        same: ArrayLike,
        *,
        n_items: int | None = None,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        n_groups: int | None = None,
        level: ArrayLike | None = None,
        scale: Scale = PLAIN,
    ) -> PairGraph:
        """Sort and merge n answers; every argument array has shape (n,), positions from 0.

        ``group`` holds the annotator codes 0..R−1; without it all answers form one group. ``level``
        are the codes of answers on a ``scale`` that is not plain.
        """
        first = checked_positions("left", left, n_items)
        second = checked_positions("right", right, n_items)
        groups = checked_positions(
            "group", np.zeros(first.size, int) if group is None else group, n_groups
        )
        weights = np.asarray(np.ones(first.size) if weight is None else weight, dtype=np.float32)
        answers = np.asarray(same)
        _check_answers(answers, weights, first, second, groups)
        levels = answers if level is None else np.asarray(level)
        low, high = np.minimum(first, second), np.maximum(first, second)
        n_items = int(high.max(initial=-1)) + 1 if n_items is None else n_items

        key = pair_keys(first, second, n_items)
        order = np.argsort(key, kind="stable")
        order = order[(low != high)[order]]
        new_edge = np.diff(key[order], prepend=-1) != 0
        edge_of_answer = np.full(first.size, -1, dtype=np.int32)
        edge_of_answer[order] = np.cumsum(new_edge) - 1
        return cls(
            n_items=n_items,
            n_groups=int(groups.max(initial=0)) + 1 if n_groups is None else n_groups,
            left=low[order][new_edge],
            right=high[order][new_edge],
            answer_start=np.append(np.flatnonzero(new_edge), order.size).astype(np.int32),
            answer_kind=scale.n_levels * groups[order] + levels[order].astype(np.int32),
            answer_weight=weights[order],
            edge_of_answer=edge_of_answer,
            same=answers,
            scale=scale,
            level=None if level is None else np.asarray(level, dtype=np.int8),
        )

    @classmethod
    def from_pairs(cls, pairs: Pairs, annotators: bool = False) -> PairGraph:
        """Build the graph of `Pairs`, their weights included; with ``annotators`` these are groups.

        Group r is then annotator ``pairs.annotator_names[r]``, answers or not, so that the groups
        of a sub-graph are those of the whole; otherwise all answers form one group.

        >>> pairs = Pairs([0, 1, 0], [1, 2, 2], [1, 0, 1], annotator=["ann", "bob", "ann"])
        >>> graph = PairGraph.from_pairs(pairs, annotators=True)
        >>> graph.n_edges, graph.n_groups, graph.answer_kind.tolist()  # 2·group + same
        (3, 2, [1, 1, 2])
        >>> PairGraph.from_pairs(pairs).n_groups
        1
        """
        group, n_groups = None, 1
        if annotators:
            if pairs.annotator is None or pairs.annotator_names is None:
                raise ValueError(
                    "annotators=True, but the pairs do not say who answered: give "
                    "Pairs(..., annotator=...), or annotators=False for one group"
                )
            group, n_groups = pairs.annotator, pairs.annotator_names.size
        return cls.from_answers(
            pairs.left,
            pairs.right,
            pairs.same,
            n_items=pairs.n_items,
            weight=pairs.weight,
            group=group,
            n_groups=n_groups,
            level=pairs.level,
            scale=pairs.scale,
        )

    @property
    def n_levels(self) -> int:
        """Number of levels that an answer may have."""
        return self.scale.n_levels

    @property
    def unsure(self) -> NDArray[np.bool_]:
        """Which answers, in the order given, are unsure."""
        if self.level is None:
            return np.zeros(self.same.shape, dtype=bool)
        unsure: NDArray[np.bool_] = self.level == self.scale.n_ordered
        return unsure

    @property
    def answer_group(self) -> NDArray[np.int32]:
        """Group of each answer along the edges, such as the annotator; (n_answers,)."""
        return self.answer_kind // self.n_levels

    @property
    def answer_level(self) -> NDArray[np.int32]:
        """Level of each answer along the edges, (n_answers,)."""
        return self.answer_kind % self.n_levels

    @property
    def n_edges(self) -> int:
        """Number of distinct unordered pairs."""
        return self.left.size

    @cached_property
    def first_kind(self) -> NDArray[np.int32]:
        """Kind of the first answer on each edge, shape (n_edges,)."""
        if self.n_edges == self.answer_kind.size:
            return self.answer_kind
        return self.answer_kind[self.answer_start[:-1]]

    @cached_property
    def compound_edges(self) -> NDArray[np.intp]:
        """Edges with several answers, or with one whose weight is not one, in order."""
        first = self.answer_start[:-1]
        plain = (np.diff(self.answer_start) == 1) & (self.answer_weight[first] == 1)
        return np.flatnonzero(~plain)

    @cached_property
    def largest_weight(self) -> float:
        """Largest total weight of the answers on one edge."""
        if self.n_edges == 0:
            return 0.0
        return float(np.add.reduceat(self.answer_weight, self.answer_start[:-1]).max())

    def with_edges(self, edges: NDArray[np.intp]) -> PairGraph:
        """Return the graph of some edges, in order, of the same items; answers are numbered anew.

        >>> graph = PairGraph.from_answers([0, 0, 0], [1, 2, 1], [True, False, False])
        >>> some = graph.with_edges(np.array([0]))
        >>> some.n_edges, some.answer_kind.tolist()
        (1, [1, 0])
        """
        times = np.diff(self.answer_start)
        kept = np.zeros(self.n_edges, dtype=bool)
        kept[edges] = True
        answers = np.repeat(kept, times)
        start = np.concatenate([[0], np.cumsum(times[edges])]).astype(np.int32)
        edge_of = np.repeat(np.arange(len(edges), dtype=np.int32), times[edges])
        kind, weight = self.answer_kind[answers], self.answer_weight[answers]
        ends = self.left[edges], self.right[edges]
        level = (kind % self.n_levels).astype(np.int8)
        flat = *ends, start, kind, weight, edge_of, self.scale.same_levels[level]
        more = None if self.level is None else level
        return PairGraph(self.n_items, self.n_groups, *flat, self.scale, more)

    @property
    def nbytes(self) -> int:
        """Bytes held by the arrays of the graph."""
        arrays = (getattr(self, one.name) for one in fields(self))
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    def blocks(self, n_classes: int = 1) -> Iterator[slice]:
        """Cut the edges into slices, short ones if each has a matrix over many classes."""
        size = min(_BLOCK, max(1, _ENTRIES // n_classes**2))
        return (slice(lo, min(lo + size, self.n_edges)) for lo in range(0, self.n_edges, size))

    def evidence(self, edges: slice | NDArray[np.intp]) -> csr_array:
        """Total weight of each kind of answer on some edges: sparse, (edges, L·n_groups).

        One matrix serves both ways: ``evidence @ log-factors`` merges the answers of an edge, and
        ``evidence.T @ posteriors`` counts classes by kind of answer.
        """
        start = self.answer_start[:-1][edges]
        times = self.answer_start[1:][edges] - start
        filled = np.append(np.int32(0), np.cumsum(times, dtype=np.int32))
        answer = np.repeat(start - filled[:-1], times) + np.arange(filled[-1])
        content = self.answer_weight[answer], self.answer_kind[answer], filled
        return csr_array(content, shape=(start.size, self.n_levels * self.n_groups))


def checked_positions(name: str, values: ArrayLike, upper: int | None) -> NDArray[np.int32]:
    """Check integer positions 0 ≤ v < upper and store them as int32."""
    given = np.asarray(values)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise TypeError(f"{name} must hold integer positions, got dtype {given.dtype}")
    limit = np.iinfo(np.int32).max if upper is None else upper
    if given.size and not (given.min() >= 0 and given.max() < limit):
        raise ValueError(
            f"{name} must lie in 0..{limit - 1}, got {given.min()}..{given.max()}; "
            "renumber, or pass the right n_items (n_groups for group)"
        )
    return given.astype(np.int32, copy=False)


def _check_answers(
    same: NDArray[np.generic], weight: NDArray[np.float32], *positions: NDArray[np.int32]
) -> None:
    """Refuse answers that are not boolean, arrays that do not match, and impossible weights."""
    if same.dtype != np.bool_:
        raise TypeError(f"same must be boolean, got dtype {same.dtype}; Pairs converts answers")
    shapes = {array.shape for array in (same, weight, *positions)}
    if len(shapes) > 1 or same.ndim != 1:
        raise ValueError(
            f"left, right, same, weight, group must be of one length, got shapes {sorted(shapes)}"
        )
    if not np.all(np.isfinite(weight) & (weight >= 0)):
        raise ValueError("weights must be finite and not negative; drop such pairs first")


def signed_embedding(
    graph: PairGraph, n_classes: int, random_state: RandomSource = 0
) -> FloatArray:
    """Place the items by the answers alone: leading eigenvectors of the centred signed graph.

        A_ij = Σ over answers of weight · (same − mean of same),   M = D^{-1/2} A D^{-1/2}

    with D = degree + mean degree, which keeps items of few pairs from forming eigenvectors of
    their own. Centring lets the classes lead however unbalanced the answers are. Columns are
    the eigenvectors of the largest eigenvalues (negative ones count as zero), times eigenvalue;
    shape (n_items, n_classes). Items without pairs are at the origin. ``random_state`` draws the
    start vector of the iteration alone: results differ by its tolerance only.

    >>> graph = PairGraph.from_answers([0, 2, 0, 1], [1, 3, 2, 3], [True, True, False, False])
    >>> np.sign(signed_embedding(graph, 1)[:, 0] / signed_embedding(graph, 1)[0, 0]).tolist()
    [1.0, 1.0, -1.0, -1.0]
    """
    embedding = np.zeros((graph.n_items, n_classes))
    weight, level = graph.answer_weight.astype(np.float64), graph.answer_level
    if (
        np.unique(level[weight > 0]).size < 2
    ):  # no answers, or all alike: items cannot be told apart
        return embedding
    first = graph.answer_start[:-1]
    degree = _item_sums(graph, np.add.reduceat(weight, first))
    scale = 1 / np.sqrt(degree + degree.mean())
    signed = centred_sums(graph) * scale[graph.left] * scale[graph.right]
    if not signed.any():  # every pair was answered as often one way as the other
        return embedding
    values, vectors = _largest_eigenpairs(graph, signed, n_classes, random_state)
    embedding[:, : values.size] = vectors * np.maximum(values, 0)
    return embedding


def centred_sums(graph: PairGraph) -> FloatArray:
    """Return Σ over the answers of weight · (score − mean score) for each edge, (n_edges,).

    The score of "same" is one and that of "different" zero; unsure answers have the mean.
    """
    weight, score = graph.answer_weight.astype(np.float64), graph.scale.scores[graph.answer_level]
    known = np.isfinite(score)
    mean = np.average(score[known], weights=weight[known]) if known.any() else 0.0
    centred = weight * np.where(known, score - mean, 0.0)
    return np.add.reduceat(centred, graph.answer_start[:-1])


def answer_matrix(graph: PairGraph) -> csr_array:
    """Return A (n_items, n_items), symmetric: the `centred_sums` of the pairs."""
    upper = csr_array((centred_sums(graph), (graph.left, graph.right)), shape=(graph.n_items,) * 2)
    both: csr_array = (upper + upper.T).tocsr()
    return both


def _item_sums(graph: PairGraph, edge_value: FloatArray) -> FloatArray:
    """Sum a value per edge (n_edges,) over the edges of each item, (n_items,)."""
    ends = (graph.left, graph.right)
    left, right = (np.bincount(end, edge_value, minlength=graph.n_items) for end in ends)
    return np.asarray(left + right, dtype=np.float64)


def _largest_eigenpairs(
    graph: PairGraph,
    edge_value: FloatArray,
    n_pairs: int,
    random_state: RandomSource,
) -> tuple[FloatArray, FloatArray]:
    """Largest eigenvalues, falling, and their vectors, of the symmetric matrix on the edges."""
    shape = (graph.n_items, graph.n_items)
    upper = csr_array((edge_value, (graph.left, graph.right)), shape=shape)
    matrix = (upper + upper.T).tocsr()
    if graph.n_items <= max(_DENSE_ITEMS, n_pairs + 1):
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        if not isinstance(random_state, np.random.RandomState):
            random_state = np.random.default_rng(random_state)
        start = random_state.standard_normal(graph.n_items)
        values, vectors = eigsh(matrix, k=n_pairs, which="LA", v0=start, tol=_NEAR)
    falling = np.argsort(-values)[:n_pairs]
    values, vectors = values[falling], vectors[:, falling]
    # An eigenvector has no sign of its own: let its largest entry be positive.
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None], axis=0)
    return values, vectors * np.where(largest < 0, -1.0, 1.0)


Floats = NDArray[np.floating]
Clamp = Mapping[int, int] | tuple[ArrayLike, ArrayLike]


class Labels(dict[int, int]):
    """Classes that items are said to have, {item: class}, each wrong with chance ``noise``.

    A wrong label is any other class alike. Without noise labels are certain, as in any other map.
    """

    def __init__(self, labels: Mapping[int, int] | None = None, noise: float = 0.0) -> None:
        super().__init__(labels or {})
        self.noise = noise

    def without(self, items: Iterable[int]) -> Labels:
        """Return the labels of all other items."""
        gone = set(items)
        return Labels({i: k for i, k in self.items() if i not in gone}, self.noise)

    def log_odds(self, n_classes: int) -> float:
        """Return the log-odds of the class that a label names against another one.

        >>> round(Labels(noise=0.1).log_odds(3), 3)  # log(.9 / .05)
        2.89
        """
        return float(np.log((1.0 - self.noise) * (n_classes - 1) / self.noise))


#: Positions of edges in a block, the entries of their factors and the logarithms taken off.
Merged = tuple[NDArray[np.intp], Floats, Floats]

#: Entries of S and of 1 − S below this are raised to it.
PROBABILITY_FLOOR = 1e-12
#: Messages on more edges than this are float32 if ``tol`` is no smaller than `COARSE`. They take
#: half the memory, 8 bytes an edge for K = 2, and half the time. Sums over edges are float64.
FEW_EDGES = 1 << 12
COARSE = 1e-4
#: Entries of a factor are at least e^(−reach) times the largest. A belief b = c · m that matters is
#: then above e^(−2 reach), and the type can hold it.
REACH = {np.dtype(np.float32): 36.0, np.dtype(np.float64): 300.0}
#: If ψ_on / ψ_off is smaller, rounding may leave nothing of it in ψ_off Σ c + (ψ_on − ψ_off) c.
SMALL = 1e-3
#: Factors are kept from sweep to sweep if those of all edges take no more than this.
KEPT_BYTES = 1 << 24


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The result of belief propagation.

    ``item`` (n_items, K) holds P(class | everything), ``log_item`` its logarithm, and ``sent`` the
    messages to the right end [0] and to the left end [1] of each edge, (2, K − 1, n_edges), as
    log-ratios to class 0. ``max_change`` is the largest change of the last sweep, of a probability
    in ``item`` or of a message; ``converged`` says that it fell below ``tol``.
    ``log_scale`` is Σ_i log Σ_y φ_i(y) Π m(y), the items' share of the Bethe log-likelihood.
    """

    item: FloatArray
    log_item: FloatArray
    sent: Floats
    log_scale: float
    converged: bool
    n_iter: int
    max_change: float

    def on_edges(self, edges: NDArray[np.intp]) -> Beliefs:
        """Return the same with the messages on some edges alone."""
        return replace(self, sent=self.sent[..., edges])

    def reordered(self, order: NDArray[np.intp]) -> Beliefs:
        """Return the same with class ``order[k]`` as number k, the messages too."""
        ratio = np.concatenate([np.zeros_like(self.sent[:, :1]), self.sent], axis=1)[:, order]
        item, log_item = self.item[:, order], self.log_item[:, order]
        return replace(self, item=item, log_item=log_item, sent=ratio[:, 1:] - ratio[:, :1])


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
    - ``S``: (K, K) or (n_groups, K, K), symmetric, ``S[y, y'] = P("same" | y, y')``; or the whole
      response table, (1 or n_groups, L, K, K), for answers of L levels.
    - ``messages``: ``sent`` of an earlier call on the same edges, to start from (left unchanged).
    - ``damping``: share of the old message, in [0, 1).
    - ``tol``: stop when neither a belief nor a message moved by more. Beliefs alone are not enough:
      two opposite messages can meet at an item, cancel there, and still have to travel on.
    - ``clamp``: known classes, ``{item: class}`` or ``(items, classes)``; `Labels` may be wrong.

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
    factors = Factors(graph, S, log_phi.shape[1], _precision(graph, S, tol))
    sent = _initial_messages(factors, messages)
    item, log_item, log_scale = _collected(graph, log_phi, sent)
    change, n_iter = np.inf, 0
    while n_iter < max_iter and change >= tol:
        n_iter += 1
        change = renew_messages(factors, item, sent, damping)
        before = item
        item, log_item, log_scale = _collected(graph, log_phi, sent)
        before -= item
        change = max(change, float(before.max(initial=0)), -float(before.min(initial=0)))
    return Beliefs(item, log_item, sent, log_scale, change < tol, n_iter, change)


def _collected(
    graph: PairGraph, log_phi: FloatArray, sent: Floats
) -> tuple[FloatArray, FloatArray, float]:
    """Return beliefs (n_items, K), their logarithms, and Σ_i log Σ_y φ_i(y) Π m(y)."""
    log_item = add_messages(log_phi.copy(order="K"), graph, sent)
    top = log_item.max(axis=1)
    log_item -= top[:, None]
    item = np.exp(log_item)
    total = item.sum(axis=1)
    item /= total[:, None]
    log_total = np.log(total)
    log_item -= log_total[:, None]
    return item, log_item, float(top.sum() + log_total.sum())


def normalise(log_weight: FloatArray) -> FloatArray:
    """Let exp of each row (n, K) sum to one, in place; return what was taken off, (n,).

    By hand, because scipy's ``logsumexp`` was measured to need far more temporary memory.
    """
    top = log_weight.max(axis=1)
    log_weight -= top[:, None]
    rest = np.log(np.exp(log_weight).sum(axis=1))
    log_weight -= rest[:, None]
    return np.asarray(top + rest)


def edge_statistics(graph: PairGraph, beliefs: Beliefs, S: ArrayLike) -> tuple[FloatArray, float]:
    """Return counts by level and the edges' share of `bethe_log_likelihood`, in one pass.

    The counts, (n_groups, L, K, K), are as in `expected_counts`, for every level.

    >>> graph = PairGraph.from_answers([0], [1], [True])
    >>> S = np.array([[0.9, 0.3], [0.3, 0.9]])
    >>> beliefs = propagate(graph, np.zeros((2, 2)), S)
    >>> counts, log_edges = edge_statistics(graph, beliefs, S)
    >>> counts[:, 1].round(3).tolist(), round(float(np.exp(beliefs.log_scale + log_edges)), 6)
    ([[[0.375, 0.125], [0.125, 0.375]]], 0.6)
    """
    return statistics(_factors_of(graph, beliefs, S), beliefs.item, beliefs.sent)


def statistics(factors: Factors, item: Floats, sent: Floats) -> tuple[FloatArray, float]:
    """Return `edge_statistics` of beliefs (n_items, K) and messages, under factors at hand."""
    K, n_groups, log_edges = factors.n_classes, factors.graph.n_groups, 0.0
    n_levels = factors.graph.n_levels
    counts = np.zeros((n_levels * n_groups, K, K))
    for block, cavity, log_total in _posterior_cavities(factors, item, sent):
        _add_counts(counts, factors, block, cavity)
        log_edges += log_total
    by_level = counts.reshape(n_groups, n_levels, K, K)
    return (by_level + by_level.swapaxes(2, 3)) / 2, log_edges


def expected_counts(
    graph: PairGraph, beliefs: Beliefs, S: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Count the classes behind the answers, as the M-step needs them: (N_same, N_different).

        N_q[r, y, y'] = Σ over answers q of group r of weight · P(y, y' | everything)

    Each is (n_groups, K, K), symmetrised, since left and right mean nothing. A free S is then
    re-estimated by N_same / (N_same + N_different). Levels count by what they mean as yes or no.

    >>> graph = PairGraph.from_answers([0, 0], [1, 1], [True, False])
    >>> S = np.array([[0.5, 0.5], [0.5, 0.5]])
    >>> same, different = expected_counts(graph, propagate(graph, np.zeros((2, 2)), S), S)
    >>> same.tolist()
    [[[0.25, 0.25], [0.25, 0.25]]]
    """
    counts, _ = edge_statistics(graph, beliefs, S)
    return (
        counts[:, graph.scale.same_levels].sum(axis=1),
        counts[:, graph.scale.different_levels].sum(axis=1),
    )


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
    blocks = _posterior_cavities(factors, beliefs.item, beliefs.sent)
    return beliefs.log_scale + sum(log_total for *_, log_total in blocks)


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
    for block, (left, right), _ in _posterior_cavities(factors, beliefs.item, beliefs.sent):
        posterior = left[:, None] * factors.matrices(factors.entries(block))
        posterior *= right
        yield block, posterior.transpose(2, 0, 1)


def answer_wrong_probability(
    graph: PairGraph, beliefs: Beliefs, S: ArrayLike, alike: ArrayLike | None = None
) -> FloatArray:
    """Posterior probability that each answer, in the order given, is wrong, shape (n,).

    P(y ≠ y' | everything) for the answer "same", P(y = y' | everything) for "different"; an unsure
    answer is never wrong. A self
    pair is of one class for certain, so there it is 0 or 1. ``alike`` (K, K) says which states are
    of one class where states are not classes.

    >>> graph = PairGraph.from_answers([0, 1, 2], [1, 0, 2], [True, False, False])
    >>> S = np.array([[0.9, 0.3], [0.3, 0.9]])
    >>> answer_wrong_probability(graph, propagate(graph, np.zeros((3, 2)), S), S).round(3).tolist()
    [0.7, 0.3, 1.0]
    """
    one_class = np.ones(graph.n_edges + 1)  # the last entry, index −1, is that of self pairs
    n_classes = beliefs.item.shape[1]
    same_class = np.eye(n_classes, dtype=bool) if alike is None else np.asarray(alike, dtype=bool)
    for block, posterior in edge_posteriors(graph, beliefs, S):
        one_class[block] = posterior[:, same_class].sum(axis=1)
    probability = np.minimum(one_class, 1.0)[graph.edge_of_answer]
    wrong: FloatArray = np.where(graph.same, 1 - probability, probability)
    return np.where(graph.unsure, 0.0, wrong)


def cavities(
    graph: PairGraph, beliefs: Beliefs, edges: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """P(class | everything but the answers on the pair) of both ends of some edges, (m, K) each.

    >>> graph = PairGraph.from_answers([0, 1], [1, 2], [True, False])
    >>> S = np.array([[0.9, 0.2], [0.2, 0.9]])
    >>> beliefs = propagate(graph, np.zeros((3, 2)), S, clamp={0: 1})
    >>> [end.round(3).tolist() for end in cavities(graph, beliefs, np.array([1]))]
    [[[0.182, 0.818]], [[0.5, 0.5]]]
    """
    both = []
    for end, received in ((graph.left, beliefs.sent[1]), (graph.right, beliefs.sent[0])):
        log_cavity = beliefs.log_item[end[edges]]
        log_cavity[:, 1:] -= received[:, edges].T
        normalise(log_cavity)
        both.append(np.exp(log_cavity))
    return both[0], both[1]


def renew_messages(factors: Factors, item: Floats, sent: Floats, damping: float = 0.0) -> float:
    """Renew all messages in place, from beliefs (n_items, K); return the largest change."""
    change = 0.0
    for block, cavity, room in _cavities(factors.graph, item, sent):
        new = factors.messages_from(block, cavity, out=room)
        new[:, 1:] /= new[:, :1]
        step = np.log(new[:, 1:], out=new[:, 1:])
        old = sent[..., block]
        step -= old
        step *= 1 - damping
        old += step
        change = max(change, float(step.max()), -float(step.min()))
    return change


def _cavities(
    graph: PairGraph, item: Floats, sent: Floats
) -> Iterator[tuple[slice, Floats, Floats]]:
    """Yield blocks of edges and b(y)/m(y) of the left [0] and right ends [1], (2, K, m), unscaled.

    The last array is room for as many numbers. The next block overwrites both.
    """
    by_class = np.ascontiguousarray(item.T, dtype=sent.dtype)
    K, work = len(by_class), np.empty((2, 0))
    for block in graph.blocks(K):
        size = 2 * K * (block.stop - block.start)
        if work.shape[1] < size:  # the first block is the longest
            work = np.empty((2, size), dtype=sent.dtype)
        cavity, room = (one[:size].reshape(2, K, -1) for one in work)
        for end, one in zip((graph.left, graph.right), cavity, strict=True):
            # Positions are in range: "wrap" is numpy's fastest way not to check them.
            by_class.take(end[block], axis=1, out=one, mode="wrap")
        cavity[:, 1:] /= np.exp(sent[::-1, :, block], out=room[:, 1:])
        yield block, cavity, room


def _posterior_cavities(
    factors: Factors, item: Floats, sent: Floats
) -> Iterator[tuple[slice, Floats, float]]:
    """Yield blocks, cavities (2, K, m) and the edges' share of the Bethe log-likelihood.

    Cavities are scaled such that P(y, y' | everything) = c(y) ψ(y, y') c'(y').
    """
    for block, cavity, room in _cavities(factors.graph, item, sent):
        scale = cavity.sum(axis=1)
        cavity /= scale[:, None]
        product = factors.messages_from(block, cavity[:1], out=room[:1])[0]
        product *= cavity[1]
        total = product.sum(axis=0)
        cavity[0] /= total
        logs = np.log(scale).sum(dtype=np.float64) + np.log(total).sum(dtype=np.float64)
        yield block, cavity, factors.log_scale(block) + float(logs)


def _add_counts(counts: FloatArray, factors: Factors, block: slice, cavity: Floats) -> None:
    """Add P(y, y' | everything) of a block by kind of answer, times weight, to (n_kinds, K, K).

    Over edges with one factor this is a matrix product, ψ(y, y') Σ_e c(y) c'(y'). If there are more
    than K² kinds of answers, their sums are taken for one (y, y') after the other.
    """
    graph, K, n_kinds = factors.graph, factors.n_classes, len(counts)
    if n_kinds > K * K:
        matrices, by_kind = (
            factors.matrices(factors.entries(block)),
            graph.evidence(block).T.tocsr(),
        )
        for y, left in enumerate(cavity[0]):
            for z, right in enumerate(cavity[1]):
                counts[:, y, z] += by_kind @ (matrices[y, z] * left * right)
        return
    merged, entries, _ = factors.merged(block)
    kind = graph.first_kind[block].copy()
    kind[merged] = -1
    for k, psi in enumerate(factors.matrices(factors.table).transpose(2, 0, 1)):
        left, right = cavity.take(np.flatnonzero(kind == k), axis=2)
        counts[k] += psi * (left @ right.T)
    if merged.size:
        weight = graph.evidence(merged + block.start).toarray().T
        left, right = cavity.take(merged, axis=2)
        size = max(1, (1 << 20) // K**2)
        for start in range(0, merged.size, size):
            some = slice(start, start + size)
            posterior = factors.matrices(entries[:, some]) * left[:, None, some]
            posterior *= right[:, some]
            sums = weight[:, some] @ posterior.reshape(K * K, -1).T
            counts += sums.reshape(counts.shape)


class Factors:
    """The merged factors ψ_e(y, y') of a graph under S, scaled to maximum one.

    ``S`` is (K, K), or (n_groups, K, K) with one matrix per group, where S[y, y'] is P("same" |
    y, y'), or a response table (1 or n_groups, L, K, K). Every matrix is symmetric, so the
    orientation of an edge does not matter. A factor is kept as its entries: K · K numbers, or two
    if all matrices have two levels, one value on the diagonal and one beside it. An edge with one
    answer of weight one has its factor in a small ``table``; in most data nearly all edges are
    such, and only the rest pays for exponentials.
    """

    def __init__(self, graph: PairGraph, S: ArrayLike, n_classes: int, dtype: DTypeLike) -> None:
        self.graph, self.n_classes, self.dtype = graph, n_classes, np.dtype(dtype)
        response = _checked_response(S, graph, n_classes)
        self.two_levels = n_classes > 2 and _has_two_levels(response)
        by_kind = response.reshape(-1, n_classes**2)
        entries = by_kind[:, :2] if self.two_levels else by_kind
        # By kind of answer, L·group + level: (n_entries, n_kinds) and (n_kinds,).
        log_table = np.log(np.maximum(entries, PROBABILITY_FLOOR)).T
        self.table, self.table_log_scale = self._scaled(log_table)
        self.log_table = np.ascontiguousarray(log_table, dtype=self.dtype)
        size = len(self.table) * self.dtype.itemsize * graph.n_edges
        self._keep = size <= KEPT_BYTES
        self._entries: dict[int, Floats] = {}
        self._merged: dict[int, Merged] = {}
        self._work: Floats = np.empty(0, dtype=self.dtype)

    def messages_from(self, block: slice, cavity: Floats, out: Floats) -> Floats:
        """Fill ``out`` with messages Σ_y c(y) ψ_e(y, y') from cavities (n, K, m), and return it.

        Factors of two levels add a constant to a multiple of the cavity, in O(K):

            Σ_y c(y) ψ(y, y') = ψ_off Σ_y c(y) + (ψ_on − ψ_off) c(y').

        If ψ_on is far smaller this may cancel, so it is kept above what it cannot be below. With
        other factors, single answers of one group take one matrix product, S c + (1 − S) c', in
        which c is zero where the answer is "different" and c' where it is "same". For two classes
        that is slower than a factor for each edge.
        """
        if self.two_levels:
            on, off = self.entries(block)
            total = cavity.sum(axis=1, keepdims=True)
            np.multiply(cavity, on - off, out=out)
            out += off * total
            if float(on.min()) < SMALL:
                np.maximum(out, np.minimum(on, off) * total, out=out)
            return out
        K, m = cavity.shape[1:]
        rows, entries, _ = self.merged(block)
        plain = self.graph.n_groups == 1 and self.graph.n_levels == 2
        if K == 2 or not plain or rows.size > m // 8:
            return self._messages_by(self.matrices(self.entries(block)), cavity, out)
        apart = self._work_array(len(cavity), 2 * K, m)
        np.multiply(cavity, self.graph.first_kind[block].astype(self.dtype), out=apart[:, K:])
        np.subtract(cavity, apart[:, K:], out=apart[:, :K])
        np.matmul(self.matrices(self.table).transpose(0, 2, 1).reshape(K, -1), apart, out=out)
        some = cavity.take(rows, axis=2)
        out[..., rows] = self._messages_by(self.matrices(entries), some, np.empty_like(some))
        return out

    def _messages_by(self, matrices: Floats, cavity: Floats, out: Floats) -> Floats:
        """Fill ``out`` with Σ_y c(y) ψ(y, y') from cavities (n, K, m) and factors (K, K, m)."""
        room = self._work_array(*cavity.shape)
        np.multiply(cavity[:, :1], matrices[0], out=out)
        for y in range(1, self.n_classes):
            out += np.multiply(cavity[:, y : y + 1], matrices[y], out=room)
        return out

    def _work_array(self, *shape: int) -> Floats:
        """Return an array to work in: new memory for every block takes longer than the work."""
        size = int(np.prod(shape))
        if self._work.size < size:
            self._work = np.empty(size, dtype=self.dtype)
        return self._work[:size].reshape(shape)

    def matrices(self, entries: Floats) -> Floats:
        """Return whole matrices (K, K, m) from their entries (n_entries, m)."""
        K = self.n_classes
        if self.two_levels:
            return entries[1 - np.eye(K, dtype=np.intp)]
        return entries.reshape(K, K, -1)

    def entries(self, block: slice) -> Floats:
        """Return the entries of the factors of the edges of a block, (n_entries, m)."""
        if block.start in self._entries:
            return self._entries[block.start]
        rows, merged, _ = self.merged(block)
        entries = merged
        if rows.size < block.stop - block.start:
            entries = self.table.take(self.graph.first_kind[block], axis=1, mode="wrap")
            entries[:, rows] = merged
        if self._keep:
            self._entries[block.start] = entries
        return entries

    def merged(self, block: slice) -> Merged:
        """Return the entries of edges with several answers, or with one of another weight than one.

        With their positions in the block, (m,), and the logarithms taken off, (m,).
        """
        if block.start in self._merged:
            return self._merged[block.start]
        compound = self.graph.compound_edges
        edges = compound[slice(*np.searchsorted(compound, (block.start, block.stop)))]
        logs = np.empty((len(self.table), 0), dtype=self.dtype)
        if edges.size:
            logs = np.ascontiguousarray((self.graph.evidence(edges) @ self.log_table.T).T)
        merged = edges - block.start, *self._scaled(logs)
        if self._keep:
            self._merged[block.start] = merged
        return merged

    def log_scale(self, block: slice) -> float:
        """Return the sum of the logarithms taken off the factors of a block."""
        log_scale = self.table_log_scale.take(self.graph.first_kind[block])
        rows, _, log_scale[rows] = self.merged(block)
        return float(log_scale.sum())

    def _scaled(self, log_entries: Floats) -> tuple[Floats, Floats]:
        """Return entries (n_entries, m) of maximum one, and the logarithms taken off, (m,)."""
        log_scale = log_entries.max(axis=0)
        relative = np.maximum(log_entries - log_scale, -REACH[self.dtype])
        return np.exp(relative, out=relative).astype(self.dtype, order="C"), log_scale


def add_messages(log_item: FloatArray, graph: PairGraph, sent: Floats) -> FloatArray:
    """Add the messages (2, K − 1, n_edges) to the rows of their items, (n_items, K), in place."""
    size = max(graph.n_items, 1 << 20)  # bounds the copy in float64
    for start in range(0, graph.n_edges, size):
        some = slice(start, start + size)
        for end, received in ((graph.right, sent[0]), (graph.left, sent[1])):
            sum_by_item = _sum_by(end[some], graph.n_items)
            for k, row in enumerate(received[:, some], start=1):
                log_item[:, k] += sum_by_item(row)
    return log_item


def _sum_by(item: NDArray[np.int32], n_items: int) -> Callable[[Floats], FloatArray]:
    """Return what sums values by item: from (m,) to (n_items,).

    A sparse matrix of one column, with values as entries and their items as rows, takes half the
    time of ``np.bincount``, which converts the items to another type; but it takes a while to make.
    """
    if item.size <= FEW_EDGES:
        return lambda value: np.asarray(np.bincount(item, value, n_items), dtype=np.float64)
    column: Any = csc_array((item, item, np.array([0, item.size], np.int32)), shape=(n_items, 1))

    def column_sums(value: Floats) -> FloatArray:
        column.data = value
        return np.asarray(column @ np.ones(1))

    return column_sums


def _factors_of(graph: PairGraph, beliefs: Beliefs, S: ArrayLike) -> Factors:
    """Return the factors in the precision of the messages."""
    return Factors(graph, S, beliefs.item.shape[1], beliefs.sent.dtype)


def _precision(graph: PairGraph, S: ArrayLike, tol: float) -> np.dtype[np.floating]:
    """Return float32 if edges are many, the tolerance coarse, and no edge holds too many nats."""
    chance, single = np.asarray(S, dtype=np.float64), np.dtype(np.float32)
    least = float(chance.min() if chance.ndim == 4 else np.minimum(chance, 1 - chance).min())
    few_nats = -np.log(max(least, PROBABILITY_FLOOR)) * graph.largest_weight <= REACH[single]
    narrow = graph.n_edges > FEW_EDGES and tol >= COARSE and few_nats
    return single if narrow else np.dtype(np.float64)


def _initial_messages(factors: Factors, messages: Floats | None) -> Floats:
    """Copy the messages to start from, or say nothing on every edge."""
    shape = (2, factors.n_classes - 1, factors.graph.n_edges)
    if messages is None:
        return np.zeros(shape, dtype=factors.dtype)
    largest = max(float(messages.max(initial=0)), -float(messages.min(initial=0)))
    if messages.shape != shape or not largest < np.inf:
        raise ValueError(
            f"messages must be finite and of shape {shape}, got shape {messages.shape}; "
            "they can only come from the same graph and number of classes"
        )
    sent = np.array(messages, dtype=factors.dtype)
    if largest > REACH[factors.dtype]:
        np.clip(sent, -REACH[factors.dtype], REACH[factors.dtype], out=sent)
    return sent


def _checked_potential(
    graph: PairGraph, log_potential: ArrayLike, clamp: Clamp | None
) -> FloatArray:
    """Normalise the rows of log φ, (n_items, K), with what labels say of the clamped ones."""
    log_phi = np.array(log_potential, dtype=np.float64, order="F")
    if log_phi.ndim != 2 or log_phi.shape[0] != graph.n_items or log_phi.shape[1] < 2:
        raise ValueError(
            f"log_potential must be (n_items={graph.n_items}, K >= 2), got shape {log_phi.shape}"
        )
    if clamp is not None:
        known = (list(clamp), list(clamp.values())) if isinstance(clamp, Mapping) else clamp
        items = checked_positions("clamped items", known[0], graph.n_items)
        classes = checked_positions("clamped classes", known[1], log_phi.shape[1])
        if isinstance(clamp, Labels) and clamp.noise > 0:
            log_phi[items, classes] += clamp.log_odds(log_phi.shape[1])
        else:
            log_phi[items] = -np.inf
            log_phi[items, classes] = 0
    if not np.all(log_phi < np.inf) or not np.all(log_phi.max(axis=1) > -np.inf):
        raise ValueError(
            "log_potential needs a finite entry in every row and neither NaN nor +inf; "
            "only -inf is allowed, for a class that is ruled out"
        )
    normalise(log_phi)
    return log_phi


def _checked_response(S: ArrayLike, graph: PairGraph, n_classes: int) -> FloatArray:
    """Bring S to (n_groups, L, K, K); refuse wrong shapes, values outside [0, 1] and asymmetry."""
    given, n_groups, L = np.asarray(S, dtype=np.float64), graph.n_groups, graph.n_levels
    one = (n_classes, n_classes)
    expected: list[tuple[int, ...]] = [(1, L, *one), (n_groups, L, *one)]
    if L == 2:
        expected = [one, (n_groups, *one), *expected]
    if given.shape not in expected:
        shapes = " or ".join(map(str, dict.fromkeys(expected)))
        raise ValueError(f"S must be {shapes}, got shape {given.shape}")
    if not np.all((given >= 0) & (given <= 1)):
        raise ValueError("S holds probabilities of answers: found values outside [0, 1]")
    if not np.abs(given - given.swapaxes(-1, -2)).max() <= 1e-9:
        raise ValueError("S must be symmetric: left and right have no meaning; use (S + S.T) / 2")
    if given.ndim < 4:
        same = np.broadcast_to(given, (n_groups, *one))
        return np.stack([1 - same, same], axis=1)
    return np.broadcast_to(given, (n_groups, L, *one))


def _has_two_levels(response: FloatArray) -> bool:
    """Return whether each matrix (…, K, K) has one value on its diagonal and one beside it."""
    on = np.eye(response.shape[-1], dtype=bool)
    return all(np.all(part == part[..., :1]) for part in (response[..., on], response[..., ~on]))
