"""Everybody who answered: a bias and a skill for each, drawn from a crowd whose spread is learnt.

    logit P("same" by r | y, y') = θ[y, y'] + δ[y = y'] + b_r + a_r (1[y = y'] − ½),
    b_r ~ N(0, σ_b²),   a_r ~ N(0, σ_a²).

θ is the log-odds of the crowd's S. The two shifts δ make up for averaging: a mean of curves is
flatter than each of them. With pairing noise the two numbers of a person are two rates of their
own, in other coordinates; with a richer S they keep what the crowd says about single classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from noisypairs.algebra import Array
from noisypairs.noise.answers import Expectation, Part
from noisypairs.noise.model import MARGIN
from noisypairs.pairs import Pairs

#: Spreads lie between these: below the first nobody differs, beyond the second all shrinking ends.
NARROWEST, WIDEST = 0.02, 3.0
#: Newton steps of one fit; a fit goes on from the last one.
STEPS = 4
#: No step is longer than this, in log-odds.
LONGEST_STEP = 1.0
#: Precision of the normal prior on the two shifts, which keeps them finite.
SHIFT_PRECISION = 0.1


@dataclass(frozen=True, eq=False)
class People(Part):
    """Bias and skill of R people, shape (R,) each, with standard errors and the crowd's spreads.

    ``bias`` is how far a person leans towards "same", in log-odds; ``skill`` how much further than
    the crowd their two answers lie apart. ``shift`` has δ for different and for same pairs.
    ``cost`` is by how many nats the likelihood of the fitted numbers exceeds that of the crowd they
    are drawn from (Laplace's approximation): what they must gain at least.
    """

    name = "people"
    with_search = True

    bias: Array
    skill: Array
    bias_error: Array
    skill_error: Array
    bias_spread: float = 0.5
    skill_spread: float = 0.5
    shift: tuple[float, float] = (0.0, 0.0)
    cost: float = 0.0

    @classmethod
    def begin(cls, pairs: Pairs, X: Any, seen: Expectation | None = None) -> Self | None:
        """Return people of whom nothing is known; None where nobody, or one person, is named."""
        del X, seen
        names = pairs.annotator_names
        return None if names is None or len(names) < 2 else cls.unknown(len(names))

    @property
    def strength(self) -> float:
        """The larger of the two spreads, none below `NARROWEST`."""
        widest = max(self.bias_spread, self.skill_spread)
        return widest if widest > NARROWEST else 0.0

    def fit(self, seen: Expectation, table: Array) -> People:
        """Return the people after an M-step from the answers of everybody about classes."""
        K = len(table)
        return fit_people(seen.same[:, :K, :K], seen.different[:, :K, :K], table, start=self)

    def by_group(self, S: Array, alike: Array) -> Array:
        """Return S of everybody, (R, Q, Q)."""
        return self.matrices(S, alike)

    @classmethod
    def unknown(cls, n_people: int) -> Self:
        """Return people of whom nothing is known yet."""
        zero, half = np.zeros(n_people), np.full(n_people, 0.5)
        return cls(zero, zero, half, half)

    def matrices(self, crowd: Array, alike: ArrayLike) -> Array:
        """Return S of everybody, shape (R, K, K), from the crowd's S and which states are alike."""
        return np.clip(expit(self.log_odds(crowd, alike)), MARGIN, 1.0 - MARGIN)

    def log_odds(self, crowd: Array, alike: ArrayLike) -> Array:
        """Return the log-odds of "same" by everybody, shape (R, K, K)."""
        contrast = np.asarray(alike, dtype=np.float64) - 0.5
        return (
            logit(np.clip(crowd, MARGIN, 1.0 - MARGIN))
            + np.where(contrast > 0, self.shift[1], self.shift[0])
            + self.bias[:, None, None]
            + self.skill[:, None, None] * contrast
        )


def fit_people(
    same: Array,
    different: Array,
    crowd: Array,
    alike: ArrayLike | None = None,
    start: People | None = None,
    steps: int = STEPS,
) -> People:
    """Fit bias and skill of everybody to counts of answers by class, (R, K, K) each.

    ``crowd`` (K, K) is S of all answers together, ``alike`` (K, K) says which states are of one
    class (the diagonal). Newton steps on the penalised likelihood; the spreads follow MacKay's rule
    σ² = Σ b² / Σ (1 − error²/σ²). The more answers, the less a person is shrunk:

    >>> crowd = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> counts = np.array([crowd * 5, crowd * 500, np.full((2, 2), 400.0)])
    >>> people = fit_people(counts, 1000 - counts, crowd, steps=20)
    >>> bool(people.bias[2] > people.bias[1]), bool(people.bias_error[1] < 0.2)
    (True, True)
    """
    same_class: Array = np.eye(len(crowd)) if alike is None else np.asarray(alike, dtype=float)
    people = People.unknown(len(same)) if start is None else start
    contrast = (same_class - 0.5).ravel()
    total = (same + different).reshape(len(same), -1)
    said = same.reshape(len(same), -1)
    for _ in range(steps):
        people = _shifted(people, said, total, crowd, same_class)
        people = _step(people, said, total, crowd, same_class, contrast)
    return people


def _residuals(
    people: People, said: Array, total: Array, crowd: Array, alike: Array
) -> tuple[Array, Array]:
    """Return answers less their expectation, and their variance, shape (R, K·K) each."""
    chance = expit(people.log_odds(crowd, alike)).reshape(total.shape)
    return said - total * chance, total * chance * (1.0 - chance)


def _shifted(people: People, said: Array, total: Array, crowd: Array, alike: Array) -> People:
    """Return the people after one step of the two shifts."""
    residual, variance = (
        part.sum(axis=0) for part in _residuals(people, said, total, crowd, alike)
    )
    found = []
    for value, old in enumerate(people.shift):
        on = alike.ravel() == value
        slope = residual[on].sum() - SHIFT_PRECISION * old
        found.append(old + float(_cut(slope / (variance[on].sum() + SHIFT_PRECISION))))
    return replace(people, shift=(found[0], found[1]))


def _step(
    people: People, said: Array, total: Array, crowd: Array, alike: Array, contrast: Array
) -> People:
    """Return the people after one Newton step of both numbers of everybody, and of the spreads."""
    residual, variance = _residuals(people, said, total, crowd, alike)
    tight = 1.0 / people.bias_spread**2, 1.0 / people.skill_spread**2
    slope_bias = residual.sum(axis=1) - tight[0] * people.bias
    slope_skill = residual @ contrast - tight[1] * people.skill
    both, across = variance.sum(axis=1) + tight[0], variance @ contrast
    own = variance @ contrast**2 + tight[1]
    determinant = both * own - across**2
    bias = people.bias + _cut((own * slope_bias - across * slope_skill) / determinant)
    skill = people.skill + _cut((both * slope_skill - across * slope_bias) / determinant)
    return replace(
        people,
        bias=bias,
        skill=skill,
        bias_error=np.sqrt(own / determinant),
        skill_error=np.sqrt(both / determinant),
        bias_spread=_spread(bias, own / determinant, people.bias_spread),
        skill_spread=_spread(skill, both / determinant, people.skill_spread),
        cost=0.5
        * float(
            tight[0] * (bias @ bias)
            + tight[1] * (skill @ skill)
            + np.log(determinant / (tight[0] * tight[1])).sum()
        ),
    )


def _spread(values: Array, variance: Array, old: float) -> float:
    """Return the spread of which these values are estimates with these variances."""
    known = float((1.0 - variance / old**2).clip(1e-6).sum())
    return float(np.clip(np.sqrt((values @ values) / known), NARROWEST, WIDEST))


def _cut(step: Array | float) -> Array:
    return np.clip(step, -LONGEST_STEP, LONGEST_STEP)
