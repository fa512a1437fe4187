"""What can be promised before any data are seen: bounds, convexity, Bayes rules. Numbers only.

η(x) = P(class 1 | x) throughout; a = P(same | class 1) and b = P(same | class 0) as in `algebra`.

*Answers.* Every way in which an answer comes about (Figure 1 of the paper), the Bayes rules of
noisy answers and of true classes, and Theorem 3: R_α,noisy(f) = A·R(f) + E[B(x)]. Its left side is
the α-weighted 0-1 risk of "same" against "different", R is the 0-1 risk on the true classes, and B
does not depend on f.

*Bounds* for n noisy pairs: Lemma 1, Theorem 1, the clean and the weighted bound. Every bound counts
n *pairs*, drawn independently. A pair (x, x', Q) is one observation whose loss is the mean of its
two items' losses, ½ l̃(f(x), Q) + ½ l̃(f(x'), Q): the 2n item occurrences are not independent, the n
pairs are. The mean of two losses has the range of one, so McDiarmid's inequality holds with n; and
the supremum of a mean is at most the mean of the suprema, so the pairs' Rademacher complexity is at
most that of n independent items. One number sums up the noise, the inflation κ = max(α, 1−α)/|A|
(`noise_inflation`): the corrected loss is κ times as steep and κ times as wide as the loss it
corrects. The functions take ``formula="printed"`` for the paper's own statement where it differs.
Of the models a bound needs R(F, n), the Rademacher complexity E sup_{f∈F} (1/n) Σ σᵢ f(xᵢ) over
random signs σ, which falls as 1/√n for the classes here, and of their loss what `MarginLoss` says.

*Facts*: all of it for one noise and prior, as derived and as the paper prints it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs import algebra
from noisypairs.algebra import Array, Formula
from noisypairs.errors import NotIdentifiable, did_you_mean
from noisypairs.noise import CleanPairs, NoiseModel, RandomState, printed

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
    return (_check_posterior(eta) > 0.5).astype(np.int64)


def noisy_posterior(noise: NoiseModel, prior: Prior, eta: ArrayLike) -> Array:
    """Return η_Q(x) = P(same | x) = b + (a−b) η(x), the shape of ``eta``.

    >>> from noisypairs.noise import CleanPairs
    >>> noisy_posterior(CleanPairs(), 0.2, [0.0, 0.5, 1.0])
    array([0.8, 0.5, 0.2])
    """
    b, a = algebra.same_given_class(noise.same_probability(), prior)
    posterior: Array = b + (a - b) * _check_posterior(eta)
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


def _check_posterior(eta: ArrayLike) -> Array:
    """Return η as an array after checking that it holds probabilities.

    >>> _check_posterior([0.2, 0.8])
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
    return (1.0 - weight) * b + gain * (1.0 - 2.0 * weight) * _check_posterior(eta)


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


class MarginLoss(NamedTuple):
    """A margin loss l(y f(x)) on [−r, r]: its largest value, its steepest slope, its calibration.

    ``invert`` bounds ψ⁻¹ of Bartlett, Jordan and McAuliffe (2006), *Convexity, classification and
    risk bounds*: excess 0-1 risk ≤ ψ⁻¹(excess surrogate risk). ψ(θ) is θ for the hinge, θ² for the
    squared and log 2 − h((1+θ)/2) ≥ θ²/2 for the logistic loss, h being the entropy in nats.

    >>> LOSSES["hinge"].bound(2.0), LOSSES["squared"].lipschitz(1.0)
    (3.0, 4.0)
    """

    bound: Callable[[float], float]
    lipschitz: Callable[[float], float]
    invert: Callable[[float], float]


#: The losses a bound can name: (1 − t)₊, (1 − t)² and log(1 + exp(−t)).
LOSSES: dict[str, MarginLoss] = {
    "hinge": MarginLoss(lambda r: 1 + r, lambda _: 1.0, lambda e: min(e, 1.0)),
    "squared": MarginLoss(lambda r: (1 + r) ** 2, lambda r: 2 + 2 * r, lambda e: min(e**0.5, 1.0)),
    "logistic": MarginLoss(
        lambda r: r + math.log1p(math.exp(-r)),
        lambda r: 1 / (1 + math.exp(-r)),
        lambda e: min((2 * e) ** 0.5, 1.0),
    ),
}


