"""Two classes by log-ratios: messages and pair posteriors without an axis for the class.

The cavity of an item, its beliefs without what one pair told it, weighs the classes (1, eʰ). Pair
factors are three numbers, ψ₀₀, ψ₀₁ = ψ₁₀ and ψ₁₁, the largest of them one. All functions work in
the precision of what they are given: float32 is several times faster, for its exponentials and
logarithms are vectorised, and exact to some 1e-6 of a log-ratio.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Floats = NDArray[np.floating]
#: ψ₀₀, ψ₀₁, ψ₁₁, shape (m,) each.
Factor = tuple[Floats, Floats, Floats] | Floats


def most(dtype: np.dtype[Any]) -> float:
    """Return how far log-ratios reach, so that no product of two odds and a factor overflows.

    Logarithms of factors may reach twice as far below that of the largest.
    """
    return 300.0 if dtype == np.float64 else 40.0


def odds(log_ratio: Floats) -> Floats:
    """Return eʰ, shape (m,), in a range that cannot overflow later.

    >>> odds(np.array([0.0, np.log(3), -np.inf])).round(6).tolist()
    [1.0, 3.0, 0.0]
    """
    limit = most(log_ratio.dtype)
    cut = np.minimum(log_ratio, limit)
    np.maximum(cut, -limit, out=cut)
    return np.exp(cut, out=cut)


def message(cavity: Floats, factor: Factor) -> Floats:
    """Return log (ψ₀₁ + ψ₁₁ eʰ) / (ψ₀₀ + ψ₀₁ eʰ), what a cavity's odds (m,) tell the other end.

    >>> factor = np.array([[1.0], [0.25], [1.0]])
    >>> message(np.array([1e9]), factor).round(3).tolist(), round(float(np.log(4)), 3)
    ([1.386], 1.386)
    """
    zero, mixed, one = factor
    above, below = one * cavity, mixed * cavity
    above += mixed
    below += zero
    above /= below
    return np.log(above, out=above)


def joint_weights(left: Floats, right: Floats, factor: Factor) -> tuple[Floats, Floats]:
    """Return P(y, y' | everything) of m pairs, shape (4, m), and what was divided out, (m,).

    ``left`` and ``right`` are the odds of the cavities. Rows are (0, 0), (0, 1), (1, 0), (1, 1).

    >>> joint, total = joint_weights(np.ones(1), np.ones(1), np.array([[1.0], [0.5], [1.0]]))
    >>> joint[:, 0].round(3).tolist(), total.tolist()
    ([0.333, 0.167, 0.167, 0.333], [3.0])
    """
    zero, mixed, one = factor
    joint = np.empty((4, left.size), dtype=left.dtype)
    joint[0] = zero
    np.multiply(mixed, right, out=joint[1])
    np.multiply(mixed, left, out=joint[2])
    np.multiply(one, left, out=joint[3])
    joint[3] *= right
    total = joint[0] + joint[1]
    total += joint[2]
    total += joint[3]
    joint /= total
    return joint, total


def cavity(log_item: Floats, heard: Floats, dtype: DTypeLike) -> tuple[Floats, Floats]:
    """Return odds, in ``dtype``, and log-weight of class 0 of m cavities, shape (m,) each.

    ``log_item`` (m, 2) are log-beliefs and ``heard`` (m,) the messages taken out. Where class 0 is
    ruled out, its log-weight is what the cut odds leave of class 1.

    >>> certain = np.array([[-np.inf, 0.0], [0.0, -np.inf]])
    >>> weights, log_zero = cavity(certain, np.zeros(2), np.float64)
    >>> (np.log(weights) + log_zero).tolist()
    [0.0, -300.0]
    """
    log_zero, log_one = log_item[:, 0], log_item[:, 1] - heard
    log_ratio = (log_one - log_zero).astype(dtype)
    limit = most(log_ratio.dtype)
    return odds(log_ratio), np.where(log_ratio > limit, log_one - limit, log_zero)
