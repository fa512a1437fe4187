"""How sure the joint learner may be: intervals by redrawing classes and answers.

A replicate draws classes of the items from their beliefs and answers from the fitted answer model,
on the same pairs, and runs EM again from the beliefs found. The spread of the replicates is the
standard error; their mean minus the truth they were drawn from is the bias, which is taken off and
counted as a standard error besides. Resampling items of the *given* answers instead would count the
error of every answer three times on a sparse graph. For prior and accuracy the item groups
themselves are resampled as well, so that those intervals speak about the population of items.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from noisypairs.algebra import Array, mean_rates
from noisypairs.estimation import Interval
from noisypairs.graph import progress
from noisypairs.joint.em import Fit, GraphEStep, run_em
from noisypairs.joint.problem import Problem
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Pairs
from noisypairs.pairs.levels import Scale
from noisypairs.pairs.pairs import keys_of

#: Level of every interval.
LEVEL = 0.9
#: Rounds of EM from a fit on other answers or labels, and how often answers are drawn again.
REFIT_ROUNDS, N_REDRAWN = 15, 40


def joint_intervals(
    problem: Problem,
    fit: Fit,
    level: float,
    n_bootstrap: int = N_REDRAWN,
    class_of: NDArray[np.intp] | None = None,
) -> dict[str, Interval]:
    """Return intervals of what a fit states; `fit`, `plan` and `ask` all state these.

    - ``similar_flip``, ``dissimilar_flip``: mean rates; ``prior``: the share of the last class.
    - ``accuracy``: the share of new items in the right class: the mean belief in the class that
      features alone predict out of fold.
    - ``items``: the share of the items at hand in the right class, by answers and features: the
      mean of the highest beliefs, less what replicates claim too much.

    - of answers with levels also `thresholds`, by `threshold_names`.

    ``class_of`` (Q,) is the class of every kind where beliefs are about kinds: all but the rates
    are then those of classes.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level={level!r}: expected a share such as 0.9")
    K = fit.n_classes
    classes = np.arange(K) if class_of is None else class_of
    one_class = np.eye(int(classes.max()) + 1)[classes]  # (Q, K)
    rng = np.random.default_rng(problem.seed)
    predicted = (fit.phi @ one_class).argmax(axis=1)
    items = np.flatnonzero(problem.sampled)
    noise = fit.answers.crowd_noise()
    found = _summary(fit.item_proba[items], predicted[items], noise, one_class)
    groups, code = np.unique(problem.groups[items], return_inverse=True)
    replicates, truths, errors = [], [], []
    for _ in progress.each("redrawn answers", range(n_bootstrap)):
        drawn = draw_classes(fit.item_proba, rng)
        again = infer_again(problem, fit, redrawn(problem, drawn, noise, fit, rng))
        times = np.bincount(rng.integers(groups.size, size=groups.size), minlength=groups.size)
        chosen = np.repeat(items, times[code])  # whole groups, with replacement
        summary = again.item_proba[chosen], predicted[chosen], again.answers.crowd_noise()
        replicates.append(_summary(*summary, one_class))
        truths.append(_summary(np.eye(K)[drawn[items]], predicted[items], noise, one_class))
        beliefs = again.item_proba @ one_class
        right = beliefs.argmax(axis=1) == classes[drawn]
        errors.append(float(beliefs.max(axis=1).mean() - right.mean()))
    wide = float(stats.norm.ppf(0.5 + level / 2))
    bias = np.mean(replicates, axis=0) - np.mean(truths, axis=0)
    # The bias is known only at the noise found, not at the true one, so it counts as spread too.
    half = wide * np.hypot(np.std(replicates, axis=0, ddof=1), bias)
    # Taken off the accuracy, it would claim more than the beliefs do: there it only widens.
    bias[3] = 0.0
    names = ("similar_flip", "dissimilar_flip", "prior", "accuracy", *threshold_names(noise.scale))
    limits = {
        name: _interval(value, value - b, h, level)
        for name, value, b, h in zip(names, found, bias, half, strict=True)
    }
    claimed = float((fit.item_proba @ one_class).max(axis=1).mean())
    centre = claimed - max(float(np.mean(errors)), 0.0)
    limits["items"] = _interval(centre, centre, wide * float(np.std(errors, ddof=1)), level)
    return limits


def _interval(estimate: float, centre: float, half: float, level: float) -> Interval:
    low, high = max(float(centre - half), 0.0), min(float(centre + half), 1.0)
    return Interval(float(estimate), low, high, level)


def _summary(beliefs: Array, predicted: Array, noise: NoiseModel, one_class: Array) -> Array:
    """Return (ρ_S, ρ_D, share of the last class, accuracy of the predictions) and `thresholds`."""
    shares = np.maximum(beliefs.mean(axis=0), 1e-9)  # a redraw may lose a small class
    rates = mean_rates(noise.same_probability(len(shares)), shares / shares.sum())
    classes = beliefs @ one_class
    accuracy = classes[np.arange(len(classes)), predicted].mean()
    of_levels = thresholds(noise, shares / shares.sum())
    return np.array([*rates, classes.mean(axis=0)[-1], accuracy, *of_levels])


