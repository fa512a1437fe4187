"""The main job on data that need no download: `run` learns, `stories` are the words, a page.

What it learns are frozen records: ``dataclasses.asdict`` of a `Demo` gives JSON.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from noisypairs import datasets
from noisypairs.algebra import Array, class_prior, mean_rates
from noisypairs.app.report import charts
from noisypairs.app.report.page import drawing, render
from noisypairs.app.sentences import said
from noisypairs.classifier import JointPairClassifier, SearchOptions
from noisypairs.errors import NotIdentifiable, collected_warnings
from noisypairs.estimation import wilson
from noisypairs.estimators import (
    COPKMeans,
    LossCorrectionClassifier,
    PairKMeans,
    WeightedPairClassifier,
)
from noisypairs.estimators.inner.classifiers import default_classifier
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.noise import PARTS, CleanPairs, PairingNoise
from noisypairs.sampling import sample_pairs

#: How wrong the answers about the tumours are, and how many there are for each of them.
NOISE, PAIRS_PER_ITEM = PairingNoise(similar_flip=0.3, dissimilar_flip=0.2), 5
#: A crowd whose features alone decide four items in five, so that it matters who is believed.
CROWD: dict[str, Any] = {
    "n_items": 400,
    "n_annotators": 40,
    "pairs_per_item": 10,
    "spammer_share": 0.2,
    "separation": 2.5,
}
#: So many of the worst annotators are shown, and nobody is called one on fewer answers.
N_WORST, ENOUGH_ANSWERS = 5, 30
#: Fits in all: eleven methods and a reference for the tumours, three and one for the crowd.
N_STEPS = 16
#: What the joint learner is measured against: its own classifier on what pairs never say.
REFERENCE = ("Joint learner's classifier", "every true class")

#: Called before each step with its name.
Progress = Callable[[str], None]
#: A method: its name, what it is given, the unfitted model.
Method = tuple[str, str, Any]


@dataclass(frozen=True)
class Row:
    """One method: what it was given, and its accuracies up to class names or why it refuses."""

    method: str
    told: str
    test_accuracy: float | None
    seconds: float
    train_accuracy: float | None = None
    refusal: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """Items compared in pairs, with some wrong answers, and every method that learnt from them."""

    n_train: int
    n_test: int
    n_pairs: int
    n_wrong: int
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Learnt:
    """What the joint learner found out about the answers; `Tumours` has the truth."""

    similar_flip: float
    dissimilar_flip: float
    larger_class: float
    n_suspect: int
    n_suspect_wrong: int


@dataclass(frozen=True)
class Tumours(Part):
    """Two classes of tumours, compared by one voice that errs at two rates."""

    n_features: int
    similar_flip: float
    dissimilar_flip: float
    larger_class: float
    learnt: Learnt | None


@dataclass(frozen=True)
class Annotator:
    """One annotator's rates ρ_S, ρ_D as estimated and as they are, and what kind they are."""

    name: int
    n_answers: int
    kind: str
    similar_flip: float
    dissimilar_flip: float
    true_similar_flip: float
    true_dissimilar_flip: float


@dataclass(frozen=True)
class SimulatedCrowd(Part):
    """Three classes of simulated items, compared by annotators of very different worth."""

    n_annotators: int
    n_not_honest: int
    worst: tuple[Annotator, ...]


@dataclass(frozen=True)
class Demo:
    """Both parts, the seed they were drawn with, and how long they took."""

    seed: int
    cancer: Tumours
    crowd: SimulatedCrowd
    seconds: float


def run(seed: int = 0, progress: Progress | None = None) -> Demo:
    """Run both parts with one seed; but for its seconds the result depends on nothing else."""
    begun, step = time.perf_counter(), progress or (lambda _: None)
    parts = learn_tumours(seed, step), learn_crowd(seed, step)
    return Demo(seed, *parts, time.perf_counter() - begun)


def learn_tumours(seed: int, step: Progress) -> Tumours:
    """Learn tumours from noisy pairs by every method, and from their true classes for comparison.

    75 % of the items, stratified, are compared; the others are the test. Nothing is given about
    the noise; where a row says so, the share of malignant tumours is.
    """
    X, y = datasets.load("cancer")
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
    prior = float(y.mean())
    pairs = sample_pairs(y, PAIRS_PER_ITEM * len(y), NOISE, random_state=seed)
    facts, joint, wrong = compare([*_methods(prior, seed)], (X, pairs, y), (X_test, y_test), step)
    learnt = None
    if joint is not None:
        suspects, _ = joint.suspect_pairs()
        shares = class_prior(joint.prior_, 2)
        rates = mean_rates(joint.noise_.same_probability(), shares)
        learnt = Learnt(*rates, float(shares.max()), len(suspects), int(wrong[suspects].sum()))
    return Tumours(
        **facts,
        n_features=X.shape[1],
        similar_flip=NOISE.similar_flip,
        dissimilar_flip=NOISE.dissimilar_flip,
        larger_class=max(prior, 1.0 - prior),
        learnt=learnt,
    )


