"""Simulated items with noisy answers, for benchmarks that compare versions.

"Answers per item" is the number of answers over the number of items: every item is in about twice
as many.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from noisypairs import PairingNoise, Pairs, sample_pairs

#: Spread of the class means, in standard deviations within a class, over ten columns.
SPREADS = {"clear": 1.5, "weak": 0.7}
N_FEATURES = 10


@dataclass(frozen=True, eq=False)
class Draw:
    """Items (n, d) with true classes (n,), answers about them, and new items (m, d)."""

    X: np.ndarray
    y: np.ndarray
    pairs: Pairs
    X_new: np.ndarray
    y_new: np.ndarray


def gaussian_classes(
    n_classes: int,
    n_items: int,
    answers_per_item: float,
    *,
    features: str = "clear",
    skew: float = 1.0,
    rates: tuple[float, float] = (0.2, 0.1),
    n_new: int = 0,
    seed: int = 0,
) -> Draw:
    """Return Gaussian classes, the largest ``skew`` times the smallest, with pairing noise.

    ``rates`` are similar_flip and dissimilar_flip.
    """
    rng = np.random.default_rng([seed, n_classes])
    share = np.geomspace(1, skew, n_classes)
    share /= share.sum()
    means = SPREADS[features] * rng.normal(size=(n_classes, N_FEATURES))
    ends = np.round(np.cumsum(share) * n_items)
    y = rng.permutation(np.searchsorted(ends, np.arange(n_items), side="right"))
    y_new = rng.choice(n_classes, n_new, p=share)
    X, X_new = (means[part] + rng.normal(size=(len(part), N_FEATURES)) for part in (y, y_new))
    n_pairs = round(answers_per_item * n_items)
    pairs = sample_pairs(y, n_pairs, PairingNoise(*rates), random_state=int(rng.integers(2**31)))
    return Draw(X, y, pairs, X_new, y_new)


def compared(pairs: Pairs) -> np.ndarray:
    """Return which items are in at least one pair, as positions."""
    return np.unique([pairs.left, pairs.right])


def true_names(y: np.ndarray, item_proba: np.ndarray) -> np.ndarray:
    """Return the true class that each class of a model stands for, by the best matching.

    ``y`` (n,) are true classes, ``item_proba`` (n, K) the model's about the same items. A class
    that is matched with none is −1.
    """
    table = np.zeros((item_proba.shape[1], int(y.max()) + 1))
    np.add.at(table, (item_proba.argmax(axis=1), y), 1)
    rows, columns = linear_sum_assignment(table, maximize=True)
    names = np.full(len(table), -1)
    names[rows] = columns
    return names


def mean_flips(model: Any) -> tuple[float, float]:
    """Return similar_flip and dissimilar_flip of a fitted joint learner, averaged over classes."""
    share = model.item_proba_.mean(axis=0)
    S = model.noise_.same_probability(len(share))
    both = np.outer(share, share)
    alike = np.diag(np.diag(both))
    different = both - alike
    return 1 - float((S * alike).sum() / alike.sum()), float(
        (S * different).sum() / different.sum()
    )
