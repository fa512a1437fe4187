"""Intervals: of a share, and of a mean over answers that share items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from noisypairs.algebra import Array
from noisypairs.estimation.heldout import dyadic_sums
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of


@dataclass(frozen=True)
class Interval:
    """An estimate with the limits of its confidence interval, which holds with ``level``.

    >>> found = Interval(0.3, 0.25, 0.36)
    >>> print(found, 0.28 in found)
    0.300 [0.250, 0.360] True
    """

    estimate: float
    low: float
    high: float
    level: float = 0.95

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.estimate:.3f} [{self.low:.3f}, {self.high:.3f}]"


def wilson(successes: float, trials: float, level: float = 0.95) -> Interval:
    """Return Wilson's interval for a binomial proportion.

    >>> print(wilson(8, 10))
    0.800 [0.490, 0.943]
    """
    if not 0 <= successes <= trials or trials <= 0:
        raise ValueError(f"{successes} successes of {trials} trials is not a proportion")
    z2 = float(stats.norm.ppf(0.5 + checked_level(level) / 2)) ** 2
    share = successes / trials
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = np.sqrt(z2 * (share * (1 - share) + z2 / (4 * trials)) / trials) / (1 + z2 / trials)
    return Interval(share, max(float(centre - half), 0.0), min(float(centre + half), 1.0), level)


def dyadic_mean(pairs: Pairs, values: Array, level: float = 0.95) -> tuple[float, float, float]:
    """Return (mean, low, high) of one value per answer, where answers that share an item depend.

    Var = Σ r_e r_f / n² over all answers e, f that share an item (`heldout.dyadic_sums`).
    Resampling items would count the error of every answer three times on a sparse graph. Self pairs
    do not count.

    >>> dyadic_mean(Pairs([0, 1], [1, 2], [1, 0]), np.array([1.0, 1.0]))
    (1.0, 1.0, 1.0)
    """
    weight = np.where(pairs.left == pairs.right, 0.0, weights_of(pairs))
    total = float(weight.sum())
    if total == 0:
        raise ValueError("there are no pairs of two distinct items to judge by")
    mean = float(weight @ values) / total
    shared, within = dyadic_sums(pairs, weight * (values - mean))
    error = np.sqrt(max(shared, within)) / total
    half = float(stats.norm.ppf(0.5 + checked_level(level) / 2) * error)
    return mean, mean - half, mean + half


def checked_level(level: float) -> float:
    """Return the level of an interval, if it is one."""
    if not 0 < level < 1:
        raise ValueError(f"level={level!r}: expected a number strictly between 0 and 1")
    return level
