"""Holding answers out, and the one comparison of two models: a gain with its standard error.

Whatever is judged on data that it did not see is judged here: models of one fit, methods of a
comparison, parts of a learning curve, candidate estimators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from noisypairs.algebra import Array
from noisypairs.pairs import Answers, Pairs
from noisypairs.pairs.counts import pair_keys, weights_of
from noisypairs.pairs.pairs import keys_of

#: Standard errors by which a gain must exceed zero to be stated as a fact.
CLEAR = 2.0

Mask = NDArray[np.bool_]
Positions = NDArray[np.intp]


class Gain(NamedTuple):
    """By how many nats one model predicts held-out answers better than another, in total.

    ``weight`` is that of the answers, their number where none have weights.
    """

    nats: float
    error: float
    n_answers: int
    weight: float

    def exceeds(self, errors: float) -> bool:
        """Whether the gain is more than this number of standard errors."""
        return self.nats > errors * self.error

    @property
    def loss(self) -> Gain:
        """The gain of the other model."""
        return self._replace(nats=-self.nats)

    @property
    def mean(self) -> float:
        """Nats per answer."""
        return self.nats / max(self.weight, 1e-12)

    @property
    def mean_error(self) -> float:
        """Standard error of the mean."""
        return self.error / max(self.weight, 1e-12)

    def __str__(self) -> str:
        return (
            f"{self.mean:.3f} ± {self.mean_error:.3f} nats on {self.n_answers:,} held-out answers"
        )


@dataclass(frozen=True)
class HeldOut:
    """Answers dealt into folds: by pair, by item group or by person.

    ``fold`` (n_pairs,) is the number of the fold in which an answer is held out, −1 where it never
    is. Answers on one pair are always in one fold when held out by pair. ``item_fold`` (n_items,)
    is known where items are held out: then nobody learns from an answer about one of them.
    """

    pairs: Pairs
    fold: Positions
    n_folds: int
    groups: Positions
    item_fold: Positions | None = None

    @classmethod
    def by_pair(
        cls, pairs: Pairs, n_folds: int, seed: int, groups: Positions | None = None
    ) -> HeldOut:
        """Hold out all answers on a part of the pairs; pairs between the same groups go together.

        >>> held = HeldOut.by_pair(Pairs([0, 1, 1], [1, 0, 2], [1, 0, 1]), 2, 0)
        >>> bool(held.fold[0] == held.fold[1])
        True
        """
        groups = np.arange(pairs.n_items) if groups is None else groups
        keys = pair_keys(groups[pairs.left], groups[pairs.right], int(groups.max(initial=0)) + 1)
        return cls(pairs, dealt(keys, n_folds, seed), n_folds, groups)

    @classmethod
    def by_person(cls, pairs: Pairs, n_folds: int, seed: int) -> HeldOut:
        """Hold out all answers of a part of the people."""
        if pairs.annotator is None:
            raise ValueError("the pairs do not say who answered: give Pairs(..., annotator=...)")
        everybody = np.arange(pairs.n_items)
        return cls(pairs, dealt(pairs.annotator, n_folds, seed), n_folds, everybody)

    @classmethod
    def by_item(cls, pairs: Pairs, n_folds: int, seed: int) -> HeldOut:
        """Hold out a part of the items, groups kept together, with all answers between them.

        >>> held = HeldOut.by_item(Pairs([0, 1, 2, 0], [1, 2, 3, 0], [1, 0, 1, 1]), 2, 0)
        >>> int(held.fold[3])  # of an item with itself: never held out
        -1
        """
        fold = item_folds(pairs, n_folds, seed)
        left, right = fold[pairs.left], fold[pairs.right]
        inside = (left == right) & (pairs.left != pairs.right)
        groups = np.arange(pairs.n_items) if pairs.groups is None else pairs.groups
        return cls(pairs, np.where(inside, left, -1), n_folds, groups.astype(np.intp), fold)

    @classmethod
    def by_repeat(cls, pairs: Pairs, n_folds: int, seed: int) -> HeldOut:
        """Hold out one person's answers on each pair that several people answered, never all.

        Where nobody is named, every answer counts as somebody's.

        >>> asked = Pairs([0, 1, 1], [1, 0, 2], [1, 1, 0], annotator=["ann", "bob", "ann"])
        >>> np.sort(HeldOut.by_repeat(asked, 1, 0).fold).tolist()
        [-1, -1, 0]
        """
        rank = np.random.default_rng(seed).permutation(_persons(pairs).max(initial=-1) + 1)
        rank = rank[_persons(pairs)]
        edge = np.unique(keys_of(pairs), return_inverse=True)[1]
        lowest = np.full(edge.max(initial=-1) + 1, len(rank) + 1)
        np.minimum.at(lowest, edge, rank)
        out = repeated_answers(pairs) & (rank == lowest[edge])
        fold = dealt(keys_of(pairs), n_folds, seed)
        return cls(pairs, np.where(out, fold, -1), n_folds, np.arange(pairs.n_items))

    def masks(self, enough: float = np.inf) -> Iterator[tuple[Mask, Mask]]:
        """Yield (training, held out), (n_pairs,) each, until enough answers were held out."""
        done = 0
        for k in range(self.n_folds):
            if done >= enough:
                return
            out = self.fold == k
            done += int(out.sum())
            if self.item_fold is None:
                yield ~out, out
            else:
                left, right = self.item_fold[self.pairs.left], self.item_fold[self.pairs.right]
                yield (left != k) & (right != k), out

    def each(self, predict: Callable[[Mask, Mask], Array]) -> Array:
        """Return what is predicted of every answer when it is held out, (n_pairs,), else NaN.

        ``predict`` is given which answers to learn from, and which to predict.
        """
        whole = np.full(self.pairs.n_pairs, np.nan)
        for train, out in self.masks():
            whole[out] = predict(train, out)
        return whole

    def gain(self, better: Array, worse: ArrayLike = 0.0) -> Gain:
        """Compare log P of the answers under two models, (n_pairs,), NaN where not held out.

        Answers that share an item group depend on each other, and so do those of one person: the
        variance sums products of residuals over both, (Σ_g r_g² − Σ_p r_p²) + Σ_r r_r² − Σ r².
        """
        difference = better - np.asarray(worse, dtype=np.float64)
        known = np.isfinite(difference)
        some, difference = self.pairs.select(known), difference[known]
        weight, total = weights_of(some), float(weights_of(some).sum())
        nats = float(weight @ difference)
        error = _error(some, weight * (difference - nats / max(total, 1e-12)), self.groups)
        return Gain(nats, error, some.n_pairs, total)


def gain_of_items(values: Array, groups: Positions) -> Gain:
    """Return the gain of a model that explains items better by ``values`` (n_items,), with error.

    Items of one group, (n_items,), depend on each other.

    >>> gain_of_items(np.array([1.0, 1.0, 3.0, 3.0]), np.array([0, 0, 1, 1])).error == 8**0.5
    True
    """
    residual = values - values.mean() if len(values) else values
    by_group = np.bincount(np.unique(groups, return_inverse=True)[1], residual)
    error = float(np.linalg.norm(by_group))
    return Gain(float(values.sum()), error, len(values), float(len(values)))


def dealt(unit: NDArray[Any], n_folds: int, seed: int) -> Positions:
    """Return the fold of every entry, (n,), units drawn at random: equal units stay together."""
    _, code = np.unique(unit, return_inverse=True)
    order = np.random.default_rng(seed).permutation(int(code.max(initial=-1)) + 1)
    fold: Positions = (order % n_folds)[code]
    return fold


def item_folds(pairs: Answers, n_folds: int, random_state: int | None = None) -> Positions:
    """Return the fold of each item, 0 … n_folds−1, shape (n_items,), drawn at random.

    Where the pairs have groups, all items of a group are in one fold, and folds are about equally
    large. Without groups they are those of a shuffled `KFold`.

    >>> pairs = Pairs([0, 2], [1, 3], [True, False], groups=["ann", "bob", "ann", "bob"])
    >>> fold = item_folds(pairs, 2, random_state=0)
    >>> fold[0] == fold[2], fold[1] == fold[3], fold[0] == fold[1]
    (np.True_, np.True_, np.False_)
    """
    if pairs.groups is None:
        fold = np.empty(pairs.n_items, dtype=np.intp)
        split = KFold(n_folds, shuffle=True, random_state=random_state).split(fold)
        for k, (_, test) in enumerate(split):
            fold[test] = k
        return fold
    members, size = np.unique(pairs.groups, return_inverse=True, return_counts=True)[1:]
    check_groups(size.size, n_folds)
    order = check_random_state(random_state).permutation(size.size)
    order = order[np.argsort(-size[order], kind="stable")]  # the largest groups first
    of_group, n_items = np.empty(size.size, dtype=np.intp), [0] * n_folds
    for group, n_more in zip(order.tolist(), size[order].tolist(), strict=True):
        smallest = min(range(n_folds), key=n_items.__getitem__)
        of_group[group] = smallest
        n_items[smallest] += n_more
    return of_group[members]


def check_groups(n_groups: int, n_folds: int) -> None:
    """Refuse more folds than groups."""
    if not 2 <= n_folds <= n_groups:
        raise ValueError(
            f"the items are in {n_groups} groups, which cannot be put into {n_folds} folds: a "
            "group stays in one fold. Give from two folds to as many as there are groups, or "
            "finer groups"
        )


def items_by_fold(fold: Positions, n_folds: int) -> list[tuple[Positions, Positions]]:
    """Return the training items and the items held out of every fold.

    >>> [(train.tolist(), test.tolist()) for train, test in items_by_fold(np.array([0, 1, 0]), 2)]
    [([1], [0, 2]), ([0, 2], [1])]
    """
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


def repeated_answers(pairs: Pairs) -> Mask:
    """Return which answers are on pairs that several people answered, shape (n_pairs,).

    Where nobody is named, every answer counts as somebody's. A person who answers a pair twice does
    not repeat it: a copied answer is no evidence for the first one.

    >>> repeated_answers(Pairs([0, 1, 1], [1, 0, 2], [1, 1, 0], annotator=[0, 1, 0])).tolist()
    [True, True, False]
    """
    edge = np.unique(keys_of(pairs), return_inverse=True)[1]
    first = np.zeros(pairs.n_pairs, dtype=bool)
    first[np.unique(_persons(pairs), return_index=True)[1]] = True
    repeated: Mask = (np.bincount(edge, first, minlength=1)[edge] > 1) & (pairs.left != pairs.right)
    return repeated


def _persons(pairs: Pairs) -> Positions:
    """Return a number for the pair and the person of each answer, by content, in any order."""
    edge = np.unique(keys_of(pairs), return_inverse=True)[1]
    if pairs.annotator is None:
        return np.argsort(np.lexsort((weights_of(pairs), pairs.same, edge)))
    key = edge.astype(np.int64) * (int(pairs.annotator.max(initial=0)) + 1) + pairs.annotator
    person: Positions = np.unique(key, return_inverse=True)[1]
    return person


def _error(pairs: Pairs, residual: Array, groups: Positions) -> float:
    """Return the standard error of a sum over answers that share item groups and people."""
    shared, within = dyadic_sums(pairs, residual, groups)
    variance = max(shared, within)
    if pairs.annotator is not None:
        by_person = np.bincount(pairs.annotator, residual)
        variance += max(float(by_person @ by_person) - float(residual @ residual), 0.0)
    return float(np.sqrt(variance))


def dyadic_sums(
    pairs: Pairs, residual: Array, groups: NDArray[np.integer[Any]] | None = None
) -> tuple[Any, Any]:
    """Return Σ r_e r_f over all answers that share an item, and over those about the same two.

    The first is Σ_i r_i² − Σ_p r_p², with residuals (n_pairs,) summed over the answers about item i
    and about the two items p, which share two. Of residuals (n_pairs, m) the products are matrices,
    (m, m). Items of one group, (n_items,), count as one item.

    >>> dyadic_sums(Pairs([0, 1], [1, 2], [1, 0]), np.array([1.0, 2.0]))
    (9.0, 5.0)
    """
    left, right, n = pairs.left, pairs.right, pairs.n_items
    if groups is not None:
        left, right, n = groups[left], groups[right], int(groups.max(initial=0)) + 1
    columns = residual.reshape(len(residual), -1)
    once = np.where((left == right)[:, None], 0.0, columns)
    by_item = _sums(left, columns, n) + _sums(right, once, n)
    by_pair = _sums(np.unique(pair_keys(left, right, n), return_inverse=True)[1], columns, 1)
    within = by_pair.T @ by_pair
    shared = by_item.T @ by_item - within
    if residual.ndim == 1:
        return float(shared[0, 0]), float(within[0, 0])
    return shared, within


def _sums(where: NDArray[np.integer[Any]], columns: Array, n: int) -> Array:
    """Return the sums of columns (n_pairs, m) by where they belong, at least (n, m)."""
    return np.column_stack([np.bincount(where, column, n) for column in columns.T])
