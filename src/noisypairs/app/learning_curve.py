"""The learning curve: the accuracy that fits state with more and more answers, and a law for it.

The learner is fitted to growing parts of the answers, and at last to all of them. What each fit
states is followed, by the function that `fit`, `check` and `ask` state it by
(`assess.intervals.joint_intervals`):

    new items      the share of new items in the right class, by features alone
    these items    the share of the items compared in the right class, by features and answers

From that the answers still needed, by a law, its ceiling, and their intervals:

    new items      accuracy(n) = ceiling − a n^(−b)             the ceiling of these features
    these items    accuracy(n) = 1 − a exp(−b n / n_items)      enough answers reveal every class

The second law is what independent answers do: each further answer about an item divides the odds of
a mistake by about the same factor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import clone

from noisypairs.algebra import Array
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import NotIdentifiable, collected_warnings
from noisypairs.estimation import Interval
from noisypairs.pairs import Pairs

NEW, THESE = "new items", "these items"
#: The smallest part fitted, as a share of all answers, and where the answers are all there is: half
#: of them then often show no classes.
SMALLEST, SMALLEST_ALONE = 1 / 4, 0.6
#: How often classes and answers are redrawn to know what the fit of a part claims too much.
N_REDRAWN = 8

Step = Callable[[str], None]


@dataclass(frozen=True)
class LearningCurve:
    """Accuracy (S,) after so many answers (``sizes``, (S,)), with the covariance of its errors."""

    name: str
    sizes: NDArray[np.intp]
    accuracy: Array
    covariance: Array

    @property
    def error(self) -> Array:
        """Standard error of each accuracy, shape (S,)."""
        root: Array = np.sqrt(np.diag(self.covariance))
        return root


def learning_curves(
    X: Any,
    pairs: Pairs,
    model: JointPairClassifier,
    stated: Mapping[str, Interval],
    *,
    n_sizes: int = 5,
    n_orders: int = 3,
    seed: int = 0,
    step: Step = lambda _: None,
) -> tuple[LearningCurve, ...]:
    """Return the curves of new items and of these items; without features the second alone.

    - ``model`` is the fit of all ``pairs``, and ``stated`` has its intervals "accuracy" and
      "items": the last points of the curves. Parts have its number of classes and its estimator.
    - ``step`` is called with a line of text before each fit of a part.

    All points share the error that ``stated`` has. Each has one of its own besides: other answers
    would have given another model, as the parts of ``n_orders`` orders of the answers show. Sizes
    of which a part shows no classes are left out; `NotIdentifiable` where fewer than three remain.
    """
    kinds = {NEW: "accuracy", THESE: "items"}
    smallest = SMALLEST
    if X is None:
        del kinds[NEW]
        smallest = SMALLEST_ALONE
    sizes = np.unique(np.geomspace(smallest, 1.0, n_sizes) * pairs.n_pairs).astype(np.intp)
    names = tuple(kinds.values())
    found = np.full((len(sizes) - 1, len(names), n_orders), np.nan)
    for k in range(n_orders):
        # Each part contains the smaller ones, as when answers arrive over time.
        order = np.random.default_rng([seed, k]).permutation(pairs.n_pairs)
        for s, size in enumerate(sizes[:-1]):
            step(f"learning from {size:,} answers, order {k + 1} of {n_orders}")
            part = pairs.select(order[:size])
            try:
                limits = _stated(X, part, model, seed)
            except NotIdentifiable:
                continue  # too few to see any classes in
            found[s, :, k] = [limits[name].estimate for name in names]
    seen = _seen(found)
    sizes, found = sizes[[*seen, True]], found[seen]
    curves = []
    for kind, (name, of) in enumerate(kinds.items()):
        end = stated[of]
        accuracy = np.append(found[:, kind].mean(axis=1), end.estimate)
        shared = (end.high - end.low) / 2 / stats.norm.ppf(0.5 + end.level / 2)
        # Two parts may agree in all: keep the covariance invertible.
        own = found[:, kind].var(axis=1, ddof=1).mean() + 1e-8
        each = np.append(np.full(len(found), own / n_orders), own)
        curves.append(LearningCurve(name, sizes, accuracy, shared**2 + np.diag(each)))
    return tuple(curves)


def _stated(X: Any, part: Pairs, model: JointPairClassifier, seed: int) -> dict[str, Interval]:
    """Return what a fit of a part of the answers states, with classes and estimator as found.

    What it warns about shows as a lower accuracy, and is not said again.
    """
    smaller = clone(model).set_params(
        estimator=clone(model.estimator_), n_classes=model.n_classes_, random_state=seed
    )
    with collected_warnings():
        smaller.fit(X, part)
        limits: dict[str, Interval] = smaller.intervals(X, part, n_bootstrap=N_REDRAWN)
    return limits


def _seen(found: Array) -> NDArray[np.bool_]:
    """Say at which sizes the learner saw classes in every part, from (S, 2, R) with NaN else."""
    seen = np.asarray(~np.isnan(found).any(axis=(1, 2)))
    if seen.sum() < 2:
        raise NotIdentifiable(
            "all answers together show classes, but parts of them do not, so how accuracy grows "
            "with answers cannot be identified from these pairs. Ask for more pairs first"
        )
    return seen


#: Centre and spread of log b before looking: excess errors of classifiers fall with b from ½ to 2.
POWER = (np.log(1.0), 0.5, np.geomspace(0.25, 4.0, 41))
#: The rate per answer and item depends on the noise alone, and is left to the data.
RATE = (np.log(0.5), 1.5, np.geomspace(0.02, 8.0, 61))
#: Draws behind every interval.
N_DRAWS = 2000
#: A forecast of more than so many times the answers at hand is no more than "very many".
FARTHEST = 100.0


@dataclass(frozen=True)
class Need:
    """How many answers in all a target takes: infinite where the law never gets there.

    ``reachable`` is the share of the draws whose ceiling lies above the target.
    """

    total: Interval
    reachable: float


@dataclass(frozen=True)
class Forecast:
    """Draws of the law's parameters, each of shape (B,); the first is the best fit itself."""

    curve: LearningCurve
    n_items: int
    ceiling: Array
    scale: Array
    shape: Array
    level: float

    def accuracy(self, n: float) -> Interval:
        """Return the forecast accuracy after ``n`` answers in all."""
        basis = _basis(self.curve.name, np.array([n]), self.shape, self.n_items)[:, 0]
        return _interval(self.ceiling - self.scale * basis, self.level)

    def band(self, sizes: Array) -> tuple[Array, Array, Array]:
        """Return best fit, lower and upper end of `accuracy` after ``sizes`` answers, (m,) each."""
        ends = [self.accuracy(float(n)) for n in sizes]
        middle, low, high = np.array([(one.estimate, one.low, one.high) for one in ends]).T
        return middle, low, high

    @property
    def miss(self) -> float:
        """How far the best fit is from the point that it misses most, in its standard errors."""
        fitted, _, _ = self.band(self.curve.sizes.astype(float))
        return float(np.max(np.abs(fitted - self.curve.accuracy) / self.curve.error))

    @property
    def ceiling_interval(self) -> Interval:
        """Return the accuracy that no number of answers leads beyond."""
        return _interval(self.ceiling, self.level)

    @property
    def doubling(self) -> Interval:
        """By how much twice the answers would raise the accuracy: a test of the curve's slope."""
        sizes = self.curve.sizes[-1] * np.array([1.0, 2.0])
        basis = _basis(self.curve.name, sizes, self.shape, self.n_items)
        return _interval(self.scale * (basis[:, 0] - basis[:, 1]), self.level)

    def need(self, target: float) -> Need:
        """Return how many answers in all ``target`` takes, with the interval over the draws."""
        gap = self.ceiling - target
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.curve.name == NEW:
                total = (self.scale / gap) ** (1.0 / self.shape)
            else:
                total = np.log(np.maximum(self.scale / gap, 1.0)) / self.shape * self.n_items
        total = np.where(gap > 0, total, np.inf)
        total = np.where(total > FARTHEST * self.curve.sizes[-1], np.inf, total)
        return Need(_interval(total, self.level), float((gap > 0).mean()))


