"""Noise rates from gold pairs and from repeated pairs: recovery, coverage, and limits.

Coverage counts of 200 intervals of level .95 lie within the limits below with probability .999;
the seeds are fixed.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from noisypairs import NotIdentifiable, PairingNoise, Pairs, sample_pairs
from noisypairs.estimation import rates_from_gold, rates_from_repeats

SEEDS = range(200)
COVERED = stats.binom.interval(0.999, len(SEEDS), 0.95)


def asked_again(y, n_pairs, times, similar_flip, dissimilar_flip, seed):
    """Ask ``n_pairs`` random pairs ``times`` times each, every answer with its own error."""
    rng = np.random.default_rng(seed)
    once = sample_pairs(y, n_pairs, random_state=rng)
    rate = np.where(once.same, similar_flip, dissimilar_flip)
    answers = once.same ^ (rng.random((times, n_pairs)) < rate)
    swap = rng.random((times, n_pairs)) < 0.5  # (a, b) and (b, a) are the same question
    left, right = np.where(swap, once.right, once.left), np.where(swap, once.left, once.right)
    return Pairs(left.ravel(), right.ravel(), answers.ravel(), n_items=len(y)), once


def coverage(estimates, similar_flip, dissimilar_flip):
    """Return how many intervals hold the true ρ_S, and how many the true ρ_D."""
    return (
        sum(similar_flip in each.similar_flip for each in estimates),
        sum(dissimilar_flip in each.dissimilar_flip for each in estimates),
    )


def test_gold_intervals_cover():
    y = np.arange(300) % 3
    gold = {i: int(y[i]) for i in range(150)}
    found = [
        rates_from_gold(sample_pairs(y, 4000, PairingNoise(0.15, 0.3), random_state=seed), gold)
        for seed in SEEDS
    ]
    for count in coverage(found, 0.15, 0.3):
        assert COVERED[0] <= count <= COVERED[1]


@pytest.mark.parametrize(
    ("times", "equal_rates", "flips"),
    [(4, False, (0.2, 0.1)), (6, False, (0.25, 0.1)), (2, True, (0.15, 0.15))],
)
def test_repeat_intervals_cover(times, equal_rates, flips):
    """1,000 pairs asked ``times`` times, 60 % of them truly same; bias below .004."""
    left, found = 2 * np.arange(1000), []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        same = rng.random(1000) < 0.6
        answers = same ^ (rng.random((times, 1000)) < np.where(same, *flips))
        pairs = Pairs(np.tile(left, times), np.tile(left + 1, times), answers.ravel())
        found.append(
            rates_from_repeats(pairs, equal_rates=equal_rates, n_bootstrap=150, random_state=seed)
        )
    for count in coverage(found, *flips):
        assert COVERED[0] <= count <= COVERED[1]
    mean = np.mean([(e.similar_flip.estimate, e.dissimilar_flip.estimate) for e in found], axis=0)
    np.testing.assert_allclose(mean, flips, rtol=0, atol=0.004)


@pytest.mark.parametrize("times", [3, 6])
def test_repeats_recover_both_rates(times):
    """5,000 pairs: the rates' standard errors are below .008; .03 is about four of them."""
    y = np.random.default_rng(0).random(300) < 0.3
    pairs, once = asked_again(y, 5000, times, 0.25, 0.1, seed=times)
    found = rates_from_repeats(pairs, n_bootstrap=100)
    assert found.similar_flip.estimate == pytest.approx(0.25, abs=0.03)
    assert found.dissimilar_flip.estimate == pytest.approx(0.1, abs=0.03)
    assert found.same_share == pytest.approx(once.same.mean(), abs=0.03)
    for interval in (found.similar_flip, found.dissimilar_flip):
        assert interval.low < interval.estimate < interval.high
    assert isinstance(found.noise(), PairingNoise)


def test_two_answers_recover_a_common_rate():
    """A pair answered twice is contradictory with chance 2ρ(1−ρ): solved by hand."""
    y = np.random.default_rng(0).random(2000) < 0.3
    pairs, _ = asked_again(y, 20_000, 2, 0.2, 0.2, seed=5)
    found = rates_from_repeats(pairs, equal_rates=True, n_bootstrap=50)
    clash = (pairs.same[:20_000] != pairs.same[20_000:]).mean()
    by_hand = (1 - np.sqrt(1 - 2 * clash)) / 2
    assert found.similar_flip == found.dissimilar_flip
    assert found.similar_flip.estimate == pytest.approx(by_hand, abs=1e-3)
    assert by_hand == pytest.approx(0.2, abs=0.02)


