"""Two noises in a row: wrong reports or any other noise first, then errors on the pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs import algebra
from noisypairs.algebra import Array
from noisypairs.noise.model import NoiseModel, RandomState
from noisypairs.noise.pairing import PairingNoise


@dataclass(frozen=True)
class ComposedNoise(NoiseModel):
    """One noise, then pairing noise on its answers: S' = (1−ρ_S) S + ρ_D (1−S).

    >>> from noisypairs import LabelingNoise
    >>> LabelingNoise(0.1, 0.2).then(PairingNoise(0.1, 0.0)).same_probability().round(3)
    array([[0.612, 0.234],
           [0.234, 0.738]])
    """

    first: NoiseModel
    second: PairingNoise

    def __post_init__(self) -> None:
        if not isinstance(self.second, PairingNoise):
            raise TypeError(
                f"{type(self.second).__name__} cannot come second: labels are reported before they "
                "are compared, so only pairing noise can follow another noise"
            )

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
