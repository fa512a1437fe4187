"""A crowd as a whole: the annotator table, agreement, gold, and the answers without somebody.

`annotators.annotator_table` judges by the classes inferred from all answers. Beside it stand
numbers that need no such inference (agreement with others on the same pair, errors on pairs whose
truth is known) and what leaving people out would change.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from noisypairs.algebra import Array
from noisypairs.annotators import AnnotatorRow, AnnotatorTable, annotator_table
from noisypairs.annotators.choice import Model
from noisypairs.annotators.errors import (
    ErrGroup,
    FeatureLevel,
    Quick,
    errors_by_feature,
    groups_who_err_alike,
    quick_answers,
)
from noisypairs.annotators.table import three_entries
from noisypairs.errors import NotIdentifiable
from noisypairs.estimation import Interval, wilson
from noisypairs.graph.propagation import PairGraph
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import pair_keys
from noisypairs.pairs.pairs import keys_of, levels_of

#: A known pair is contradicted where this share, and number, of answers say the opposite.
CLEAR_MAJORITY, FEWEST_AGAINST = 0.8, 3
#: Truth of an answer's pair where it is unknown.
UNKNOWN = -1
#: Annotators left out one by one, the least informative first: each costs one propagation.
MOST_DROPPED = 200


@dataclass(frozen=True)
class Agreement:
    """How one annotator agrees with the others on the same pairs.

    ``n`` counts own answers on pairs that somebody else answered too; ``share`` is the mean share
    of the others' answers that agree, ``kappa`` = (share − chance)/(1 − chance) with the agreement
    by chance of two who say "same" as often as these do. None where n = 0 or chance = 1.
    """

    n: int
    share: Interval | None
    kappa: Interval | None


@dataclass(frozen=True)
class GoldRates:
    """Errors on pairs of known truth, by counting; an interval is None where no such pair is."""

    n_same: int
    n_different: int
    similar_flip: Interval | None
    dissimilar_flip: Interval | None


class Contradiction(NamedTuple):
    """A pair of known truth that most answers contradict: positions of its items, and how many."""

    left: int
    right: int
    same: bool
    n_answers: int
    n_against: int


@dataclass(frozen=True)
class Crowd:
    """All that is known of the annotators; lists are in the order of ``table.rows``.

    ``alpha`` is Krippendorff's chance-corrected agreement of all, ``rest_accuracy`` the expected
    share of right answers without each one, ``without_suspects`` the crowd's row when all suspects
    are left out and everything is inferred again (None: nobody is suspect, or ``without_note`` says
    why not). ``alike`` are groups who err on the same pairs, ``quick`` says how many answers came
    too quickly, where times are given.
    """

    table: AnnotatorTable
    agreement: list[Agreement]
    alpha: float | None
    gold: list[GoldRates] | None
    rest_accuracy: list[float | None]
    without_suspects: AnnotatorRow | None
    without_note: str
    by_feature: list[FeatureLevel]
    alike: list[ErrGroup] = field(default_factory=list)
    quick: Quick | None = None
    contradicted: list[Contradiction] = field(default_factory=list)

    @property
    def least_missed(self) -> int | None:
        """The row without which the answers of the others are right most often; None for one."""
        known = [r for r, rest in enumerate(self.rest_accuracy) if rest is not None]
        if not known:
            return None
        return max(known, key=lambda r: (self.rest_accuracy[r], -self.table.rows[r].n_answers))

    def to_records(self) -> list[dict[str, Any]]:
        """Return one flat dict per annotator, intervals as three entries."""
        records = []
        for r, row in enumerate(self.table.rows):
            one = row.to_dict() | {"right_without": self.rest_accuracy[r]}
            shared = self.agreement[r]
            one |= {"shared_answers": shared.n}
            if self.quick is not None:
                one |= {"too_quick": self.quick.shares[r]}
            one |= three_entries("agreement", shared.share) | three_entries("kappa", shared.kappa)
            if self.gold is not None:
                gold = self.gold[r]
                one |= {"gold_same": gold.n_same, "gold_different": gold.n_different}
                one |= three_entries("gold_similar_flip", gold.similar_flip)
                one |= three_entries("gold_dissimilar_flip", gold.dissimilar_flip)
            records.append(one)
        return records

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        after = self.without_suspects
        return self.table.to_dict() | {
            "annotators": self.to_records(),
            "agreement_alpha": self.alpha,
            "suspects": self.table.suspects,
            "err_together": None if (one := self.table.together) is None else one.to_dict(),
            "contradicted": [one._asdict() for one in self.contradicted],
            "least_missed": None if (r := self.least_missed) is None else self.table.rows[r].name,
            "crowd_without_suspects": None if after is None else after.to_dict(),
            "without_suspects_note": self.without_note,
            "err_alike": [list(group.names) for group in self.alike],
            "quick": None if self.quick is None else self.quick.to_dict(),
            "by_feature": [
                {"feature": one.feature, "level": one.level, "answers": one.n_answers}
                | three_entries("wrong", one.wrong)
                for one in self.by_feature
            ],
        }


def judge_crowd(
    pairs: Pairs,
    X: Any = None,
    features: pd.DataFrame | None = None,
    *,
    labels: Mapping[int, Hashable] | None = None,
    truth: NDArray[np.int8] | None = None,
    n_classes: int | Sequence[int] | Literal["auto"] = "auto",
    model: Model = "auto",
    level: float = 0.95,
    random_state: int = 0,
    seconds: Array | None = None,
) -> Crowd:
    """Judge everybody who answered.

    ``X`` (n_items, d) are numeric features and ``features`` the columns as people know them;
    ``labels`` known classes of items, ``truth`` (n_pairs,) known answers: 1 same, 0 different,
    −1 unknown. With labels alone the truth of pairs follows. ``n_classes`` and ``model`` are those
    of `annotator_table`. ``seconds`` (n_pairs,) is how long each answer took, NaN where unknown.

    >>> from noisypairs import datasets
    >>> rates = {"similar_flip": 0.1, "dissimilar_flip": 0.1}
    >>> simulated = datasets.simulated_crowd(100, 2, 20, 30, **rates, random_state=0)
    >>> found = judge_crowd(simulated.pairs)
    >>> found.table.suspects, found.without_suspects.informativeness.estimate > 0.75
    ([12, 18], True)
    """
    given, known = pairs, truth
    pairs = pairs.yes_or_no().without_self_pairs()
    counted = (levels_of(given) < given.scale.n_ordered) & (given.left != given.right)
    truth = None if truth is None else truth[counted]
    seconds = None if seconds is None else seconds[counted]
    settings: dict[str, Any] = {"n_classes": n_classes, "model": model, "level": level}
    settings |= {"gold": labels or None, "random_state": random_state}
    whole, alpha = agreement(pairs, level), krippendorff_alpha(pairs)
    try:
        table = _judged(given, X, n_drop=MOST_DROPPED, known=known, **settings)
    except NotIdentifiable as error:
        agree = "is unknown: no pair was answered twice" if alpha is None else f"is {alpha:.2f}"
        raise NotIdentifiable(
            f"no annotator can be distinguished from a spammer: {error}. It looks as if all "
            f"annotators answered without looking; their chance-corrected agreement {agree} (0 is "
            "chance, 1 perfect)"
        ) from error
    if truth is None and labels:
        truth = truth_from_labels(pairs, labels)
    if table.choice is not None:  # chosen once, by all answers
        settings |= {"n_classes": table.choice.n_classes or 2, "model": table.choice.model}
    after, note = _without_suspects(given, X, table, known, settings)
    wrong = _wrong(pairs, table)
    return Crowd(
        table,
        whole,
        alpha,
        None if truth is None else gold_rates(pairs, truth, level),
        rest_accuracy(table),
        after,
        note,
        [] if features is None else errors_by_feature(pairs, wrong, features, level),
        groups_who_err_alike(pairs, wrong, random_state),
        None if seconds is None else quick_answers(pairs, wrong, seconds, level),
        [] if truth is None else contradictions(pairs, truth),
    )


def contradictions(pairs: Pairs, truth: NDArray[np.int8]) -> list[Contradiction]:
    """Return the known pairs that the crowd contradicts, those with most answers first.

    That is where `CLEAR_MAJORITY` of `FEWEST_AGAINST` answers or more say the opposite.

    >>> pairs = Pairs([0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0], annotator=list("abcd"))
    >>> contradictions(pairs, np.ones(4, np.int8))
    [Contradiction(left=0, right=1, same=True, n_answers=4, n_against=4)]
    """
    known = np.flatnonzero(truth >= 0)
    keys, first, pair = np.unique(keys_of(pairs)[known], return_index=True, return_inverse=True)
    asked = np.bincount(pair, minlength=len(keys))
    against = np.bincount(pair, pairs.same[known] != (truth[known] == 1), len(keys)).astype(int)
    bad = np.flatnonzero((asked >= FEWEST_AGAINST) & (against >= CLEAR_MAJORITY * asked))
    found = []
    for k in bad[np.argsort(-against[bad], kind="stable")]:
        at = known[first[k]]
        low, high = sorted((int(pairs.left[at]), int(pairs.right[at])))
        same = bool(truth[at] == 1)
        found.append(Contradiction(low, high, same, int(asked[k]), int(against[k])))
    return found


def agreement(pairs: Pairs, level: float = 0.95) -> list[Agreement]:
    """Return each annotator's agreement with the others on the same unordered pairs.

    Own answers count equally, however many others there are; several own answers on one pair are
    not compared with each other. Intervals: Wilson with ``n`` own answers, and the same limits
    corrected for chance, the chance taken as it is.

    >>> pairs = Pairs([0, 0, 1], [1, 1, 2], [1, 1, 0], annotator=["ann", "bob", "ann"])
    >>> [(one.n, one.share.estimate) for one in agreement(pairs)]
    [(1, 1.0), (1, 1.0)]
    """
    who, edge = _who(pairs), PairGraph.from_pairs(pairs).edge_of_answer
    R = len(np.asarray(pairs.annotator_names))
    mine = np.unique(edge.astype(np.int64) * R + who, return_inverse=True)[1]
    proper = edge >= 0
    others = np.bincount(edge[proper])[edge] - np.bincount(mine)[mine]
    same = np.where(proper, pairs.same, False).astype(float)
    yes = np.bincount(edge[proper], same[proper])[edge] - np.bincount(mine, same)[mine]
    shared = proper & (others > 0)
    rate = yes[shared] / others[shared]  # share of the others who say "same"
    agrees = np.where(pairs.same[shared], rate, 1.0 - rate)
    values = (np.ones(len(rate)), agrees, same[shared], rate)
    sums = [np.bincount(who[shared], value, minlength=R).tolist() for value in values]
    return [_agreement(n, hit, own, their, level) for n, hit, own, their in zip(*sums, strict=True)]


def _agreement(n: float, hit: float, own: float, their: float, level: float) -> Agreement:
    if n == 0:
        return Agreement(0, None, None)
    share = wilson(min(hit, n), n, level)
    p, q = own / n, their / n
    chance = p * q + (1.0 - p) * (1.0 - q)
    if chance > 1.0 - 1e-9:
        return Agreement(int(n), share, None)
    ends = [(end - chance) / (1.0 - chance) for end in (share.estimate, share.low, share.high)]
    return Agreement(int(n), share, Interval(ends[0], ends[1], ends[2], level))


def krippendorff_alpha(pairs: Pairs) -> float | None:
    """Return Krippendorff's α of the two answers over all pairs asked twice or more, or None.

    α = 1 − D_o / D_e: observed disagreement over that of answers permuted at random.

    >>> krippendorff_alpha(Pairs([0, 0, 1, 1], [1, 1, 2, 2], [1, 1, 0, 0]))
    1.0
    """
    pairs = pairs.without_self_pairs()
    edge = PairGraph.from_pairs(pairs).edge_of_answer
    asked = np.bincount(edge)
    yes = np.bincount(edge, pairs.same)[asked > 1]
    asked = asked[asked > 1]
    total, same = float(asked.sum()), float(yes.sum())
    if total == 0 or same in (0.0, total):
        return None
    observed = float((2 * yes * (asked - yes) / (asked - 1)).sum()) / total
    return 1.0 - observed / (2 * same * (total - same) / (total * (total - 1)))


def truth_from_labels(pairs: Pairs, labels: Mapping[int, Hashable]) -> NDArray[np.int8]:
    """Return 1 for answers on two items known to be of one class, 0 of two, −1 else, (n_pairs,).

    >>> truth_from_labels(Pairs([0, 1], [1, 2], [1, 1]), {0: "cat", 1: "dog"}).tolist()
    [0, -1]
    """
    code = np.full(pairs.n_items, UNKNOWN)
    names = np.unique(np.array([str(name) for name in labels.values()]), return_inverse=True)[1]
    code[np.fromiter(labels, dtype=np.intp)] = names
    left, right = code[pairs.left], code[pairs.right]
    known = (left >= 0) & (right >= 0) & (pairs.left != pairs.right)
    return np.where(known, left == right, UNKNOWN).astype(np.int8)


def truth_from_answers(
    pairs: Pairs, ids: Sequence[str], gold: Pairs, gold_ids: Sequence[str]
) -> NDArray[np.int8]:
    """Return the known answer to each answer's pair, 1 same, 0 different, −1 unknown, (n_pairs,).

    ``ids`` and ``gold_ids`` name the items of the two; a pair that gold calls both is refused.

    >>> gold = Pairs([0], [1], [False])
    >>> asked = Pairs([0, 1], [1, 2], [1, 1])
    >>> truth_from_answers(asked, ["a", "b", "c"], gold, ["b", "a"]).tolist()
    [0, -1]
    """
    place = {name: k for k, name in enumerate(ids)}
    moved = np.array([place.get(name, UNKNOWN) for name in gold_ids], dtype=np.int64)
    left, right = moved[gold.left], moved[gold.right]
    usable = (left >= 0) & (right >= 0) & (left != right)
    if not usable.any():
        raise ValueError("no pair of the gold file is about two items of the pairs: check the ids")
    known = np.unique(np.stack([pair_keys(left, right, len(ids)), gold.same])[:, usable], axis=1)
    if len(np.unique(known[0])) < known.shape[1]:
        raise ValueError("the gold file calls one pair both same and different: keep one of them")
    asked = pair_keys(pairs.left, pairs.right, len(ids))
    at = np.minimum(np.searchsorted(known[0], asked), known.shape[1] - 1)
    return np.where(known[0][at] == asked, known[1][at], UNKNOWN).astype(np.int8)


def gold_rates(pairs: Pairs, truth: NDArray[np.int8], level: float = 0.95) -> list[GoldRates]:
    """Return each annotator's errors on pairs of known truth (n_pairs,), with Wilson's intervals.

    >>> pairs = Pairs([0, 0, 0], [1, 2, 2], [1, 1, 0], annotator=["ann", "ann", "bob"])
    >>> [str(one.dissimilar_flip) for one in gold_rates(pairs, np.array([1, 0, -1], np.int8))]
    ['1.000 [0.207, 1.000]', 'None']
    """
    who, R = _who(pairs), len(np.asarray(pairs.annotator_names))
    found = []
    for is_same in (1, 0):
        here = truth == is_same
        wrong = here & (pairs.same != bool(is_same))
        found.append([np.bincount(who[mask], minlength=R) for mask in (wrong, here)])
    (wrong_s, total_s), (wrong_d, total_d) = found
    rows = zip(wrong_s.tolist(), total_s.tolist(), wrong_d.tolist(), total_d.tolist(), strict=True)
    return [
        GoldRates(
            n_s,
            n_d,
            wilson(w_s, n_s, level) if n_s else None,
            wilson(w_d, n_d, level) if n_d else None,
        )
        for w_s, n_s, w_d, n_d in rows
    ]


def rest_accuracy(table: AnnotatorTable) -> list[float | None]:
    """Return the expected share of right answers, by weight, among those of everybody else, (R,).

    The classes are kept as inferred from all answers, so this is exact arithmetic on the table and
    an approximation to inferring them again; None where nobody else answered.
    """
    weight = table.answer_weight
    right = weight * np.array([row.accuracy for row in table])
    rest = weight.sum() - weight
    shares = (right.sum() - right) / np.maximum(rest, 1e-300)
    return [float(share) if left > 0 else None for share, left in zip(shares, rest, strict=True)]


def _wrong(pairs: Pairs, table: AnnotatorTable) -> Array:
    """Return P(wrong) of each answer: of classes from beliefs about its items, as independent."""
    if table.wrong_proba is not None:
        return table.wrong_proba
    left, right = (table.item_proba[end] for end in (pairs.left, pairs.right))
    same: Array = np.einsum("nk,nk->n", left, right)
    return np.where(pairs.same, 1.0 - same, same)


def _judged(pairs: Pairs, X: Any, **settings: Any) -> AnnotatorTable:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return annotator_table(pairs, X, **settings)


def _without_suspects(
    pairs: Pairs,
    X: Any,
    table: AnnotatorTable,
    known: NDArray[np.int8] | None,
    settings: dict[str, Any],
) -> tuple[AnnotatorRow | None, str]:
    """Infer everything again without the answers of all suspects, once for all of them."""
    if not table.suspects:
        return None, "nobody is suspect"
    bad = np.isin(np.asarray(pairs.annotator_names)[_who(pairs)], table.suspects)
    if bad.all():
        return None, "all annotators are suspect, so no answers would remain"
    try:
        known = None if known is None else known[~bad]
        return _judged(pairs.select(~bad), X, n_drop=0, known=known, **settings).crowd, ""
    except NotIdentifiable as error:
        return None, f"the remaining answers are not enough: {error}"


def _who(pairs: Pairs) -> NDArray[np.int32]:
    if pairs.annotator is None:
        raise ValueError(
            "the pairs do not say who answered: name the column of annotators (--annotator NAME)"
        )
    return pairs.annotator
