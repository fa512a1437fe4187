from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from noisypairs import CleanPairs, LabelingNoise, PairingNoise, sample_pairs

#: Chance that one chi-square test below fails although the sampler is right; seeds are fixed.
FALSE_ALARM = 1e-3


def counts_of(pairs, cells):
    """Count by a loop how often each ordered cell (i, j) was drawn."""
    drawn = dict.fromkeys(cells, 0)
    for cell in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True):
        drawn[cell] += 1
    return np.array(list(drawn.values()))


def test_every_pair_of_distinct_items_is_equally_likely():
    pairs = sample_pairs(list("aabbbc"), 30_000, random_state=0)
    cells = list(permutations(range(6), 2))
    drawn = counts_of(pairs, cells)  # a self pair would be a KeyError
    assert drawn.sum() == 30_000
    assert stats.chisquare(drawn).pvalue > FALSE_ALARM
    number = dict(zip(cells, drawn, strict=True))
    unordered = [number[i, j] + number[j, i] for i, j in combinations(range(6), 2)]
    assert stats.chisquare(unordered).pvalue > FALSE_ALARM


def test_two_items_have_one_pair():
    pairs = sample_pairs([0, 1], 100, random_state=0)
    assert (pairs.left + pairs.right == 1).all()
    assert not pairs.same.any()


@pytest.mark.parametrize("same_share", [0.0, 0.25, 1.0])
def test_separate_sampling_is_uniform_within_each_kind(same_share):
    y = ["x", "y", "x", "z", "y", "x"]  # classes of 3, 2 and 1 items, not sorted
    pairs = sample_pairs(y, 20_000, same_share=same_share, random_state=3)
    truly_same = np.array(
        [y[i] == y[j] for i, j in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)]
    )
    assert truly_same.sum() == round(same_share * 20_000)
    np.testing.assert_array_equal(pairs.same, truly_same)  # no noise was asked for
    for kind in (True, False):
        if (truly_same == kind).any():
            cells = [(i, j) for i, j in permutations(range(6), 2) if (y[i] == y[j]) == kind]
            drawn = counts_of(pairs.select(truly_same == kind), cells)
            assert stats.chisquare(drawn).pvalue > FALSE_ALARM


def test_the_share_is_rounded_to_whole_pairs():
    pairs = sample_pairs([0, 0, 1, 1], 7, same_share=0.4, random_state=0)
    assert pairs.same.sum() == 3  # .4 · 7 = 2.8


def test_separate_pairs_come_in_random_order():
    """With half of each kind a sorted list would have one run, a fair shuffle about n/2."""
    same = sample_pairs([0, 0, 1, 1], 1000, same_share=0.5, random_state=0).same
    assert 400 < np.count_nonzero(np.diff(same)) < 600


def test_a_kind_that_is_not_wanted_need_not_exist():
    assert not sample_pairs([0, 1, 2], 50, same_share=0.0, random_state=0).same.any()
    assert sample_pairs([5, 5], 50, same_share=1.0, random_state=0).same.all()


@pytest.mark.parametrize(
    ("y", "same_share", "message"),
    [
        ([1, 1, 1], 0.5, "cannot draw 5 pairs that are truly different: there is only one class"),
        ([0, 1, 2], 0.5, "cannot draw 5 pairs that are truly same: no class has two items"),
        ([0, 0, 1], 1.5, r"same_share=1\.5: expected None or a number in \[0, 1\]"),
        ([0, 0, 1], -0.1, r"same_share=-0\.1"),
        ([0, 0, 1], float("nan"), "same_share=nan"),
        ([0], None, r"at least two items, got \(1,\)"),
        ([[0, 1], [1, 0]], None, r"at least two items, got \(2, 2\)"),
    ],
)
def test_classes_or_share_that_cannot_be_drawn_from(y, same_share, message):
    with pytest.raises(ValueError, match=message):
        sample_pairs(y, 10, same_share=same_share)


