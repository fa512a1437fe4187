"""Where answers go wrong: on which items, in how short a time, and by people who err alike.

All of it takes P(each answer is wrong), (n_pairs,), as known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import logit

from noisypairs.algebra import Array
from noisypairs.estimation import Interval, dyadic_mean, wilson
from noisypairs.pairs import Pairs
from noisypairs.pairs.pairs import keys_of

#: Levels that a feature is split into, and answers that a level needs to be shown.
N_LEVELS, FEWEST_ANSWERS = 4, 30

#: Nobody compares two items in less than this many seconds: seeing, choosing and moving a finger
#: takes longer. A crowd that is quicker as a whole is measured by itself: below this share of its
#: median.
TOO_QUICK, SHARE_OF_MEDIAN = 0.5, 0.2
#: Two people are compared where they answered so many pairs in common, and a group is named where
#: such an agreement of errors comes by chance in at most this share of crowds.
FEWEST_IN_COMMON, CHANCE = 10, 0.01
#: Permutations behind that share, answers that a pair needs, and people compared: those with most.
N_PERMUTATIONS, FEWEST_ANSWERS_OF_A_PAIR, MOST_PEOPLE = 200, 3, 300


@dataclass(frozen=True)
class FeatureLevel:
    """Answers on pairs with at least one item of this level, and the expected share of wrong."""

    feature: str
    level: str
    n_answers: int
    wrong: Interval


@dataclass(frozen=True)
class Quick:
    """Answers that came too quickly to be considered, below ``limit`` seconds.

    ``shares`` has the share of such answers of everybody (None: no times), in the order of the
    names; ``quickest`` how often the quickest quarter of all answers is wrong, and ``rest`` the
    others.
    """

    limit: float
    share: float
    shares: list[float | None]
    quickest: Interval
    rest: Interval

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, without those of single people."""
        ends = {
            name: [one.estimate, one.low, one.high]
            for name, one in (("quickest_wrong", self.quickest), ("rest_wrong", self.rest))
        }
        return {"limit_seconds": self.limit, "share": self.share} | ends


@dataclass(frozen=True)
class ErrGroup:
    """People who err on the same pairs: their names, and the mean correlation of their errors."""

    names: tuple[Any, ...]
    correlation: float


