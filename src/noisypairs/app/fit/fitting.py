"""From files to a fitted model and everything that it found out: one fit, and nothing twice.

`fit_dataset` encodes the items, fits the method that is asked for, and sums up what it says of
classes, noise, people and suspect answers in a `FitResult`. What it is judged by was left out of
the very model that is kept: P(class | x) of every item comes from the others.
"""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from noisypairs import metrics
from noisypairs.algebra import Array, class_prior, mean_rates
from noisypairs.annotators import AnnotatorTable, annotator_table, table_of_fit
from noisypairs.annotators.linkage import records_to_link
from noisypairs.app.drift import summarise_training
from noisypairs.app.encoding import describe, encoded
from noisypairs.app.fit.calibration import check_calibration
from noisypairs.app.fit.classes import hard_items, items_table, summarise_classes
from noisypairs.app.fit.request import (
    METHOD_TITLES,
    Request,
    pair_classifier,
    require_both_answers,
)
from noisypairs.app.fit.result import (
    ClassNumber,
    DataSummary,
    Evidence,
    FitResult,
    ModelSummary,
    NoiseSummary,
    ReliabilityBin,
    RunFacts,
)
from noisypairs.app.suspects import MOST_SHOWN, Suspects, training_suspects
from noisypairs.assess.intervals import LEVEL, N_REDRAWN
from noisypairs.assess.labels import Measured, compared
from noisypairs.assess.verdict import Check, Verdict, judged, of_warnings
from noisypairs.assess.words import percent
from noisypairs.classifier import MOST_NUMBERS_LOOKED_AT, JointPairClassifier
from noisypairs.errors import (
    CollectedWarnings,
    NotIdentifiable,
    NotIdentifiableWarning,
    collected_warnings,
)
from noisypairs.estimation import Interval, wilson
from noisypairs.estimation.heldout import CLEAR, Gain, HeldOut, items_by_fold
from noisypairs.pairs import Pairs
from noisypairs.pairs.groups import warn_of_repeated_items
from noisypairs.pairs.pairs import in_memory

if TYPE_CHECKING:
    from noisypairs.app.files import Dataset, SourceFile

#: Answers of a `PairTable` on which a model is judged; it learns from all.
MOST_JUDGED = 1_000_000
#: Fewer items than this cannot be put in folds that leave anything to learn from.
FEWEST_ITEMS = 15
#: Folds of the items in which a point-wise method is tried.
N_FOLDS = 3
#: Bins of the reliability table.
N_BINS = 10
#: Steps that `fit_dataset` announces, and how long each takes in comparison.
STEP_SHARES = (2.0, 10.0, 3.0, 1.0)

#: Called before each step with its name.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Fitted:
    """The fitted pipeline (encoder, pair classifier), what it found out, all suspects and items.

    Answers alone give no pipeline: nothing is known of new items.
    """

    model: Pipeline | None
    result: FitResult
    suspects: Suspects
    items: pd.DataFrame

    def to_name(self) -> pd.DataFrame:
        """Return the items to name that measure the accuracy: ids, and classes to be filled in."""
        ids = self.items["id"].iloc[list(self.result.verdict.to_name)]
        return pd.DataFrame({"id": ids, "class": ""})


class Learnt(NamedTuple):
    """A learner fitted to a data set, with what it was given; ``X`` is None without features."""

    model: Any
    X: Array | None
    encoder: Any
    nothing: str  # why there are no features, or ""
    asked: Request
    warned: CollectedWarnings
    unread: tuple[str, ...]  # a line on each item whose content cannot be read


class HeldOutAnswers(NamedTuple):
    """Answers with the P("same") that their items left out are given, and the items' classes."""

    pairs: Pairs
    chance: Array
    classes: NDArray[np.intp]
    gain: Gain  # over the share of "same"


