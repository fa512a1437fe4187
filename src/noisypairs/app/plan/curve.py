"""The learning curve: what a fit states of its accuracy, with more and more of the answers.

The learner is fitted to growing parts of the answers, and at last to all of them. What each fit
states is followed, by the function that `fit`, `check` and `ask` state it by
(`assess.intervals.joint_intervals`):

    "new items"     the share of new items in the right class, by features alone
    "these items"   the share of the items compared in the right class, by features and answers
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone

from noisypairs.algebra import Array
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import NotIdentifiable, collected_warnings
from noisypairs.estimation import Interval
from noisypairs.pairs import Pairs

NEW, THESE = "new items", "these items"
#: The smallest part fitted, as a share of all answers, and where the answers are all there is: half
#: of them then often show no classes.
SMALLEST, SMALLEST_ALONE = 1 / 4, 0.6
#: How often classes and answers are redrawn to know what the fit of a part claims too much.
N_REDRAWN = 8

Step = Callable[[str], None]


@dataclass(frozen=True)
class LearningCurve:
    """Accuracy (S,) after so many answers (``sizes``, (S,)), with the covariance of its errors."""

    name: str
    sizes: NDArray[np.intp]
    accuracy: Array
    covariance: Array

    @property
    def error(self) -> Array:
        """Standard error of each accuracy, shape (S,)."""
        root: Array = np.sqrt(np.diag(self.covariance))
        return root


def learning_curves(
    X: Any,
    pairs: Pairs,
    model: JointPairClassifier,
    stated: Mapping[str, Interval],
    *,
    n_sizes: int = 5,
    n_orders: int = 3,
    seed: int = 0,
    step: Step = lambda _: None,
) -> tuple[LearningCurve, ...]:
    """Return the curves of new items and of these items; without features the second alone.

    - ``model`` is the fit of all ``pairs``, and ``stated`` has its intervals "accuracy" and
      "items": the last points of the curves. Parts have its number of classes and its estimator.
    - ``step`` is called with a line of text before each fit of a part.

    All points share the error that ``stated`` has. Each has one of its own besides: other answers
    would have given another model, as the parts of ``n_orders`` orders of the answers show. Sizes
    of which a part shows no classes are left out; `NotIdentifiable` where fewer than three remain.
    """
    kinds = {NEW: "accuracy", THESE: "items"}
    smallest = SMALLEST
    if X is None:
        del kinds[NEW]
        smallest = SMALLEST_ALONE
    sizes = np.unique(np.geomspace(smallest, 1.0, n_sizes) * pairs.n_pairs).astype(np.intp)
    names = tuple(kinds.values())
    found = np.full((len(sizes) - 1, len(names), n_orders), np.nan)
    for k in range(n_orders):
        # Each part contains the smaller ones, as when answers arrive over time.
        order = np.random.default_rng([seed, k]).permutation(pairs.n_pairs)
        for s, size in enumerate(sizes[:-1]):
            step(f"learning from {size:,} answers, order {k + 1} of {n_orders}")
            part = pairs.select(order[:size])
            try:
                limits = _stated(X, part, model, seed)
            except NotIdentifiable:
                continue  # too few to see any classes in
            found[s, :, k] = [limits[name].estimate for name in names]
    seen = _seen(found)
    sizes, found = sizes[[*seen, True]], found[seen]
    curves = []
    for kind, (name, of) in enumerate(kinds.items()):
        end = stated[of]
        accuracy = np.append(found[:, kind].mean(axis=1), end.estimate)
        shared = (end.high - end.low) / 2 / stats.norm.ppf(0.5 + end.level / 2)
        # Two parts may agree in all: keep the covariance invertible.
        own = found[:, kind].var(axis=1, ddof=1).mean() + 1e-8
        each = np.append(np.full(len(found), own / n_orders), own)
        curves.append(LearningCurve(name, sizes, accuracy, shared**2 + np.diag(each)))
    return tuple(curves)


def _stated(X: Any, part: Pairs, model: JointPairClassifier, seed: int) -> dict[str, Interval]:
    """Return what a fit of a part of the answers states, with classes and estimator as found.

    What it warns about shows as a lower accuracy, and is not said again.
    """
    smaller = clone(model).set_params(
        estimator=clone(model.estimator_), n_classes=model.n_classes_, random_state=seed
    )
    with collected_warnings():
        smaller.fit(X, part)
        limits: dict[str, Interval] = smaller.intervals(X, part, n_bootstrap=N_REDRAWN)
    return limits


def _seen(found: Array) -> NDArray[np.bool_]:
    """Say at which sizes the learner saw classes in every part, from (S, 2, R) with NaN else."""
    seen = np.asarray(~np.isnan(found).any(axis=(1, 2)))
    if seen.sum() < 2:
        raise NotIdentifiable(
            "all answers together show classes, but parts of them do not, so how accuracy grows "
            "with answers cannot be identified from these pairs. Ask for more pairs first"
        )
    return seen
