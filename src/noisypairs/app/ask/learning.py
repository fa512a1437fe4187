"""One refit: from all answers to the pairs to ask next, an estimate, and a word on everybody.

Pairs are chosen by `JointPairClassifier.next_pairs`, and before it sees classes by `first_pairs`;
`enough` says how good the classes of the items are. Nothing else of the room knows of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from sklearn.linear_model import LogisticRegression

from noisypairs.algebra import Array
from noisypairs.annotators.table import table_of_fit
from noisypairs.app.ask.answers import Said
from noisypairs.app.ask.fits import Estimate, Fit
from noisypairs.app.ask.project import Settings, Shown
from noisypairs.app.ask.questions import CHOSEN, RANDOM, Pick
from noisypairs.app.encoding import encoded
from noisypairs.assess import NextPairs, enough, first_pairs
from noisypairs.assess.words import sentence
from noisypairs.classifier import JointPairClassifier
from noisypairs.encoders import cached_in
from noisypairs.errors import NotIdentifiable, collected_warnings
from noisypairs.pairs import Pairs
from noisypairs.pairs.levels import Scale
from noisypairs.pairs.pairs import with_levels

FEWEST = 20
"""Answers with which the first fit is tried."""

BATCH, BATCH_PER_ITEM = 100, 0.05
"""Pairs of a batch: so many, or so many per item where that is more."""

GROWTH = 0.1
"""The estimate and the table of people are made again when there are so many more answers."""


@dataclass(frozen=True)
class Learned:
    """What a refit leaves in the store."""

    estimate: Estimate
    people: list[dict[str, Any]] = field(default_factory=list)
    batch: list[Pick] = field(default_factory=list)


class Learner:
    """Learns again and again; each fit goes on from the last one while the items stay the same."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._shown: Shown | None = None
        self._judged = False

    def learn(self, shown: Shown, said: list[Said], last: Fit | None) -> Iterator[Learned]:
        """Fit the model to everything said and choose what to ask next; then judge it.

        Yields what is known once the pairs are chosen and, where that is due, once it is judged.
        """
        self._look_at(shown)
        pairs = pairs_of(shown, said, self.settings.levels)
        nothing = Estimate(self.settings.target, n_answers=len(said))
        if note := self._fit(pairs):
            asked = pairs.left, pairs.right
            first = first_pairs(self._X, self._size, asked=asked, random_state=len(said))
            yield Learned(replace(nothing, note=note), batch=picks_of(first, shown.numbers))
            return
        found = self._model.next_pairs(self._size, random_state=len(said))
        before = Learned(nothing) if last is None else Learned(last.estimate, last.people)
        picks = picks_of(found, shown.numbers, self._model.item_proba_)
        yield replace(before, batch=picks)
        if not self._judged or not _is_fresh(before.estimate, len(said)):
            estimate = estimate_of(self._model, self._X, pairs, self.settings.target)
            self._judged = True
            estimate = replace(estimate, n_answers=len(said))  # also those about items now gone
            yield Learned(estimate, _people(pairs, self._model), picks)

    def same_chances(
        self,
        shown: Shown,
        pairs: list[tuple[int, int]],
        by: list[Said] | Literal["all", "features"],
    ) -> Array | None:
        """Return P(same) of pairs; None before the first fit, or where answers show no classes.

        ``by`` is all that the last fit has seen, the features alone, or other answers, from which
        as many classes are then learnt with the same classifier.
        """
        if self._shown is not shown or not hasattr(self._model, "item_proba_"):
            return None
        model = self._model
        if not isinstance(by, str):
            found = pairs_of(shown, by)
            model = JointPairClassifier(
                model.estimator_, model.n_classes_, random_state=self.settings.seed
            )
            try:
                with collected_warnings():
                    model.fit(self._X, found)
            except NotIdentifiable:
                return None
        belief = model.oof_proba_ if by == "features" else model.item_proba_
        rows = np.array([(shown.row_of[low], shown.row_of[high]) for low, high in pairs])
        left, right = rows.reshape(-1, 2).T
        same: Array = np.einsum("nk,nk->n", belief[left], belief[right])
        return same

    def _look_at(self, shown: Shown) -> None:
        """Begin anew where the items have changed: as numbers they may be others, too.

        An estimate from before is of other items, or, after a restart, perhaps of another target.
        """
        if shown is self._shown:
            return
        self._judged = False
        self._shown, self._X = shown, features_of(shown, self.settings)
        self._size = max(BATCH, round(BATCH_PER_ITEM * len(shown.ids)))
        self._model = JointPairClassifier(
            None if self._X.any() else LogisticRegression(),  # nothing to choose a classifier by
            n_classes=self.settings.n_classes or "auto",
            warm_start=True,
            random_state=self.settings.seed,
        )

    def _fit(self, pairs: Pairs) -> str:
        """Fit the model, whose verdict keeps the warnings; return why that cannot be done yet."""
        if pairs.n_pairs < FEWEST or pairs.same.all() or not pairs.same.any():
            return f"the model begins to learn with {FEWEST} answers, some of each kind"
        try:
            with collected_warnings():
                self._model.fit(self._X, pairs)
        except NotIdentifiable as error:
            return f"no classes are seen in the answers yet: {error}"
        return ""


