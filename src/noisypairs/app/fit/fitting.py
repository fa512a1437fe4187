"""Which method suits these files: held-out comparison, final fit, and everything worth telling.

`fit_dataset` compares the methods in question on pairs of items none of them has seen, fits the
winner on everything, and returns the model with a `FitResult`: plain frozen records that the report
and the command line render, and that ``dataclasses.asdict`` turns into JSON.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline

from noisypairs.algebra import Array
from noisypairs.annotators import AnnotatorTable
from noisypairs.app.encoding import describe, item_encoder
from noisypairs.app.fit import comparison, summary
from noisypairs.app.fit.comparison import BASELINES, METHODS, Candidate, HeldOut, Progress, Request
from noisypairs.app.fit.summary import ClassSummary, NoiseSummary, ReliabilityBin, SuspectPair
from noisypairs.errors import NotIdentifiable
from noisypairs.estimation import Interval
from noisypairs.pairs import Pairs
from noisypairs.pairs.audit import Audit

if TYPE_CHECKING:
    from noisypairs.app.files import Dataset, SourceFile

__all__ = [
    "Candidate",
    "ClassSummary",
    "ColumnNote",
    "CurvePoint",
    "FitResult",
    "Fitted",
    "NoiseSummary",
    "ReliabilityBin",
    "Request",
    "SuspectPair",
    "fit_dataset",
    "n_steps",
    "versions",
]


@dataclass(frozen=True)
class CurvePoint:
    """A point of the learning curve: held-out log-likelihood ± s.e. from a share of the pairs."""

    share: float
    n_pairs: int  # pairs trained on, mean over the folds
    log_likelihood: float
    standard_error: float


@dataclass(frozen=True)
class ColumnNote:
    """What was made of one column of the items: see `noisypairs.app.encoding.describe`."""

    name: str
    kind: str  # number, boolean, category, text, date, constant, id
    note: str


@dataclass(frozen=True)
class FitResult:
    """Everything one fit found out, for a report: plain values, nothing to compute any more."""

    title: str  # name of the items file, without folder
    sources: Mapping[str, str]  # role (items, pairs, labels) -> file name
    checksums: Mapping[str, str]  # role -> sha256 of the file
    columns: Mapping[str, str | None]  # role (left, right, same, annotator, id) -> column
    answers: Mapping[str, str]  # how the answer words were read, e.g. {"yes": "same"}
    notes: tuple[str, ...]  # of the reader: dropped rows and the like
    warnings: tuple[str, ...]  # of the final fit
    n_items: int
    n_pairs: int
    n_annotators: int
    n_labels: int  # items with a known class
    features: tuple[ColumnNote, ...]
    n_features: int  # columns after encoding
    audit: Audit
    method: str
    method_title: str
    estimator: str  # as asked for: "default", "logistic", …
    estimator_title: str  # what was fitted, e.g. "linear and kernel" or "LogisticRegression"
    why: str  # one or two sentences: why this method
    candidates: tuple[Candidate, ...]
    n_held_out: int  # answers behind the held-out numbers
    n_folds: int
    classes: tuple[ClassSummary, ...]
    names_known: bool  # labels named the classes; else they are in order of size
    prior: Interval | None  # of the last class; two classes only
    noise: NoiseSummary
    accuracy: Interval | None  # estimated share of new items put in the right class
    accuracy_how: str  # how that was estimated, or why it could not be
    majority_share: float  # accuracy of calling every item by the largest class: the baseline
    curve: tuple[CurvePoint, ...]  # empty unless asked for
    reliability: tuple[ReliabilityBin, ...]
    annotators: AnnotatorTable | None
    suspects: tuple[SuspectPair, ...]
    n_suspects: int  # answers more likely wrong than right, in all
    seed: int
    versions: Mapping[str, str]
    date: str  # ISO 8601, UTC
    seconds: float

    @property
    def facts(self) -> dict[str, Any]:
        """What a model file says about its model: `to_dict` without tables about single pairs."""
        long = ("audit", "annotators", "candidates", "curve", "reliability", "suspects")
        return {key: value for key, value in self.to_dict().items() if key not in long}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        table = None if self.annotators is None else self.annotators.to_dict()
        flat = asdict(replace(self, annotators=None))
        return flat | {"audit": self.audit.to_dict(), "annotators": table}


@dataclass(frozen=True)
class Fitted:
    """The fitted pipeline (encoder, pair classifier) and what there is to tell about it."""

    model: Pipeline
    result: FitResult


def fit_dataset(
    dataset: Dataset, request: Request | None = None, progress: Progress | None = None
) -> Fitted:
    """Choose a method on held-out pairs, fit it on all of them, and gather what to tell.

    Raises `NotIdentifiable` where the answers say nothing.
    """
    begun, step = time.perf_counter(), progress or _silent
    features, pairs = dataset.features, dataset.pairs
    if features is None:
        raise ValueError(
            "no file gives the items' features, and nothing else tells new items apart"
        )
    _require_both_answers(pairs)
    asked = (request or Request()).settled(pairs)
    some = pairs.sample(comparison.ENOUGH_PAIRS)
    held_out = HeldOut(features, some, asked.seed)
    tried = comparison.compare(held_out, asked, step)
    name, why = comparison.choose(held_out, tried, asked)
    step(f"{METHODS[name]} on all items")
    with comparison.noted_warnings() as noted:
        encoder = item_encoder(features, asked.seed)
        X = encoder.fit_transform(features)
        model = comparison.pair_classifier(name, asked).fit(X, pairs)
    step("Noise, accuracy and suspect answers")
    sure = summary.certainty(model, X, pairs, held_out, tried[name])
    worst, n_wrong = summary.suspect_answers(model, X, pairs, features, dataset.ids)
    table = summary.annotators(model, X, pairs, asked.seed) if asked.annotators else None
    curve: tuple[CurvePoint, ...] = ()
    if asked.curve and (whole := tried[name].chance) is not None:
        step("Learning curve")
        curve = _curve(held_out, whole, name, asked)
    sources = dict(_sources(dataset))
    result = FitResult(
        title=next(iter(sources.values()))["path"],
        sources={role: source["path"] for role, source in sources.items()},
        checksums={role: source["sha256"] for role, source in sources.items()},
        columns=asdict(dataset.columns),
        answers=dict(dataset.mapping),
        notes=tuple(dataset.notes),
        warnings=tuple(noted),
        n_items=pairs.n_items,
        n_pairs=pairs.n_pairs,
        n_annotators=len(dataset.annotator_names or ()),
        n_labels=len(pairs.labels),
        features=tuple(ColumnNote(p.name, p.kind, p.note) for p in describe(features)),
        n_features=X.shape[1],
        audit=pairs.audit(),
        method=name,
        method_title=METHODS[name],
        estimator=asked.estimator,
        estimator_title=summary.estimator_title(model),
        why=why,
        candidates=comparison.behind(held_out, tried, name),
        n_held_out=held_out.pairs.n_pairs,
        n_folds=comparison.N_FOLDS,
        classes=summary.classes(model, X),
        names_known=bool(pairs.labels),
        prior=sure.prior,
        noise=sure.noise,
        accuracy=sure.accuracy,
        accuracy_how=sure.accuracy_how,
        majority_share=float(summary.shares(model).max()),
        curve=curve,
        reliability=summary.reliability(held_out, tried[name].chance),
        annotators=table,
        suspects=worst,
        n_suspects=n_wrong,
        seed=asked.seed,
        versions=versions(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=time.perf_counter() - begun,
    )
    return Fitted(Pipeline([("encoder", encoder), ("classifier", model)]), result)


def _silent(step: str) -> None:
    """Say nothing of the step."""


def _require_both_answers(pairs: Pairs) -> None:
    """Refuse where nothing was answered, or everything alike."""
    n_proper = pairs.without_self_pairs().n_pairs
    if n_proper == 0:
        raise ValueError("there is no answer about two distinct items: nothing to learn from")
    said = pairs.pooled_answers().same
    if said.all() or not said.any():
        word = "same" if said[0] else "different"
        raise NotIdentifiable(
            f"all {n_proper:,} answers are {word!r}: one class only, or answers that say "
            "nothing. Both kinds of answers are needed to tell classes apart"
        )


def _curve(held_out: HeldOut, whole: Array, name: str, asked: Request) -> tuple[CurvePoint, ...]:
    with comparison.noted_warnings():
        points = held_out.curve(comparison.learner(name, asked), whole)
        return tuple(CurvePoint(*point) for point in points)


def _sources(dataset: Dataset) -> Iterator[tuple[str, SourceFile]]:
    """Yield every file by its role, paths without folders: nobody's folders go into a report."""
    files = [source | {"path": Path(source["path"]).name} for source in dataset.sources]
    roles = ["items", "pairs", *(f"pairs {k}" for k in range(2, len(files)))]
    if dataset.pairs.labels and len(files) > 2:
        roles[len(files) - 1] = "labels"  # read last
    yield from zip(roles, files, strict=False)


def n_steps(request: Request) -> int:
    """Return how many steps `fit_dataset` announces."""
    return len(request.methods) + len(BASELINES) + 2 + request.curve


def versions() -> dict[str, str]:
    """Return the versions that a model depends on."""
    packages = ("noisypairs", "numpy", "scipy", "scikit-learn", "pandas", "skops")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
