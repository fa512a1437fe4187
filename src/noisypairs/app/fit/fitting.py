"""From files to a fitted model: compare methods on held-out pairs, fit the best one on all pairs.

`fit_dataset` compares the methods in question on pairs of items none of them has seen, fits the
best one on everything, and returns the model with a `FitResult`.
"""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from noisypairs.algebra import Array
from noisypairs.annotators.linkage import records_to_link
from noisypairs.app.drift import summarise_training
from noisypairs.app.encoding import describe, encoded, item_encoder
from noisypairs.app.fit import comparison, summary
from noisypairs.app.fit.class_number import (
    ClassNumber,
    choose_class_number,
    require_both_answers,
)
from noisypairs.app.fit.classes import items_table, summarise_classes
from noisypairs.app.fit.comparison import HeldOutAnswers, Progress
from noisypairs.app.fit.parts import hard_items, summarise_parts
from noisypairs.app.fit.request import BASELINE_TITLES, METHOD_TITLES, Request, pair_classifier
from noisypairs.app.fit.result import DataSummary, FitResult, MethodChoice, RunFacts
from noisypairs.app.suspects import Suspects, training_suspects
from noisypairs.assess.verdict import of_warnings
from noisypairs.assess.words import percent
from noisypairs.errors import (
    CollectedWarnings,
    NotIdentifiable,
    NotIdentifiableWarning,
    collected_warnings,
)
from noisypairs.pairs import Pairs
from noisypairs.pairs.groups import warn_of_repeated_items

if TYPE_CHECKING:
    from noisypairs.app.files import Dataset, SourceFile


@dataclass(frozen=True)
class Fitted:
    """The fitted pipeline (encoder, pair classifier), what it found out, all suspects and items.

    Answers alone give no pipeline: nothing is known of new items.
    """

    model: Pipeline | None
    result: FitResult
    suspects: Suspects
    items: pd.DataFrame


def fit_dataset(
    dataset: Dataset, request: Request | None = None, progress: Progress | None = None
) -> Fitted:
    """Choose a method on held-out pairs, fit it on all of them, and sum up what it found out.

    Raises `NotIdentifiable` where the answers say nothing.
    """
    begun, step = time.perf_counter(), progress or (lambda _: None)
    features, pairs = dataset.features, dataset.pairs
    nothing = encoded(features)[2]
    if nothing or features is None:
        return _fit_answers(dataset, request or Request(), nothing, step)
    require_both_answers(pairs)
    asked = (request or Request()).settled(pairs)
    some = pairs.sample(comparison.MOST_PAIRS_COMPARED)
    held_out = HeldOutAnswers(features, some, asked.seed)
    step("Number of classes")
    number, asked = _class_number(features, pairs, asked)
    tried = comparison.compare(held_out, asked, step)
    name, why = comparison.choose(held_out, tried, asked)
    step(f"{METHOD_TITLES[name]} on all items")
    with collected_warnings() as warned:
        encoder = item_encoder(features, asked.seed)
        X = encoder.fit_transform(features)
        warn_of_repeated_items(X, pairs)
        model = _learnt(name, asked, X, pairs)
    choice = MethodChoice(
        method=name,
        method_title=METHOD_TITLES[name],
        estimator=asked.estimator,
        estimator_title=summary.estimator_title(model),
        why=why,
        candidates=comparison.behind(held_out, tried, name),
        n_held_out=held_out.pairs.n_pairs,
        n_folds=comparison.N_FOLDS,
        class_number=number,
    )
    step("Noise, accuracy and suspect answers")
    classes = summarise_classes(model, X, features, dataset.ids)
    hard, n_hard = hard_items(model, features, dataset.ids)
    verdict = summary.stated(model, choice, held_out, tried[name], warned)
    found = replace(
        summary.summarise_model(model, pairs, held_out, tried[name], verdict, classes),
        parts=summarise_parts(model),
        hard_items=hard,
        n_hard_items=n_hard,
    )
    if asked.curve and tried[name].chance is not None:
        step("Learning curve")
    suspects = training_suspects(model, X, pairs, features, dataset.ids).in_file(dataset)
    evidence = summary.gather_evidence(model, X, dataset, held_out, tried[name], asked, suspects)
    run = _run_facts(warned, asked, begun)
    result = FitResult(_data_summary(dataset, X), choice, found, evidence, run, verdict)
    items = items_table(model, X, dataset.ids, pairs)
    return Fitted(Pipeline([("encoder", encoder), ("classifier", model)]), result, suspects, items)


