"""One order of items and answers, whatever order they were given in.

Learners draw at random: folds, starts, permutations of the answers. Draws go by position, so the
same data in another order would give another model. Here the data alone decide the order: items are
ranked by what they hold and by what was answered about them, answers by the items they are about.
The ranks of the items are then permuted, always in the same way: an order that follows the features
would make folds that are not shuffled unfair.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from noisypairs.estimators.row_keys import row_keys
from noisypairs.pairs import Answers, Pairs

Positions = NDArray[np.intp]
Hashes = NDArray[np.uint64]

#: Rounds in which equal items are told apart by the items that they were compared with.
ROUNDS = 30


class GivenOrder(NamedTuple):
    """The order given: item k of the new order was item ``items[k]``, and answers likewise.

    None stands for an order that was left as it is.
    """

    items: Positions | None = None
    answers: Positions | None = None

    def of_items(self, values: Any) -> Any:
        """Return values in the new order of the items, (n_items, …), in the order given."""
        return _put_back(values, self.items)

    def of_answers(self, values: Any) -> Any:
        """Return values in the new order of the answers, (n_pairs, …), in the order given."""
        return _put_back(values, self.answers)

    def reordered_items(self, values: Any) -> Any:
        """Return values in the order given, (n_items, …), in the new order of the items."""
        return values if self.items is None else values[self.items]


def in_order(X: Any, pairs: Answers) -> tuple[Any, Any, GivenOrder]:
    """Return items and pairs in the order that their contents decide, and the order given.

    ``X`` is a table of n_items rows (array, sparse matrix, data frame), or None where only answers
    are known. A `PairTable` keeps its positions in the engine: it and its items are left as they
    are.

    >>> X, pairs = np.array([[3.0], [1.0], [2.0]]), Pairs([2, 1], [1, 0], [True, False])
    >>> one, other = in_order(X, pairs), in_order(X[[1, 2, 0]], Pairs([2, 1], [0, 0], [0, 1]))
    >>> np.array_equal(one[0], other[0]), one[1] == other[1]
    (True, True)
    >>> one[2].of_items(one[0]).ravel()
    array([3., 1., 2.])
    """
    if not isinstance(pairs, Pairs):
        return X, pairs, GivenOrder()
    X = X.tocsr() if hasattr(X, "tocsr") else X  # not all kinds of sparse arrays take rows
    items = item_order(X, pairs)
    ordered, answers = pairs[items].in_order()
    return None if X is None else _safe_indexing(X, items), ordered, GivenOrder(items, answers)


def item_order(X: Any, pairs: Pairs) -> Positions:
    """Return the items, shape (n_items,), in an order that does not depend on the one given.

    Equal rows are told apart by the answers about them, then by the items at the other ends of
    these answers, and so on. Items that are equal still after `ROUNDS` rounds keep the order given:
    with few exceptions (long chains without features) they can take each other's place.
    """
    n_items = pairs.n_items
    rank = np.zeros(n_items, dtype=np.intp) if X is None else _ranks(row_keys(X))
    if _number(rank) < n_items:
        rank = _told_apart(rank, pairs)
    rising = np.argsort(rank, kind="stable")
    order: Positions = rising[np.random.default_rng(0).permutation(n_items)]
    return order


def _told_apart(rank: Positions, pairs: Pairs) -> Positions:
    """Return finer ranks of the items: first by known classes, then by answers, round by round."""
    names = {name: k for k, name in enumerate(sorted({str(c) for c in pairs.labels.values()}), 1)}
    known = np.zeros(pairs.n_items, dtype=np.intp)
    for item, name in pairs.labels.items():
        known[item] = names[str(name)]
    rank, pairs = _ranks(known, rank), pairs.without_self_pairs()
    kind = _answer_hashes(pairs)
    for _ in range(ROUNDS):
        finer = _ranks(_neighbour_hashes(rank, pairs, kind), rank)
        if _number(finer) == _number(rank):
            break
        rank = finer
    return rank


def _answer_hashes(pairs: Pairs) -> Hashes:
    """Return a number per answer, (n_pairs,), by what was said, by whom, with what weight."""
    kind = _mixed(pairs.same.astype(np.uint64))
    if pairs.annotator is not None:
        kind = _mixed(kind + pairs.annotator.astype(np.uint64))
    if pairs.weight is not None:
        kind = _mixed(kind + pairs.weight.view(np.uint32).astype(np.uint64))
    return kind


def _neighbour_hashes(rank: Positions, pairs: Pairs, kind: Hashes) -> Hashes:
    """Return a number per item, (n_items,), by the ranks at the other ends of its answers."""
    sums = np.zeros(pairs.n_items, dtype=np.uint64)
    own = rank.astype(np.uint64)
    for here, there in ((pairs.left, pairs.right), (pairs.right, pairs.left)):
        np.add.at(sums, here, _mixed(kind + own[there]))  # modulo 2⁶⁴: exact in any order
    return sums


def _mixed(values: Hashes) -> Hashes:
    """Return the numbers with their bits mixed (SplitMix64)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _ranks(values: NDArray[Any], before: Positions | None = None) -> Positions:
    """Return ranks 0, 1, … of the values, equal for equal ones; ``before`` ranks come first."""
    if before is None:
        return np.unique(values, return_inverse=True)[1].astype(np.intp)
    order = np.lexsort((values, before))
    new = (np.diff(values[order], prepend=values[order[:1]]) != 0) | (
        np.diff(before[order], prepend=before[order[:1]]) != 0
    )
    rank = np.empty(len(values), dtype=np.intp)
    rank[order] = np.cumsum(new)
    return rank


def _number(rank: Positions) -> int:
    return int(rank.max(initial=-1)) + 1


def _put_back(values: Any, order: Positions | None) -> Any:
    if order is None or values is None:
        return values
    given = np.empty_like(values)
    given[order] = values
    return given
