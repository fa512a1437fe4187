"""Which estimator: the one whose P(class | x) predicts best what the answers say about items.

Beliefs are b ∝ φ m, and to first order other potentials φ change Bethe's likelihood by a sum over
items, Σ_i log Σ_k φ_ik m_ik. So candidates are compared on items without any belief propagation,
out of fold, with a term per item and hence a standard error. They learn from the class shares times
m, which is what the answers say alone: φ belongs to the class model of the search, and where the
answers say little the best copy of it would win. Every candidate is calibrated before it is scored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from noisypairs.algebra import Array
from noisypairs.estimators.inner.staged import Staged
from noisypairs.inference import progress
from noisypairs.joint.choices import CERTAIN, ENOUGH_TESTED, ONE_ERROR, RACE_ITEMS
from noisypairs.joint.class_model import (
    EstimatorModel,
    Positions,
    calibrate,
    fold_proba,
    labelled_rows,
)
from noisypairs.joint.em import Fit
from noisypairs.joint.problem import Problem


@dataclass
class Race:
    """Candidates by name, the simplest first, compared from a fit.

    The simplest is kept that the best one does not beat by more than a standard error; first of all
    comes the class model of the search.

    After `run`: ``winner``, ``estimators`` with the number of stages that was best, and ``gains``,
    the nats by which each explains all answers better than the class model of the fit does if it
    learns from the same.
    """

    problem: Problem
    fit: Fit
    candidates: Mapping[str, Any]
    winner: str = ""
    gains: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.evidence = self.fit.evidence
        shares = self.fit.item_proba[self.problem.in_pairs].mean(axis=0)
        targets = shares * self.evidence
        self.targets = targets / targets.sum(axis=1, keepdims=True)
        self.estimators = dict(self.candidates)

    @progress.stage("candidate estimators")
    def run(self, with_search: bool = True) -> str:
        """Return the name of the winner, which may be the class model of the search."""
        names = [self.fit.spec.class_model, *self.candidates]
        scores: dict[str, Array] = {name: np.empty(0) for name in names}
        eligible = set(names if with_search else self.candidates)
        n_items = int(self.problem.in_pairs.sum())
        for train, test in self._folds():
            for name in list(scores):
                phi = self._scores(name, train, test)
                line = calibrate(phi, self.evidence[test])
                explained = np.log((line(phi) * self.evidence[test]).sum(axis=1))
                scores[name] = np.concatenate([scores[name], explained])
            base = scores[names[0]]
            self.gains |= {n: float((v - base).mean()) * n_items for n, v in scores.items()}
            best = max(
                (n for n in names if n in scores and n in eligible),
                key=lambda name: float(scores[name].mean()),
            )
            scores = {  # the class model of the search stays: it is what others are held against
                n: v for n, v in scores.items() if n == names[0] or _near(scores[best] - v, 2)
            }
        self.gains.pop(names[0])
        left = [name for name in names if name in eligible and name in scores]
        best = _best({name: scores[name] for name in left})
        self.winner = next(name for name in left if _near(scores[best] - scores[name]))
        return self.winner

    def _folds(self) -> Iterator[tuple[Positions, Positions]]:
        """Yield training and test items that are in pairs, until enough were tested."""
        tested, on = 0, self.problem.in_pairs
        for train, test in self.problem.folds:
            if tested >= ENOUGH_TESTED:
                return
            test = test[on[test]][:RACE_ITEMS]
            tested += len(test)
            yield train[on[train]][:RACE_ITEMS], test

    def _scores(self, name: str, train: Positions, test: Positions) -> Array:
        """Return log P(class | x) of the test items, learnt from the targets of the others."""
        if name not in self.candidates:
            learning = np.zeros(len(self.targets))
            learning[train] = 1.0
            model = self.problem.new_class_model(name, learning)
            return model.scores(self.targets)[test]
        _, learner, seen = self.problem.items.split(self.estimators[name])
        tuned = self.estimators[name] is not self.candidates[name]
        if tuned or not isinstance(learner, Staged):
            phi = fold_proba(learner, seen, self.targets, train, test)
        else:
            phi = self._best_stage(name, learner, seen, train, test)
        return np.log(np.maximum(phi, CERTAIN / 10))

    def _best_stage(
        self, name: str, learner: Any, seen: Any, train: Positions, test: Positions
    ) -> Array:
        """Return P(class | x) at the best number of stages, and keep that number."""
        rows, label, weight = labelled_rows(learner, self.targets[train])
        X, X_test = (_safe_indexing(seen, some) for some in (train[rows], test))
        best, highest, last = np.empty(0), -np.inf, -np.inf
        grower = clone(learner)
        for stage, of_seen in grower.stages(X, label, weight, X_test):
            proba = np.zeros((len(test), self.targets.shape[1]))  # a class may be in no row
            proba[:, np.asarray(grower.classes_, dtype=np.intp)] = of_seen
            phi = np.log(np.maximum(proba, CERTAIN / 10))
            line = calibrate(phi, self.evidence[test])
            score = float(np.log((line(phi) * self.evidence[test]).sum(axis=1)).mean())
            if score > highest:
                best, highest = proba, score
                self.estimators[name] = _with_stages(self.candidates[name], stage)
            elif score < last:
                break  # worse than the stage before: the best one is over
            last = score
        return best

    def class_model(self, n_jobs: int | None) -> EstimatorModel:
        """Return the winner as a class model."""
        weight = self.problem.in_pairs.astype(float)
        chosen = self.estimators[self.winner]
        return EstimatorModel(
            chosen, self.problem.items, self.problem.folds, weight, n_jobs, self.winner
        )


def _best(scores: Mapping[str, Array]) -> str:
    """Return the name with the highest mean score; of equal ones the first."""
    return max(scores, key=lambda name: float(scores[name].mean()))


def _near(lead: Array, errors: int = 1) -> bool:
    """Return whether a lead (n_items,) is within one, or more, standard errors of nothing."""
    return bool(lead.sum() <= errors * ONE_ERROR * lead.std() * np.sqrt(len(lead)))


def _with_stages(estimator: Any, number: int) -> Any:
    """Return a copy of a candidate, its last step limited to this number of stages."""
    limited = clone(estimator)
    last = limited.steps[-1][1] if isinstance(limited, Pipeline) else limited
    last.set_params(max_iter=number)
    return limited
