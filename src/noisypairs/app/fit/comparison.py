"""Methods side by side: each learns from some items and predicts answers about the others.

A method, a baseline and a point of the learning curve are all a `Learner`; `HeldOutAnswers` gives
all of them the same test. Nothing here knows a true class: what is compared is the likelihood of
answers, P("same" | x, x') = η(x)ᵀ S η(x'), about items the learner has not seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.app.encoding import item_encoder
from noisypairs.app.fit.request import (
    BASELINE_TITLES,
    METHOD_TITLES,
    Request,
    pair_classifier,
)
from noisypairs.app.fit.result import Candidate, CurvePoint
from noisypairs.errors import collected_warnings
from noisypairs.estimation.heldout import Gain, HeldOut, items_by_fold
from noisypairs.estimators import PairKMeans
from noisypairs.graph import progress
from noisypairs.pairs import Pairs

#: Pairs of a `PairTable` on which methods are compared; the winner learns from all.
MOST_PAIRS_COMPARED = 1_000_000
#: Folds of the items; more of them would leave fewer answers inside one.
N_FOLDS = 3
#: Shares of the pairs that the learning curve is drawn at, besides all of them.
CURVE = (0.25, 0.5, 0.75)
#: Fewer items than this cannot be put in folds that leave anything to learn from.
FEWEST_ITEMS = 15


#: Items and pairs to learn from, items to predict -> S (K, K) and P(class | item), (n, K).
Learner = Callable[[Any, Pairs, Any], tuple[Array, Array]]
#: Called before each step with its name.
Progress = Callable[[str], None]


def learner(name: str, request: Request) -> Learner:
    """Return how a method or baseline learns, in the one form that `HeldOutAnswers` asks for."""

    def learn(X: Any, pairs: Pairs, new: Any) -> tuple[Array, Array]:
        model = pair_classifier(name, request.without_parts()).fit(X, pairs)
        eta = model.predict_proba(new)
        return model.noise_.same_probability(eta.shape[1]), eta

    def majority(X: Any, pairs: Pairs, new: Any) -> tuple[Array, Array]:  # noqa: ARG001
        plain = pairs.yes_or_no()
        share = float(np.average(plain.same, weights=plain.weight))
        return np.array([[share]]), np.ones((len(new), 1))

    def kmeans(X: Any, pairs: Pairs, new: Any) -> tuple[Array, Array]:
        K, pairs = request.n_groups, pairs.yes_or_no()
        model = PairKMeans(K, random_state=request.seed).fit(X, pairs)
        together = model.labels_[pairs.left] == model.labels_[pairs.right]
        inside, across = (
            (pairs.same[which].sum() + 1.0) / (which.sum() + 2.0) for which in (together, ~together)
        )
        return np.where(np.eye(K) > 0, inside, across), np.eye(K)[model.predict(new)]

    return {"majority": majority, "k-means": kmeans}.get(name, learn)


class HeldOutAnswers:
    """Items in folds: learn from the pairs inside all folds but one, predict those inside it.

    The items of a group stay in one fold.
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
        plain = pairs.yes_or_no()  # what all methods predict
        held = HeldOut.by_item(plain, N_FOLDS, seed)
        assert held.item_fold is not None  # items are held out
        self.item_fold = held.item_fold
        self.place = np.empty(pairs.n_items, dtype=np.intp)  # of an item in its fold
        for train, test in items_by_fold(self.item_fold, N_FOLDS):
            encoder = item_encoder(features, seed).fit(features.iloc[train])
            X, new = (encoder.transform(features.iloc[rows]) for rows in (train, test))
            self.folds.append((X, pairs[train].with_labels(None).without_self_pairs(), new))
            self.place[test] = np.arange(len(test))
        inside = held.fold >= 0
        self.pairs, self.answer_fold = plain.select(inside), held.fold[inside]
        self.held = replace(held, pairs=self.pairs, fold=self.answer_fold)

    def predict(self, learn: Learner, share: float = 1.0) -> tuple[Array, NDArray[np.intp]]:
        """Return P("same") of every held-out answer, and the class of every item, (n_items,).

        Each is learnt without the items in question, from a share of the pairs between others.
        """
        chance, classes = np.empty(self.pairs.n_pairs), np.empty(self.pairs.n_items, dtype=np.intp)
        random = np.random.default_rng(self.seed)
        for k, (X, pairs, new) in progress.each("fold", list(enumerate(self.folds))):
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

    def curve(self, learn: Learner, whole: Array) -> tuple[CurvePoint, ...]:
        """Return the learning curve at the shares `CURVE` of the pairs and at all of them.

        ``whole`` is P("same") learnt from all pairs. Shares from which nothing can be learnt are
        left out.
        """
        size = float(np.mean([pairs.n_pairs for _, pairs, _ in self.folds]))
        chances = {}
        with collected_warnings():
            for share in progress.each("point", CURVE):
                with suppress(ValueError):  # too few pairs, which is what the curve is about
                    chances[share], _ = self.predict(learn, share)
        points = []
        for share, chance in (chances | {1.0: whole}).items():
            gain = self.held.gain(self.log_chance(chance))
            points.append(CurvePoint(share, round(share * size), gain.mean, gain.mean_error))
        return tuple(points)


