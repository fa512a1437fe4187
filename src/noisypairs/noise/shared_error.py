"""An error that everybody makes on a pair, where each pair has a truth of its own.

Answers to one pair that were independent given its truth would make it certain: its log-odds are
the sum L of what everybody's answer says. Judges who err together, such as prompts of one language
model, are worth fewer, and on some pairs all of them are wrong:

    P(same | answers) = ε₁ + (1 − ε₀ − ε₁) σ(a + b L),     b ≈ 1 / (1 + (m − 1) ρ),

with m answers to a pair and ρ the correlation of their errors. ρ = 0 leaves b = 1 and ε = 0. The
answers show ρ only as far as judges contradict each other: what all of them get wrong, known pairs
tell alone. So a, b and the two ε are a posterior on a grid, which known pairs narrow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from noisypairs.algebra import Array
from noisypairs.noise.pair_error import LEAST

#: The grid of log b, a and ε.
SLOPES = np.linspace(np.log(0.01), np.log(1.5), 36)
OFFSETS = np.linspace(-8.0, 8.0, 41)
ERRORS = np.array([0.0, 0.005, 0.015, 0.04, 0.08, 0.15, 0.25, 0.38])
#: Standard deviations of log b and of a before any pair is known, and mean of ε.
SLOPE_SPREAD, OFFSET_SPREAD, MEAN_ERROR = 1.5, 4.0, 0.1
#: The same where no pair is known, and the answers must tell.
BLIND = (0.5, 1.0, 0.05)
#: A correlation of this size leaves all of that open even where no pair is known.
LARGE = 0.25


@dataclass(frozen=True, eq=False)
class SharedError:
    """The posterior of (a, b, ε₀, ε₁): points of the grid, (4, G), and their weights, (G,).

    ``score`` (n_pairs,) is L of the pairs that it is applied to, ``rho`` the correlation of errors
    behind the prior, ``n_known`` how many pairs were known.
    """

    score: Array
    points: Array
    weight: Array
    rho: float
    n_known: int

    @classmethod
    def fit(
        cls,
        score: Array,
        known: NDArray[np.int8],
        rho: float,
        answers_per_pair: float,
        share: float,
    ) -> Self | None:
        """Return the posterior given ``known`` pairs (1 same, 0 different, −1 unknown), (n,).

        ``score`` (n,) is L. None where errors do not correlate and no pair is known.

        >>> score, known = np.repeat([-9.0, 9.0], 50), np.tile([0, 1], 50)  # L tells nothing
        >>> found = SharedError.fit(score, known, 0.5, 10.0, 0.5)
        >>> bool(np.abs(found.proba() - 0.5).max() < 0.15)
        True
        """
        at = np.flatnonzero(known >= 0)
        if at.size == 0 and rho < LEAST:
            return None
        spread, offset, error = (SLOPE_SPREAD, OFFSET_SPREAD, MEAN_ERROR)
        if not at.size:
            spread, offset, error = (size * min(rho / LARGE, 1.0) for size in BLIND)
        grid = np.meshgrid(OFFSETS, SLOPES, ERRORS, ERRORS, indexing="ij")
        a, slope, missed, mixed = (one.ravel() for one in grid)
        b = np.exp(slope)
        worth = -np.log1p(max(answers_per_pair - 1.0, 0.0) * rho)
        a0 = logit(share) * np.exp(worth)
        width = np.gradient(ERRORS)
        cells = np.log(width)[:, None] + np.log(width)
        log_weight = (
            -0.5 * ((slope - worth) / spread) ** 2
            - 0.5 * ((a - a0) / offset) ** 2
            - missed / (error * min((1.0 - share) / share, 1.0))
            - mixed / (error * min(share / (1.0 - share), 1.0))
            + np.tile(cells.ravel(), len(OFFSETS) * len(SLOPES))
        )
        times = Counter(zip(np.round(score[at], 3).tolist(), known[at].tolist(), strict=True))
        for (L, truth), n in times.items():
            same = mixed + (1.0 - missed - mixed) * expit(a + b * L)
            log_weight += n * np.log(np.clip(same if truth else 1.0 - same, 1e-12, None))
        weight = np.exp(log_weight - log_weight.max())
        kept = weight > 1e-6
        points = np.stack([a, b, missed, mixed])[:, kept]
        return cls(score, points, weight[kept] / weight[kept].sum(), rho, int(at.size))

    @property
    def strength(self) -> float:
        """By how much judges are worth less than if they were independent: 1 − E b."""
        return 1.0 - float(self.weight @ self.points[1])

    def draws(self, n: int, rng: np.random.Generator) -> Iterator[Array]:
        """Yield P(same) of every pair under ``n`` draws from the posterior, (n_pairs,) each."""
        for a, b, missed, mixed in self.points[:, rng.choice(len(self.weight), n, p=self.weight)].T:
            yield mixed + (1.0 - missed - mixed) * expit(a + b * self.score)

    def proba(self) -> Array:
        """Return P(same) of every pair, averaged over the posterior, (n_pairs,)."""
        distinct, place = np.unique(np.round(self.score, 3), return_inverse=True)
        a, b, missed, mixed = self.points
        mean = [self.weight @ (mixed + (1 - missed - mixed) * expit(a + b * L)) for L in distinct]
        return np.asarray(mean)[place]


def families(names: NDArray[Any]) -> NDArray[np.intp] | None:
    """Return the family of every judge by the part of the name before "/"; None if there is none.

    >>> families(np.array(["gpt/long", "gpt/short", "llama/long"]))
    array([0, 0, 1])
    >>> families(np.array(["ann", "bob"])) is None
    True
    """
    first = [str(name).split("/", 1)[0] for name in names.tolist()]
    alone = all("/" not in str(name) for name in names.tolist())
    code: NDArray[np.intp] = np.unique(first, return_inverse=True)[1]
    return None if alone or len(set(first)) == len(first) else code
