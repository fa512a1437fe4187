"""How good is it: with true classes, and with nothing but noisy pairs.

Pairs cannot name classes, so an accuracy is either "named" (class names were known) or taken up
to the best matching of names; every function here says which it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from noisypairs import algebra
from noisypairs.algebra import Array
from noisypairs.errors import NotIdentifiable
from noisypairs.estimation import Interval, dyadic_mean, random_answers
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Pairs


def accuracy_up_to_names(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Return the share of right items after the best one-to-one matching of class names.

    >>> accuracy_up_to_names([0, 0, 1, 1], ["b", "b", "a", "b"])
    0.75
    """
    true, predicted = np.asarray(y_true), np.asarray(y_pred)
    if true.shape != predicted.shape or true.ndim != 1 or not true.size:
        raise ValueError(
            f"y_true has shape {true.shape} and y_pred {predicted.shape}: expected two vectors of "
            "the same length, at least one"
        )
    table = contingency(true, predicted, sample_weight)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def contingency(
    first: ArrayLike, second: ArrayLike, weight: ArrayLike | None = None
) -> NDArray[np.int64] | Array:
    """Return how often each value of ``first`` (rows, sorted) meets each of ``second``.

    >>> contingency([0, 0, 1], ["x", "y", "y"])
    array([[1, 1],
           [0, 1]])
    """
    rows, i = np.unique(np.asarray(first), return_inverse=True)
    columns, j = np.unique(np.asarray(second), return_inverse=True)
    each = None if weight is None else np.asarray(weight, dtype=float)
    counts = np.bincount(i * len(columns) + j, each, minlength=len(rows) * len(columns))
    table = counts.reshape(len(rows), len(columns))
    return table if each is not None else table.astype(np.int64)


def pair_log_likelihood(pairs: Pairs, item_proba: ArrayLike, noise: NoiseModel) -> float:
    """Return the mean log-likelihood of the answers, log P(q | x, x') with P = η(x)ᵀ S η(x').

    ``item_proba`` is η, shape (n_items, K). It can be compared across noise models, rates, priors
    and estimators, which a corrected loss cannot: use pairs whose items were not trained on.

    >>> from noisypairs import PairingNoise
    >>> pairs = Pairs([0, 0], [1, 2], [True, False])
    >>> round(pair_log_likelihood(pairs, [[0, 1], [0, 1], [1, 0]], PairingNoise(0.1, 0.2)), 4)
    -0.1643
    """
    eta = _item_proba(pairs, item_proba)
    pairs = _distinct(pairs)
    chance = algebra.pair_posterior(
        noise.same_probability(eta.shape[1]), eta[pairs.left], eta[pairs.right]
    )
    log_chance = np.log(np.clip(np.where(pairs.same, chance, 1.0 - chance), 1e-12, None))
    return float(np.average(log_chance, weights=pairs.weight))


def pair_agreement(pairs: Pairs, y_pred: ArrayLike) -> float:
    """Return the share of answers that agree with the predicted classes, as the answers stand.

    Self pairs do not count.

    >>> pair_agreement(Pairs([0, 0], [1, 2], [True, True]), [1, 1, 0])
    0.5
    """
    predicted, pairs = _predicted(pairs, y_pred), _distinct(pairs)
    agrees = (predicted[pairs.left] == predicted[pairs.right]) == pairs.same
    return float(np.average(agrees, weights=pairs.weight))


def corrected_pair_agreement(
    pairs: Pairs, y_pred: ArrayLike, noise: NoiseModel, level: float = 0.95
) -> Interval:
    """Return the share of pairs whose *true* relation the prediction gets right (pairing noise).

    With q̂ = ±1 for predicted same or different and r = ±1 the answer,
    E[r q̂] = (ρ_D−ρ_S) E[q̂] + (1−ρ_S−ρ_D)(2·agreement − 1), solved for the agreement. The
    interval accounts for answers that share items, and speaks about the population of items.

    >>> from noisypairs import CleanPairs
    >>> pairs = Pairs([0, 0, 1], [1, 2, 2], [True, False, True])
    >>> round(corrected_pair_agreement(pairs, [1, 1, 0], CleanPairs()).estimate, 4)
    0.6667
    """
    S = noise.same_probability()
    if not np.isclose(S[0, 0], S[1, 1], rtol=0, atol=1e-9):
        raise ValueError(
            f"{noise} errs differently within the two classes; only pairing noise has one pair "
            "agreement. Use estimate_accuracy, which takes any noise"
        )
    shift, slope = S[0, 0] + S[0, 1] - 1.0, S[0, 0] - S[0, 1]
    if slope < algebra.NO_SIGNAL:
        raise NotIdentifiable(f"answers under {noise} do not depend on the classes")
    predicted = _predicted(pairs, y_pred)
    sign = np.where(predicted[pairs.left] == predicted[pairs.right], 1.0, -1.0)
    answer = np.where(pairs.same, 1.0, -1.0)
    mean, low, high = dyadic_mean(pairs, sign * (answer - shift) / slope, level)
    return Interval((1.0 + mean) / 2.0, (1.0 + low) / 2.0, (1.0 + high) / 2.0, level)


