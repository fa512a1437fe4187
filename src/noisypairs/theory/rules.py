"""What noise does to the corrected loss and to the best rule, exactly: no n, no chance of failure.

η(x) = P(class 1 | x) throughout; a = P(same | class 1) and b = P(same | class 0) as in `algebra`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs import algebra
from noisypairs.algebra import Array, Formula
from noisypairs.noise import NoiseModel

Classes = NDArray[np.int64]
Prior = float | ArrayLike


def is_convex(noise: NoiseModel, prior: Prior, formula: Formula = "unbiased") -> bool:
    """Return whether the corrected loss is convex for every convex l with l''(t, +1) = l''(t, −1).

    Then l̃''(t, Q) = l''(t) Σ_y C[Q, y], so the rows of C must have sums ≥ 0. Unbiased: both are 1,
    for every rate and prior. ``"printed"`` (Theorem 2): (1−2b)/(a−b) and (2a−1)/(a−b), so ½ must
    lie between a and b. "Twice differentiable almost everywhere" is too weak a condition on l: the
    hinge meets it, yet its corrected loss has a concave kink.

    >>> from noisypairs.noise import PairingNoise
    >>> noise = PairingNoise(0.1, 0.4)
    >>> is_convex(noise, 0.35), is_convex(noise, 0.35, "printed")
    (True, False)
    """
    sums = noise.corrected_coefficients(prior, formula).sum(axis=1)
    return bool((sums >= -algebra.NO_SIGNAL).all())


def bayes_rule(eta: ArrayLike) -> Classes:
    """Return the class, 1 where η(x) = P(class 1 | x) > ½ and 0 elsewhere; any shape.

    >>> bayes_rule([0.2, 0.5, 0.8])
    array([0, 0, 1])
    """
    return (check_posterior(eta) > 0.5).astype(np.int64)


def noisy_posterior(noise: NoiseModel, prior: Prior, eta: ArrayLike) -> Array:
    """Return η_Q(x) = P(same | x) = b + (a−b) η(x), the shape of ``eta``.

    >>> from noisypairs.noise import CleanPairs
    >>> noisy_posterior(CleanPairs(), 0.2, [0.0, 0.5, 1.0])
    array([0.8, 0.5, 0.2])
    """
    b, a = algebra.same_given_class(noise.same_probability(), prior)
    posterior: Array = b + (a - b) * check_posterior(eta)
    return posterior


def noisy_bayes_rule(noise: NoiseModel, prior: Prior, eta: ArrayLike) -> Classes:
    """Return the Bayes rule of the noisy answers, 1 ("same") where η_Q(x) > ½ (Lemma 2).

    It is 1 where (a−b)(η − threshold) > 0. The printed sign(η − threshold) lacks the factor: for
    a < b (pairing noise: prior below ½) it is the opposite rule.

    >>> from noisypairs.noise import CleanPairs
    >>> noisy_bayes_rule(CleanPairs(), 0.2, [0.1, 0.9])  # prior below ½: the opposite rule
    array([1, 0])
    """
    return (noisy_posterior(noise, prior, eta) > 0.5).astype(np.int64)


def weighted_bayes_rule(
    noise: NoiseModel, prior: Prior, eta: ArrayLike, turn: bool = True
) -> Classes:
    """Return the α-weighted Bayes rule of the noisy answers, reversed if A < 0 (Remark 1).

    η_Q − α = 2A (η − ½), so with ``turn`` it is `bayes_rule` for all rates and priors with A ≠ 0.
    ``turn=False`` is 1 where η_Q > α, as printed: the opposite of the Bayes rule when A < 0.

    >>> from noisypairs.noise import CleanPairs
    >>> weighted_bayes_rule(CleanPairs(), 0.2, [0.1, 0.9])
    array([0, 1])
    """
    S = noise.same_probability()
    gain = algebra.gain(S, prior)
    algebra.require_signal(2.0 * gain)
    side = noisy_posterior(noise, prior, eta) - algebra.alpha(S, prior)
    return ((-side if turn and gain < 0 else side) > 0).astype(np.int64)


def compare_bayes_rules(
    noise: NoiseModel, prior: Prior
) -> Literal["equal", "opposite", "different"]:
    """Return how the Bayes rule of the noisy answers relates to that of the classes (Remark 3).

    Equal rates put the threshold at ½. The rules are then equal if a > b, but *opposite* if a < b:
    Remark 3 needs a prior above ½ (labeling noise: a flipped prior above ½).

    >>> from noisypairs.noise import CleanPairs
    >>> compare_bayes_rules(CleanPairs(), 0.8), compare_bayes_rules(CleanPairs(), 0.2)
    ('equal', 'opposite')
    """
    S = noise.same_probability()
    if abs(algebra.threshold(S, prior) - 0.5) > 1e-9:
        return "different"
    return "equal" if algebra.gain(S, prior) > 0 else "opposite"


def check_posterior(eta: ArrayLike) -> Array:
    """Return η as an array after checking that it holds probabilities.

    >>> check_posterior([0.2, 0.8])
    array([0.2, 0.8])
    """
    values = np.asarray(eta, dtype=float)
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("eta holds P(class 1 | x): every value must be in [0, 1]")
    return values
