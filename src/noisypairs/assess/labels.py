"""What labels measure: how many labelled items the model gets right that it has not seen.

Labelled items are dealt into folds, groups kept together. The labels of a fold are taken away, EM
goes on without them, the classifier is fitted to the items of the other folds, and predicts those
of this one; also the names of the classes come from the other labels alone. So every label judges a
model that has not seen it. Items are taken to be labelled at random.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from noisypairs.algebra import Array
from noisypairs.assess.intervals import REFIT_ROUNDS
from noisypairs.assess.kinds import kind_votes
from noisypairs.estimation import Interval
from noisypairs.estimators.base import match_labels
from noisypairs.joint.choices import CERTAIN
from noisypairs.joint.class_model import ClassModel, EstimatorModel, fold_proba
from noisypairs.joint.em import Fit, GraphEStep, run_em
from noisypairs.joint.problem import Problem

#: Fewer labelled items than this only name classes.
FEWEST_LABELS = 10
#: What items are called that no other label of their class lets a model name.
UNTESTED = -2
#: Contradicted is a label whose class has no more chance than this by everything else, and an
#: estimated accuracy that would differ so much from the measured one with no more chance.
UNLIKELY = 0.05


@dataclass(frozen=True)
class Measured:
    """What labels say about a model.

    ``accuracy`` is measured on ``n_items`` labelled items of ``n_groups`` groups, None where these
    are fewer than `FEWEST_LABELS`. ``confused`` are (true class, predicted class, how many items),
    most first, ``contradicted`` the positions of items whose label everything else contradicts.
    """

    n_items: int
    n_groups: int
    accuracy: Interval | None
    confused: tuple[tuple[Hashable, Hashable, int], ...]
    contradicted: tuple[int, ...]

    def disagrees(self, own: Interval) -> bool:
        """Whether the labels contradict the model's own estimate, at `UNLIKELY`."""
        if self.accuracy is None:
            return False
        right = round(self.accuracy.estimate * self.n_groups)
        nearest = float(np.clip(self.accuracy.estimate, own.low, own.high))
        p_value = stats.binomtest(right, self.n_groups, nearest).pvalue
        return bool(p_value < UNLIKELY)


def exact_interval(right: float, n: int, level: float) -> Interval:
    """Return Clopper and Pearson's interval for a share of ``right`` among ``n``.

    >>> found = exact_interval(9, 10, 0.9)
    >>> round(found.low, 3), round(found.high, 3)
    (0.606, 0.995)
    """
    tail = (1.0 - level) / 2
    low = stats.beta.ppf(tail, right, n - right + 1) if right > 0 else 0.0
    high = stats.beta.ppf(1.0 - tail, right + 1, n - right) if right < n else 1.0
    return Interval(right / n, float(low), float(high), level)


def measured(
    problem: Problem,
    fit: Fit,
    model: ClassModel,
    labels: Mapping[int, Hashable],
    level: float,
    kinds: bool = False,
) -> Measured:
    """Cross-fit a fit on its labelled items; ``model`` is the class model of its last rounds.

    With ``kinds`` labels name what was inferred without them, several groups perhaps alike.
    """
    items = np.array(sorted(labels), dtype=np.intp)
    names, truth = np.unique(
        np.array([labels[item] for item in items.tolist()]), return_inverse=True
    )
    called = np.full(len(items), UNTESTED)
    chance = np.ones(len(items))
    for train, test in problem.folds:
        out = np.isin(items, test)
        if not out.any() or out.all():
            continue
        held = items[out]
        kept = {int(item): labels[int(item)] for item in items[~out]}
        again = fit if kinds else _without(problem, fit, held)
        name_of = _names_of(problem, again, kept, names, kinds)
        testable = np.isin(truth[out], name_of)  # another label names the class
        proba = again.item_proba[held]
        if problem.has_features:
            proba = _predicted(again, model, train, held)
        called[out] = np.where(testable, name_of[proba.argmax(axis=1)], UNTESTED)
        own = np.where(name_of == truth[out][:, None], again.item_proba[held], 0.0).sum(axis=1)
        chance[out] = np.where(testable, own, 1.0)
    doubted = tuple(items[chance < UNLIKELY].tolist())
    tested = called > UNTESTED
    of = names, truth[tested], called[tested], problem.groups[items[tested]]
    return replace(compared(*of, level), contradicted=doubted)


def compared(
    names: NDArray[Any],
    truth: NDArray[np.intp],
    called: NDArray[np.intp],
    groups: NDArray[np.intp],
    level: float,
) -> Measured:
    """Compare the names of items, (m,), with what they are called by a model without their label.

    Both are positions in ``names``, −1 for a class without a name; ``groups`` are those of items.
    """
    right = (called == truth).astype(float)
    each = [right[groups == group].mean() for group in np.unique(groups)]
    wrong = Counter(
        (names[t], names[c] if c >= 0 else "a class without a label")
        for t, c in zip(truth, called, strict=True)
        if t != c
    )
    accuracy = exact_interval(sum(each), len(each), level) if len(each) >= FEWEST_LABELS else None
    confused = tuple((true, said, n) for (true, said), n in wrong.most_common())
    return Measured(len(truth), len(each), accuracy, confused, ())


def _without(problem: Problem, fit: Fit, items: NDArray[np.intp]) -> Fit:
    """Return where EM leads without the labels of these items, from what their features say."""
    beliefs = fit.item_proba.copy()
    beliefs[items] = fit.phi[items]
    known = None if problem.clamp is None else problem.clamp.without(items.tolist())
    model, e_step = problem.class_model(fit.spec.class_model), GraphEStep(problem.graph, known)
    return run_em(fit.spec, fit.start, e_step, model, fit.answers, beliefs, rounds=REFIT_ROUNDS)


def _names_of(
    problem: Problem,
    fit: Fit,
    kept: Mapping[int, Hashable],
    names: NDArray[np.generic],
    kinds: bool,
) -> NDArray[np.intp]:
    """Return the position in ``names`` of every group's name by these labels, −1 for none."""
    found = np.full(fit.n_classes, -1)
    if kinds:
        votes = kind_votes(fit.item_proba, kept)
        found[list(votes)] = np.searchsorted(names, np.array(list(votes.values())))
        return found
    few = np.unique(np.array(list(kept.values())))
    order = match_labels(fit.item_proba, problem.all_pairs.with_labels(kept), few)
    found[order[: len(few)]] = np.searchsorted(names, few)
    return found


def _predicted(
    again: Fit, model: ClassModel, train: NDArray[np.intp], held: NDArray[np.intp]
) -> Array:
    """Return P(group | x) of items held out, (m, K), learnt from the beliefs about the others."""
    if not isinstance(model, EstimatorModel):
        return again.phi[held]
    learning = train[model.weight[train] > 0]
    proba = fold_proba(model.learner, model.seen, again.item_proba, learning, held)
    return again.line(np.log(np.maximum(proba, CERTAIN / 10)))