@pytest.mark.parametrize("n_pairs", [0, -3, 2.5, 1e3])
def test_the_number_of_pairs_is_a_positive_whole_number(n_pairs):
    with pytest.raises(ValueError, match=rf"n_pairs={n_pairs}: expected a positive whole number"):
        sample_pairs([0, 1], n_pairs)


def test_the_same_seed_gives_the_same_pairs():
    y, noise = np.arange(50) % 3, PairingNoise(0.1, 0.2)
    for share in (None, 0.5):
        first = sample_pairs(y, 200, noise, same_share=share, random_state=7)
        assert first == sample_pairs(y, 200, noise, same_share=share, random_state=7)
        assert first != sample_pairs(y, 200, noise, same_share=share, random_state=8)
        rng = np.random.default_rng(7)
        assert first == sample_pairs(y, 200, noise, same_share=share, random_state=rng)
        assert first != sample_pairs(y, 200, noise, same_share=share, random_state=rng)


def test_a_numpy_random_state_is_a_seed_too():
    def seeded():
        return np.random.RandomState(4)

    assert sample_pairs([0, 1, 1], 50, random_state=seeded()) == sample_pairs(
        [0, 1, 1], 50, random_state=seeded()
    )


def test_class_names_do_not_matter_only_their_order():
    """Sorted names are classes 0, 1: under labeling noise the order decides which flips how."""
    numbers = np.random.default_rng(0).integers(2, size=200)
    noise = LabelingNoise(0.4, 0.0)
    by_number = sample_pairs(numbers, 3000, noise, random_state=1)
    assert by_number == sample_pairs(np.array(["no", "yes"])[numbers], 3000, noise, random_state=1)
    assert by_number == sample_pairs(np.array([-1, 1])[numbers], 3000, noise, random_state=1)
    turned = np.array(["z", "a"])[numbers]
    assert by_number != sample_pairs(turned, 3000, noise, random_state=1)


@pytest.mark.parametrize("noise", [PairingNoise(0.1, 0.3), LabelingNoise(0.1, 0.3)], ids=repr)
def test_answers_follow_the_noise(noise):
    """60,000 pairs, cells of at least 5,000: five standard errors are below .036."""
    y = np.repeat(["down", "up"], [600, 400])
    pairs = sample_pairs(y, 60_000, noise, random_state=2)
    S = noise.same_probability()
    classes = (y == "up").astype(int)
    for first in (0, 1):
        for second in (0, 1):
            cell = (classes[pairs.left] == first) & (classes[pairs.right] == second)
            assert cell.sum() > 5000
            assert abs(pairs.same[cell].mean() - S[first, second]) < 0.036


def test_noise_per_item_gives_consistent_answers():
    """One report per item: "same" is then an equivalence relation, per occurrence it is not."""
    y = np.random.default_rng(0).integers(2, size=30)

    def contradicts(per):
        noise = LabelingNoise(0.3, 0.2, per=per)
        pairs = sample_pairs(y, 4000, noise, random_state=5)
        linked = pairs.select(pairs.same)
        links = coo_array((np.ones(linked.n_pairs), (linked.left, linked.right)), shape=(30, 30))
        n_groups, group = connected_components(links, directed=False)
        assert n_groups <= 2
        return ((group[pairs.left] == group[pairs.right]) != pairs.same).any()

    assert not contradicts("item")
    assert contradicts("occurrence")


def test_clean_pairs_are_the_default():
    y = [0, 1, 1, 2]
    assert sample_pairs(y, 99, random_state=0) == sample_pairs(y, 99, CleanPairs(), random_state=0)


def test_items_in_no_pair_are_still_items():
    assert sample_pairs([0, 1] * 500, 1, random_state=0).n_items == 1000


def test_a_seed_and_its_generator_draw_the_same():
    """Answers come from where the pairs left off: no draw is used twice."""
    y, noise = np.arange(40) % 2, PairingNoise(0.3, 0.2)
    by_seed = sample_pairs(y, 200, noise, random_state=5)
    assert by_seed == sample_pairs(y, 200, noise, random_state=np.random.default_rng(5))
