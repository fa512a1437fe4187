"""Which noise family: what one explains on a run, and what its numbers cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from noisypairs.algebra import Array
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.inference import em
from noisypairs.inference.posteriors import expected_counts
from noisypairs.noise import Fit, NoiseModel, families, family, fixed

#: Sweeps in one round of a first look, and of many classes.
FIRST_SWEEPS = 4
#: Beyond so many classes a round makes few sweeps. There, and where another number of classes does
#: better, a noise family is left if so many times what one M-step gains would be too little. Of
#: many classes, where costs follow the answers, rounds add little to that (benchmarks/one_step.py).
MANY_CLASSES, ONE_STEP, ONE_STEP_OF_MANY = 6, 5.0, 1.3
#: Rounds of every family from the best start.
ROUNDS_OF_FAMILY = 30
#: A richer noise model, or one class more, must explain the answers better by so many nats.
WORTH_IT = 3.0


@dataclass
class NoiseFamilies:
    """The noise families in question for a problem.

    ``given`` is the noise if it is known; ``noise_model`` a family or ``"auto"``; ``family`` the
    one that was kept.
    """

    problem: JointProblem
    given: NoiseModel | None
    noise_model: str
    family: str = field(default="", kw_only=True)
    n_classes: int = field(default=0, kw_only=True)

    def fit_noise(self, name: str) -> Fit:
        """Return what fits S: the family of that name, or always the given noise."""
        return family(name).fit if self.given is None else fixed(self.given)

    @property
    def first_family(self) -> str:
        """The noise family of the starts."""
        if self.given is not None:
            return "given"
        return "free" if self.noise_model == "free" else "pairing"

    def family_names(self, n_classes: int = 2) -> list[str]:
        """Return the noise families in question; of many classes only the one that was kept."""
        if self.given is not None:
            return ["given"]
        if self.noise_model != "auto":
            return [self.noise_model]
        return [self.family] if n_classes > MANY_CLASSES else list(families(auto=True))

    @property
    def _half_log_n(self) -> float:
        return float(np.log(self.problem.pairs.n_pairs)) / 2

    def score(self, run: em.Inference, name: str) -> float:
        """Return the log-likelihood less what the numbers that the noise fits cost."""
        return run.log_likelihood - self.cost(name, run)

    def cost(self, name: str, run: em.Inference) -> float:
        """Return the nats that a family costs: of many classes by the answers behind its numbers.

        Of few, Schwarz's ½ log n for each number.
        """
        many = run.beliefs.item.shape[1] > MANY_CLASSES
        return self._cost(name, run, self._counts(run) if many else None)

    def _cost(self, name: str, run: em.Inference, counts: tuple[Array, Array] | None) -> float:
        """Return the same from counts of the classes behind the answers, or from n without."""
        if name == "given":
            return 0.0
        if counts is not None:
            return family(name).cost(*counts)
        return self.cost_of(family(name).n_parameters(run.beliefs.item.shape[1]))

    def _counts(self, run: em.Inference) -> tuple[Array, Array]:
        """Return the classes behind "same" and "different", (K, K) each."""
        S = run.noise.same_probability(run.beliefs.item.shape[1])
        same, different = expected_counts(self.problem.graph, run.beliefs, S)
        return same[0], different[0]

    def cost_of(self, numbers: int) -> float:
        """Return the nats that so many fitted numbers cost: Schwarz's ½ log n each."""
        return numbers * self._half_log_n

    def score_with(self, name: str, run: em.Inference) -> float:
        """Return the log-likelihood of a run with parts, less what noise and people cost."""
        fitted = 0 if name == "given" else family(name).n_parameters(self.n_classes)
        cost = 0.0 if run.people is None else run.people.cost
        return run.log_likelihood - fitted * self._half_log_n - cost

    def promising(self, name: str, kept: str, run: em.Inference) -> bool:
        """Return whether a family might gain enough on a run, to judge by one M-step of it.

        Of many classes a matrix has so many numbers that it is hopeless often, and dear.
        """
        gain, more = self.one_step(name, kept, run)
        many = run.beliefs.item.shape[1] > MANY_CLASSES
        return (ONE_STEP_OF_MANY if many else ONE_STEP) * gain > max(WORTH_IT, more)

    def one_step(self, name: str, kept: str, run: em.Inference) -> tuple[float, float]:
        """Return the nats that one M-step of a family gains on a run, and what more it costs."""
        same, different = self._counts(run)
        S, wanted = (
            noise.same_probability(len(same))
            for noise in (run.noise, self.fit_noise(name)(same, different))
        )
        gain = (same * np.log(wanted / S)).sum() + (different * np.log1p(-wanted)).sum()
        gain -= (different * np.log1p(-S)).sum()
        counts = (same, different) if len(same) > MANY_CLASSES else None
        return float(gain), self._cost(name, run, counts) - self._cost(kept, run, counts)

    def go_on_with(
        self, problem: JointProblem, name: str, found: em.Inference, rounds: int = ROUNDS_OF_FAMILY
    ) -> em.Inference:
        """Return where the noise family of this name leads from a start."""
        e_step = em.GraphEStep(problem.graph, clamp=problem.clamp, **going_on(found))
        learner = found.learnt_by or problem.fast_potential
        start = learner, found.beliefs.item, found.noise
        return em.infer(e_step, *start, self.fit_noise(name), max_iter=rounds)


def going_on(run: em.Inference) -> dict[str, Any]:
    """Return how the E-step goes on; messages are kept, so of many classes few sweeps will do."""
    few = run.beliefs.item.shape[1] > MANY_CLASSES
    return {"messages": run.beliefs.sent, "sweeps": FIRST_SWEEPS if few else em.SWEEPS}
