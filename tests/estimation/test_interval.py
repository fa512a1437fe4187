from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from noisypairs import CleanPairs, Pairs
from noisypairs.estimation import (
    Interval,
    dyadic_mean,
    estimate_prior,
    rates_from_gold,
    same_share,
    wilson,
)
from noisypairs.pairs.counts import weights_of
from tests.estimation.builders import answered


def test_an_interval_knows_what_it_holds_and_how_it_reads():
    interval = Interval(0.25, 0.125, 0.5, 0.9)
    assert 0.125 in interval
    assert 0.5 in interval
    assert 0.51 not in interval
    assert str(interval) == "0.250 [0.125, 0.500]"


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize(("successes", "trials"), [(0, 7), (7, 7), (1, 3), (80, 100), (5, 10**6)])
def test_wilson_is_scipys(successes, trials, level):
    ours = wilson(successes, trials, level)
    theirs = stats.binomtest(successes, trials).proportion_ci(level, method="wilson")
    np.testing.assert_allclose([ours.low, ours.high], theirs, rtol=0, atol=1e-12)
    assert (ours.estimate, ours.level) == (successes / trials, level)
    assert 0 <= ours.low <= ours.high <= 1


def test_wilson_limits_solve_the_score_equation():
    """(p̂ − p)² = z² p (1−p)/n at both limits, also for a fractional (weighted) count."""
    interval = wilson(3.7, 12.5, 0.9)
    z = stats.norm.ppf(0.95)
    for p in (interval.low, interval.high):
        assert (3.7 / 12.5 - p) ** 2 == pytest.approx(z**2 * p * (1 - p) / 12.5, rel=1e-10)


@pytest.mark.parametrize(("successes", "trials"), [(3, 2), (-1, 5), (0, 0)])
def test_what_is_not_a_proportion(successes, trials):
    with pytest.raises(ValueError, match=f"{successes} successes of {trials} trials is not a prop"):
        wilson(successes, trials)


@pytest.mark.parametrize("level", [0.0, 1.0, 95, -0.1])
def test_a_level_lies_strictly_between_zero_and_one(level):
    pairs = answered(2, 4)
    for ask in (
        lambda: wilson(1, 2, level),
        lambda: same_share(pairs, level=level),
        lambda: same_share(pairs, level=level, interval="items"),
        lambda: estimate_prior(pairs, CleanPairs(), level=level),
        lambda: rates_from_gold(pairs, [0, 0, 1, 2, 1, 1, 2, 0], level=level),
    ):
        with pytest.raises(ValueError, match=f"level={level}: expected a number strictly between"):
            ask()


def brute_force_dyadic(pairs, values):
    """Mean and variance by the definition: a double loop over answers that share an item."""
    weight = weights_of(pairs)
    answers = [
        ({i, j}, float(w), float(v))
        for i, j, w, v in zip(
            pairs.left.tolist(), pairs.right.tolist(), weight, values, strict=True
        )
        if i != j
    ]
    total = sum(w for _, w, _ in answers)
    mean = sum(w * v for _, w, v in answers) / total
    variance = sum(
        w * (v - mean) * w2 * (v2 - mean)
        for ends, w, v in answers
        for ends2, w2, v2 in answers
        if ends & ends2
    )
    return mean, variance / total**2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_the_dyadic_variance_is_the_double_sum(seed, weighted):
    """On a graph dense enough for repeats, (a, b) beside (b, a), and self pairs."""
    rng = np.random.default_rng(seed)
    left, right = rng.integers(8, size=(2, 60))
    weight = rng.integers(1, 9, size=60) / 4 if weighted else None
    pairs = Pairs(left, right, rng.random(60) < 0.5, n_items=8, weight=weight)
    values = rng.normal(size=8)[left] + rng.normal(size=8)[right] + rng.normal(size=60)
    mean, variance = brute_force_dyadic(pairs, values)
    floor = sum_over_pairs_squared(pairs, values, mean)
    found, low, high = dyadic_mean(pairs, values, level=0.8)
    z = stats.norm.ppf(0.9)
    assert found == pytest.approx(mean, abs=1e-12)
    error = np.sqrt(max(variance, floor))
    assert (high - found) / z == pytest.approx(error, rel=1e-9)
    assert (found - low) / z == pytest.approx(error, rel=1e-9)


def sum_over_pairs_squared(pairs, values, mean):
    """Variance if only answers to the same question depended: the least that is believed."""
    weight = weights_of(pairs)
    sums = {}
    total = 0.0
    for i, j, w, v in zip(pairs.left.tolist(), pairs.right.tolist(), weight, values, strict=True):
        if i != j:
            key = frozenset((i, j))
            sums[key] = sums.get(key, 0.0) + w * (v - mean)
            total += w
    return sum(r**2 for r in sums.values()) / total**2


def test_disjoint_pairs_have_the_textbook_standard_error():
    pairs, values = answered(30, 100), np.random.default_rng(0).normal(size=100)
    mean, low, high = dyadic_mean(pairs, values)
    half = stats.norm.ppf(0.975) * values.std() / np.sqrt(100)
    np.testing.assert_allclose([mean, low, high], values.mean() + half * np.array([0, -1, 1]))
