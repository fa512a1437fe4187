"""Items that people do not recognise: a hidden bit per item, clear or hard, beside its class.

A state is (class, clarity): states 0..K−1 are the clear classes and K..2K−1 the hard ones. Answers
about two clear items follow any noise model. Where one item is hard, two rates are left, whatever
the classes: P("same") for one class and for two; two more where both are. It is still one matrix S,
of size 2K, so belief propagation and counting stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.algebra import Array
from noisypairs.noise.model import MARGIN, PSEUDO_ANSWERS, Fit, NoiseModel

#: Share of hard items to start from.
FIRST_SHARE = 0.1
#: Hard items as they are guessed at first: P("same") for one class, and for two.
FIRST_RATES = (0.55, 0.45)


@dataclass(frozen=True)
class ClarityNoise(NoiseModel):
    """Any noise between clear items, and four rates for answers about hard ones.

    ``one_hard`` and ``both_hard`` hold P("same" | one class) and P("same" | two classes);
    ``hard_share`` is the share of hard items, by which S of the K classes is a mean.

    >>> from noisypairs import PairingNoise
    >>> noise = ClarityNoise(PairingNoise(0.1, 0.1), (0.5, 0.3), (0.6, 0.6), 0.2, n_classes=2)
    >>> noise.same_probability(4)
    array([[0.9, 0.1, 0.5, 0.3],
           [0.1, 0.9, 0.3, 0.5],
           [0.5, 0.3, 0.6, 0.6],
           [0.3, 0.5, 0.6, 0.6]])
    >>> noise.same_probability(2).round(3)
    array([[0.76 , 0.184],
           [0.184, 0.76 ]])
    """

    clear: NoiseModel
    one_hard: tuple[float, float]
    both_hard: tuple[float, float]
    hard_share: float
    n_classes: int

    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S of the 2K states, or of the K classes where so many are asked for."""
        K = self.n_classes
        clear, alike = self.clear.same_probability(K), np.eye(K, dtype=bool)
        one, both = (np.where(alike, *rates) for rates in (self.one_hard, self.both_hard))
        if n_classes == 2 * K:
            return np.block([[clear, one], [one, both]])
        if n_classes != K:
            raise ValueError(f"clear and hard items of {K} classes, but {n_classes} are needed")
        h = self.hard_share
        mean: Array = (1 - h) ** 2 * clear + 2 * h * (1 - h) * one + h**2 * both
        return mean

    def same_class(self, n_states: int) -> NDArray[np.bool_]:
        """Return which states are of one class, clear or hard."""
        which = np.arange(n_states) % self.n_classes
        same: NDArray[np.bool_] = which[:, None] == which
        return same

    def permuted(self, order: ArrayLike) -> ClarityNoise:
        """Return the noise with its classes renumbered."""
        clear = self.clear.permuted(order)
        return ClarityNoise(clear, self.one_hard, self.both_hard, self.hard_share, self.n_classes)


def first_clarity(clear: NoiseModel, n_classes: int) -> ClarityNoise:
    """Return the noise to start from: answers about hard items say next to nothing."""
    return ClarityNoise(clear, FIRST_RATES, FIRST_RATES, FIRST_SHARE, n_classes)


def fit_clarity(fit_clear: Fit, n_classes: int) -> Fit:
    """Return the M-step of 2K states: the noise of clear items, and four rates by counting.

    >>> from noisypairs import PairingNoise
    >>> S = first_clarity(PairingNoise(0.2, 0.1), 2).same_probability(4)
    >>> found = fit_clarity(PairingNoise.fit, 2)(1000 * S, 1000 * (1 - S))
    >>> str(found.clear), [round(rate, 2) for rate in found.one_hard]
    ('PairingNoise(similar_flip=0.2, dissimilar_flip=0.1)', [0.55, 0.45])
    """
    K, on = n_classes, np.eye(n_classes, dtype=bool)

    def fit(same: Array, different: Array) -> ClarityNoise:
        def rates(rows: slice, columns: slice) -> tuple[float, float]:
            said, other = same[rows, columns], different[rows, columns]
            return _rate(said[on], other[on]), _rate(said[~on], other[~on])

        low, high = slice(0, K), slice(K, 2 * K)
        total = (same + different).sum(axis=1)
        share = float(np.clip(total[high].sum() / max(total.sum(), 1e-12), MARGIN, 0.5))
        clear = fit_clear(same[low, low], different[low, low])
        return ClarityNoise(clear, rates(low, high), rates(high, high), share, K)

    return fit


def _rate(same: Array, different: Array) -> float:
    """Return the share of "same", with a weak prior at one half."""
    said, total = float(same.sum()), float((same + different).sum())
    rate = (said + PSEUDO_ANSWERS / 2) / (total + PSEUDO_ANSWERS)
    return float(np.clip(rate, MARGIN, 1.0 - MARGIN))


def with_clarity(beliefs: Array, hard_share: float = FIRST_SHARE) -> Array:
    """Return P(class, clarity), shape (n, 2K), of items that are hard with this chance."""
    return np.hstack([(1.0 - hard_share) * beliefs, hard_share * beliefs])


def without_clarity(beliefs: Array) -> Array:
    """Return P(class), shape (n, K), from P(class, clarity)."""
    K = beliefs.shape[1] // 2
    both: Array = beliefs[:, :K] + beliefs[:, K:]
    return both


def hard_probability(beliefs: Array) -> Array:
    """Return P(hard), shape (n,), from P(class, clarity)."""
    hard: Array = beliefs[:, beliefs.shape[1] // 2 :].sum(axis=1)
    return hard
