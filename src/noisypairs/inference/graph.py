"""The pair graph: which items were compared, and all the answers on each pair, in flat arrays.

Pairs in any order and either orientation, asked once or often, become one edge per unordered pair
of items. What the edges alone say about the items is `signed_embedding`; what they say
together with the items' own probabilities is `noisypairs.inference.propagation`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
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
