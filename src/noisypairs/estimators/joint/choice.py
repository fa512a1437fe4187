"""Which classifier: all on a few items first, then those that lead on more.

Beliefs are potentials times what the answers say of the item, b ∝ φ m. Bethe's likelihood does not
change, to first order, with the messages that make m; so other potentials change it by a sum over
items, Σ_i log Σ_k φ_ik m_ik. Some items are therefore enough to compare candidates, with a standard
error, and no belief propagation is needed for it.

Candidates must not learn from b for that: φ is ridge regression's, and where the answers say little
whoever copies it best, errors and all, would look best. They learn from the class shares times m,
which is what the answers say alone. That is flatter than the classes are, so what they predict goes
through one line before it is scored (`calibrated`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from noisypairs.algebra import Array
from noisypairs.estimators.inner.average import AveragedClassifier
from noisypairs.estimators.inner.gaussian import GaussianClasses
from noisypairs.estimators.inner.ridge import RidgeClasses
from noisypairs.estimators.inner.staged import Staged
from noisypairs.estimators.joint.beliefs.calibration import calibrated
from noisypairs.estimators.joint.beliefs.potentials import (
    MANY_CLASSES,
    EstimatorPotential,
    RidgePotential,
    fit_beliefs,
    fit_fold,
    fit_stages,
)
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.inference import em, progress

#: Items that candidates are first trained on, and how many candidates then go on at most; where
#: there are not more than so many times as many items, a fold costs little more than the sample.
SAMPLES, FEW = ((1_000, 4), (4_000, 2)), 4
#: The mean of so many candidates at most is tried.
MOST_MEMBERS = 3
#: A candidate is left when it is behind by so many standard errors.
BEHIND = 3.0
#: A candidate is left at a stage when so many times what this stage gained would not suffice.
CATCH_UP = 1.0
#: So many nats ahead must be whoever looks better than it is.
LEAD = 9.0
#: Gains of so many nats are not worth another fit, nor another member of a mean.
LITTLE = 3.0


@dataclass
class Choice:
    """The candidate that explains the answers best, or the mean of those that nearly do.

    Means are taken where ``averaged``, of the leader and of quick candidates.

    After `choose`: ``members`` are the names of those kept, ``gains`` says by how many nats each
    candidate explains all answers better than the potential of the starts does if it learns from
    the same (estimated on the items it was tried on).
    """

    problem: JointProblem
    found: em.Inference
    candidates: Mapping[str, Any]
    averaged: bool = False
    clusters: bool = False
    members: list[str] = field(default_factory=list)
    gains: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.beliefs = self.found.beliefs.item  # (n_items, K)
        self.evidence = _normal(self.beliefs / np.clip(self.found.potential, em.CERTAIN, None))
        self.taught = _normal(self.beliefs[self.problem.in_pairs].mean(axis=0) * self.evidence)
        self.tuned = dict(self.candidates)
        self.ridge = {name for name, one in self.candidates.items() if is_fast(one, self.problem)}
        self.known: dict[str, dict[int, Array]] = {name: {} for name in self.candidates}
        self.whole: dict[str, Array] = {}
        self.halves: dict[str, tuple[Any, Any, Any]] = {}
        everything = np.arange(len(self.beliefs))
        self.before = self._scores(self._calibrated(self._fast, everything), everything)

    @property
    def name(self) -> str:
        """What was chosen, in words."""
        return " and ".join(self.members)

    def choose(self) -> None:
        """Choose the members."""
        racing = list(self.candidates)
        if len(racing) == 1:
            self.members = racing
            return
        self._race(racing)

    def take(self, members: Mapping[str, int | None]) -> None:
        """Take these members, {name: number of stages or None}, without a comparison."""
        self.members = list(members)
        self.tuned |= {n: _with_stages(self.candidates[n], k) for n, k in members.items() if k}

    @progress.stage("candidate estimators")
    def _race(self, racing: list[str]) -> None:
        """Let candidates drop out one after the other, and keep those that lead."""
        for size, most in SAMPLES:
            if len(self._train(0)) > FEW * size and len(racing) > 2:
                racing = self._sampled_race(racing, size, most)
        self.members = self._leaders(self._fold_race(racing))

    @property
    def quick(self) -> bool:
        """Whether a round with what was chosen costs next to nothing."""
        return self.beliefs.shape[1] <= MANY_CLASSES and all(map(self._quick, self.members))

    @property
    def doubted(self) -> bool:
        """Whether Gaussian classes led here, and others were chosen.

        Candidates are compared to first order only, and as they learn from the answers alone: of
        many classes, which answers alone hardly show, that may be far off.
        """
        return self.averaged and self.clusters and self.members != ["gaussian"]

    def potential(self, in_pairs: NDArray[np.bool_], n_jobs: int | None) -> em.Potential:
        """Return what was chosen as a function of beliefs: out-of-fold P(class | x)."""
        own = [self._potential(name, in_pairs, n_jobs) for name in self.members]
        return own[0] if len(own) == 1 else lambda beliefs: np.mean([p(beliefs) for p in own], 0)

    def _potential(
        self, name: str, in_pairs: NDArray[np.bool_], n_jobs: int | None
    ) -> em.Potential:
        problem = self.problem
        if name in self.ridge:
            assert problem.Z is not None  # else it would not be among the ridges
            return RidgePotential(problem.Z, problem.folds, in_pairs.astype(float))
        same = in_pairs is problem.in_pairs
        seen = problem.items, problem.folds, in_pairs, n_jobs
        known = self.beliefs, self.known[name] if same else {}
        moments = self._moments(name) if same else ()
        return EstimatorPotential(self.tuned[name], *seen, known, moments)

    def fit(self, beliefs: Array, items: NDArray[np.intp]) -> Any:
        """Return what was chosen, fitted to the beliefs of some items."""
        own = [
            fit_beliefs(self.tuned[name], self.problem.items, beliefs, items)
            for name in self.members
        ]
        return own[0] if len(own) == 1 else AveragedClassifier.of(own)

    def _sampled_race(self, racing: list[str], size: int, most: int) -> list[str]:
        """Return who goes on after training on so many items: the best, one slow one, ridge."""
        rng = np.random.default_rng(self.problem.seed)
        train = rng.permutation(self._train(0))[:size]
        test = rng.permutation(self.problem.folds[0][1])[:size]
        others = [name for name in racing if name not in self.ridge]
        scores: dict[str, Array] = {}
        for name, phi in self._tried(others, 0, train, test, scores):
            scores[name] = self._scores(phi, test)
        order = sorted(scores, key=lambda name: -float(scores[name].mean()))
        ahead = order[:most] + [name for name in order if not self._quick(name)][:1]
        self.gains |= {name: self._gain(values, test) for name, values in scores.items()}
        return [name for name in racing if name in ahead or name in self.ridge]

    def _fold_race(self, racing: list[str]) -> dict[str, Array]:
        """Return the scores of those still ahead after fold upon fold, or of one that leads.

        Of those that are not quick only the best goes on after the first fold.
        """
        scores: dict[str, Array] = {name: np.empty(0) for name in racing}
        tested = np.empty(0, dtype=np.intp)
        for number in progress.each("fold", range(len(self.problem.folds))):
            test = self.problem.folds[number][1]
            tested = np.concatenate([tested, test])
            new: dict[str, Array] = {}
            for name, phi in self._tried(list(scores), number, self._train(number), test, new):
                self.known[name][number] = phi
                new[name] = self._scores(phi, test)
            scores = {name: np.concatenate([scores[name], more]) for name, more in new.items()}
            self.gains |= {name: self._gain(values, tested) for name, values in scores.items()}
            fair = {n: s - self._lead(n) / len(self.beliefs) for n, s in scores.items()}
            ahead = _ahead(fair)
            slow = [name for name in ahead if not self._quick(name)]
            scores = {name: scores[name] for name in ahead if name not in slow[1:]}
            if len(scores) == 1:
                break
        return scores

    def _quick(self, name: str) -> bool:
        return name in self.ridge or hasattr(self._learner(name), "fit_beliefs")

    def _leaders(self, scores: Mapping[str, Array]) -> list[str]:
        """Return the best candidate, with those that make a better mean with it, best first."""
        order = sorted(scores, key=lambda name: self._lead(name) - self.gains[name])
        kept, most = order[:1], self.gains[order[0]]
        others = [name for name in order[1:] if self.averaged and not self._gaussian(name)]
        while others and len(kept) < MOST_MEMBERS:
            gains = {name: self._mean_gain([*kept, name]) for name in others}
            best = max(others, key=lambda name: gains[name])
            if gains[best] < most + LITTLE:
                break
            others.remove(best)
            kept, most = [*kept, best], gains[best]
            self.gains[" and ".join(kept)] = most
        return kept

    def _mean_gain(self, names: list[str]) -> float:
        everything = np.arange(len(self.beliefs))
        phi = np.mean([self._whole(name) for name in names], axis=0)
        return self._gain(self._scores(phi, everything), everything)

    def _whole(self, name: str) -> Array:
        """Return the potentials of a candidate that was tried on every fold, (n_items, K)."""
        phi = np.empty_like(self.beliefs)
        for number, values in self.known[name].items():
            phi[self.problem.folds[number][1]] = values
        return phi

    def _tried(
        self,
        names: list[str],
        number: int,
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        scores: Mapping[str, Array],
    ) -> Iterator[tuple[str, Array]]:
        """Yield each candidate and what it predicts, until the leader cannot be caught.

        No potential explains an item better than the class that the answers speak for most.
        """
        best = np.log(self.evidence[test].max(axis=1))
        most = float(np.where(self.problem.in_pairs[test], best, 0.0).mean())  # as in `_scores`
        for name in names:
            leader = max((float(values.mean()) for values in scores.values()), default=-np.inf)
            if (most - leader) * len(self.beliefs) < LITTLE:
                return
            yield name, self._predicted(name, number, train, test, leader)

    def _predicted(
        self,
        name: str,
        number: int,
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        leader: float,
    ) -> Array:
        """Return P(class | x) of the test items; the first time, with the best number of stages.

        Stages are gone through until they are worse than before, or would not reach the ``leader``;
        before the first one all items have the class shares.
        """
        if name in self.ridge:
            return self._calibrated(self._fast, test)
        if hasattr(self.tuned[name], "leave_one_out"):
            return self._calibrated(self._alone(name), test)
        learner, seen = self._split(name)
        if number > 0 or not self._staged(name):
            whole_fold = len(train) == len(self._train(number))
            moments = self._moments(name)[number] if whole_fold else None
            _, phi = fit_fold(learner, seen, self.taught, train, test, moments)
            return calibrated(phi, self.evidence[test])
        whole = self.problem.items.split(self.candidates[name])[1]
        # More items never call for fewer stages than a sample of them did.
        first = 1 if self.tuned[name] is self.candidates[name] else learner.max_iter
        best, reached, last = np.empty(0), -np.inf, self._blind(test)
        for stage, flat in fit_stages(whole, seen, self.taught, train, test, first):
            phi = calibrated(flat, self.evidence[test])
            score = float(self._scores(phi, test).mean())
            if score > reached:
                best, reached = phi, score
                self.tuned[name] = _with_stages(self.candidates[name], stage)
            elif score < last:
                break  # twice worse: the best stage is over
            if score + CATCH_UP * (score - last) < leader:
                break
            last = score
        return best

    def _moments(self, name: str) -> Sequence[Array | None]:
        """Return XᵀX of what each fold is learnt from, where the ridge of the starts knows it."""
        learner, seen = self._split(name)
        fast, takes = self.problem.fast_potential, getattr(learner, "takes_moments", False)
        if takes and seen is self.problem.Z and isinstance(fast, RidgePotential):
            return fast.moments
        return [None] * len(self.problem.folds)

    def _blind(self, items: NDArray[np.intp]) -> float:
        """Return the mean score of the class shares, as all that is known of these items."""
        shares = self.beliefs[self.problem.in_pairs].mean(axis=0)
        return float(self._scores(np.tile(shares, (len(items), 1)), items).mean())

    @cached_property
    def _fast(self) -> Array:
        return self.problem.fast_potential(self.taught)

    def _calibrated(self, phi: Array, items: NDArray[np.intp]) -> Array:
        return calibrated(phi[items], self.evidence[items])

    def _alone(self, name: str) -> Array:
        """Return the potentials of a candidate that leaves out each item by itself."""
        if name not in self.whole:
            self.whole[name] = self._potential(name, self.problem.in_pairs, None)(self.taught)
        return self.whole[name]

    def _lead(self, name: str) -> float:
        """Return by how many nats a candidate must lead.

        The number of stages was chosen on the same items, and Gaussian classes trust their clusters
        more with every round; where the start has shown that the classes are ``clusters``, rightly.
        """
        trusting = self._gaussian(name) and not self.clusters
        return LEAD if self._staged(name) or trusting else 0.0

    def _gaussian(self, name: str) -> bool:
        return isinstance(self._learner(name), GaussianClasses)

    def _staged(self, name: str) -> bool:
        return isinstance(self._learner(name), Staged)

    def _learner(self, name: str) -> Any:
        return self._split(name)[0]

    def _split(self, name: str) -> tuple[Any, Any]:
        """Return what of a candidate looks at beliefs, and the items it sees."""
        estimator = self.tuned[name]
        if name not in self.halves or self.halves[name][0] is not estimator:
            self.halves[name] = estimator, *self.problem.items.split(estimator)[1:]
        return self.halves[name][1:]

    def _train(self, number: int) -> NDArray[np.intp]:
        train: NDArray[np.intp] = self.problem.folds[number][0]
        kept: NDArray[np.intp] = train[self.problem.in_pairs[train]]
        return kept

    def _scores(self, phi: Array, items: NDArray[np.intp]) -> Array:
        """Return log Σ_k φ m of some items, shape (n,); items in no pair say nothing."""
        within = _normal(np.clip(phi, em.CERTAIN, None))
        explained = np.log(np.einsum("nk,nk->n", within, self.evidence[items]))
        return np.where(self.problem.in_pairs[items], explained, 0.0)

    def _gain(self, scores: Array, items: NDArray[np.intp]) -> float:
        return float((scores - self.before[items]).mean()) * len(self.beliefs)


def is_fast(estimator: Any, problem: JointProblem) -> bool:
    """Return whether a candidate is the ridge regression of the starts, factorised already."""
    like = RidgeClasses(random_state=problem.seed)
    alike = isinstance(estimator, RidgeClasses) and estimator.get_params() == like.get_params()
    return alike and problem.Z is not None and max(problem.n_classes) <= MANY_CLASSES


def _normal(values: Array) -> Array:
    shares: Array = values / values.sum(axis=1, keepdims=True)
    return shares


def _ahead(scores: Mapping[str, Array]) -> list[str]:
    """Return the names, best first, of those no more than `BEHIND` standard errors behind it."""
    order = sorted(scores, key=lambda name: -float(scores[name].mean()))
    kept = order[:1]
    for name in order[1:]:
        lag = scores[order[0]] - scores[name]
        error = float(lag.std()) / np.sqrt(len(lag))
        if float(lag.mean()) <= BEHIND * error:
            kept.append(name)
    return kept


def _with_stages(estimator: Any, number: int) -> Any:
    """Return a copy of a candidate, its last step limited to so many stages."""
    limited = clone(estimator)
    last = limited.steps[-1][1] if isinstance(limited, Pipeline) else limited
    last.set_params(max_iter=number)
    return limited
