"""Methods side by side: each learns from some items and foretells answers about the others.

A method, a baseline and a point of the learning curve are all a `Learner`; `HeldOut` puts them to
the same test. Nothing here knows a true class: what is compared is the likelihood of answers,
P("same" | x, x') = η(x)ᵀ S η(x'), about items the learner has not seen.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPClassifier, MLPRegressor

from noisypairs.algebra import Array
from noisypairs.app.encoding import item_encoder
from noisypairs.errors import ClassNamesWarning, NotIdentifiable, did_you_mean
from noisypairs.estimation import dyadic_mean
from noisypairs.estimators import (
    JointPairClassifier,
    LossCorrectionClassifier,
    PairKMeans,
    WeightedPairClassifier,
)
from noisypairs.estimators.base import PairClassifier
from noisypairs.noise import families
from noisypairs.pairs import Pairs

METHODS = {
    "joint": "Joint learner",
    "weighted": "Weighted pairs",
    "correction": "Loss correction",
}
BASELINES = {
    "k-means": "k-means, answers ignored",
    "majority": "Always the same odds, items ignored",
}
ESTIMATORS = ("boosting", "default", "forest", "logistic", "mlp")
#: Pairs of a `PairTable` on which methods are compared; the winner learns from all.
ENOUGH_PAIRS = 1_000_000
#: Folds of the items; more of them would leave fewer answers inside one.
N_FOLDS = 3
#: Shares of the pairs that the learning curve is drawn at, besides all of them.
CURVE = (0.25, 0.5, 0.75)
#: More classes than this are not looked for.
MOST_CLASSES = 50
#: Fewer items than this cannot be put in folds that leave anything to learn from.
FEWEST_ITEMS = 15
#: Level of an interval that reaches one standard error to each side.
ONE_ERROR = 0.6826894921370859


@dataclass(frozen=True)
class Request:
    """What is asked for; names are checked at once, ``n_classes=None`` means as labels say, or 2.

    >>> Request(estimator="forrest")
    Traceback (most recent call last):
    ValueError: estimator 'forrest': did you mean 'forest'? Known: boosting, default, forest, ...
    """

    method: str = "auto"
    estimator: str = "default"
    n_classes: int | tuple[int, ...] | None = None
    annotators: bool | None = None  # None: where the pairs name more than one
    noise_model: str = "auto"
    curve: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for what, given, known in (
            ("method", self.method, ("auto", *METHODS)),
            ("estimator", self.estimator, ESTIMATORS),
            ("noise model", self.noise_model, ("auto", *families())),
        ):
            if given not in known:
                raise ValueError(f"{what} {given!r}: {did_you_mean(given, known)}")

    def settled(self, pairs: Pairs) -> Request:
        """Return the request with the open questions answered from the pairs."""
        named = len(set(pairs.labels.values()))
        several = pairs.annotator_names is not None and len(pairs.annotator_names) > 1
        if self.annotators and pairs.annotator_names is None:
            raise ValueError("annotators were asked for, but no column says who answered")
        if named and self.n_classes not in (None, named):
            raise ValueError(
                f"the known labels name {named} classes, but {self.n_classes} were asked for: "
                "label at least one item of every class, or ask for that many classes"
            )
        if named == 1:
            raise ValueError("the known labels all name one class: label an item of each, or none")
        K = self.n_classes or named or 2
        return replace(self, n_classes=K, annotators=several and self.annotators is not False)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods in question."""
        return tuple(METHODS) if self.method == "auto" else (self.method,)


def class_numbers(text: str) -> int | tuple[int, ...]:
    """Read "3" as 3 and "2-5" as (2, 3, 4, 5).

    >>> class_numbers("3"), class_numbers("2-5")
    (3, (2, 3, 4, 5))
    """
    first, dash, last = text.partition("-")
    if not (first.strip().isdigit() and (last.strip().isdigit() or not dash)):
        raise ValueError(f"classes {text!r}: expected a number such as 3, or a range such as 2-5")
    low, high = int(first), int(last if dash else first)
    if not 2 <= low <= high <= MOST_CLASSES:
        raise ValueError(f"classes {text!r}: expected 2 to {MOST_CLASSES}, smaller number first")
    return tuple(range(low, high + 1)) if high > low else low


