from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisypairs import (
    CleanPairs,
    LabelingNoise,
    MatrixNoise,
    NotIdentifiable,
    PairingNoise,
    Pairs,
    algebra,
    sample_pairs,
)
from noisypairs.estimation import dyadic_mean, estimate_prior, same_share, wilson
from tests.estimation.builders import answered


def test_weight_two_is_two_equal_answers():
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, 10, size=30), rng.integers(10, 20, size=30)
    same, twice = rng.random(30) < 0.6, rng.random(30) < 0.5
    weighted = Pairs(left, right, same, weight=1.0 + twice)
    repeated = weighted.reweighted(None).select(np.r_[np.arange(30), np.flatnonzero(twice)])
    for interval in ("wilson", "items"):
        one, other = (same_share(p, interval=interval) for p in (weighted, repeated))
        assert (one.estimate, one.low, one.high) == pytest.approx(
            (other.estimate, other.low, other.high), abs=1e-12
        )


def test_no_pairs_no_mean():
    only_self = Pairs([0, 1], [0, 1], [True, True])
    with pytest.raises(ValueError, match="no pairs of two distinct items"):
        dyadic_mean(only_self, np.ones(2))
    with pytest.raises(ValueError, match="there are no pairs, so there is no share"):
        same_share(only_self)


def test_the_share_of_same_leaves_out_self_pairs():
    pairs = Pairs([0, 1, 2, 2], [1, 2, 2, 2], [True, False, True, True])
    assert same_share(pairs).estimate == 0.5
    assert same_share(pairs, interval="items").estimate == 0.5
    assert same_share(pairs) == wilson(1, 2)


def test_limits_of_a_share_stay_in_the_unit_interval():
    share = same_share(Pairs([0, 0], [1, 2], [True, False]), interval="items")
    assert (share.low, share.high) == (0.0, 1.0)


def test_an_unknown_interval_is_refused():
    with pytest.raises(ValueError, match="interval='bootstrap': expected 'wilson' or 'items'"):
        same_share(answered(1, 2), interval="bootstrap")


NOISES = [CleanPairs(), PairingNoise(0.1, 0.25), LabelingNoise(0.1, 0.3), LabelingNoise(0.3, 0.0)]


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("prior", [0.12, 0.65, 0.8])
def test_every_root_gives_the_share_that_was_seen(noise, prior):
    """The share is put into the count of answers; the quadratic is checked by evaluating it."""
    S = noise.same_probability()
    rate = (1 - prior) ** 2 * S[0, 0] + 2 * prior * (1 - prior) * S[0, 1] + prior**2 * S[1, 1]
    n = 10**6
    found = estimate_prior(answered(round(rate * n), n), noise)
    centres = [root.estimate for root in found.roots]
    assert centres == sorted(centres)
    assert min(abs(np.array(centres) - prior)) < 1e-5
    for root in found.roots:
        assert root.low < root.estimate < root.high
        for end in (root.low, root.high):  # the ends are where the share is at its own limits
            at_end = (1 - end) ** 2 * S[0, 0] + 2 * end * (1 - end) * S[0, 1] + end**2 * S[1, 1]
            limits = found.same_share.low, found.same_share.high
            assert min(abs(at_end - limit) for limit in limits) < 1e-9
    assert found.choose("minority") is found.roots[0]
    assert found.choose("majority") is found.roots[-1]
    assert not found.touches_one_half
    assert found.noise is noise


def test_the_two_roots_of_pairing_noise_mirror_each_other():
    low, high = estimate_prior(answered(606, 1000), PairingNoise(0.1, 0.2)).roots
    assert low.estimate == pytest.approx(0.3, abs=1e-12)
    mirrored = (1 - high.estimate, 1 - high.high, 1 - high.low)
    assert (low.estimate, low.low, low.high) == pytest.approx(mirrored, abs=1e-12)


def test_the_two_roots_of_labeling_noise_mirror_in_the_flipped_prior():
    noise = LabelingNoise(0.1, 0.3)
    low, high = estimate_prior(answered(5200, 10_000), noise).roots
    flipped = [float(noise.flipped_prior(root.estimate)[1]) for root in (low, high)]
    assert sum(flipped) == pytest.approx(1.0, abs=1e-12)
    assert abs(low.estimate + high.estimate - 1) > 0.1  # so the two π are unrelated


