"""What a data set holds, what is wrong with it, and which methods can learn from it.

`check` turns a `Dataset` into a `DataCheck`: counts of the answers, the noise with intervals, the
prior, the signal |a − b| that point-wise methods need, broken triangles beside expected ones, and
for each method whether it can work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from noisypairs import algebra
from noisypairs.algebra import Array
from noisypairs.annotators.linkage import RECORDS
from noisypairs.app.encoding import ColumnPlan, describe, encoded
from noisypairs.app.files import Dataset
from noisypairs.app.fit.fitting import class_number, learn, summarise_noise, verdict_on
from noisypairs.app.fit.request import Request
from noisypairs.app.sentences import blocks
from noisypairs.app.triangles import FAR, TrianglesExpected, expected_triangles
from noisypairs.assess.people import ONE_VOICE
from noisypairs.assess.words import percent
from noisypairs.errors import (
    NotIdentifiable,
    NotIdentifiableWarning,
    collected_warnings,
)
from noisypairs.estimation import (
    Interval,
    RateEstimate,
    estimate_prior,
    rates_from_gold,
    rates_from_repeats,
    same_share,
)
from noisypairs.estimators.pointwise import check_signal
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Answers, Pairs
from noisypairs.pairs.audit import Audit
from noisypairs.pairs.groups import NearIdentical, item_groups, n_sharing, near_identical
from noisypairs.pairs.pairs import drawn_at_random, in_memory, pooled_answers

Step = Callable[[str], None]
Outlook = Literal["works", "doubtful", "fails", "not tried"]

MOST_PAIRS_CHECKED = 500_000
"""Pairs of a `PairTable` that the joint learner, rates by counting and triangles are tried on."""


@dataclass(frozen=True)
class NoiseFound:
    """The noise of the answers: how it was found, both flip rates, the prior and the signal.

    `prior` is that of class 1, the larger class unless classes are known; None if it is not
    known. `signal` is |a − b| = |P(same | class 1) − P(same | class 0)|, for two classes only, and
    `inflation` = 1/(a − b)², how many answers are worth one labelled item to a point-wise method.
    `accuracy` is that on new items, as the verdict of a fit has it; `no_prior` says why there is
    no prior, if so. `repeat_correlation` is that of answers to one pair beyond
    what its classes explain, zero where it is not clear, or not looked at.
    """

    how: str
    similar_flip: Interval
    dissimilar_flip: Interval
    prior: Interval | None
    signal: float | None
    inflation: float | None
    accuracy: Interval | None = None
    no_prior: str | None = None
    repeat_correlation: float = 0.0


@dataclass(frozen=True)
class Feasibility:
    """Whether a method can learn from these pairs, and why or why not."""

    method: str
    outlook: Outlook
    reason: str


@dataclass(frozen=True)
class RepeatedRows:
    """Items of the same features as another one, and items that are nearly so.

    ``near`` is None where groups are given: the user has said which items belong together.
    """

    n_identical: int
    near: NearIdentical | None


@dataclass(frozen=True)
class DataCheck:
    """Everything `noisypairs check` shows; `to_dict` gives plain JSON values."""

    dataset: Dataset
    audit: Audit
    features: tuple[ColumnPlan, ...]
    noise: NoiseFound | None
    no_noise: str | None
    triangles: TrianglesExpected | None
    methods: tuple[Feasibility, ...]
    problems: tuple[str, ...]
    seed: int
    repeated: RepeatedRows | None = None  # None: no features

    def to_dict(self) -> dict[str, Any]:
        """Return nested dictionaries of plain values, ready for JSON."""
        data = self.dataset
        return {
            "format": data.format,
            "sources": [dict(source) for source in data.sources],
            "columns": asdict(data.columns),
            "mapping": data.mapping,
            "notes": data.notes,
            "known_classes": len(data.pairs.labels),
            "groups": None if data.pairs.groups is None else data.pairs.n_groups,
            "identical_rows": None if self.repeated is None else self.repeated.n_identical,
            "near_identical_rows": None
            if self.repeated is None or self.repeated.near is None
            else self.repeated.near.n_near,
            "audit": self.audit.to_dict(),
            "features": [
                {"name": one.name, "kind": one.kind, "treatment": one.note} for one in self.features
            ],
            "noise": None if self.noise is None else asdict(self.noise),
            "no_noise": self.no_noise,
            "triangles": None
            if self.triangles is None
            else asdict(self.triangles) | {"beyond": self.triangles.beyond},
            "methods": [asdict(method) for method in self.methods],
            "problems": list(self.problems),
            "seed": self.seed,
        }


def check(
    dataset: Dataset,
    *,
    fit: bool = True,
    n_classes: int | Sequence[int] | None = None,
    seed: int = 0,
    step: Step = lambda _: None,
) -> DataCheck:
    """Check a data set; with `fit` the joint learner estimates noise and prior from the features.

    Without a fit (or features) the rates come from known classes or repeated answers, if any.
    """
    asked = Request(n_classes=n_classes, seed=seed)
    step("counting answers")
    pairs, report = in_memory(dataset.pairs, MOST_PAIRS_CHECKED), dataset.pairs.audit()
    plans = () if dataset.features is None else tuple(describe(dataset.features, dataset.encode))
    joint = Feasibility("joint", "not tried", "no fit was asked for")
    found, beliefs, why, doubts = None, None, None, list[str]()
    _, X, nothing, unread = encoded(dataset.features, encode=dataset.encode)
    dataset = replace(dataset, notes=[*unread, *dataset.notes])
    repeated = None if X is None else _repeated_rows(X, dataset.pairs)
    numbers = asked.settled(pairs).n_classes
    if fit:
        step("fitting the joint learner")
        found, noise, beliefs, joint, doubts = _fitted(replace(dataset, pairs=pairs), asked, step)
        why = None if found else joint.reason
    if found is None:
        found, noise, reason = _counted(pairs)
        why = None if found else f"{why}; {reason}" if why else reason
    step("redrawing triangles")
    triangles = None
    if found is not None and noise is not None:
        among = _with_triangles(dataset.pairs, report, beliefs)
        triangles = expected_triangles(*among[:2], noise, among[2], found.prior, seed)
    K = numbers if isinstance(numbers, int) else 2 if beliefs is None else beliefs.shape[1]
    methods = (joint, *_pointwise(dataset.pairs, found, noise, K))
    problems = (
        *(text for text in doubts if text.startswith(RECORDS)),
        *([f"{nothing}: new items cannot be classified"] if nothing else []),
        *_problems(found, triangles, report, dataset, repeated, K),
    )
    return DataCheck(
        dataset, report, plans, found, why, triangles, methods, problems, seed, repeated
    )


def _repeated_rows(X: Array, pairs: Answers) -> RepeatedRows:
    """Count the items that have the same encoded features as another, or nearly the same."""
    n_identical = n_sharing(item_groups(X, pairs.with_groups(None)))
    return RepeatedRows(n_identical, near_identical(X) if pairs.groups is None else None)


def _fitted(
    dataset: Dataset, asked: Request, step: Step
) -> tuple[NoiseFound | None, NoiseModel | None, Array | None, Feasibility, list[str]]:
    """Let the joint learner find noise and prior, as `fit_dataset` does; say whether it could."""
    try:
        learnt = learn(dataset, asked)
    except ValueError as error:
        return None, None, None, Feasibility("joint", "fails", str(error)), [str(error)]
    step("redrawing answers for intervals")
    model, K = learnt.model, learnt.model.n_classes_
    verdict = verdict_on(learnt, None)
    noise, accuracy = summarise_noise(model, verdict), verdict.accuracy
    how = "a measured" if verdict.is_measured else "an estimated"
    works = (
        "the answers alone show the classes of the items compared; new items cannot be classified"
        if accuracy is None
        else f"{how} {percent(accuracy.estimate, 1)} of new items are predicted rightly "
        f"[{percent(accuracy.low, 1)}, {percent(accuracy.high, 1)}]"
    )
    signal = None
    if K == 2:
        signal = abs(algebra.signal(model.noise_.same_probability(), model.prior_))
    number = class_number(model, learnt.asked)
    classes = f"{K} classes" if number is None else number.text
    found = NoiseFound(
        f"joint learner, {noise.family} noise, {classes}",
        noise.similar_flip,
        noise.dissimilar_flip,
        verdict.intervals["prior"] if K == 2 else None,
        signal,
        _inflation(signal),
        accuracy,
        None if K == 2 else f"{K} classes have no single prior",
        noise.repeat_correlation,
    )
    doubts = list(verdict.doubts)
    return found, model.noise_, model.item_proba_, _feasibility("joint", doubts, works), doubts


def _feasibility(method: str, doubts: list[str], works: str) -> Feasibility:
    """Return that a method works, for this reason, or the first of the doubts about it."""
    return (
        Feasibility(method, "doubtful", doubts[0])
        if doubts
        else Feasibility(method, "works", works)
    )


def _inflation(signal: float | None) -> float | None:
    return None if not signal else 1.0 / signal**2


def _counted(pairs: Pairs) -> tuple[NoiseFound | None, NoiseModel | None, str]:
    """Find the rates by counting, from known classes, else from repeated answers."""
    reasons = []
    for how, estimate in _counters(pairs):
        try:
            rates = estimate()
            noise = rates.noise()
        except ValueError as error:
            reasons.append(f"{how}: {error}")
            continue
        prior, no_prior = _prior(pairs, noise)
        signal = None
        if prior is not None:
            share = float(np.clip(prior.estimate, 1e-6, 1 - 1e-6))  # every answer may be "same"
            signal = abs(algebra.signal(noise.same_probability(), share))
        limits = rates.similar_flip, rates.dissimilar_flip
        found = NoiseFound(how, *limits, prior, signal, _inflation(signal), no_prior=no_prior)
        return found, noise, ""
    return None, None, "; ".join(reasons)


def _counters(pairs: Pairs) -> Iterator[tuple[str, Callable[[], RateEstimate]]]:
    if pairs.labels:
        yield "items of known class", lambda: rates_from_gold(pairs)
    yield "repeated answers", lambda: rates_from_repeats(pairs)
    yield "repeated answers, one common rate", lambda: rates_from_repeats(pairs, equal_rates=True)


def _prior(pairs: Pairs, noise: NoiseModel) -> tuple[Interval | None, str | None]:
    """Return the share of the larger of two classes, or why there is none."""
    try:
        return estimate_prior(pairs, noise).choose("majority"), None
    except ValueError as error:
        return None, str(error)


def _pointwise(
    pairs: Pairs, found: NoiseFound | None, noise: NoiseModel | None, n_classes: int
) -> tuple[Feasibility, ...]:
    """Judge the two learners that need a − b ≠ 0 by the rule they judge themselves by."""
    names = ("weighted", "correction")
    if n_classes != 2:
        reason = f"made for two classes, not {n_classes}"
        return tuple(Feasibility(name, "fails", reason) for name in names)
    if found is None or noise is None or found.prior is None or found.signal is None:
        reason = "the noise or the prior is not known, so neither is the signal |a − b|"
        return tuple(Feasibility(name, "not tried", reason) for name in names)
    prior = float(np.clip(found.prior.estimate, 1e-6, 1 - 1e-6))
    pooled = drawn_at_random(pooled_answers(pairs))
    total = float(pooled.weights.sum())
    works = (
        f"the signal |a − b| = {found.signal:.3f} is {found.signal * np.sqrt(2 * total):.0f} times "
        "its own error"
    )
    with collected_warnings(NotIdentifiableWarning) as doubts:
        try:
            check_signal(noise, prior, pairs)
        except NotIdentifiable as error:
            reason = str(error)
            return tuple(Feasibility(name, "fails", reason) for name in names)
    return tuple(_feasibility(name, doubts, works) for name in names)


def _with_triangles(
    pairs: Answers, report: Audit, beliefs: Array | None
) -> tuple[Pairs, Audit, Array | None]:
    """Return pairs in memory with their audit and beliefs: of a large table, among some items.

    A sample of the pairs would hold next to no triangles.
    """
    if isinstance(pairs, Pairs):
        return pairs, report, beliefs
    table: Any = pairs
    some, items = table.among_some_items(MOST_PAIRS_CHECKED)
    return some, some.audit(), None if beliefs is None else beliefs[items]


def _problems(
    found: NoiseFound | None,
    triangles: TrianglesExpected | None,
    report: Audit,
    dataset: Dataset,
    repeated: RepeatedRows | None,
    n_classes: int,
) -> list[str]:
    """Return what is wrong with the answers, worst first, each with what to do.

    What so many classes explain is not wrong.
    """
    pairs = pooled_answers(dataset.pairs)
    drawn = drawn_at_random(pairs)
    near = None if repeated is None else repeated.near
    return blocks(
        "problems.txt",
        report=report,
        near=near.text(np.array(dataset.ids, dtype=object)) if near and near.n_near else "",
        n_pairs=pairs.n_pairs,
        n_drawn=drawn.n_pairs,
        share=same_share(drawn) if drawn.n_pairs and n_classes == 2 else None,
        correlation=0.0 if found is None else found.repeat_correlation,
        triangles=triangles,
        far=FAR,
        one_voice=ONE_VOICE,
    )
