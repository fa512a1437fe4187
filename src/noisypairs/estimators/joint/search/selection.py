"""What a joint fit chooses by how well it explains the answers: start, K and noise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from noisypairs.algebra import Array
from noisypairs.estimators.joint.beliefs import starts
from noisypairs.estimators.joint.problem import JointProblem, is_gaussian
from noisypairs.estimators.joint.search import class_number, evidence
from noisypairs.estimators.joint.search.families import (
    FIRST_SWEEPS,
    MANY_CLASSES,
    ROUNDS_OF_FAMILY,
    WORTH_IT,
    NoiseFamilies,
    going_on,
)
from noisypairs.inference import em, progress
from noisypairs.inference.propagation import propagate
from noisypairs.noise import NoiseModel, PairingNoise

#: Rounds of every start. With many pairs a start that after one round, of few sweeps, believes what
#: an earlier one does (but for so much per item) is left, and of the others all but two. After the
#: first rounds the second goes on only if so many times their gain would bring it to the first.
ROUNDS, FIRST_ROUNDS, MANY_PAIRS, ALIKE, CATCH_UP = 15, 4, 100_000, 0.01, 1.0
#: Rounds of a start with a free matrix of many classes, which takes longer to settle.
MANY_ROUNDS = 40


@dataclass(frozen=True)
class Explanation:
    """How well K classes explain the answers: the best start, every noise family, a score.

    ``begun`` is the run of the start, ``families`` those that went on from it, and ``score`` the
    log-likelihood of the ``family`` kept, less what its numbers cost.
    """

    n_classes: int
    start: str
    family: str
    begun: em.Inference
    families: Mapping[str, em.Inference]
    score: float


@dataclass
class Search(NoiseFamilies):
    """The choices of one joint fit, and what each alternative reached.

    ``given`` is the noise if it is known; ``noise_model`` a family or ``"auto"``; ``kinds`` and
    ``n_init`` say where to start. Every start is given ``rounds``, and with ``every_start`` none
    is left early, however many pairs there are. ``guess_sweeps`` is for problems without features:
    there the potentials say nothing of single items, so the first messages come from so many
    sweeps with the guess as potential. All log-likelihoods are Bethe's, of all answers given
    out-of-fold potentials (see `noisypairs.inference.em.Inference`).
    """

    kinds: tuple[str, ...]
    n_init: int
    rounds: int = ROUNDS
    every_start: bool = False
    guess_sweeps: int = 0
    start: str = ""
    starts: dict[str, float] = field(default_factory=dict)
    noise_models: dict[str, float] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    tried: dict[int, Explanation] = field(default_factory=dict)
    held_out: dict[int, Array] = field(default_factory=dict)
    begun: dict[int, dict[str, em.Inference]] = field(default_factory=dict)

    def choose_classes(self, numbers: Iterable[int]) -> em.Inference:
        """Return the best start of the number of classes that explains the answers best.

        One number is taken as it is. Of several the smallest is kept until a larger one is
        `better`; two in a row that are not end the search.
        """
        first, *larger = sorted(set(numbers))
        K, missed = first, 0
        for more in progress.each(
            "candidate number of classes", [first, *larger] if larger else []
        ):
            self.tried[more] = self.explain(more, self._plain_kinds)
            if more == first:
                continue
            better = self.better(more, K)
            K, missed = (more, 0) if better else (K, missed + 1)
            if missed == 2:
                break
        self.n_classes = K
        if not larger:
            self.start, found = self._best_start(K)
            return found
        self.start, found = self.tried[K].start, self.tried[K].begun
        clusters = self.add_gaussian(K)
        if clusters is not None and clusters[1].log_likelihood > found.log_likelihood:
            self.start, found = clusters
        return found

    def add_gaussian(self, K: int) -> tuple[str, em.Inference] | None:
        """Run the Gaussian starts of K classes, too, if there are any; return the best of them."""
        if K > 2 and "gaussian" in self.kinds and self.problem.has_gaussian:
            return self._best_start(K, ("gaussian",))
        return None

    @property
    def _plain_kinds(self) -> tuple[str, ...]:
        """The starts by which numbers of classes are compared: those that all numbers have."""
        return tuple(kind for kind in self._all_kinds if kind != "gaussian")

    @property
    def _all_kinds(self) -> tuple[str, ...]:
        return (*self.kinds, *("random",) * bool(self.n_init))

    def _best_start(self, K: int, kinds: tuple[str, ...] | None = None) -> tuple[str, em.Inference]:
        runs = self._run_starts(self.problem, K, kinds)
        name = ranked(self.problem, runs)[0]
        self.starts |= {f"{n}, {K} classes": run.log_likelihood for n, run in runs.items()}
        self.begun.setdefault(K, {}).update(runs)
        return name, runs[name]

    def other_view(self) -> tuple[str, em.Inference] | None:
        """Return the best start with another learner of P(class | x) than the one kept, if any."""
        runs = self.begun.get(self.n_classes, {})
        others = {n: run for n, run in runs.items() if is_gaussian(n) != is_gaussian(self.start)}
        if not others:
            return None
        name = ranked(self.problem, others)[0]
        return name, self.go_on_with(self.problem, self.family, others[name])

    def explain(self, K: int, kinds: tuple[str, ...] | None = None) -> Explanation:
        """Return how well K classes explain the answers, with the noise family that suits them."""
        start, begun = self._best_start(K, kinds)
        runs, name, start = self._families(begun, start)
        return Explanation(K, start, name, begun, runs, self.score(runs[name], name))

    def explanation(self, K: int, start: str, run: em.Inference, name: str) -> Explanation:
        """Return what one noise family alone explains."""
        return Explanation(K, start, name, run, {name: run}, self.score(run, name))

    def better(self, more: int, K: int) -> bool:
        """Return whether ``more`` classes explain the answers better than K, both tried.

        They must gain `WORTH_IT` nats. That is enough, and half as much again, where K classes
        explain the answers plainly (`evidence.is_plain`). Elsewhere a likelihood that agrees with
        itself may gain that by chance: there ``more`` classes must also predict answers on held-out
        pairs better, by more than a standard error, or gain four times as much and predict no
        worse.
        """
        problem, gain = self.problem, self.tried[more].score - self.tried[K].score
        plain = evidence.is_plain(problem, self.tried[K].begun)
        enough = 1.5 * WORTH_IT if plain else evidence.clear_gain(problem, 10)
        if gain <= WORTH_IT or gain > enough:
            return gain > WORTH_IT
        held_out, error = class_number.held_out_gain(self, self.tried[more], self.tried[K])
        return held_out > (0.0 if gain > 4 * WORTH_IT else error)

    @progress.stage("one class more")
    def more_classes(self, found: em.Inference) -> float | None:
        """Return by how many nats one class more explains the answers better, if it does.

        ``found`` is the run of the family chosen for `n_classes`. To be cheap, one class more has a
        single start, of the kind that led here, and two rates: what a richer noise explains as well
        is no reason for one class more.
        """
        K = self.n_classes
        if self.given is not None and not isinstance(self.given, PairingNoise):
            return None  # the given matrix is one of K classes
        if K not in self.tried:
            self.tried[K] = self.explanation(K, self.start, found, self.family)
        if K + 1 not in self.tried:
            self._try_one_more(K + 1, self.tried[K].start)
        gain = self.tried[K + 1].score - self.tried[K].score
        # A single start and two rates: small gains are no reason to doubt what was asked for.
        return gain if gain > 4 * WORTH_IT and self.better(K + 1, K) else None

    def _run_starts(
        self, problem: JointProblem, K: int, kinds: tuple[str, ...] | None = None
    ) -> dict[str, em.Inference]:
        kinds = kinds or self._all_kinds
        if K == 2 and (plain := self._run_plain(problem, kinds)) is not None:
            return {"aligned": plain}
        guesses = problem.guesses(kinds, K, self.n_init)
        if not guesses:
            raise ValueError(f"starts={self.kinds!r} gives no start for {K} classes: add 'random'")
        cost = (problem.pairs.n_pairs + problem.pairs.n_items) * (K - 1)
        if cost > MANY_PAIRS and not self.every_start:
            return self._run_leading(problem, guesses)
        each = progress.each("start", guesses.items())
        return {name: self._run(problem, name, guess, self.rounds) for name, guess in each}

    @progress.stage("start")
    def _run_plain(self, problem: JointProblem, kinds: tuple[str, ...]) -> em.Inference | None:
        """Return the aligned start of two classes where no other is needed, or None.

        That is where it explains the answers plainly and the graph alone leads to the same place.
        """
        if problem.Z is None or self.every_start or not {"aligned", "spectral"} <= set(kinds):
            return None
        guess = problem.guesses(("aligned",), 2, 0)["aligned"]
        run = self._run(problem, "aligned", guess, FIRST_ROUNDS)
        if not evidence.is_plain(problem, run):
            return None
        embedded = problem.guesses(("spectral",), 2, 0)["spectral"]
        other = self._run(problem, "spectral", embedded, 1, sweeps=FIRST_SWEEPS)
        alike = self._alike(run, other)
        return self._go_on(problem, run, self.rounds - FIRST_ROUNDS) if alike else None

    @progress.stage("start", {"beginning": 1.0, "leading start": 1.0})
    def _run_leading(
        self, problem: JointProblem, guesses: Mapping[str, Array]
    ) -> dict[str, em.Inference]:
        """Run what leads to different places, and only the best of these to the end."""
        begun: dict[str, em.Inference] = {}
        for name, guess in progress.each("beginning", guesses.items()):
            run = self._run(problem, name, guess, 1, sweeps=FIRST_SWEEPS)
            if not any(self._alike(run, other) for other in begun.values()):
                begun[name] = run
        two = ranked(problem, begun)[:2]
        runs = {name: self._go_on(problem, begun[name], FIRST_ROUNDS - 1) for name in two}
        leader, *others = ranked(problem, runs)
        behind = {n: runs[leader].log_likelihood - runs[n].log_likelihood for n in others}
        gained = {n: runs[n].log_likelihood - begun[n].log_likelihood for n in others}
        near = [n for n in others if behind[n] <= CATCH_UP * gained[n]]
        ahead = [leader, *(n for n in near if not self._alike(runs[n], runs[leader]))]
        each, more = progress.each("leading start", ahead), self.rounds - FIRST_ROUNDS
        return {name: self._go_on(problem, runs[name], more) for name in each}

    def _alike(self, run: em.Inference, other: em.Inference) -> bool:
        """Return whether two runs believe the same, whatever they call the classes."""
        one, two = run.beliefs.item, other.beliefs.item
        if self.given is None and self.problem.clamp is None:
            two = two[:, linear_sum_assignment(one.T @ two, maximize=True)[1]]
        return float(np.abs(one - two).mean()) < ALIKE

    def _run(
        self, problem: JointProblem, name: str, guess: Array, rounds: int, sweeps: int = em.SWEEPS
    ) -> em.Inference:
        noise = self.given or starts.guessed_noise(guess, problem.pairs)
        learner = problem.potential_of(name)
        if not self.guess_sweeps:
            return self._rounds(problem, learner, guess, noise, rounds, sweeps=sweeps)
        S, most = noise.same_probability(guess.shape[1]), self.guess_sweeps
        first = propagate(problem.graph, np.log(guess), S, max_iter=most, clamp=problem.clamp)
        how: dict[str, Any] = {"sweeps": sweeps, "messages": first.sent}
        return self._rounds(problem, learner, first.item, noise, rounds, **how)

    def run_start(self, problem: JointProblem, name: str, K: int) -> em.Inference:
        """Run the one start of this name, as `starts` calls it, on a problem."""
        guess = problem.guesses((name.split("-")[0],), K, self.n_init)[name]
        return self._run(problem, name, guess, self.rounds)

    def _go_on(self, problem: JointProblem, run: em.Inference, rounds: int) -> em.Inference:
        if run.converged:
            return run
        learner = run.learnt_by or problem.fast_potential
        start = learner, run.beliefs.item, run.noise, rounds
        return self._rounds(problem, *start, **going_on(run))

    def _rounds(
        self,
        problem: JointProblem,
        learner: em.Potential,
        beliefs: Array,
        noise: NoiseModel,
        rounds: int,
        **how: Any,
    ) -> em.Inference:
        first = self.fit_noise(self.first_family)
        e_step = em.GraphEStep(problem.graph, clamp=problem.clamp, **how)
        return em.infer(e_step, learner, beliefs, noise, first, max_iter=rounds)

    def _try_one_more(self, more: int, like: str) -> None:
        """Keep what ``more`` classes explain: after a few rounds, and to the end if that is better.

        Where one class more is needed, the first rounds gain by far. ``like`` names the start that
        led to the classes before.
        """
        kind = like.split("-")[0]
        kinds = ("spectral",) if kind == "answers" else (kind,)
        shares = (starts.share_of(like),) if is_gaussian(like) else None
        guesses = self.problem.guesses(kinds, more, self.n_init, shares)
        few = {"rounds": FIRST_ROUNDS, "sweeps": FIRST_SWEEPS}
        runs = {name: self._run(self.problem, name, one, **few) for name, one in guesses.items()}
        start = ranked(self.problem, runs)[0]
        found = self.explanation(more, start, runs[start], self.first_family)
        if found.score > self.tried[more - 1].score:
            run = self._go_on(self.problem, runs[start], self.rounds - FIRST_ROUNDS)
            found = self.explanation(more, start, run, self.first_family)
        self.tried[more] = found

    def require_evidence(self, found: em.Inference) -> None:
        """Raise `NotIdentifiable` where the answers are explained no better than shuffled ones."""
        evidence.require_evidence(
            self.problem, found, lambda one: self._run_starts(one, self.n_classes).values()
        )

    def choose_family(self, found: em.Inference) -> em.Inference:
        """Let every noise family in question go on from the best start, and keep the best."""
        K = found.beliefs.item.shape[1]
        if K in self.tried and found is self.tried[K].begun:
            runs, self.family = self.tried[K].families, self.tried[K].family
        else:
            runs, self.family, self.start = self._families(found, self.start)
        self.noise_models = {name: run.log_likelihood for name, run in runs.items()}
        best = runs[self.family]
        self.history += [{"stage": "start", **row} for row in best.history]
        return best

    def _families(
        self, found: em.Inference, start: str
    ) -> tuple[dict[str, em.Inference], str, str]:
        """Return the run of every noise family from one start, the family to keep, and the start.

        Two rates merge small classes that people confuse, and a matrix that goes on from there does
        not part them: of many classes, where a matrix is better, all starts begin with it again.
        """
        names = self.family_names()
        kept, K = names[0], found.beliefs.item.shape[1]
        behind = (self.score(found, self.first_family) < o.score for o in self.tried.values())
        doubt = K > MANY_CLASSES or any(behind)
        runs: dict[str, em.Inference] = {}
        for name in progress.each("noise family", names):
            begun, rounds = found, ROUNDS_OF_FAMILY
            if runs and doubt:
                if not self.promising(name, kept, runs[kept]):
                    continue
                begun = self.go_on_with(self.problem, name, runs[kept], FIRST_ROUNDS)
                if not self._pays(name, begun, kept, runs[kept]):
                    continue
                rounds -= FIRST_ROUNDS
            runs[name] = self.go_on_with(self.problem, name, begun, rounds)
            gain = runs[name].log_likelihood - runs[kept].log_likelihood
            more = self.cost(name, runs[name]) - self.cost(kept, runs[kept])
            if name != kept and gain > max(WORTH_IT, more):
                kept = name
        if K > MANY_CLASSES and kept == "free" != self.first_family:
            again = replace(self, noise_model="free", every_start=True, begun={})
            again.rounds = MANY_ROUNDS
            other, run = again._best_start(K)
            if run.log_likelihood > runs[kept].log_likelihood:
                runs[kept], start = run, other
        return runs, kept, start

    def _pays(self, name: str, run: em.Inference, kept: str, leader: em.Inference) -> bool:
        """Return whether the first rounds of a richer family gain what its numbers cost.

        They began where the leader had converged, so little more is to come.
        """
        gained = run.log_likelihood - leader.log_likelihood
        return gained > self.cost(name, run) - self.cost(kept, leader)


def ranked(problem: JointProblem, runs: Mapping[str, em.Inference]) -> list[str]:
    """Return the names of the runs by falling likelihood, last those it cannot be believed of.

    Where evidence is weak, runs that trust the graph too much agree with themselves and have the
    highest likelihood; but their features alone do not predict the answers. A run comes last
    if its features predict less than half as well as those of another, beyond `WORTH_IT`.
    """
    predicted = {name: problem.predicted_gain(run.potential) for name, run in runs.items()}
    least = (max(predicted.values()) - WORTH_IT) / 2
    return sorted(runs, key=lambda n: (predicted[n] < least, -runs[n].log_likelihood))
