"""How far to trust P(class | x): one slope and one weight per class, fitted to the answers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, softmax

from noisypairs.algebra import Array
from noisypairs.inference import em

#: The slope lies between 1 and e to the power of this: who is too certain is not forgiven, since
#: in the rounds nothing will be flattened.
STEEPEST = 3.0


def calibrated(phi: Array, evidence: Array) -> Array:
    """Return potentials (n, K) through the line that suits the other half of the items.

    ``phi`` (n, K) are out-of-fold P(class | x), ``evidence`` (n, K) what the answers say of the
    items, m in b ∝ φ m. Half of the items never decide on themselves, so a score of the result is
    not flattered by the K + 1 numbers that were fitted.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.5
    >>> flat = np.column_stack([0.5 + 0.1 * y, 0.5 - 0.1 * y])  # right, and far too careful
    >>> m = np.where(np.column_stack([y, ~y]), 0.8, 0.2)
    >>> bool(calibrated(flat, m)[y, 0].min() > 0.95)
    True
    """
    even = np.arange(len(phi)) % 2 == 0
    log_phi = np.log(np.clip(phi, em.CERTAIN, None))
    new = np.empty_like(log_phi)
    best = _line_of_two if phi.shape[1] == 2 else _line
    for half in (even, ~even):
        line = best(log_phi[~half], evidence[~half])
        new[half] = _through(log_phi[half], line)
    return new


def _line(log_phi: Array, evidence: Array) -> Array:
    """Return log slope and K class weights of largest Σ log Σ φ m, less their squares.

    The squares, in nats, hold them near zero where the answers say little.
    """

    def loss(line: Array) -> tuple[float, Array]:
        share = _through(log_phi, line)
        explained = share * evidence
        total = explained.sum(axis=1, keepdims=True)
        change = share - explained / total
        slope = np.exp(line[0]) * float((change * log_phi).sum())
        slopes = np.r_[slope, change.sum(axis=0)] + 2.0 * line
        return float(line @ line - np.log(total).sum()), slopes

    return _minimum(loss, 1 + log_phi.shape[1])


def _line_of_two(log_phi: Array, evidence: Array) -> Array:
    """Return the same of two classes, from their log-odds, which is quicker.

    Only the difference w of the class weights matters, so they are −w/2 and w/2.
    """
    odds, less = log_phi[:, 1] - log_phi[:, 0], evidence[:, 0]
    more = evidence[:, 1] - less

    def loss(line: Array) -> tuple[float, Array]:
        slope, weight = np.exp(line[0]), line[1]
        share = expit(slope * odds + weight)
        total = less + share * more
        change = share * (1.0 - share) * more / total  # of log Σ φ m with the log-odds
        slopes = np.array([2.0 * line[0] - slope * (change @ odds), weight - change.sum()])
        return float(line[0] ** 2 + weight**2 / 2 - np.log(total).sum()), slopes

    steepness, weight = _minimum(loss, 2)
    return np.array([steepness, -weight / 2, weight / 2])


def _minimum(loss: Callable[[Array], tuple[float, Array]], size: int) -> Array:
    """Return where a loss, given with its slopes, is least; the first number within bounds."""
    bounds = [(0.0, STEEPEST)] + [(None, None)] * (size - 1)
    found: Array = minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", bounds=bounds).x
    return found


def _through(log_phi: Array, line: Array) -> Array:
    shares: Array = softmax(np.exp(line[0]) * log_phi + line[1:], axis=1)
    return shares