def estimate_accuracy(
    pairs: Pairs, y_pred: ArrayLike, noise: NoiseModel, level: float = 0.95
) -> Interval:
    """Return an estimate of the clean binary accuracy from noisy pairs alone, with an interval.

    Write classes and predictions as z, ẑ = ±1 and E[r | z, z'] = r₀ + r₁(z + z') + r₂ z z' for
    the answer r = ±1 (any S has this form). For two items drawn at random and t = E[z ẑ],

        E[r ẑ ẑ'] = r₀ m² + 2 r₁ m t + r₂ t²,   m = E[ẑ],   accuracy = (1 + t)/2,

    a quadratic in t, of which the larger root is taken: a prediction better than its opposite, its
    larger value being class 1. ``pairs`` must be among items the prediction was not trained on; of
    them those drawn at random count (`Pairs.chosen`).

    >>> from noisypairs import PairingNoise, sample_pairs
    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(2000) < 0.3).astype(int)
    >>> wrong = rng.random(2000) < 0.1
    >>> noise = PairingNoise(0.1, 0.2)
    >>> pairs = sample_pairs(y, 40_000, noise, random_state=1)
    >>> print(estimate_accuracy(pairs, np.where(wrong, 1 - y, y), noise))
    0.899 [0.885, 0.913]
    """
    R = 2.0 * noise.same_probability() - 1.0
    r0 = (R[0, 0] + 2 * R[0, 1] + R[1, 1]) / 4
    r1 = (R[1, 1] - R[0, 0]) / 4
    r2 = (R[0, 0] - 2 * R[0, 1] + R[1, 1]) / 4
    if r2 < algebra.NO_SIGNAL:
        raise NotIdentifiable(f"answers under {noise} do not depend on the classes")
    predicted = _predicted(pairs, y_pred)
    pairs = random_answers(pairs, "how often a prediction agrees with them")
    names = np.unique(predicted)
    if len(names) > 2:
        raise ValueError(f"the accuracy estimate is for two classes, predictions have {len(names)}")
    sign = np.where(predicted == names[-1], 1.0, -1.0)
    answer = np.where(pairs.same, 1.0, -1.0)
    moments = dyadic_mean(pairs, sign[pairs.left] * sign[pairs.right] * answer, level)
    m = float(sign.mean())
    estimate, low, high = (
        (-r1 * m + np.sqrt(max((r1 * m) ** 2 - r2 * (r0 * m**2 - moment), 0.0))) / r2
        for moment in moments
    )
    limits = np.clip((1.0 + np.array([estimate, low, high])) / 2.0, 0.0, 1.0)
    return Interval(float(limits[0]), float(limits[1]), float(limits[2]), level)


def _distinct(pairs: Pairs) -> Pairs:
    pairs = pairs.without_self_pairs()
    if pairs.n_pairs == 0:
        raise ValueError(
            "there are no pairs of two distinct items to judge by. In cross-validation use fewer "
            "folds or more pairs: a pair counts only where both its items are left out"
        )
    return pairs


def _item_proba(pairs: Pairs, item_proba: ArrayLike) -> Array:
    eta = np.asarray(item_proba, dtype=float)
    if eta.ndim != 2 or len(eta) != pairs.n_items:
        raise ValueError(
            f"item_proba has shape {eta.shape}, expected ({pairs.n_items}, n_classes): one row "
            "per item of the pairs"
        )
    return eta


def _predicted(pairs: Pairs, y_pred: ArrayLike) -> NDArray[np.generic]:
    predicted = np.asarray(y_pred)
    if predicted.shape != (pairs.n_items,):
        raise ValueError(
            f"y_pred has shape {predicted.shape}, expected ({pairs.n_items},): one class per item"
        )
    return predicted
