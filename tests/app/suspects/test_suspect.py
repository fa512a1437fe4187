"""What is known of an answer, by counting answers one by one, and the table for files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from noisypairs import Pairs
from noisypairs.app.suspects import Suspects, items_of
from noisypairs.app.suspects.suspect import COLUMNS, clues_of


def counted(pairs, k):
    """Return other answers to the pair of answer k, and links, by looking at every answer."""
    mine = {pairs.left[k], pairs.right[k]}
    others = [0, 0]
    said: dict[frozenset[int], int] = {}
    for j in range(pairs.n_pairs):
        ends = frozenset((int(pairs.left[j]), int(pairs.right[j])))
        others[0 if pairs.same[j] else 1] += j != k and ends == mine
        said[ends] = said.get(ends, 0) + (1 if pairs.same[j] else -1)
    links = [0, 0]
    for item in set(range(pairs.n_items)) - mine:
        first, second = (said.get(frozenset((item, int(end))), 0) for end in mine)
        links[0] += first > 0 and second > 0
        links[1] += (first > 0 > second) or (second > 0 > first)
    return others, links


def test_clues_are_what_counting_gives():
    rng = np.random.default_rng(3)
    left, right = rng.permuted(np.tile(np.arange(9), (80, 1)), axis=1)[:, :2].T
    pairs = Pairs(left, right, rng.random(80) < 0.5, 9, annotator=rng.choice(["a", "b"], 80))
    wrong, chosen = rng.random(80), np.arange(0, 80, 7)
    share = rng.random(chosen.size)
    for k, clue, one_class in zip(
        chosen, clues_of(chosen, pairs, wrong, share), share, strict=True
    ):
        others, links = counted(pairs, k)
        assert [clue.others_same, clue.others_different] == others
        assert [clue.links_same, clue.links_different] == links
        assert (clue.same, clue.features_same) == (pairs.same[k], one_class)
        mine = pairs.annotator == pairs.annotator[k]
        assert clue.annotator == "ab"[pairs.annotator[k]]
        assert clue.annotator_answers == mine.sum()
        assert clue.annotator_wrong == pytest.approx(wrong[mine].mean())


def test_votes_count_by_their_weight():
    pairs = Pairs([0, 0], [1, 1], [True, False], weight=[3, 2])
    (clue,) = clues_of(np.array([1]), pairs, np.array([0.2, 0.8]), None)
    assert (clue.others_same, clue.others_different) == (3.0, 0.0)
    assert (clue.annotator, clue.features_same) == (None, None)


@pytest.fixture
def three():
    pairs = Pairs([1, 0], [2, 2], [False, True])
    wrong = np.array([0.9999999, 0.6])
    clues = clues_of(np.array([0, 1]), pairs, wrong, np.array([0.25, 1.0]))
    items = pd.DataFrame({"a": [1.23456789, np.nan, 3.0], "b": ["x", "y", "z"]})
    return Suspects(pairs, wrong, clues, items, ["p", "q", "r"], 2)


def test_items_are_shown_as_the_file_has_them_without_what_is_missing(three):
    first, second = three
    assert [(one.left, one.right, one.answer) for one in three] == [
        ("q", "r", "different"),
        ("p", "r", "same"),
    ]
    assert (first.left_features, second.left_features) == ({"b": "y"}, {"a": "1.235", "b": "x"})
    assert first.annotator is None
    assert items_of(three) == ["q", "r", "p"]


def test_a_file_has_everything_and_no_certainty(three):
    frame = three.frame()
    contents = [f"{side}.{name}" for side in ("left", "right") for name in "ab"]
    assert list(frame) == [*COLUMNS, *contents]
    assert frame["probability_wrong"].tolist() == [0.999999, 0.6]
    assert frame["features_same"].tolist() == [0.25, 0.999999]
    assert frame["left.b"].tolist() == ["y", "x"]
    assert frame["right.a"].tolist() == [3.0, 3.0]
    bare = Suspects(three.answers, three.wrong, three.clues, None, three.ids, 2).frame()
    assert list(bare) == list(COLUMNS)
