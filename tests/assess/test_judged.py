"""Partitions by brute force, and the chance of whole questions by enumeration."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit

from noisypairs import Pairs
from noisypairs.assess import judged
from noisypairs.assess.judged import (
    consistent_answers,
    fit_shifts,
    partitions,
    question_log_chance,
)
from noisypairs.noise.similarity import Similarity
from tests.joint.builders import data, joint


def is_partition(edges, answers):
    """Whether no triangle has two "same" and one "different"; chains are followed by closure."""
    n_items = 1 + max(map(max, edges))
    group = list(range(n_items))
    for _ in range(n_items):
        for (a, b), same in zip(edges, answers, strict=True):
            if same:
                group[a] = group[b] = min(group[a], group[b])
    return all(same or group[a] != group[b] for (a, b), same in zip(edges, answers, strict=True))


WHOLE = {m: tuple(combinations(range(m), 2)) for m in (2, 3, 4)}


@pytest.mark.parametrize("edges", [*WHOLE.values(), ((0, 1), (1, 2)), ((0, 1), (0, 3), (1, 3))])
def test_consistent_answers_are_all_that_break_no_triangle(edges):
    every = [a for a in product((False, True), repeat=len(edges)) if is_partition(edges, a)]
    assert sorted(map(tuple, consistent_answers(edges).tolist())) == sorted(every)


def test_bells_numbers():
    assert [len(partitions(m)) for m in range(1, 8)] == [1, 2, 5, 15, 52, 203, 877]


def asked(n_questions, m, seed=0, shift=0.0):
    """Questions about m of ten items, drawn from the model, in any order; and the chances."""
    rng = np.random.default_rng(seed)
    rows, chances = [], []
    for question in range(n_questions):
        items = rng.choice(10, m, replace=False)
        chance = rng.uniform(0.1, 0.9, len(WHOLE[m]))
        odds = logit(chance) + shift
        every = consistent_answers(WHOLE[m])
        weight = np.exp(every @ odds)
        same = every[rng.choice(len(every), p=weight / weight.sum())]
        for (a, b), answer in zip(WHOLE[m], same, strict=True):
            rows.append((items[a], items[b], answer, question))
        chances += chance.tolist()
    order = rng.permutation(len(rows))
    left, right, same, question = np.array(rows)[order].T
    pairs = Pairs(left, right, same.astype(bool), 10, question=question)
    return pairs, np.array(chances)[order]


@pytest.mark.parametrize("m", [2, 3, 4])
def test_chance_of_a_question_by_enumeration(m):
    pairs, chance = asked(7, m)
    found = question_log_chance(chance, pairs, {m: 0.7})
    for question in range(7):
        rows = np.flatnonzero(pairs.question == question)
        items = np.unique([pairs.left[rows], pairs.right[rows]])
        ends = np.searchsorted(items, [pairs.left[rows], pairs.right[rows]]).T
        p = expit(logit(chance[rows]) + (0.7 if m > 2 else 0.0))
        weight = {
            a: np.prod(np.where(a, p, 1 - p))
            for a in product((False, True), repeat=len(rows))
            if is_partition(ends.tolist(), a)
        }
        mine = weight[tuple(pairs.same[rows].tolist())] / sum(weight.values())
        assert found[question] == pytest.approx(np.log(mine))


def test_a_question_of_which_an_item_was_left_out():
    pairs, chance = asked(20, 3)
    kept = (pairs.left != 0) & (pairs.right != 0)
    found = question_log_chance(chance[kept], pairs.select(kept), {3: 5.0})
    alone = np.log(np.where(pairs.same, chance, 1 - chance))[kept]
    single = np.bincount(pairs.question[kept]) == 1
    where = np.flatnonzero(single[pairs.question[kept]])
    assert single.sum() > 3
    at = np.searchsorted(np.unique(pairs.question[kept]), pairs.question[kept][where])
    assert_allclose(found[at], alone[where])  # no shift: one answer is no partition


@pytest.mark.parametrize("shift", [0.6, -0.4])
def test_the_shift_comes_back(shift):
    """2,000 questions of three items: its standard error is about .03."""
    pairs, chance = asked(2000, 3, seed=1, shift=shift)
    assert fit_shifts(chance, pairs) == {3: pytest.approx(shift, abs=0.15)}


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(ValueError, match=r"give Pairs\(question="):
        question_log_chance(np.array([0.5]), Pairs([0], [1], [True]), {})
    many = Pairs(np.zeros(8, int), np.arange(1, 9), np.ones(8), question=np.zeros(8))
    with pytest.raises(ValueError, match="a question is about 9 items"):
        question_log_chance(np.full(8, 0.5), many, {})


def test_a_learner_predicts_questions_of_its_items_and_of_new_ones():
    """People who toss coins between partitions of three items, more often the true one."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 60)
    X = 6.0 * np.eye(2)[y] + rng.normal(size=(60, 2))
    rows = []
    for question in range(200):
        items = rng.choice(60, 3, replace=False)
        group = y[items] if rng.random() < 0.7 else partitions(3)[rng.integers(5)]
        rows += [(items[a], items[b], group[a] == group[b], question) for a, b in WHOLE[3]]
    left, right, same, question = np.array(rows).T
    pairs = Pairs(left, right, same.astype(bool), 60, question=question)
    model = joint(answer_model=["people", "pair error"]).fit(X, pairs)
    for known in (True, False):
        chance = model.answer_proba(X, pairs, known)
        whole = model.question_log_proba(X, pairs, known)
        alone = np.log(np.where(pairs.same, chance, 1 - chance))
        assert whole.sum() > alone.sum() + 20
        expected = question_log_chance(chance, pairs, model.question_shifts_)
        assert_allclose(whole, expected)
    shifts = np.linspace(-2, 2, 401)
    chance = model.answer_proba(X, pairs, True)
    values = [question_log_chance(chance, pairs, {3: shift}).sum() for shift in shifts]
    assert model.question_shifts_[3] == pytest.approx(shifts[np.argmax(values)], abs=0.011)


@pytest.mark.parametrize(("n_answers", "n_used"), [(250, 250), (700, 350)])
def test_similarity_is_learnt_from_all_answers_unless_they_are_many(monkeypatch, n_answers, n_used):
    used, begin = [], Similarity.begin

    def watched(pairs, *more):
        used.append(pairs.n_pairs)
        return begin(pairs, *more)

    monkeypatch.setattr(judged, "ANSWERS", 300)
    monkeypatch.setattr(judged.Similarity, "begin", watched)
    X, _, pairs = data(n_pairs=n_answers)
    joint().fit(X, pairs)
    assert used[-1] == n_used