def quick_answers(pairs: Pairs, wrong: Array, seconds: Array, level: float = 0.95) -> Quick | None:
    """Return who answers too quickly, and whether quick answers are worse; None without times.

    >>> pairs = Pairs([0, 1, 2, 3], [1, 2, 3, 4], [1, 1, 0, 0], annotator=["a", "a", "b", "b"])
    >>> found = quick_answers(pairs, np.array([1.0, 0, 0, 0]), np.array([0.1, 2.0, 3.0, 2.0]))
    >>> found.shares, found.quickest.estimate, found.rest.estimate
    ([0.5, 0.0], 1.0, 0.0)
    """
    known = np.isfinite(seconds) & (seconds >= 0)
    if known.sum() < 4:
        return None
    who, R = np.asarray(pairs.annotator), len(np.asarray(pairs.annotator_names))
    limit = min(TOO_QUICK, SHARE_OF_MEDIAN * float(np.median(seconds[known])))
    quick = known & (seconds < limit)
    given = np.bincount(who[known], minlength=R)
    early = np.bincount(who[quick], minlength=R)
    shares = [float(n / m) if m else None for n, m in zip(early, given, strict=True)]
    order = np.flatnonzero(known)[np.argsort(seconds[known], kind="stable")]
    first, rest = order[: len(order) // 4], order[len(order) // 4 :]
    rates = [wilson(float(wrong[rows].sum()), len(rows), level) for rows in (first, rest)]
    return Quick(limit, float(quick.sum() / known.sum()), shares, *rates)


def groups_who_err_alike(pairs: Pairs, wrong: Array, random_state: int = 0) -> list[ErrGroup]:
    """Return groups of people whose errors on pairs that they both answered go together.

    Looked for where pairs have three answers or more: an error is taken less the person's own rate
    and that of the pair, so that neither careless people nor hard pairs make a group. Two belong
    together where their correlation, times √(pairs in common), exceeds the largest of all after
    the errors of every pair are given to its people anew, in all but `CHANCE` of such permutations.
    """
    names = np.asarray(pairs.annotator_names)
    _, pair = np.unique(keys_of(pairs), return_inverse=True)
    shared = np.flatnonzero(np.bincount(pair)[pair] >= FEWEST_ANSWERS_OF_A_PAIR)
    who = np.asarray(pairs.annotator)
    most = np.argsort(-np.bincount(who[shared], minlength=len(names)), kind="stable")[:MOST_PEOPLE]
    shared = shared[np.isin(who[shared], most)]
    if shared.size == 0:
        return []
    people, who = np.unique(who[shared], return_inverse=True)
    _, pair = np.unique(pair[shared], return_inverse=True)
    errors = _SharedErrors(who, pair)
    if not errors.enough.any():
        return []
    rng, own = np.random.default_rng(random_state), wrong[shared]
    highest = [errors.strengths(errors.permuted(own, rng)).max() for _ in range(N_PERMUTATIONS)]
    strength = errors.strengths(own)
    linked = strength > np.quantile(highest, 1.0 - CHANCE)
    n_groups, group = connected_components(linked, directed=False)
    correlation = strength / np.sqrt(np.maximum(errors.common, 1.0))
    found = []
    for g in range(n_groups):
        inside = np.ix_(group == g, group == g)
        if linked[inside].any():
            members = tuple(names[people[group == g]].tolist())
            found.append(ErrGroup(members, float(correlation[inside][linked[inside]].mean())))
    return found


class _SharedErrors:
    """Answers by persons ``who`` to ``pair``, (n,) each, numbered from 0; what they share."""

    def __init__(self, who: NDArray[Any], pair: NDArray[Any]) -> None:
        self.who, self.pair = who, pair
        self.shape = int(who.max()) + 1, int(pair.max()) + 1
        self.size, self.asked = np.bincount(who), np.bincount(pair)
        self.meet = self._table(np.ones(len(who)))
        self.common: Array = (self.meet @ self.meet.T).toarray()
        self.enough = np.triu(self.common >= FEWEST_IN_COMMON, 1)

    def _table(self, values: Array) -> Any:
        return coo_array((values, (self.who, self.pair)), shape=self.shape).tocsr()

    def strengths(self, error: Array) -> Array:
        """Return correlation times √(pairs in common) of every two people, upper half only."""
        rest = error - (np.bincount(self.pair, error) / self.asked)[self.pair]
        rest = rest - (np.bincount(self.who, rest) / self.size)[self.who]
        table = self._table(rest)
        squares = (self._table(rest**2) @ self.meet.T).toarray()  # own ones on pairs in common
        scale = np.sqrt(np.maximum(squares * squares.T, 1e-24))
        found: Array = (table @ table.T).toarray() / scale * np.sqrt(self.common)
        return np.where(self.enough, found, -np.inf)

    def permuted(self, error: Array, rng: np.random.Generator) -> Array:
        """Return the errors of every pair given to its people anew, by everybody's odds to err.

        The largest of log-odds + Gumbel noise draws people one after another by their odds, so that
        pairs keep their errors, and people theirs on average.
        """
        rate = (np.bincount(self.who, error) + 0.5) / (self.size + 1.0)
        lot = logit(rate)[self.who] + rng.gumbel(size=len(error))
        permuted = np.empty_like(error)
        permuted[np.lexsort((lot, self.pair))] = error[np.lexsort((error, self.pair))]
        return permuted


def errors_by_feature(
    pairs: Pairs, wrong: Array, features: pd.DataFrame, level: float = 0.95
) -> list[FeatureLevel]:
    """Return how often answers are wrong by levels of the item features, worst spread first.

    ``wrong`` (n_pairs,) is P(the answer is wrong). Numbers are cut at their quartiles, words into
    their most frequent levels. Only the five features whose levels differ most, in standard errors,
    are kept.
    """
    found: list[tuple[float, list[FeatureLevel]]] = []
    for name in features.columns:
        levels = []
        for text, items in _levels(features[name]):
            touched = np.flatnonzero(items[pairs.left] | items[pairs.right])
            if len(touched) >= FEWEST_ANSWERS:
                mean, low, high = dyadic_mean(pairs.select(touched), wrong[touched], level)
                limits = Interval(mean, max(low, 0.0), min(high, 1.0), level)
                levels.append(FeatureLevel(str(name), text, len(touched), limits))
        if len(levels) > 1:
            found.append((_contrast(levels, level), levels))
    found.sort(key=lambda one: -one[0])
    return [row for _, levels in found[:5] for row in levels]


def _levels(column: pd.Series) -> list[tuple[str, NDArray[np.bool_]]]:
    if pd.api.types.is_numeric_dtype(column) and column.nunique() > N_LEVELS:
        cut = pd.qcut(column, N_LEVELS, duplicates="drop")
        return [
            (f"{one.left:.4g} to {one.right:.4g}", np.asarray(cut == one))
            for one in cut.cat.categories
        ]
    texts = column.astype(str)
    return [(str(one), np.asarray(texts == one)) for one in texts.value_counts().index[:N_LEVELS]]


def _contrast(levels: list[FeatureLevel], level: float) -> float:
    """Return the largest difference between two levels, in standard errors."""
    z = float(stats.norm.ppf(0.5 + level / 2))
    best = min(levels, key=lambda one: one.wrong.estimate).wrong
    worst = max(levels, key=lambda one: one.wrong.estimate).wrong
    error = np.hypot(best.high - best.estimate, worst.high - worst.estimate) / z
    return float((worst.estimate - best.estimate) / max(error, 1e-9))
