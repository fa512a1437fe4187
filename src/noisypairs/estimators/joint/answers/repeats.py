"""Answers to one pair that agree more than the estimated noise allows, and by how much.

Given the classes y, y' of a pair, its answers x_a ("same" is 1) should be independent:
E[(x_a − S_yy')(x_b − S_yy')] = 0. The mean of these products over the beliefs, summed over all
pairs of answers, is the score T of a correlation ρ at ρ = 0; over its size if they were equal it
estimates that correlation:

    T_e = Σ_yy' q_e(y, y') Σ_{a<b} (x_a − S)(x_b − S),   D_e = Σ_yy' q_e Σ_{a<b} S(1 − S),
    z = Σ_e T_e / √Σ_e T_e²,   ρ = Σ_e T_e / Σ_e D_e.

m answers to a pair are then worth m/(1 + (m − 1) ρ) independent ones. A fit that takes them for
independent finds rates that are too small. Intervals allow for that: they draw answers with this
correlation, from noise that was inferred with the effective number of answers.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from noisypairs.algebra import Array
from noisypairs.errors import CopiedAnswersWarning
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.inference import em
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.posteriors import edge_posteriors
from noisypairs.inference.propagation import Beliefs
from noisypairs.noise import Fit, NoiseModel
from noisypairs.pairs import Pairs
from noisypairs.pairs.copies import repeats

#: Independent answers exceed this z about once in a thousand times.
CLEAR = 3.1
#: A weaker correlation makes no interval longer by more than a few per cent.
LEAST = 0.03
#: Fewer repeated pairs are not judged.
FEWEST_PAIRS = 20
#: Votes are looked at one by one up to so many.
MOST_VOTES = 2_000_000


def single_answers(pairs: Pairs) -> Pairs:
    """Return votes as one answer each; pairs that do not hold votes as they are.

    Weights are votes where they are whole numbers, nobody is named, and pairs hold both answers far
    more often than one answer twice: votes that agree stand in one row.

    >>> single_answers(Pairs.from_votes([0, 1], [1, 2], [2, 0], [1, 2])).same.tolist()
    [True, True, False, False, False]
    """
    weight = pairs.weight
    if weight is None or pairs.annotator is not None or weight.sum() > MOST_VOTES:
        return pairs
    _, both_ways, _ = repeats(pairs.pair_keys, pairs.same)
    alike = int(np.count_nonzero(pairs.reweighted(None).copies()))
    if not ((weight % 1 == 0).all() and both_ways > 5 * alike):
        return pairs
    return pairs.select(np.repeat(np.arange(pairs.n_pairs), weight.astype(int))).reweighted(None)


def repeat_correlation(graph: PairGraph, found: em.Inference) -> float:
    """Return the correlation of answers to one pair, with a warning; zero where it is not clear.

    ``found`` was inferred on ``graph``, whose groups have a matrix each.
    """
    n_pairs = int(np.count_nonzero(np.diff(graph.answer_start) > 1))
    if n_pairs < FEWEST_PAIRS:
        return 0.0
    products, sizes = repeat_scores(graph, found.beliefs, found.matrices)
    z = float(products.sum() / max(np.sqrt((products**2).sum()), 1e-12))
    if z < CLEAR or sizes.sum() <= 0:
        return 0.0
    rho = min(float(products.sum() / sizes.sum()), 1.0)
    if rho < LEAST:
        return 0.0
    warnings.warn(
        f"answers to the same pair agree more than the estimated noise allows: on {n_pairs:,} "
        f"pairs asked again they correlate by {rho:.2f} (z = {z:.1f}; chance alone stays below "
        f"{CLEAR:g} in 999 of 1,000 cases). Answers were copied, people followed each other, or "
        "some pairs mislead everybody. Estimated rates are too small and probabilities too "
        "certain; intervals allow for it",
        CopiedAnswersWarning,
        stacklevel=4,
    )
    return rho


def discounted(graph: PairGraph, rho: float) -> PairGraph:
    """Return the graph with m answers to a pair counted as m/(1 + (m − 1) ρ), the design effect."""
    times = np.diff(graph.answer_start)
    effect = np.repeat(1.0 + (times - 1) * rho, times)
    return replace(graph, answer_weight=(graph.answer_weight / effect).astype(np.float32))


def infer_again(
    problem: JointProblem,
    graph: PairGraph,
    item_proba: Array,
    noise: NoiseModel,
    fit_noise: Fit,
) -> em.Inference:
    """Run the loop with fast potentials on a graph, from beliefs and noise found before."""
    e_step = em.GraphEStep(graph, clamp=problem.clamp)
    return em.infer(e_step, problem.fast_potential, item_proba, noise, fit_noise, max_iter=15)


def repeat_scores(graph: PairGraph, beliefs: Beliefs, S: Array) -> tuple[Array, Array]:
    """Return T_e and D_e of every edge, shape (n_edges,) each; zero where it has one answer."""
    matrices = S.reshape(-1, *S.shape[-2:])
    products, sizes = np.zeros(graph.n_edges), np.zeros(graph.n_edges)
    edges = np.flatnonzero(np.diff(graph.answer_start) > 1)
    again = graph.with_edges(edges)  # the others say nothing, and each would cost K × K numbers
    beliefs = beliefs.on_edges(edges)
    for block, posterior in edge_posteriors(again, beliefs, S):
        start = again.answer_start[block.start : block.stop + 1]
        rows = slice(start[0], start[-1])
        kind, weight = again.answer_kind[rows], again.answer_weight[rows][:, None, None]
        chance = matrices[kind // 2]
        residual = weight * ((kind % 2)[:, None, None] - chance)
        spread = weight * np.sqrt(chance * (1.0 - chance))
        for value, into in ((residual, products), (spread, sizes)):
            total = np.add.reduceat(value, start[:-1] - start[0])
            squares = np.add.reduceat(value**2, start[:-1] - start[0])
            into[edges[block]] = (posterior * (total**2 - squares) / 2).sum(axis=(1, 2))
    return products, sizes