def picks_of(found: NextPairs, numbers: list[int], belief: Array | None = None) -> list[Pick]:
    """Return pairs of rows as pairs of items' numbers, with P(same) by ``belief`` (n_items, K)."""
    low, high = np.sort(np.array(numbers)[np.array([found.left, found.right])], axis=0).tolist()
    kinds = np.where(found.chosen, CHOSEN, RANDOM).tolist()
    if belief is None:
        return [Pick(*one) for one in zip(low, high, kinds, strict=True)]
    chance = np.einsum("nk,nk->n", belief[found.left], belief[found.right]).round(4).tolist()
    return [Pick(*one) for one in zip(low, high, kinds, chance, strict=True)]


def estimate_of(model: JointPairClassifier, X: Array, pairs: Pairs, target: float) -> Estimate:
    """Estimate the accuracy now and the answers left until the target, for the items at hand.

    What the verdict doubts is said, and no target is reached before it is settled.
    """
    found, doubts = enough(model, X, pairs, target), model.verdict().doubts
    accuracy, notes = found.accuracy, [*map(sentence, doubts)]
    if found.open_number:
        notes.append("There may be one more class than was found. More answers will show it.")
    claimed = accuracy.low >= target and not found.open_number
    state = "more" if found.answers_left else "open"
    if found.enough:
        state = "doubtful" if doubts else "reached"
    return Estimate(
        target,
        state,
        (accuracy.estimate, accuracy.low, accuracy.high),
        accuracy.level,
        found.answers_left or None,
        model.n_classes_,
        pairs.n_pairs,
        " ".join(notes),
        claimed,
    )


def pairs_of(shown: Shown, said: list[Said], scale: Scale | None = None) -> Pairs:
    """Return the answers about items that are still there, with who gave them."""
    kept = [one for one in said if one.left in shown.row_of and one.right in shown.row_of]
    pairs = Pairs(
        [shown.row_of[one.left] for one in kept],
        [shown.row_of[one.right] for one in kept],
        np.array([one.same for one in kept], dtype=bool),
        n_items=len(shown.ids),
        annotator=np.array([one.person for one in kept], dtype=object) if kept else None,
        chosen=np.array([one.kind != RANDOM for one in kept], dtype=bool),
    )
    if scale is None or not kept:
        return pairs
    return with_levels(pairs, [str(one.grade) for one in kept], scale)


def features_of(shown: Shown, settings: Settings) -> Array:
    """Return the features of the items as numbers, zeros where there is nothing to learn from."""
    with cached_in(settings.store.with_name(f"{settings.store.name}.features")):
        X = encoded(shown.features, settings.seed, settings.encode).X
    # without a column to learn from, the answers alone must do
    return np.zeros((len(shown.ids), 1)) if X is None else X


def _is_fresh(estimate: Estimate, n_answers: int) -> bool:
    """Whether an estimate still serves: hardly any answers came since."""
    known = estimate.accuracy is not None
    return known and abs(n_answers - estimate.n_answers) < GROWTH * estimate.n_answers


def _people(pairs: Pairs, model: JointPairClassifier) -> list[dict[str, Any]]:
    """Return everybody's row of the annotator table, by the classes of the fit."""
    with collected_warnings():
        return table_of_fit(model, pairs, n_drop=0).to_records()
