"""Whether answers follow looks: a sign that is cheap to see, before held-out answers decide."""

from __future__ import annotations

import numpy as np

from noisypairs.algebra import Array
from noisypairs.estimators.joint.answers.model import AnswerModel, Similarity
from noisypairs.estimators.joint.answers.states import folded
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.inference import em
from noisypairs.inference.posteriors import cavities
from noisypairs.pairs import Pairs

#: Standard errors beyond chance from which similarity is tried. Where answers are few,
#: P(class | x) is not quite right, and what it misses may look like 3 of them.
SIGN_OF_LOOKS = 4.0
#: Whether answers follow looks is seen on so many of them.
ENOUGH_ANSWERS = 50_000


def follow_looks(problem: JointProblem, found: em.Inference) -> bool:
    """Return whether answers show a sign of following how alike items look."""
    return abs(score_of_likeness(problem, found)) > SIGN_OF_LOOKS


def score_of_likeness(problem: JointProblem, found: em.Inference) -> float:
    """Return by how many standard errors answers follow likeness beyond what classes explain.

    An answer is held against what all answers on other pairs predict: beliefs that have heard it
    agree with it. Both rates may be off, and P(class | x) too flat, which likeness would make up
    for: they are nuisance. Zero where features are not numbers.
    """
    rows = _some(problem)
    pairs, edge = problem.pairs.select(rows), problem.graph.edge_of_answer
    similarity = Similarity.of_pairs(problem.X, pairs)
    if similarity is None:
        return 0.0
    ends = cavities(problem.graph, found.beliefs, edge[edge >= 0][rows])
    n_states, K = found.beliefs.item.shape[1], folded(found).beliefs.item.shape[1]
    chance = AnswerModel.of(found, pairs.annotator_names, K).chance(
        np.concatenate(ends), _of_own_items(pairs)
    )
    seen = found.potential[pairs.left], found.potential[pairs.right]
    alike = found.noise.same_class(n_states).astype(float)
    one_class, looks_so = (((left @ alike) * right).sum(axis=1) for left, right in (ends, seen))
    nuisance = np.column_stack([one_class, 1.0 - one_class, looks_so])
    likeness = similarity.likeness(problem.X, pairs.left, pairs.right)
    return efficient_score(pairs.same - chance, chance, likeness, nuisance)


def _some(problem: JointProblem) -> Array:
    """Return the positions of enough answers, drawn at random, or of all."""
    order = np.random.default_rng(problem.seed).permutation(problem.pairs.n_pairs)
    return np.asarray(np.sort(order[:ENOUGH_ANSWERS]))


def _of_own_items(pairs: Pairs) -> Pairs:
    """Return the answers as if each were about two items of its own: first all left ones."""
    left, who, names = np.arange(pairs.n_pairs), pairs.annotator, pairs.annotator_names
    named = None if who is None or names is None else names[who]
    right = left + pairs.n_pairs
    return Pairs(left, right, pairs.same, n_items=2 * pairs.n_pairs, annotator=named)


def efficient_score(residual: Array, chance: Array, slope: Array, nuisance: Array) -> float:
    """Return the score of a slope in the log-odds of answers, in standard errors.

    Answers have P("same") = p, ``chance`` (n,), and residuals r (n,); ``slope`` is l (n,). The
    ``nuisance`` D (n, m) holds derivatives of p by other numbers, which may be off as well. With
    v = p (1 − p), and b such that l' = l − D b / v has the smallest Σ v l'²,

        z = Σ r l' / √(Σ v l'²).

    >>> rng = np.random.default_rng(0)
    >>> x, other = rng.standard_normal((2, 2000))
    >>> residual = (rng.random(2000) < np.clip(0.5 + 0.2 * x, 0.05, 0.95)) - 0.5
    >>> p, nuisances = np.full(2000, 0.5), (np.ones((2000, 1)), x[:, None])
    >>> [bool(abs(efficient_score(residual, p, x + other, D)) > 4) for D in nuisances]
    [True, False]
    """
    root = np.sqrt(chance * (1.0 - chance))
    wanted, known = slope * root, nuisance / root[:, None]
    rest = wanted - known @ np.linalg.lstsq(known, wanted)[0]
    return float(residual / root @ rest) / max(float(np.linalg.norm(rest)), 1e-12)