def pair_classifier(name: str, request: Request) -> PairClassifier:
    """Return the unfitted learner of this name; a learner for two classes refuses more."""
    inner = _inner(request.estimator, name == "correction", request.seed)
    if name == "joint":
        return JointPairClassifier(
            inner,
            n_classes=request.n_classes or 2,
            annotators=bool(request.annotators),
            noise_model=request.noise_model,
            max_iter=20,
            random_state=request.seed,
        )
    if isinstance(request.n_classes, int) and request.n_classes > 2:
        raise NotIdentifiable(f"it tells two classes apart, not {request.n_classes}")
    if request.noise_model == "free":
        raise NotIdentifiable("it knows no free noise matrix, only pairing and labeling noise")
    family: Any = "pairing" if request.noise_model == "auto" else request.noise_model
    kind = WeightedPairClassifier if name == "weighted" else LossCorrectionClassifier
    return kind(inner, noise_model=family, random_state=request.seed)


def _inner(name: str, regress: bool, seed: int) -> Any:
    """Return the estimator inside; the squared corrected loss asks for a regressor."""
    # Leaves and steps are kept coarse: labels this noisy reward no finer ones.
    forest = {"min_samples_leaf": 5, "random_state": seed}
    match name:
        case "logistic":
            return Ridge() if regress else LogisticRegression(max_iter=1000)
        case "forest":
            return RandomForestRegressor(**forest) if regress else RandomForestClassifier(**forest)
        case "boosting":
            boosting = HistGradientBoostingRegressor if regress else HistGradientBoostingClassifier
            return boosting(max_iter=50, learning_rate=0.1, random_state=seed)
        case "mlp":
            network = MLPRegressor if regress else MLPClassifier
            return network(
                hidden_layer_sizes=(50,), alpha=0.1, tol=1e-3, max_iter=300, random_state=seed
            )
    return None


#: Items and pairs to learn from, items to foretell -> S (K, K) and P(class | item), (n, K).
Learner = Callable[[Any, Pairs, Any], tuple[Array, Array]]
#: Called before each step with its name.
Progress = Callable[[str], None]


def learner(name: str, request: Request) -> Learner:
    """Return how a method or baseline learns, in the one form that `HeldOut` asks for."""

    def learn(X: Any, pairs: Pairs, new: Any) -> tuple[Array, Array]:
        model = pair_classifier(name, request).fit(X, pairs)
        eta = model.predict_proba(new)
        return model.noise_.same_probability(eta.shape[1]), eta

    def majority(X: Any, pairs: Pairs, new: Any) -> tuple[Array, Array]:  # noqa: ARG001
        share = float(np.average(pairs.same, weights=pairs.weight))
        return np.array([[share]]), np.ones((len(new), 1))

    def kmeans(X: Any, pairs: Pairs, new: Any) -> tuple[Array, Array]:
        K = request.n_classes if isinstance(request.n_classes, int) else 2
        model = PairKMeans(K, random_state=request.seed).fit(X, pairs)
        together = model.labels_[pairs.left] == model.labels_[pairs.right]
        inside, across = (
            (pairs.same[which].sum() + 1.0) / (which.sum() + 2.0) for which in (together, ~together)
        )
        return np.where(np.eye(K) > 0, inside, across), np.eye(K)[model.predict(new)]

    return {"majority": majority, "k-means": kmeans}.get(name, learn)


