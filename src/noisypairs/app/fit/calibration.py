"""Do the probabilities hold? One test at one level, on answers about items never seen.

If P("same") = p is right for every held-out answer, the residuals a − p (a = 1 for "same") have
mean zero, and so has their product with anything known beforehand. Two such means are tested
together:

    u = mean of (a − p)          zero unless "same" is predicted too often or too rarely
    v = mean of (a − p) · d      zero unless the model is too sure or not sure enough,
                                 with d = (p − mean p) / (spread of p)

(u, v) Cov⁻¹ (u, v)ᵀ is compared with χ² of two degrees of freedom. Answers about one item depend
on each other through its class. The covariance therefore sums the products of all answers that
share an item (`estimation.heldout.dyadic_sums`), with zero as the mean that the hypothesis gives.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from noisypairs.algebra import Array
from noisypairs.app.fit.result import Calibration
from noisypairs.estimation.heldout import dyadic_sums
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of

#: A model whose probabilities hold is doubted in this share of cases.
LEVEL = 0.05
#: Fewer held-out answers than this are not tested.
FEWEST_ANSWERS = 20


def check_calibration(pairs: Pairs, chance: Array | None) -> Calibration | None:
    """Test whether ``chance`` (n_pairs,) of "same" agrees with the answers; None for too few.

    ``pairs`` are answers about two distinct items each, which ``chance`` was not learnt from.

    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.permuted(np.tile(np.arange(300), (900, 1)), axis=1)[:, :2].T
    >>> chance = rng.random(900)
    >>> pairs = Pairs(left, right, rng.random(900) < chance, n_items=300)
    >>> check_calibration(pairs, chance).holds, check_calibration(pairs, chance**2).holds
    (True, False)
    """
    if chance is None or pairs.n_pairs < FEWEST_ANSWERS:
        return None
    residual = weights_of(pairs) * (pairs.same - chance)
    spread = float(chance.std())
    moments = residual[:, None]
    if spread > 1e-9:  # a model that says the same of every pair can only be off on the whole
        moments = np.column_stack([residual, residual * (chance - chance.mean()) / spread])
    shared, within = dyadic_sums(pairs, moments)
    if np.linalg.matrix_rank(within) < len(within):
        return None  # every answer is predicted exactly
    statistic = _statistic(moments.sum(axis=0), shared, within)
    return Calibration(
        statistic=statistic,
        degrees=len(within),
        p_value=float(stats.chi2.sf(statistic, len(within))),
        level=LEVEL,
    )


def _statistic(total: Array, shared: Array, within: Array) -> float:
    """Return totalᵀ C⁻¹ total, where C is ``shared``, but nowhere smaller than ``within``.

    ``shared`` sums over answers that share an item, ``within`` over those about the same two.
    """
    root = np.linalg.cholesky(within)
    half = np.linalg.solve(root, shared)
    size, direction = np.linalg.eigh(np.linalg.solve(root, half.T))
    seen = direction.T @ np.linalg.solve(root, total)
    return float((seen**2 / np.maximum(size, 1.0)).sum())
