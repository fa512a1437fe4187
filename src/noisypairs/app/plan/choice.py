"""What one more answer is worth: on a new pair, and on an old one asked again.

Which new pairs to ask is chosen in `noisypairs.assess.next_pairs`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.assess import NextPairs
from noisypairs.estimation import Interval
from noisypairs.graph.information import independent_laws, pair_information
from noisypairs.graph.propagation import Beliefs, PairGraph, edge_posterior
from noisypairs.noise import RandomState
from noisypairs.sampling import random_pairs


@dataclass(frozen=True)
class Worth:
    """Mean information of one more answer, in bits: on a new random pair, on an old one again."""

    fresh: Interval
    repeated: Interval
    best_repeated: float
    """Mean over the tenth of the old pairs most worth asking again."""


def old_pairs(graph: PairGraph, beliefs: Beliefs, same: Array) -> NextPairs:
    """Return the pairs asked already, those most worth asking again first.

    By the information I(answer; y, y') of one more answer, under the posterior of the pair's edge:
    as if it erred independently of those given before.

    >>> from noisypairs.graph.propagation import propagate
    >>> graph = PairGraph.from_answers([0, 0, 0], [1, 1, 2], [True, True, False])
    >>> S = np.array([[0.9, 0.2], [0.2, 0.9]])
    >>> found = old_pairs(graph, propagate(graph, np.zeros((3, 2)), S, clamp={0: 1}), S)
    >>> found.left.tolist(), found.right.tolist()  # asked once: more is left to be said
    ([0, 0], [2, 1])
    """
    bits = pair_information(edge_posterior(graph, beliefs, same), same)
    order = np.argsort(-bits, kind="stable")
    left, right = graph.left.astype(np.intp), graph.right.astype(np.intp)
    return NextPairs(left[order], right[order], np.ones(len(bits), dtype=bool), bits[order])


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
