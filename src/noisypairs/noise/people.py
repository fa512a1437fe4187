"""Everybody who answered: how each uses the scale, drawn from a crowd whose spread is learnt.

    logit P("same" by r | y, y') = θ[y, y'] + δ[y = y'] + b_r + a_r (1[y = y'] − ½),
    b_r ~ N(0, σ_b²),   a_r ~ N(0, σ_a²).

θ is the log-odds of the crowd's S. The two shifts δ make up for averaging: a mean of curves is
flatter than each of them. With pairing noise the two numbers of a person are two rates of their
own, in other coordinates; with a richer S they keep what the crowd says about single classes.

Of m ordered levels there are m − 1 thresholds, and a person also stretches them:

    logit P(level ≥ l by r | y, y') =
        c + e^{s_r} (θ_l[y, y'] − c) + δ[y = y'] + b_r + a_r (1[y = y'] − ½),

with c the mean of θ_l[y, y'] over l. Who may be unsure is so with log-odds ω[y, y'] + u_r.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from noisypairs.algebra import Array
from noisypairs.noise.answers import Expectation, Part
from noisypairs.noise.model import MARGIN
from noisypairs.pairs import Pairs
from noisypairs.pairs.levels import PLAIN, Scale

#: Spreads lie between these: below the first nobody differs, beyond the second all shrinking ends.
NARROWEST, WIDEST = 0.02, 3.0
#: Newton steps of one fit; a fit goes on from the last one.
STEPS = 4
#: No step is longer than this, in log-odds.
LONGEST_STEP = 1.0
#: Precision of the normal prior on the two shifts, which keeps them finite.
SHIFT_PRECISION = 0.1
#: Spread to start from.
FIRST_SPREAD = 0.5
#: No level is less likely than this.
RAREST = 1e-4


@dataclass(frozen=True, eq=False)
class People(Part):
    """How R people use a scale: ``effects`` (R, D), their errors, and the crowd's spreads (D,).

    The first two effects are bias and skill. ``bias`` is how far a person leans towards "same", in
    log-odds; ``skill`` how much further than the crowd their two answers lie apart; ``stretch``
    how much more they use the ends of the scale; ``doubt`` how readily they are unsure. ``shift``
    has δ for different and for same pairs.
    """

    name = "people"
    joins = "search"

    effects: Array
    errors: Array
    spreads: Array
    scale: Scale = PLAIN
    shift: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def begin(cls, pairs: Pairs, X: Any, seen: Expectation | None = None) -> Self | None:
        """Return people of whom nothing is known; None where nobody, or one person, is named."""
        del X, seen
        names = pairs.annotator_names
        return None if names is None or len(names) < 2 else cls.unknown(len(names), pairs.scale)

    @classmethod
    def unknown(cls, n_people: int, scale: Scale = PLAIN) -> Self:
        """Return people of whom nothing is known yet."""
        D = 2 + (scale.n_ordered > 2) + (scale.unsure is not None)
        start = np.full((n_people, D), FIRST_SPREAD)
        return cls(np.zeros((n_people, D)), start, np.full(D, FIRST_SPREAD), scale)

    @property
    def strength(self) -> float:
        """The largest spread, none below `NARROWEST`."""
        widest = float(self.spreads.max())
        return widest if widest > NARROWEST else 0.0

    @property
    def bias(self) -> Array:
        """How far everybody leans towards "same", (R,)."""
        return self.effects[:, 0]

    @property
    def skill(self) -> Array:
        """How much further than the crowd the two answers of everybody lie apart, (R,)."""
        return self.effects[:, 1]

    @property
    def bias_error(self) -> Array:
        """Standard errors of `bias`, (R,)."""
        return self.errors[:, 0]

    @property
    def skill_error(self) -> Array:
        """Standard errors of `skill`, (R,)."""
        return self.errors[:, 1]

    @property
    def bias_spread(self) -> float:
        """Standard deviation of bias in the crowd."""
        return float(self.spreads[0])

    @property
    def skill_spread(self) -> float:
        """Standard deviation of skill in the crowd."""
        return float(self.spreads[1])

    @property
    def stretch(self) -> Array | None:
        """How much more everybody uses the ends of the scale, (R,); None of two levels."""
        return self.effects[:, 2] if self.scale.n_ordered > 2 else None

    @property
    def doubt(self) -> Array | None:
        """How readily everybody is unsure, in log-odds, (R,); None where nobody can be."""
        return self.effects[:, -1] if self.scale.unsure is not None else None

    def fit(self, seen: Expectation, table: Array) -> People:
        """Return the people after an M-step from the answers of everybody about classes."""
        K = table.shape[-1]
        return fit_people(seen.counts[..., :K, :K], table, start=self)

    def by_group(self, response: Array, alike: Array) -> Array:
        """Return the response table of everybody, (R, L, Q, Q)."""
        return self.responses(response, alike)

    def responses(self, crowd: Array, alike: ArrayLike) -> Array:
        """Return the table of everybody, (R, L, K, K), from the crowd's and which are alike."""
        return _levels(self, crowd, alike).levels


