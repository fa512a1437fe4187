"""Explanations without classes: likeness, a position on a scale, an effect per item.

Answers may follow no classes at all: people may call "same" what is near on a scale, or call some
items "same" more often than others. A model with enough classes imitates both, and everything that
it states about its classes is then wrong. So these rivals predict the same held-out answers:

    likeness    log-odds of "same" = c − √(1 + ‖Bx − Bx'‖²)      a learned metric of up to 3 columns
    scale       log-odds of "same" = c − √(1 + ‖u − u'‖²)        u of one or two columns
    effects     log-odds of "same" = c + e + e'

The position u (or effect e) of an item is Bx + δ: features help. B and δ are shrunk by variances
that the answers choose. People err here as under classes, P("same") = ρ_D + (1 − ρ_S − ρ_D) σ(…).
Where classes do not predict better than a rival by more than a standard error, the simpler
explanation, which has no classes, is as good. It has classes, though, if it says that what is near
to the same item is near to each other: clusters far apart are classes on any scale. So

    P(a, c far | a, b near and b, c near) / P(a, c far)

is measured, near being the pairs of the highest log-odds, as many as it expects to be called
"same": 0 for a partition, ¼ or more for a line, 1 where nothing follows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, issparse
from scipy.special import expit, logit

from noisypairs.algebra import Array
from noisypairs.estimation.heldout import Gain, HeldOut
from noisypairs.graph.propagation import PairGraph, signed_embedding
from noisypairs.joint.problem import Problem
from noisypairs.joint.starts import Alignment
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of

#: Rivals learn from about this many answers, those among some of the items, at most.
MOST_ANSWERS = 30_000
#: Half of what a line gives at least: below this a rival has classes of its own.
PARTITION = 1 / 8
#: Items a, b, c by which that is measured.
N_TRIPLES = 4_000
#: Columns of a learned metric, at most.
RANK = 3
#: Rivals that are this many standard errors behind on the first fold are not tried on the others.
FAR_BEHIND = 3.0
#: Times the variances are chosen anew, steps of the descent each time, and their inverses' limits.
VARIANCE_ROUNDS, DESCENT_STEPS, PRECISION = 4, 60, (1e-4, 1e4)
#: Log-odds of 2 ρ to begin with, and in the middle of their prior, whose variance is one.
RARELY = -2.0


def rivals(problem: Problem, held: HeldOut, log_chance: Array) -> dict[str, Gain]:
    """Return the gain of the classes over every rival that has none of its own, by name.

    There is none where answers have more levels than "same" and "different".
    ``held`` are the problem's pairs in folds, ``log_chance`` (n_pairs,) is log P of each answer
    under the classes, NaN where it was not held out.
    """
    pairs = problem.pairs
    if not pairs.scale.is_plain:
        return {}  # they predict yes and no, and classes more levels
    some = np.ones(pairs.n_pairs, dtype=bool)
    if pairs.n_pairs > MOST_ANSWERS:
        share = np.sqrt(MOST_ANSWERS / pairs.n_pairs)
        chosen = np.random.default_rng(problem.seed).random(pairs.n_items) < share
        some = chosen[pairs.left] & chosen[pairs.right]
    known = np.isfinite(log_chance)
    X, gains = _columns(problem), dict[str, Gain]()
    for name, number in _numbers(X).items():
        predicted, apart = np.full(pairs.n_pairs, np.nan), list[float]()
        for k in np.unique(held.fold[known & some]):
            out, train = some & known & (held.fold == k), pairs.select(some & (held.fold != k))
            where = _placed(problem, train, number) if number else None
            rival = Latent(X, train, number, where, of_features=name == "likeness").fit()
            predicted[out] = rival.log_chance(pairs.select(out))
            apart.append(rival.intransitivity(problem.seed))
            gain = held.gain(log_chance, predicted)
            if gain.exceeds(FAR_BEHIND):
                break
        if apart and np.mean(apart) >= PARTITION:
            gains[name] = gain
    return gains


def _numbers(X: Array) -> dict[str, int]:
    """Return how many scales every rival has, none that of effects."""
    rank = min(X.shape[1], RANK)
    return {"effects": 0, "scale of 1": 1, "scale of 2": 2} | ({"likeness": rank} if rank else {})


def _columns(problem: Problem) -> Array:
    """Return the features as standardised columns, (n_items, d); none where there are none."""
    X = problem.Z if issparse(problem.numbers) else problem.numbers
    if X is None:
        return np.empty((problem.pairs.n_items, 0))
    return np.asarray((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9))


def _placed(problem: Problem, train: Pairs, number: int) -> Array:
    """Return where a scale begins: the directions along which answers agree most, (n, number)."""
    if problem.Z is not None:
        where = Alignment(problem.Z, train).directions(number)
    else:
        where = signed_embedding(PairGraph.from_pairs(train), number, problem.seed)
    return np.asarray((where - where.mean(axis=0)) / np.maximum(where.std(axis=0), 1e-9))


class Latent:
    """Positions of items on ``number`` scales, or without any an effect of every item.

    ``X`` (n_items, d) are features, ``where`` (n_items, number) first positions; with
    ``of_features`` these tell all of a position, δ = 0.

    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.integers(60, size=(2, 2000))
    >>> effect = 2.0 * rng.normal(size=60)
    >>> same = rng.random(2000) < expit(effect[left] + effect[right])
    >>> pairs = Pairs(left, right, same, 60).without_self_pairs()
    >>> found = Latent(np.empty((60, 0)), pairs, 0).fit()
    >>> bool(np.corrcoef(found.latent[:, 0], effect)[0, 1] > 0.95)
    True
    """

    def __init__(
        self,
        X: Array,
        pairs: Pairs,
        number: int,
        where: Array | None = None,
        of_features: bool = False,
    ) -> None:
        self.X, self.pairs, self.number = X, pairs, number
        self.size = max(number, 1)
        n, m = pairs.n_items, pairs.n_pairs
        ones, answer = np.ones(m), np.arange(m)
        self.at_left = csr_array((ones, (pairs.left, answer)), shape=(n, m))
        self.at_right = csr_array((ones, (pairs.right, answer)), shape=(n, m))
        share = (pairs.same.sum() + 0.5) / (m + 1.0)
        slope: Array = np.zeros((X.shape[1], self.size))
        own: Array = np.zeros((n, self.size))
        if where is not None:
            # What features explain of the first positions is theirs, the rest the items' own.
            slope = np.asarray(np.linalg.lstsq(X, where, rcond=None)[0]) if X.shape[1] else slope
            own = 0.5 * (where - X @ slope)
        own = own[:0] if of_features else own
        head = [logit(share) + (number > 0), RARELY, RARELY]
        self.values = np.concatenate([head, slope.ravel(), own.ravel()])
        self.of_slope, self.of_own = np.ones((2, self.size))  # inverse variances

    def _parts(self, values: Array) -> tuple[Array, Array, Array]:
        """Return constant and log-odds of both rates (3,), B (d, size) and δ, (n_items, size)."""
        d = 3 + self.X.shape[1] * self.size
        return values[:3], values[3:d].reshape(-1, self.size), values[d:].reshape(-1, self.size)

    @property
    def latent(self) -> Array:
        """The positions or effects, (n_items, size)."""
        return self._latent(self.values)

    def _latent(self, values: Array) -> Array:
        _, slope, own = self._parts(values)
        return np.asarray(self.X @ slope + (own if len(own) else 0.0))

    def _odds(self, values: Array, pairs: Pairs) -> tuple[Array, Array, Array]:
        """Return log-odds (m,), and their derivatives by both ends' latent values, (m, size)."""
        latent = self._latent(values)
        return self._between(values[0], latent[pairs.left], latent[pairs.right])

    def _between(self, constant: float, left: Array, right: Array) -> tuple[Array, Array, Array]:
        """Return the log-odds of pairs with these latent values, and their derivatives."""
        if not self.number:
            ones = np.ones_like(left)
            return constant + left[:, 0] + right[:, 0], ones, ones
        apart = left - right
        distance = np.sqrt(1.0 + (apart**2).sum(axis=1))
        change = -apart / distance[:, None]
        return constant - distance, change, -change

    def _chance(self, values: Array, odds: Array) -> tuple[Array, Array]:
        """Return P("same"), (m,), and its derivatives by log-odds and both rates', (3, m)."""
        rates = expit(values[1:3]) / 2  # ρ_S, ρ_D
        seen, turned = expit(odds), 1.0 - rates.sum()
        by_rate = rates * (1.0 - 2.0 * rates)
        slopes = [turned * seen * (1.0 - seen), -seen * by_rate[0], (1.0 - seen) * by_rate[1]]
        return np.clip(rates[1] + turned * seen, 1e-12, 1.0 - 1e-12), np.stack(slopes)

    def loss(self, values: Array) -> tuple[float, Array]:
        """Return minus the log posterior and its gradient."""
        odds, by_left, by_right = self._odds(values, self.pairs)
        chance, slopes = self._chance(values, odds)
        weight, same = weights_of(self.pairs), self.pairs.same
        head, slope, own = self._parts(values)
        fit = -float(weight @ np.log(np.where(same, chance, 1.0 - chance)))
        rare = np.r_[0.0, head[1:] - RARELY]
        cost = (self.of_slope * slope**2).sum() + (self.of_own * own**2).sum() + rare @ rare
        wrong = slopes * (weight * (chance - same) / (chance * (1.0 - chance)))
        each = wrong[0][:, None]
        by_item = self.at_left @ (each * by_left) + self.at_right @ (each * by_right)
        of_slope = self.X.T @ by_item + self.of_slope * slope
        of_own = by_item[: len(own)] + self.of_own * own
        parts = wrong.sum(axis=1) + rare, of_slope.ravel(), of_own.ravel()
        return fit + float(cost) / 2, np.concatenate(parts)

    def fit(self) -> Latent:
        """Descend, and choose the variances by expected squares (MacKay's rule)."""
        how: Any = {"maxiter": DESCENT_STEPS, "ftol": 1e-6}
        for _ in range(VARIANCE_ROUNDS):
            found = minimize(self.loss, self.values, jac=True, method="L-BFGS-B", options=how)
            self.values = found.x
            odds, by_left, by_right = self._odds(self.values, self.pairs)
            chance, slopes = self._chance(self.values, odds)
            curve = (weights_of(self.pairs) * slopes[0] ** 2 / (chance * (1.0 - chance)))[:, None]
            seen = self.at_left @ (curve * by_left**2) + self.at_right @ (curve * by_right**2)
            _, slope, own = self._parts(self.values)
            self.of_own = _precision(own, seen[: len(own)], self.of_own)
            self.of_slope = _precision(slope, (self.X**2).T @ seen, self.of_slope)
        return self

    def intransitivity(self, seed: int) -> float:
        """Return how far what is near to one item is far from each other; 1 for effects."""
        if not self.number:
            return 1.0
        latent = self.latent[np.union1d(self.pairs.left, self.pairs.right)]
        drawn = np.random.default_rng(seed).integers(len(latent), size=(N_TRIPLES, 3))
        a, b, c = latent[drawn[(np.diff(np.sort(drawn)) > 0).all(axis=1)].T]
        couples = (a, b), (b, c), (a, c)
        odds = np.stack([self._between(self.values[0], *one)[0] for one in couples])
        ab, bc, ac = odds > np.quantile(odds, 1.0 - expit(odds).mean())
        follows = float(ac[ab & bc].mean()) if (ab & bc).any() else 0.0
        return (1.0 - follows) / max(1.0 - float(ac.mean()), 1e-12)

    def log_chance(self, pairs: Pairs) -> Array:
        """Return log P of answers about the same items, (n_pairs,)."""
        chance = self._chance(self.values, self._odds(self.values, pairs)[0])[0]
        return np.asarray(np.log(np.where(pairs.same, chance, 1.0 - chance)))


def _precision(value: Array, seen: Array, before: Array) -> Array:
    """Return one over the mean expected square of normal values, (n, size), of this information."""
    if not len(value):
        return before
    square = (value**2 + 1.0 / (before + seen)).mean(axis=0)
    return np.asarray(np.clip(1.0 / square, *PRECISION))
