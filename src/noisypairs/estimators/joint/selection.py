"""What a joint fit chooses by how well it explains the answers: start, K and noise."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from noisypairs.algebra import Array
from noisypairs.errors import NotIdentifiable, NotIdentifiableWarning
from noisypairs.estimators.joint import class_number, starts
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.inference import em, progress
from noisypairs.inference.propagation import expected_counts, propagate
from noisypairs.noise import Fit, NoiseModel, PairingNoise, families, family, fixed

#: Nats per item above which a gain over blind guessing cannot be chance (random answers: .03).
CLEAR_GAIN = 0.06
#: How many shuffles of the answers show what chance can do with the graph.
N_SHUFFLES = 4
#: Standard deviations beyond chance: for features (20 permutations), for the graph (4 shuffles),
#: and where neither leaves a doubt.
SEEN_IN_FEATURES, SEEN_IN_GRAPH, CLEARLY_SEEN = 2.5, 3.0, 6.0
#: Rounds of every start. With many pairs a start that after one round, of few sweeps, believes what
#: an earlier one does (but for so much per item) is left, and of the others all but two. After the
#: first rounds the second goes on only if so many times their gain would bring it to the first.
ROUNDS, FIRST_ROUNDS, FIRST_SWEEPS, MANY_PAIRS, ALIKE, CATCH_UP = 15, 4, 4, 100_000, 0.01, 1.0
#: Beyond so many classes a round makes few sweeps. There, and where another number of classes does
#: better, a noise family is left if so many times what one M-step gains would be too little.
MANY_CLASSES, ONE_STEP = 6, 5.0
#: Nats per item over blind guessing from which a likelihood does not agree with itself by chance.
PLAIN_EVIDENCE = 0.3
#: A richer noise model, or one class more, must explain the answers better by so many nats.
WORTH_IT = 3.0


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
class Search:
    """The choices of one joint fit, and what each alternative reached.

    ``given`` is the noise if it is known; ``noise_model`` a family or ``"auto"``; ``kinds`` and
    ``n_init`` say where to start. Every start is given ``rounds``, and with ``every_start`` none
    is left early, however many pairs there are. ``guess_sweeps`` is for problems without features:
    there the potentials say nothing of single items, so the first messages come from so many
    sweeps with the guess as potential. All log-likelihoods are Bethe's, of all answers given
    out-of-fold potentials (see `noisypairs.inference.em.Inference`).
    """

    problem: JointProblem
    given: NoiseModel | None
    noise_model: str
    kinds: tuple[str, ...]
    n_init: int
    rounds: int = ROUNDS
    every_start: bool = False
    guess_sweeps: int = 0
    start: str = ""
    n_classes: int = 0
    family: str = ""
    starts: dict[str, float] = field(default_factory=dict)
    noise_models: dict[str, float] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    tried: dict[int, Explanation] = field(default_factory=dict)
    held_out: dict[int, Array] = field(default_factory=dict)

    def fit_noise(self, name: str) -> Fit:
        """Return what fits S: the family of that name, or always the given noise."""
        return family(name).fit if self.given is None else fixed(self.given)

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
            self.tried[more] = self.explain(more)
            if more == first:
                continue
            better = self.better(more, K)
            K, missed = (more, 0) if better else (K, missed + 1)
            if missed == 2:
                break
        self.n_classes = K
        if larger:
            self.start = self.tried[K].start
            return self.tried[K].begun
        self.start, found = self._best_start(K)
        return found

    def _best_start(self, K: int, kinds: tuple[str, ...] | None = None) -> tuple[str, em.Inference]:
        runs = self._run_starts(self.problem, K, kinds)
        name = ranked(self.problem, runs)[0]
        if kinds is None:
            self.starts |= {f"{n}, {K} classes": run.log_likelihood for n, run in runs.items()}
        return name, runs[name]

    def explain(self, K: int, kinds: tuple[str, ...] | None = None) -> Explanation:
        """Return how well K classes explain the answers, with the noise family that suits them."""
        start, begun = self._best_start(K, kinds)
        runs, name = self._families(begun)
        return Explanation(K, start, name, begun, runs, self._score(runs[name], name))

    def _explanation(self, K: int, start: str, run: em.Inference, name: str) -> Explanation:
        """Return what one noise family alone explains."""
        return Explanation(K, start, name, run, {name: run}, self._score(run, name))

    def _score(self, run: em.Inference, name: str) -> float:
        """Return the log-likelihood less Schwarz's ½ log n for each number the noise fits."""
        K = run.beliefs.item.shape[1]
        fitted = 0 if name == "given" else family(name).n_parameters(K)
        return run.log_likelihood - fitted * self._half_log_n

    @property
    def first_family(self) -> str:
        """The noise family of the starts."""
        if self.given is not None:
            return "given"
        return "free" if self.noise_model == "free" else "pairing"

    @property
    def _half_log_n(self) -> float:
        return float(np.log(self.problem.pairs.n_pairs)) / 2

    def better(self, more: int, K: int) -> bool:
        """Return whether ``more`` classes explain the answers better than K, both tried.

        They must gain `WORTH_IT` nats. That is enough, and half as much again, where K classes
        explain the answers well (`PLAIN_EVIDENCE`). Elsewhere a likelihood that agrees with itself
        may gain that by chance: there ``more`` classes must also predict answers on held-out pairs
        better, by more than a standard error, or gain four times as much and predict no worse.
        """
        problem, gain = self.problem, self.tried[more].score - self.tried[K].score
        plain = problem.gain(self.tried[K].begun) > PLAIN_EVIDENCE * problem.pairs.n_items
        if gain <= WORTH_IT or gain > (1.5 * WORTH_IT if plain else clear_gain(problem, 10)):
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
            self.tried[K] = self._explanation(K, self.start, found, self.family)
        if K + 1 not in self.tried:
            kind = self.start.split("-")[0]
            self._try_one_more(K + 1, ("spectral",) if kind == "answers" else (kind,))
        gain = self.tried[K + 1].score - self.tried[K].score
        # A single start and two rates: small gains are no reason to doubt what was asked for.
        return gain if gain > 4 * WORTH_IT and self.better(K + 1, K) else None

    def _run_starts(
        self, problem: JointProblem, K: int, kinds: tuple[str, ...] | None = None
    ) -> dict[str, em.Inference]:
        kinds = kinds or (*self.kinds, *("random",) * bool(self.n_init))
        if K == 2 and (plain := self._run_plain(problem, kinds)) is not None:
            return {"aligned": plain}
        guesses = problem.guesses(kinds, K, self.n_init)
        if not guesses:
            raise ValueError(f"starts={self.kinds!r} gives no start for {K} classes: add 'random'")
        cost = (problem.pairs.n_pairs + problem.pairs.n_items) * (K - 1)
        if cost > MANY_PAIRS and not self.every_start:
            return self._run_leading(problem, guesses)
        each = progress.each("start", guesses.items())
        return {name: self._run(problem, guess, self.rounds) for name, guess in each}

    @progress.stage("start")
    def _run_plain(self, problem: JointProblem, kinds: tuple[str, ...]) -> em.Inference | None:
        """Return the aligned start of two classes where no other is needed, or None.

        That is where it explains the answers plainly and the graph alone leads to the same place.
        """
        if problem.Z is None or self.every_start or not {"aligned", "spectral"} <= set(kinds):
            return None
        run = self._run(problem, problem.guesses(("aligned",), 2, 0)["aligned"], FIRST_ROUNDS)
        if problem.gain(run) < PLAIN_EVIDENCE * problem.pairs.n_items:
            return None
        embedded = problem.guesses(("spectral",), 2, 0)["spectral"]
        other = self._run(problem, embedded, 1, sweeps=FIRST_SWEEPS)
        alike = self._alike(run, other)
        return self._go_on(problem, run, self.rounds - FIRST_ROUNDS) if alike else None

    @progress.stage("start", {"beginning": 1.0, "leading start": 1.0})
    def _run_leading(
        self, problem: JointProblem, guesses: Mapping[str, Array]
    ) -> dict[str, em.Inference]:
        """Run what leads to different places, and only the best of these to the end."""
        begun: dict[str, em.Inference] = {}
        for name, guess in progress.each("beginning", guesses.items()):
            run = self._run(problem, guess, 1, sweeps=FIRST_SWEEPS)
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
        self, problem: JointProblem, guess: Array, rounds: int, sweeps: int = em.SWEEPS
    ) -> em.Inference:
        noise = self.given or starts.guessed_noise(guess, problem.pairs)
        if not self.guess_sweeps:
            return self._rounds(problem, guess, noise, rounds, sweeps=sweeps)
        S, most = noise.same_probability(guess.shape[1]), self.guess_sweeps
        first = propagate(problem.graph, np.log(guess), S, max_iter=most, clamp=problem.clamp)
        how: dict[str, Any] = {"sweeps": sweeps, "messages": first.messages}
        return self._rounds(problem, first.item, noise, rounds, **how)

    def run_start(self, problem: JointProblem, name: str, K: int) -> em.Inference:
        """Run the one start of this name, as `starts` calls it, on a problem."""
        guess = problem.guesses((name.split("-")[0],), K, self.n_init)[name]
        return self._run(problem, guess, self.rounds)

    def _go_on(self, problem: JointProblem, run: em.Inference, rounds: int) -> em.Inference:
        if run.converged:
            return run
        return self._rounds(problem, run.beliefs.item, run.noise, rounds, **_going_on(run))

    def _rounds(
        self, problem: JointProblem, beliefs: Array, noise: NoiseModel, rounds: int, **how: Any
    ) -> em.Inference:
        first = self.fit_noise(self.first_family)
        e_step = em.GraphEStep(problem.graph, clamp=problem.clamp, **how)
        start = problem.fast_potential, beliefs, noise, first
        return em.infer(e_step, *start, max_iter=rounds)

    def _try_one_more(self, more: int, kinds: tuple[str, ...]) -> None:
        """Keep what ``more`` classes explain: after a few rounds, and to the end if that is better.

        Where one class more is needed, the first rounds gain by far.
        """
        guesses = self.problem.guesses(kinds, more, self.n_init)
        few = {"rounds": FIRST_ROUNDS, "sweeps": FIRST_SWEEPS}
        runs = {name: self._run(self.problem, one, **few) for name, one in guesses.items()}
        start = ranked(self.problem, runs)[0]
        found = self._explanation(more, start, runs[start], self.first_family)
        if found.score > self.tried[more - 1].score:
            run = self._go_on(self.problem, runs[start], self.rounds - FIRST_ROUNDS)
            found = self._explanation(more, start, run, self.first_family)
        self.tried[more] = found

    def require_evidence(self, found: em.Inference) -> None:
        """Raise `NotIdentifiable` where the answers are explained no better than shuffled ones.

        Two signs, each held against what shuffled answers show. In the features: the direction
        along which the answers agree most (`Alignment`), which sees the weakest signal. In the
        graph: how much better than blindly the best start explains the answers; even random ones
        are explained a little.
        """
        problem = self.problem
        gain = problem.gain(found)
        if gain > clear_gain(problem, 10):
            return
        aligned = -np.inf
        if problem.alignment is not None:
            aligned = problem.alignment.excess(problem.random_state)
        if aligned > CLEARLY_SEEN:
            return
        by_chance = []
        for _ in progress.each("shuffled answers", range(N_SHUFFLES)):
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
        K = found.beliefs.item.shape[1]
        if K in self.tried:
            runs, self.family = self.tried[K].families, self.tried[K].family
        else:
            runs, self.family = self._families(found)
        self.noise_models = {name: run.log_likelihood for name, run in runs.items()}
        best = runs[self.family]
        self.history += [{"stage": "start", **row} for row in best.history]
        return best

    def _families(self, found: em.Inference) -> tuple[dict[str, em.Inference], str]:
        """Return the run of every noise family from one start, and the family to keep."""
        names = list(families(auto=True)) if self.noise_model == "auto" else [self.noise_model]
        if self.given is not None:
            names = ["given"]
        kept, K = names[0], found.beliefs.item.shape[1]
        behind = (self._score(found, self.first_family) < o.score for o in self.tried.values())
        doubt = K > MANY_CLASSES or any(behind)
        runs: dict[str, em.Inference] = {}
        for name in progress.each("noise family", names):
            if runs and doubt and not self._promising(name, kept, runs[kept], K):
                continue
            runs[name] = self.go_on_with(self.problem, name, found)
            gain = runs[name].log_likelihood - runs[kept].log_likelihood
            if name != kept and gain > self._worth(name, kept, K):
                kept = name
        return runs, kept

    def _promising(self, name: str, kept: str, run: em.Inference, K: int) -> bool:
        """Return whether a family might gain enough on a run, by one M-step of it."""
        S = run.noise.same_probability(K)
        same, different = (part[0] for part in expected_counts(self.problem.graph, run.beliefs, S))
        wanted = self.fit_noise(name)(same, different).same_probability(K)
        gain = (same * np.log(wanted / S)).sum() + (different * np.log1p(-wanted)).sum()
        gain -= (different * np.log1p(-S)).sum()
        return bool(ONE_STEP * gain > self._worth(name, kept, K))

    def go_on_with(self, problem: JointProblem, name: str, found: em.Inference) -> em.Inference:
        """Return where the noise family of this name leads from a start."""
        e_step = em.GraphEStep(problem.graph, clamp=problem.clamp, **_going_on(found))
        start = problem.fast_potential, found.beliefs.item, found.noise
        return em.infer(e_step, *start, self.fit_noise(name), max_iter=30)

    def _worth(self, name: str, last: str, K: int) -> float:
        """Return the nats that a family must gain on the last one kept: Schwarz's ½ log n each."""
        more = family(name).n_parameters(K) - family(last).n_parameters(K)
        return max(WORTH_IT, more * self._half_log_n)


def _going_on(run: em.Inference) -> dict[str, Any]:
    """Return how the E-step goes on; messages are kept, so of many classes few sweeps will do."""
    few = run.beliefs.item.shape[1] > MANY_CLASSES
    return {"messages": run.beliefs.messages, "sweeps": FIRST_SWEEPS if few else em.SWEEPS}


def clear_gain(problem: JointProblem, times: float) -> float:
    """Return the gain in nats that chance hardly reaches, at least so many times `WORTH_IT`."""
    return max(CLEAR_GAIN * problem.pairs.n_items, times * WORTH_IT)


def ranked(problem: JointProblem, runs: Mapping[str, em.Inference]) -> list[str]:
    """Return the names of the runs by falling likelihood, last those it cannot be believed of.

    Where evidence is weak, runs that trust the graph too much agree with themselves and have the
    highest likelihood; but their features alone do not predict the answers. A run comes last
    if its features predict less than half as well as those of another, beyond `WORTH_IT`.
    """
    predicted = {name: problem.predicted_gain(run.potential) for name, run in runs.items()}
    least = (max(predicted.values()) - WORTH_IT) / 2
    return sorted(runs, key=lambda n: (predicted[n] < least, -runs[n].log_likelihood))
