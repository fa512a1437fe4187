"""How many classes the answers show, told by answers on held-out pairs.

The likelihood of all answers rises by chance where evidence is weak, and where annotators treat
classes differently one class more can stand in for a richer noise. Answers that were not used
cannot be explained in that way: pairs are put in folds, all answers on one pair in the same fold,
the classes are inferred without one fold after the other, and P("same") = b_iᵀ S b_j is held
against the answers of the fold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array, pair_posterior
from noisypairs.estimation import dyadic_mean

if TYPE_CHECKING:
    from noisypairs.estimators.joint.problem import JointProblem
    from noisypairs.estimators.joint.search.selection import Explanation, Search

#: Numbers of classes to choose from where nothing is said.
AUTOMATIC = (2, 3, 4, 5, 6)
#: Folds of the pairs.
N_FOLDS = 4
#: Level of an interval that reaches one standard error to each side.
ONE_ERROR = 0.6826894921370859


def held_out_gain(search: Search, more: Explanation, fewer: Explanation) -> tuple[float, float]:
    """Return by how many nats ``more`` classes predict held-out answers better, and its s.e."""
    pairs = search.problem.pairs
    gain = _held_out(search, more) - _held_out(search, fewer)
    mean, _, above = dyadic_mean(pairs, gain, ONE_ERROR)
    return mean * pairs.n_pairs, (above - mean) * pairs.n_pairs


def _held_out(search: Search, tried: Explanation) -> Array:
    """Return log P(answer) of every answer, learnt without the answers on its pair's fold."""
    problem = search.problem
    if tried.n_classes not in search.held_out:
        fold = _folds(problem)
        log_chance = np.empty(problem.pairs.n_pairs)
        for k in range(N_FOLDS):
            log_chance[fold == k] = _predicted(search, tried, fold, k)
        search.held_out[tried.n_classes] = log_chance
    return search.held_out[tried.n_classes]


def _folds(problem: JointProblem) -> NDArray[np.intp]:
    edge = problem.graph.edge_of_answer
    edge = edge[edge >= 0]  # self pairs are in the graph's answers, not in the problem's pairs
    order = np.random.default_rng(problem.seed).permutation(problem.graph.n_edges)
    fold: NDArray[np.intp] = order[edge] % N_FOLDS
    return fold


def _predicted(search: Search, tried: Explanation, fold: NDArray[np.intp], k: int) -> Array:
    """Return log P(answer) of the answers in one fold, shape (n_in_fold,)."""
    pairs, K = search.problem.pairs, tried.n_classes
    rest = search.problem.with_pairs(pairs.select(fold != k))
    found = search.run_start(rest, tried.start, K)
    if tried.family != search.first_family:
        found = search.go_on_with(rest, tried.family, found)
    out = pairs.select(fold == k)
    beliefs = found.beliefs.item
    chance = pair_posterior(found.noise.same_probability(K), beliefs[out.left], beliefs[out.right])
    log_chance: Array = np.log(np.clip(np.where(out.same, chance, 1.0 - chance), 1e-12, None))
    return log_chance
