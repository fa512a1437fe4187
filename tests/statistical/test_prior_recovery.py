"""The prior from the share of "same": intervals cover as often as they say.

An interval of level q covers Binomial(200, q) times in 200 runs. The limits below hold that count
with probability .999, so a right method fails a test once in a thousand draws of all the seeds;
the seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from noisypairs import LabelingNoise, PairingNoise, sample_pairs
from noisypairs.estimation import estimate_prior

SEEDS = range(200)
CONFIDENT = 0.999

CASES = [
    (PairingNoise(0.1, 0.2), 0.2, "minority"),
    (PairingNoise(0.3, 0.1), 0.7, "majority"),
    (LabelingNoise(0.1, 0.3), 0.1, "minority"),
    (LabelingNoise(0.2, 0.1), 0.8, "majority"),
]


def limits(level):
    """Return the least and the largest number of intervals that may cover."""
    return stats.binom.interval(CONFIDENT, len(SEEDS), level)


def covered(found, prior, side):
    """Return how many of the chosen roots hold the prior."""
    return sum(prior in each.choose(side) for each in found)


@pytest.mark.parametrize(("noise", "prior", "side"), CASES, ids=str)
def test_100_000_pairs_recover_the_prior_of_these_items(noise, prior, side):
    """Pairs of distinct items differ from independent ones by less than 1/4000 in P(same).

    That is a sixth of the share's standard error at most, and changes coverage by under .4 points.
    """
    n_items = 4000
    y = np.repeat([0, 1], [n_items - round(prior * n_items), round(prior * n_items)])
    at_95, at_80 = [], []
    for seed in SEEDS:
        pairs = sample_pairs(y, 100_000, noise, random_state=seed)
        at_95.append(estimate_prior(pairs, noise))
        at_80.append(estimate_prior(pairs, noise, level=0.8))
    for found, level in ((at_95, 0.95), (at_80, 0.8)):
        low, high = limits(level)
        assert low <= covered(found, prior, side) <= high
    centres = [each.choose(side).estimate for each in at_95]
    spread = np.std(centres) / np.sqrt(len(SEEDS))
    assert abs(np.mean(centres) - prior) < 4 * spread + 1e-3  # the root bends the share a little


@pytest.mark.parametrize("n_pairs", [2_000, 20_000])
@pytest.mark.parametrize(("noise", "prior", "side"), CASES, ids=str)
def test_the_items_interval_covers_the_population_prior(noise, prior, side, n_pairs):
    """Items drawn anew each time; sparse and dense graphs, 4 and 40 pairs per item."""
    found = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        y = (rng.random(500) < prior).astype(int)
        pairs = sample_pairs(y, n_pairs, noise, random_state=rng)
        found.append(estimate_prior(pairs, noise, interval="items"))
    low, high = limits(0.95)
    assert low <= covered(found, prior, side) <= high


def test_wilson_intervals_do_not_speak_about_the_population():
    """Why there are two intervals: on a dense graph the choice of items is most of the error."""
    noise, found = PairingNoise(0.1, 0.2), []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        y = (rng.random(500) < 0.2).astype(int)
        found.append(estimate_prior(sample_pairs(y, 20_000, noise, random_state=rng), noise))
    assert covered(found, 0.2, "minority") < limits(0.95)[0] - 50
