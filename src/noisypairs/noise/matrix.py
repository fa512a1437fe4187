"""Any noise at all: the matrix S itself, entry by entry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noisypairs import algebra
from noisypairs.algebra import Array
from noisypairs.noise.model import MARGIN, PSEUDO_ANSWERS, PSEUDO_RATE, NoiseModel


@dataclass(frozen=True)
class MatrixNoise(NoiseModel, family="free", auto=True):
    """Any symmetric S, given whole, for when no simpler model fits the answers.

    >>> MatrixNoise([[0.9, 0.3], [0.3, 0.6]]).same_probability()
    array([[0.9, 0.3],
           [0.3, 0.6]])
    """

    same: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        S = algebra.noise_matrix(self.same)
        object.__setattr__(self, "same", tuple(tuple(map(float, row)) for row in S))

    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S as it was given."""
        if len(self.same) != n_classes:
            raise ValueError(f"S is given for {len(self.same)} classes, asked for {n_classes}")
        return np.array(self.same)

    @classmethod
    def fit(cls, same_counts: Array, different_counts: Array) -> MatrixNoise:
        """Fit every entry of the symmetric S by its own share of "same" answers.

        >>> same = np.array([[90.0, 20.0], [20.0, 60.0]])
        >>> MatrixNoise.fit(same, np.array([[10.0, 80.0], [80.0, 40.0]]))
        MatrixNoise(same=((0.89..., 0.2), (0.2, 0.61...)))
        """
        prior = np.where(np.eye(len(same_counts), dtype=bool), 1.0 - PSEUDO_RATE, PSEUDO_RATE)
        total = same_counts + different_counts + PSEUDO_ANSWERS
        S = (same_counts + PSEUDO_ANSWERS * prior) / total
        S = np.clip((S + S.T) / 2, MARGIN, 1 - MARGIN)
        return MatrixNoise(tuple(map(tuple, S.tolist())))
