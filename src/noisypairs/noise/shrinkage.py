"""One matrix S per group of answers, such as an annotator: own rates, shrunk to the crowd's."""

from __future__ import annotations

import numpy as np

from noisypairs.algebra import Array
from noisypairs.noise.model import MARGIN


def group_matrices(same: Array, different: Array, crowd: Array) -> Array:
    """Return S per group, shape (R, K, K): two rates each, shrunk towards the crowd's.

    ``same`` and ``different`` are (R, K, K). Each rate of group r is
    (wrong_r + m·crowd rate)/(n_r + m); the `strength` m follows from the spread between groups
    beyond binomial chance (method of moments).

    >>> one = np.array([[[45.0, 10.0], [10.0, 45.0]]])
    >>> group_matrices(one, one[:, ::-1], np.array([[0.8, 0.2], [0.2, 0.8]])).round(2)[0, 0]
    array([0.81, 0.19])
    """
    diagonal = np.eye(crowd.shape[0], dtype=bool)
    wrong, total = group_errors(same, different)
    rates = []
    for kind, mean in ((0, 1.0 - crowd[diagonal].mean()), (1, crowd[~diagonal].mean())):
        m = strength(wrong[kind], total[kind], float(mean))
        rates.append((wrong[kind] + m * mean) / (total[kind] + m))
    similar, dissimilar = (np.clip(rate, MARGIN, 1 - MARGIN)[:, None, None] for rate in rates)
    matrices: Array = np.where(diagonal, 1.0 - similar, dissimilar)
    return matrices


def group_errors(same: Array, different: Array) -> tuple[Array, Array]:
    """Return (wrong, total), shape (2, R) each: row 0 on truly same, row 1 on different pairs.

    >>> group_errors(np.ones((1, 2, 2)), np.zeros((1, 2, 2)))[0].tolist()
    [[0.0], [2.0]]
    """
    diagonal = np.eye(same.shape[1], dtype=bool)
    wrong = np.stack([different[:, diagonal].sum(axis=1), same[:, ~diagonal].sum(axis=1)])
    both = same + different
    return wrong, np.stack([both[:, diagonal].sum(axis=1), both[:, ~diagonal].sum(axis=1)])


def strength(wrong: Array, total: Array, mean: float) -> float:
    """Return how many answers the crowd's rate is worth against a group's own, in [2, 200].

    >>> strength(np.array([1.0, 1.0]), np.array([10.0, 10.0]), 0.1)
    200.0
    """
    spread = float(((wrong - mean * total) ** 2).sum() - (mean * (1 - mean) * total).sum())
    beyond = spread / max(float((total**2 - total).clip(0).sum()), 1e-9)
    if beyond <= 0:
        return 200.0
    return float(np.clip(mean * (1 - mean) / beyond - 1.0, 2.0, 200.0))
