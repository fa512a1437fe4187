"""Answers that were given together: codes, weights, and what becomes of them in sub-graphs."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from noisypairs import Pairs


def grouped(sizes, **options):
    """A question for every size, about items of its own."""
    left, right, question, first = [], [], [], 0
    for number, m in enumerate(sizes):
        for a, b in combinations(range(first, first + m), 2):
            left.append(a)
            right.append(b)
            question.append(f"q{number}")
        first += m
    return Pairs(left, right, np.ones(len(left)), question=question, **options)


def test_all_answers_of_a_question_count_as_one_less_than_its_items():
    pairs = grouped([2, 3, 4, 5])
    for code, m in enumerate([2, 3, 4, 5]):
        weight = pairs.weight[pairs.question == code]
        assert_allclose(weight, 2 / m)
        assert weight.sum() == pytest.approx(m - 1)


def test_given_weights_are_multiplied():
    pairs = grouped([3], weight=[1.0, 2.0, 3.0])
    assert_allclose(pairs.weight, [2 / 3, 4 / 3, 2])


def test_part_of_a_question_counts_as_far_as_it_is_free():
    assert_allclose(Pairs([0, 1], [1, 2], [1, 1], question=[7, 7]).weight, 1)
    twice = Pairs([0, 0], [1, 1], [1, 1], question=[7, 7])
    assert_allclose(twice.weight, 0.5)


def test_ids_of_two_annotators_are_two_questions():
    pairs = Pairs([0, 0, 1] * 2, [1, 2, 2] * 2, [1, 0, 0] * 2, 3, list("aaabbb"), question=[1] * 6)
    assert_array_equal(pairs.question, [0, 0, 0, 1, 1, 1])
    assert_allclose(pairs.weight, 2 / 3)


def test_questions_are_kept():
    pairs = grouped([3, 4])
    assert_array_equal(pairs.select([0, 5]).question, [0, 1])
    assert_array_equal(pairs[[0, 1, 4, 5, 6]].question, [0, 1, 1, 1])
    ordered, place = pairs.in_order()
    assert_array_equal(ordered.question, pairs.question[place])
    again = pickle.loads(pickle.dumps(pairs))
    assert again == pairs
    assert_array_equal(again.question, pairs.question)
    assert pairs != Pairs(pairs.left, pairs.right, pairs.same, weight=pairs.weight)
    assert pairs.reweighted(None).weight is None


def test_pickles_without_questions_are_read():
    pairs = Pairs([0], [1], [True])
    state = {name: value for name, value in pairs.__getstate__().items() if name != "question"}
    older = Pairs.__new__(Pairs)
    older.__setstate__(state)
    assert older == pairs
    assert older.question is None


def test_a_question_for_every_answer():
    with pytest.raises(ValueError, match="left has 2 entries but question has 1"):
        Pairs([0, 1], [1, 2], [1, 0], question=["a"])
