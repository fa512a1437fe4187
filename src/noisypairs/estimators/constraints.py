"""Answers as constraints: what they demand of a labelling, and labellings that break few of them.

All answers on one pair of items are merged into a signed strength J_ij = (weight of "same") −
(weight of "different"): its sign is the majority, its size what breaking that majority costs. A
labelling y in 0..K−1 breaks

    V(y) = Σ_{i<j} |J_ij| [ (y_i = y_j) ≠ (J_ij > 0) ].

Whether V can be zero is easy for K = 2 (a component of the graph has two labellings or none) and
NP-complete for K ≥ 3 (graph colouring). The least V is NP-hard for every K (for K = 2 it is
max-cut). So two classes are settled exactly where the answers agree with each other, and a search
settles the rest: annealing, then moves until none of a single item lowers V.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import pair_ends, pair_keys, weights_of
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
        weight = weights_of(pairs)
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


def components(left: Labelling, right: Labelling, size: int) -> Labelling:
    """Return the connected component of each node of a graph, numbered by their first nodes.

    >>> components(np.array([0, 3]), np.array([2, 4]), 5)
    array([0, 1, 0, 2, 2])
    """
    graph = coo_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)


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


_SWEEPS = 100  # of one annealing run, hot to cold
_MOVED_PER_SWEEP = 0.4  # not all at once: neighbours that move together undo each other's gain
_MENDABLE = 60  # broken edges worth mending one by one, and attempts at it
_ANNEALING_WORK = 500_000  # edges over all runs: small graphs are given several


def fewest_violations(
    rules: Constraints, n_classes: int, rng: np.random.Generator, guess: Labelling | None = None
) -> Labelling:
    """Return a labelling that breaks little: nothing where two classes suffice, else by search.

    Exact for K = 2 on every component whose answers agree with each other. For K > 2 the must-link
    blocks of the rest are labelled first, and taken apart only where that breaks an answer.
    ``guess`` is where the search may start, shape (n_items,).

    >>> from noisypairs import Pairs
    >>> triangle = Constraints.from_pairs(Pairs([0, 1, 0], [1, 2, 2], [False, False, False]))
    >>> rng = np.random.default_rng(0)
    >>> [triangle.violation(fewest_violations(triangle, K, rng)) for K in (2, 3)]
    [1.0, 0.0]
    """
    y, odd = rules.coloured
    y = y.copy()
    if guess is not None:
        y = np.where(odd, guess, y)
    if n_classes > 2 and odd.any():
        where = np.flatnonzero(odd)
        block = np.unique(rules.blocks[where], return_inverse=True)[1]
        start = _majority(y[where], block, n_classes)
        y[where] = search(rules.part(where).between(block), n_classes, rng, start)[block]
        odd = rules.in_components_of(rules.broken(y))
    if odd.any():
        where = np.flatnonzero(odd)
        y[where] = search(rules.part(where), n_classes, rng, y[where])
    return y


def search(
    rules: Constraints, n_classes: int, rng: np.random.Generator, start: Labelling
) -> Labelling:
    """Return the best labelling found from a start and by annealing, component by component.

    Every other run is hot, from nowhere; the rest warm up the best labelling so far. Each ends in
    `descend`. Stops at the first labelling that breaks nothing.
    """
    idle = np.zeros((rules.n_items, n_classes))
    runs = int(np.clip(_ANNEALING_WORK // max(rules.left.size, 1), 2, 10))
    best = mend(rules, descend(rules.matrix, start, idle), n_classes, rng)
    for run in range(runs):
        if not rules.broken(best).any():
            break
        warm = run % 2 == 0
        first = best if warm else rng.integers(n_classes, size=rules.n_items)
        cooled = _anneal(rules.matrix, first, n_classes, 0.3 if warm else 1.0, rng)
        best = better_parts(rules, best, descend(rules.matrix, cooled, idle), idle)
        best = mend(rules, best, n_classes, rng)
    return best


def better_parts(rules: Constraints, one: Labelling, other: Labelling, cost: Array) -> Labelling:
    """Return for each component the labelling of the two that is lower in (V, cost).

    >>> from noisypairs import Pairs
    >>> rules = Constraints.from_pairs(Pairs([0, 2], [1, 3], [True, True]))
    >>> better_parts(rules, np.array([0, 0, 0, 1]), np.array([0, 1, 1, 1]), np.zeros((4, 2)))
    array([0, 0, 1, 1])
    """
    items, n, weight = np.arange(one.size), one.size, np.abs(rules.strength)
    where = rules.component[rules.left]
    broken = [np.bincount(where, weight * rules.broken(y), n) for y in (one, other)]
    price = [np.bincount(rules.component, cost[items, y], n) for y in (one, other)]
    tie = TIE * weight.max(initial=0.0)
    fewer = broken[1] < broken[0] - tie
    cheaper = (broken[1] <= broken[0] + tie) & (price[1] < price[0])
    return np.where((fewer | cheaper)[rules.component], other, one)


def _anneal(
    J: csr_array[Any], y: Labelling, n_classes: int, heat: float, rng: np.random.Generator
) -> Labelling:
    """Return a labelling cooled down from y by heat-bath sweeps over random items.

    P(y_i = k | rest) ∝ exp(H_ik / T) with H = J·onehot(y), drawn as argmax of H + T·Gumbel; T
    falls from ``heat`` times the typical size of H under random labels.
    """
    y = y.copy()
    hot = heat * float(np.sqrt(np.mean(np.asarray((J * J).sum(axis=1)))))
    cold = 0.1 * float(np.median(np.abs(J.data)))
    for temperature in np.geomspace(hot, min(cold, hot), _SWEEPS):
        chosen = np.flatnonzero(rng.random(y.size) < _MOVED_PER_SWEEP)
        field = (J @ _one_hot(y, n_classes))[chosen]
        y[chosen] = (field + temperature * rng.gumbel(size=field.shape)).argmax(axis=1)
    return y


def descend(J: csr_array[Any], y: Labelling, cost: Array, max_rounds: int = 1000) -> Labelling:
    """Return a labelling no single move improves: fewer violations first, then lower cost.

    Moving i to class k changes V by H_iy − H_ik, H = J·onehot(y), and the cost by c_ik − c_iy,
    ``cost`` = c of shape (n, K). In each round all those items move that gain more than every
    neighbour that wants to move; they are no neighbours of each other, so their gains add up and
    (V, cost) falls in every round.

    >>> from noisypairs import Pairs
    >>> J = Constraints.from_pairs(Pairs([0, 1, 0], [1, 2, 2], [1, 1, 1])).matrix
    >>> descend(J, np.array([0, 1, 1]), np.zeros((3, 2)))
    array([1, 1, 1])
    """
    y, field = y.copy(), J @ _one_hot(y, cost.shape[1])
    tie, same_cost = TIE * np.abs(J.data).max(initial=0.0), 1e-12 * np.abs(cost).max(initial=0.0)
    items = np.arange(y.size)
    for _ in range(max_rounds):
        tied = field >= field.max(axis=1, keepdims=True) - tie
        target = np.where(tied, cost, np.inf).argmin(axis=1)
        fewer, cheaper = (
            field[items, target] - field[items, y],
            cost[items, y] - cost[items, target],
        )
        fewer[fewer <= tie] = 0.0
        wants = np.flatnonzero((fewer > 0) | ((target != y) & (cheaper > same_cost)))
        if not wants.size:
            break
        movers = _strongest(J, wants[np.lexsort((wants, cheaper[wants], fewer[wants]))])
        change = _one_hot(target[movers], cost.shape[1]) - _one_hot(y[movers], cost.shape[1])
        field += J[movers].T @ change
        y[movers] = target[movers]
    return y


def _strongest(J: csr_array[Any], rising: Labelling) -> Labelling:
    """Return the items, given in rising order of gain, that stand above all their neighbours."""
    rank = np.zeros(J.shape[0], dtype=np.intp)
    rank[rising] = np.arange(1, rising.size + 1)
    rows = J[rising]
    above = np.zeros(rising.size, dtype=np.intp)
    linked = np.flatnonzero(np.diff(rows.indptr))  # reduceat cannot take empty rows
    if linked.size:
        above[linked] = np.maximum.reduceat(rank[rows.indices], rows.indptr[linked])
    return rising[rank[rising] > above]


def swap_chains(rules: Constraints, y: Labelling, cost: Array, max_rounds: int = 1) -> Labelling:
    """Return a labelling of equal violations and lower cost, by exchanging classes in chains.

    A chain is a connected component of the items of two classes a and b. Exchanging a and b in all
    of it breaks and mends nothing (its neighbours are of third classes), so all chains of a and b
    that gain do so at once, and those of disjoint pairs of classes beside them. For K = 2 the
    chains are the components, and one round gives each the cheaper of its two names. An item
    without answers goes to its cheapest class. ``cost`` is of shape (n_items, K).

    >>> from noisypairs import Pairs
    >>> rules = Constraints.from_pairs(Pairs([0], [1], [False], n_items=3))
    >>> swap_chains(rules, np.array([0, 1, 0]), np.array([[5.0, 0.0], [2.0, 0.0], [1.0, 0.0]]))
    array([1, 0, 1])
    """
    y, K = y.copy(), cost.shape[1]
    items = np.arange(y.size)
    slack = 1e-12 * float(np.abs(cost).max(initial=0.0))  # rounding must not make it go round
    alone = np.ones(y.size, dtype=bool)
    alone[rules.left] = alone[rules.right] = False
    y[alone] = cost[alone].argmin(axis=1)
    for _ in range(max_rounds if K > 2 else 1):
        gain = cost[items, y][:, None] - cost
        chain = _chains(rules, y, K)
        useful = (np.bincount(chain.ravel(), gain.ravel()) > slack)[chain]
        useful[items, y] = False
        if not useful.any():
            break
        per_class: Array = np.stack([np.bincount(y, c, K) for c in (gain * useful).T], axis=1)
        partner = _disjoint_pairs(per_class + per_class.T)[y]
        y = np.where(useful[items, partner], partner, y)
    return y


def _chains(rules: Constraints, y: Labelling, n_classes: int) -> Labelling:
    """Return the chain of each item and each class it could change to, shape (n_items, K).

    Node (i, c) stands for i in the graph of classes y_i and c: items of one class are linked in all
    their graphs, items of classes a and b in that of a and b alone.
    """
    if n_classes == 2:
        return np.repeat(rules.component[:, None], 2, axis=1)
    equal = y[rules.left] == y[rules.right]
    left, right = rules.left * n_classes, rules.right * n_classes
    other = np.arange(n_classes)
    start = [(left[equal][:, None] + other).ravel(), (left + y[rules.right])[~equal]]
    end = [(right[equal][:, None] + other).ravel(), (right + y[rules.left])[~equal]]
    chain = components(np.concatenate(start), np.concatenate(end), y.size * n_classes)
    return chain.reshape(-1, n_classes)


def mend(rules: Constraints, y: Labelling, n_classes: int, rng: np.random.Generator) -> Labelling:
    """Return a labelling that breaks no more: the last few broken cannot-links mended by chains.

    Exchanging a chain of *kept* edges breaks none of them, and mends a cannot-link with one end in
    it. Where no chain does, a random one at its end is exchanged: another way may open.
    """
    for _ in range(_MENDABLE if n_classes > 2 else 0):
        broken = rules.broken(y)
        worst = np.flatnonzero(broken & (rules.strength < 0))
        if not 0 < worst.size <= _MENDABLE:
            break
        chain = _chains(rules.only(~broken), y, n_classes)
        ends = rng.permutation(np.stack([rules.left[worst], rules.right[worst]]))
        target = np.arange(n_classes) != y[ends[0]][:, None]
        apart = target & (chain[ends[0]] != chain[ends[1]])
        edge, c = rng.choice(np.argwhere(apart if apart.any() else target))
        a, item = y[ends[0, edge]], ends[0, edge]
        swapped = np.where(y == a, c, a)
        in_pair = (y == a) | (y == c)
        y = np.where(in_pair & (chain[np.arange(y.size), swapped] == chain[item, c]), swapped, y)
    return y


def _disjoint_pairs(gain: Array) -> Labelling:
    """Return the partner of each class (itself if none), pairs chosen in falling order of gain."""
    partner = np.arange(len(gain))
    first, second = np.triu_indices(len(gain), 1)
    for pair in np.argsort(-gain[first, second], kind="stable"):
        a, b = first[pair], second[pair]
        if gain[a, b] > 0 and partner[a] == a and partner[b] == b:
            partner[a], partner[b] = b, a
    return partner


def _majority(y: Labelling, block: Labelling, n_classes: int) -> Labelling:
    """Return the commonest label in each block."""
    votes = np.bincount(block * n_classes + y, minlength=(block.max() + 1) * n_classes)
    return np.asarray(votes.reshape(-1, n_classes).argmax(axis=1), dtype=np.intp)


def _one_hot(y: Labelling, n_classes: int) -> Array:
    return np.eye(n_classes)[y]
