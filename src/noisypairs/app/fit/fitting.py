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
from functools import cached_property
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
from noisypairs.annotators.choice import records_to_link
from noisypairs.app.drift import summarise_training
from noisypairs.app.encoding import Encoded, describe, encoded
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
from noisypairs.pairs.counts import weights_of
from noisypairs.pairs.groups import group_number, warn_of_repeated_items
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

    @property
    def marked(self) -> dict[str, list[str]]:
        """Ids of the items to name that measure the accuracy, and of labels to look at again."""
        verdict, ids = self.result.verdict, self.items["id"]
        doubtful = () if verdict.measured is None else verdict.measured.contradicted
        found = {"items_to_name": verdict.to_name, "doubtful_labels": doubtful}
        return {what: ids.iloc[list(items)].tolist() for what, items in found.items()}

    def table(self, what: str) -> pd.DataFrame:
        """Return a table to write: "the suspects", "the items", or "the items to name"."""
        if what == "the suspects":
            return self.suspects.frame()
        if what == "the items":
            return self.items
        return pd.DataFrame({"id": self.marked["items_to_name"], "class": ""})


class HeldOutAnswers(NamedTuple):
    """Answers with the P("same") that their items left out are given, and the items' classes."""

    pairs: Pairs
    chance: Array
    classes: NDArray[np.intp]
    gain: Gain  # over the share of "same"