def fit_dataset(
    dataset: Dataset, request: Request | None = None, progress: Progress | None = None
) -> Fitted:
    """Fit a method to a data set, and sum up what it found out.

    Without features the answers alone are fitted. Raises `NotIdentifiable` where the answers say
    nothing.
    """
    begun, step = time.perf_counter(), progress or (lambda _: None)
    learnt = learn(dataset, request or Request(), step)
    model, X, pairs, ids = learnt.model, learnt.X, dataset.pairs, dataset.ids
    dataset = replace(dataset, notes=[*learnt.unread, *dataset.notes])
    step("Noise and accuracy")
    held_out = None if X is None else held_out_answers(learnt, pairs)
    verdict = verdict_on(learnt, held_out)
    step("People and suspect answers")
    items = np.zeros((pairs.n_items, 1)) if X is None else X
    features = dataset.features
    features = pd.DataFrame(index=range(pairs.n_items)) if features is None else features
    suspects = training_suspects(model, items, pairs, dataset.features, ids).in_file(dataset)
    result = FitResult(
        summarise_data(dataset, X),
        _summarise_model(learnt, items, features, dataset, verdict),
        _gather_evidence(learnt, dataset, held_out, suspects),
        _run_facts(learnt, begun),
        verdict,
    )
    table = items_table(model, items, ids, pairs)
    steps = [("encoder", learnt.encoder), ("classifier", model)]
    return Fitted(None if X is None else Pipeline(steps), result, suspects, table)


def learn(dataset: Dataset, request: Request, step: Progress = lambda _: None) -> Learnt:
    """Encode the items and fit the learner; warn if these are records to link, not classes."""
    pairs = dataset.pairs
    require_both_answers(pairs)
    asked = request.settled(pairs)
    step("Features of the items")
    encoder, X, nothing, unread = encoded(dataset.features, asked.seed, dataset.encode)
    if X is not None and pairs.n_items < FEWEST_ITEMS:
        raise ValueError(
            f"there are {pairs.n_items} items: too few to hold some out and learn from the others. "
            f"Give at least {FEWEST_ITEMS}"
        )
    if nothing and asked.method != "joint":
        raise ValueError(f"{nothing}: only the joint method learns from answers alone")
    step(f"{METHOD_TITLES[asked.method]} on {'the answers alone' if nothing else 'all items'}")
    with collected_warnings() as warned:
        looked = asked.method == "joint" and X is not None and X.size <= MOST_NUMBERS_LOOKED_AT
        if X is not None and not looked:  # the joint learner looks itself at what is small
            warn_of_repeated_items(X, pairs)
        records = records_to_link(
            in_memory(pairs, MOST_JUDGED), None if X is None else lambda: X, asked.seed
        )
        if records is not None:
            warnings.warn(records, NotIdentifiableWarning, stacklevel=2)
        try:
            model = pair_classifier(asked).fit(X, pairs)
        except NotIdentifiable as error:
            raise NotIdentifiable(f"{error}; {records}" if records else str(error)) from error
    return Learnt(model, X, encoder, nothing, asked, warned, unread)


# --- what the model is judged by --------------------------------------------------------------


def held_out_answers(learnt: Learnt, pairs: Any) -> HeldOutAnswers:
    """Return P("same") of answers by P(class | x) of items that were left out.

    The joint learner has that of every item. A point-wise method is fitted again without each of
    `N_FOLDS` parts of the items, and predicts the answers inside them.
    """
    plain: Any = in_memory(pairs, MOST_JUDGED).yes_or_no().without_self_pairs()
    eta = getattr(learnt.model, "oof_proba_", None)
    if eta is not None:
        S = learnt.model.noise_.same_probability(eta.shape[1])
        held = HeldOut.by_pair(plain, N_FOLDS, learnt.asked.seed, plain.groups)
        return _scored(held, _chance(plain, eta, S), eta.argmax(axis=1))
    return _without_each_fold(learnt, plain)


def _without_each_fold(learnt: Learnt, plain: Pairs) -> HeldOutAnswers:
    """Fit a point-wise method without each part of the items; predict the answers inside it."""
    held = HeldOut.by_item(plain, N_FOLDS, learnt.asked.seed)
    assert held.item_fold is not None  # items are held out
    assert learnt.X is not None
    chance, classes = np.zeros(plain.n_pairs), np.zeros(plain.n_items, dtype=np.intp)
    for k, (train, test) in enumerate(items_by_fold(held.item_fold, N_FOLDS)):
        with collected_warnings():
            model = pair_classifier(learnt.asked).fit(learnt.X[train], plain[train])
        eta = np.zeros((plain.n_items, len(model.classes_)))
        eta[test] = model.predict_proba(learnt.X[test])
        inside, S = held.fold == k, model.noise_.same_probability(eta.shape[1])
        chance[inside] = _chance(plain.select(inside), eta, S)
        classes[test] = eta[test].argmax(axis=1)
    inside = held.fold >= 0
    some = HeldOut(plain.select(inside), held.fold[inside], N_FOLDS, held.groups)
    return _scored(some, chance[inside], classes)


