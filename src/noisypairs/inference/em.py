"""Expectation maximisation over the pair graph: classes, noise and features in one loop.

    E-step   belief propagation with potentials P(class | x) and factors S gives the item beliefs
             and, for each answer, the classes behind it;
    M-step   the potentials are learnt anew from the beliefs, S from the classes behind the answers.

What learns the potentials is a function (beliefs → potentials), so the same loop serves any
estimator, a fast closed form, and no features at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from noisypairs.algebra import Array
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.propagation import (
    Beliefs,
    bethe_log_likelihood,
    expected_counts,
    propagate,
)
from noisypairs.inference.two_classes import Floats
from noisypairs.noise import Fit, NoiseModel
from noisypairs.noise.shrinkage import group_matrices

#: From item beliefs, shape (n_items, K), to potentials P(class | x) of the same shape.
Potential = Callable[[Array], Array]

#: Sweeps of belief propagation in one round, at most.
SWEEPS = 25
#: No potential is more certain than this: a classifier alone never silences all answers.
CERTAIN = 1e-3


@dataclass(frozen=True)
class Inference:
    """Where the loop stopped.

    ``matrices`` is S, shape (K, K), or (R, K, K) with one matrix per annotator; ``noise`` the noise
    model of the crowd; ``potential`` the last P(class | x); ``log_likelihood`` the Bethe
    log-likelihood of all answers given these potentials, which were learnt out of fold: it can be
    compared across starts, estimators, noise models and numbers of classes. (Foretelling each
    answer from its neighbours cannot: a sparse graph read with too much trust agrees with itself.)
    ``history`` has one row per round.
    """

    beliefs: Beliefs
    potential: Array
    matrices: Array
    noise: NoiseModel
    log_likelihood: float
    converged: bool
    history: list[dict[str, float]] = field(repr=False)

    @property
    def item_proba(self) -> Array:
        """P(class | everything) of the items, shape (n_items, K)."""
        return self.beliefs.item


def infer(
    graph: PairGraph,
    potential: Potential,
    item_proba: Array,
    noise: NoiseModel,
    fit_noise: Fit,
    *,
    clamp: Mapping[int, int] | None = None,
    max_iter: int = 50,
    tol: float = 1e-3,
    sweeps: int = SWEEPS,
    or_best: bool = False,
    matrices: Array | None = None,
    messages: Floats | None = None,
) -> Inference:
    """Run the loop from a guess of the item beliefs and of the noise until both stand still.

    Stops when no entry of S moves by ``tol`` and the beliefs move by less than ``tol`` on average.
    A round makes at most ``sweeps`` sweeps of belief propagation. With several groups in ``graph``
    each gets its own matrix, shrunk towards the crowd's.

    Where nothing stands still, ``or_best`` returns not the last round but the one that explains the
    answers best: a flexible classifier can follow beliefs that are mostly noise, round after round,
    and the likelihood, which is out of fold, tells.
    """
    K = item_proba.shape[1]
    S = noise.same_probability(K) if matrices is None else matrices
    history: list[dict[str, float]] = []
    best: Inference | None = None
    converged = False
    while not converged and len(history) < max_iter:
        phi = np.clip(potential(item_proba), CERTAIN, None)
        phi /= phi.sum(axis=1, keepdims=True)
        if messages is None and not np.ptp(phi, axis=0).any():
            # All items look alike: only messages can carry the guess into the first round.
            guess = np.log(np.clip(item_proba, CERTAIN, None))
            messages = propagate(graph, guess, S, max_iter=1, clamp=clamp).messages
        beliefs = propagate(
            graph, np.log(phi), S, messages, damping=0.1, tol=1e-3, max_iter=sweeps, clamp=clamp
        )
        messages = beliefs.messages
        new_noise, new_S = _fit(graph, beliefs, S, fit_noise)
        moved = float(np.abs(new_S - S).max()), float(np.abs(beliefs.item - item_proba).mean())
        S, noise, item_proba = new_S, new_noise, beliefs.item
        history.append({"noise_change": moved[0], "belief_change": moved[1]})
        converged = max(moved) < tol
        if or_best or converged or len(history) == max_iter:
            value = bethe_log_likelihood(graph, beliefs, S)
            if converged or best is None or value > best.log_likelihood:
                best = Inference(beliefs, phi, S, noise, value, converged, history)
    assert best is not None  # the last round is always judged
    return best


def class_shares(beliefs: Array) -> Array:
    """Potential for items without features: every item has the mean belief of all.

    >>> class_shares(np.array([[1.0, 0.0], [0.5, 0.5]]))
    array([[0.75, 0.25],
           [0.75, 0.25]])
    """
    return np.broadcast_to(beliefs.mean(axis=0), beliefs.shape).copy()


def _fit(graph: PairGraph, beliefs: Beliefs, S: Array, fit_noise: Fit) -> tuple[NoiseModel, Array]:
    same, different = expected_counts(graph, beliefs, S)
    noise = fit_noise(same.sum(axis=0), different.sum(axis=0))
    crowd = noise.same_probability(beliefs.item.shape[1])
    if graph.n_groups == 1:
        return noise, crowd
    return noise, group_matrices(same, different, crowd)