class _Levels(NamedTuple):
    """P(level) of everybody, (R, L, K, K), and its slopes by every effect, (D, R, L, K, K)."""

    levels: Array
    slopes: Array


def _levels(people: People, crowd: Array, alike: ArrayLike, slopes: bool = False) -> _Levels:
    m = people.scale.n_ordered
    contrast = np.asarray(alike, dtype=np.float64) - 0.5
    ordered, unsure = crowd[:m], None
    if people.scale.unsure is not None:
        unsure = np.clip(crowd[m], MARGIN, 1.0 - MARGIN)
        ordered = ordered / ordered.sum(axis=0)
    above = np.cumsum(ordered[::-1], axis=0)[::-1][1:]  # P(level ≥ l), l = 1 … m − 1
    odds = logit(np.clip(above, MARGIN, 1.0 - MARGIN))
    centre = odds.mean(axis=0)
    apart = odds - centre
    own = (slice(None), None, None, None)
    if people.stretch is not None:
        apart = np.exp(people.stretch)[own] * apart
    odds = centre + apart + np.where(contrast > 0, people.shift[1], people.shift[0])
    odds = odds + people.bias[own] + people.skill[own] * contrast
    chance = expit(odds)
    ends = np.zeros_like(chance[:, :1])
    kept = chance if slopes else np.clip(chance, MARGIN, 1.0 - MARGIN)
    above = np.concatenate([ends + 1.0, kept, ends], axis=1)
    levels = np.maximum(above[:, :-1] - above[:, 1:], RAREST if m > 2 else 1e-12)
    if m > 2:
        levels /= levels.sum(axis=1, keepdims=True)
    doubt = None
    if unsure is not None and people.doubt is not None:
        chance_unsure = expit(logit(unsure) + people.doubt[own])  # (R, 1, K, K)
        doubt = np.clip(chance_unsure, MARGIN, 1.0 - MARGIN)
        levels = np.concatenate([levels * (1.0 - doubt), doubt], axis=1)
    if not slopes:
        return _Levels(levels, np.empty(0))
    steep = chance * (1.0 - chance)
    found = []
    for by in (np.ones_like(contrast), contrast, apart)[: 2 + (m > 2)]:
        moved = np.concatenate([ends, steep * by, ends], axis=1)
        slope = moved[:, :-1] - moved[:, 1:]
        if doubt is not None:
            slope = np.concatenate([slope * (1.0 - doubt), ends], axis=1)
        found.append(slope)
    if doubt is not None:
        found.append(np.concatenate([-levels[:, :m] * doubt, doubt * (1.0 - doubt)], axis=1))
    return _Levels(levels, np.stack(found))


