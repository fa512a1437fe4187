"""Labellings that break few answers, and those of them that cost least.

The least V (`constraints`) is NP-hard for every K (for K = 2 it is max-cut). So two classes are
settled exactly where the answers agree with each other, and a search settles the rest: annealing,
then moves until none of a single item lowers V.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from noisypairs.estimators.kmeans.components import components
from noisypairs.estimators.kmeans.constraints import TIE, Array, Constraints, Labelling

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