def learn_crowd(seed: int, step: Progress) -> SimulatedCrowd:
    """Learn a simulated crowd's items with rates for every annotator, and with all alike.

    New items are those of a second crowd, drawn around the same class centres.
    """
    seeds = np.random.default_rng(seed).spawn(2)
    here, new = (datasets.simulated_crowd(random_state=rng, **CROWD) for rng in seeds)
    given = "number of classes"  # and more rounds, since the rates of forty people settle slowly
    alike = JointPairClassifier(
        n_classes=3,
        random_state=seed,
        answer_model=["clarity", "similarity", "pair error"],
        search=SearchOptions(max_iter=30),
    )
    methods = [
        ("Joint, annotators apart", given, clone(alike).set_params(answer_model=tuple(PARTS))),
        ("Joint, all alike", given, alike),
        ("k-means, answers ignored", given, PairKMeans(n_classes=3, random_state=seed)),
    ]
    train, test = (here.data, here.pairs, here.target), (new.data, new.target)
    facts, joint, _ = compare(methods, train, test, step)
    return SimulatedCrowd(
        **facts,
        n_annotators=len(here.annotator_kind),
        n_not_honest=int((here.annotator_kind != "honest").sum()),
        worst=() if joint is None else _worst(joint.annotator_noise_, here),
    )


def _methods(prior: float, seed: int) -> Iterator[Method]:
    """Yield the joint method, then the others, given nothing and given the prior."""
    yield "Joint learner", "nothing", JointPairClassifier(n_classes=2, random_state=seed)
    for told, known in (("nothing", {}), ("share of malignant", {"prior": prior})):
        given: dict[str, Any] = {"random_state": seed, **known}
        yield "Loss correction", told, LossCorrectionClassifier(**given)
        yield "Weighted", told, WeightedPairClassifier(**given)
        yield "SD-Loss (no noise)", told, LossCorrectionClassifier(noise=CleanPairs(), **given)
        yield "Unweighted", told, WeightedPairClassifier(alpha=0.5, **given)
    yield "COP-k-means", "nothing", COPKMeans(random_state=seed)
    yield "k-means, answers ignored", "nothing", PairKMeans(random_state=seed)


def compare(
    methods: Sequence[Method], train: Any, test: Any, step: Progress
) -> tuple[dict[str, Any], Any, Any]:
    """Return the fields of `Part`, the first method fitted (None if it refuses), wrong answers.

    ``train`` is (X, pairs, y), ``test`` (X, y). The last row is the classifier of the first method
    trained on the true classes, or the default classifier if the first method refuses.
    """
    X, pairs, y = train
    wrong = pairs.same != (y[pairs.left] == y[pairs.right])
    rows = [attempt(method, (X, pairs), test, y, step) for method in methods]
    first = None if rows[0].refusal else methods[0][2]
    reference = default_classifier(X, 0) if first is None else clone(first.estimator_)
    rows.append(attempt((*REFERENCE, reference), (X, y), test, step=step))
    sizes = {"n_train": len(y), "n_test": len(test[1]), "n_pairs": pairs.n_pairs}
    return sizes | {"n_wrong": int(wrong.sum()), "rows": tuple(rows)}, first, wrong


def attempt(
    method: Method, train: Any, test: Any, y_train: Any = None, step: Progress = lambda _: None
) -> Row:
    """Fit a method on ``train`` and judge it on ``test``; a refusal is a row too.

    With ``y_train`` the row also says how many training items are in the right class, as the
    pairs have it (``item_proba_``) where the model keeps that, else as it predicts them.

    >>> X, y = datasets.load("gaussians", n_samples=200, prior=0.5, random_state=0)
    >>> method = ("Loss correction", "nothing", LossCorrectionClassifier())
    >>> row = attempt(method, (X, sample_pairs(y, 400, random_state=0)), (X, y))
    >>> row.test_accuracy, row.refusal is None
    (None, False)
    """
    name, given, model = method
    step(f"{name} ({given})")
    begun = time.perf_counter()
    accuracy = right = refusal = None
    with collected_warnings() as warned:
        try:
            model.fit(*train)
        except NotIdentifiable as reason:
            refusal = str(reason)
        else:
            accuracy = accuracy_up_to_names(test[1], model.predict(test[0]))
    seconds = time.perf_counter() - begun
    if refusal is None and y_train is not None:
        item_proba = getattr(model, "item_proba_", None)
        found = model.predict(train[0]) if item_proba is None else item_proba.argmax(axis=1)
        right = accuracy_up_to_names(y_train, found)
    return Row(name, given, accuracy, seconds, right, refusal, tuple(warned))


