"""What one pair says about its two items: messages and posteriors, for any K and fast for K = 2.

The cavity c of an item is its belief without the message of this pair. From the pair factor ψ and
the cavities c, c' of the two ends follow

    the message to the other end  ∝ Σ_y c(y) ψ(y, y')   and
    P(y, y' | everything)         ∝ c(y) ψ(y, y') c'(y').

The class is the first axis and the pair the last one, so that sums and maxima over few classes are
sums of long rows. Two classes need no axis for the class: a cavity weighs them (1, eʰ), a factor is
the three numbers ψ₀₀, ψ₀₁ = ψ₁₀ and ψ₁₁, the largest of them one, and a message is a log-ratio.
These functions work in the precision of their arguments: float32 is several times faster, because
its exponentials and logarithms are vectorised, and exact to some 1e-6 of a log-ratio.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

Floats = NDArray[np.floating]
#: ψ₀₀, ψ₀₁, ψ₁₁, shape (m,) each.
Factor = tuple[Floats, Floats, Floats] | Floats


def cavity(log_item: Floats, received: Floats) -> tuple[Floats, Floats]:
    """Return m cavities (K, m), scaled to maximum one, and the logarithms of their scales (m,).

    ``log_item`` (K, m) are log-beliefs, which are used up; ``received`` (K − 1, m) the messages to
    take out, relative to class 0.
    """
    log_item[1:] -= received
    return scaled(log_item)


def scaled(log_weight: Floats) -> tuple[Floats, Floats]:
    """Turn logarithms (K, m) into weights of maximum one, in place; return also what was lost (m,).

    >>> scaled(np.log([[2.0], [1.0]]))[0].tolist()
    [[1.0], [0.5]]
    """
    log_scale = log_weight.max(axis=0)
    log_weight -= log_scale
    return np.exp(log_weight, out=log_weight), log_scale


def carried(cavity: Floats, factor: Floats) -> Floats:
    """Return Σ_y c(y) ψ(y, y'), shape (K, m), for cavities (K, m) and factors (K, K, m).

    >>> factor = np.array([[[1.0], [0.2]], [[0.2], [1.0]]])
    >>> carried(np.array([[1.0], [0.5]]), factor).round(3).tolist()
    [[1.1], [0.7]]
    """
    total: Floats = cavity[0] * factor[0]
    for weight, row in zip(cavity[1:], factor[1:], strict=True):
        total += weight * row
    return total


def carried_by_levels(cavity: Floats, levels: Floats) -> Floats:
    """Return the same where ψ has one value on its diagonal and one beside it, in O(K).

    ``levels`` (2, m) are these. The message is a constant and a multiple of the cavity:

        Σ_y c(y) ψ(y, y') = ψ_off Σ_y c(y) + (ψ_on − ψ_off) c(y').

    Where ψ_on is far smaller this may cancel, so it is kept above what it cannot be below.

    >>> carried_by_levels(np.array([[1.0], [0.5]]), np.array([[1.0], [0.2]])).round(3).tolist()
    [[1.1], [0.7]]
    """
    on, off = levels
    sum_of_cavity = cavity.sum(axis=0)
    total: Floats = cavity * (on - off)
    total += off * sum_of_cavity
    np.maximum(total, np.minimum(on, off) * sum_of_cavity, out=total)
    return total


def joint(left: Floats, right: Floats, factor: Floats) -> tuple[Floats, Floats]:
    """Return P(y, y' | everything) of m pairs, shape (K, K, m), and what was divided out, (m,).

    ``left`` and ``right`` are cavities (K, m), ``factor`` is ψ (K, K, m).

    >>> even = np.ones((2, 1))
    >>> joint(even, even, np.array([[[1.0], [0.5]], [[0.5], [1.0]]]))[1].tolist()
    [3.0]
    """
    posterior: Floats = left[:, None] * factor
    posterior *= right
    total = posterior.sum(axis=(0, 1))
    posterior /= total
    return posterior, total


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


def message_two(cavity: Floats, factor: Factor) -> Floats:
    """Return log (ψ₀₁ + ψ₁₁ eʰ) / (ψ₀₀ + ψ₀₁ eʰ), the message from a cavity's odds (m,).

    >>> factor = np.array([[1.0], [0.25], [1.0]])
    >>> message_two(np.array([1e9]), factor).round(3).tolist(), round(float(np.log(4)), 3)
    ([1.386], 1.386)
    """
    zero, mixed, one = factor
    above, below = one * cavity, mixed * cavity
    above += mixed
    below += zero
    above /= below
    return np.log(above, out=above)


def joint_two(left: Floats, right: Floats, factor: Factor) -> tuple[Floats, Floats]:
    """Return P(y, y' | everything) of m pairs, shape (4, m), and what was divided out, (m,).

    ``left`` and ``right`` are the odds of the cavities. Rows are (0, 0), (0, 1), (1, 0), (1, 1).

    >>> joint, total = joint_two(np.ones(1), np.ones(1), np.array([[1.0], [0.5], [1.0]]))
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


def cavity_two(log_item: Floats, received: Floats, dtype: DTypeLike) -> tuple[Floats, Floats]:
    """Return odds, in ``dtype``, and log-weight of class 0 of m cavities, shape (m,) each.

    ``log_item`` (m, 2) are log-beliefs and ``received`` (m,) the messages to take out. If class 0
    is ruled out, its log-weight is what the cut odds leave of class 1.

    >>> certain = np.array([[-np.inf, 0.0], [0.0, -np.inf]])
    >>> weights, log_zero = cavity_two(certain, np.zeros(2), np.float64)
    >>> (np.log(weights) + log_zero).tolist()
    [0.0, -300.0]
    """
    log_zero, log_one = log_item[:, 0], log_item[:, 1] - received
    log_ratio = (log_one - log_zero).astype(dtype)
    limit = most(log_ratio.dtype)
    return odds(log_ratio), np.where(log_ratio > limit, log_one - limit, log_zero)
