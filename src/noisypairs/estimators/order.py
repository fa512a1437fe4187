"""One order of items and answers, whatever order they were given in.

Learners draw at random: folds, starts, permutations of the answers. Draws go by position, so the
same data in another order would give another model. Here the data alone decide the order. Items are
ranked by a fixed random projection of their rows, and the ranks are permuted, always in the same
way. Ranks survive rounding: a scaler that added up the same items in another order, or with more
threads, leaves them as they are. A hash would not survive it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from noisypairs.algebra import Array
from noisypairs.pairs import Answers, Pairs
from noisypairs.pairs.rows import Hashes, mixed

Positions = NDArray[np.intp]

#: Rounds in which identical items are told apart by the items that they were compared with.
ROUNDS = 30
#: Numbers of a table that are worked on at once.
BLOCK = 1 << 16
#: What missing and infinite values count in a projection; arsinh of the largest double is 710.
MISSING, INFINITE = 1.618, 1000.0


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
    X = X.tocsr() if hasattr(X, "tocsr") else X  # which can be indexed
    items = item_order(X, pairs)
    ordered, answers = pairs[items].in_order()
    return None if X is None else _safe_indexing(X, items), ordered, GivenOrder(items, answers)


def item_order(X: Any, pairs: Pairs) -> Positions:
    """Return the items, shape (n_items,), in an order that does not depend on the one given.

    Identical rows are told apart by the answers about them, then by the items at the other ends of
    these answers, and so on. Items that are alike after `ROUNDS` rounds keep the order given: with
    few exceptions (long chains without features) they can take each other's place.
    """
    keys = np.zeros(pairs.n_items) if X is None else _row_sums(X, _projection_term)
    if _n_distinct(keys) == pairs.n_items:
        return _permuted(keys)
    return _permuted(_told_apart(keys, pairs), keys)


def row_order(X: Any, *ties: NDArray[Any]) -> Positions:
    """Return the rows, shape (n,), in an order that does not depend on the one given.

    Identical rows come in rising order of ``ties``, shape (n,) each; the last counts most.

    >>> X = np.array([[3.0], [1.0], [2.0]])
    >>> np.array_equal(X[row_order(X)], X[::-1][row_order(X[::-1])])
    True
    """
    return _permuted(*ties, _row_sums(X, _projection_term))


def _projection_term(values: Array, columns: Hashes) -> Array:
    """Return w_j arsinh(x) with a fixed random w_j in (½, 1½) for column j: no column dominates."""
    size = np.nan_to_num(np.arcsinh(values), nan=MISSING, posinf=INFINITE, neginf=-INFINITE)
    return size * (0.5 + mixed(columns) / 2.0**64)


def _row_sums(X: Any, term: Callable[[Array, Hashes], NDArray[Any]]) -> NDArray[Any]:
    """Return Σ_j term(x_ij, j) of each row, shape (n,); zeros must add nothing.

    Row by row, never by a matrix product: that may round identical rows differently.
    """
    if hasattr(X, "tocsr"):
        table = X.tocsr(copy=True)
        table.sum_duplicates()
        entries = table.tocoo()
        terms = term(entries.data.astype(np.float64), entries.col.astype(np.uint64))
        sums = np.zeros(table.shape[0], dtype=terms.dtype)
        np.add.at(sums, entries.row, terms)
        return sums
    table = _numbers(X)
    columns = np.arange(table.shape[1], dtype=np.uint64)
    step = max(1, BLOCK // max(columns.size, 1))
    parts = [
        term(np.array(table[start : start + step], np.float64, order="C"), columns).sum(axis=1)
        for start in range(0, max(len(table), 1), step)
    ]
    return np.concatenate(parts)


def _numbers(X: Any) -> NDArray[Any]:
    """Return a table of numbers, (n, d): texts become their place in the alphabet."""
    if hasattr(X, "iloc"):  # pandas
        columns = [X.iloc[:, j] for j in range(X.shape[1])]
    elif hasattr(X, "get_columns"):  # polars
        columns = X.get_columns()
    else:
        table = np.asarray(X)
        table = table.reshape(len(table), int(np.prod(table.shape[1:])))
        if table.dtype.kind in "biuf":
            return table
        columns = list(table.T)
    return np.column_stack([_column_numbers(np.asarray(column)) for column in columns])


def _column_numbers(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind in "biuf":
        return values
    texts = [str(value) for value in values.tolist()]
    place = {text: k for k, text in enumerate(sorted(set(texts)))}
    return np.array([place[text] for text in texts])


def _told_apart(keys: Array, pairs: Pairs) -> Hashes:
    """Return a hash per item, (n_items,), by its key, its known class, its group and its answers.

    Rounds of Weisfeiler and Lehman: h_i ← mix(h_i + Σ mix(answer + h_j)) over the answers about
    items i and j, modulo 2⁶⁴ and so exact in any order, until they tell no further items apart.
    """
    names = {name: k for k, name in enumerate(sorted(set(map(str, pairs.labels.values()))), 1)}
    known = np.zeros(pairs.n_items, dtype=np.uint64)
    for item, name in pairs.labels.items():
        known[item] = names[str(name)]
    # By rank, not by value: a scaler may have rounded the keys.
    rank = np.unique(keys, return_inverse=True)[1].astype(np.uint64)
    hashes = mixed(mixed(rank) + known)
    if pairs.groups is not None and pairs.group_names is not None:
        # By name; groups without a name come last, and count alike.
        n_named = sum(name is not None for name in pairs.group_names)
        hashes = mixed(hashes + np.minimum(pairs.groups, n_named).astype(np.uint64))
    pairs = pairs.without_self_pairs()
    answer = mixed(pairs.same.astype(np.uint64))
    if pairs.annotator is not None:
        answer = mixed(answer + pairs.annotator.astype(np.uint64))
    if pairs.weight is not None:
        answer = mixed(answer + pairs.weight.view(np.uint32))
    for _ in range(ROUNDS):
        sums = np.zeros(pairs.n_items, dtype=np.uint64)
        for here, there in ((pairs.left, pairs.right), (pairs.right, pairs.left)):
            np.add.at(sums, here, mixed(answer + hashes[there]))
        before, hashes = hashes, mixed(hashes + sums)
        if _n_distinct(hashes) in (_n_distinct(before), pairs.n_items):
            break
    return hashes


def _n_distinct(values: NDArray[Any]) -> int:
    return np.unique(values).size


def _permuted(*keys: NDArray[Any]) -> Positions:
    """Sort by the last key, then the one before, and permute the places: always in one way.

    An order that follows the features would make folds that are not shuffled unfair.
    """
    rising = np.lexsort(keys)
    order: Positions = rising[np.random.default_rng(0).permutation(rising.size)]
    return order


def _put_back(values: Any, order: Positions | None) -> Any:
    if order is None or values is None:
        return values
    given = np.empty_like(values)
    given[order] = values
    return given
