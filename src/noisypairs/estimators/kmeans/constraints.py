"""Answers as constraints: what they demand of a labelling, and whether two classes can obey.

All answers on one pair of items are merged into a signed strength J_ij = (weight of "same") −
(weight of "different"): its sign is the majority, its size what breaking that majority costs. A
labelling y in 0..K−1 breaks

    V(y) = Σ_{i<j} |J_ij| [ (y_i = y_j) ≠ (J_ij > 0) ].

Whether V can be zero is easy for K = 2 (a component of the graph has two labellings or none) and
NP-complete for K ≥ 3 (graph colouring). Labellings of small V are found in `labelling`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from noisypairs.estimators.kmeans.components import components
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import pair_ends, pair_keys
from noisypairs.pairs.pairs import keys_of

Array = NDArray[np.float64]
Labelling = NDArray[np.intp]

TIE = 1e-6
"""Strengths and gains below this share of the largest strength count as zero (weights are
float32)."""


@dataclass(frozen=True, eq=False)
class Constraints:
    """The merged answers: one edge per unordered pair of items whose votes do not cancel.

    ``left < right``, sorted, and ``strength`` = J, shape (n_edges,); ``n_contradictory`` counts the
    pairs of items that were answered both ways, ties included.

    >>> pairs = Pairs([0, 1, 0, 2, 3], [1, 0, 1, 1, 3], [True, True, False, False, False])
    >>> rules = Constraints.from_pairs(pairs)
    >>> rules.left, rules.right, rules.strength, rules.n_contradictory
    (array([0, 1]), array([1, 2]), array([ 1., -1.]), 1)
    """

    n_items: int
    left: Labelling
    right: Labelling
    strength: Array
    n_contradictory: int

    @classmethod
    def from_pairs(cls, pairs: Pairs) -> Constraints:
        """Merge repeats by weight; pairs of an item with itself demand nothing and are left out."""
        pairs = pairs.without_self_pairs()
        weight = pairs.weights
        edges, edge = np.unique(keys_of(pairs), return_inverse=True)
        same = np.bincount(edge, np.where(pairs.same, weight, 0.0), edges.size)
        different = np.bincount(edge, np.where(pairs.same, 0.0, weight), edges.size)
        strength = same - different
        kept = np.abs(strength) > TIE * np.maximum(same, different)
        left, right = pair_ends(edges[kept], pairs.n_items)
        return cls(
            n_items=pairs.n_items,
            left=left,
            right=right,
            strength=strength[kept],
            n_contradictory=int(np.count_nonzero((same > 0) & (different > 0))),
        )

    @cached_property
    def matrix(self) -> csr_array[Any]:
        """J, shape (n_items, n_items), symmetric, no diagonal."""
        ends = np.concatenate([self.left, self.right]), np.concatenate([self.right, self.left])
        values = np.concatenate([self.strength, self.strength])
        return csr_array(coo_array((values, ends), shape=(self.n_items, self.n_items)))

    @cached_property
    def component(self) -> Labelling:
        """Connected component of each item in the graph of all edges, shape (n_items,)."""
        return components(self.left, self.right, self.n_items)

    @cached_property
    def blocks(self) -> Labelling:
        """The `closure` of each item, shape (n_items,)."""
        return closure(self)

    @cached_property
    def coloured(self) -> tuple[Labelling, NDArray[np.bool_]]:
        """The `two_colouring`, and where it fails."""
        return two_colouring(self)

    def broken(self, y: Labelling) -> NDArray[np.bool_]:
        """Return which edges the labelling breaks, shape (n_edges,)."""
        mask: NDArray[np.bool_] = (y[self.left] == y[self.right]) != (self.strength > 0)
        return mask

    def violation(self, y: Labelling) -> float:
        """Return V(y): the strength of all broken edges together."""
        return float(np.abs(self.strength[self.broken(y)]).sum())

    def in_components_of(self, edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the items of components with at least one of these edges, shape (n_items,)."""
        hit = np.zeros(self.n_items, dtype=bool)
        hit[self.component[self.left[edges]]] = True
        mask: NDArray[np.bool_] = hit[self.component]
        return mask

    def only(self, edges: NDArray[np.bool_]) -> Constraints:
        """Return these edges among all items."""
        left, right = self.left[edges], self.right[edges]
        return Constraints(self.n_items, left, right, self.strength[edges], 0)

    def part(self, items: Labelling) -> Constraints:
        """Return the constraints among these items alone, renumbered in the order given."""
        place = np.full(self.n_items, -1, dtype=np.intp)
        place[items] = np.arange(items.size)
        inside = (place[self.left] >= 0) & (place[self.right] >= 0)
        ends = place[self.left[inside]], place[self.right[inside]]
        return Constraints(items.size, *ends, self.strength[inside], 0)

    def between(self, block: Labelling) -> Constraints:
        """Return the constraints between blocks 0..B−1 of items; strengths add up."""
        size = int(block.max(initial=-1)) + 1
        first, second = block[self.left], block[self.right]
        key = pair_keys(first, second, size)
        keys, edge = np.unique(key[first != second], return_inverse=True)
        strength = np.bincount(edge, self.strength[first != second], keys.size).astype(float)
        return Constraints(size, *pair_ends(keys, size), strength, 0)


def two_colouring(rules: Constraints) -> tuple[Labelling, NDArray[np.bool_]]:
    """Return a labelling in {0, 1} that breaks nothing where that is possible, and where it is not.

    Take two copies of each item, (i, 0) and (i, 1); "same" joins equal copies, "different" crosses
    over. A component of the items can be satisfied iff its two sheets are not joined, and then the
    sheets are its only two labellings. Returns y and the mask of items that cannot be satisfied,
    shapes (n_items,).

    >>> path = Constraints.from_pairs(Pairs([0, 1, 3, 4, 3], [1, 2, 4, 5, 5], [0, 1, 0, 0, 0]))
    >>> two_colouring(path)[0][:3], two_colouring(path)[1]
    (array([0, 1, 1]), array([False, False, False,  True,  True,  True]))
    """
    n, cross = rules.n_items, rules.n_items * (rules.strength < 0)
    left = np.concatenate([rules.left, rules.left + n])
    right = np.concatenate([rules.right + cross, rules.right + n - cross])
    sheet = components(left, right, 2 * n)
    _, root = np.unique(rules.component, return_index=True)
    y = (sheet[:n] != sheet[root[rules.component]]).astype(np.intp)
    return y, sheet[:n] == sheet[n:]


def closure(rules: Constraints) -> Labelling:
    """Return the block of each item: items joined by must-links, as long as none contradicts.

    In components where a "different" answer falls inside a block, every item is a block of its
    own: with wrong answers the closure would soon hold everything together.

    >>> chain = Pairs([0, 1, 3, 4, 3], [1, 2, 4, 5, 5], [1, 0, 1, 1, 0])
    >>> closure(Constraints.from_pairs(chain))
    array([0, 0, 1, 2, 3, 4])
    """
    must = rules.strength > 0
    block = components(rules.left[must], rules.right[must], rules.n_items)
    contradicted = rules.in_components_of(~must & (block[rules.left] == block[rules.right]))
    block = np.where(contradicted, block.size + np.arange(block.size), block)
    return np.asarray(np.unique(block, return_inverse=True)[1], dtype=np.intp)
