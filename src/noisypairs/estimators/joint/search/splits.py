"""The number of classes found step by step: one class is split, or two are merged, while it pays.

Trying every number from its own starts is dear where there are many classes. Here the next number
begins at the beliefs that the last one ended at: the classes in which most answers are "different"
beyond what the noise explains are cut in two, along the answers within them or along the features,
and the cut that explains all answers best is kept if it gains enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from noisypairs.algebra import Array, mean_rates
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.estimators.joint.search.evidence import clear_gain, is_plain
from noisypairs.estimators.joint.search.families import WORTH_IT
from noisypairs.estimators.joint.search.selection import Search
from noisypairs.inference import em
from noisypairs.inference.graph import PairGraph, signed_embedding
from noisypairs.inference.posteriors import expected_counts
from noisypairs.noise import NoiseModel, PairingNoise, fixed

#: Where the number of classes is open, no more than these.
MOST_CLASSES = 100
#: Classes that are tried to be cut, and couples of classes to be merged, before giving up.
N_TRIED = 6
#: Rounds and sweeps after a cut or a merger: beliefs change little elsewhere.
ROUNDS, SWEEPS = 4, 8
#: Items of a class that is cut, at least.
FEWEST_ITEMS = 6
#: How sure the two halves of a class are of being two.
CERTAINTY = 0.8


@dataclass
class Moves:
    """Cuts and mergers of classes under pairing noise, from ``least`` to ``most`` classes."""

    search: Search
    least: int = 2
    most: int = MOST_CLASSES
    learner: em.Potential | None = None

    @property
    def problem(self) -> JointProblem:
        """The problem of the search."""
        return self.search.problem

    def explore(self, run: em.Inference) -> em.Inference:
        """Return what cuts lead to, then mergers, while either explains the answers better."""
        self.learner = run.learnt_by
        return self.merge(self.split(run))

    def split(self, run: em.Inference) -> em.Inference:
        """Cut classes while one class more explains the answers better."""
        while run.beliefs.item.shape[1] < self.most:
            best = self.best_cut(run)
            if best.log_likelihood - run.log_likelihood <= self._enough(run):
                break
            run = best
        return run

    def best_cut(self, run: em.Inference, rounds: int = ROUNDS) -> em.Inference:
        """Return the cut that explains the answers best; the run itself where there is none."""
        noise = two_rates(run.noise, run.beliefs.item)
        halves = (self.rounds(guess, noise, rounds) for guess in self._cuts(run))
        return max(halves, key=lambda one: one.log_likelihood, default=run)

    def merge(self, run: em.Inference) -> em.Inference:
        """Merge classes while one class less explains the answers as well; drop empty ones."""
        while run.beliefs.item.shape[1] > self.least:
            whole = (self.rounds(guess, run.noise) for guess in self._mergers(run))
            best = max(whole, key=lambda one: one.log_likelihood, default=None)
            if best is None or best.log_likelihood <= run.log_likelihood:
                break
            run = best
        return run

    def rounds(self, beliefs: Array, noise: NoiseModel, rounds: int = ROUNDS) -> em.Inference:
        """Run a few rounds from beliefs, with two rates or with the given noise."""
        fit = PairingNoise.fit if self.search.given is None else fixed(self.search.given)
        e_step = em.GraphEStep(self.problem.graph, clamp=self.problem.clamp, sweeps=SWEEPS)
        potential = self.learner or self.problem.fast_potential
        return em.infer(e_step, potential, beliefs, noise, fit, max_iter=rounds)

    def _enough(self, run: em.Inference) -> float:
        """Return the nats that one class more must gain, as in `Search.better`."""
        return 1.5 * WORTH_IT if is_plain(self.problem, run) else clear_gain(self.problem, 10)

    def _cuts(self, run: em.Inference) -> list[Array]:
        """Return beliefs with one class cut in two, of the classes that are least of one kind."""
        B = run.beliefs.item
        K = B.shape[1]
        S = run.noise.same_probability(K)
        same, different = (
            np.diag(one[0]) for one in expected_counts(self.problem.graph, run.beliefs, S)
        )
        surplus = different - (same + different) * (1.0 - np.diag(S))
        owner = B.argmax(axis=1)
        order = np.argsort(-surplus / np.sqrt(same + different + 1.0), kind="stable")
        large = [c for c in order.tolist() if (owner == c).sum() >= FEWEST_ITEMS]
        found: list[Array] = []
        for c in large[:N_TRIED]:
            mine = np.flatnonzero(owner == c)
            sides = [side for side in self._sides(mine) if 0 < side.sum() < len(mine)]
            found += [_cut(B, mine, side, c) for side in sides]
        return found

    def _sides(self, mine: NDArray[np.intp]) -> list[NDArray[np.bool_]]:
        """Return ways to cut a class: along the answers within it, and along the features."""
        within = PairGraph.from_pairs(self.problem.pairs[mine])
        placed = signed_embedding(within, 1, self.problem.seed)[:, 0]
        found = [placed > 0]
        if self.problem.Z is not None:
            near = KMeans(2, n_init=2, random_state=self.problem.seed)
            found.append(near.fit_predict(self.problem.Z[mine]) == 1)
        return found

    def _mergers(self, run: em.Inference) -> list[Array]:
        """Return beliefs with two classes made one, of those most often called the same."""
        B = run.beliefs.item
        K = B.shape[1]
        S = run.noise.same_probability(K)
        same, different = (one[0] for one in expected_counts(self.problem.graph, run.beliefs, S))
        rate = (same + S) / (same + different + 1.0)
        empty = np.bincount(B.argmax(axis=1), minlength=K) == 0
        rate[empty] = rate[:, empty] = 1.0
        first, second = np.triu_indices(K, 1)  # the second goes: names belong to the first classes
        n_named = 0 if self.problem.names is None else len(self.problem.names)
        free = second >= n_named
        first, second = first[free], second[free]
        order = np.argsort(-rate[first, second], kind="stable")[:N_TRIED]
        likely = order[rate[first[order], second[order]] > S[0, 1]]
        return [_merged(B, first[k], second[k]) for k in likely.tolist()]


def two_rates(noise: NoiseModel, beliefs: Array) -> PairingNoise:
    """Return pairing noise with the mean rates of any noise, for items of such beliefs."""
    if isinstance(noise, PairingNoise):
        return noise
    shares = beliefs.mean(axis=0)
    return PairingNoise(*mean_rates(noise.same_probability(len(shares)), shares))


def _cut(B: Array, mine: NDArray[np.intp], side: NDArray[np.bool_], c: int) -> Array:
    """Return beliefs (n, K + 1) in which one side of the items of class c is a class of its own."""
    new = np.column_stack([B, np.zeros(len(B))])
    share = np.where(side, CERTAINTY, 1.0 - CERTAINTY)
    new[mine, -1] = share * B[mine, c]
    new[mine, c] = (1.0 - share) * B[mine, c]
    return new


def _merged(B: Array, first: int, second: int) -> Array:
    new = np.delete(B, second, axis=1)
    new[:, first] += B[:, second]  # first < second: its column has not moved
    return new
