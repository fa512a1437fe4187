"""Expectation maximisation over the pairs: classes, noise and features in one loop.

    E-step   belief propagation with potentials P(class | x) and factors S gives the item beliefs
             and, for each answer, the classes behind it;
    M-step   the potentials are refitted to the beliefs, S to the classes behind the answers.

What learns the potentials is a function (beliefs → potentials), so the same loop serves any
estimator, a fast closed form, and no features at all. Where the answers are is the business of the
E-step: `GraphEStep` has them in memory, `noisypairs.inference.streaming.StreamEStep` reads them in
batches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from noisypairs.algebra import Array
from noisypairs.inference import progress
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.levels import RowMessages
from noisypairs.inference.messages import Floats
from noisypairs.inference.posteriors import bethe_log_likelihood, expected_counts
from noisypairs.inference.propagation import Beliefs, propagate
from noisypairs.noise import Fit, NoiseModel
from noisypairs.noise.people import People, fit_people

#: From item beliefs, shape (n_items, K), to potentials P(class | x) of the same shape.
Potential = Callable[[Array], Array]

#: Sweeps of belief propagation in one round, at most.
SWEEPS = 25
#: No potential is more certain than this: a classifier alone never outweighs all answers.
CERTAIN = 1e-3
#: So many rounds in a row that explain the answers worse and worse lead away from the best one.
MOST_FALLS = 2
#: Times ``tol``: below it S has settled enough for a round that gains little to be the last.
SETTLED = 2.0


@dataclass(frozen=True)
class Expectation:
    """What an E-step found.

    ``same`` and ``different``, (n_groups, K, K), count the classes behind the answers.
    ``log_likelihood`` gives Bethe's for S after the M-step (the stream: for S before it).
    ``complete`` says whether the E-step has gone far enough for the loop to stop; ``notes`` are
    added to the history.
    """

    beliefs: Beliefs
    same: Array
    different: Array
    log_likelihood: Callable[[Array], float]
    complete: bool = True
    notes: Mapping[str, float] = field(default_factory=dict)


#: From potentials and last beliefs, (n_items, K) each, and S to what is expected under them.
EStep = Callable[[Array, Array, Array], Expectation]


class GraphEStep:
    """The E-step in memory: belief propagation over a graph, from the messages of the last round.

    A round makes at most ``sweeps`` sweeps. ``messages`` are those to start from.
    """

    def __init__(
        self,
        graph: PairGraph,
        *,
        clamp: Mapping[int, int] | None = None,
        sweeps: int = SWEEPS,
        messages: Floats | RowMessages | None = None,
    ) -> None:
        self.graph, self.clamp, self.sweeps, self.messages = graph, clamp, sweeps, messages

    def __call__(self, phi: Array, item_proba: Array, S: Array) -> Expectation:
        """Return beliefs and counts at potentials ``phi``, (n_items, K), under S."""
        messages = self.messages
        if messages is None and not np.ptp(phi, axis=0).any():
            # All items look alike: only messages can carry the guess into the first round.
            guess = np.log(np.clip(item_proba, CERTAIN, None))
            messages = propagate(self.graph, guess, S, max_iter=1, clamp=self.clamp).sent
        beliefs = propagate(
            self.graph, np.log(phi), S, messages, tol=1e-3, max_iter=self.sweeps, clamp=self.clamp
        )
        self.messages = beliefs.sent
        counts = expected_counts(self.graph, beliefs, S)
        return Expectation(beliefs, *counts, partial(bethe_log_likelihood, self.graph, beliefs))


@dataclass(frozen=True)
class Inference:
    """The state of the loop when it stopped.

    ``matrices`` is S, shape (K, K), or (R, K, K) with one matrix per annotator, and ``people`` the
    bias and skill of these; ``noise`` is the noise model of the crowd; ``potential`` the last
    P(class | x), and ``learnt_by`` what made it; ``log_likelihood`` the Bethe log-likelihood of all
    answers given these potentials, which were learnt out of fold: it can be compared across starts,
    estimators, noise models and numbers of classes. (How well each answer is predicted from its
    neighbours cannot: with too certain an S, a sparse graph agrees with itself.) ``history`` has
    one row per round.
    """

    beliefs: Beliefs
    potential: Array
    matrices: Array
    noise: NoiseModel
    log_likelihood: float
    converged: bool
    history: list[dict[str, float]] = field(repr=False)
    people: People | None = None
    learnt_by: Potential | None = field(default=None, repr=False)

    @property
    def item_proba(self) -> Array:
        """P(class | everything) of the items, shape (n_items, K)."""
        return self.beliefs.item


def infer(
    e_step: EStep,
    potential: Potential,
    item_proba: Array,
    noise: NoiseModel,
    fit_noise: Fit,
    *,
    max_iter: int = 50,
    tol: float = 1e-3,
    or_best: bool = False,
    worth: float = -np.inf,
    at_least: float = -np.inf,
    matrices: Array | None = None,
) -> Inference:
    """Run the loop from a guess of the item beliefs and of the noise until both have converged.

    Stops when no entry of S changes by ``tol`` and the beliefs change by less than ``tol`` on
    average. Several groups of answers, such as annotators, get a matrix each, with a bias and a
    skill of their own (`noisypairs.noise.people`); ``matrices`` are those to start from.

    If the loop does not converge, ``or_best`` returns not the last round but the one that explains
    the answers best: a flexible classifier can follow beliefs that are mostly noise, round after
    round, and the likelihood, which is out of fold, shows it. A round that gains less than
    ``worth`` nats while S hardly changes, by `SETTLED` times ``tol``, is the last, too, and so is
    the second in a row that explains the answers worse than the one before it; the first, where it
    explains less than ``at_least``.
    """
    S = noise.same_probability(item_proba.shape[1]) if matrices is None else matrices
    history: list[dict[str, float]] = []
    best: Inference | None = None
    people: People | None = None
    last, falls = -np.inf, 0
    for _ in progress.each("round", range(max_iter)):
        phi = np.clip(potential(item_proba), CERTAIN, None)
        phi /= phi.sum(axis=1, keepdims=True)
        found = e_step(phi, item_proba, S)
        noise, new_S, people = _fit(found, fit_noise, people)
        beliefs = found.beliefs
        change = float(np.abs(new_S - S).max()), float(np.abs(beliefs.item - item_proba).mean())
        S, item_proba = new_S, beliefs.item
        history.append({"noise_change": change[0], "belief_change": change[1], **found.notes})
        converged = found.complete and max(change) < tol
        if or_best or converged or len(history) == max_iter:
            value = found.log_likelihood(S)
            gain = np.inf if best is None else value - best.log_likelihood
            if converged or best is None or gain > 0.0:
                rest = value, converged, history, people, potential
                best = Inference(beliefs, phi, S, noise, *rest)
            last, falls = value, falls + 1 if value < last else 0
            away = falls >= (1 if value < at_least else MOST_FALLS)
            if gain < worth and (away or change[0] < SETTLED * tol):
                converged, best = True, replace(best, converged=True)
        if converged:
            break
    assert best is not None  # the last round is always judged
    return best


def class_shares(beliefs: Array) -> Array:
    """Potential for items without features: every item has the mean belief of all.

    >>> class_shares(np.array([[1.0, 0.0], [0.5, 0.5]]))
    array([[0.75, 0.25],
           [0.75, 0.25]])
    """
    return np.broadcast_to(beliefs.mean(axis=0), beliefs.shape).copy()


def _fit(
    found: Expectation, fit_noise: Fit, people: People | None
) -> tuple[NoiseModel, Array, People | None]:
    """Return the noise of all answers together, S, its matrix or one per group, and the people."""
    noise = fit_noise(found.same.sum(axis=0), found.different.sum(axis=0))
    n_states = found.same.shape[1]
    crowd = noise.same_probability(n_states)
    if len(found.same) == 1:
        return noise, crowd, None
    alike = noise.same_class(n_states)
    people = fit_people(found.same, found.different, crowd, alike, people)
    return noise, people.matrices(crowd, alike), people
