"""Answers about items named by ids."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import Pairs
from noisypairs.pairs import answers

LEFT, RIGHT, SAME = ["a", "b", "x", "a"], ["b", "c", "a", "c"], ["yes", "unsure", "no", "no"]


def test_ids_become_positions_among_the_items():
    pairs = Pairs.from_ids(["b", "c "], ["c", "a"], [True, False], items=["a", "b", "c"])
    assert pairs == Pairs.from_ids(["b", "c"], ["c", "a"], [1, 0], items=["a", "b", "c"])
    assert (pairs.left.tolist(), pairs.right.tolist()) == ([1, 2], [2, 0])
    assert pairs.item_ids.tolist() == ["a", "b", "c"]


def test_without_items_ids_are_numbered_as_they_appear():
    pairs = Pairs.from_ids(["b", "c"], ["c", "a"], [True, False])
    assert pairs.item_ids.tolist() == ["b", "c", "a"]
    assert Pairs.from_ids([3, 1], [1, 0], [1, 0]).item_ids is None  # positions


def test_answers_parsed_already_are_not_parsed_again():
    parsed = answers.parse(SAME, unsure="drop")
    pairs = Pairs.from_ids(
        LEFT,
        RIGHT,
        parsed,
        annotator=["w1", "w2", "w3", "w4"],
        weight=[1.0, 2.0, 3.0, 4.0],
        items=["a", "b", "c"],
        unknown="drop",
    )
    assert (pairs.left.tolist(), pairs.right.tolist()) == ([0, 0], [1, 2])
    assert pairs.same.tolist() == [True, False]
    assert pairs.annotator_names[pairs.annotator].tolist() == ["w1", "w4"]
    assert pairs.weight.tolist() == [1.0, 4.0]
    assert dict(pairs.dropped) == {"unsure": 1, "unknown": 1}


def test_what_cannot_be_used_is_refused_by_name():
    with pytest.raises(ValueError, match="column 'left' has 1 ids that are not among the 3 items"):
        Pairs.from_ids(["x"], ["a"], [True], items=["a", "b", "c"])
    with pytest.raises(ValueError, match="1 of 4 answers missing or unsure"):
        Pairs.from_ids(LEFT, RIGHT, SAME)
    with pytest.raises(ValueError, match="left has 4 entries but annotator has 1"):
        Pairs.from_ids(LEFT, RIGHT, np.ones(4, bool), annotator=["w"])


def test_a_boolean_array_is_an_answer_and_is_copied():
    given = np.array([True, False])
    parsed = answers.parse(given)
    assert parsed.mapping == {"False": "different", "True": "same"}
    given[0] = False
    assert parsed.same.tolist() == [True, False]


@pytest.mark.parametrize("by", [None, "id"])
def test_labels_are_given_by_id(by):
    pairs = Pairs.from_ids(["p", "q"], ["q", "r"], [True, False])
    named = pairs.with_labels({"r": "cat", " p": "dog"}, by=by)
    assert named.labels == {2: "cat", 0: "dog"}
    assert pairs.with_labels({2: "cat"}).labels == {2: "cat"}  # whole numbers are positions
    assert named[[2, 1]].labels == {0: "cat"}


def test_whole_numbers_that_are_ids_must_say_so():
    pairs = Pairs.from_ids([10, 20], [20, 30], [True, False], items=[30, 20, 10])
    with pytest.raises(ValueError, match="by='position' or by='id'"):
        pairs.with_labels({10: "cat"})
    assert pairs.with_labels({10: "cat"}, by="id").labels == {2: "cat"}
    assert pairs.with_labels({2: "cat"}, by="position").labels == {2: "cat"}


@pytest.mark.parametrize(
    ("labels", "by", "said"),
    [
        ({"x": "cat"}, None, "1 ids that are not among the 3 items: 'x'"),
        ({"p": "cat"}, "name", "by='name': expected 'position', 'id' or None"),
        ({7: "cat"}, "position", "labels names item 7"),
    ],
)
def test_labels_of_unknown_items_are_refused(labels, by, said):
    pairs = Pairs.from_ids(["p", "q"], ["q", "r"], [True, False])
    with pytest.raises(ValueError, match=said):
        pairs.with_labels(labels, by=by)


def test_pairs_without_ids_take_positions_only():
    pairs = Pairs([0, 1], [1, 2], [True, False])
    assert pairs.with_labels({1: "cat"}, by="id").labels == {1: "cat"}
    with pytest.raises(ValueError, match="know their items by position only"):
        pairs.with_labels({"p": "cat"})
