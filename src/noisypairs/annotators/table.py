"""Who answers well: each annotator's flip rates with intervals, a verdict, and what they change.

The classes behind the answers are inferred first, from the pair graph alone or with features, or
each pair is judged by itself (`choice` decides); an answer on items (i, j) then has
p = P(same | everything), and annotator r is counted by

    N_S = Σ p,  W_S = Σ p [answer "different"],     N_D = Σ (1−p),  W_D = Σ (1−p) [answer "same"],

so that ρ_S ≈ W_S / N_S, ρ_D ≈ W_D / N_D, and J = 1 − ρ_S − ρ_D is what the answers are worth: 1 for
perfect ones, 0 for a coin, fair or biased, −1 for all reversed. `kind_probability` and
`rate_posterior` lead from these counts to the table. They take the inferred classes as certain: the
intervals are too short where pairs are few.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta, norm
from sklearn.utils import check_random_state

from noisypairs.algebra import Array
from noisypairs.annotators.choice import (
    CLASS_NUMBERS,
    MODELS,
    Model,
    ModelChoice,
    choose_model,
    require_pair_truth,
)
from noisypairs.annotators.classes import (
    InferredClasses,
    classes_of_fit,
    counts_of_table,
    infer_classes,
    streamed_counts,
)
from noisypairs.annotators.kinds import KINDS, kind_probability, rate_posterior
from noisypairs.annotators.pair_truth import (
    ErrTogether,
    PairTruth,
    infer_pair_truth,
    likeness_of,
    truth_by_classes,
)
from noisypairs.assess.people import answer_another
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import did_you_mean
from noisypairs.estimation import Interval
from noisypairs.estimators.base import in_order
from noisypairs.graph import progress
from noisypairs.graph.propagation import RandomSource
from noisypairs.joint.choices import SEARCH_PAIRS
from noisypairs.joint.problem import Problem
from noisypairs.noise.model import PSEUDO_ANSWERS, group_errors
from noisypairs.noise.people import fit_people
from noisypairs.pairs import Pairs
from noisypairs.pairs.pairs import in_memory, levels_of

UNDECIDED = "too few answers"
#: The verdict on people who agree with each other and not with the classes of the others.
ANOTHER = "another question"
#: Newton steps for bias and skill: more change nothing that is shown.
STEPS = 30
#: Draws behind the interval of J.
N_DRAWS = 4000
#: Draws of truths and rates together; each passes over all answers.
N_TRUTHS = 300


@dataclass(frozen=True)
class AnnotatorRow:
    """One annotator, or the crowd, whose ``verdict`` is empty.

    ``verdict`` is the kind of annotator judged, one of `KINDS`, `ANOTHER` or `UNDECIDED`, and
    ``probability`` that of the most probable kind. ``accuracy`` is the expected share of right
    answers, ``informativeness`` J, and ``drop_effect`` the number of items whose most probable
    class changes without this annotator, all rates kept (None: not computed), or the number of
    pairs whose truth changes where each pair is judged by itself. ``bias`` is how far they lean
    towards "same", and ``skill`` how much further than the crowd's their answers to same and to
    different pairs lie apart, both in log-odds, 0 for the crowd (`noisypairs.noise.people`); None
    for the crowd. ``unsure`` is the share of unsure answers, which are not among the
    ``n_answers``; None where nobody could be unsure.
    """

    name: Any
    n_answers: int
    accuracy: float
    similar_flip: Interval
    dissimilar_flip: Interval
    informativeness: Interval
    verdict: str = ""
    probability: float | None = None
    drop_effect: int | None = None
    bias: Interval | None = None
    skill: Interval | None = None
    unsure: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, each interval as three entries."""
        flat = vars(self).copy()
        for key in ("similar_flip", "dissimilar_flip", "informativeness", "bias", "skill"):
            flat |= three_entries(key, flat[key])
        return flat