def forecast(curve: LearningCurve, n_items: int, *, level: float = 0.9, seed: int = 0) -> Forecast:
    """Fit the law of the curve and draw from what its errors leave open.

    Each draw moves the accuracies by an error from their covariance, and the prior of the exponent
    by one of its own, then takes the best law by weighted least squares: ceiling and scale in
    closed form for each b of a grid (ceiling ≤ 1, scale ≥ 0), then the best b. Points weigh by the
    error that each has of its own (`_own_error`), so that the law passes through them. Weights from
    the whole covariance would put it beside all points, where they share most of their error.

    >>> sizes = np.array([250, 500, 1000, 2000, 4000])
    >>> truth = 0.9 - 3.0 / sizes
    >>> curve = LearningCurve("new items", sizes, truth, np.eye(5) * 1e-6)
    >>> found = forecast(curve, 500)
    >>> round(found.ceiling_interval.estimate, 3), round(found.need(0.899).total.estimate, -2)
    (0.9, 3000.0)
    """
    rng = np.random.default_rng(seed)
    centre, spread, grid = POWER if curve.name == NEW else RATE
    S, B = len(curve.sizes), N_DRAWS + 1
    root = np.linalg.cholesky(curve.covariance + 1e-10 * np.eye(S))
    noise = np.vstack([np.zeros(S), rng.standard_normal((N_DRAWS, S))])
    # Randomise, then optimise: the draws follow the posterior as far as the law is linear.
    prior = centre + spread * np.append(0.0, rng.standard_normal(N_DRAWS))
    own = _own_error(curve.covariance)
    scaled = (curve.accuracy + noise @ root.T).T / own[:, None]  # (S, B)
    falls = _basis(curve.name, curve.sizes, grid, n_items).T / own[:, None]  # (S, G)
    ceiling, scale, loss = _solve(scaled, 1.0 / own, falls, curve.name == NEW)
    loss = loss + ((np.log(grid)[:, None] - prior) / spread) ** 2
    best = loss.argmin(axis=0)
    draw = np.arange(B)
    return Forecast(curve, n_items, ceiling[best, draw], scale[best, draw], grid[best], level)


