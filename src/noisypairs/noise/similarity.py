"""Answers that follow looks: pairs that look alike are called "same" too often.

    log-odds of "same" = … + γ (cos(x, x') − mean) + δ[y = y']

It only predicts answers and never moves a class: features say what class an item is of, and classes
that were free to leave that to similarity would explain something else. Items of one class are more
alike, so the table has part of the slope γ in it; the two shifts δ take it out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import issparse
from scipy.special import expit

from noisypairs.algebra import Array
from noisypairs.noise.answers import Expectation, Part
from noisypairs.pairs import Pairs

#: Answers on which the slope is fitted, at most.
ANSWERS = 20_000
#: Precision of the normal prior on slope and shifts, which keeps them finite.
PRECISION = 0.1


@dataclass(frozen=True, eq=False)
class Similarity(Part):
    """Cosine of two items' centred features, less its mean over the answers, times a slope.

    ``shift`` has δ for different and for same classes.
    """

    name = "similarity"
    joins = "afterwards"

    centre: Array
    mean: float
    slope: float = 0.0
    shift: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def begin(cls, pairs: Pairs, X: Any, seen: Expectation | None = None) -> Self | None:
        """Return similarity with slope zero; None where features are not numbers, or all alike."""
        del seen
        if X is None or issparse(X):
            return None
        numbers = np.asarray(X)
        if numbers.dtype.kind not in "fiub" or not np.isfinite(numbers).all():
            return None
        if not np.ptp(numbers, axis=0).any():
            return None
        start = cls(np.asarray(numbers, dtype=np.float64).mean(axis=0), 0.0)
        return replace(start, mean=float(start.likeness(X, pairs.left, pairs.right).mean()))

    @property
    def strength(self) -> float:
        """The size of the slope."""
        return abs(self.slope)

    def likeness(self, X: Any, left: NDArray[Any], right: NDArray[Any]) -> Array:
        """Return the cosines of pairs of items less their mean, shape (n,)."""
        centred = np.asarray(X, dtype=np.float64) - self.centre
        centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
        cosine = np.empty(len(left))
        for first in range(0, len(left), ANSWERS):
            rows = slice(first, first + ANSWERS)
            cosine[rows] = np.einsum("nd,nd->n", centred[left[rows]], centred[right[rows]])
        return cosine - self.mean

    def fit(self, seen: Expectation, table: Array) -> Self:
        """Return the part as it is: it moves no class, and is fitted to answers afterwards."""
        del seen, table
        return self

    def fitted_to(
        self,
        mass: tuple[Array, Array],
        odds: tuple[Array, Array],
        same: NDArray[Any],
        likeness: Array,
    ) -> Self:
        """Return the part with the slope and shifts that explain answers best.

        ``mass`` are P(different classes) and P(same class) of each answer's items, (n,) each, and
        ``odds`` the log-odds of "same" in either case. The slope is shrunk by what its error leaves
        of its square, max(1 − error²/slope², 0): none is left where answers do not follow looks.
        """
        sign = np.where(same, 1.0, -1.0)

        def unlikely(numbers: Array) -> tuple[float, Array]:
            slope, *shift = numbers
            chance = [expit(o + d + slope * likeness) for o, d in zip(odds, shift, strict=True)]
            total = np.clip(mass[0] * chance[0] + mass[1] * chance[1], 1e-9, 1 - 1e-9)
            said = np.where(same, total, 1.0 - total)
            steep = [m * c * (1 - c) * sign / said for m, c in zip(mass, chance, strict=True)]
            gradient = np.array(
                [float((steep[0] + steep[1]) @ likeness), steep[0].sum(), steep[1].sum()]
            )
            value = PRECISION / 2 * float(numbers @ numbers) - float(np.log(said).sum())
            return value, PRECISION * numbers - gradient

        found = minimize(unlikely, np.zeros(3), jac=True, method="BFGS", tol=1e-4)
        slope, different, alike = map(float, found.x)
        variance = float(np.asarray(found.hess_inv)[0, 0])
        kept = max(1.0 - variance / slope**2, 0.0) if slope else 0.0
        return replace(self, slope=kept * slope, shift=(kept * different, kept * alike))
