"""The paper's formulas as printed, where they differ from what the noise's definition gives.

Nothing in the package uses these by default. They exist so that a published number can be
reproduced (``formula="printed"``) and so that every slip has a test; `docs/errata.md` lists them.
Arguments are the paper's: ρ₊ = P(−|+), ρ₋ = P(+|−), ρ_S, ρ_D, and π = P(+).
"""

from __future__ import annotations

import numpy as np

from noisypairs.algebra import Array


def flipped_prior(positive_flip: float, negative_flip: float, prior: float) -> float:
    """Return π̃ = π(1−ρ₊) + (1−π)ρ₋, the share of reported positives (printed right).

    >>> round(flipped_prior(0.1, 0.2, 0.3), 12)
    0.41
    """
    return prior * (1.0 - positive_flip) + (1.0 - prior) * negative_flip


def labeling_transition(positive_flip: float, negative_flip: float, prior: float) -> Array:
    """Return T of eq. (pos2) as printed; correct is ρ₊ in the first, 1−ρ₋ in the second bracket.

    >>> labeling_transition(0.2, 0.2, 0.3).round(3)  # equal rates: printed and true agree
    array([[0.428, 0.572],
           [0.572, 0.428]])
    """
    reported = flipped_prior(positive_flip, negative_flip, prior)
    a = (1.0 - positive_flip) * reported + negative_flip * (1.0 - reported)
    b = negative_flip * reported + (1.0 - positive_flip) * (1.0 - reported)
    return np.array([[a, b], [1.0 - a, 1.0 - b]])


def labeling_threshold(positive_flip: float, negative_flip: float, prior: float) -> float:
    """Return the threshold of Lemma 2 for labeling noise as printed.

    Correct: −2ρ₊ρ₋ for the printed −ρ₊ρ₋, and ρ₋² for the printed ρ₊².

    >>> round(labeling_threshold(0.2, 0.2, 0.3), 3)  # wrong even for equal rates: true is 0.5
    0.583
    """
    plus, minus = positive_flip, negative_flip
    b = prior * (plus + minus - plus * minus) + (1.0 - prior) * (plus**2 + (1.0 - minus) ** 2)
    slope = (1.0 - plus - minus) * (prior * (1.0 - 2 * plus) - (1.0 - prior) * (1.0 - 2 * minus))
    return (0.5 - b) / slope


def labeling_alpha(positive_flip: float, negative_flip: float, prior: float) -> float:
    """Return α of Theorem 3 for labeling noise as printed (it is right).

    >>> round(labeling_alpha(0.2, 0.2, 0.3), 12)
    0.5
    """
    plus, minus = positive_flip, negative_flip
    return (
        prior * (1.0 - plus + plus**2 - plus * minus)
        - (1.0 - plus - minus) / 2.0
        + (1.0 - prior) * (1.0 - minus + minus**2 - plus * minus)
    )


def labeling_same_odds(positive_flip: float, negative_flip: float, prior: float) -> float:
    """Return n_S/n_D for labeling noise as printed, made from the printed posterior.

    Correct is P(same) = π̃² + (1−π̃)².

    >>> round(labeling_same_odds(0.0, 0.0, 0.3), 6)  # no noise: 0.58/0.42, right
    1.380952
    """
    reported = flipped_prior(positive_flip, negative_flip, prior)
    agree = prior * reported + (1.0 - prior) * (1.0 - reported)
    differ = prior * (1.0 - reported) + reported * (1.0 - prior)
    return ((1.0 - positive_flip) * agree + negative_flip * differ) / (
        positive_flip * agree + (1.0 - negative_flip) * differ
    )


def pairing_similar_density(similar_flip: float, dissimilar_flip: float, prior: float) -> Array:
    """Return the weights of (P₋, P₊) in P̃_S for pairing noise as printed: (1−ρ_S)P_S + ρ_D P_D.

    They do not sum to one: each term must carry its share, P(same) or P(different), first.

    >>> float(pairing_similar_density(0.1, 0.2, 0.3).sum().round(12))
    1.1
    """
    agree = prior**2 + (1.0 - prior) ** 2
    similar = np.array([(1.0 - prior) ** 2, prior**2]) / agree
    return (1.0 - similar_flip) * similar + dissimilar_flip * np.array([0.5, 0.5])


def convexity_condition(T: Array) -> bool:
    """Return Theorem 2's condition as printed: sign(α₁−β₁) = sign(β₂−α₂), of T's entries.

    It is the condition for the printed T⁻¹; the unbiased T⁻ᵀ needs none.

    >>> convexity_condition(np.array([[0.2, 0.8], [0.8, 0.2]]))
    True
    """
    return bool(np.sign(T[0, 0] - T[1, 0]) == np.sign(T[1, 1] - T[0, 1]))
