"""What noise does to answers, to the corrected loss and to the best rule, exactly.

η(x) = P(class 1 | x) throughout; a = P(same | class 1) and b = P(same | class 0) as in `algebra`.
First every way in which an answer comes about (Figure 1 of the paper), then the Bayes rules, then
Theorem 3: R_α,noisy(f) = A·R(f) + E[B(x)]. Its left side is the α-weighted 0-1 risk of "same"
against "different", R is the 0-1 risk on the true classes, and B does not depend on f.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs import algebra
from noisypairs.algebra import Array, Formula
from noisypairs.noise import NoiseModel, printed

Classes = NDArray[np.int64]
Prior = float | ArrayLike
Rates = tuple[float, float]


class Outcome(NamedTuple):
    """True classes and reported classes of both items (0 or 1), the answer, and its probability.

    >>> Outcome((0, 1), (0, 0), same=True, probability=0.1).wrong
    True
    """

    classes: tuple[int, int]
    reports: tuple[int, int]
    same: bool
    probability: float

    @property
    def wrong(self) -> bool:
        """Return whether the answer contradicts the true classes."""
        return self.same != (self.classes[0] == self.classes[1])


def outcomes(
    prior: float, pairing: Rates = (0.0, 0.0), labeling: Rates = (0.0, 0.0)
) -> Iterator[Outcome]:
    """Yield every outcome of positive probability of a pair drawn at random.

    ``pairing`` is (ρ_S, ρ_D), the chances that the comparison of two reports goes wrong where they
    agree and where they differ. ``labeling`` is (ρ₊, ρ₋), the chances that an item of class 1, or
    of class 0, reports the other class. The probabilities sum to one.

    >>> for outcome in outcomes(0.25, pairing=(0.0, 0.5)):
    ...     if outcome.wrong:
    ...         print(outcome.classes, outcome.same, outcome.probability)
    (0, 1) True 0.09375
    (1, 0) True 0.09375
    """
    share = algebra.class_prior(prior)
    for first, second, one, other in product((0, 1), repeat=4):
        reported = _report(first, one, labeling) * _report(second, other, labeling)
        flip = pairing[0] if one == other else pairing[1]
        for same in (True, False):
            said = 1.0 - flip if same == (one == other) else flip
            chance = float(share[first] * share[second]) * reported * said
            if chance > 0.0:
                yield Outcome((first, second), (one, other), same, chance)


def _report(true: int, reported: int, labeling: Rates) -> float:
    flip = labeling[0] if true == 1 else labeling[1]
    return 1.0 - flip if reported == true else flip


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
