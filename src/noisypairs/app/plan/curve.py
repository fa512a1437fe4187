"""The learning curve from noisy pairs alone: accuracy with more and more answers.

The answers are cut into folds, all answers on one pair into the same. The learner is fitted to
growing parts of the other folds and judged by the answers of the left-out fold (`score`), which
it never saw, as far as their pairs were drawn at random. Two accuracies are followed:

    "new items"     out-of-fold classes from features alone: each item is predicted by a classifier
                    that was trained on other items;
    "these items"   classes of the compared items themselves, from features and answers together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

from noisypairs.algebra import Array
from noisypairs.app.plan.score import Score, score_predictions
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import NotIdentifiable, collected_warnings
from noisypairs.estimation.heldout import HeldOut, dyadic_sums
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Pairs

NEW, THESE = "new items", "these items"
#: The smallest part fitted, as a share of the largest.
SMALLEST = 1 / 4

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
    noise: NoiseModel,
    estimator: Any,
    *,
    n_classes: int = 2,
    n_sizes: int = 5,
    n_folds: int = 4,
    noise_model: str = "pairing",
    beliefs: Array | None = None,
    seed: int = 0,
    step: Step = lambda _: None,
) -> tuple[LearningCurve, LearningCurve]:
    """Return the curves of new items and of these items.

    - ``X`` (n_items, d) numeric features, ``pairs`` without self pairs, ``noise`` as estimated
      from all answers, which turns agreement with noisy answers into accuracy.
    - ``estimator``: the classifier inside the joint learner; ``noise_model``: its family of noise.
    - ``beliefs`` (n_items, K) about the items, in the order of classes that ``noise`` is given in;
      needed where it treats classes differently, as all but pairing noise do.
    - ``step`` is called with a line of text before each of the ``n_sizes · n_folds`` fits.

    The covariance has two parts: the left-out answers are few and share items
    (`estimation.heldout.dyadic_sums`), and other answers would have given another model (what is
    left of the spread between folds). Parts in which the learner finds no classes are left out;
    `NotIdentifiable` where fewer than three sizes remain.
    """
    S = noise.same_probability(n_classes)
    parts = list(_held_out(pairs, n_folds, seed).masks())
    smallest_part = int(min(train.sum() for train, _ in parts))
    sizes = np.unique(np.geomspace(SMALLEST, 1.0, n_sizes) * smallest_part).astype(np.intp)
    judges = np.ones(pairs.n_pairs, dtype=bool) if pairs.chosen is None else ~pairs.chosen
    shape = (len(sizes), 2)
    accuracy = np.full((*shape, n_folds), np.nan)
    influence = np.zeros((*shape, pairs.n_pairs))
    for f, (train, out) in enumerate(parts):
        # One order per fold: each part contains the smaller ones, as when answers arrive over time.
        order = np.random.default_rng([seed, f]).permutation(np.flatnonzero(train))
        left_out = np.flatnonzero(out & judges)
        for s, size in enumerate(sizes):
            step(f"learning from {size:,} answers, part {f + 1} of {n_folds}")
            try:
                part = pairs.select(order[:size])
                model = fit_joint(X, part, clone(estimator), n_classes, seed, noise_model)
            except NotIdentifiable:
                continue  # too few to see any classes in: the size leaves the curve below
            for kind, score in enumerate(_scores(model, pairs.select(left_out), S, beliefs)):
                accuracy[s, kind, f] = score.accuracy
                influence[s, kind, left_out] = score.influence
    seen = _seen(accuracy)
    sizes, accuracy, influence = sizes[seen], accuracy[seen], influence[seen]
    curves = []
    for kind, name in enumerate((NEW, THESE)):
        covariance = _dyadic_covariance(pairs.select(judges), influence[:, kind, judges])
        covariance += np.diag(_training_variance(accuracy[:, kind], np.diag(covariance)))
        curves.append(LearningCurve(name, sizes, accuracy[:, kind].mean(axis=1), covariance))
    return curves[0], curves[1]


def fit_joint(
    X: Any, pairs: Pairs, estimator: Any, n_classes: int, seed: int, noise_model: str = "pairing"
) -> Any:
    """Return the joint learner fitted with one noise for all, as every step of a plan uses it.

    What it warns about shows in a part of the answers as a lower accuracy, and is not said again.
    """
    return fit_with_doubts(X, pairs, estimator, n_classes, seed, noise_model)[0]


def fit_with_doubts(
    X: Any, pairs: Pairs, estimator: Any, n_classes: Any, seed: int, noise_model: str
) -> tuple[Any, tuple[str, ...]]:
    """Return the learner of `fit_joint`, and the warnings under which it is not to be trusted."""
    model = JointPairClassifier(estimator, n_classes, noise=noise_model, random_state=seed)
    with collected_warnings() as warned:
        model.fit(X, pairs)
    return model, warned.doubts


def _seen(accuracy: Array) -> NDArray[np.bool_]:
    """Say at which sizes the learner saw classes in every fold, from (S, 2, F) with NaN else."""
    seen = np.asarray(~np.isnan(accuracy).any(axis=(1, 2)))
    if seen.sum() < 3:
        raise NotIdentifiable(
            "all answers together show classes, but parts of them do not, so how accuracy grows "
            "with answers cannot be identified from these pairs. Ask for more pairs first"
        )
    return seen


def _scores(model: Any, left_out: Pairs, S: Array, beliefs: Array | None) -> Iterator[Score]:
    order = slice(None) if beliefs is None else class_order(model.item_proba_, beliefs)
    for proba in (model.oof_proba_, model.item_proba_):
        yield score_predictions(left_out, proba[:, order].argmax(axis=1), S)


def class_order(proba: Array, beliefs: Array) -> NDArray[np.intp]:
    """Return which column of ``proba`` is which class of ``beliefs``, both (n_items, K).

    Each fit numbers its classes in its own order; those that share most items are matched.

    >>> beliefs = np.array([[0.9, 0.1, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]])
    >>> class_order(beliefs[:, [2, 0, 1]], beliefs).tolist()
    [1, 2, 0]
    """
    order: NDArray[np.intp] = linear_sum_assignment(beliefs.T @ proba, maximize=True)[1]
    return order


def _held_out(pairs: Pairs, n_folds: int, seed: int) -> HeldOut:
    """Deal the answers by pair, or refuse where they are about too few pairs."""
    n_pairs = len(np.unique(pairs.pair_keys))
    if n_pairs < 2 * n_folds:
        raise ValueError(
            f"{n_pairs} distinct pairs are too few for a learning curve: at least {2 * n_folds} "
            "are needed to leave some out. Ask for more pairs first"
        )
    return HeldOut.by_pair(pairs, n_folds, seed)


def _dyadic_covariance(pairs: Pairs, influence: Array) -> Array:
    """Return the covariance (S, S) of means of influences (S, n), for answers that share items.

    No variance is less than that of independent pairs, and the matrix is positive semi-definite.
    """
    weight = pairs.weights
    residual = weight * (influence - np.average(influence, axis=1, weights=weight)[:, None])
    shared, within = dyadic_sums(pairs, residual.T)
    shared += np.diag(np.maximum(np.diag(within - shared), 0.0))
    values, vectors = np.linalg.eigh(shared / weight.sum() ** 2)
    positive: Array = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return positive


def _training_variance(accuracy: Array, judged: Array) -> Array:
    """Return what the spread between folds (S, F) shows beyond the error of judging, (S,)."""
    n_folds = accuracy.shape[1]
    spread = accuracy.var(axis=1, ddof=1) / n_folds
    extra: Array = np.maximum(spread - judged, 0.0)
    return extra + 1e-8  # two sizes may agree in every answer: keep the covariance invertible
