"""How far to trust P(class | x): one slope and one weight per class, fitted to the answers."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

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
    for half in (even, ~even):
        line = _line(log_phi[~half], evidence[~half])
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

    start = np.zeros(1 + log_phi.shape[1])
    bounds = [(0.0, STEEPEST)] + [(None, None)] * (len(start) - 1)
    found: Array = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found


def _through(log_phi: Array, line: Array) -> Array:
    shares: Array = softmax(np.exp(line[0]) * log_phi + line[1:], axis=1)
    return shares
