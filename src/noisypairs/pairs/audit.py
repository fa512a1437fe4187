"""What is worth knowing of pairs before any learning.

The report (`Audit`) only counts: contradictions and broken triangles are evidence of noise, not
errors.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from noisypairs.pairs.counts import pair_ends, pair_keys, weights_of

if TYPE_CHECKING:
    from noisypairs.pairs.pairs import Pairs

IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.floating[Any]]

MAX_WEDGES = 50_000_000
"""Beyond so many two-step paths triangles are estimated from a sample, not counted."""

SAMPLED_WEDGES = 1_000_000
"""Size of that sample; the standard error of a share p is √(p(1−p))/1000."""

WEDGES_AT_ONCE = 4_000_000  # bounds the memory of exact counting to about 100 MB


@dataclass(frozen=True)
class Summary:
    """Smallest, median, mean and largest of some counts.

    >>> Summary.of(np.array([1, 2, 6]))
    Summary(min=1, median=2.0, mean=3.0, max=6)
    """

    min: int
    median: float
    mean: float
    max: int

    @classmethod
    def of(cls, counts: NDArray[Any]) -> Summary | None:
        """Summarise counts, shape (n,); None when there are none."""
        if counts.size == 0:
            return None
        middle = float(np.median(counts)), float(counts.mean())
        return cls(int(counts.min()), *middle, int(counts.max()))

    def __str__(self) -> str:
        return f"min {self.min}, median {self.median:g}, mean {self.mean:.4g}, max {self.max}"


@dataclass(frozen=True)
class Triangles:
    """Closed triangles of distinct pairs, and how many no classes can explain.

    A triangle is `broken` when exactly two of its answers are "same": a=b, b=c, a≠c. Both numbers
    are exact unless `sampled` is true; then they are unbiased estimates.
    """

    closed: int
    broken: int
    sampled: bool = False

    @property
    def broken_share(self) -> float | None:
        """Share of the closed triangles that are broken; None without triangles."""
        return self.broken / self.closed if self.closed else None


@dataclass(frozen=True)
class Audit:
    """Structured report on pairs; `str()` reads as text, `to_dict()` as plain JSON values.

    `same_share` is by weight if there are weights. A repeat is an unordered pair of different items
    asked more than once: `repeated_pairs` counts such pairs, `repeated_answers` the answers beyond
    the first, `contradictions` the pairs answered both ways. `isolated_items` were compared with no
    other item; `components` counts each of them as one. `degree` is the number of answers per
    item, self pairs aside. `unsure` and `unknown` count what `Pairs.from_frame` dropped. `copies`
    are answers that the same annotator gave to the same pair before (none where annotators are not
    known), `copies_removed` those that were left out already.
    """

    n_items: int
    n_pairs: int
    same_share: float | None
    self_pairs: int
    repeated_pairs: int
    repeated_answers: int
    contradictions: int
    isolated_items: int
    components: int
    largest_component: int
    degree: Summary | None
    triangles: Triangles
    n_annotators: int
    answers_per_annotator: Summary | None
    unsure: int = 0
    unknown: int = 0
    copies: int = 0
    copies_removed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return nested dictionaries of plain numbers, ready for JSON."""
        shares = {"broken_share": self.triangles.broken_share}
        return asdict(self) | {"triangles": asdict(self.triangles) | shares}

    def __str__(self) -> str:
        shape = self.triangles
        about = "about " if shape.sampled else ""
        share = f" ({shape.broken_share:.1%})" if shape.broken_share is not None else ""
        rows = {
            "items": f"{self.n_items} ({self.isolated_items} isolated)",
            "pairs": str(self.n_pairs),
            "answered same": "no answers" if self.same_share is None else f"{self.same_share:.1%}",
            "self pairs": str(self.self_pairs),
            "repeats": f"{self.repeated_pairs} pairs asked again, {self.repeated_answers} answers",
            "contradictions": f"{self.contradictions} pairs answered both ways",
            "components": f"{self.components}, largest {self.largest_component} items",
            "answers per item": "no items" if self.degree is None else str(self.degree),
            "triangles": f"{about}{shape.closed} closed, {about}{shape.broken} broken{share}",
        }
        if self.answers_per_annotator is not None:
            rows["annotators"] = f"{self.n_annotators}; answers each: {self.answers_per_annotator}"
        if self.copies or self.copies_removed:
            rows["copies"] = f"{self.copies} among these answers, {self.copies_removed} left out"
        if self.unsure or self.unknown:
            rows["dropped"] = f"{self.unsure} unsure answers, {self.unknown} with unknown items"
        return "\n".join(f"{label:<17} {value}" for label, value in rows.items())


def audit_pairs(pairs: Pairs) -> Audit:
    """Count what `Audit` reports, of answers of yes and no.

    >>> from noisypairs import Pairs
    >>> report = audit_pairs(Pairs([0, 1, 0], [1, 2, 2], [1, 1, 0], n_items=4))
    >>> report.triangles, report.isolated_items
    (Triangles(closed=1, broken=1, sampled=False), 1)
    """
    n_items, mass = pairs.n_items, weights_of(pairs)
    proper = pairs.left != pairs.right
    first, second, answer = pairs.left[proper], pairs.right[proper], pairs.same[proper]
    low, high, n_same, n_answers, vote = _distinct(first, second, answer, n_items, mass[proper])
    degree = np.bincount(first, minlength=n_items) + np.bincount(second, minlength=n_items)
    n_components, largest = _components(low, high, n_items)
    who = np.zeros(0, np.int32) if pairs.annotator is None else pairs.annotator
    per_annotator = np.unique(who, return_counts=True)[1]
    decided = vote != 0
    return Audit(
        n_items=n_items,
        n_pairs=pairs.n_pairs,
        same_share=float(mass[pairs.same].sum() / mass.sum()) if mass.size else None,
        self_pairs=int(np.count_nonzero(~proper)),
        repeated_pairs=int(np.count_nonzero(n_answers > 1)),
        repeated_answers=int((n_answers - 1).sum()),
        contradictions=int(np.count_nonzero((n_same > 0) & (n_same < n_answers))),
        isolated_items=int(np.count_nonzero(degree == 0)),
        components=n_components,
        largest_component=largest,
        degree=Summary.of(degree),
        triangles=count_triangles(low[decided], high[decided], vote[decided] > 0, n_items),
        n_annotators=int(per_annotator.size),
        answers_per_annotator=Summary.of(per_annotator),
        unsure=pairs.dropped.get("unsure", 0),
        unknown=pairs.dropped.get("unknown", 0),
        copies=pairs.n_pairs - pairs.without_copies().n_pairs if who.size else 0,
        copies_removed=pairs.dropped.get("copies", 0),
    )