@dataclass(frozen=True)
class HeldOutResult:
    """A row of the comparison, P("same") of each held-out answer, the class of each item."""

    row: Candidate
    chance: Array | None = None
    classes: Any = None


def compare(held_out: HeldOutAnswers, request: Request, step: Progress) -> dict[str, HeldOutResult]:
    """Try the methods in question and the baselines on held-out pairs; a refusal is a row too."""
    tried = {}
    for name in (*request.methods, *BASELINE_TITLES):
        title = METHOD_TITLES.get(name) or BASELINE_TITLES[name]
        step(f"{title} on held-out items")
        begun, row = time.perf_counter(), Candidate(name, title, name in BASELINE_TITLES)
        with collected_warnings() as noted:
            try:
                chance, classes = held_out.predict(learner(name, request))
                score = held_out.held.gain(held_out.log_chance(chance))
            except ValueError as reason:  # NotIdentifiable among them
                seconds = time.perf_counter() - begun
                tried[name] = HeldOutResult(replace(row, refusal=str(reason), seconds=seconds))
                continue
        seconds = time.perf_counter() - begun
        agreed = (chance >= 0.5) == held_out.pairs.same
        row = replace(
            row,
            log_likelihood=score.mean,
            standard_error=score.mean_error,
            agreement=float(np.average(agreed, weights=held_out.pairs.weights)),
        )
        tried[name] = HeldOutResult(
            replace(row, warnings=tuple(noted), seconds=seconds), chance, classes
        )
    return tried


def choose(
    held_out: HeldOutAnswers, tried: Mapping[str, HeldOutResult], request: Request
) -> tuple[str, str]:
    """Return the method with the best held-out likelihood, and why, in words.

    Within one standard error of the best the joint learner is preferred: it assumes least.
    """
    able = [name for name in request.methods if tried[name].chance is not None]
    unable = [METHOD_TITLES[name] for name in request.methods if name not in able]
    refusals = f" Not possible here, as the table explains: {', '.join(unable)}." if unable else ""
    if not able:
        chosen = "joint" if request.method == "auto" else request.method
        said = (
            f"{METHOD_TITLES[chosen]} was fitted without a test on held-out items: expect little."
        )
        return chosen, said + refusals
    chosen = max(able, key=lambda name: float(tried[name].row.log_likelihood or 0.0))
    said = f"{METHOD_TITLES[chosen]} predicts the answers about unseen items best"
    if request.method != "auto":
        said = f"{METHOD_TITLES[chosen]} was asked for"
    elif "joint" in able and not _gap(held_out, tried[chosen], tried["joint"]).exceeds(1.0):
        if chosen != "joint":
            said = f"{METHOD_TITLES['joint']} assumes least, and no other method is clearly better"
        chosen = "joint"
    others = [name for name in (*able, "majority") if name != chosen]
    against = "; ".join(_against(held_out, tried[chosen], tried[name]) for name in others)
    score = f"{tried[chosen].row.log_likelihood:.3f} nats per held-out answer"
    clear = _gap(held_out, tried[chosen], tried["majority"]).exceeds(2.0)
    beware = " It is not clearly better than no model at all: expect little." * (not clear)
    return chosen, f"{said}: {score}, {against}.{beware}{refusals}"


def behind(
    held_out: HeldOutAnswers, tried: Mapping[str, HeldOutResult], chosen: str
) -> tuple[Candidate, ...]:
    """Return all rows, each with how far it falls short of the chosen method on the same answers.

    Where one of the two could not be tried, there is no difference.
    """
    rows = []
    for trial in tried.values():
        row = trial.row
        if trial.chance is not None and tried[chosen].chance is not None:
            gap = _gap(held_out, tried[chosen], trial)
            row = replace(row, behind=gap.mean, behind_error=gap.mean_error)
        rows.append(row)
    return tuple(rows)


def _gap(held_out: HeldOutAnswers, one: HeldOutResult, other: HeldOutResult) -> Gain:
    """Return by how much ``one`` predicts the same answers better."""
    if one.chance is None or other.chance is None:
        raise ValueError(f"{one.row.name} and {other.row.name} were not both tried")
    return held_out.held.gain(held_out.log_chance(one.chance), held_out.log_chance(other.chance))


def _against(held_out: HeldOutAnswers, one: HeldOutResult, other: HeldOutResult) -> str:
    gap = _gap(held_out, one, other)
    more = "more" if gap.nats >= 0 else "less"
    return f"{abs(gap.mean):.3f} ± {gap.mean_error:.3f} {more} than “{other.row.title}”"
