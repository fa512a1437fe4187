"""Tables whose truth is known: linear, kernel-like, of trees, or of interactions.

A table is drawn whole from a seed: columns of several kinds (Gaussian and correlated, skewed, few
values), a score of the items from one of four families of functions, and classes from a logistic
model of the score. What is set on such tables is not set on the tables that results are shown for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from noisypairs.experiments.problem import Problem, noise_of
from noisypairs.sampling import sample_pairs

N_TEST = 2_000
#: Flip rates of the answers, by family of noise.
NOISES = (
    ("pairing", (0.2, 0.2)),
    ("pairing", (0.1, 0.2)),
    ("pairing", (0.3, 0.3)),
    ("labeling", (0.1, 0.2)),
    ("labeling", (0.2, 0.2)),
    ("labeling", (0.3, 0.3)),
)


@dataclass(frozen=True)
class Drawn:
    """What a seed decided: training items, columns, truth, steepness of the score, prior."""

    n_items: int
    n_columns: int
    truth: str
    steepness: float
    prior: float


def linear(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a weighted sum of the columns, a few of which weigh most."""
    weight = rng.normal(size=X.shape[1]) * rng.random(X.shape[1]) ** 2
    return np.asarray(X @ weight)


def smooth(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a draw of a Gaussian process with an RBF kernel (200 random waves)."""
    waves = rng.normal(size=(X.shape[1], 200)) / np.sqrt(X.shape[1]) * rng.uniform(0.7, 1.5)
    phase = rng.uniform(0, 2 * np.pi, 200)
    return np.asarray(np.cos(X @ waves + phase) @ rng.normal(size=200))


def trees(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a sum of 15 trees with splits at random quantiles of some of the columns."""
    used = rng.permutation(X.shape[1])[: max(3, X.shape[1] // 3)]
    total = np.zeros(len(X))
    for _ in range(15):
        leaf = np.zeros(len(X), dtype=int)
        for column in rng.choice(used, 4):
            leaf = 2 * leaf + (X[:, column] > np.quantile(X[:, column], rng.uniform(0.15, 0.85)))
        total += rng.normal(size=16)[leaf]
    return total


def interactions(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return products of pairs of columns, and a weaker linear part."""
    total = 0.5 * linear(X, rng)
    for _ in range(4):
        one, other = rng.choice(X.shape[1], 2, replace=False)
        total = total + rng.normal() * np.clip(X[:, one], -3, 3) * np.clip(X[:, other], -3, 3)
    return total


TRUTHS: dict[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    "linear": linear,
    "smooth": smooth,
    "trees": trees,
    "interactions": interactions,
}


def draw(seed: int) -> tuple[Drawn, np.ndarray, np.ndarray]:
    """Return what the seed decides, items (n + `N_TEST`, d), standardised, and their classes."""
    rng = np.random.default_rng(seed)
    drawn = Drawn(
        n_items=int(np.exp(rng.uniform(np.log(300), np.log(4000)))),
        n_columns=int(np.exp(rng.uniform(np.log(5), np.log(60)))),
        truth=list(TRUTHS)[seed % len(TRUTHS)],
        steepness=float(np.exp(rng.uniform(np.log(1.5), np.log(8)))),
        prior=float(rng.uniform(0.25, 0.5)),
    )
    X = _columns(drawn.n_items + N_TEST, drawn.n_columns, rng)
    score = TRUTHS[drawn.truth](X, rng)
    score = (score - score.mean()) / score.std()
    noisy = drawn.steepness * score + rng.logistic(size=len(X))
    y = (noisy > np.quantile(noisy, 1 - drawn.prior)).astype(np.int64)
    return drawn, X, y


def _columns(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    hidden = rng.normal(size=(n, max(2, d // 3)))
    X = hidden @ rng.normal(size=(hidden.shape[1], d)) / 2 + rng.normal(size=(n, d))
    kind = rng.random(d)
    X[:, kind < 0.25] = np.exp(X[:, kind < 0.25] / 2)
    X[:, kind > 0.85] = X[:, kind > 0.85] > 0.5
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def simulated(seed: int, density: float) -> tuple[Drawn, Problem]:
    """Return a table split into training items, with ``density`` pairs each, and new items."""
    drawn, X, y = draw(seed)
    n = drawn.n_items
    noise = noise_of(*NOISES[seed // len(TRUTHS) % len(NOISES)])
    pairs = sample_pairs(y[:n], round(density * n), noise, random_state=seed)
    return drawn, Problem(X[:n], y[:n], pairs, X[n:], y[n:], noise)