def threshold_names(scale: Scale) -> list[str]:
    """Return what `thresholds` are called.

    >>> threshold_names(Scale(("no", "partly", "yes"), same_from=2))[:2]
    ['partly or more, same', 'partly or more, different']
    """
    if scale.is_plain:
        return []
    names = [f"{name} or more" for name in scale.names[1:]]
    if scale.unsure is not None:
        names.append(scale.unsure)
    return [f"{name}, {kind}" for name in names for kind in ("same", "different")]


def thresholds(noise: NoiseModel, shares: Array) -> Array:
    """Return how often pairs of one class, and of two, are given each level or a higher one.

    Among answers that are not unsure; how often these are comes last. Pairs are drawn at random
    from classes with these ``shares``, (K,). Nothing of yes and no.
    """
    if noise.scale.is_plain:
        return np.empty(0)
    response, m = noise.response(len(shares)), noise.scale.n_ordered
    both = np.outer(shares, shares)
    found = []
    for kind in (np.eye(len(shares)), 1.0 - np.eye(len(shares))):
        levels = np.einsum("lyz,yz->l", response, both * kind) / (both * kind).sum()
        above = np.cumsum(levels[:m][::-1])[::-1][1:] / levels[:m].sum()
        found.append(np.append(above, levels[m:]))
    return np.stack(found, axis=1).ravel()


def infer_again(problem: Problem, fit: Fit, pairs: Pairs | None = None) -> Fit:
    """Run EM with the class model of the search from a fit, on other answers to the same pairs."""
    other = problem if pairs is None else problem.with_pairs(pairs)
    model = problem.class_model(fit.spec.class_model)
    e_step = GraphEStep(other.graph, problem.clamp)
    return run_em(
        fit.spec, fit.start, e_step, model, fit.answers, fit.item_proba, rounds=REFIT_ROUNDS
    )


def draw_classes(item_proba: Array, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw a class of each item from its beliefs (n_items, K), shape (n_items,)."""
    below = np.cumsum(item_proba, axis=1)[:, :-1]
    classes: NDArray[np.intp] = (rng.random((len(item_proba), 1)) > below).sum(axis=1)
    return classes


def redrawn(
    problem: Problem,
    classes: NDArray[np.intp],
    noise: NoiseModel,
    fit: Fit,
    rng: np.random.Generator,
) -> Pairs:
    """Draw answers to the same pairs; those to one pair correlate as the fit found.

    With correlation ρ each is with chance √ρ the one drawn for the pair, so that two of them are it
    with chance ρ.
    """
    pairs, K = problem.pairs, fit.n_classes
    if not pairs.scale.is_plain:
        return _redrawn_levels(problem, classes, fit, rng)
    people = fit.answers.part("people")
    if people is None:
        answers = noise.corrupt(classes, pairs.left, pairs.right, K, rng)
    else:
        S = fit.answers.without("clarity").matrices()
        ends = classes[pairs.left], classes[pairs.right]
        answers = rng.random(pairs.n_pairs) < S[np.asarray(pairs.annotator), *ends]
    part = fit.answers.part("pair error")
    if part is not None:
        _, first, pair = np.unique(keys_of(pairs), return_index=True, return_inverse=True)
        shared = noise.corrupt(classes, pairs.left[first], pairs.right[first], K, rng)[pair]
        answers = np.where(rng.random(pairs.n_pairs) < np.sqrt(part.rho), shared, answers)
    return pairs._replace(same=answers)


def _redrawn_levels(
    problem: Problem, classes: NDArray[np.intp], fit: Fit, rng: np.random.Generator
) -> Pairs:
    """Draw levels as everybody answers; those to one pair share a draw as far as they correlate."""
    pairs = problem.pairs
    responses = fit.answers.without("clarity").responses()
    who = np.zeros(pairs.n_pairs, dtype=np.intp)
    if len(responses) > 1:
        who = np.asarray(pairs.annotator)
    chance = responses[who, :, classes[pairs.left], classes[pairs.right]]
    draw, part = rng.random(pairs.n_pairs), fit.answers.part("pair error")
    if part is not None:
        pair = np.unique(keys_of(pairs), return_inverse=True)[1]
        shared = rng.random(pair.max(initial=0) + 1)[pair]
        draw = np.where(rng.random(pairs.n_pairs) < np.sqrt(part.rho), shared, draw)
    level = (draw[:, None] > np.cumsum(chance, axis=1)[:, :-1]).sum(axis=1).astype(np.int8)
    return pairs._replace(level=level, same=pairs.scale.same_levels[level])