def _check_positive(**values: float) -> None:
    """Refuse the first value that is not positive and finite, by its name.

    >>> _check_positive(n=10, radius=0.5)
    """
    for name, value in values.items():
        if not 0.0 < value < math.inf:
            raise ValueError(f"{name}={value!r}: expected a positive number")


@dataclass(frozen=True)
class ModelClass:
    """What a bound needs of a learner: R(F, n) = complexity/√n, |f(x)| ≤ reach, its loss.

    The loss then lies in [0, ``loss_bound``] and is ``lipschitz``-Lipschitz on [−reach, reach].

    >>> ModelClass.linear(norm=2.0, radius=3.0, loss="hinge")
    ModelClass(complexity=6.0, reach=6.0, loss='hinge')
    """

    complexity: float = 1.0
    reach: float = 1.0
    loss: str = "logistic"

    def __post_init__(self) -> None:
        _check_positive(complexity=self.complexity, reach=self.reach)
        if self.loss not in LOSSES:
            raise ValueError(f"unknown loss {self.loss!r}: {did_you_mean(self.loss, LOSSES)}")

    @classmethod
    def linear(cls, norm: float = 1.0, radius: float = 1.0, loss: str = "logistic") -> ModelClass:
        """Return the class x ↦ w·x with ‖w‖₂ ≤ norm on items with ‖x‖₂ ≤ radius."""
        return cls(linear_rademacher(norm, radius, 1), norm * radius, loss)

    @classmethod
    def network(cls, path_norm: float, radius: float = 1.0, loss: str = "logistic") -> ModelClass:
        """Return the two-layer ReLU networks of `network_rademacher`."""
        return cls(network_rademacher(path_norm, radius, 1), path_norm * radius, loss)

    @property
    def lipschitz(self) -> float:
        """The loss's Lipschitz constant L on [−reach, reach]."""
        return LOSSES[self.loss].lipschitz(self.reach)

    @property
    def loss_bound(self) -> float:
        """The loss's largest value B on [−reach, reach]; the smallest is taken as 0."""
        return LOSSES[self.loss].bound(self.reach)

    def rademacher(self, n: int) -> float:
        """Return R(F, n) = complexity/√n."""
        _check_positive(n=n)
        return self.complexity / math.sqrt(n)


#: Linear models with ‖w‖‖x‖ ≤ 1 and the logistic loss.
UNIT = ModelClass()


def linear_rademacher(norm: float, radius: float, n: int) -> float:
    """Return norm·radius/√n ≥ R(F, n) for x ↦ w·x with ‖w‖₂ ≤ norm, ‖x‖₂ ≤ radius.

    (norm/n) E‖Σ σᵢxᵢ‖ ≤ (norm/n) (E‖Σ σᵢxᵢ‖²)^½ = (norm/n) (Σ‖xᵢ‖²)^½.

    >>> linear_rademacher(1.0, 2.0, 100)
    0.2
    """
    _check_positive(norm=norm, radius=radius, n=n)
    return norm * radius / math.sqrt(n)


def network_rademacher(path_norm: float, radius: float, n: int) -> float:
    """Return 2·path_norm·radius/√n ≥ R(F, n) for x ↦ Σ_j v_j relu(w_j·x), of any width.

    ``path_norm`` bounds Σ_j |v_j| ‖w_j‖₂, which is at most ‖v‖₂‖W‖_F and at most
    ‖v‖₁ max_j ‖w_j‖₂. The ReLU is homogeneous, so take ‖w_j‖ = 1, ‖v‖₁ ≤ path_norm: the supremum
    over v is path_norm · sup_w |(1/n) Σ σᵢ relu(w·xᵢ)|; the absolute value costs a factor 2, as
    w = 0 makes both signs' suprema non-negative; contraction removes the ReLU, the linear class is
    left. Bartlett and Mendelson (2002); Neyshabur, Tomioka and Srebro (2015). A constant feature
    gives the hidden units a bias.

    >>> network_rademacher(1.0, 2.0, 100)
    0.4
    """
    return 2.0 * linear_rademacher(path_norm, radius, n)


