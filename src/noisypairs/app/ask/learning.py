"""One refit: from all answers to the pairs to ask next, an estimate, and a word on everybody.

`next_batch` and `estimate_of` are the only calls into `noisypairs.app.plan`: nothing else of the
room knows how pairs are chosen, or how accuracy is estimated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from noisypairs.algebra import Array
from noisypairs.annotators import annotator_table
from noisypairs.app.ask.answers import Said
from noisypairs.app.ask.fits import Estimate, Fit
from noisypairs.app.ask.project import Settings, Shown
from noisypairs.app.ask.questions import CHOSEN, RANDOM, Pick
from noisypairs.app.encoding import item_encoder
from noisypairs.app.plan.choice import candidates
from noisypairs.app.plan.goal import FEWEST_ANSWERS, plan
from noisypairs.errors import NotIdentifiable, collected_warnings
from noisypairs.estimators import JointPairClassifier
from noisypairs.estimators.joint.class_number import AUTOMATIC
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.propagation import propagate
from noisypairs.pairs import Pairs
from noisypairs.sampling import random_pairs

FEWEST = 20
"""Answers with which the first fit is tried."""

RANDOM_SHARE = 0.2
"""Share of a batch that is drawn at random, so that rates and accuracy can be estimated."""

BATCH, BATCH_PER_ITEM = 100, 0.05
"""Pairs of a batch: so many, or so many per item where that is more."""

GROWTH = 0.2
"""The estimate and the table of people are made again when there are so many more answers."""


@dataclass(frozen=True)
class Learned:
    """What a refit leaves in the store."""

    estimate: Estimate
    people: list[dict[str, Any]] = field(default_factory=list)
    batch: list[Pick] = field(default_factory=list)


class Learner:
    """Learns again and again; what depends on the items alone is kept between refits."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._encoded: tuple[Shown, Array] | None = None

    def learn(self, shown: Shown, said: list[Said], last: Fit | None) -> Iterator[Learned]:
        """Fit the model to everything said and choose what to ask next; then judge it.

        Yields what is known once the pairs are chosen and, where that is due, once it is judged.
        """
        nothing = Estimate(self.settings.target, n_answers=len(said))
        pairs = pairs_of(shown, said)
        if pairs.n_pairs < FEWEST or pairs.same.all() or not pairs.same.any():
            note = f"the model begins to learn with {FEWEST} answers, some of each kind"
            yield Learned(replace(nothing, note=note))
            return
        X = self._features(shown)
        asked = self.settings.n_classes or AUTOMATIC
        model = JointPairClassifier(
            None if X.any() else LogisticRegression(),  # nothing to choose a classifier by
            n_classes=asked if isinstance(asked, int) else list(asked),
            random_state=self.settings.seed,
        )
        try:
            with collected_warnings():
                model.fit(X, pairs)
        except NotIdentifiable as error:
            yield Learned(replace(nothing, note=f"no classes are seen in the answers yet: {error}"))
            return
        picks = next_batch(model, pairs, shown.numbers, np.random.default_rng(len(said)))
        before = Learned(nothing) if last is None else Learned(last.estimate, last.people)
        yield replace(before, batch=picks)
        if not _is_fresh(before.estimate, len(said)):
            yield Learned(self._estimate(X, pairs, model), _people(X, pairs, model), picks)

    def _features(self, shown: Shown) -> Array:
        """Return the items as numbers; all alike where no column tells them apart."""
        if self._encoded is None or self._encoded[0] is not shown:
            table = shown.features.drop(columns=[c for c in [shown.media.column] if c is not None])
            self._encoded = shown, _encoded(table, self.settings.seed)
        return self._encoded[1]

    def _estimate(self, X: Array, pairs: Pairs, model: Any) -> Estimate:
        nothing = Estimate(
            self.settings.target, n_classes=model.n_classes_, n_answers=pairs.n_pairs
        )
        if pairs.n_pairs < FEWEST_ANSWERS:
            note = f"the accuracy is estimated from {FEWEST_ANSWERS} answers on"
            return replace(nothing, note=note)
        try:
            return estimate_of(X, pairs, model, self.settings)
        except ValueError as error:  # parts of the answers may not show what all of them do
            return replace(nothing, note=str(error))


