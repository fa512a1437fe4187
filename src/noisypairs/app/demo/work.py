"""The work of the demo, as frozen records: ``dataclasses.asdict`` of a `Demo` gives JSON."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from noisypairs import datasets
from noisypairs.algebra import Array
from noisypairs.errors import ClassNamesWarning, NotIdentifiable, NotIdentifiableWarning
from noisypairs.estimators import (
    COPKMeans,
    JointPairClassifier,
    LossCorrectionClassifier,
    PairKMeans,
    WeightedPairClassifier,
)
from noisypairs.estimators.inner.defaults import default_classifier
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.noise import CleanPairs, NoiseModel, PairingNoise
from noisypairs.pairs import Pairs
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
#: A method: its name, what it is told, the unfitted model.
Method = tuple[str, str, Any]
Classes = NDArray[np.int64]


@dataclass(frozen=True)
class Row:
    """One method: what it was told, and its accuracies up to class names or why it refuses."""

    method: str
    told: str
    test_accuracy: float | None
    seconds: float
    train_accuracy: float | None = None
    refusal: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Learnt:
    """What the joint learner found out about the answers; `CancerResult` has the truth."""

    similar_flip: float
    dissimilar_flip: float
    larger_class: float
    n_suspect: int
    n_suspect_wrong: int


@dataclass(frozen=True)
class CancerResult:
    """Two classes of tumours, compared by one voice that errs at two rates."""

    n_train: int
    n_test: int
    n_features: int
    n_pairs: int
    n_wrong: int
    similar_flip: float
    dissimilar_flip: float
    larger_class: float
    rows: tuple[Row, ...]
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
class CrowdResult:
    """Three classes of simulated items, compared by annotators of very different worth."""

    n_train: int
    n_test: int
    n_pairs: int
    n_wrong: int
    n_annotators: int
    n_not_honest: int
    rows: tuple[Row, ...]
    worst: tuple[Annotator, ...]


@dataclass(frozen=True)
class Demo:
    """Both parts, the seed they were drawn with, and how long they took."""

    seed: int
    cancer: CancerResult
    crowd: CrowdResult
    seconds: float


def run(seed: int = 0, progress: Progress | None = None) -> Demo:
    """Run both parts with one seed; but for its seconds the result depends on nothing else."""
    begun = time.perf_counter()
    tumours, people = cancer(seed, progress), crowd(seed, progress)
    return Demo(seed, tumours, people, time.perf_counter() - begun)


def cancer(seed: int = 0, progress: Progress | None = None) -> CancerResult:
    """Learn tumours from noisy pairs by every method, and from their true classes for comparison.

    75 % of the items, stratified, are compared; the others are the test. Nothing is told about the
    noise; where a row says so, the share of malignant tumours is.
    """
    X, y = datasets.load("cancer")
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
    prior = float(y.mean())
    pairs = sample_pairs(y, PAIRS_PER_ITEM * len(y), NOISE, random_state=seed)
    wrong = pairs.same != (y[pairs.left] == y[pairs.right])
    rows, joint = _compare([*_methods(prior, seed)], (X, pairs, y), (X_test, y_test), progress)
    return CancerResult(
        n_train=len(y),
        n_test=len(y_test),
        n_features=X.shape[1],
        n_pairs=pairs.n_pairs,
        n_wrong=int(wrong.sum()),
        similar_flip=NOISE.similar_flip,
        dissimilar_flip=NOISE.dissimilar_flip,
        larger_class=max(prior, 1.0 - prior),
        rows=rows,
        learnt=None if joint is None else _learnt(joint, wrong),
    )


def crowd(seed: int = 0, progress: Progress | None = None) -> CrowdResult:
    """Learn a simulated crowd's items with rates for every annotator, and with all alike.

    New items are those of a second crowd, drawn around the same class centres.
    """
    seeds = np.random.default_rng(seed).spawn(2)
    here, new = (datasets.simulated_crowd(random_state=rng, **CROWD) for rng in seeds)
    y, pairs = here.target, here.pairs
    told = "number of classes"  # and more rounds, since the rates of forty people settle slowly
    alike = JointPairClassifier(n_classes=3, max_iter=30, random_state=seed)
    methods = [
        ("Joint, annotators apart", told, clone(alike).set_params(annotators=True)),
        ("Joint, all alike", told, alike),
        ("k-means, answers ignored", told, PairKMeans(n_classes=3, random_state=seed)),
    ]
    rows, joint = _compare(methods, (here.data, pairs, y), (new.data, new.target), progress)
    return CrowdResult(
        n_train=len(y),
        n_test=len(new.target),
        n_pairs=pairs.n_pairs,
        n_wrong=int((pairs.same != (y[pairs.left] == y[pairs.right])).sum()),
        n_annotators=len(here.annotator_kind),
        n_not_honest=int((here.annotator_kind != "honest").sum()),
        rows=rows,
        worst=() if joint is None else _worst(joint.annotator_noise_, here),
    )


def _methods(prior: float, seed: int) -> Iterator[Method]:
    """Yield the joint method, then the others, told nothing and told the prior."""
    yield "Joint learner", "nothing", JointPairClassifier(random_state=seed)
    for told, known in (("nothing", {}), ("share of malignant", {"prior": prior})):
        given: dict[str, Any] = {"random_state": seed, **known}
        yield "Loss correction", told, LossCorrectionClassifier(**given)
        yield "Weighted", told, WeightedPairClassifier(**given)
        yield "SD-Loss (no noise)", told, LossCorrectionClassifier(noise=CleanPairs(), **given)
        yield "Unweighted", told, WeightedPairClassifier(alpha=0.5, **given)
    yield "COP-k-means", "nothing", COPKMeans(random_state=seed)
    yield "k-means, answers ignored", "nothing", PairKMeans(random_state=seed)


def _compare(
    methods: Sequence[Method],
    train: tuple[Any, Pairs, Classes],
    test: Any,
    progress: Progress | None,
) -> tuple[tuple[Row, ...], Any]:
    """Return a row per method and the first method fitted (None if it refuses).

    The first method is the joint one; the last row is its classifier on the true classes of
    ``train`` = (X, pairs, y), or the default classifier if there is no joint one to take it from.
    """
    X, pairs, y = train
    rows = [attempt(method, (X, pairs), test, y, progress) for method in methods]
    joint = None if rows[0].refusal else methods[0][2]
    reference = default_classifier(X, 0) if joint is None else clone(joint.estimator_)
    rows.append(attempt((*REFERENCE, reference), (X, y), test, progress=progress))
    return tuple(rows), joint


def attempt(
    method: Method, train: Any, test: Any, y_train: Any = None, progress: Progress | None = None
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
    name, told, model = method
    if progress is not None:
        progress(f"{name} ({told})")
    begun = time.perf_counter()
    accuracy = right = refusal = None
    with _noted_warnings() as noted:
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
    return Row(name, told, accuracy, seconds, right, refusal, tuple(noted))


@contextmanager
def _noted_warnings() -> Iterator[list[str]]:
    """Collect what is warned about, class names excepted: accuracies are up to names anyway."""
    noted: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        for category in (NotIdentifiableWarning, ConvergenceWarning):
            warnings.simplefilter("always", category)
        warnings.simplefilter("ignore", ClassNamesWarning)
        yield noted
    noted += [str(one.message) for one in caught]


def _learnt(joint: JointPairClassifier, wrong: NDArray[np.bool_]) -> Learnt:
    similar, dissimilar = _mean_rates(joint.noise_, joint.prior_)
    suspects, _ = joint.suspect_pairs()
    larger, n_right = max(joint.prior_, 1.0 - joint.prior_), int(wrong[suspects].sum())
    return Learnt(similar, dissimilar, larger, len(suspects), n_right)


def _mean_rates(noise: NoiseModel, prior: float) -> tuple[float, float]:
    """Return the rates (ρ_S, ρ_D) over all pairs, whatever the family: from S (2, 2) and π.

    ρ_S = 1 − Σ_k π_k² S_kk / Σ_k π_k² and ρ_D = S_01.

    >>> _mean_rates(PairingNoise(0.25, 0.125), 0.3)
    (0.25, 0.125)
    """
    S, share = noise.same_probability(2), np.array([1.0 - prior, prior])
    return float(1.0 - np.average(np.diag(S), weights=share**2)), float(S[0, 1])


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
