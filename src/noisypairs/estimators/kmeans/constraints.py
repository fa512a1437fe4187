"""Answers as constraints: which labellings break few of them.

All answers on one pair of items are merged into a signed strength J_ij = (weight of "same") −
(weight of "different"): its sign is the majority, its size the cost of breaking that majority. A
labelling y in 0..K−1 breaks

    V(y) = Σ_{i<j} |J_ij| [ (y_i = y_j) ≠ (J_ij > 0) ].

Whether V can be zero is easy for K = 2 (a component of the graph has two labellings or none) and
NP-complete for K ≥ 3 (graph colouring); the least V is NP-hard for every K (for K = 2 it is
max-cut). So two classes are exact where the answers agree with each other; elsewhere a search takes
over: annealing, then moves of single items until none lowers V.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from noisypairs.algebra import Array
from noisypairs.inference.graph import PairGraph
from noisypairs.pairs import Pairs

Labelling = NDArray[np.intp]
Mask = NDArray[np.bool_]

#: Strengths and gains below this share of the largest count as zero (weights are float32).
TIE = 1e-6
#: Sweeps of one annealing run, and the share of items drawn in each: neighbours that move together
#: undo each other's gain.
SWEEPS, MOVED_PER_SWEEP = 100, 0.4
#: Edges over all annealing runs: small graphs are given several runs.
ANNEALING_WORK = 500_000


@dataclass(frozen=True, eq=False)
class Constraints:
    """One edge per unordered pair of items whose votes do not cancel: left < right, sorted, J."""

    n_items: int
    left: Labelling
    right: Labelling
    strength: Array  # J, (n_edges,)
    n_contradictory: int = 0  # pairs of items answered both ways, ties included

    @classmethod
    def from_pairs(cls, pairs: Pairs) -> Constraints:
        """Merge repeats by weight; pairs of an item with itself demand nothing and are left out."""
        graph = PairGraph.from_pairs(pairs)
        votes = graph.evidence(slice(0, graph.n_edges)).astype(float).toarray()
        different, same = votes.T
        kept = np.abs(same - different) > TIE * votes.max(axis=1, initial=0.0)
        left, right = (end[kept].astype(np.intp) for end in (graph.left, graph.right))
        both_ways = int(np.count_nonzero(votes.min(axis=1, initial=np.inf) > 0))
        return cls(graph.n_items, left, right, (same - different)[kept], both_ways)

    @cached_property
    def matrix(self) -> csr_array[Any]:
        """J, shape (n_items, n_items), symmetric, no diagonal."""
        ends = np.concatenate([self.left, self.right]), np.concatenate([self.right, self.left])
        values = np.concatenate([self.strength, self.strength])
        return csr_array(coo_array((values, ends), shape=(self.n_items, self.n_items)))

    @cached_property
    def component(self) -> Labelling:
        """Connected component of each item, shape (n_items,)."""
        return _components(self.left, self.right, self.n_items)

    def broken(self, y: Labelling) -> Mask:
        """Return which edges the labelling breaks, shape (n_edges,)."""
        mask: Mask = (y[self.left] == y[self.right]) != (self.strength > 0)
        return mask

    def violation(self, y: Labelling) -> float:
        """Return V(y): the strength of all broken edges together."""
        return float(np.abs(self.strength[self.broken(y)]).sum())

    def in_components_of(self, edges: Mask) -> Mask:
        """Return the items of components with at least one of these edges, shape (n_items,)."""
        hit = np.zeros(self.n_items, dtype=bool)
        hit[self.component[self.left[edges]]] = True
        mask: Mask = hit[self.component]
        return mask

    def between(self, block: Labelling) -> Constraints:
        """Return the constraints between blocks 0..B−1 of items (−1: left out), strengths added."""
        size = int(block.max(initial=-1)) + 1
        ends = np.sort([block[self.left], block[self.right]], axis=0).astype(np.int64)
        apart = (ends[0] >= 0) & (ends[0] != ends[1])
        keys, edge = np.unique((ends[0] * size + ends[1])[apart], return_inverse=True)
        strength = np.bincount(edge, self.strength[apart], keys.size).astype(float)
        left, right = np.divmod(keys.astype(np.intp), max(size, 1))
        return Constraints(size, left, right, strength)


def two_colouring(rules: Constraints) -> tuple[Labelling, Mask]:
    """Return a labelling in {0, 1} that breaks nothing where that is possible, and where it is not.

    Take two copies of each item, (i, 0) and (i, 1); "same" joins equal copies, "different" crosses
    over. A component of the items can be satisfied iff its two copies are not joined, and then
    these are its only two labellings. Returns y and the items that cannot be satisfied, (n_items,).
    """
    n, cross = rules.n_items, rules.n_items * (rules.strength < 0)
    left = np.concatenate([rules.left, rules.left + n])
    right = np.concatenate([rules.right + cross, rules.right + n - cross])
    copy = _components(left, right, 2 * n)
    _, root = np.unique(rules.component, return_index=True)
    y = (copy[:n] != copy[root[rules.component]]).astype(np.intp)
    return y, copy[:n] == copy[n:]


def closure(rules: Constraints) -> Labelling:
    """Return the block of each item: items joined by must-links, as long as none contradicts.

    In components where a "different" answer falls inside a block, every item is a block of its
    own: with wrong answers the closure would soon hold everything together.
    """
    must = rules.strength > 0
    block = _components(rules.left[must], rules.right[must], rules.n_items)
    contradicted = rules.in_components_of(~must & (block[rules.left] == block[rules.right]))
    block = np.where(contradicted, block.size + np.arange(block.size), block)
    return np.asarray(np.unique(block, return_inverse=True)[1], dtype=np.intp)


def fewest_violations(
    rules: Constraints, n_classes: int, rng: np.random.Generator, guess: Labelling
) -> Labelling:
    """Return a labelling that breaks little: nothing where two classes suffice, else by search.

    For K > 2 must-link blocks are labelled first, and taken apart only where that breaks an answer.
    ``guess`` is where the search starts, shape (n_items,).
    """
    y, odd = two_colouring(rules)
    y = np.where(odd, guess, y)
    items = np.arange(rules.n_items)
    for unit in (closure(rules), items) if n_classes > 2 else (items,):
        if odd.any():
            _, first, block = np.unique(unit[odd], return_index=True, return_inverse=True)
            place = np.full(rules.n_items, -1, dtype=np.intp)
            place[odd] = block
            y[odd] = search(rules.between(place), n_classes, rng, y[odd][first])[block]
            odd = rules.in_components_of(rules.broken(y))
    return y


def search(
    rules: Constraints, n_classes: int, rng: np.random.Generator, start: Labelling
) -> Labelling:
    """Return the best labelling found from a start and by annealing, component by component.

    Every other run starts hot from random labels; the rest reheat the best labelling so far. Each
    ends in `descend`. Stops at the first labelling that breaks nothing.
    """
    free = np.zeros((rules.n_items, n_classes))
    weight = np.abs(rules.strength)
    tie, where = TIE * weight.max(initial=0.0), rules.component[rules.left]
    best = descend(rules.matrix, start, free)
    for run in range(int(np.clip(ANNEALING_WORK // max(rules.left.size, 1), 2, 10))):
        if not rules.broken(best).any():
            break
        warm = run % 2 == 0
        first = best if warm else rng.integers(n_classes, size=rules.n_items)
        cooled = _anneal(rules.matrix, first, n_classes, 0.3 if warm else 1.0, rng)
        other = descend(rules.matrix, cooled, free)
        cost = [np.bincount(where, weight * rules.broken(y), best.size) for y in (best, other)]
        best = np.where((cost[1] < cost[0] - tie)[rules.component], other, best)
    return best


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
    for temperature in np.geomspace(hot, min(cold, hot), SWEEPS):
        chosen = np.flatnonzero(rng.random(y.size) < MOVED_PER_SWEEP)
        field = (J @ np.eye(n_classes)[y])[chosen]
        y[chosen] = (field + temperature * rng.gumbel(size=field.shape)).argmax(axis=1)
    return y


def descend(J: csr_array[Any], y: Labelling, cost: Array, max_rounds: int = 1000) -> Labelling:
    """Return a labelling no single move improves: fewer violations first, then lower cost.

    Moving i to class k changes V by H_iy − H_ik, H = J·onehot(y), and the cost by c_ik − c_iy,
    ``cost`` = c of shape (n, K). In each round all those items move that gain more than every
    neighbour that wants to move; they are no neighbours of each other, so their gains add up and
    (V, cost) falls in every round.
    """
    y, one_hot, items = y.copy(), np.eye(cost.shape[1]), np.arange(y.size)
    field = J @ one_hot[y]
    tie, same_cost = TIE * np.abs(J.data).max(initial=0.0), 1e-12 * np.abs(cost).max(initial=0.0)
    for _ in range(max_rounds):
        tied = field >= field.max(axis=1, keepdims=True) - tie
        target = np.where(tied, cost, np.inf).argmin(axis=1)
        fewer = field[items, target] - field[items, y]
        cheaper = cost[items, y] - cost[items, target]
        fewer[fewer <= tie] = 0.0
        wants = np.flatnonzero((fewer > 0) | ((target != y) & (cheaper > same_cost)))
        if not wants.size:
            break
        movers = _strongest(J, wants[np.lexsort((wants, cheaper[wants], fewer[wants]))])
        field += J[movers].T @ (one_hot[target[movers]] - one_hot[y[movers]])
        y[movers] = target[movers]
    return y


def _strongest(J: csr_array[Any], rising: Labelling) -> Labelling:
    """Return the items, given in rising order of gain, that are above all their neighbours."""
    rank = np.zeros(J.shape[0], dtype=np.intp)
    rank[rising] = np.arange(1, rising.size + 1)
    rows = J[rising]
    above = np.zeros(rising.size, dtype=np.intp)
    linked = np.flatnonzero(np.diff(rows.indptr))  # reduceat cannot take empty rows
    if linked.size:
        above[linked] = np.maximum.reduceat(rank[rows.indices], rows.indptr[linked])
    return rising[rank[rising] > above]


def swap_chains(rules: Constraints, y: Labelling, cost: Array) -> Labelling:
    """Return a labelling of equal violations and lower cost, by exchanging classes in chains.

    A chain is a connected component of the items of two classes a and b. Exchanging a and b in all
    of it changes no violation (its neighbours are of third classes), so all chains of a and b that
    gain do so at once. For K = 2 the chains are the components, and each gets the cheaper of its
    two labellings. ``cost`` is of shape (n_items, K).
    """
    slack = 1e-12 * float(np.abs(cost).max(initial=0.0))  # rounding must not make it go round
    for a, b in combinations(range(cost.shape[1]), 2):
        member = (y == a) | (y == b)
        inside = member[rules.left] & member[rules.right]
        chain = _components(rules.left[inside], rules.right[inside], y.size)
        gain = np.where(y == a, cost[:, a] - cost[:, b], cost[:, b] - cost[:, a])
        useful = np.bincount(chain, gain * member)[chain] > slack
        y = np.where(member & useful, a + b - y, y)
    return y


def _components(left: Labelling, right: Labelling, size: int) -> Labelling:
    links = coo_array((np.ones(left.size, dtype=np.int8), (left, right)), shape=(size, size))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.intp)