def next_batch(
    model: Any, pairs: Pairs, numbers: list[int], rng: np.random.Generator
) -> list[Pick]:
    """Choose the pairs to ask next, never asked before, with a share at random among them."""
    size = max(BATCH, round(BATCH_PER_ITEM * pairs.n_items))
    S = model.noise_.same_probability(model.n_classes_)
    graph = PairGraph.from_pairs(pairs.without_self_pairs())
    beliefs = propagate(graph, np.log(model.oof_proba_), S, tol=1e-4)
    found = candidates(graph, beliefs, S, rng)
    best = found[~found.again].best(round((1 - RANDOM_SHARE) * size), pairs.n_items)
    left, right = random_pairs(pairs.n_items, size - len(best), rng)
    kinds = np.array([CHOSEN] * len(best) + [RANDOM] * len(left))
    ends = np.concatenate([best.left, left]), np.concatenate([best.right, right])
    chance = np.einsum("nk,nk->n", *(model.item_proba_[end] for end in ends))
    order = _spread(len(best), len(left))
    low, high = np.sort(np.array(numbers)[np.array(ends)], axis=0).tolist()
    return [Pick(low[k], high[k], str(kinds[k]), round(float(chance[k]), 4)) for k in order]


def estimate_of(X: Array, pairs: Pairs, model: Any, settings: Settings) -> Estimate:
    """Estimate the accuracy now and the answers left until the target, for the items at hand."""
    found = plan(
        X,
        pairs,
        settings.target,
        n_classes=model.n_classes_,
        estimator=model.estimator_,
        random_state=settings.seed,
    )
    goal = found.these_items
    left = goal.needed
    return Estimate(
        settings.target,
        goal.state,
        (goal.now.estimate, goal.now.low, goal.now.high),
        goal.now.level,
        None
        if left is None
        else (left.estimate, left.low, left.high if isfinite(left.high) else None),
        model.n_classes_,
        pairs.n_pairs,
        " ".join(found.doubts),
    )


def pairs_of(shown: Shown, said: list[Said]) -> Pairs:
    """Return the answers about items that are still there, with who gave them."""
    kept = [one for one in said if one.left in shown.row_of and one.right in shown.row_of]
    return Pairs(
        [shown.row_of[one.left] for one in kept],
        [shown.row_of[one.right] for one in kept],
        np.array([one.same for one in kept], dtype=bool),
        n_items=len(shown.ids),
        annotator=np.array([one.person for one in kept], dtype=object) if kept else None,
    )


def _encoded(table: pd.DataFrame, seed: int) -> Array:
    try:
        X: Array = item_encoder(table, seed).fit_transform(table)
    except ValueError:  # no column to learn from: the answers alone must do
        return np.zeros((len(table), 1))
    return X


def _is_fresh(estimate: Estimate, n_answers: int) -> bool:
    """Whether an estimate still serves: hardly any answers came since."""
    known = estimate.accuracy is not None
    return known and abs(n_answers - estimate.n_answers) < GROWTH * estimate.n_answers


def _people(X: Array, pairs: Pairs, model: Any) -> list[dict[str, Any]]:
    """Return everybody's row of the annotator table; nobody's where it cannot be made."""
    try:
        with collected_warnings():
            table = annotator_table(
                pairs,
                X,
                n_classes=model.n_classes_,
                model="classes",
                n_drop=0,
                estimator=model.estimator_,
                random_state=0,
            )
    except ValueError:
        return []
    return table.to_records()


def _spread(n_chosen: int, n_random: int) -> NDArray[np.intp]:
    """Return an order in which the random pairs stand evenly among the chosen ones.

    >>> _spread(4, 2).tolist()
    [0, 4, 1, 2, 5, 3]
    """
    at = [(np.arange(n) + 0.5) / max(n, 1) for n in (n_chosen, n_random)]
    return np.argsort(np.concatenate(at), kind="stable")