class Estimate(NamedTuple):
    """A Monte Carlo mean and its standard error.

    >>> Estimate(0.25, 0.01).value
    0.25
    """

    value: float
    standard_error: float


def empirical_rademacher(
    X: ArrayLike, norm: float = 1.0, n_draws: int = 1000, random_state: RandomState = None
) -> Estimate:
    """Return E_σ sup_{‖w‖≤norm} (1/n) Σ σᵢ w·xᵢ = (norm/n) E‖Σ σᵢxᵢ‖ for items X, shape (n, d).

    Given the signs the supremum has this closed form; their mean is taken over ``n_draws`` draws.

    >>> empirical_rademacher([[3.0, 4.0]], norm=2.0, n_draws=10, random_state=0)  # 2·‖x‖ always
    Estimate(value=10.0, standard_error=0.0)
    """
    items = np.asarray(X, dtype=float)
    if items.ndim != 2 or not items.size or not np.isfinite(items).all():
        raise ValueError(
            f"X must be a finite table of items, shape (n, d) with n, d ≥ 1; got {items.shape}"
        )
    _check_positive(norm=norm)
    if n_draws < 2:
        raise ValueError(f"n_draws={n_draws!r}: a standard error needs at least 2 draws")
    rng, n = np.random.default_rng(random_state), len(items)
    block = max(1, 1_000_000 // n)  # keeps the (block, n) signs near 8 MB for any n
    suprema = np.concatenate(
        [
            np.linalg.norm(rng.choice([-1.0, 1.0], (min(block, n_draws - done), n)) @ items, axis=1)
            for done in range(0, n_draws, block)
        ]
    ) * (norm / n)
    return Estimate(float(suprema.mean()), float(suprema.std(ddof=1) / math.sqrt(n_draws)))


def corrected_lipschitz(coefficients: ArrayLike, lipschitz: float = 1.0) -> float:
    """Return L_Q = L · max_Q Σ_y |C[Q, y]|, with C of `algebra.corrected_coefficients`.

    >>> C = algebra.corrected_coefficients([[1.0, 0.0], [0.0, 1.0]], 0.2)
    >>> round(corrected_lipschitz(C), 12)  # no noise: L/|2π − 1|
    1.666666666667
    """
    return lipschitz * float(np.abs(np.asarray(coefficients, dtype=float)).sum(axis=1).max())


def corrected_range(coefficients: ArrayLike, loss_bound: float = 1.0) -> float:
    """Return the width of l̃ when l lies in [0, B]: B (max_Q Σ_y C₊[Q, y] + max_Q Σ_y C₋[Q, y]).

    C₊ and C₋ are the positive and negative parts. For the unbiased C it equals B·L_Q/L.

    >>> C = algebra.corrected_coefficients([[1.0, 0.0], [0.0, 1.0]], 0.2)
    >>> round(corrected_range(C), 12)
    1.666666666667
    """
    C = np.asarray(coefficients, dtype=float)
    top, bottom = np.maximum(C, 0.0).sum(axis=1).max(), np.maximum(-C, 0.0).sum(axis=1).max()
    return loss_bound * float(top + bottom)


def noise_inflation(noise: NoiseModel, prior: Prior) -> float:
    """Return κ = L_Q/L = max(α, 1−α)/|A|: how much pairs loosen the bound of clean labels.

    Where R(F, n) falls as 1/√n, κ² n pairs promise what n labelled items do.

    >>> round(noise_inflation(CleanPairs(), 0.2), 12)
    1.666666666667
    """
    return corrected_lipschitz(noise.corrected_coefficients(prior))


def uniform_deviation(
    lipschitz: float, rademacher: float, n: int, delta: float, loss_range: float = 1.0
) -> float:
    """Return Lemma 1: sup_f |R̂(f) − R(f)| ≤ 2 L R(F, n) + M √(log(2/δ)/2n).

    It holds with probability 1−δ. L and M are the Lipschitz constant and the range *of the loss
    that is averaged*. R(F, n) has no absolute value in it. One side is
    symmetrisation, contraction and McDiarmid with steps M/n; the absolute value takes both sides
    at δ/2.

    >>> round(uniform_deviation(1.0, 0.01, 10_000, 0.05), 4)
    0.0336
    """
    return 2.0 * lipschitz * rademacher + loss_range * _mcdiarmid(n, delta, sides=2)


def excess_risk(
    lipschitz: float, rademacher: float, n: int, delta: float, loss_range: float = 1.0
) -> float:
    """Return Theorem 1: R(f̂) − min_F R ≤ 2 L R(F, n) + 2M √(log(1/δ)/2n).

    It holds with probability 1−δ. McDiarmid's inequality is applied to
    sup_f [R(f) − R̂(f)] − [R(f*) − R̂(f*)], with steps 2M/n. The f* part has mean zero, so one side
    and half of the printed 4 L R(F, n) suffice.

    >>> round(excess_risk(1.0, 0.01, 10_000, 0.05), 4)
    0.0445
    """
    return 2.0 * lipschitz * rademacher + 2.0 * loss_range * _mcdiarmid(n, delta)


def printed_deviation(lipschitz: float, rademacher: float, n: int, delta: float) -> float:
    """Return Lemma 1 as printed, 2 L R(F, n) + √(log(1/δ)/2n); Theorem 1 as printed is its double.

    It assumes a range M of 1, which no corrected loss has, and bounds one side only.

    >>> round(printed_deviation(1.0, 0.01, 10_000, 0.05), 4)
    0.0322
    """
    return 2.0 * lipschitz * rademacher + _mcdiarmid(n, delta)


def uniform_deviation_bound(
    noise: NoiseModel,
    prior: Prior,
    n: int,
    delta: float = 0.05,
    model: ModelClass = UNIT,
    formula: Formula = "unbiased",
) -> float:
    """Return Lemma 1 for the corrected loss of n noisy pairs.

    >>> round(uniform_deviation_bound(CleanPairs(), 0.2, 10_000), 4)
    0.0541
    """
    lipschitz, width = _corrected(noise, prior, model, formula)
    if formula == "printed":
        return printed_deviation(lipschitz, model.rademacher(n), n, delta)
    return uniform_deviation(lipschitz, model.rademacher(n), n, delta, width)


def excess_risk_bound(
    noise: NoiseModel,
    prior: Prior,
    n: int,
    delta: float = 0.05,
    model: ModelClass = UNIT,
    formula: Formula = "unbiased",
) -> float:
    """Return Theorem 1 for the corrected loss of n noisy pairs: R_l(f̂) − min_F R_l on clean items.

    Only the unbiased coefficients make it a statement on clean items.

    >>> round(excess_risk_bound(CleanPairs(), 0.2, 10_000), 4)
    0.0779
    """
    lipschitz, width = _corrected(noise, prior, model, formula)
    if formula == "printed":
        return 2.0 * printed_deviation(lipschitz, model.rademacher(n), n, delta)
    return excess_risk(lipschitz, model.rademacher(n), n, delta, width)


def clean_bound(
    prior: Prior,
    n: int,
    delta: float = 0.05,
    model: ModelClass = UNIT,
    formula: Formula = "unbiased",
) -> float:
    """Return Theorem 1 for noise-free pairs, where κ = 1/|2π − 1| (the clean S-D bound).

    >>> clean_bound(0.2, 10_000) == excess_risk_bound(CleanPairs(), 0.2, 10_000)
    True
    """
    return excess_risk_bound(CleanPairs(), prior, n, delta, model, formula)


def calibrated_regret(regret: float, alpha: float, same_rate: float, loss: str) -> float:
    """Return ξ(ε) = W ψ⁻¹(ε/W), W = (1−α)P(same) + αP(different).

    An excess α-weighted surrogate risk of ε makes the excess α-weighted 0-1 risk at most ξ(ε).
    At one x, with q = P(same | x): weights (1−α)q and α(1−q) of total w are a plain problem with
    posterior (1−α)q/w, so a wrong sign costs |q−α| = wθ and the surrogate at least wψ(θ); Jensen's
    inequality with weights w gives the claim. Scott (2012), *Calibrated asymmetric surrogate
    losses*, has the general form.

    >>> calibrated_regret(0.02, 0.5, 0.6, "squared")
    0.1
    """
    total = (1.0 - alpha) * same_rate + alpha * (1.0 - same_rate)
    return total * LOSSES[loss].invert(regret / total)


def weighted_bound(
    noise: NoiseModel,
    prior: Prior,
    n: int,
    delta: float = 0.05,
    model: ModelClass = UNIT,
    approximation: float = 0.0,
    formula: Formula = "unbiased",
) -> float:
    """Return |A|⁻¹ ξ(approximation + 2 L_α R(F, n) + 2 M_α √(log(1/δ)/2n)) ≥ R(f̂_α) − R*.

    R is the clean 0-1 risk and R* the Bayes risk; f̂_α minimises the mean of l_α(t, same) =
    (1−α) l(t), l_α(t, different) = α l(−t) over n noisy pairs, the answers swapped if A < 0.
    L_α and M_α are max(α, 1−α) times L and B, ξ is `calibrated_regret`. ``approximation`` is
    min_F − inf over all f of the *surrogate* risk E l_α; 0 says that F holds its minimiser.
    ``"printed"`` has A⁻¹, negative below prior ½, and 4 L R(F, n) + 2√(log(1/δ)/2n) inside ξ.

    >>> round(weighted_bound(CleanPairs(), 0.2, 1_000_000, model=ModelClass(loss="hinge")), 4)
    0.0115
    """
    if not approximation >= 0.0:
        raise ValueError(f"approximation={approximation!r} is a gap of minima: expected ≥ 0")
    if formula not in ("unbiased", "printed"):
        known = did_you_mean(str(formula), ["unbiased", "printed"])
        raise ValueError(f"unknown formula {formula!r}: {known}")
    S = noise.same_probability()
    gain, weight = algebra.gain(S, prior), algebra.alpha(S, prior)
    algebra.require_signal(2.0 * gain)
    slope, width, rademacher = model.lipschitz, model.loss_bound, model.rademacher(n)
    if formula == "printed":
        regret = 2.0 * printed_deviation(slope, rademacher, n, delta)
    else:
        heavier = max(weight, 1.0 - weight)
        regret = excess_risk(heavier * slope, rademacher, n, delta, heavier * width)
    # Swapping the answers exchanges α with 1−α and P(same) with P(different): W stays.
    rate = algebra.same_rate(S, prior)
    risk = calibrated_regret(approximation + regret, weight, rate, model.loss)
    return risk / (gain if formula == "printed" else abs(gain))


def sample_size(
    noise: NoiseModel,
    prior: Prior,
    epsilon: float,
    delta: float = 0.05,
    model: ModelClass = UNIT,
    formula: Formula = "unbiased",
) -> int:
    """Return the fewest pairs n with `excess_risk_bound` ≤ ε: ⌈(bound at n = 1 / ε)²⌉.

    >>> n = sample_size(CleanPairs(), 0.2, 0.1)
    >>> excess_risk_bound(CleanPairs(), 0.2, n) <= 0.1 < excess_risk_bound(CleanPairs(), 0.2, n - 1)
    True
    """
    _check_positive(epsilon=epsilon)
    return math.ceil((excess_risk_bound(noise, prior, 1, delta, model, formula) / epsilon) ** 2)


def _corrected(
    noise: NoiseModel, prior: Prior, model: ModelClass, formula: Formula
) -> tuple[float, float]:
    C = noise.corrected_coefficients(prior, formula)
    return corrected_lipschitz(C, model.lipschitz), corrected_range(C, model.loss_bound)


def _mcdiarmid(n: int, delta: float, sides: int = 1) -> float:
    """Return √(log(sides/δ)/2n), McDiarmid's deviation of a mean of n values of range 1."""
    _check_positive(n=n)
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta={delta!r} is a chance of failure: expected a number in (0, 1)")
    return math.sqrt(math.log(sides / delta) / (2 * n))


#: What each fact is called, by its key in JSON, in the order in which they are shown.
LABELS = {
    "S": "S: P(same | classes), rows and columns -, +",
    "T": "T: rows same, different; columns +, -",
    "T_inverse": "inverse of T",
    "coefficients": "corrected loss: rows same, different; columns +, -",
    "alpha": "weight alpha",
    "gain": "gain A",
    "threshold": "threshold of the noisy Bayes rule",
    "bayes_rules": "noisy and clean Bayes rule are",
    "convex": "corrected loss convex",
    "same_rate": "P(same)",
    "prior_roots": "priors with this P(same)",
    "noise_inflation": "noise inflation: bound over that of clean labels",
    "uniform_deviation": "uniform deviation (Lemma 1)",
    "excess_risk": "excess risk, loss correction (Theorem 1)",
    "clean_excess_risk": "the same without noise",
    "weighted_excess_risk": "excess 0-1 risk, weighted (approximation error 0)",
    "pairs_needed": "pairs for an excess risk of {epsilon:g} (Theorem 1)",
}


class Fact(NamedTuple):
    """One line: as derived and as the paper prints it; an exception says why it is missing."""

    key: str
    label: str
    derived: Any
    printed: Any = None


def known_facts(
    noise: NoiseModel, prior: float, n: int, delta: float, epsilon: float, model: ModelClass
) -> list[Fact]:
    """Return every fact; one that does not exist holds the exception with its reason.

    >>> from noisypairs.noise import CleanPairs
    >>> facts = known_facts(CleanPairs(), 0.2, 1000, 0.05, 0.1, ModelClass.linear())
    >>> next(fact.derived for fact in facts if fact.key == "alpha")
    0.5
    """
    S, problem = noise.same_probability(), (noise, prior)
    T, T_printed = algebra.transition(S, prior), noise.printed_transition(prior)
    rate = algebra.same_rate(S, prior)
    derived: Mapping[str, Callable[[], Any]] = {
        "S": lambda: S,
        "T": lambda: T,
        "T_inverse": lambda: algebra.invert_transition(T, "printed"),
        "alpha": lambda: algebra.alpha(S, prior),
        "gain": lambda: algebra.gain(S, prior),
        "threshold": lambda: algebra.threshold(S, prior),
        "bayes_rules": lambda: compare_bayes_rules(*problem),
        "same_rate": lambda: rate,
        # At the flattest prior rounding may leave no real root; the given one always is one.
        "prior_roots": lambda: algebra.prior_roots(S, rate) or (prior,),
        "noise_inflation": lambda: noise_inflation(*problem),
    }
    as_printed: Mapping[str, Callable[[], Any]] = {
        "T": lambda: T_printed,
        "T_inverse": lambda: algebra.invert_transition(T_printed, "printed"),
        "threshold": lambda: noise.printed_threshold(prior),
    }
    both: Mapping[str, Callable[[Formula], Any]] = {
        "coefficients": lambda f: noise.corrected_coefficients(prior, f),
        "convex": lambda f: is_convex(*problem, f),
        "uniform_deviation": lambda f: uniform_deviation_bound(*problem, n, delta, model, f),
        "excess_risk": lambda f: excess_risk_bound(*problem, n, delta, model, f),
        "clean_excess_risk": lambda f: clean_bound(prior, n, delta, model, f),
        "weighted_excess_risk": lambda f: weighted_bound(*problem, n, delta, model, formula=f),
        "pairs_needed": lambda f: sample_size(*problem, epsilon, delta, model, f),
    }

    def attempt(key: str, others: Mapping[str, Callable[[], Any]], formula: Formula) -> Any:
        value: Any
        try:
            value = both[key](formula) if key in both else others[key]() if key in others else None
        except NotIdentifiable as reason:
            return reason
        return value.tolist() if hasattr(value, "tolist") else value

    return [
        Fact(
            key,
            label.format(epsilon=epsilon),
            attempt(key, derived, "unbiased"),
            attempt(key, as_printed, "printed"),
        )
        for key, label in LABELS.items()
    ]


def facts_as_json(facts: Sequence[Fact]) -> dict[str, Any]:
    """Return derived values by key, printed ones under "printed", reasons under "missing"."""

    def plain(value: Any) -> Any:
        return None if isinstance(value, Exception) else value

    return {
        **{fact.key: plain(fact.derived) for fact in facts},
        "printed": {f.key: plain(f.printed) for f in facts if f.printed is not None},
        "missing": {f.key: str(f.derived) for f in facts if isinstance(f.derived, Exception)},
    }