def _chance(pairs: Pairs, eta: Array, S: Array) -> Array:
    """Return P("same") = η(x)ᵀ S η(x') of each answer, (n_pairs,)."""
    found: Array = np.einsum("nk,kl,nl->n", eta[pairs.left], S, eta[pairs.right])
    return found


def _scored(held: HeldOut, chance: Array, classes: NDArray[np.intp]) -> HeldOutAnswers:
    said, weight = held.pairs.same, held.pairs.weights
    share = float(np.average(said, weights=weight))

    def log_chance(same: Any) -> Array:
        found: Array = np.log(np.clip(np.where(said, same, 1.0 - same), 1e-12, None))
        return found

    gain = held.gain(log_chance(chance), log_chance(share))
    return HeldOutAnswers(held.pairs, chance, classes, gain)


def verdict_on(learnt: Learnt, held_out: HeldOutAnswers | None) -> Verdict:
    """Return the verdict on a model: its own where it has one, else by the answers held out."""
    checks = list(of_warnings(learnt.warned.caught))
    if isinstance(learnt.model, JointPairClassifier):
        return learnt.model.verdict().with_checks(checks)
    assert held_out is not None  # only the joint learner goes without features
    shares = class_prior(learnt.model.prior_, len(learnt.model.classes_))
    accuracy = metrics.estimate_accuracy(
        held_out.pairs, held_out.classes, learnt.model.noise_, LEVEL
    )
    known = held_out.gain.exceeds(CLEAR)
    text = "answers about items that the model had not seen are predicted"
    if not known:
        text = (
            "do not rely on this model yet: it predicts answers about items that it had not seen "
            "no better than always giving the more frequent answer"
        )
    checks.insert(0, Check("held-out items", known, text, "problem"))
    found = _measured(held_out)
    return judged(checks, accuracy, found, float(shares.max()), len(shares))


def _measured(held_out: HeldOutAnswers) -> Measured | None:
    """Compare labels with the classes that a point-wise method predicts without them."""
    labels = held_out.pairs.labels
    if not labels:
        return None
    items, groups = list(labels), held_out.pairs.groups
    names, truth = np.unique(np.array(list(labels.values())), return_inverse=True)
    of = np.asarray(items if groups is None else groups[items], dtype=np.intp)
    return compared(names, truth, held_out.classes[items], of, LEVEL)


# --- what it says -----------------------------------------------------------------------------


def _summarise_model(
    learnt: Learnt, X: Array, features: pd.DataFrame, dataset: Dataset, verdict: Verdict
) -> ModelSummary:
    model, asked = learnt.model, learnt.asked
    answers = getattr(model, "answer_model_", None)
    hard, n_hard = hard_items(model, features, dataset.ids)
    prior = None
    if len(model.classes_) == 2:
        prior = verdict.intervals.get("prior") or root_taken(model)
    return ModelSummary(
        method=asked.method,
        method_title=METHOD_TITLES[asked.method],
        estimator=asked.estimator,
        estimator_title="none" if learnt.nothing else estimator_title(model),
        class_number=class_number(model, asked),
        classes=summarise_classes(model, X, features, dataset.ids),
        names_known=bool(dataset.pairs.labels),
        prior=prior,
        noise=summarise_noise(model, verdict),
        accuracy=verdict.accuracy,
        accuracy_how=_how_accurate(learnt, verdict),
        majority_share=verdict.baseline,
        parts={} if answers is None else _strengths(answers),
        hard_items=hard,
        n_hard_items=n_hard,
    )


def _how_accurate(learnt: Learnt, verdict: Verdict) -> str:
    found = verdict.measured
    if learnt.nothing:
        right = percent(float(learnt.model.item_proba_.max(axis=1).mean()))
        return (
            f"{learnt.nothing}, so that new items cannot be classified; of the items compared, "
            f"{right} are in the right class if the model is correct"
        )
    if found is not None and found.accuracy is not None:
        return (
            f"share of {found.n_items:,} labelled items that models learnt without them get right "
            f"({LEVEL:.0%} interval, exact); items are taken to be labelled at random"
        )
    if isinstance(learnt.model, JointPairClassifier):
        return (
            "mean belief in the class that features alone predict for an item left out, "
            f"{N_REDRAWN} times with classes and answers drawn again ({LEVEL:.0%} interval); it "
            "assumes that the model is correct"
        )
    return (
        "from the noisy answers about items left out, corrected for the noise as estimated "
        f"({LEVEL:.0%} interval, which leaves out the uncertainty of the noise)"
    )