def fit_people(
    counts: Array,
    crowd: Array,
    alike: ArrayLike | None = None,
    start: People | None = None,
    steps: int = STEPS,
) -> People:
    """Fit the effects of everybody to counts of answers by level and class, (R, L, K, K).

    ``crowd`` (L, K, K) is the response table of all answers together, ``alike`` (K, K) says which
    states are of one class (the diagonal). Scoring steps on the penalised likelihood; the spreads
    follow MacKay's rule σ² = Σ b² / Σ (1 − error²/σ²). The more answers, the less a person is
    shrunk:

    >>> same = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> said = np.array([same * 5, same * 500, np.full((2, 2), 400.0)])
    >>> counts = np.stack([1000 - said, said], axis=1)
    >>> people = fit_people(counts, np.stack([1 - same, same]), steps=20)
    >>> bool(people.bias[2] > people.bias[1]), bool(people.bias_error[1] < 0.2)
    (True, True)
    """
    same_class: Array = np.eye(crowd.shape[-1]) if alike is None else np.asarray(alike, dtype=float)
    people = People.unknown(len(counts)) if start is None else start
    counts, crowd, same_class = _pooled(counts, crowd, same_class)
    for _ in range(steps):
        people = _shifted(people, counts, crowd, same_class)
        people = _step(people, counts, crowd, same_class)
    return people


def _pooled(counts: Array, crowd: Array, alike: Array) -> tuple[Array, Array, Array]:
    """Add up the counts of classes that are answered alike: with two rates, two kinds are left.

    Returns counts (R, L, G, 1), the crowd's table (L, G, 1) and which are alike, (G, 1).
    """
    R, L = counts.shape[:2]
    cells = np.concatenate([crowd.reshape(L, -1), alike.reshape(1, -1)])
    kinds, kind = np.unique(cells, axis=1, return_inverse=True)
    member = np.zeros((cells.shape[1], kinds.shape[1]))
    member[np.arange(cells.shape[1]), kind.ravel()] = 1.0
    pooled = counts.reshape(R, L, -1) @ member
    return pooled[..., None], kinds[:L, :, None], kinds[L, :, None]


def _shifted(people: People, counts: Array, crowd: Array, alike: Array) -> People:
    """Return the people after one step of the two shifts."""
    levels, slopes = _levels(people, crowd, alike, slopes=True)
    share = slopes[0] / levels
    slope = (counts * share).sum(axis=(0, 1))
    total = counts.sum(axis=1, keepdims=True)
    curvature = (total * slopes[0] * share).sum(axis=(0, 1))
    found = []
    for value, old in enumerate(people.shift):
        on = alike == value
        step = (slope[on].sum() - SHIFT_PRECISION * old) / (curvature[on].sum() + SHIFT_PRECISION)
        found.append(old + float(_cut(step)))
    return replace(people, shift=(found[0], found[1]))


def _step(people: People, counts: Array, crowd: Array, alike: Array) -> People:
    """Return the people after one scoring step of all effects of everybody, and of the spreads."""
    levels, slopes = _levels(people, crowd, alike, slopes=True)
    tight = 1.0 / people.spreads**2
    total = counts.sum(axis=1, keepdims=True)
    D, R = slopes.shape[:2]
    by_person = slopes.reshape(D, R, -1).transpose(1, 0, 2)  # (R, D, cells)
    gain, weight = ((one / levels).reshape(R, 1, -1) for one in (counts, total))
    slope = (by_person * gain).sum(axis=2) - tight * people.effects
    information = by_person @ (by_person * weight).transpose(0, 2, 1) + np.diag(tight)
    variance = np.linalg.inv(information)
    effects = people.effects + _cut(np.einsum("rde,re->rd", variance, slope))
    own = np.einsum("rdd->rd", variance)
    return replace(
        people,
        effects=effects,
        errors=np.sqrt(own),
        spreads=_spreads(effects, own, people.spreads),
    )


def _spreads(values: Array, variance: Array, old: Array) -> Array:
    """Return the spreads of which these values are estimates with these variances, (D,)."""
    known = (1.0 - variance / old**2).clip(1e-6).sum(axis=0)
    return np.asarray(np.clip(np.sqrt((values**2).sum(axis=0) / known), NARROWEST, WIDEST))


def _cut(step: Array | float) -> Array:
    return np.clip(step, -LONGEST_STEP, LONGEST_STEP)
