"""The mark of chosen pairs, wherever answers go."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from noisypairs.pairs import Pairs


@pytest.fixture
def marked():
    return Pairs([0, 1, 2, 3], [1, 2, 3, 0], [1, 0, 1, 1], chosen=[True, False, False, True])


def test_the_mark_follows_its_answers(marked):
    assert marked.chosen.tolist() == [True, False, False, True]
    assert not marked.chosen.flags.writeable
    assert "chosen=2" in repr(marked)
    assert marked.select([3, 1]).chosen.tolist() == [True, False]
    assert marked[[2, 3, 0]].chosen.tolist() == [False, True]
    ordered, place = marked.in_order()
    assert ordered.chosen.tolist() == marked.chosen[place].tolist()
    assert pickle.loads(pickle.dumps(marked)) == copy.deepcopy(marked) == marked
    assert marked != Pairs(marked.left, marked.right, marked.same)
    assert next(marked.batches()).left.size == 4


def test_only_pairs_drawn_at_random_are_left(marked):
    drawn = marked.drawn_at_random()
    assert (drawn.left.tolist(), drawn.chosen, drawn.n_items) == ([1, 2], None, 4)
    assert drawn.drawn_at_random() is drawn


def test_no_mark_where_nothing_was_chosen():
    assert Pairs([0], [1], [1], chosen=[0]).chosen is None
    assert Pairs([0, 1], [1, 2], [1, 0], chosen=np.array([0, 1])).chosen.dtype == bool


def test_pickles_of_older_versions_have_no_mark(marked):
    state = marked.__getstate__()
    del state["chosen"]
    older = Pairs.__new__(Pairs)
    older.__setstate__(state)
    assert older.chosen is None


@pytest.mark.parametrize(("chosen", "message"), [([2], "True and False"), ([1, 0], "one per pair")])
def test_wrong_marks_are_refused(chosen, message):
    with pytest.raises(ValueError, match=message):
        Pairs([0], [1], [True], chosen=chosen)
