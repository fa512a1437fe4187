"""Explanations without classes: likeness, a position on a scale, an effect per item.

Answers may follow no classes at all: people may call "same" what is near on a scale, or call some
items "same" more often than others. A model with enough classes imitates both, and everything that
it states about its classes is then wrong. So these rivals predict the same held-out answers:

    likeness    log-odds of "same" = c + β |x − x'| + γ (x − x')²          a learned metric
    scale       log-odds of "same" = c − √(1 + ‖u − u'‖²) + 1              u of one or two columns
    effects     log-odds of "same" = c + e + e'

The position u (or effect e) of an item is Bx + δ: features help, and δ is shrunk by a variance that
the answers choose. Where classes do not predict better than a rival by more than a standard error,
the simpler explanation, which has no classes, is as good.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array, issparse
from scipy.special import expit, log_expit, logit
from sklearn.linear_model import LogisticRegression

from noisypairs.algebra import Array
from noisypairs.estimation.heldout import Gain, HeldOut
from noisypairs.graph.propagation import PairGraph, signed_embedding
from noisypairs.joint.problem import Problem
from noisypairs.joint.starts import Alignment
from noisypairs.pairs import Pairs

#: Rivals learn from about this many answers, those among some of the items, at most.
MOST_ANSWERS = 30_000
#: Times the variance of δ is chosen anew, steps of the descent each time, and its limits.
ROUNDS, STEPS, PRECISION = 4, 60, (0.05, 1e4)

Positions = NDArray[np.intp]


def rivals(problem: Problem, held: HeldOut, log_chance: Array) -> dict[str, Gain]:
    """Return the gain of the classes over every rival that can be tried, by name.

    None can where answers have more levels than "same" and "different".
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
    predicted: dict[str, Array] = {}
    for k in np.unique(held.fold[known & some]):
        out = some & known & (held.fold == k)
        train = pairs.select(some & (held.fold != k))
        for name, found in _predicted(problem, train, pairs.select(out)).items():
            predicted.setdefault(name, np.full(pairs.n_pairs, np.nan))[out] = found
    return {name: held.gain(log_chance, found) for name, found in predicted.items()}


def _predicted(problem: Problem, train: Pairs, out: Pairs) -> dict[str, Array]:
    """Return log P of the answers in ``out`` under every rival learnt from ``train``."""
    X = _columns(problem)
    found = {}
    if X.shape[1]:
        found["likeness"] = _likeness(X, train, out)
    for number in (1, 2):
        where = _placed(problem, train, number)
        found[f"scale of {number}"] = Latent(X, train, number, where).fit().log_chance(out)
    found["effects"] = Latent(X, train, 0).fit().log_chance(out)
    return found


def _columns(problem: Problem) -> Array:
    """Return the features as standardised columns, (n_items, d); none where there are none."""
    X = problem.Z if issparse(problem.numbers) else problem.numbers
    if X is None or not problem.has_features:
        return np.empty((problem.pairs.n_items, 0))
    return np.asarray((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9))


def _placed(problem: Problem, train: Pairs, number: int) -> Array:
    """Return where a scale begins: the directions along which answers agree most, (n, number)."""
    if problem.Z is not None and problem.has_features:
        where = Alignment(problem.Z, train).directions(number)
    else:
        where = signed_embedding(PairGraph.from_pairs(train), number, problem.seed)
    return np.asarray((where - where.mean(axis=0)) / np.maximum(where.std(axis=0), 1e-9))


def _likeness(X: Array, train: Pairs, out: Pairs) -> Array:
    """Return log P of answers under logistic regression on |x − x'| and (x − x')²."""

    def apart(pairs: Pairs) -> Array:
        distance = np.abs(X[pairs.left] - X[pairs.right])
        return np.column_stack([distance, distance**2])

    model = LogisticRegression(max_iter=500).fit(apart(train), train.same, train.weight)
    odds = model.decision_function(apart(out))
    return np.asarray(log_expit(np.where(out.same, odds, -odds)))


