"""What a data set holds, what is wrong with it, and which methods can learn from it.

`check` turns a `Dataset` into a `DataCheck`: counts of the answers, the noise with intervals, the
prior, the signal |a − b| that point-wise methods need, broken triangles (same, same, different)
beside those that the estimated noise predicts, and for each method whether it can work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from noisypairs import algebra
from noisypairs.algebra import Array
from noisypairs.annotators.choice import RECORDS
from noisypairs.app.encoding import ColumnPlan, Encoded, describe, encoded
from noisypairs.app.files import Dataset
from noisypairs.app.fit.fitting import learn
from noisypairs.app.fit.request import Request
from noisypairs.app.sentences import blocks
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
from noisypairs.pairs.counts import weights_of
from noisypairs.pairs.groups import (
    NearIdentical,
    group_number,
    item_groups,
    n_sharing,
    near_identical,
)
from noisypairs.pairs.pairs import drawn_at_random, in_memory, pooled_answers

Step = Callable[[str], None]
Outlook = Literal["works", "doubtful", "fails", "not tried"]

MOST_PAIRS_CHECKED = 500_000
"""Pairs of a `PairTable` that the joint learner, rates by counting and triangles are tried on."""


@dataclass(frozen=True, eq=False)
class NoiseFound:
    """The noise of the answers: how it was found, the model, both flip rates and the prior.

    `prior` is that of class 1, the larger class unless classes are known; None if it is not known,
    and then `no_prior` may say why. `accuracy` is that on new items, as the verdict of a fit has
    it. `repeat_correlation` is that of answers to one pair beyond what their classes explain, zero
    where it is not clear, or not looked at. `beliefs` (n_items, K) are those of a fit.
    """

    how: str
    model: NoiseModel
    similar_flip: Interval
    dissimilar_flip: Interval
    prior: Interval | None
    no_prior: str | None = None
    accuracy: Interval | None = None
    repeat_correlation: float = 0.0
    beliefs: Array | None = None

    @property
    def share(self) -> float | None:
        """The prior, inside (0, 1) although every answer may be "same"."""
        return None if self.prior is None else float(np.clip(self.prior.estimate, 1e-6, 1 - 1e-6))

    @property
    def signal(self) -> float | None:
        """|a − b| = |P(same | class 1) − P(same | class 0)|, of two classes only."""
        share = self.share
        return None if share is None else abs(algebra.signal(self.model.same_probability(), share))

    @property
    def inflation(self) -> float | None:
        """1/(a − b)²: how many answers a point-wise method takes for one labelled item."""
        return None if not self.signal else 1.0 / self.signal**2

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        found: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        found = {name: asdict(v) if isinstance(v, Interval) else v for name, v in found.items()}
        del found["model"], found["beliefs"]
        return found | {"signal": self.signal, "inflation": self.inflation}


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
            "groups": group_number(data.pairs.groups),
            "identical_rows": None if self.repeated is None else self.repeated.n_identical,
            "near_identical_rows": None
            if self.repeated is None or self.repeated.near is None
            else self.repeated.near.n_near,
            "audit": self.audit.to_dict(),
            "features": [
                {"name": one.name, "kind": one.kind, "treatment": one.note} for one in self.features
            ],
            "noise": None if self.noise is None else self.noise.to_dict(),
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
    ready = encoded(dataset.features, seed, dataset.encode)
    dataset = replace(dataset, notes=[*ready.notes, *dataset.notes])
    repeated = None if ready.X is None else _repeated_rows(ready.X, dataset.pairs)
    found, joint, why = None, Feasibility("joint", "not tried", "no fit was asked for"), ""
    doubts: list[str] = []
    if fit:
        step("fitting the joint learner")
        found, joint, doubts = _fitted(replace(dataset, pairs=pairs), asked, ready, step)
        why = "" if found else joint.reason
    if found is None:
        found, reason = _counted(pairs)
        why = "; ".join(filter(None, (why, reason)))
    step("redrawing triangles")
    triangles = None if found is None else _triangles(dataset.pairs, report, found, seed)
    K, beliefs = asked.settled(pairs).n_classes, None if found is None else found.beliefs
    K = K if isinstance(K, int) else 2 if beliefs is None else beliefs.shape[1]
    problems = (
        *(text for text in doubts if text.startswith(RECORDS)),
        *([f"{ready.nothing}: new items cannot be classified"] if ready.nothing else []),
        *_problems(found, triangles, report, dataset, repeated, K),
    )
    methods = (joint, *_pointwise(dataset.pairs, found, K))
    no_noise = None if found else why
    return DataCheck(
        dataset, report, plans, found, no_noise, triangles, methods, problems, seed, repeated
    )


def _repeated_rows(X: Array, pairs: Answers) -> RepeatedRows:
    """Count the items that have the same encoded features as another, or nearly the same."""
    n_identical = n_sharing(item_groups(X, pairs.with_groups(None)))
    return RepeatedRows(n_identical, near_identical(X) if pairs.groups is None else None)


def _fitted(
    dataset: Dataset, asked: Request, ready: Encoded, step: Step
) -> tuple[NoiseFound | None, Feasibility, list[str]]:
    """Let the joint learner find noise and prior, as `fit_dataset` does; say whether it could."""
    try:
        learnt = learn(dataset, asked, ready=ready)
    except ValueError as error:
        return None, Feasibility("joint", "fails", str(error)), [str(error)]
    step("redrawing answers for intervals")
    model, verdict, noise = learnt.model, learnt.verdict, learnt.noise
    K, accuracy, number = model.n_classes_, verdict.accuracy, learnt.class_number
    works = (
        "the answers alone show the classes of the compared items; new items cannot be classified"
    )
    if accuracy is not None:
        how = "a measured" if verdict.is_measured else "an estimated"
        limits = f"[{percent(accuracy.low, 1)}, {percent(accuracy.high, 1)}]"
        right = percent(accuracy.estimate, 1)
        works = f"{how} {right} of new items are predicted correctly {limits}"
    classes = f"{K} classes" if number is None else number.text
    found = NoiseFound(
        f"joint learner, {noise.family} noise, {classes}",
        model.noise_,
        noise.similar_flip,
        noise.dissimilar_flip,
        verdict.intervals["prior"] if K == 2 else None,
        None if K == 2 else f"{K} classes have no single prior",
        accuracy,
        noise.repeat_correlation,
        model.item_proba_,
    )
    doubts = list(verdict.doubts)
    return found, _feasibility("joint", doubts, works), doubts


def _feasibility(method: str, doubts: list[str], works: str) -> Feasibility:
    """Return that a method works, for this reason, or the first of the doubts about it."""
    return Feasibility(method, *(("doubtful", doubts[0]) if doubts else ("works", works)))


def _counted(pairs: Pairs) -> tuple[NoiseFound | None, str]:
    """Find the rates by counting, from known classes, else from repeated answers."""
    reasons = []
    for how, estimate in _counters(pairs):
        try:
            rates = estimate()
            noise = rates.noise()
        except ValueError as error:
            reasons.append(f"{how}: {error}")
            continue
        limits = rates.similar_flip, rates.dissimilar_flip
        try:
            prior = estimate_prior(pairs, noise).choose("majority")
        except ValueError as error:
            return NoiseFound(how, noise, *limits, None, str(error)), ""
        return NoiseFound(how, noise, *limits, prior), ""
    return None, "; ".join(reasons)


def _counters(pairs: Pairs) -> Iterator[tuple[str, Callable[[], RateEstimate]]]:
    if pairs.labels:
        yield "items of known class", lambda: rates_from_gold(pairs)
    yield "repeated answers", lambda: rates_from_repeats(pairs)
    yield "repeated answers, one common rate", lambda: rates_from_repeats(pairs, equal_rates=True)


def _pointwise(pairs: Pairs, found: NoiseFound | None, n_classes: int) -> tuple[Feasibility, ...]:
    """Judge the two learners that need a − b ≠ 0 by the rule they judge themselves by."""

    def both(outlook: Outlook, reason: str) -> tuple[Feasibility, ...]:
        return tuple(Feasibility(name, outlook, reason) for name in ("weighted", "correction"))

    if n_classes != 2:
        return both("fails", f"two classes only, not {n_classes}")
    if found is None or found.share is None or found.signal is None:
        reason = "the noise or the prior is not known, so neither is the signal |a − b|"
        return both("not tried", reason)
    total = float(weights_of(drawn_at_random(pooled_answers(pairs))).sum())
    times = found.signal * np.sqrt(2 * total)
    with collected_warnings(NotIdentifiableWarning) as doubts:
        try:
            check_signal(found.model, found.share, pairs)
        except NotIdentifiable as error:
            return both("fails", str(error))
    if doubts:
        return both("doubtful", doubts[0])
    return both(
        "works", f"the signal |a − b| = {found.signal:.3f} is {times:.0f} times its own error"
    )


def _triangles(pairs: Any, report: Audit, found: NoiseFound, seed: int) -> TrianglesExpected | None:
    """Return the triangles; of a large table those among some items.

    A sample of the pairs would hold next to none.
    """
    beliefs = found.beliefs
    if not isinstance(pairs, Pairs):
        pairs, items = pairs.among_some_items(MOST_PAIRS_CHECKED)
        report, beliefs = pairs.audit(), None if beliefs is None else beliefs[items]
    return expected_triangles(pairs, report, found.model, beliefs, found.prior, seed)


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


N_REDRAWN = 12
"""How often answers are redrawn to see how many triangles break under the estimated noise."""

FAR = 4.0
"""Standard deviations by which broken triangles must differ from the expected to be a problem."""


@dataclass(frozen=True)
class TrianglesExpected:
    """The share of closed triangles that is broken, and what the estimated noise predicts."""

    closed: int
    seen: float
    expected: float
    spread: float

    @property
    def beyond(self) -> float:
        """How many standard deviations more (or, negative, fewer) are broken than expected."""
        return (self.seen - self.expected) / self.spread


def expected_triangles(
    pairs: Pairs,
    report: Audit,
    noise: NoiseModel,
    beliefs: Array | None,
    prior: Interval | None,
    seed: int,
) -> TrianglesExpected | None:
    """Return the broken share of triangles beside that of answers redrawn under the noise.

    Classes are drawn from `beliefs`, shape (n_items, K), else independently from the prior;
    answers from the noise, on the same pairs, so that repeats and weights count as they do in the
    audit. None without triangles, or without any knowledge of the classes.
    """
    seen = report.triangles.broken_share
    if seen is None or (beliefs is None and prior is None):
        return None
    if beliefs is None:
        assert prior is not None
        share = prior.estimate
        beliefs = np.tile([1.0 - share, share], (pairs.n_items, 1))
    rng = np.random.default_rng(seed)
    shares = []
    for _ in range(N_REDRAWN):
        below = np.cumsum(beliefs, axis=1)[:, :-1]
        classes = (rng.random((pairs.n_items, 1)) > below).sum(axis=1)
        answers = noise.corrupt(classes, pairs.left, pairs.right, beliefs.shape[1], rng)
        redrawn = Pairs(pairs.left, pairs.right, answers, pairs.n_items, weight=pairs.weight)
        shares.append(redrawn.audit().triangles.broken_share or 0.0)
    # A share of n triangles is never surer than that of n independent ones … nor exactly sure.
    closed = report.triangles.closed
    least = np.sqrt(max(seen * (1 - seen), 1 / closed) / closed)
    spread = max(float(np.std(shares, ddof=1)), float(least))
    return TrianglesExpected(closed, seen, float(np.mean(shares)), spread)
