"""How far rates of single groups, such as annotators or pairs of classes, are shrunk together."""

from __future__ import annotations

import numpy as np

from noisypairs.algebra import Array


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
