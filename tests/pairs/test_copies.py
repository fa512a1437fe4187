"""Copies: same unordered pair, annotator, answer and weight; and the judgement without names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisypairs import PairingNoise, Pairs, sample_pairs
from noisypairs.pairs.copies import look_copied

rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans(), st.sampled_from("ab")),
    min_size=1,
    max_size=30,
)


@given(rows)
def test_copies_are_those_that_enumeration_has_seen_before(answers):
    left, right, same, who = zip(*answers, strict=True)
    pairs = Pairs(left, right, same, 4, annotator=who)
    names = [(frozenset((a, b)), s, w) for a, b, s, w in answers]
    again = [name in names[:k] for k, name in enumerate(names)]
    assert pairs.copies().tolist() == again
    kept = pairs.without_copies()
    assert kept.n_pairs == len(set(names))
    assert pairs.audit().copies == sum(again)
    report = kept.audit()
    assert (report.copies, report.copies_removed) == (0, sum(again))


def test_a_contradiction_another_annotator_or_another_weight_is_no_copy():
    pairs = Pairs([0, 0, 0, 0], [1, 1, 1, 1], [1, 0, 1, 1], annotator=["a", "a", "b", "a"])
    assert pairs.copies().tolist() == [False, False, False, True]
    assert not pairs.reweighted([1, 1, 1, 2]).copies().any()
    assert "copies            1 among these answers, 0 left out" in str(pairs.audit())


def test_without_copies_of_pairs_without_any_is_the_same_object():
    pairs = Pairs([0, 1], [1, 2], [1, 1])
    assert pairs.without_copies() is pairs


@pytest.mark.parametrize("times", [2, 3])
def test_recorded_several_times_looks_copied_however_noisy(times):
    pairs = sample_pairs([0, 1] * 15, 600, PairingNoise(0.3, 0.3), random_state=0)
    key, same = pairs.pair_keys, pairs.same
    assert look_copied(np.tile(key, times), np.tile(same, times))
    assert not look_copied(key, same)  # many repeats, some answered both ways


def test_three_people_who_err_do_not_look_copied():
    pairs = sample_pairs([0, 1] * 100, 400, random_state=0)
    left, right = np.tile(pairs.left, 3), np.tile(pairs.right, 3)
    same = PairingNoise(0.05, 0.05).corrupt([0, 1] * 100, left, right, random_state=0)
    asked = Pairs(left, right, same)
    assert not look_copied(asked.pair_keys, asked.same)
