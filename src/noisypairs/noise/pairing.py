"""Pairing noise: the annotator errs on the pair, alone or after another noise."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs import algebra
from noisypairs.algebra import Array
from noisypairs.noise.model import (
    MARGIN,
    PSEUDO_ANSWERS,
    PSEUDO_RATE,
    NoiseModel,
    RandomState,
    cannot_come_second,
    check_rates,
)


@dataclass(frozen=True)
class PairingNoise(NoiseModel, family="pairing", auto=True):
    """The annotator errs on the pair: P("different" | same) = ρ_S, P("same" | different) = ρ_D.

    S = 1 − ρ_S on the diagonal, ρ_D off it.

    Parameters
    ----------
    similar_flip : ρ_S, how often a pair of one class is called "different".
    dissimilar_flip : ρ_D, how often a pair of two classes is called "same". The two sum to less
        than 1: at 1 the answers would say nothing.

    Examples
    --------
    >>> PairingNoise(0.1, 0.2).same_probability()
    array([[0.9, 0.2],
           [0.2, 0.9]])
    """

    similar_flip: float
    dissimilar_flip: float

    def __post_init__(self) -> None:
        check_rates(similar_flip=self.similar_flip, dissimilar_flip=self.dissimilar_flip)

    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S, shape (K, K): 1 − ρ_S on the diagonal, ρ_D off it."""
        return algebra.compose(np.eye(n_classes), self.similar_flip, self.dissimilar_flip)

    @classmethod
    def fit(cls, same_counts: Array, different_counts: Array) -> PairingNoise:
        """Fit ρ_S to the diagonal and ρ_D to the rest: shares of wrong answers.

        >>> same = np.array([[800.0, 0.0], [0.0, 80.0]])
        >>> PairingNoise.fit(same, np.array([[80.0, 1e3], [1e3, 30.0]]))
        PairingNoise(similar_flip=0.112, dissimilar_flip=0.001)
        """
        diagonal = np.eye(len(same_counts), dtype=bool)
        similar = _rate(different_counts[diagonal].sum(), same_counts[diagonal].sum())
        dissimilar = _rate(same_counts[~diagonal].sum(), different_counts[~diagonal].sum())
        similar, dissimilar = max(similar, MARGIN), max(dissimilar, MARGIN)
        shrink = min(1.0, (1.0 - 2 * MARGIN) / (similar + dissimilar))
        return PairingNoise(float(similar * shrink), float(dissimilar * shrink))

    @classmethod
    def from_rates(cls, first: float, second: float) -> PairingNoise:
        """Build the model from ρ_S and ρ_D."""
        return PairingNoise(first, second)

    @classmethod
    def n_parameters(cls, n_classes: int) -> int:
        """Return 2, whatever the number of classes (for one class S has a single entry)."""
        return min(2, super().n_parameters(n_classes))

    def after(self, first: NoiseModel) -> ComposedNoise:
        """Return this noise on the answers of another one."""
        return ComposedNoise(first, self)


@dataclass(frozen=True)
class CleanPairs(PairingNoise):
    """Every answer is true: S = I.

    >>> CleanPairs().same_probability(3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    similar_flip: float = field(default=0.0, init=False, repr=False)
    dissimilar_flip: float = field(default=0.0, init=False, repr=False)


@dataclass(frozen=True)
class ComposedNoise(NoiseModel):
    """One noise, then pairing noise on its answers: S' = (1−ρ_S) S + ρ_D (1−S).

    Parameters
    ----------
    first : any noise model, with the matrix S.
    second : `PairingNoise`, with ρ_S and ρ_D. ``first.then(second)`` builds the same.

    Examples
    --------
    >>> from noisypairs import LabelingNoise
    >>> LabelingNoise(0.1, 0.2).then(PairingNoise(0.1, 0.0)).same_probability().round(3)
    array([[0.612, 0.234],
           [0.234, 0.738]])
    """

    first: NoiseModel
    second: PairingNoise

    def __post_init__(self) -> None:
        if not isinstance(self.second, PairingNoise):
            raise cannot_come_second(self.second)

    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S', shape (K, K)."""
        return algebra.compose(
            self.first.same_probability(n_classes),
            self.second.similar_flip,
            self.second.dissimilar_flip,
        )

    def corrupt(
        self,
        y: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        n_classes: int | None = None,
        random_state: RandomState = None,
    ) -> NDArray[np.bool_]:
        """Draw the first model's answers, then flip them by the rates of the second."""
        rng = np.random.default_rng(random_state)
        answers = self.first.corrupt(y, left, right, n_classes, rng)
        keep = np.where(answers, 1.0 - self.second.similar_flip, self.second.dissimilar_flip)
        flipped: NDArray[np.bool_] = rng.random(keep.shape) < keep
        return flipped

    def permuted(self, order: ArrayLike) -> ComposedNoise:
        """Return the noise with the classes of the first model renumbered."""
        return ComposedNoise(self.first.permuted(order), self.second)


def _rate(wrong: float, right: float) -> float:
    return float((wrong + PSEUDO_ANSWERS * PSEUDO_RATE) / (wrong + right + PSEUDO_ANSWERS))