def test_labeling_noise_may_leave_one_root_only():
    """ρ₋ = .4 lifts π̃ to .4 or more: a share of .68 needs π̃ = .8, as π̃ = .2 cannot be."""
    found = estimate_prior(answered(6800, 10_000), LabelingNoise(0.0, 0.4))
    (root,) = found.roots
    assert root.estimate == pytest.approx((0.8 - 0.4) / 0.6, abs=1e-12)
    assert found.choose("minority") is found.choose("majority") is root


def test_a_side_that_does_not_exist():
    with pytest.raises(ValueError, match="positive='larger': expected 'minority' or 'majority'"):
        estimate_prior(answered(7, 9), CleanPairs()).choose("larger")


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_fewer_same_than_two_classes_can_give(noise):
    lowest = algebra.flattest_prior(noise.same_probability())[1]
    n = 100_000
    with pytest.raises(NotIdentifiable, match="more than two classes, or the pairs were not drawn"):
        estimate_prior(answered(round((lowest - 0.01) * n), n), noise)


def test_more_same_than_the_noise_allows():
    """At ρ_S = .3 no prior makes more than 70 % of the answers "same"."""
    with pytest.raises(NotIdentifiable, match="rates are too large for these pairs"):
        estimate_prior(answered(9000, 10_000), PairingNoise(0.3, 0.1))


def test_a_share_just_above_the_possible_ends_at_prior_zero_and_one():
    low, high = estimate_prior(answered(705, 1000), PairingNoise(0.3, 0.1)).roots
    assert (low.estimate, low.low) == (0.0, 0.0)
    assert (high.estimate, high.high) == (1.0, 1.0)
    assert low.high > 0.0
    assert high.low < 1.0


@settings(max_examples=200, deadline=None)
@given(
    first=st.floats(0.0, 0.49),
    second=st.floats(0.0, 0.49),
    labeling=st.booleans(),
    away=st.sampled_from([-1e-3, -1e-9, 0.0, 1e-9, 1e-3]),
)
def test_a_share_at_the_lowest_possible_ends_at_the_flattest_prior(first, second, labeling, away):
    """Prior ½ (π̃ = ½): rounding must never turn the vertex of the quadratic into NaN."""
    noise = (LabelingNoise if labeling else PairingNoise)(first, second)
    flattest, lowest = algebra.flattest_prior(noise.same_probability())
    share = lowest + away
    found = estimate_prior(answered(1, 2).reweighted([1000 * share, 1000 * (1 - share)]), noise)
    assert found.touches_one_half
    for root in found.roots:
        assert 0 <= root.low <= root.estimate <= root.high <= 1
        end = min(max(flattest, 0.0), 1.0)
        assert min(abs(root.low - end), abs(root.high - end)) < 1e-9


def test_pairs_of_balanced_classes_touch_one_half():
    """At level .999 a share above the lowest by chance has probability .0005."""
    noise = PairingNoise(0.1, 0.2)
    balanced = sample_pairs([0, 1] * 2000, 20_000, noise, random_state=0)
    unequal = sample_pairs([0, 1, 1, 1] * 1000, 20_000, noise, random_state=0)
    assert estimate_prior(balanced, noise, level=0.999).touches_one_half
    assert not estimate_prior(unequal, noise, level=0.999).touches_one_half


def test_noise_without_a_link_to_the_classes_says_nothing_about_the_prior():
    with pytest.raises(NotIdentifiable, match="not more frequent within a class"):
        estimate_prior(answered(1, 2), MatrixNoise([[0.5, 0.5], [0.5, 0.5]]))


def test_a_higher_level_gives_a_wider_interval():
    pairs = answered(7000, 10_000)
    found = [estimate_prior(pairs, CleanPairs(), level=q).roots[0] for q in (0.5, 0.9, 0.99)]
    for narrow, wide in pairwise(found):
        assert wide.low < narrow.low < narrow.high < wide.high


def test_prior_comes_from_pairs_drawn_at_random_alone():
    y = np.arange(400) < 120
    noise = PairingNoise(0.1, 0.2)
    drawn = sample_pairs(y, 3000, noise, random_state=0)
    likely = sample_pairs(y, 3000, noise, same_share=0.9, random_state=1)
    both = drawn.with_answers(likely.left, likely.right, likely.same, chosen=np.ones(3000, bool))
    assert estimate_prior(both, noise) == estimate_prior(drawn, noise)
    unmarked = drawn.with_answers(likely.left, likely.right, likely.same)
    wrong = estimate_prior(unmarked, noise).choose("minority")
    assert wrong.high < 0.3  # what the mark is for
    chosen_alone = both.select(both.chosen)
    with pytest.raises(NotIdentifiable, match="all 3,000 pairs were chosen"):
        estimate_prior(chosen_alone, noise)
