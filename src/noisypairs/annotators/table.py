"""Who answers well: each annotator's flip rates with intervals, a verdict, and what they change.

The classes behind the answers are inferred first, from the pair graph alone or with features; an
answer on items (i, j) then has p = P(same class | everything), and annotator r is counted by

    N_S = Σ p,  W_S = Σ p [answer "different"],     N_D = Σ (1−p),  W_D = Σ (1−p) [answer "same"],

so that ρ_S ≈ W_S / N_S, ρ_D ≈ W_D / N_D, and J = 1 − ρ_S − ρ_D is what the answers are worth: 1 for
perfect ones, 0 for a coin of any lean, −1 for all reversed. `kind_probability` and `rate_posterior`
lead from these counts to the table. They take the counts, and so the inferred classes, as given:
what the classes leave in doubt is not in the intervals, which are too short where pairs are few.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr
from scipy.stats import beta
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from noisypairs.algebra import Array
from noisypairs.annotators.kinds import KINDS, kind_probability, rate_posterior
from noisypairs.errors import ClassNamesWarning, NotIdentifiable, did_you_mean
from noisypairs.estimation import Interval
from noisypairs.estimators import JointPairClassifier
from noisypairs.estimators.base import label_names, match_labels
from noisypairs.estimators.joint import classifier as joint
from noisypairs.estimators.joint import starts
from noisypairs.estimators.joint.selection import CLEAR_GAIN, WORTH_IT
from noisypairs.inference import em, streaming
from noisypairs.inference.graph import PairGraph, RandomSource
from noisypairs.inference.propagation import Beliefs, expected_counts, propagate
from noisypairs.noise import PairingNoise
from noisypairs.noise.shrinkage import group_errors
from noisypairs.pairs import Pairs

__all__ = [
    "KINDS",
    "UNDECIDED",
    "AnnotatorRow",
    "AnnotatorTable",
    "annotator_table",
    "kind_probability",
    "rate_posterior",
    "table_from_counts",
]

UNDECIDED = "too few answers"
#: Draws behind the interval of J; random guesses of the classes to start from.
N_DRAWS, N_RANDOM = 4000, 3


@dataclass(frozen=True)
class AnnotatorRow:
    """One annotator, or the crowd, whose ``verdict`` is empty.

    ``accuracy`` is the expected share of right answers, ``informativeness`` J, ``probability`` that
    of the most probable kind, and ``drop_effect`` the number of items whose most probable class
    changes without this annotator, all rates kept (None: not tried).
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings, each interval as three entries."""
        flat = vars(self).copy()
        for key in ("similar_flip", "dissimilar_flip", "informativeness"):
            one: Interval = flat[key]
            flat |= {key: one.estimate, f"{key}_low": one.low, f"{key}_high": one.high}
        return flat


@dataclass(frozen=True)
class AnnotatorTable:
    """One `AnnotatorRow` per annotator, in the order of ``pairs.annotator_names``, and the crowd's.

    ``kind_shares`` are the estimated shares of the kinds, ``item_proba`` (n_items, K) the beliefs
    about the items behind the table. Iterates over rows; ``str`` shows suspects and worst J first.
    """

    rows: tuple[AnnotatorRow, ...]
    crowd: AnnotatorRow
    kind_shares: Mapping[str, float]
    item_proba: Array
    level: float

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[AnnotatorRow]:
        return iter(self.rows)

    def named(self, *verdicts: str) -> list[Any]:
        """Return the names of the annotators with one of these verdicts."""
        known = (*KINDS, UNDECIDED)
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
        return whole | {"crowd": self.crowd.to_dict(), "annotators": self.to_records()}

    def to_text(self, n_rows: int | None = 20) -> str:
        """Return the crowd's row and the ``n_rows`` most suspect ones (None: all) as text."""
        order = sorted(self.rows, key=lambda row: row.informativeness.estimate)
        order.sort(key=lambda row: row.verdict not in KINDS[1:])
        titles = ["annotator", "answers", "right", "similar_flip", "dissimilar_flip"]
        titles += ["informativeness", "verdict", "P", "items changed if dropped"]
        lines = [titles, *map(_cells, (self.crowd, *order[:n_rows]))]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        hidden = len(order) - len(lines) + 2
        return "\n".join(text + [f"… and {hidden} more: see to_text(None)"] * bool(hidden))

    __str__ = to_text


