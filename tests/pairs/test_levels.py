"""Scales of answers: what they hold, how pairs carry them, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from noisypairs import Pairs
from noisypairs.pairs.levels import PLAIN, Scale, level_codes, read_scale, scale_of
from noisypairs.pairs.pairs import levels_of, scores_of, sorted_answers, with_families, with_levels

GRADES = ["1", "2", "3", "4"]


def graded(**more):
    level = [4, 2, 0, 3, 1]
    return Pairs.from_levels([0, 1, 0, 2, 1], [1, 2, 2, 3, 0], level, GRADES, 0, 4, **more)


def test_same_is_a_view_of_the_levels():
    pairs = graded()
    assert pairs.level.tolist() == [3, 1, 4, 2, 0]
    assert pairs.same.tolist() == [True, False, False, True, False]
    assert pairs.scale == Scale(("1", "2", "3", "4"), "0", 2)
    np.testing.assert_allclose(scores_of(pairs), [1, 1 / 3, 0.5, 2 / 3, 0])  # unsure is the mean
    assert graded(same_from=2).same.tolist() == [True, True, False, True, False]


def test_two_levels_are_plain_answers():
    pairs = Pairs.from_levels([0, 1], [1, 2], ["yes", "no"], ["no", "yes"])
    assert pairs == Pairs([0, 1], [1, 2], [True, False])
    assert pairs.level is None
    assert pairs.scale is PLAIN or pairs.scale == PLAIN
    assert levels_of(pairs).tolist() == [1, 0]
    assert pairs.yes_or_no() is pairs


def test_yes_or_no_leaves_unsure_out_and_counts_it():
    plain = graded(annotator=list("aabbb")).yes_or_no()
    assert plain.same.tolist() == [True, False, True, False]
    assert plain.annotator.tolist() == [0, 0, 1, 1]
    assert plain.dropped == {"unsure": 1}
    assert plain.level is None
    assert "1 unsure" in str(graded().audit())


@pytest.mark.parametrize(
    "change",
    [
        lambda pairs: pairs.select([3, 0]),
        lambda pairs: pairs[[3, 2, 1, 0]],
        lambda pairs: sorted_answers(pairs)[0],
        lambda pairs: pairs.reweighted(np.full(5, 2.0)),
        lambda pairs: pickle.loads(pickle.dumps(pairs)),
        lambda pairs: pairs.without_self_pairs(),
        lambda pairs: pairs.without_copies(),
    ],
)
def test_every_copy_keeps_the_levels_of_its_answers(change):
    pairs = graded()
    level = {
        frozenset(ends): (code, same)
        for *ends, code, same in zip(pairs.left, pairs.right, pairs.level, pairs.same, strict=True)
    }
    after = change(graded())
    assert after.scale == pairs.scale
    if after.n_pairs == 5:
        assert sorted(after.level) == sorted(pairs.level)
    assert after.same.tolist() == after.scale.same_levels[after.level].tolist()
    assert level  # the answers themselves
    assert (after == pairs) == (after.left.tolist() == pairs.left.tolist() and after.weight is None)


def test_more_answers_have_the_same_scale():
    more = graded().with_answers([3], [0], ["2"])
    assert more.level.tolist() == [3, 1, 4, 2, 0, 1]
    assert more.same[-1] == np.False_
    with pytest.raises(ValueError, match=r"level has 'yes' at pair 0, which is none of"):
        graded().with_answers([3], [0], ["yes"])


def test_copies_are_equal_levels():
    pairs = Pairs.from_levels([0, 1, 0], [1, 0, 1], [4, 3, 4], GRADES)
    assert pairs.without_copies() == pairs.select([0, 1])


@pytest.mark.parametrize(
    ("levels", "unsure", "same_from", "message"),
    [
        (["1"], None, None, "1 entries: expected 2 to 20"),
        (["1", "1"], None, None, "name one answer twice"),
        (["1", "2"], "2", None, "name one answer twice"),
        (["1", "2", "3"], None, None, "have a middle one, '2'"),
        (["1", "2", "3"], None, "1", r"same_from='1': Known: 2, 3"),
        (["1", "2", "3"], None, "4", "same_from='4'"),
    ],
)
def test_scales_that_are_refused(levels, unsure, same_from, message):
    with pytest.raises(ValueError, match=message):
        scale_of(levels, unsure, same_from)


def test_what_is_no_level_is_named_with_its_place():
    with pytest.raises(ValueError, match=r"level has '5' at pair 1, which is none of"):
        level_codes([1, 5], Scale(("1", "2")))
    with pytest.raises(ValueError, match=r"level has 'nan' at pair 1.*leave such answers out"):
        level_codes([1.0, np.nan], Scale(("1", "2")))
    assert level_codes([1.0, 2.0], Scale(("1", "2"))).tolist() == [0, 1]


def test_a_scale_is_written_with_less_than_signs():
    assert read_scale("1<2<3<4", "0") == Scale(("1", "2", "3", "4"), "0", 2)
    assert read_scale("no < partly | yes") == Scale(("no", "partly", "yes"), None, 2)
    for text in ("1,2,3", "1|2|3"):
        with pytest.raises(ValueError, match="expected names from low to high"):
            read_scale(text)


def test_levels_may_be_said_later():
    scale = Scale(("no", "yes"), "hm")
    pairs = with_levels(Pairs([0, 1], [1, 2], [False, False]), ["yes", "hm"], scale)
    assert pairs.same.tolist() == [True, False]
    with pytest.raises(ValueError, match="level has 1"):
        with_levels(Pairs([0, 1], [1, 2], [True, True]), ["yes"], scale)


def test_a_family_is_that_of_somebody():
    with pytest.raises(ValueError, match="say who answered, too"):
        with_families(Pairs([0], [1], [True]), ["gpt"])


def test_confidence_makes_levels_of_yes_and_no():
    confidence = [0.1, 0.5, 0.9, 0.2, 0.6, 1.0]
    same = [True, True, True, False, False, False]
    pairs = Pairs.from_confidence(range(6), range(1, 7), same, confidence)
    assert pairs.level.tolist() == [3, 4, 5, 2, 1, 0]  # surer answers lie further out
    assert pairs.same.tolist() == same
    assert pairs.scale.n_levels == 6
    plain = Pairs.from_confidence([0, 1], [1, 2], [1, 0], [1.0, 1.0])
    assert plain == Pairs([0, 1], [1, 2], [True, False])  # all alike: nothing to learn
    with pytest.raises(ValueError, match=r"confidence has 2\.0 at pair 1"):
        Pairs.from_confidence([0, 1], [1, 2], [1, 0], [1.0, 2.0])
    with pytest.raises(ValueError, match="level has 'hm' at pair 0"):
        Pairs.from_confidence([0], [1], [1], ["hm"], levels=["low", "high"])
