"""Answers held out: what goes together, and the error of a gain by brute force over couples."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import Pairs, datasets
from noisypairs.estimation.heldout import (
    Gain,
    HeldOut,
    dyadic_sums,
    gain_of_items,
    items_by_fold,
    repeated_answers,
)
from noisypairs.pairs.counts import weights_of
from noisypairs.pairs.pairs import keys_of


def asked(n_items=12, n=80, seed=0, people=None):
    rng = np.random.default_rng(seed)
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    who = None if people is None else rng.integers(0, people, n)
    return Pairs(left, right, rng.random(n) < 0.5, n_items, who)


def brute_force(pairs, group, values):
    """Sum r_a r_b over answers that share a group; then over those of one person.

    Answers between the same two groups share two, and so count twice, less once.
    """
    residual = values - values.mean()
    ends = [{group[a], group[b]} for a, b in zip(pairs.left, pairs.right, strict=True)]
    total = 0.0
    for a in range(pairs.n_pairs):
        for b in range(pairs.n_pairs):
            shared = len(ends[a] & ends[b]) - (ends[a] == ends[b])
            total += residual[a] * residual[b] * shared
    within = sum(
        residual[a] * residual[b]
        for a in range(pairs.n_pairs)
        for b in range(pairs.n_pairs)
        if ends[a] == ends[b]
    )
    total = max(total, within)
    if pairs.annotator is not None:
        own = sum(
            residual[a] * residual[b]
            for a in range(pairs.n_pairs)
            for b in range(pairs.n_pairs)
            if a != b and pairs.annotator[a] == pairs.annotator[b]
        )
        total += max(own, 0.0)
    return np.sqrt(total)


@pytest.mark.parametrize("people", [None, 5])
@pytest.mark.parametrize("size", [1, 2], ids=["items", "groups"])
@pytest.mark.parametrize("seed", range(3))
def test_the_error_is_the_sum_over_couples_that_share_a_group_or_a_person(size, people, seed):
    pairs, group = asked(people=people, seed=seed), np.arange(12) // size
    keep = group[pairs.left] != group[pairs.right]  # two ends, two groups
    pairs = pairs.select(keep)
    rng = np.random.default_rng(seed)
    better, worse = rng.normal(size=(2, pairs.n_pairs))
    held = HeldOut.by_pair(pairs, 3, 0, group)
    found = held.gain(better, worse)
    assert found.nats == pytest.approx((better - worse).sum())
    assert found.error == pytest.approx(brute_force(pairs, group, better - worse))
    assert found.n_answers == pairs.n_pairs


def test_the_error_is_the_spread_of_the_gain_by_simulation():
    """Every item adds a number of its own to its answers: 2,000 draws, a spread known to 2 %."""
    pairs, rng = asked(n_items=60, n=240), np.random.default_rng(1)
    held = HeldOut.by_pair(pairs, 3, 0)
    sums, errors = [], []
    for _ in range(2000):
        item = rng.normal(size=60)
        values = item[pairs.left] + item[pairs.right] + rng.normal(size=pairs.n_pairs)
        gain = held.gain(values, np.zeros(pairs.n_pairs))
        sums.append(gain.nats)
        errors.append(gain.error**2)
    independent = np.sqrt(3 * pairs.n_pairs)  # as if answers shared nothing
    assert np.sqrt(np.mean(errors)) == pytest.approx(np.std(sums), rel=0.15)
    assert np.std(sums) > 1.5 * independent


def test_answers_that_are_not_held_out_do_not_count_and_weights_do():
    pairs = asked().reweighted(np.arange(80) % 3 + 1.0)
    better, worse = np.random.default_rng(0).normal(size=(2, 80))
    better[::2], worse[1] = np.nan, np.nan
    known = np.arange(80) % 2 == 1
    known[1] = False
    found = HeldOut.by_pair(pairs, 3, 0).gain(better, worse)
    assert found.n_answers == known.sum() == 39
    assert found.nats == pytest.approx((pairs.weight * (better - worse))[known].sum(), rel=1e-6)


def test_a_gain_exceeds_a_number_of_its_errors():
    assert Gain(2.1, 1.0, 9, 9.0).exceeds(2.0)
    assert not Gain(2.0, 1.0, 9, 9.0).exceeds(2.0)
    assert not Gain(-5.0, 1.0, 9, 9.0).exceeds(0.0)


@pytest.mark.parametrize("size", [1, 3])
def test_answers_between_the_same_groups_are_in_one_fold(size):
    pairs, group = asked(n=300), np.arange(12) // size
    held = HeldOut.by_pair(pairs, 4, 0, group)
    fold = {}
    for a, b, k in zip(group[pairs.left], group[pairs.right], held.fold, strict=True):
        assert fold.setdefault(frozenset((a, b)), k) == k  # in whatever order it was asked
    assert np.unique(held.fold).tolist() == [0, 1, 2, 3]


def test_people_are_held_out_whole():
    pairs = asked(people=9)
    held = HeldOut.by_person(pairs, 3, 0)
    for train, out in held.masks():
        assert not set(pairs.annotator[train]) & set(pairs.annotator[out])
    with pytest.raises(ValueError, match="do not say who answered"):
        HeldOut.by_person(asked(), 3, 0)


def test_masks_are_a_partition_and_end_when_enough_was_held_out():
    held = HeldOut.by_pair(asked(), 5, 0)
    every = list(held.masks())
    assert len(every) == 5
    assert (np.sum([out for _, out in every], axis=0) == 1).all()
    assert all((train == ~out).all() for train, out in every)
    assert len(list(held.masks(enough=1))) == 1
    first = int(every[0][1].sum())
    assert len(list(held.masks(enough=first + 1))) == 2


def test_items_are_held_out_with_all_answers_about_them():
    named = Pairs(*np.random.default_rng(0).integers(0, 30, (2, 200)), np.arange(200) % 2, 30)
    for pairs in (named, Pairs(named.left, named.right, named.same, 30, groups=np.arange(30) // 2)):
        held = HeldOut.by_item(pairs, 3, 0)
        items = items_by_fold(held.item_fold, 3)
        for (train, out), (learnt, test) in zip(held.masks(), items, strict=True):
            assert np.isin(pairs.left[train], learnt).all()
            assert np.isin(pairs.right[train], learnt).all()
            assert np.isin(pairs.left[out], test).all()
            assert np.isin(pairs.right[out], test).all()
            assert (pairs.left[out] != pairs.right[out]).all()
            if pairs.groups is not None:
                assert not set(pairs.groups[learnt]) & set(pairs.groups[test])


def test_copies_of_ones_own_answers_are_no_repeats():
    crowd = datasets.simulated_crowd(200, 2, 15, 5, random_state=0)
    copies = crowd.pairs.select(np.tile(np.arange(crowd.pairs.n_pairs), 3))
    assert repeated_answers(copies).sum() == 3 * repeated_answers(crowd.pairs).sum()
    assert repeated_answers(copies).mean() < 0.2


def test_of_every_repeated_pair_one_person_is_held_out():
    pairs = asked(n_items=6, n=120, people=4)
    held = HeldOut.by_repeat(pairs, 2, 0)
    out = held.fold >= 0
    assert set(keys_of(pairs)[out]) == set(keys_of(pairs)[repeated_answers(pairs)])
    for key in set(keys_of(pairs)[out]):
        on = keys_of(pairs) == key
        assert len(set(pairs.annotator[on & out])) == 1
        assert not set(pairs.annotator[on & out]) & set(pairs.annotator[on & ~out])
        assert (on & ~out).any()
        assert len(set(held.fold[on & out])) == 1


def test_gains_per_answer_are_means_by_weight():
    pairs = asked().reweighted(np.arange(80) % 3 + 1.0)
    values = np.random.default_rng(0).normal(size=80)
    found = HeldOut.by_pair(pairs, 3, 0).gain(values)
    assert found.mean == pytest.approx(np.average(values, weights=weights_of(pairs)))
    assert found.mean_error == pytest.approx(found.error / weights_of(pairs).sum())
    assert found.loss.mean == -found.mean
    constant = HeldOut.by_pair(pairs, 3, 0).gain(np.full(80, 0.3))
    assert constant.error == pytest.approx(0.0, abs=1e-5)
    assert str(found) == f"{found.mean:.3f} ± {found.mean_error:.3f} nats on 80 held-out answers"


def test_items_of_a_group_count_as_one():
    values = np.random.default_rng(0).normal(size=300)
    alone = gain_of_items(values, np.arange(300))
    assert alone.error == pytest.approx(values.std() * np.sqrt(300))
    copied = gain_of_items(np.repeat(values, 4), np.repeat(np.arange(300), 4))
    assert copied.nats == pytest.approx(4 * alone.nats)
    assert copied.error == pytest.approx(4 * alone.error)


def test_sums_of_several_columns_are_those_of_every_two():
    pairs, values = asked(), np.random.default_rng(0).normal(size=(80, 2))
    shared, within = dyadic_sums(pairs, values)
    for number, found in enumerate((shared, within)):
        one, other, both = (
            dyadic_sums(pairs, column)[number]
            for column in (values[:, 0], values[:, 1], values.sum(axis=1))
        )
        assert np.diag(found) == pytest.approx([one, other])
        assert found[0, 1] == found[1, 0] == pytest.approx((both - one - other) / 2)