def test_whole_weights_are_repeated_answers():
    pairs, _ = asked_again([0, 0, 1, 1, 1] * 20, 800, 4, 0.1, 0.2, seed=1)
    key = np.minimum(pairs.left, pairs.right) * 1000 + np.maximum(pairs.left, pairs.right)
    _, first, count = np.unique(key * 2 + pairs.same, return_index=True, return_counts=True)
    pooled = pairs.select(first).reweighted(count)
    assert pooled.n_pairs < pairs.n_pairs
    one, other = rates_from_repeats(pairs), rates_from_repeats(pooled)
    assert one == other


def test_the_seed_decides_the_bootstrap_only():
    pairs, _ = asked_again([0, 0, 1, 1, 1] * 20, 800, 4, 0.1, 0.2, seed=1)
    one, again, other = (rates_from_repeats(pairs, random_state=s) for s in (1, 1, 2))
    assert one == again
    assert one.similar_flip.estimate == pytest.approx(other.similar_flip.estimate, abs=1e-7)
    assert one.similar_flip.low != other.similar_flip.low


def test_the_likelihood_has_no_better_point_nearby():
    """The EM's answer against the marginal likelihood of the counts, written out independently."""
    pairs, _ = asked_again([0, 1, 1] * 30, 1500, 5, 0.2, 0.15, seed=2)
    found = rates_from_repeats(pairs, n_bootstrap=1)
    key = np.minimum(pairs.left, pairs.right) * 1000 + np.maximum(pairs.left, pairs.right)
    distinct = np.unique(key)
    yes = np.array([pairs.same[key == k].sum() for k in distinct])
    asked = np.array([(key == k).sum() for k in distinct])

    def log_likelihood(similar, dissimilar, share):
        same = stats.binom.pmf(yes, asked, 1 - similar)
        different = stats.binom.pmf(yes, asked, dissimilar)
        return np.log(share * same + (1 - share) * different).sum()

    at = np.array([found.similar_flip.estimate, found.dissimilar_flip.estimate, found.same_share])
    best = log_likelihood(*at)
    for step in (1e-2, 1e-3):
        for direction in np.vstack([np.eye(3), -np.eye(3)]):
            assert log_likelihood(*(at + step * direction)) < best


def test_single_answers_cannot_tell_the_rates():
    pairs = sample_pairs([0, 1, 1, 0] * 500, 100, random_state=0)
    with pytest.raises(NotIdentifiable, match="no pair was asked 3 times or more, so two separate"):
        rates_from_repeats(pairs)
    with pytest.raises(
        NotIdentifiable, match="no pair was asked 2 times or more, so a common rate"
    ):
        rates_from_repeats(pairs, equal_rates=True)


def test_two_answers_cannot_tell_two_rates():
    pairs, _ = asked_again(np.arange(2000) % 2, 200, 2, 0.1, 0.1, seed=0)
    with pytest.raises(NotIdentifiable, match="use equal_rates=True"):
        rates_from_repeats(pairs)


def test_repeats_of_self_pairs_are_no_repeats():
    with pytest.raises(NotIdentifiable, match="no pair was asked 3 times"):
        rates_from_repeats(Pairs([1] * 9, [1] * 9, [True] * 9))


@pytest.mark.parametrize("flips", [(0.1, 0.1), (0.5, 0.5)], ids=["one class", "pure noise"])
def test_answers_of_one_kind_cannot_tell_two_rates(flips):
    """Pairs of one class only, or answers by coin toss: every pair then looks alike."""
    y = np.zeros(200) if flips[0] < 0.5 else np.arange(200) % 2
    pairs, _ = asked_again(y, 1000, 5, *flips, seed=0)
    with pytest.raises(NotIdentifiable, match="look like one kind of pair"):
        rates_from_repeats(pairs, n_bootstrap=1)


def test_repeats_count_answers():
    pairs = Pairs([0, 0], [1, 1], [True, False], weight=[1.5, 2.0])
    with pytest.raises(ValueError, match="weights must be whole numbers"):
        rates_from_repeats(pairs)
    pairs, _ = asked_again([0, 1, 1] * 30, 300, 5, 0.2, 0.1, seed=2)
    with pytest.raises(ValueError, match="n_bootstrap=0: expected a positive"):
        rates_from_repeats(pairs, n_bootstrap=0)
    with pytest.raises(ValueError, match="level=2: expected"):
        rates_from_repeats(pairs, n_bootstrap=2, level=2)
