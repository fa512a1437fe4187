"""How sure the joint learner may be: intervals by redrawing items and answers.

A replicate draws classes of the items from their beliefs and answers from the fitted noise, on the
same pairs, and runs the loop again from the beliefs found. The spread of the replicates is the
standard error, their mean minus the truth they were drawn from the bias, which is taken off and
counted as a standard error besides: intervals always hold the estimate.
Resampling items of the *given* answers instead would count the error of every answer three times
on a sparse graph. For prior and accuracy the items themselves are resampled as well, so that those
intervals speak about the population of items.
Where answers to one pair correlate by ρ (`repeats`), they are drawn with that correlation, from
beliefs and noise that were inferred with the effective number of answers: the replicates then show
by how much the fit understates the rates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from noisypairs.algebra import Array, mean_rates
from noisypairs.estimation import Interval
from noisypairs.estimators.joint.answers.repeats import discounted, infer_again
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.inference import progress
from noisypairs.inference.graph import PairGraph
from noisypairs.noise import Fit, NoiseModel
from noisypairs.pairs import Pairs


def joint_intervals(
    problem: JointProblem,
    item_proba: Array,
    oof_proba: Array,
    noise: NoiseModel,
    fit_noise: Fit,
    level: float,
    n_bootstrap: int,
    rho: float = 0.0,
    class_of: NDArray[np.intp] | None = None,
) -> dict[str, Interval]:
    """Return intervals for both mean flip rates, the prior of class 1 and the clean accuracy.

    The accuracy is that of out-of-fold predictions from features alone, as judged by the item
    beliefs: the mean belief in the predicted class. ``prior`` is the share of the last class.
    ``rho`` is the correlation of the answers to one pair, ``class_of`` (Q,) the class of every
    kind where beliefs are about kinds: share and accuracy are then those of classes.
    """
    classes = np.arange(item_proba.shape[1]) if class_of is None else class_of
    one_class = np.eye(int(classes.max()) + 1)[classes]  # (Q, K)
    rng = np.random.default_rng(problem.seed)
    predicted = (oof_proba @ one_class).argmax(axis=1)
    items = np.flatnonzero(problem.sampled)
    found = _summary(item_proba[items], predicted[items], noise, one_class)
    if rho > 0:
        fewer = discounted(problem.graph, rho)
        again = infer_again(problem, fewer, item_proba, noise, fit_noise)
        item_proba, noise = again.beliefs.item, again.noise
    replicates, truths = [], []
    for _ in progress.each("redrawn answers", range(n_bootstrap)):
        drawn = draw_classes(item_proba, rng)
        graph = PairGraph.from_pairs(redrawn(problem, drawn, noise, rng, rho))
        run = infer_again(problem, graph, item_proba, noise, fit_noise)
        chosen = rng.choice(items, len(items))
        again_found = run.beliefs.item[chosen], predicted[chosen], run.noise
        replicates.append(_summary(*again_found, one_class))
        truth = np.eye(item_proba.shape[1])[drawn[items]]
        truths.append(_summary(truth, predicted[items], noise, one_class))
    spread = np.std(replicates, axis=0, ddof=1)
    bias = np.mean(replicates, axis=0) - np.mean(truths, axis=0)
    # The bias is known only at the noise found, not at the true one, so it counts as spread too.
    half = float(stats.norm.ppf(0.5 + level / 2)) * np.hypot(spread, bias)
    # Taken off the accuracy, it would claim more than the beliefs do: there it only widens.
    bias[-1] = 0.0
    names = ("similar_flip", "dissimilar_flip", "prior", "accuracy")
    return {
        name: Interval(
            float(value), max(float(value - b - h), 0.0), min(float(value - b + h), 1.0), level
        )
        for name, value, b, h in zip(names, found, bias, half, strict=True)
    }


def _summary(beliefs: Array, predicted: Array, noise: NoiseModel, one_class: Array) -> Array:
    """Return (ρ_S, ρ_D, prior of the last class, accuracy of the predictions)."""
    pi = beliefs.mean(axis=0)
    rates = mean_rates(noise.same_probability(len(pi)), pi)
    classes = beliefs @ one_class
    accuracy = classes[np.arange(len(classes)), predicted].mean()
    return np.array([*rates, classes.mean(axis=0)[-1], accuracy])


def draw_classes(item_proba: Array, rng: np.random.Generator) -> Array:
    """Draw a class of each item from its beliefs (n_items, K), shape (n_items,)."""
    below = np.cumsum(item_proba, axis=1)[:, :-1]
    classes: Array = (rng.random((len(item_proba), 1)) > below).sum(axis=1)
    return classes


def redrawn(
    problem: JointProblem,
    classes: Array,
    noise: NoiseModel,
    rng: np.random.Generator,
    rho: float,
) -> Pairs:
    """Draw answers to the same pairs, those to one pair correlated by ``rho``.

    Each is with chance √ρ the one drawn for the pair, so that two of them are it with chance ρ.
    """
    pairs = problem.pairs
    n_classes = max(2, int(classes.max()) + 1)
    K = max(n_classes, problem.n_classes[0])
    answers = noise.corrupt(classes, pairs.left, pairs.right, K, rng)
    if rho > 0:
        _, first, pair = np.unique(pairs.pair_keys, return_index=True, return_inverse=True)
        shared = noise.corrupt(classes, pairs.left[first], pairs.right[first], K, rng)[pair]
        answers = np.where(rng.random(pairs.n_pairs) < np.sqrt(rho), shared, answers)
    drawn = Pairs(pairs.left, pairs.right, answers, n_items=pairs.n_items)
    return drawn if pairs.weight is None else drawn.reweighted(pairs.weight)