def three_entries(name: str, interval: Interval | None) -> dict[str, float | None]:
    """Return an interval as plain entries: ``name``, and its two limits."""
    if interval is None:
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    return {name: interval.estimate, f"{name}_low": interval.low, f"{name}_high": interval.high}


@dataclass(frozen=True)
class AnnotatorTable:
    """One `AnnotatorRow` per annotator, in the order of ``pairs.annotator_names``, and the crowd's.

    ``kind_shares`` are the estimated shares of the kinds, ``item_proba`` (n_items, K) the beliefs
    about the items behind the table, ``answer_weight`` (R,) the weight of each one's answers.
    ``choice`` says whether these are classes or single pairs; for single pairs K = 0. For these,
    and where pairs are known, ``wrong_proba`` has the probability that each answer is wrong,
    without self pairs and unsure answers. ``together`` says how far people err together, if they
    do. Where they do and no pair is known, the rates cannot be known: their intervals are then 0
    to 1.
    Iterates over rows; ``str`` shows suspects and worst J first.
    """

    rows: tuple[AnnotatorRow, ...]
    crowd: AnnotatorRow
    kind_shares: Mapping[str, float]
    item_proba: Array
    level: float
    answer_weight: Array
    choice: ModelChoice | None = None
    wrong_proba: Array | None = None
    together: ErrTogether | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[AnnotatorRow]:
        return iter(self.rows)

    def named(self, *verdicts: str) -> list[Any]:
        """Return the names of the annotators with one of these verdicts."""
        known = (*KINDS, ANOTHER, UNDECIDED)
        for verdict in set(verdicts) - set(known):
            raise ValueError(f"unknown verdict {verdict!r}: {did_you_mean(verdict, known)}")
        return [row.name for row in self.rows if row.verdict in verdicts]

    @property
    def suspects(self) -> list[Any]:
        """Names of all annotators found to be anything but honest."""
        return self.named(*KINDS[1:])

    def to_records(self) -> list[dict[str, Any]]:
        """Return one flat dict per annotator, as data frames take them."""
        return [row.to_dict() for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the whole table as plain data, ready for JSON."""
        whole = {"level": self.level, "kind_shares": dict(self.kind_shares)}
        whole |= {} if self.choice is None else self.choice.to_dict()
        return whole | {"crowd": self.crowd.to_dict(), "annotators": self.to_records()}

    @property
    def changed(self) -> str:
        """What ``drop_effect`` counts: "items" or "pairs"."""
        return "items" if self.choice is None or self.choice.model == "classes" else "pairs"

    def to_text(self, n_rows: int | None = 20) -> str:
        """Return the crowd's row and the ``n_rows`` most suspect ones (None: all) as text."""
        order = sorted(self.rows, key=lambda row: row.informativeness.estimate)
        order.sort(key=lambda row: row.verdict not in KINDS[1:])
        titles = ["annotator", "answers", "right", "similar_flip", "dissimilar_flip"]
        titles += ["informativeness", "verdict", "P", f"{self.changed} changed if dropped"]
        lines = [titles, *map(_cells, (self.crowd, *order[:n_rows]))]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        hidden = len(order) - len(lines) + 2
        text += [f"… and {hidden} more: see to_text(None)"] * bool(hidden)
        single = self.choice is not None and self.choice.model == "pairs"
        return "\n".join(text + [str(self.choice)] * single)

    __str__ = to_text


def annotator_table(
    pairs: Pairs,
    X: Any = None,
    *,
    n_classes: int | Sequence[int] | Literal["auto"] = "auto",
    model: Model = "auto",
    level: float = 0.95,
    gold: Mapping[int, Hashable] | None = None,
    known: ArrayLike | None = None,
    min_answers: int = 30,
    n_drop: int = 10,
    estimator: Any = None,
    random_state: RandomSource = None,
) -> AnnotatorTable:
    """Judge every annotator of ``pairs``: rates with intervals, informativeness, a verdict.

    - ``X``: features (n_items, d), for `JointPairClassifier` with ``estimator``; without them the
      pair graph alone tells the ``n_classes`` classes (the best of several starts).
    - ``n_classes``: a number, several to choose from by how well they explain the answers, or
      "auto" for 2 to 6; known classes say it themselves.
    - ``model``: "classes"; "pairs", where each pair is judged by itself, as for records to link,
      which needs pairs answered by several people; or "auto", which predicts held-out answers
      both ways where there are enough of them (`choice.choose_model`).
    - ``level``: of the intervals, and of the verdicts on annotators with few answers.
    - ``gold``: known classes, {item: class}, each class at least once; else ``pairs.labels``.
    - ``known``: the truth of every answer's pair, (n_pairs,): 1 same, 0 different, −1 unknown.
      They correct what everybody gets wrong alike, which no answer shows.
    - ``min_answers``: from so many answers on, the most probable kind is the verdict; with fewer it
      must be as probable as ``level``, or the verdict is "too few answers".
    - ``n_drop``: for so many annotators, the lowest J first, ``drop_effect`` is computed.

    A `PairTable` of more than `SEARCH_PAIRS` pairs is streamed: every answer counts, but
    no ``drop_effect`` is computed, and it is always judged by classes.

    Raises `NotIdentifiable` where the model explains the answers hardly better than chance.

    >>> from noisypairs import datasets
    >>> rates = {"similar_flip": 0.1, "dissimilar_flip": 0.1}
    >>> crowd = datasets.simulated_crowd(100, 2, 20, 30, **rates, random_state=0)
    >>> table = annotator_table(crowd.pairs, random_state=0)
    >>> [(name, str(crowd.annotator_kind[name])) for name in table.suspects]
    [(12, 'spammer'), (18, 'always-same')]
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level!r}: expected a number between 0 and 1, such as 0.95")
    if model not in MODELS:
        raise ValueError(f"model={model!r}: {did_you_mean(model, MODELS)}")
    if pairs.annotator_names is None:
        raise ValueError("the pairs do not say who answered: give Pairs(..., annotator=ids)")
    truth = None if known is None else np.asarray(known, dtype=np.int8)
    if truth is not None and len(truth) != pairs.n_pairs:
        raise ValueError(
            f"known has {len(truth)} entries but there are {pairs.n_pairs} answers: give one for "
            "each, 1 for same, 0 for different, -1 for unknown"
        )
    if truth is not None and isinstance(pairs, Pairs):
        truth = truth[pairs.left != pairs.right]
    whole = (pairs if gold is None else pairs.with_labels(gold, by="position")).without_self_pairs()
    if whole.n_pairs == 0:
        raise ValueError("there is no pair of two distinct items: nothing to judge annotators by")
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    random = check_random_state(random_state)
    numbers = _class_numbers(n_classes, whole)
    X, whole, given = in_order(X, whole)
    counting = level, min_answers, n_drop
    truth = truth if truth is None or given.answers is None else truth[given.answers]
    table = _judged(whole, X, numbers, model, estimator, random, truth, *counting)
    table = replace(table, item_proba=given.of_items(table.item_proba))
    if table.wrong_proba is None:
        return table
    wrong = np.full(whole.n_pairs, np.nan)
    wrong[_decided(whole)] = table.wrong_proba
    wrong = given.of_answers(wrong)
    return replace(table, wrong_proba=wrong[np.isfinite(wrong)])


def table_of_fit(
    model: JointPairClassifier,
    pairs: Any,
    level: float = 0.95,
    min_answers: int = 30,
    n_drop: int = 10,
) -> AnnotatorTable:
    """Judge every annotator by a fitted joint learner: no class is inferred again.

    ``pairs`` are those of the fit; level, min_answers and n_drop as in `annotator_table`.
    """
    if pairs.annotator_names is None:
        raise ValueError("the pairs do not say who answered: give Pairs(..., annotator=ids)")
    K = len(model.classes_)
    choice = ModelChoice("classes", K, (K,), "as the fit has it")
    if not isinstance(pairs, Pairs):
        counted = counts_of_table(pairs, model)
        return replace(table_from_counts(*counted, level, min_answers), choice=choice)
    pairs = pairs.without_self_pairs()
    found = classes_of_fit(model, pairs)
    table = _tabulate(pairs, found, choice, level, min_answers, n_drop)
    if (record := model._record_) is None:
        return table
    return _by_question(table, record.problem, record.fit.item_proba)


@progress.stage("", {"choice of model": 3.0, "classes": 3.0, "without one annotator": 1.0})
def _judged(
    whole: Any,
    X: Any,
    numbers: Sequence[int],
    model: Model,
    estimator: Any,
    random: np.random.RandomState,
    known: NDArray[np.int8] | None,
    level: float,
    min_answers: int,
    n_drop: int,
) -> AnnotatorTable:
    """Return the table of answers whose order no longer matters."""
    pairs = in_memory(whole, SEARCH_PAIRS)
    if pairs.n_pairs < whole.n_pairs:
        if model == "pairs":
            raise ValueError(
                f"model='pairs' needs all answers in memory, at most {SEARCH_PAIRS:,}: "
                "give some of the items with all their pairs, or model='classes'"
            )
        counted = streamed_counts(whole, X, numbers, estimator, random)
        table = table_from_counts(*counted, level, min_answers)
        reason = f"above {SEARCH_PAIRS:,} answers only classes are inferred"
        K = table.item_proba.shape[1]
        return replace(table, choice=ModelChoice("classes", K, tuple(numbers), reason))
    plain = pairs.yes_or_no()
    if known is not None:
        known = known[_decided(pairs)]
    if model == "pairs":
        choice = require_pair_truth(plain, X, random)
    elif model == "classes":
        choice = ModelChoice("classes", None, tuple(numbers), "as asked for")
    else:
        choice = choose_model(plain, X, numbers, estimator, random)
    numbers = numbers if choice.n_classes is None else [choice.n_classes]
    counting = level, min_answers, n_drop
    if choice.model == "pairs":
        alike = None if choice.by_likeness is None else likeness_of(plain, X)
        truth = infer_pair_truth(plain, known, alike)
        return _tabulate(pairs, truth, choice, *counting, truth=truth)
    classes = infer_classes(pairs, X, numbers, estimator, random)
    if known is None or not (known >= 0).any():
        table = _tabulate(pairs, classes, choice, *counting)
        return _by_question(table, Problem(X, pairs, random_state=random), classes.item_proba)
    truth = truth_by_classes(plain, classes.same_chance(plain), known)
    return _tabulate(pairs, classes, choice, *counting, truth=truth)


def _decided(pairs: Pairs) -> NDArray[np.bool_]:
    """Return which answers are not unsure, (n_pairs,)."""
    decided: NDArray[np.bool_] = levels_of(pairs) < pairs.scale.n_ordered
    return decided


def _by_question(table: AnnotatorTable, problem: Problem, beliefs: Array) -> AnnotatorTable:
    """Return the table with those named who seem to guess, and answer another question."""
    suspects = set(table.named("spammer"))
    names = np.asarray(problem.pairs.annotator_names).tolist()
    doubtful = np.array([name in suspects for name in names])
    another = answer_another(problem, doubtful, beliefs)
    told = {name for name, is_one in zip(names, another.tolist(), strict=True) if is_one}
    rows = (
        replace(row, verdict=ANOTHER, probability=None) if row.name in told else row
        for row in table.rows
    )
    return replace(table, rows=tuple(rows))


def _class_numbers(n_classes: int | Sequence[int] | str, pairs: Pairs) -> Sequence[int]:
    """Return the numbers of classes in question, rising; known classes leave one if it is open."""
    if isinstance(n_classes, str) and n_classes != "auto":
        raise ValueError(f"n_classes={n_classes!r}: expected a number, several, or 'auto'")
    if isinstance(n_classes, int | np.integer):
        return [int(n_classes)]
    named = len(set(pairs.labels.values()))
    if named:
        return [max(named, 2)]
    numbers = CLASS_NUMBERS if isinstance(n_classes, str) else n_classes
    return sorted({int(number) for number in numbers})


def _tabulate(
    pairs: Pairs,
    found: InferredClasses | PairTruth,
    choice: ModelChoice,
    level: float,
    min_answers: int,
    n_drop: int,
    truth: PairTruth | None = None,
) -> AnnotatorTable:
    """Return the table; answers are wrong by ``truth``, or else by the classes ``found``."""
    names, who, decided = np.asarray(pairs.annotator_names), pairs.annotator, _decided(pairs)
    given, n_answers = (
        np.bincount(np.asarray(who)[which], minlength=len(names))
        for which in (np.ones_like(decided), decided)
    )
    counts, draws = found.counts(), None
    if truth is not None:
        counts, draws = truth.counts(), truth.error_draws
    table = table_from_counts(
        names, n_answers, *counts, found.item_proba, level, min_answers, draws
    )
    worst = np.argsort([row.informativeness.estimate for row in table], kind="stable")[:n_drop]
    rows = list(table.rows)
    for r in progress.each("without one annotator", worst.tolist()):
        rows[r] = replace(rows[r], drop_effect=found.drop_effect(r))
    if pairs.scale.unsure is not None:
        unsure = 1.0 - n_answers / np.maximum(given, 1)
        rows = [replace(row, unsure=u) for row, u in zip(rows, unsure.tolist(), strict=True)]
    table = replace(table, rows=tuple(rows))
    if truth is not None:
        table = replace(table, wrong_proba=truth.wrong_proba)
    if isinstance(found, PairTruth):
        together = found.together
        if together is not None and together.is_open:
            table = replace(table, rows=tuple(map(_opened, table.rows)), crowd=_opened(table.crowd))
        return replace(table, choice=choice, together=together)
    return replace(table, choice=replace(choice, n_classes=found.item_proba.shape[1]))


def _opened(row: AnnotatorRow) -> AnnotatorRow:
    """Return the row of somebody whose rates the answers cannot tell: anything is possible."""
    return replace(
        row,
        similar_flip=replace(row.similar_flip, low=0.0, high=1.0),
        dissimilar_flip=replace(row.dissimilar_flip, low=0.0, high=1.0),
        informativeness=replace(row.informativeness, low=-1.0, high=1.0),
    )


def table_from_counts(
    names: NDArray[Any],
    n_answers: NDArray[Any],
    same: Array,
    different: Array,
    item_proba: Array,
    level: float = 0.95,
    min_answers: int = 30,
    error_draws: Callable[..., Array] | None = None,
) -> AnnotatorTable:
    """Judge annotators, R of them, by the classes behind their answers, (R, K, K) for each kind.

    ``same`` and ``different`` are expected counts as `posteriors.expected_counts` gives them.
    ``error_draws`` draws rates whose truth is itself in doubt, as `PairTruth.error_draws` does;
    without it the counts are taken for certain.
    """
    wrong, total = group_errors(same, different)
    kinds, shares = kind_probability(wrong, total)
    a, b = rate_posterior(wrong, total, kinds[:, 0])
    accuracy = 1.0 - wrong.sum(axis=0) / np.maximum(total.sum(axis=0), 1e-12)
    right = total - wrong
    if error_draws is None:
        limits = _intervals(a, b, level)
        missed, rest = (counts.sum(axis=1, keepdims=True) + 0.5 for counts in (wrong, right))
        of_crowd = _intervals(missed, rest, level)[0]
    else:
        rates = error_draws((a - wrong, b - right), N_TRUTHS, np.random.default_rng(0))
        weight = total / np.maximum(total.sum(axis=1, keepdims=True), 1e-12)
        limits = _limits(rates, level)
        of_crowd = _limits((rates * weight).sum(axis=2, keepdims=True), level)[0]
    bias, skill = _bias_and_skill(same, different, level)
    rows = []
    for r, (name, count) in enumerate(zip(names.tolist(), n_answers.tolist(), strict=True)):
        kind, top = KINDS[int(kinds[r].argmax())], float(kinds[r].max())
        verdict = kind if count >= min_answers or top >= level else UNDECIDED
        judged = name, count, float(accuracy[r]), *limits[r], verdict, top
        rows.append(AnnotatorRow(*judged, bias=bias[r], skill=skill[r]))
    share = 1.0 - float(wrong.sum() / total.sum())
    crowd = AnnotatorRow("(crowd)", int(n_answers.sum()), share, *of_crowd)
    kind_shares = dict(zip(KINDS, shares.tolist(), strict=True))
    weight = total.sum(axis=0)
    return AnnotatorTable(tuple(rows), crowd, kind_shares, item_proba, level, weight)


def _bias_and_skill(
    same: Array, different: Array, level: float
) -> tuple[list[Interval], list[Interval]]:
    """Return everybody's bias and skill in log-odds, shrunk towards the crowd's."""
    said, total = same.sum(axis=0), (same + different).sum(axis=0)
    crowd = (said + PSEUDO_ANSWERS / 2) / (total + PSEUDO_ANSWERS)
    counts = np.stack([different, same], axis=1)
    people = fit_people(counts, np.stack([1.0 - crowd, crowd]), steps=STEPS)
    z = float(norm.ppf(0.5 + level / 2))
    bias, skill = (
        [
            Interval(value, value - z * error, value + z * error, level)
            for value, error in zip(values.tolist(), errors.tolist(), strict=True)
        ]
        for values, errors in (
            (people.bias, people.bias_error),
            (people.skill, people.skill_error),
        )
    )
    return bias, skill


def _intervals(a: Array, b: Array, level: float) -> list[tuple[Interval, Interval, Interval]]:
    """Return everybody's intervals of ρ_S, ρ_D and J from the Beta laws of the rates, (2, R)."""
    ends = np.array([0.5 - level / 2, 0.5 + level / 2])
    means, limits = a / (a + b), np.asarray(beta.ppf(ends[:, None, None], a, b))
    found = []
    for own_a, own_b, mean, (low, high) in zip(
        a.T, b.T, means.T, limits.T.swapaxes(1, 2), strict=True
    ):
        # A fixed seed: the same answers give the same table, in whatever order the annotators come.
        draws = 1.0 - np.random.default_rng(0).beta(own_a, own_b, size=(N_DRAWS, 2)).sum(axis=1)
        similar, dissimilar = map(
            Interval, mean.tolist(), low.tolist(), high.tolist(), (level,) * 2
        )
        worst, best = np.quantile(draws, ends).tolist()
        found.append((similar, dissimilar, Interval(1.0 - float(mean.sum()), worst, best, level)))
    return found


def _limits(rates: Array, level: float) -> list[tuple[Interval, Interval, Interval]]:
    """Return everybody's intervals of ρ_S, ρ_D and J from draws of both rates, (n, 2, R)."""
    both = np.concatenate([rates, 1.0 - rates.sum(axis=1, keepdims=True)], axis=1)
    low, high = np.quantile(both, [0.5 - level / 2, 0.5 + level / 2], axis=0)
    mean = both.mean(axis=0)
    return [
        (
            Interval(float(mean[0, r]), float(low[0, r]), float(high[0, r]), level),
            Interval(float(mean[1, r]), float(low[1, r]), float(high[1, r]), level),
            Interval(float(mean[2, r]), float(low[2, r]), float(high[2, r]), level),
        )
        for r in range(rates.shape[2])
    ]


def _cells(row: AnnotatorRow) -> list[str]:
    rates = (row.similar_flip, row.dissimilar_flip, row.informativeness)
    text = [f"{one.estimate:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in rates]
    first = [str(row.name), str(row.n_answers), f"{row.accuracy:.2f}"]
    last = "" if row.drop_effect is None else str(row.drop_effect)
    chance = "" if row.probability is None else f"{row.probability:.2f}"
    return [*first, *text, row.verdict, chance, last]