def _strengths(answers: Any) -> dict[str, float]:
    """Return the learnt strength of every part of an answer model; 0 of one that is not there."""
    parts = {name: answers.part(name) for name in ("people", "clarity", "pair error", "similarity")}
    return {name: 0.0 if part is None else float(part.strength) for name, part in parts.items()}


def class_number(model: Any, asked: Request) -> ClassNumber | None:
    """Return how many classes were chosen, and from what; None where their number was given."""
    tried = getattr(model, "class_numbers_", {})
    if isinstance(asked.n_classes, int) or not tried:
        return None
    return ClassNumber(model.n_classes_, {str(K): float(score) for K, score in tried.items()})


def summarise_noise(model: Any, verdict: Verdict) -> NoiseSummary:
    """Return the noise of a fitted model, with intervals where the verdict has them."""
    K = len(model.classes_)
    S = model.noise_.same_probability(K)
    rates = mean_rates(S, class_prior(model.prior_, K))
    similar, dissimilar = (
        verdict.intervals.get(name) or Interval(rate, rate, rate, LEVEL)
        for name, rate in zip(("similar_flip", "dissimilar_flip"), rates, strict=True)
    )
    return NoiseSummary(
        family=str(getattr(model, "noise_model_", model.noise)),
        text=str(model.noise_),
        similar_flip=similar,
        dissimilar_flip=dissimilar,
        has_interval=similar.high > similar.low,
        same_probability=tuple(tuple(map(float, row)) for row in S),
        repeat_correlation=float(getattr(model, "repeat_correlation_", 0.0)),
    )


def root_taken(model: Any) -> Interval:
    """Return the root of the prior equation that a point-wise model took."""
    roots: tuple[Interval, ...] = model.prior_estimate_.roots
    return min(roots, key=lambda root: abs(root.estimate - model.prior_))


def _gather_evidence(
    learnt: Learnt, dataset: Dataset, held_out: HeldOutAnswers | None, found: Suspects
) -> Evidence:
    return Evidence(
        reliability=() if held_out is None else _reliability(held_out),
        annotators=_annotators(learnt, dataset.pairs),
        suspects=tuple(found.first(MOST_SHOWN)),
        n_suspects=found.n_wrong,
        n_hard=found.n_hard,
        calibration=None if held_out is None else check_calibration(*held_out[:2]),
    )


def _reliability(held_out: HeldOutAnswers) -> tuple[ReliabilityBin, ...]:
    """Return bins of about equally many held-out answers, by predicted P("same")."""
    chance, same = held_out.chance, held_out.pairs.same
    order = np.argsort(chance, kind="stable")
    bins = np.array_split(order, min(N_BINS, max(1, chance.size // 10)))
    return tuple(
        ReliabilityBin(
            float(chance[rows].mean()),
            wilson(float(same[rows].sum()), len(rows), LEVEL),
            len(rows),
        )
        for rows in bins
        if rows.size
    )


def _annotators(learnt: Learnt, pairs: Any) -> AnnotatorTable | None:
    """Return everybody's rates, by the fit itself where it has them; None where nobody is named."""
    if not learnt.asked.annotators:
        return None
    with collected_warnings():
        if isinstance(learnt.model, JointPairClassifier):
            return table_of_fit(learnt.model, pairs)
        try:
            return annotator_table(pairs, learnt.X, random_state=learnt.asked.seed)
        except NotIdentifiable:
            return None


def estimator_title(model: Any) -> str:
    """Return what learnt inside: the candidate that was kept, or the last step's type."""
    if getattr(model, "candidates_", None):
        return str(model.candidate_)
    inner = model.estimator_
    while isinstance(inner, Pipeline):
        inner = inner.steps[-1][1]
    return type(inner).__name__


# --- the files and the run --------------------------------------------------------------------


def summarise_data(dataset: Dataset, X: Array | None = None) -> DataSummary:
    """Return the files as they were read, and what they hold; ``X`` are the encoded items."""
    pairs, sources = dataset.pairs, dict(_sources(dataset))
    plans = [] if dataset.features is None else describe(dataset.features, dataset.encode)
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


def _run_facts(learnt: Learnt, begun: float) -> RunFacts:
    return RunFacts(
        warnings=tuple(learnt.warned),
        seed=learnt.asked.seed,
        versions=versions(),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=time.perf_counter() - begun,
    )


def versions() -> dict[str, str]:
    """Return the versions that a model depends on."""
    packages = ("noisypairs", "numpy", "scipy", "scikit-learn", "pandas", "skops", "skrub")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}
