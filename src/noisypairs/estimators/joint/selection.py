"""What a joint fit chooses by how well it explains the answers: start, K, noise, estimator."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from noisypairs.algebra import Array
from noisypairs.errors import NotIdentifiable, NotIdentifiableWarning
from noisypairs.estimators.inner.ridge import RidgeClasses
from noisypairs.estimators.joint import starts
from noisypairs.estimators.joint.alignment import Alignment
from noisypairs.estimators.joint.potentials import EstimatorPotential
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.inference import em
from noisypairs.inference.propagation import bethe_log_likelihood, propagate
from noisypairs.noise import Fit, NoiseModel, families, family, fixed

#: Nats per item above which a gain over blind guessing cannot be chance (random answers: .03).
CLEAR_GAIN = 0.06
#: How many shuffles of the answers show what chance can do with the graph.
N_SHUFFLES = 4
#: Standard deviations beyond chance: for features (20 deals), for the graph (4 shuffles), and
#: where neither leaves a doubt.
SEEN_IN_FEATURES, SEEN_IN_GRAPH, CLEARLY_SEEN = 2.5, 3.0, 6.0
#: Rounds of every start. With many pairs a start that after one round, of few sweeps, believes what
#: an earlier one does (but for so much per item) is left, and of the others, after the first
#: rounds, all but the two that lead.
ROUNDS, FIRST_ROUNDS, FIRST_SWEEPS, MANY_PAIRS, ALIKE = 15, 4, 4, 100_000, 0.01
#: A richer noise model, or one class more, must explain the answers better by so many nats.
WORTH_IT = 3.0


@dataclass
class Search:
    """The choices of one joint fit, and what each alternative reached.

    ``given`` is the noise if it is known; ``noise_model`` a family or ``"auto"``; ``kinds`` and
    ``n_init`` say where to start. All log-likelihoods are Bethe's, of all answers given
    out-of-fold potentials (see `noisypairs.inference.em.Inference`).
    """

    problem: JointProblem
    given: NoiseModel | None
    noise_model: str
    kinds: tuple[str, ...]
    n_init: int
    start: str = ""
    n_classes: int = 0
    family: str = ""
    starts: dict[str, float] = field(default_factory=dict)
    noise_models: dict[str, float] = field(default_factory=dict)
    candidates: dict[str, float] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)

    def fit_noise(self, name: str) -> Fit:
        """Return what fits S: the family of that name, or always the given noise."""
        return family(name).fit if self.given is None else fixed(self.given)

    def choose_classes(self, numbers: Iterable[int]) -> em.Inference:
        """Run every start for every K in question; keep what explains the answers best."""
        best: em.Inference | None = None
        for K in sorted(numbers):
            runs = self._run_starts(self.problem, K)
            name = best_run(self.problem, runs)
            self.starts |= {f"{n}, {K} classes": run.log_likelihood for n, run in runs.items()}
            gain = (runs[name].log_likelihood - best.log_likelihood) if best else np.inf
            if gain > WORTH_IT:
                best, self.n_classes, self.start = runs[name], K, name
        assert best is not None  # the first K always gains
        return best

    def _run_starts(self, problem: JointProblem, K: int) -> dict[str, em.Inference]:
        kinds = (*self.kinds, *("random",) * bool(self.n_init))
        guesses = problem.guesses(kinds, K, self.n_init)
        if not guesses:
            raise ValueError(f"starts={self.kinds!r} gives no start for {K} classes: add 'random'")
        if problem.pairs.n_pairs > MANY_PAIRS:
            return self._run_leading(problem, guesses)
        return {name: self._run(problem, guess, ROUNDS) for name, guess in guesses.items()}

    def _run_leading(
        self, problem: JointProblem, guesses: Mapping[str, Array]
    ) -> dict[str, em.Inference]:
        """Run what leads to different places, and to the end only the two best of these."""
        runs: dict[str, em.Inference] = {}
        for name, guess in guesses.items():
            run = self._run(problem, guess, 1, sweeps=FIRST_SWEEPS)
            if not any(self._alike(run, other) for other in runs.values()):
                runs[name] = self._go_on(problem, run, FIRST_ROUNDS - 1)
        leader = best_run(problem, runs)
        others = {name: run for name, run in runs.items() if name != leader}
        ahead = [leader, best_run(problem, others)] if others else [leader]
        return {name: self._go_on(problem, runs[name], ROUNDS - FIRST_ROUNDS) for name in ahead}

    def _alike(self, run: em.Inference, other: em.Inference) -> bool:
        """Return whether two runs believe the same, whatever they call the classes."""
        one, two = run.beliefs.item, other.beliefs.item
        if self.given is None and self.problem.clamp is None:
            two = two[:, linear_sum_assignment(one.T @ two, maximize=True)[1]]
        return float(np.abs(one - two).mean()) < ALIKE

    def _run(
        self, problem: JointProblem, guess: Array, rounds: int, sweeps: int = em.SWEEPS
    ) -> em.Inference:
        noise = self.given or starts.guessed_noise(guess, problem.pairs)
        return self._rounds(problem, guess, noise, rounds, sweeps=sweeps)

    def _go_on(self, problem: JointProblem, run: em.Inference, rounds: int) -> em.Inference:
        if run.converged:
            return run
        beliefs = run.beliefs
        return self._rounds(problem, beliefs.item, run.noise, rounds, messages=beliefs.messages)

    def _rounds(
        self, problem: JointProblem, beliefs: Array, noise: NoiseModel, rounds: int, **how: Any
    ) -> em.Inference:
        first = self.fit_noise("free" if self.noise_model == "free" else "pairing")
        e_step = em.GraphEStep(problem.graph, clamp=problem.clamp, **how)
        start = problem.fast_potential, beliefs, noise, first
        return em.infer(e_step, *start, max_iter=rounds)

    def require_news(self, found: em.Inference) -> None:
        """Raise `NotIdentifiable` where the answers are explained no better than shuffled ones.

        Two signs, each held against what shuffled answers show. In the features: the direction
        along which the answers agree most (`Alignment`), which sees the weakest signal. In the
        graph: how much better than blindly the best start explains the answers; even random ones
        are explained a little.
        """
        problem = self.problem
        gain = problem.gain(found)
        if gain > CLEAR_GAIN * problem.pairs.n_items and gain > 10 * WORTH_IT:
            return
        aligned = -np.inf
        if problem.Z is not None:
            aligned = Alignment(problem.Z, problem.pairs).excess(problem.random_state)
        if aligned > CLEARLY_SEEN:
            return
        by_chance = []
        for _ in range(N_SHUFFLES):
            shuffled = problem.shuffled()
            runs = self._run_starts(shuffled, self.n_classes).values()
            by_chance.append(max(shuffled.gain(run) for run in runs))
        chance, spread = float(np.mean(by_chance)), max(float(np.std(by_chance, ddof=1)), 0.5)
        beyond = (gain - chance) / spread
        facts = (
            f"the answers are explained {gain:.1f} nats better than by saying 'same' with "
            f"probability {problem.share:.2f} every time, and shuffled answers reach "
            f"{chance:.1f} ± {spread:.1f}"
        )
        if problem.Z is not None:
            facts += f"; they follow the features {aligned:.1f} standard deviations beyond chance"
        if aligned < SEEN_IN_FEATURES and beyond < SEEN_IN_GRAPH:
            raise NotIdentifiable(
                f"{facts}: these pairs say nothing about classes. The answers are random or all "
                "alike, or there are far too few of them"
            )
        if beyond < CLEARLY_SEEN:
            warnings.warn(
                f"{facts}: expect little. Collect more pairs",
                NotIdentifiableWarning,
                stacklevel=3,
            )

    def choose_family(self, found: em.Inference) -> em.Inference:
        """Let every noise family in question go on from the best start, and keep the best."""
        names = list(families(auto=True)) if self.noise_model == "auto" else [self.noise_model]
        if self.given is not None:
            names = ["given"]
        K = found.beliefs.item.shape[1]
        best: em.Inference | None = None
        for name in names:
            problem, messages = self.problem, found.beliefs.messages
            e_step = em.GraphEStep(problem.graph, clamp=problem.clamp, messages=messages)
            start = problem.fast_potential, found.beliefs.item, found.noise
            run = em.infer(e_step, *start, self.fit_noise(name), max_iter=30)
            self.noise_models[name] = run.log_likelihood
            gain = (run.log_likelihood - best.log_likelihood) if best else np.inf
            if gain > self._worth(name, K):
                best, self.family = run, name
        assert best is not None  # the first family always gains
        self.history += [{"stage": "start", **row} for row in best.history]
        return best

    def _worth(self, name: str, K: int) -> float:
        """Return the nats that a family must gain on the last one kept: Schwarz's ½ log n each."""
        if name == "given":
            return 0.0
        last = family(self.family or "pairing").n_parameters(K)
        more = family(name).n_parameters(K) - last
        return max(WORTH_IT, more * float(np.log(self.problem.pairs.n_pairs)) / 2)

    def choose_estimator(
        self, found: em.Inference, candidates: Mapping[str, Any], n_jobs: int | None
    ) -> str:
        """Return the candidate whose out-of-fold potentials explain all the answers best.

        `RidgeClasses` must do so by `WORTH_IT`: the beliefs come from such a regression.
        """
        if len(candidates) == 1:
            return next(iter(candidates))
        problem = self.problem
        S = found.noise.same_probability(found.beliefs.item.shape[1])
        for name, estimator in candidates.items():
            potential = EstimatorPotential(
                estimator, problem.X, problem.folds, problem.in_pairs, n_jobs
            )
            phi = np.clip(potential(found.beliefs.item), em.CERTAIN, None)
            phi /= phi.sum(axis=1, keepdims=True)
            beliefs = propagate(
                problem.graph, np.log(phi), S, tol=1e-3, max_iter=50, clamp=problem.clamp
            )
            self.candidates[name] = bethe_log_likelihood(problem.graph, beliefs, S)
        head_start = {n: WORTH_IT * isinstance(e, RidgeClasses) for n, e in candidates.items()}
        return max(candidates, key=lambda name: self.candidates[name] - head_start[name])


def best_run(problem: JointProblem, runs: Mapping[str, em.Inference]) -> str:
    """Return the name of the run of the highest likelihood whose features foretell answers.

    Where evidence is weak, runs that trust the graph too much agree with themselves and have the
    highest likelihood; but from their features alone answers cannot be foretold. A run is left out
    if it foretells less than half of what another one does, beyond `WORTH_IT`.
    """
    foretold = {name: problem.foretold(run.potential) for name, run in runs.items()}
    least = (max(foretold.values()) - WORTH_IT) / 2
    kept = [name for name in runs if foretold[name] >= least]
    return max(kept, key=lambda name: runs[name].log_likelihood)
