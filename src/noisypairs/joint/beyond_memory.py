"""EM where the items are a table: a sample of them stands in memory for all.

`run_em` runs on the sample: the class model learns from its beliefs and is calibrated on them, and
the answer model is fitted to the counts of all answers. Between these two steps the engine does the
rest (`ItemTableEStep`): P(class | x) of every item, the sweeps, the counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.estimators.inner.features import filled
from noisypairs.graph.propagation import Beliefs
from noisypairs.joint.choices import CERTAIN, LAST_TOLERANCE
from noisypairs.joint.class_model import Calibration, ClassModel, class_proba
from noisypairs.noise import AnswerModel
from noisypairs.noise.answers import Expectation
from noisypairs.tables import ItemTable, PairTable, sweep
from noisypairs.tables.items import N_FOLDS
from noisypairs.tables.propagation import TablePropagation


@dataclass(frozen=True)
class FoldScorer:
    """P(class | x) of items by the classifier that did not learn from their fold, calibrated.

    ``filler`` fills missing numbers, ``classifiers`` are by fold. It is sent to where the items
    are.
    """

    filler: Any
    classifiers: tuple[Any, ...]
    line: Calibration

    def proba(self, X: Array, fold: NDArray[np.intp]) -> Array:
        """Return P(class | x), (n, K)."""
        K, X = len(self.line.weight), filled(self.filler, X)
        found = np.empty((len(X), K))
        for k, classifier in enumerate(self.classifiers):
            rows = fold == k
            if rows.any():
                found[rows] = class_proba(classifier, X[rows], K)
        return self.line(np.log(np.maximum(found, CERTAIN / 10)))

    def __call__(self, X: Array, fold: NDArray[np.intp]) -> dict[str, Array]:
        """Return log-odds f_1, … of `noisypairs.tables.sweep`."""
        odds = sweep.log_odds_of(self.proba(X, fold))
        return {f"f_{k}": column for k, column in enumerate(odds.T, start=1)}


@dataclass(frozen=True)
class PredictScorer:
    """P(class | x) of new items by a fitted learner."""

    learner: Any

    def __call__(self, X: Array, fold: NDArray[np.intp]) -> dict[str, Array]:
        """Return a column for every class; new items have no fold."""
        del fold
        return {f"p_{k}": one for k, one in enumerate(self.learner.predict_proba(X).T)}


class FoldedModel(ClassModel):
    """A class model of a sample, (n, d), learnt once without each fold of the items, (n,).

    The folds are those of the table, so that its items are out of fold wherever they are.
    """

    def __init__(self, model: ClassModel, X: Array, fold: NDArray[np.intp]) -> None:
        self.model, self.X, self.fold = model, X, fold
        self.name, self.weight, self.calibrated = model.name, model.weight, model.calibrated
        self.parts = [model.weighted(model.weight * (fold != k)) for k in range(N_FOLDS)]
        self.classifiers: tuple[Any, ...] = ()
        self.line = Calibration.none(2)

    def scores(self, beliefs: Array) -> Array:
        """Return out-of-fold log P(class | x) of the sample, and keep what was learnt."""
        K = beliefs.shape[1]
        as_it_is = Calibration.none(K)
        self.classifiers = tuple(part.fitted(beliefs, as_it_is)[0] for part in self.parts)
        phi = np.empty_like(beliefs)
        for k, classifier in enumerate(self.classifiers):
            rows = self.fold == k
            if rows.any():
                phi[rows] = class_proba(classifier, self.X[rows], K)
        return np.log(np.maximum(phi, CERTAIN / 10))

    def proba(
        self, beliefs: Array, evidence: Array, line: Calibration | None
    ) -> tuple[Array, Calibration]:
        """Return P(class | x) of the sample, (n, K), and keep its calibration."""
        phi, self.line = super().proba(beliefs, evidence, line)
        return phi, self.line

    def fitted(self, beliefs: Array, line: Calibration) -> tuple[Any, Calibration]:
        """Return the classifier that learns from the whole sample."""
        return self.model.fitted(beliefs, line)


class ItemTableEStep:
    """The E-step where items and pairs are tables: only the sample's beliefs are fetched.

    ``sample`` has the positions of the items in memory, ``known`` classes {position: class}. With
    a ``folder`` every round leaves a checkpoint, and rounds that are there are read, not repeated;
    ``inputs`` describes what they belong to.
    """

    def __init__(
        self,
        items: ItemTable,
        pairs: PairTable,
        model: FoldedModel,
        filler: Any,
        sample: NDArray[np.int64],
        known: Mapping[int, int],
        folder: str | Path | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> None:
        self.items, self.model, self.filler, self.sample = items, model, filler, sample
        people = pairs.annotator_names is not None  # who said what is told, if they differ or not
        self.propagation = TablePropagation(
            pairs, people=people, known=known, tol=LAST_TOLERANCE, folder=folder, inputs=inputs
        )
        self.rounds = 0

    def forget(self) -> None:
        """Begin from beliefs again."""
        self.propagation.beliefs = None

    def __call__(
        self, log_states: Array, item_proba: Array, phi: Array, answers: AnswerModel
    ) -> tuple[Expectation, float]:
        """Return the expectation of all answers, with beliefs of the sample, and the likelihood."""
        del log_states, item_proba  # those of the sample
        at, responses = self.propagation, answers.responses()
        self.rounds += 1
        found, item = at.checkpoint(self.rounds)
        if found is None or item is None:
            scorer = FoldScorer(self.filler, self.model.classifiers, self.model.line)
            columns = [f"f_{k}" for k in range(1, phi.shape[1])]
            potentials = self.items.scored(at.store, "potentials", scorer, columns)
            if at.beliefs is None:
                at.begin(potentials, potentials)
            else:
                at.renew(potentials)
            found = at.round(responses)
            item = at.proba_of(self.sample)
            at.keep_checkpoint(found, item)
        no_messages = np.empty((2, item.shape[1] - 1, 0))
        log_item = np.log(np.maximum(item, np.finfo(float).tiny))
        beliefs = Beliefs(item, log_item, no_messages, np.nan, True, at.passes, np.nan)
        return Expectation(None, beliefs, responses, phi, found.counts), found.log_likelihood