def _worst(rates: Array, here: Any) -> tuple[Annotator, ...]:
    """Return the annotators whose answers say least, smallest 1 − ρ_S − ρ_D first."""
    counts = np.bincount(here.pairs.annotator, minlength=len(rates))
    order = np.argsort(1.0 - rates.sum(axis=1), kind="stable")
    busy = order[counts[order] >= ENOUGH_ANSWERS][:N_WORST]
    both = np.column_stack([rates, here.annotator_rates])
    return tuple(
        Annotator(int(i), int(counts[i]), str(here.annotator_kind[i]), *both[i].tolist())
        for i in busy
    )


@dataclass(frozen=True)
class Story:
    """A title, a paragraph, a table with footnotes, a closing paragraph."""

    title: str
    before: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    footnotes: Sequence[str] = ()
    after: str = ""


def stories(result: Demo) -> list[Story]:
    """Return the result in words, for someone who has never heard of pairs."""
    tumours, crowd, worst = result.cancer, result.crowd, result.crowd.worst
    tried = [(row.method, row.told, _test(row), f"{row.seconds:.1f}") for row in tumours.rows]
    found = [
        Story(
            "1. Tumours",
            said("demo.txt", "tumours", tumours),
            ("method", "given beforehand", "test accuracy", "seconds"),
            tried,
            _footnotes(tumours.rows),
            said("demo.txt", "learnt", tumours),
        ),
        Story(
            "2. A crowd",
            said("demo.txt", "crowd", crowd),
            ("method", "compared items right", "new items right", "seconds"),
            [(row.method, _right(row), _test(row), f"{row.seconds:.1f}") for row in crowd.rows],
            _footnotes(crowd.rows),
        ),
    ]
    people = [
        (
            str(one.name),
            str(one.n_answers),
            said("demo.txt", "rate", one.similar_flip, one.true_similar_flip),
            said("demo.txt", "rate", one.dissimilar_flip, one.true_dissimilar_flip),
            one.kind,
        )
        for one in worst
    ]
    before = said("demo.txt", "worst", worst, ENOUGH_ANSWERS)
    rates = ("same called different", "different called same")
    headings = ("annotator", "answers", *rates, "in truth")
    return found + [Story("3. Its worst annotators", before, headings, people)] * bool(worst)


def _test(row: Row) -> str:
    return said("demo.txt", "test_cell", row.test_accuracy, row.warnings)


def _right(row: Row) -> str:
    return "" if row.train_accuracy is None else f"{row.train_accuracy:.1%}"


def _footnotes(rows: Sequence[Row]) -> list[str]:
    """Return the first sentence of every reason to refuse, with the methods that give it."""
    who: dict[str, list[str]] = {}
    for row in rows:
        if row.refusal:
            who.setdefault(row.refusal.split(". ")[0], []).append(row.method)
    starred = ["* with a warning, which --json shows in full."] * any(row.warnings for row in rows)
    return starred + [f"{', '.join(names)}: {reason}." for reason, names in who.items()]


#: What the file says of itself: only such a page is overwritten by the next demo.
GENERATOR = "noisypairs demo"

#: Rows that learn nothing from the answers, or from more than the answers: drawn in grey.
GREY = ("COP-k-means", "k-means, answers ignored", REFERENCE[0])


def demo_report(result: Demo) -> str:
    """Return the whole page of a demo, ready to be written to one HTML file."""
    part, right = result.cancer, result.cancer.rows[0].test_accuracy
    return render(
        "demo.html",
        GENERATOR,
        result=result,
        stories=stories(result),
        names=[_with_given(row) for row in part.rows],
        ends=partial(_ends, part.n_test),
        bars=_bars,
        dots=_dots,
        sure=None if right is None else wilson(right * part.n_test, part.n_test),
    )


def _with_given(row: Row) -> str:
    if row.told == REFERENCE[1]:
        return "every true class given"
    return f"{row.method}, prior given" if row.told == "share of malignant" else row.method


def _ends(n: int, shares: Sequence[float | None]) -> Any:
    """Return the ends of Wilson's intervals of shares of ``n`` items."""
    found = [None if share is None else wilson(share * n, n) for share in shares]
    return [one and one.low for one in found], [one and one.high for one in found]


def _bars(rows: Sequence[Row], names: list[str], values: Any, ends: Any, x_label: str) -> Markup:
    grey, first = [row.method in GREY for row in rows], [row is rows[0] for row in rows]
    return drawing(charts.bars(names, values, ends, baseline=grey, stressed=first, x_label=x_label))


def _dots(worst: Sequence[Annotator]) -> Markup:
    return drawing(
        charts.annotator_plot(
            [f"{one.name}: {one.kind}" for one in worst],
            [[one.similar_flip, one.dissimilar_flip] for one in worst],
            truth=[[one.true_similar_flip, one.true_dissimilar_flip] for one in worst],
            stressed=[one.kind != "honest" for one in worst],
        )
    )
