"""Which pairs to ask next: new ones, and old ones again, by the information in their answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from noisypairs.algebra import Array
from noisypairs.estimation import Interval
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.information import independent_laws, pair_information
from noisypairs.inference.propagation import Beliefs, edge_posterior
from noisypairs.noise import RandomState
from noisypairs.pairs.counts import pair_ends, pair_keys
from noisypairs.sampling import random_pairs

#: New pairs looked at; all pairs where there are no more than so many.
N_CANDIDATES = 40_000
#: No item is in more than so many times its fair share of the pairs chosen.
FAIR_SHARES = 2


@dataclass(frozen=True)
class Candidates:
    """Pairs that could be asked, each array of shape (m,).

    ``again`` says that the pair was asked before; ``information`` is I(answer; y, y') in bits.
    """

    left: NDArray[np.intp]
    right: NDArray[np.intp]
    again: NDArray[np.bool_]
    information: Array

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, rows: NDArray[np.generic] | slice) -> Candidates:
        return Candidates(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def best(self, n: int, n_items: int) -> Candidates:
        """Return the ``n`` most informative, spread over the items.

        No item is in more than twice its fair share of the pairs, unless ``n`` asks for it:
        one answer gives less information after another one on the same item.
        """
        ranked = self[np.argsort(-self.information, kind="stable")]
        room = np.full(n_items, max(1, int(np.ceil(FAIR_SHARES * 2 * n / n_items))))
        taken = np.zeros(len(ranked), dtype=bool)
        while taken.sum() < min(n, len(ranked)):
            _take(ranked, taken, room)
            room += 1  # where the items are few, everybody gets one place more
        return ranked[np.flatnonzero(taken)[:n]]


@dataclass(frozen=True)
class Worth:
    """Mean information of one more answer, in bits: on a new random pair, on an old one again."""

    fresh: Interval
    repeated: Interval
    best_repeated: float
    """Mean over the tenth of the old pairs most worth asking again."""


def candidates(
    graph: PairGraph, beliefs: Beliefs, same: Array, random_state: RandomState = None
) -> Candidates:
    """Return all old pairs and a sample of new ones, with the information in an answer.

    Old pairs have the posterior of their edge, new ones the product of the two beliefs, as if the
    answers at hand tied the two items only through what is known of each. Half of the new pairs
    are drawn at random, half with an uncertain item at one end.

    >>> from noisypairs.inference.propagation import propagate
    >>> graph = PairGraph.from_answers([0, 0], [1, 2], [True, False], n_items=4)
    >>> S = np.array([[0.9, 0.2], [0.2, 0.9]])
    >>> found = candidates(graph, propagate(graph, np.zeros((4, 2)), S, clamp={0: 1}), S, 0)
    >>> best = found.best(1, 4)
    >>> best.left.tolist(), best.right.tolist(), best.again.tolist()  # item 3: nothing is known
    ([0], [3], [False])
    """
    rng = np.random.default_rng(random_state)
    left, right = _new_pairs(graph, beliefs.item, rng)
    fresh = independent_laws(beliefs.item[left], beliefs.item[right])
    law = np.concatenate([edge_posterior(graph, beliefs, same), fresh])
    return Candidates(
        np.concatenate([graph.left.astype(np.intp), left]),
        np.concatenate([graph.right.astype(np.intp), right]),
        np.arange(len(law)) < graph.n_edges,
        pair_information(law, same),
    )


def worth_of_answers(
    graph: PairGraph,
    beliefs: Beliefs,
    same: Array,
    *,
    level: float = 0.9,
    random_state: RandomState = None,
) -> Worth:
    """Compare one more answer on a random new pair with one on a random old pair.

    Information about the classes of the pair, `pair_information`. The intervals are those of a mean
    over resampled items (200 times); beliefs and noise are taken as they are.
    """
    rng = np.random.default_rng(random_state)
    left, right = random_pairs(graph.n_items, 10_000, rng)
    fresh = pair_information(independent_laws(beliefs.item[left], beliefs.item[right]), same)
    old = pair_information(edge_posterior(graph, beliefs, same), same)
    top = np.sort(old)[-max(1, len(old) // 10) :]
    return Worth(
        _item_bootstrap(fresh, left, right, graph.n_items, level, rng),
        _item_bootstrap(old, graph.left, graph.right, graph.n_items, level, rng),
        float(top.mean()),
    )


def _item_bootstrap(
    values: Array,
    left: NDArray[np.integer],
    right: NDArray[np.integer],
    n_items: int,
    level: float,
    rng: np.random.Generator,
) -> Interval:
    count = rng.multinomial(n_items, np.full(n_items, 1.0 / n_items), size=200)
    weight = count[:, left] * count[:, right]
    total = np.maximum(weight.sum(axis=1), 1)
    low, high = np.quantile(weight @ values / total, [0.5 - level / 2, 0.5 + level / 2]).tolist()
    mean = float(values.mean())
    return Interval(mean, min(low, mean), max(high, mean), level)


def _new_pairs(
    graph: PairGraph, belief: Array, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return pairs never asked, left < right, without repetition."""
    n = graph.n_items
    if n * (n - 1) // 2 <= N_CANDIDATES:
        left, right = np.triu_indices(n, 1)
    else:
        half = N_CANDIDATES // 2
        first, second = random_pairs(n, half, rng)
        doubt = entr(belief).sum(axis=1) + 1e-6
        doubtful = rng.choice(n, half, p=doubt / doubt.sum())
        other = rng.integers(n - 1, size=half)
        first = np.concatenate([first, doubtful])
        second = np.concatenate([second, other + (other >= doubtful)])
        left, right = first, second
    asked = pair_keys(graph.left, graph.right, n)
    return pair_ends(np.setdiff1d(pair_keys(left, right, n), asked), n)


def _take(ranked: Candidates, taken: NDArray[np.bool_], room: NDArray[np.intp]) -> None:
    """Take pairs best first while both items have ``room`` (n_items,), in place.

    The same as one pair after the other: a pair is taken at once where, at both of its items, fewer
    better ones are still in play than there is room.
    """
    rows = np.flatnonzero(~taken)
    while len(rows):
        rows = rows[(room[ranked.left[rows]] > 0) & (room[ranked.right[rows]] > 0)]
        ends = np.column_stack([ranked.left[rows], ranked.right[rows]])
        now = (_place(ends) < room[ends]).all(axis=1)
        taken[rows[now]] = True
        np.subtract.at(room, ends[now].ravel(), 1)
        rows = rows[~now]


def _place(ends: NDArray[np.intp]) -> NDArray[np.intp]:
    """Count for both ends of each pair (m, 2) the earlier pairs with the same item."""
    flat = ends.ravel()
    order = np.argsort(flat, kind="stable")
    first = np.flatnonzero(np.diff(flat[order], prepend=-1))
    place = np.empty(len(flat), dtype=np.intp)
    place[order] = np.arange(len(flat)) - np.repeat(first, np.diff(np.append(first, len(flat))))
    return place.reshape(ends.shape)
