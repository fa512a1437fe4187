from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

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
from noisypairs.estimation import (
    Interval,
    dyadic_mean,
    estimate_prior,
    rates_from_gold,
    rates_from_repeats,
    same_share,
    wilson,
)


def answered(n_same, n_pairs):
    """Build ``n_pairs`` pairs of disjoint items, ``n_same`` of them answered "same"."""
    left = 2 * np.arange(n_pairs)
    return Pairs(left, left + 1, np.arange(n_pairs) < n_same)


# --- Interval ---------------------------------------------------------------------------------


def test_an_interval_knows_what_it_holds_and_how_it_reads():
    interval = Interval(0.25, 0.125, 0.5, 0.9)
    assert 0.125 in interval
    assert 0.5 in interval
    assert 0.51 not in interval
    assert str(interval) == "0.250 [0.125, 0.500]"


# --- wilson -----------------------------------------------------------------------------------


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


# --- dyadic_mean and same_share -----------------------------------------------------------------


def brute_force_dyadic(pairs, values):
    """Mean and variance by the definition: a double loop over answers that share an item."""
    weight = pairs.weights
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
    weight = pairs.weights
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


# --- estimate_prior -----------------------------------------------------------------------------

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
    with pytest.raises(NotIdentifiable, match="no likelier within a class than across"):
        estimate_prior(answered(1, 2), MatrixNoise([[0.5, 0.5], [0.5, 0.5]]))


def test_a_higher_level_gives_a_wider_interval():
    pairs = answered(7000, 10_000)
    found = [estimate_prior(pairs, CleanPairs(), level=q).roots[0] for q in (0.5, 0.9, 0.99)]
    for narrow, wide in pairwise(found):
        assert wide.low < narrow.low < narrow.high < wide.high


# --- rates_from_gold ----------------------------------------------------------------------------


def test_gold_rates_are_counts():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=40)
    pairs = sample_pairs(y, 500, PairingNoise(0.2, 0.3), random_state=1)
    weight = rng.integers(1, 4, size=500)
    pairs = Pairs(pairs.left, pairs.right, pairs.same, n_items=40, weight=weight)
    known = {i: f"class {y[i]}" for i in range(0, 40, 2)}
    wrong, asked = {True: 0, False: 0}, {True: 0, False: 0}
    for i, j, answer, w in zip(
        pairs.left.tolist(), pairs.right.tolist(), pairs.same.tolist(), weight, strict=True
    ):
        if i in known and j in known:
            truth = known[i] == known[j]
            asked[truth] += w
            wrong[truth] += w * (answer != truth)
    found = rates_from_gold(pairs, known, level=0.9)
    assert found.similar_flip == wilson(wrong[True], asked[True], 0.9)
    assert found.dissimilar_flip == wilson(wrong[False], asked[False], 0.9)
    assert found.same_share == asked[True] / (asked[True] + asked[False])
    assert found.noise() == PairingNoise(wrong[True] / asked[True], wrong[False] / asked[False])
    assert rates_from_gold(pairs.with_labels(known), level=0.9) == found


def test_gold_rates_leave_out_self_pairs():
    pairs = Pairs([0, 0, 1, 1], [1, 2, 2, 1], [True, True, False, False])
    found = rates_from_gold(pairs, ["a", "a", "b"])
    assert found.similar_flip.estimate == 0.0
    assert found.dissimilar_flip.estimate == 0.5


@pytest.mark.parametrize(
    ("classes", "kind"),
    [([0, 1, 2], "same"), ([0, 0, 0], "different"), ({0: 1, 1: 1}, "different")],
)
def test_gold_pairs_of_one_kind_cannot_tell_the_other_rate(classes, kind):
    pairs = Pairs([0, 0, 1], [1, 2, 2], [True, True, False])
    with pytest.raises(NotIdentifiable, match=f"no pair of two items known to be of {kind} class"):
        rates_from_gold(pairs, classes)


def test_gold_classes_must_fit_the_items():
    pairs = Pairs([0, 0, 1], [1, 2, 2], [True, True, False])
    with pytest.raises(ValueError, match=r"classes has shape \(2,\), expected \(3,\)"):
        rates_from_gold(pairs, [0, 1])
    for outside in (3, -1):
        with pytest.raises(ValueError, match=r"items outside 0\.\.2"):
            rates_from_gold(pairs, {0: "a", outside: "b"})
    with pytest.raises(NotIdentifiable, match="known to be of same class"):
        rates_from_gold(pairs)  # no labels at all


def test_the_seed_decides_the_bootstrap_of_repeats():
    rng = np.random.default_rng(0)
    left, right = np.arange(0, 120, 2), np.arange(1, 120, 2)
    truth = np.arange(60) % 2 == 0
    answers = truth ^ (rng.random((4, 60)) < 0.2)
    pairs = Pairs(np.tile(left, 4), np.tile(right, 4), answers.ravel())
    one, again, other = (
        rates_from_repeats(pairs, n_bootstrap=50, random_state=seed) for seed in (1, 1, 2)
    )
    assert one == again
    assert one.similar_flip.estimate == other.similar_flip.estimate
    assert one.similar_flip.high != other.similar_flip.high


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