def _fit_answers(dataset: Dataset, request: Request, nothing: str, step: Progress) -> Fitted:
    """Fit the answers alone, where nothing is known of the items: classes, people, suspects."""
    begun, pairs = time.perf_counter(), dataset.pairs
    if request.method not in ("auto", "joint"):
        raise ValueError(f"{nothing}: only the joint method learns from answers alone")
    require_both_answers(pairs)
    asked = replace(request, method="joint").settled(pairs)
    step(f"{METHOD_TITLES['joint']} on the answers alone")
    with collected_warnings() as warned:
        model = _learnt("joint", asked, None, pairs)
    X = np.zeros((pairs.n_items, 1))
    step("Noise, accuracy and suspect answers")
    features = pd.DataFrame(index=range(pairs.n_items))
    features = features if dataset.features is None else dataset.features
    classes = summarise_classes(model, X, features, dataset.ids)
    own = model.verdict()
    about_items = tuple(one for one in own.checks if one.name != "largest class")
    verdict = replace(own, checks=about_items, estimated=None)
    verdict = verdict.with_checks(of_warnings(warned.caught))
    found = replace(
        summary.summarise_model(model, pairs, None, None, verdict, classes),
        accuracy=None,
        accuracy_how=(
            f"{nothing}, so that new items cannot be classified; of the items compared, "
            f"{percent(float(model.item_proba_.max(axis=1).mean()))} are in the right class if "
            "the model is correct"
        ),
        parts=summarise_parts(model),
    )
    suspects = training_suspects(model, X, pairs, dataset.features, dataset.ids).in_file(dataset)
    evidence = summary.gather_evidence(model, None, dataset, None, None, asked, suspects)
    why = f"The joint learner learnt from the answers alone: {nothing}"
    choice = MethodChoice("joint", METHOD_TITLES["joint"], asked.estimator, "none", why, (), 0, 0)
    run = _run_facts(warned, asked, begun)
    result = FitResult(_data_summary(dataset, None), choice, found, evidence, run, verdict)
    return Fitted(None, result, suspects, items_table(model, X, dataset.ids, pairs))


def _learnt(name: str, asked: Request, X: Array | None, pairs: Pairs) -> Any:
    """Fit a method on everything, and warn if these are records to link, not classes to learn."""
    some = pairs.sample(comparison.MOST_PAIRS_COMPARED)
    records = records_to_link(some, None if X is None else lambda: X, asked.seed)
    if records is not None:
        warnings.warn(records, NotIdentifiableWarning, stacklevel=2)
    try:
        return pair_classifier(name, asked).fit(X, pairs)
    except NotIdentifiable as error:
        raise NotIdentifiable(f"{error}; {records}" if records else str(error)) from error


def _run_facts(warned: CollectedWarnings, asked: Request, begun: float) -> RunFacts:
    return RunFacts(
        warnings=tuple(warned),
        seed=asked.seed,
        versions=versions(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=time.perf_counter() - begun,
    )


def _class_number(
    features: Any, pairs: Pairs, asked: Request
) -> tuple[ClassNumber | None, Request]:
    """Choose the number of classes where it is open; return the choice and the request with it."""
    if asked.n_classes is None or isinstance(asked.n_classes, int):
        return None, asked
    X = item_encoder(features, asked.seed).fit_transform(features)
    number = choose_class_number(X, pairs, asked.n_classes, asked.noise_model, asked.seed)
    return number, replace(asked, n_classes=number.chosen)


def _data_summary(dataset: Dataset, X: Array | None) -> DataSummary:
    pairs, sources = dataset.pairs, dict(_sources(dataset))
    plans = [] if dataset.features is None else describe(dataset.features)
    return DataSummary(
        title=next(iter(sources.values()))["path"],
        sources={role: source["path"] for role, source in sources.items()},
        checksums={role: source["sha256"] for role, source in sources.items()},
        columns=asdict(dataset.columns),
        answers=dict(dataset.mapping),
        notes=tuple(dataset.notes),
        n_items=pairs.n_items,
        n_pairs=pairs.n_pairs,
        n_annotators=len(dataset.annotator_names or ()),
        n_labels=len(pairs.labels),
        features=tuple(plans),
        n_features=0 if X is None else X.shape[1],
        audit=pairs.audit(),
        training=None if X is None else summarise_training(dataset.features, plans, X),
        n_groups=None if pairs.groups is None else pairs.n_groups,
    )


def _sources(dataset: Dataset) -> Iterator[tuple[str, SourceFile]]:
    """Yield every file by its role, paths without folders: nobody's folders go into a report."""
    files = [source | {"path": Path(source["path"]).name} for source in dataset.sources]
    roles = ["items", "pairs", *(f"pairs {k}" for k in range(2, len(files)))]
    if dataset.pairs.labels and len(files) > 2:
        roles[len(files) - 1] = "labels"  # read last
    yield from zip(roles, files, strict=False)


def step_shares(request: Request) -> list[float]:
    """Return about how long each step that `fit_dataset` announces takes in comparison."""
    number = 0.0 if isinstance(request.n_classes, int) else 8.0
    methods = [10.0 if name == "joint" else 2.0 for name in request.methods]
    return [number, *methods, *[0.1] * len(BASELINE_TITLES), 5.0, 3.0, *[30.0] * request.curve]


def versions() -> dict[str, str]:
    """Return the versions that a model depends on."""
    packages = ("noisypairs", "numpy", "scipy", "scikit-learn", "pandas", "skops")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
