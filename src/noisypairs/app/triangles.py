"""Broken triangles: (same, same, different) answers beside what the estimated noise predicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noisypairs.algebra import Array
from noisypairs.estimation import Interval
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Pairs
from noisypairs.pairs.audit import Audit

N_REDRAWN = 12
"""How often answers are redrawn to see how many triangles break under the estimated noise."""

FAR = 4.0
"""Standard deviations by which broken triangles must differ from the expected to be a problem."""


@dataclass(frozen=True)
class TrianglesExpected:
    """The share of closed triangles that is broken, and what the estimated noise predicts."""

    closed: int
    seen: float
    expected: float
    spread: float

    @property
    def beyond(self) -> float:
        """How many standard deviations more (or, negative, fewer) are broken than expected."""
        return (self.seen - self.expected) / self.spread


def expected_triangles(
    pairs: Pairs,
    report: Audit,
    noise: NoiseModel,
    beliefs: Array | None,
    prior: Interval | None,
    seed: int,
) -> TrianglesExpected | None:
    """Return the broken share of triangles beside that of answers redrawn under the noise.

    Classes are drawn from `beliefs`, shape (n_items, K), else independently from the prior;
    answers from the noise, on the same pairs, so that repeats and weights count as they do in the
    audit. None without triangles, or without any knowledge of the classes.
    """
    seen = report.triangles.broken_share
    if seen is None or (beliefs is None and prior is None):
        return None
    if beliefs is None:
        assert prior is not None
        share = prior.estimate
        beliefs = np.tile([1.0 - share, share], (pairs.n_items, 1))
    rng = np.random.default_rng(seed)
    shares = []
    for _ in range(N_REDRAWN):
        below = np.cumsum(beliefs, axis=1)[:, :-1]
        classes = (rng.random((pairs.n_items, 1)) > below).sum(axis=1)
        answers = noise.corrupt(classes, pairs.left, pairs.right, beliefs.shape[1], rng)
        redrawn = Pairs(pairs.left, pairs.right, answers, pairs.n_items, weight=pairs.weight)
        shares.append(redrawn.audit().triangles.broken_share or 0.0)
    # A share of n triangles is never surer than that of n independent ones … nor exactly sure.
    closed = report.triangles.closed
    least = np.sqrt(max(seen * (1 - seen), 1 / closed) / closed)
    spread = max(float(np.std(shares, ddof=1)), float(least))
    return TrianglesExpected(closed, seen, float(np.mean(shares)), spread)
