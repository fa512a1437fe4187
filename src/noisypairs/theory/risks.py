"""The weighted risk of Theorem 3, its two parts, and how the gain changes with the noise.

Theorem 3: R_α,noisy(f) = A·R(f) + E[B(x)]. The left side is the α-weighted 0-1 risk of "same"
against "different", R is the 0-1 risk on the true classes, and B does not depend on f. Symbols are
those of `algebra`: η(x) = P(class 1 | x), a = P(same | class 1), b = P(same | class 0).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from noisypairs import algebra
from noisypairs.algebra import Array
from noisypairs.noise import NoiseModel, printed
from noisypairs.theory.rules import Prior, check_posterior, noisy_posterior


def weighted_loss(scores: ArrayLike, same: ArrayLike, alpha: float) -> Array:
    """Return U_α(t, Q) = (1−α) 1[same] 1[t ≤ 0] + α 1[different] 1[t > 0], any shape.

    The mean over the answers is the empirical U_α risk.

    >>> weighted_loss([2.0, -1.0, 0.0, 3.0], [True, True, True, False], 0.3)
    array([0. , 0.7, 0.7, 0.3])
    """
    if not 0.0 <= alpha <= 1.0:
        raise ValueError(f"alpha={alpha!r} is a weight: expected a number in [0, 1]")
    positive = np.asarray(scores, dtype=float) > 0
    said_same = np.asarray(same, dtype=bool)
    missed, false_alarm = said_same & ~positive, ~said_same & positive
    return (1.0 - alpha) * missed + alpha * false_alarm


def weighted_risk(
    noise: NoiseModel, prior: Prior, eta: ArrayLike, positive: ArrayLike, alpha: float | None = None
) -> Array:
    """Return the U_α risk at each x of a rule that says class 1 where ``positive``.

    With q = P(same | x) it is α(1−q) where the rule says 1 and (1−α)q where it says 0. By default
    α is that of Theorem 3. Its mean over x is R_α,noisy(f).

    >>> from noisypairs.noise import CleanPairs
    >>> weighted_risk(CleanPairs(), 0.2, [0.1, 0.9], [False, True])
    array([0.37, 0.37])
    """
    weight = algebra.alpha(noise.same_probability(), prior) if alpha is None else alpha
    q = noisy_posterior(noise, prior, eta)
    said = np.asarray(positive, dtype=bool)
    return np.where(said, weight * (1.0 - q), (1.0 - weight) * q)


def risk_offset(noise: NoiseModel, prior: Prior, eta: ArrayLike) -> Array:
    """Return B(x) = (1−α) b + A (1−2α) η(x) of Theorem 3, the shape of ``eta``.

    Where a rule says 0 its weighted risk is (1−α) q with q = b + 2Aη, and its risk on the true
    classes is η; so B = (1−α)(b + 2Aη) − Aη. Saying 1 gives the same B.

    >>> from noisypairs.noise import CleanPairs
    >>> risk_offset(CleanPairs(), 0.2, [0.0, 0.5, 1.0])  # equal rates: α = ½, the same everywhere
    array([0.4, 0.4, 0.4])
    """
    S = noise.same_probability()
    weight, gain = algebra.alpha(S, prior), algebra.gain(S, prior)
    b = float(algebra.same_given_class(S, prior)[0])
    return (1.0 - weight) * b + gain * (1.0 - 2.0 * weight) * check_posterior(eta)


def pairing_gain_slope(prior: float) -> float:
    """Return ∂A/∂ρ_S = ∂A/∂ρ_D = (1−2π)/2 of A = (1−ρ_S−ρ_D)(2π−1)/2 (Remark 2).

    A falls with the noise above π = ½ and rises below it. What falls on both sides is |A|.

    >>> pairing_gain_slope(0.25)
    0.25
    """
    return (1.0 - 2.0 * prior) / 2.0


def labeling_gain_slopes(
    positive_flip: float, negative_flip: float, prior: float
) -> tuple[float, float]:
    """Return ∂A/∂ρ₊ and ∂A/∂ρ₋ of A = (1−ρ₊−ρ₋)(2π̃−1)/2 (Remark 2).

    They are −(2π̃−1)/2 − π(1−ρ₊−ρ₋) and −(2π̃−1)/2 + (1−π)(1−ρ₊−ρ₋). More noise of one class can
    raise |A|, as it moves the reported prior π̃ away from ½. With equal rates
    A = (1−2ρ)²(2π−1)/2, and |A| falls in ρ up to ½.

    >>> [round(slope, 12) for slope in labeling_gain_slopes(0.0, 0.0, 0.75)]
    [-1.0, 0.0]
    """
    lean = 2.0 * printed.flipped_prior(positive_flip, negative_flip, prior) - 1.0
    kept = 1.0 - positive_flip - negative_flip
    return -lean / 2.0 - prior * kept, -lean / 2.0 + (1.0 - prior) * kept