class HeldOut:
    """Items in folds: learn from the pairs inside all folds but one, foretell those inside it.

    Also the encoder sees the other folds alone. Labels are left out, for a fold may lack a class;
    the likelihood of answers does not depend on the classes' names.
    """

    def __init__(self, features: pd.DataFrame, pairs: Pairs, seed: int) -> None:
        if pairs.n_items < FEWEST_ITEMS:
            raise ValueError(
                f"there are {pairs.n_items} items: too few to hold some out and learn from the "
                f"others. Give at least {FEWEST_ITEMS}"
            )
        self.seed = seed
        self.folds: list[tuple[Array, Pairs, Array]] = []
        self.item_fold = fold = np.empty(pairs.n_items, dtype=np.intp)
        self.place = np.empty(pairs.n_items, dtype=np.intp)  # of an item in its fold
        split = KFold(N_FOLDS, shuffle=True, random_state=seed).split(fold)
        for k, (train, test) in enumerate(split):
            encoder = item_encoder(features, seed).fit(features.iloc[train])
            X, new = (encoder.transform(features.iloc[rows]) for rows in (train, test))
            self.folds.append((X, pairs[train].with_labels(None).without_self_pairs(), new))
            fold[test], self.place[test] = k, np.arange(len(test))
        inside = (fold[pairs.left] == fold[pairs.right]) & (pairs.left != pairs.right)
        self.pairs = pairs.select(inside)
        self.answer_fold = fold[self.pairs.left]

    def foretell(self, learn: Learner, share: float = 1.0) -> tuple[Array, NDArray[np.intp]]:
        """Return P("same") of every held-out answer, and the class of every item, (n_items,).

        Each is learnt without the items in question, from a share of the pairs between others.
        """
        chance, classes = np.empty(self.pairs.n_pairs), np.empty(self.pairs.n_items, dtype=np.intp)
        random = np.random.default_rng(self.seed)
        for k, (X, pairs, new) in enumerate(self.folds):
            some = random.permutation(pairs.n_pairs)[: round(share * pairs.n_pairs)]
            S, eta = learn(X, pairs if share == 1.0 else pairs.select(np.sort(some)), new)
            at, items = self.answer_fold == k, self.item_fold == k
            left, right = (eta[self.place[e[at]]] for e in (self.pairs.left, self.pairs.right))
            chance[at] = np.einsum("nk,kl,nl->n", left, S, right)
            classes[items] = eta.argmax(axis=1)[self.place[items]]
        return chance, classes

    def log_chance(self, chance: Array) -> Array:
        """Return log P(answer) of every held-out answer."""
        likely = np.where(self.pairs.same, chance, 1.0 - chance)
        log: Array = np.log(np.clip(likely, 1e-12, None))
        return log

    def mean(self, values: Array) -> tuple[float, float]:
        """Return the mean over the held-out answers and its standard error, items as units."""
        mean, _, above = dyadic_mean(self.pairs, values, ONE_ERROR)
        return mean, above - mean

    def curve(self, learn: Learner, whole: Array) -> Iterator[tuple[float, int, float, float]]:
        """Yield (share, pairs learnt from, mean log-likelihood, s.e.) as pairs grow more.

        ``whole`` is P("same") learnt from all pairs. Shares from which nothing can be learnt are
        left out.
        """
        size = float(np.mean([pairs.n_pairs for _, pairs, _ in self.folds]))
        for share in CURVE:
            try:
                chance, _ = self.foretell(learn, share)
            except ValueError:  # too few pairs, which is what the curve is about
                continue
            yield share, round(share * size), *self.mean(self.log_chance(chance))
        yield 1.0, round(size), *self.mean(self.log_chance(whole))


@dataclass(frozen=True)
class Candidate:
    """A method or baseline on held-out pairs: mean log-likelihood of an answer, in nats, ± s.e.

    ``behind`` is how far it falls short of the chosen method on the same answers (negative: it is
    ahead), with the standard error ``behind_error`` of that difference. ``refusal`` is the reason
    of a method that could not be tried; then there are no numbers.
    """

    name: str  # "joint", "weighted", "correction", "k-means", "majority"
    title: str  # in words, for a table
    is_baseline: bool
    log_likelihood: float | None = None
    standard_error: float | None = None
    behind: float | None = None
    behind_error: float | None = None
    agreement: float | None = None  # share of held-out answers foretold rightly (P ≥ ½: "same")
    refusal: str | None = None
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Trial:
    """A row of the comparison, P("same") of each held-out answer, the class of each item."""

    row: Candidate
    chance: Array | None = None
    classes: Any = None