def _distinct(
    first: IntArray, second: IntArray, same: BoolArray, n_items: int, weight: FloatArray
) -> tuple[IntArray, IntArray, IntArray, IntArray, FloatArray]:
    """Merge repeats: per unordered pair its ends low < high, "same" count, count, signed weight."""
    distinct, group = np.unique(pair_keys(first, second, n_items), return_inverse=True)
    size = distinct.size
    n_same = np.bincount(group[same], minlength=size)
    n_answers = np.bincount(group, minlength=size)
    signed = np.where(same, weight, -weight)
    vote = np.bincount(group, weights=signed, minlength=size).astype(np.float64)
    low, high = pair_ends(distinct, n_items)
    return low, high, n_same, n_answers, vote


def _components(low: IntArray, high: IntArray, n_items: int) -> tuple[int, int]:
    """Return the number of connected components, isolated items included, and the largest size."""
    if n_items == 0:
        return 0, 0
    graph = csr_array((np.ones(low.size, np.int8), (low, high)), shape=(n_items, n_items))
    count, member = connected_components(graph, directed=False)
    return int(count), int(np.bincount(member).max())


def count_triangles(
    low: IntArray, high: IntArray, same: BoolArray, n_items: int, max_wedges: int = MAX_WEDGES
) -> Triangles:
    """Count closed and broken triangles among distinct pairs low < high, each given once.

    Each edge points from the item of lower to that of higher degree, so that every triangle holds
    exactly one path u → v → w closed by u → w, and no item has more than √(2m) edges out. The
    paths number Σ_v in(v)·out(v); up to `max_wedges` of them are counted with sparse products,
    beyond that `SAMPLED_WEDGES` are drawn uniformly (the seed is fixed: same pairs, same audit).

    >>> count_triangles(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([True, True, False]), 3)
    Triangles(closed=1, broken=1, sampled=False)
    """
    degree = np.bincount(low, minlength=n_items) + np.bincount(high, minlength=n_items)
    rank = np.empty(n_items, np.int64)
    rank[np.argsort(degree, kind="stable")] = np.arange(n_items)
    tail, head = np.minimum(rank[low], rank[high]), np.maximum(rank[low], rank[high])
    shape = (n_items, n_items)
    edges = csr_array((np.ones(low.size, np.int64), (tail, head)), shape=shape)
    alike = csr_array((same.astype(np.int64), (tail, head)), shape=shape)
    out = np.bincount(tail, minlength=n_items)
    wedges = int(np.bincount(head, weights=out[head]).sum())
    if wedges <= max_wedges:
        return _count(edges, alike, out)
    return _estimate(tail, head, same, n_items, wedges)


def _count(edges: csr_array, alike: csr_array, out: IntArray) -> Triangles:
    """Exact counts, Σ E∘(EE) and those with one "different", in blocks of rows."""
    different = edges - alike
    alike.eliminate_zeros()
    different.eliminate_zeros()
    # Paths that start in each row: the size of that row of the product before merging.
    steps = np.cumsum(edges @ out)
    block = steps // WEDGES_AT_ONCE
    cuts = np.flatnonzero(np.diff(block, prepend=-1, append=-2))
    closed = broken = 0
    for start, stop in pairwise(cuts.tolist()):
        e, s, d = (matrix[start:stop] for matrix in (edges, alike, different))
        closed += int(e.multiply(e @ edges).sum())
        both_same = s @ alike
        one_same = s @ different + d @ alike
        broken += int(d.multiply(both_same).sum() + s.multiply(one_same).sum())
    return Triangles(closed, broken)


def _estimate(
    tail: IntArray, head: IntArray, same: BoolArray, n_items: int, wedges: int
) -> Triangles:
    """Estimate both counts from paths u → v → w drawn uniformly with replacement."""
    rng = np.random.default_rng(0)
    key = tail * n_items + head
    order = np.argsort(key)
    key, tail, head, same = key[order], tail[order], head[order], same[order]
    out = np.bincount(tail, minlength=n_items)
    first_out = np.cumsum(out) - out
    # A path is its first edge (drawn in proportion to the ways on) and one edge out of its head.
    ways_on = out[head]
    one = np.searchsorted(
        np.cumsum(ways_on), rng.integers(wedges, size=SAMPLED_WEDGES), side="right"
    )
    two = first_out[head[one]] + rng.integers(ways_on[one])
    closing = tail[one] * n_items + head[two]
    three = np.minimum(np.searchsorted(key, closing), key.size - 1)
    closed = key[three] == closing
    n_same = same[one].astype(np.int64) + same[two] + same[three]
    scale = wedges / SAMPLED_WEDGES
    return Triangles(
        round(np.count_nonzero(closed) * scale),
        round(np.count_nonzero(closed & (n_same == 2)) * scale),
        sampled=True,
    )