def _own_error(covariance: Array) -> Array:
    """Return the error of each point against the mean of all, (S,): what they do not share.

    >>> _own_error(np.full((4, 4), 0.03**2) + 0.01**2 * np.eye(4)).round(3)
    array([0.01, 0.01, 0.01, 0.01])
    """
    S = len(covariance)
    apart = np.eye(S) - 1.0 / S
    variance = np.diag(apart @ covariance @ apart) * S / (S - 1)
    error: Array = np.sqrt(np.maximum(variance, 1e-8))
    return error


def _solve(Y: Array, one: Array, falls: Array, free_ceiling: bool) -> tuple[Array, Array, Array]:
    """Return ceiling, scale and loss, (G, B) each, of Y (S, B) ≈ ceiling·one − scale·falls (S, G).

    Where the free solution has a ceiling above 1 or below every point it is taken at that bound.
    """
    fY, oY = falls.T @ Y, one @ Y
    ff, of, oo = (falls**2).sum(axis=0)[:, None], (falls.T @ one)[:, None], one @ one
    YY = (Y**2).sum(axis=0)
    ceiling = np.ones_like(fY)
    if free_ceiling:
        ceiling = (ff * oY - of * fY) / np.maximum(ff * oo - of**2, 1e-300)
        ceiling = np.minimum(ceiling, 1.0)
    scale = np.maximum((ceiling * of - fY) / ff, 0.0)
    if free_ceiling:  # a curve that does not rise is flat
        ceiling = np.where(scale > 0, ceiling, np.minimum(oY / oo, 1.0))
    fitted = ceiling**2 * oo - 2 * ceiling * scale * of + scale**2 * ff
    loss = YY - 2 * (ceiling * oY - scale * fY) + fitted
    return ceiling, scale, loss


def _basis(name: str, n: NDArray[np.generic], shape: Array, n_items: int) -> Array:
    """Return n^(−b) or exp(−b n / n_items), shape (len(shape), len(n))."""
    sizes = n.astype(float)[None, :]
    if name == NEW:
        return np.asarray(sizes ** -shape[:, None])
    return np.asarray(np.exp(-shape[:, None] * sizes / n_items))


def _interval(draws: Array, level: float) -> Interval:
    """Return the best fit, the first draw, with the quantiles of the others."""
    ends = np.quantile(draws[1:], [0.5 - level / 2, 0.5 + level / 2], method="inverted_cdf")
    low, high = ends.tolist()
    best = float(draws[0])
    return Interval(best, min(low, best), max(high, best), level)