class Latent:
    """Positions of items on ``number`` scales, or without any an effect of every item.

    ``X`` (n_items, d) are features, ``where`` (n_items, number) first positions.

    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.integers(60, size=(2, 2000))
    >>> effect = 2.0 * rng.normal(size=60)
    >>> same = rng.random(2000) < expit(effect[left] + effect[right])
    >>> pairs = Pairs(left, right, same, 60).without_self_pairs()
    >>> found = Latent(np.empty((60, 0)), pairs, 0).fit()
    >>> bool(np.corrcoef(found.latent[:, 0], effect)[0, 1] > 0.95)
    True
    """

    def __init__(self, X: Array, pairs: Pairs, number: int, where: Array | None = None) -> None:
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
        self.values = np.concatenate([[logit(share)], slope.ravel(), own.ravel()])
        self.precision = np.ones(self.size)

    def _parts(self, values: Array) -> tuple[float, Array, Array]:
        d = self.X.shape[1] * self.size
        slope, own = values[1 : 1 + d], values[1 + d :]
        return float(values[0]), slope.reshape(-1, self.size), own.reshape(-1, self.size)

    @property
    def latent(self) -> Array:
        """The positions or effects, (n_items, size)."""
        _, slope, own = self._parts(self.values)
        return np.asarray(self.X @ slope + own)

    def _odds(self, values: Array, pairs: Pairs) -> tuple[Array, Array, Array]:
        """Return log-odds (m,), and their derivatives by both ends' latent values, (m, size)."""
        constant, slope, own = self._parts(values)
        latent = self.X @ slope + own
        left, right = latent[pairs.left], latent[pairs.right]
        if not self.number:
            ones = np.ones_like(left)
            return constant + left[:, 0] + right[:, 0], ones, ones
        apart = left - right
        distance = np.sqrt(1.0 + (apart**2).sum(axis=1))
        change = -apart / distance[:, None]
        return constant + 1.0 - distance, change, -change

    def loss(self, values: Array) -> tuple[float, Array]:
        """Return minus the log posterior and its gradient."""
        odds, by_left, by_right = self._odds(values, self.pairs)
        weight = self.pairs.weights
        _, slope, own = self._parts(values)
        fit = -float(weight @ log_expit(np.where(self.pairs.same, odds, -odds)))
        cost = float((slope**2).sum() + (self.precision * own**2).sum()) / 2
        wrong = (weight * (expit(odds) - self.pairs.same))[:, None]
        by_item = self.at_left @ (wrong * by_left) + self.at_right @ (wrong * by_right)
        gradient = [(self.X.T @ by_item + slope).ravel(), (by_item + self.precision * own).ravel()]
        return fit + cost, np.concatenate([[wrong.sum()], *gradient])

    def fit(self) -> Latent:
        """Descend, and choose the variance of δ by its expected square (MacKay's rule)."""
        how: Any = {"maxiter": STEPS}
        for _ in range(ROUNDS):
            found = minimize(self.loss, self.values, jac=True, method="L-BFGS-B", options=how)
            self.values = found.x
            odds, by_left, by_right = self._odds(self.values, self.pairs)
            curve = (self.pairs.weights * expit(odds) * expit(-odds))[:, None]
            seen = self.at_left @ (curve * by_left**2) + self.at_right @ (curve * by_right**2)
            own = self._parts(self.values)[2]
            square = (own**2 + 1.0 / (self.precision + seen)).mean(axis=0)
            self.precision = np.clip(1.0 / square, *PRECISION)
        return self

    def log_chance(self, pairs: Pairs) -> Array:
        """Return log P of answers about the same items, (n_pairs,)."""
        odds = self._odds(self.values, pairs)[0]
        return np.asarray(log_expit(np.where(pairs.same, odds, -odds)))