def annotator_table(
    pairs: Pairs,
    X: Any = None,
    *,
    n_classes: int = 2,
    level: float = 0.95,
    gold: Mapping[int, Hashable] | None = None,
    min_answers: int = 30,
    n_drop: int = 10,
    estimator: Any = None,
    random_state: RandomSource = None,
) -> AnnotatorTable:
    """Judge every annotator of ``pairs``: rates with intervals, informativeness, a verdict.

    - ``X``: features (n_items, d), for `JointPairClassifier` with ``estimator``; without them the
      pair graph alone tells the ``n_classes`` classes (the best of several starts).
    - ``level``: of the intervals, and of the verdicts on annotators with few answers.
    - ``gold``: known classes, {item: class}, each class at least once; else ``pairs.labels``.
    - ``min_answers``: from so many answers on, the most probable kind is the verdict; with fewer it
      must be as probable as ``level``, or the verdict is "too few answers".
    - ``n_drop``: for so many annotators, the lowest J first, ``drop_effect`` is computed.

    A `PairTable` of more than `joint.ENOUGH_PAIRS` pairs is streamed: every answer counts, but no
    ``drop_effect`` is computed.

    Raises `NotIdentifiable` where classes explain the answers hardly better than chance.

    >>> from noisypairs import datasets
    >>> rates = {"similar_flip": 0.1, "dissimilar_flip": 0.1}
    >>> crowd = datasets.simulated_crowd(100, 2, 20, 30, **rates, random_state=0)
    >>> table = annotator_table(crowd.pairs, random_state=0)
    >>> [(name, str(crowd.annotator_kind[name])) for name in table.suspects]
    [(12, 'spammer'), (18, 'always-same')]
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level!r}: expected a number between 0 and 1, such as 0.95")
    if pairs.annotator_names is None:
        raise ValueError("the pairs do not say who answered: give Pairs(..., annotator=ids)")
    whole = (pairs if gold is None else pairs.with_labels(gold)).without_self_pairs()
    if whole.n_pairs == 0:
        raise ValueError("there is no pair of two distinct items: nothing to judge annotators by")
    if isinstance(random_state, np.random.Generator):
        random_state = int(random_state.integers(2**31))
    random = check_random_state(random_state)
    pairs = whole.sample(joint.ENOUGH_PAIRS)
    pairs = pairs.reweighted(pairs.weights)
    if pairs.n_pairs < whole.n_pairs:
        found = _stream(whole, pairs, X, n_classes, estimator, random)
        return table_from_counts(*found, level, min_answers)
    if X is None:
        reading = _read_graph(pairs, n_classes, random)
    else:
        reading = _read_features(pairs, X, n_classes, estimator, random)
    return _tabulate(pairs, reading, level, min_answers, n_drop)


@dataclass(frozen=True)
class _Reading:
    """The classes as inferred, with S (R, K, K) and log φ (n_items, K)."""

    graph: PairGraph
    log_potential: Array
    S: Array
    beliefs: Beliefs
    clamp: dict[int, int] | None

    def drop_effect(self, group: int) -> int:
        """Count the items whose most probable class changes without the answers of one group."""
        weight = np.where(self.graph.answer_kind // 2 == group, 0, self.graph.answer_weight)
        rest = replace(self.graph, answer_weight=weight.astype(np.float32))
        start, clamp = self.beliefs.messages, self.clamp
        found = propagate(rest, self.log_potential, self.S, start, tol=1e-3, clamp=clamp)
        return int((found.item.argmax(axis=1) != self.beliefs.item.argmax(axis=1)).sum())


def _read_features(
    pairs: Pairs, X: Any, n_classes: int, estimator: Any, random: np.random.RandomState
) -> _Reading:
    """Infer the classes from features and answers together."""
    model, S = _fit_joint(pairs, X, n_classes, estimator, random)
    graph, log_phi = PairGraph.from_pairs(pairs, annotators=True), np.log(model.oof_proba_)
    clamp = _clamp(pairs, n_classes)
    return _Reading(graph, log_phi, S, propagate(graph, log_phi, S, tol=1e-4, clamp=clamp), clamp)


def _fit_joint(
    pairs: Pairs, X: Any, n_classes: int, estimator: Any, random: np.random.RandomState
) -> tuple[JointPairClassifier, Array]:
    """Return the joint learner fitted to the pairs, and S by annotator, (R, K, K)."""
    # Pairing noise: each annotator is given two rates whatever the family of the crowd's noise.
    model = JointPairClassifier(
        estimator, n_classes, annotators=True, noise_model="pairing", random_state=random
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClassNamesWarning)  # no class is named in the table
        model.fit(X, pairs)
    similar, dissimilar = np.asarray(model.annotator_noise_).T[:, :, None, None]
    S: Array = np.where(np.eye(n_classes, dtype=bool), 1.0 - similar, dissimilar)
    return model, S


def _stream(
    table: Any, some: Pairs, X: Any, n_classes: int, estimator: Any, random: np.random.RandomState
) -> tuple[NDArray[Any], NDArray[Any], Array, Array, Array]:
    """Return names, answers, counts of "same" and "different", beliefs: all of a table's pairs.

    As `_read_features` and `_read_graph` do it, from a start on ``some`` of the pairs.
    """
    if X is not None:
        model, S = _fit_joint(table, X, n_classes, estimator, random)
        beliefs, potential = model.item_proba_, model.oof_proba_
    else:
        clamp, start = _clamp(some, n_classes), _explain(some, n_classes, random)
        if clamp is None:
            _require_news(some, start)
        e_step = streaming.StreamEStep(table, n_groups=len(table.annotator_names), clamp=clamp)
        guess = start.item_proba, start.noise, PairingNoise.fit
        found = em.infer(e_step, em.class_shares, *guess, max_iter=20, tol=e_step.tol)
        beliefs, potential, S = found.item_proba, found.potential, found.matrices
    tiny = np.finfo(float).tiny
    log_phi, log_item = (np.log(np.maximum(one, tiny)) for one in (potential, beliefs))
    counted = streaming.sweep(table, log_phi, [log_item] * 3, S)
    who = table.annotator_counts
    return who.names, who.n_answers, counted.same, counted.different, beliefs


def _read_graph(pairs: Pairs, n_classes: int, random: np.random.RandomState) -> _Reading:
    """Infer the classes from the answers alone: first one noise for all, then one for each."""
    clamp, found = _clamp(pairs, n_classes), _explain(pairs, n_classes, random)
    if clamp is None:  # known classes are news by themselves
        _require_news(pairs, found)
    graph = PairGraph.from_pairs(pairs, annotators=True)
    start, fit = found.beliefs, PairingNoise.fit  # edges are the same with and without groups
    e_step = em.GraphEStep(graph, clamp=clamp, messages=start.messages)
    first = start.item, found.noise, fit
    found = em.infer(e_step, em.class_shares, *first, max_iter=60, tol=5e-3)
    if not found.converged:
        moved = f"{found.history[-1]['noise_change']:.3f} in round {len(found.history)}"
        advice = f"the annotators' rates still moved by {moved}: take them with care, or give X"
        warnings.warn(advice, ConvergenceWarning, stacklevel=3)
    S = found.matrices.reshape(-1, n_classes, n_classes)  # one group comes without its axis
    return _Reading(graph, np.log(found.potential), S, found.beliefs, clamp)


def _explain(pairs: Pairs, n_classes: int, random: np.random.RandomState) -> em.Inference:
    """Infer classes and one noise for the whole crowd from the graph; the best of all starts."""
    graph, clamp = PairGraph.from_pairs(pairs), _clamp(pairs, n_classes)
    kinds, found = ("answers", "spectral", "random"), []
    for guess in starts.guesses(kinds, None, pairs, graph, n_classes, N_RANDOM, random).values():
        if (names := label_names(pairs, n_classes)) is not None:
            guess = guess[:, match_labels(guess, pairs, names)]
        noise = starts.guessed_noise(guess, pairs)
        # Class shares as potentials forget who is in which class: the first messages must say it.
        S = noise.same_probability(n_classes)
        first = propagate(graph, np.log(guess), S, max_iter=5, clamp=clamp)
        e_step = em.GraphEStep(graph, clamp=clamp, messages=first.messages)
        start = first.item, noise, PairingNoise.fit
        found.append(em.infer(e_step, em.class_shares, *start, max_iter=30))
    return max(found, key=lambda run: run.log_likelihood)


def _require_news(pairs: Pairs, found: em.Inference) -> None:
    """Raise `NotIdentifiable` where saying "same" at random explains the answers about as well."""
    share = np.average(pairs.same, weights=pairs.weight)
    gain = found.log_likelihood + np.asarray(pairs.weight).sum() * (entr(share) + entr(1.0 - share))
    needed = max(CLEAR_GAIN * pairs.n_items, 3 * WORTH_IT)
    if gain < needed:
        raise NotIdentifiable(
            f"classes explain the answers {gain:.1f} nats better than saying 'same' with "
            f"probability {share:.2f} every time, and chance alone may reach {needed:.1f}: nobody "
            "can be judged by them. Ask for more answers per item, or give features X or gold"
        )


def _clamp(pairs: Pairs, n_classes: int) -> dict[int, int] | None:
    if (names := label_names(pairs, n_classes)) is None:
        return None
    codes = np.searchsorted(names, np.array(list(pairs.labels.values())))
    return dict(zip(pairs.labels, codes.tolist(), strict=True))


def _tabulate(
    pairs: Pairs, reading: _Reading, level: float, min_answers: int, n_drop: int
) -> AnnotatorTable:
    counted = expected_counts(reading.graph, reading.beliefs, reading.S)
    names = np.asarray(pairs.annotator_names)
    n_answers = np.bincount(np.asarray(pairs.annotator), minlength=len(names))
    table = table_from_counts(names, n_answers, *counted, reading.beliefs.item, level, min_answers)
    worst = np.argsort([row.informativeness.estimate for row in table], kind="stable")[:n_drop]
    rows = list(table.rows)
    for r in worst.tolist():
        rows[r] = replace(rows[r], drop_effect=reading.drop_effect(r))
    return replace(table, rows=tuple(rows))


def table_from_counts(
    names: NDArray[Any],
    n_answers: NDArray[Any],
    same: Array,
    different: Array,
    item_proba: Array,
    level: float = 0.95,
    min_answers: int = 30,
) -> AnnotatorTable:
    """Judge annotators, R of them, by the classes behind their answers, (R, K, K) for each kind.

    ``same`` and ``different`` are expected counts as `propagation.expected_counts` gives them.
    """
    wrong, total = group_errors(same, different)
    kinds, shares = kind_probability(wrong, total)
    a, b = rate_posterior(wrong, total, kinds[:, 0])
    accuracy = 1.0 - wrong.sum(axis=0) / np.maximum(total.sum(axis=0), 1e-12)
    rows = []
    for r, (name, count) in enumerate(zip(names.tolist(), n_answers.tolist(), strict=True)):
        kind, top = KINDS[int(kinds[r].argmax())], float(kinds[r].max())
        verdict = kind if count >= min_answers or top >= level else UNDECIDED
        limits = _intervals(a[:, r], b[:, r], level)
        rows.append(AnnotatorRow(name, count, float(accuracy[r]), *limits, verdict, top))
    a, b = (counts.sum(axis=1) + 0.5 for counts in (wrong, total - wrong))
    right = 1.0 - float(wrong.sum() / total.sum())
    crowd = AnnotatorRow("(crowd)", int(n_answers.sum()), right, *_intervals(a, b, level))
    kind_shares = dict(zip(KINDS, shares.tolist(), strict=True))
    return AnnotatorTable(tuple(rows), crowd, kind_shares, item_proba, level)


def _intervals(a: Array, b: Array, level: float) -> tuple[Interval, Interval, Interval]:
    """Return the intervals of ρ_S, ρ_D and J from the Beta laws of the two rates, (2,) each."""
    ends = np.array([0.5 - level / 2, 0.5 + level / 2])
    # A fixed seed: the same answers give the same table, in whatever order the annotators come.
    draws = 1.0 - np.random.default_rng(0).beta(a, b, size=(N_DRAWS, 2)).sum(axis=1)
    mean, (low, high) = a / (a + b), np.asarray(beta.ppf(ends[:, None], a, b)).tolist()
    similar, dissimilar = map(Interval, mean.tolist(), low, high, (level, level))
    worst, best = np.quantile(draws, ends).tolist()
    return similar, dissimilar, Interval(1.0 - float(mean.sum()), worst, best, level)


def _cells(row: AnnotatorRow) -> list[str]:
    rates = (row.similar_flip, row.dissimilar_flip, row.informativeness)
    text = [f"{one.estimate:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in rates]
    first = [str(row.name), str(row.n_answers), f"{row.accuracy:.2f}"]
    last = "" if row.drop_effect is None else str(row.drop_effect)
    chance = "" if row.probability is None else f"{row.probability:.2f}"
    return [*first, *text, row.verdict, chance, last]
