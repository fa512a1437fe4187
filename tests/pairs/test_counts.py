"""Sums over answers and the key of a pair, against loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisypairs import Pairs
from noisypairs.pairs.counts import (
    count_by_item,
    pair_ends,
    pair_keys,
    some_pairs,
    sum_by_item,
    weights_of,
)

POSITIONS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=30)


@given(POSITIONS)
def test_two_answers_have_one_key_exactly_if_they_are_about_the_same_two_items(ends):
    left, right = np.array(ends, dtype=np.int32).T
    keys = pair_keys(left, right, 7)
    for k, one in enumerate(ends):
        assert [set(one) == set(other) for other in ends] == (keys == keys[k]).tolist()
    low, high = pair_ends(keys, 7)
    assert [(min(e), max(e)) for e in ends] == list(zip(low.tolist(), high.tolist(), strict=True))


def test_keys_do_not_overflow_the_positions_they_are_made_of():
    n_items = 2**31 - 1
    left, right = np.array([n_items - 1], np.int32), np.array([n_items - 2], np.int32)
    assert pair_keys(left, right, n_items)[0] == (n_items - 2) * n_items + n_items - 1


def test_sums_per_item_by_loop():
    rng = np.random.default_rng(4)
    left, right = rng.integers(12, size=(2, 80))
    value = rng.normal(size=80)
    expected = np.zeros(12)
    for i, j, v in zip(left, right, value, strict=True):
        expected[i] += v
        expected[j] += v  # a self pair touches its item at both ends
    found = sum_by_item(left, right, value, 12)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_answers_per_item_by_loop():
    rng = np.random.default_rng(6)
    left, right = rng.integers(12, size=(2, 80), dtype=np.int32)
    answer = rng.random(80) < 0.4
    same, different = np.zeros((2, 12), dtype=int)
    for i, j, yes in zip(left, right, answer, strict=True):
        for end in (i, j):
            same[end] += yes
            different[end] += not yes
    found = count_by_item(left, right, answer, 12)
    np.testing.assert_array_equal(found, (same, different))
    np.testing.assert_array_equal(Pairs(left, left, answer).item_counts().total, 0)


@pytest.mark.parametrize("shape", ["random", "chain", "star", "mirror"])
def test_some_pairs_are_about_as_many_as_asked_for_with_all_their_answers(shape):
    n = 20_000
    ends = {
        "random": np.random.default_rng(7).integers(n, size=(2, n)),
        "chain": np.array([np.arange(n), np.arange(1, n + 1)]),
        "star": np.array([np.zeros(n, int), np.arange(1, n + 1)]),
        "mirror": np.array([np.arange(n), n - 1 - np.arange(n)]),
    }[shape].astype(np.int32)
    left, right = np.concatenate([ends, ends[::-1]], axis=1)  # every pair twice, turned round
    chosen = some_pairs(left, right, 4_000)
    assert 3_000 < chosen.size < 5_000
    half = chosen[: chosen.size // 2]
    np.testing.assert_array_equal(chosen[chosen.size // 2 :], half + n)
    assert some_pairs(left, right, 2 * n) == slice(None)


def test_weights_are_one_unless_given():
    plain = Pairs([0, 1], [1, 2], [1, 0])
    assert weights_of(plain).tolist() == [1.0, 1.0]
    weighted = plain.reweighted([0.5, 2.0])
    assert weights_of(weighted).tolist() == [0.5, 2.0]
    assert weights_of(weighted).dtype == np.float64


def test_items_are_counted_by_weight_and_self_pairs_are_not():
    rng = np.random.default_rng(5)
    left, right = rng.integers(8, size=(2, 60))
    same, weight = rng.random(60) < 0.5, rng.integers(1, 9, 60) / 4
    expected = np.zeros((2, 8))
    for i, j, yes, w in zip(left, right, same, weight, strict=True):
        if i != j:
            expected[int(yes), [i, j]] += w
    assert (left == right).any()
    counts = Pairs(left, right, same, weight=weight).item_counts()
    np.testing.assert_allclose([counts.different, counts.same], expected, rtol=0, atol=1e-12)