@dataclass(frozen=True, eq=False)
class Learnt:
    """A learner fitted to a data set, and what every command asks of it.

    ``X`` (n_items, d) are the features as numbers, None where there are none.
    """

    model: Any
    data: Dataset
    X: Array | None
    encoder: Any
    nothing: str  # why there are no features, or ""
    asked: Request
    warned: CollectedWarnings

    @property
    def features(self) -> pd.DataFrame:
        """The items as the file has them; without columns where none has."""
        found = self.data.features
        return pd.DataFrame(index=range(self.data.pairs.n_items)) if found is None else found

    @property
    def items(self) -> Array:
        """The items as numbers; a column of zeros where nothing is known of them."""
        return np.zeros((self.data.pairs.n_items, 1)) if self.X is None else self.X

    @cached_property
    def held_out(self) -> HeldOutAnswers | None:
        """Answers that the items' features predict without them; None without features."""
        return None if self.X is None else held_out_answers(self)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict on the model."""
        return verdict_on(self)

    @property
    def class_number(self) -> ClassNumber | None:
        """How many classes were chosen, and from what; None where their number was given."""
        return class_number(self.model, self.asked.n_classes)

    @property
    def noise(self) -> NoiseSummary:
        """The noise of the answers, with intervals where the verdict has them."""
        model, K = self.model, len(self.model.classes_)
        S = model.noise_.same_probability(K)
        rates = mean_rates(S, class_prior(model.prior_, K))
        similar, dissimilar = (
            self.verdict.intervals.get(name) or Interval(rate, rate, rate, LEVEL)
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


def fit_dataset(
    dataset: Dataset, request: Request | None = None, progress: Progress | None = None
) -> Fitted:
    """Fit a method to a data set, and sum up what it found out.

    Without features the answers alone are fitted. Raises `NotIdentifiable` where the answers say
    nothing.
    """
    begun, step = time.perf_counter(), progress or (lambda _: None)
    learnt = learn(dataset, request or Request(), step)
    model, data = learnt.model, learnt.data
    step("Noise and accuracy")
    verdict = learnt.verdict
    step("People and suspect answers")
    suspects = training_suspects(model, learnt.items, data.pairs, data.features, data.ids)
    suspects = suspects.in_file(data)
    result = FitResult(
        summarise_data(data, learnt.X),
        _summarise_model(learnt),
        _gather_evidence(learnt, suspects),
        _run_facts(learnt, begun),
        verdict,
    )
    table = items_table(model, learnt.items, data.ids, data.pairs)
    steps = [("encoder", learnt.encoder), ("classifier", model)]
    return Fitted(None if learnt.X is None else Pipeline(steps), result, suspects, table)


def learn(
    dataset: Dataset,
    request: Request,
    step: Progress = lambda _: None,
    ready: Encoded | None = None,
) -> Learnt:
    """Encode the items and fit the learner; warn if these are records to link, not classes.

    ``ready`` are the items where they are encoded already.
    """
    pairs = dataset.pairs
    require_both_answers(pairs)
    asked = request.settled(pairs)
    step("Features of the items")
    encoder, X, nothing, unread = ready or encoded(dataset.features, asked.seed, dataset.encode)
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
    data = replace(dataset, notes=[*unread, *dataset.notes])
    return Learnt(model, data, X, encoder, nothing, asked, warned)


# --- what the model is judged by --------------------------------------------------------------


def held_out_answers(learnt: Learnt) -> HeldOutAnswers:
    """Return P("same") of answers by P(class | x) of items that were left out.

    The joint learner has that of every item. A point-wise method is fitted again without each of
    `N_FOLDS` parts of the items, and predicts the answers inside them.
    """
    plain: Any = in_memory(learnt.data.pairs, MOST_JUDGED).yes_or_no().without_self_pairs()
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
    said, weight = held.pairs.same, weights_of(held.pairs)
    share = float(np.average(said, weights=weight))

    def log_chance(same: Any) -> Array:
        found: Array = np.log(np.clip(np.where(said, same, 1.0 - same), 1e-12, None))
        return found

    gain = held.gain(log_chance(chance), log_chance(share))
    return HeldOutAnswers(held.pairs, chance, classes, gain)


def verdict_on(learnt: Learnt) -> Verdict:
    """Return the verdict on a model: its own where it has one, else by the answers held out."""
    checks = list(of_warnings(learnt.warned.caught))
    if isinstance(learnt.model, JointPairClassifier):
        return learnt.model.verdict().with_checks(checks)
    held_out = learnt.held_out
    assert held_out is not None  # only the joint learner goes without features
    shares = class_prior(learnt.model.prior_, len(learnt.model.classes_))
    accuracy = metrics.estimate_accuracy(
        held_out.pairs, held_out.classes, learnt.model.noise_, LEVEL
    )
    known = held_out.gain.exceeds(CLEAR)
    text = "answers about items that the model has not seen are predicted"
    if not known:
        text = (
            "do not rely on this model yet: for items that it has not seen, it predicts answers "
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


def _summarise_model(learnt: Learnt) -> ModelSummary:
    model, asked, verdict, data = learnt.model, learnt.asked, learnt.verdict, learnt.data
    answers = getattr(model, "answer_model_", None)
    hard, n_hard = hard_items(model, learnt.features, data.ids)
    prior = None
    if len(model.classes_) == 2:
        prior = verdict.intervals.get("prior") or root_taken(model)
    return ModelSummary(
        method=asked.method,
        method_title=METHOD_TITLES[asked.method],
        estimator=asked.estimator,
        estimator_title="none" if learnt.nothing else estimator_title(model),
        class_number=learnt.class_number,
        classes=summarise_classes(model, learnt.items, learnt.features, data.ids),
        names_known=bool(data.pairs.labels),
        prior=prior,
        noise=learnt.noise,
        accuracy=verdict.accuracy,
        accuracy_how=_how_accurate(learnt),
        majority_share=verdict.baseline,
        parts={} if answers is None else _strengths(answers),
        hard_items=hard,
        n_hard_items=n_hard,
    )


def _how_accurate(learnt: Learnt) -> str:
    found = learnt.verdict.measured
    if learnt.nothing:
        right = percent(float(learnt.model.item_proba_.max(axis=1).mean()))
        return (
            f"{learnt.nothing}, so new items cannot be classified; {right} of the compared items "
            "are in the right class if the model is correct"
        )
    if found is not None and found.accuracy is not None:
        return (
            f"share of {found.n_items:,} labelled items that are right in models learnt without "
            f"them ({LEVEL:.0%} interval, exact); assumes that they were drawn at random"
        )
    if isinstance(learnt.model, JointPairClassifier):
        return (
            "mean probability of the class that features predict for a held-out item; the "
            f"{LEVEL:.0%} interval comes from {N_REDRAWN} simulated sets of answers and assumes "
            "that the model is correct"
        )
    return (
        "from the noisy answers about held-out items, corrected for the estimated noise "
        f"({LEVEL:.0%} interval, which ignores the uncertainty of the noise)"
    )


def _strengths(answers: Any) -> dict[str, float]:
    """Return the learnt strength of every part of an answer model; 0 of one that is not there."""
    parts = {name: answers.part(name) for name in ("people", "clarity", "pair error", "similarity")}
    return {name: 0.0 if part is None else float(part.strength) for name, part in parts.items()}


def class_number(model: Any, asked: Any) -> ClassNumber | None:
    """Return how many classes were chosen, and from what; None where their number was given."""
    tried = getattr(model, "class_numbers_", {})
    if isinstance(asked, int) or not tried:
        return None
    return ClassNumber(model.n_classes_, {str(K): float(score) for K, score in tried.items()})


def root_taken(model: Any) -> Interval:
    """Return the root of the prior equation that a point-wise model took."""
    roots: tuple[Interval, ...] = model.prior_estimate_.roots
    return min(roots, key=lambda root: abs(root.estimate - model.prior_))


def _gather_evidence(learnt: Learnt, found: Suspects) -> Evidence:
    held_out = learnt.held_out
    return Evidence(
        reliability=() if held_out is None else _reliability(held_out),
        annotators=_annotators(learnt),
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


def _annotators(learnt: Learnt) -> AnnotatorTable | None:
    """Return everybody's rates, by the fit itself where it has them; None where nobody is named."""
    if not learnt.asked.annotators:
        return None
    pairs: Any = learnt.data.pairs
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
        n_groups=group_number(pairs.groups),
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
