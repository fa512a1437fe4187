"""Errors that all judges share: the posterior against known curves, and what known pairs change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from noisypairs.noise.shared_error import LEAST, SharedError, families


def curve(n, slope, offset, missed, mixed, seed=0):
    """Scores from −40 to 40, and truths drawn along a curve."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(-40, 40, n)
    same = mixed + (1 - missed - mixed) * expit(offset + slope * score)
    return score, same, (rng.random(n) < same).astype(np.int8)


@pytest.mark.parametrize(("slope", "missed"), [(0.1, 0.0), (0.3, 0.15), (0.9, 0.04)])
def test_known_pairs_show_the_curve(slope, missed):
    """2,000 known pairs: the curve comes back, wherever the prior began."""
    score, same, truth = curve(2000, slope, -0.5, missed, 0.01)
    for rho in (0.0, 0.4):
        found = SharedError.fit(score, truth, rho, 10.0, 0.4)
        assert np.abs(found.proba() - same).mean() < 0.02
        assert found.n_known == 2000


def test_draws_spread_around_their_mean_and_narrow_with_known_pairs():
    score, _, truth = curve(1000, 0.2, 0.0, 0.02, 0.02)
    spreads = []
    for n in (0, 50, 1000):
        known = np.where(np.arange(1000) < n, truth, -1).astype(np.int8)
        found = SharedError.fit(score, known, 0.3, 10.0, 0.5)
        draws = np.array(list(found.draws(300, np.random.default_rng(0))))
        np.testing.assert_allclose(draws.mean(axis=0), found.proba(), atol=0.06)
        spreads.append(draws.std(axis=0).mean())
    assert spreads[0] > spreads[1] > spreads[2]


def test_the_truth_lies_within_the_draws():
    """Thirty samples of 80 known pairs: the share of same pairs is covered nearly always."""
    inside = 0
    for seed in range(30):
        score, same, truth = curve(600, 0.15, -0.5, 0.05, 0.01, seed)
        known = np.where(np.arange(600) < 80, truth, -1).astype(np.int8)
        found = SharedError.fit(score, known, 0.3, 8.0, 0.4)
        shares = np.mean(list(found.draws(300, np.random.default_rng(0))), axis=1)
        low, high = np.quantile(shares, [0.025, 0.975])
        inside += low <= same.mean() <= high
    assert inside >= 26  # of 30; fewer happen by chance in 2 of 1,000 cases


def test_nothing_is_shared_where_errors_do_not_correlate():
    unknown = np.full(10, -1, np.int8)
    assert SharedError.fit(np.zeros(10), unknown, LEAST / 2, 5.0, 0.5) is None
    assert SharedError.fit(np.zeros(10), unknown, 0.3, 5.0, 0.5).strength > 0.3


def test_families_are_the_names_before_the_slash():
    names = np.array(["a/1", "a/2", "b/1", "c"])
    assert families(names).tolist() == [0, 0, 1, 2]
    assert families(np.array(["a/1", "b/1"])) is None  # each alone
    assert families(np.array([1, 2])) is None
