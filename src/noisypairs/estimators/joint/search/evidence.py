"""Whether answers say anything about classes: gains held against what chance reaches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable

import numpy as np

from noisypairs.errors import NotIdentifiable, NotIdentifiableWarning
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.estimators.joint.search.families import WORTH_IT
from noisypairs.inference import em, progress

#: Nats per item above which a gain over blind guessing cannot be chance (random answers: .03).
CLEAR_GAIN = 0.06
#: How many shuffles of the answers show what chance can do with the graph.
N_SHUFFLES = 4
#: Standard deviations beyond chance: for features (20 permutations), for the graph (4 shuffles),
#: and where neither leaves a doubt.
SEEN_IN_FEATURES, SEEN_IN_GRAPH, CLEARLY_SEEN = 2.5, 3.0, 6.0
#: Nats per item over blind guessing from which a likelihood does not agree with itself by chance.
PLAIN_EVIDENCE = 0.3


def is_plain(problem: JointProblem, run: em.Inference) -> bool:
    """Return whether a run explains the answers so well that chance plays no part."""
    return problem.gain(run) > PLAIN_EVIDENCE * problem.pairs.n_items


def clear_gain(problem: JointProblem, times: float) -> float:
    """Return the gain in nats that chance hardly reaches, at least so many times `WORTH_IT`."""
    return max(CLEAR_GAIN * problem.pairs.n_items, times * WORTH_IT)


def require_evidence(
    problem: JointProblem,
    found: em.Inference,
    run_starts: Callable[[JointProblem], Iterable[em.Inference]],
) -> None:
    """Raise `NotIdentifiable` where the answers are explained no better than shuffled ones.

    Two signs, each held against what shuffled answers show. In the features: the direction along
    which the answers agree most (`Alignment`), which sees the weakest signal. In the graph: how
    much better than blindly the best start explains the answers; even random ones are explained a
    little. ``run_starts`` runs all starts on a problem.
    """
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
        by_chance.append(max(shuffled.gain(run) for run in run_starts(shuffled)))
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
            f"{facts}: expect little. Collect more pairs", NotIdentifiableWarning, stacklevel=4
        )