def compare(held_out: HeldOut, request: Request, step: Progress) -> dict[str, Trial]:
    """Try the methods in question and the baselines on held-out pairs; a refusal is a row too."""
    tried = {}
    for name in (*request.methods, *BASELINES):
        title = METHODS.get(name) or BASELINES[name]
        step(f"{title} on held-out items")
        begun, row = time.perf_counter(), Candidate(name, title, name in BASELINES)
        with noted_warnings() as noted:
            try:
                chance, classes = held_out.foretell(learner(name, request))
                mean, error = held_out.mean(held_out.log_chance(chance))
            except ValueError as reason:  # NotIdentifiable among them
                seconds = time.perf_counter() - begun
                tried[name] = Trial(replace(row, refusal=str(reason), seconds=seconds))
                continue
        seconds = time.perf_counter() - begun
        right, _ = held_out.mean(((chance >= 0.5) == held_out.pairs.same).astype(float))
        row = replace(row, log_likelihood=mean, standard_error=error, agreement=right)
        tried[name] = Trial(replace(row, warnings=tuple(noted), seconds=seconds), chance, classes)
    return tried


def choose(held_out: HeldOut, tried: Mapping[str, Trial], request: Request) -> tuple[str, str]:
    """Return the method with the best held-out likelihood, and why, in words.

    Within one standard error of the best the joint learner is preferred: it assumes least.
    """
    able = [name for name in request.methods if tried[name].chance is not None]
    unable = [METHODS[name] for name in request.methods if name not in able]
    refusals = f" Not possible here, as the table explains: {', '.join(unable)}." if unable else ""
    if not able:
        chosen = "joint" if request.method == "auto" else request.method
        said = f"{METHODS[chosen]} was fitted without a test on held-out items: expect little."
        return chosen, said + refusals
    chosen = max(able, key=lambda name: float(tried[name].row.log_likelihood or 0.0))
    said = f"{METHODS[chosen]} foretells the answers about unseen items best"
    if request.method != "auto":
        said = f"{METHODS[chosen]} was asked for"
    elif chosen != "joint" and "joint" in able:
        gap, error = _gap(held_out, tried[chosen], tried["joint"])
        if gap <= error:  # no clear winner
            said = f"{METHODS['joint']} assumes least, and no other method is clearly better"
            chosen = "joint"
    others = [name for name in (*able, "majority") if name != chosen]
    against = "; ".join(_against(held_out, tried[chosen], tried[name]) for name in others)
    score = f"{tried[chosen].row.log_likelihood:.3f} nats per held-out answer"
    gap, error = _gap(held_out, tried[chosen], tried["majority"])
    beware = " It is not clearly better than no model at all: expect little." * (gap < 2 * error)
    return chosen, f"{said}: {score}, {against}.{beware}{refusals}"


def behind(held_out: HeldOut, tried: Mapping[str, Trial], chosen: str) -> tuple[Candidate, ...]:
    """Return all rows, each with how far it falls short of the chosen method on the same answers.

    Where the chosen method could not be tried, or another one not, there is no difference to tell.
    """
    rows = []
    for trial in tried.values():
        row = trial.row
        if trial.chance is not None and tried[chosen].chance is not None:
            gap, error = _gap(held_out, tried[chosen], trial)
            row = replace(row, behind=gap, behind_error=error)
        rows.append(row)
    return tuple(rows)


def _gap(held_out: HeldOut, one: Trial, other: Trial) -> tuple[float, float]:
    """Return by how much ``one`` foretells the same answers better, in nats, with its s.e."""
    if one.chance is None or other.chance is None:
        raise ValueError(f"{one.row.name} and {other.row.name} were not both tried")
    return held_out.mean(held_out.log_chance(one.chance) - held_out.log_chance(other.chance))


def _against(held_out: HeldOut, one: Trial, other: Trial) -> str:
    gap, error = _gap(held_out, one, other)
    words = (
        f"{gap:.3f} ± {error:.3f} more than" if gap >= 0 else f"{-gap:.3f} ± {error:.3f} less than"
    )
    return f"{words} “{other.row.title}”"


@contextmanager
def noted_warnings() -> Iterator[list[str]]:
    """Collect what is warned about, once each; that classes have no names is told elsewhere."""
    noted: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ClassNamesWarning)
        yield noted
    noted += dict.fromkeys(str(one.message) for one in caught)
