"""Pairs: the gate, the graph, and its life beside X in scikit-learn."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_score,
    learning_curve,
    train_test_split,
)

from noisypairs.pairs import Pairs
from noisypairs.pairs.pairs import drawn_at_random, sorted_answers, with_questions


@pytest.fixture
def full():
    return Pairs(
        [0, 1, 2, 3, 0],
        [1, 2, 3, 3, 1],
        [1, 0, 1, 1, 0],
        n_items=6,
        annotator=["zoe", "ann ", "zoe", "ann", "bob"],
        weight=[1, 2, 3, 4, 0.5],
        labels={0: "cat", 3: "dog"},
    )


def test_fields_and_sizes(full):
    assert full.left.dtype == full.right.dtype == np.int32
    assert full.same.tolist() == [True, False, True, True, False]
    assert (full.n_items, len(full), full.shape, full.n_pairs) == (6, 6, (6,), 5)
    assert full.annotator_names.tolist() == ["ann", "bob", "zoe"]
    assert full.annotator.tolist() == [2, 0, 2, 0, 1]
    assert dict(full.labels) == {0: "cat", 3: "dog"}
    assert Pairs([0, 4], [1, 2], [1, 0]).n_items == 5
    assert repr(full) == (
        "Pairs[6 items](n_pairs=5, same=3, different=2, annotators=3, weight=10.5, labels=2)"
    )


def test_positions_beyond_int32_are_kept():
    pairs = Pairs([2**31], [0], [1])
    assert pairs.left.dtype == np.int64
    assert pairs.left[0] == 2**31
    assert Pairs([2**31 - 1], [0], [1]).left.dtype == np.int32


def test_nothing_can_be_written(full):
    with pytest.raises(dataclasses.FrozenInstanceError):
        full.n_items = 3
    for array in (full.left, full.right, full.same, full.annotator, full.weight):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(TypeError, match="does not support item assignment"):
        full.labels[1] = "cat"


def test_the_callers_arrays_stay_their_own():
    left, same, weight = np.array([0, 1], np.int32), np.array([True, False]), np.ones(2, np.float32)
    labels = {0: 1}
    pairs = Pairs(left, [1, 2], same, weight=weight, labels=labels)
    left[0], same[0], weight[0], labels[0] = 2, False, 9, 5
    assert (pairs.left[0], pairs.same[0], pairs.weight[0], pairs.labels[0]) == (0, True, 1, 1)


def held(pairs):
    """Return the bytes of all arrays."""
    arrays = (getattr(pairs, one.name) for one in dataclasses.fields(pairs))
    return sum(one.nbytes for one in arrays if isinstance(one, np.ndarray))


def test_a_million_pairs_cost_at_most_20_bytes_each():
    n = 1_000_000
    rng = np.random.default_rng(0)
    left, right = rng.integers(10_000, size=(2, n))
    plain = Pairs(left, right, rng.random(n) < 0.5)
    assert held(plain) == 9 * n
    laden = Pairs(left, right, plain.same, annotator=left % 300, weight=np.ones(n))
    assert held(laden) <= 20 * n
    assert len(pickle.dumps(laden)) <= 20 * n


def test_copies_and_pickles_are_equal_and_still_frozen(full):
    for twin in (pickle.loads(pickle.dumps(full)), copy.deepcopy(full), copy.copy(full)):
        assert twin == full
        assert not twin.left.flags.writeable
        assert twin.annotator_names.tolist() == full.annotator_names.tolist()


def test_equality_sees_every_field(full):
    changed = [
        full.select([0, 1, 2, 4, 3]),
        full.reweighted(None),
        full.reweighted([1, 2, 3, 4, 5]),
        full.with_labels({0: "cat"}),
        Pairs(full.left, full.right, full.same, 6, weight=full.weight, labels=full.labels),
        Pairs(full.left, full.right, ~full.same, 6, list("abcde"), full.weight, full.labels),
        Pairs(full.left, full.right, full.same, 7, list("abcde"), full.weight, full.labels),
    ]
    assert all(full != other for other in changed)
    names = full.annotator_names[full.annotator]
    assert full == Pairs(full.left, full.right, full.same, 6, names, full.weight, full.labels)
    assert full != "pairs"


edge_lists = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.booleans()), max_size=30)


@given(edge_lists, st.lists(st.integers(-9, 8), unique_by=lambda k: k % 9))
def test_indexing_gives_the_induced_graph_in_the_order_of_the_rows(rows, items):
    left, right, same = ([row[k] for row in rows] for k in range(3))
    pairs = Pairs(left, right, same, 9, annotator=left, weight=np.arange(len(rows)) + 1.0)
    kept = [k % 9 for k in items]
    expected = [
        (kept.index(a), kept.index(b), s, a, w + 1)
        for w, (a, b, s) in enumerate(rows)
        if a in kept and b in kept
    ]
    part = pairs[items]
    who = part.annotator_names[part.annotator] if part.n_pairs else np.array([])
    found = zip(part.left, part.right, part.same, who, part.weight, strict=True)
    assert [tuple(entry) for entry in found] == expected
    assert part.n_items == len(items)


def test_every_way_to_name_the_rows_agrees(full):
    expected = full[[1, 2, 3]]
    mask = np.array([False, True, True, True, False, False])
    for rows in (slice(1, 4), mask, mask.tolist(), np.array([1, 2, 3]), [-5, -4, -3], range(1, 4)):
        assert full[rows] == expected
        assert full[rows, ...] == expected
    assert dict(expected.labels) == {2: "dog"}
    assert full[...] == full
    assert full[[]].n_items == full[[]].n_pairs == 0


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (3, TypeError, "list, a mask or a slice"),
        (np.int64(3), TypeError, "list, a mask or a slice"),
        ((1, 2), TypeError, "list, a mask or a slice"),
        ([[0, 1]], TypeError, "list, a mask or a slice"),
        ([0.5], TypeError, "float64"),
        (["a"], TypeError, "give integers or a mask"),
        ([0, 6], IndexError, "there are 6 items"),
        ([-7], IndexError, "there are 6 items"),
        ([True, False], IndexError, "mask has 2 entries"),
        ([0, 1, 0], ValueError, "use reweighted"),
        ([5, -1], ValueError, "once"),
    ],
)
def test_rows_that_name_no_set_of_items_are_refused(full, rows, error, message):
    with pytest.raises(error, match=message):
        full[rows]


def test_select_keeps_all_items(full):
    chosen = full.select([0, 0, -1])
    assert chosen.n_items == 6
    assert chosen.left.tolist() == [0, 0, 0]
    assert chosen.same.tolist() == [True, True, False]
    assert chosen.weight.tolist() == [1, 1, 0.5]
    assert chosen.labels == full.labels
    assert full.select(full.weight > 1) == full.select(slice(1, 4))
    with pytest.raises(IndexError, match="there are 5 pairs"):
        full.select([5])


def test_self_pairs_are_kept_until_asked_away(full):
    assert full.audit().self_pairs == 1
    proper = full.without_self_pairs()
    assert proper == full.select([0, 1, 2, 4])
    assert proper.without_self_pairs() is proper


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"right": [1]}, ValueError, "left has 2 entries but right has 1"),
        ({"same": [1, 0, 1]}, ValueError, "left has 2 entries but same has 3"),
        ({"annotator": ["a"]}, ValueError, "annotator has 1"),
        ({"weight": [1.0]}, ValueError, "weight has 1"),
        ({"left": [0, -1]}, ValueError, "left has -1 at pair 1"),
        ({"right": [0, 1.5]}, ValueError, "right has 1.5 at pair 1"),
        ({"right": [0, np.nan]}, ValueError, "right has nan at pair 1"),
        ({"right": [0, np.inf]}, ValueError, "right has inf at pair 1"),
        ({"left": ["a", "b"]}, TypeError, "from_frame"),
        ({"left": [True, False]}, TypeError, "expected integer positions"),
        ({"left": [[0, 1]]}, ValueError, r"left has shape \(1, 2\)"),
        ({"n_items": 2}, ValueError, "position 2 is too large for n_items=2"),
        ({"n_items": 2.5}, TypeError, "integer"),
        ({"same": [1, np.nan]}, ValueError, "missing or unsure"),
        ({"same": [1, 2]}, ValueError, "coded 1/2"),
        ({"weight": [1, 0]}, ValueError, r"weight is 0 at pair 1.*select"),
        ({"weight": [1, -1]}, ValueError, "weight has -1 at pair 1"),
        ({"weight": [1, np.nan]}, ValueError, "weight has nan at pair 1"),
        ({"weight": [1, np.inf]}, ValueError, "weight has inf at pair 1"),
        ({"weight": [1, 1e60]}, ValueError, "weight has 1e.60 at pair 1"),
        ({"weight": ["a", "b"]}, TypeError, "expected numbers"),
        ({"annotator": ["a", None]}, ValueError, "annotator has missing ids"),
        ({"annotator": np.array(["a", 1], object)}, TypeError, "mixes text and numbers"),
        ({"labels": {3: 1}}, ValueError, "labels names item 3, but the items are 0 … 2"),
        ({"labels": {-1: 1}}, ValueError, "labels names item -1"),
        ({"labels": {0: None}}, ValueError, "leave unknown classes out"),
        ({"labels": {0: np.nan}}, ValueError, "leave unknown classes out"),
        ({"labels": [0, 1, 1]}, TypeError, "expected {item position: class}"),
        ({"labels": {"a": 1}}, TypeError, "integer"),
    ],
)
def test_bad_input_is_named(arguments, error, message):
    good = {"left": [0, 1], "right": [1, 2], "same": [1, 0]}
    with pytest.raises(error, match=message):
        Pairs(**(good | arguments))


def test_no_pairs_need_a_number_of_items():
    assert Pairs([], [], [], n_items=4).shape == (4,)
    with pytest.raises(ValueError, match="give n_items"):
        Pairs([], [], [])


def test_whole_floats_are_positions():
    assert Pairs([0.0, 3.0], [1, 2], [1, 0]).left.tolist() == [0, 3]


def test_from_tuples_restores_the_features_of_every_pair():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(6, 3))
    ends = rng.integers(6, size=(20, 2))
    y = rng.choice([-1, 1], size=20)
    X, pairs = Pairs.from_tuples(table[ends], y)
    assert len(X) == pairs.n_items == len(np.unique(ends))
    np.testing.assert_array_equal(np.stack([X[pairs.left], X[pairs.right]], axis=1), table[ends])
    np.testing.assert_array_equal(pairs.same, y == 1)
    with pytest.raises(ValueError, match=r"shape \(6, 3\), expected \(n_pairs, 2, n_features\)"):
        Pairs.from_tuples(table, y)


def test_from_constraints():
    pairs = Pairs.from_constraints([(0, 1)], [(1, 2), (4, 0)], n_items=9)
    assert pairs == Pairs([0, 1, 4], [1, 2, 0], [1, 0, 0], n_items=9)
    assert Pairs.from_constraints([], [(0, 1)]) == Pairs([0], [1], [0])
    with pytest.raises(ValueError, match="must_link has shape"):
        Pairs.from_constraints([(0, 1, 2)], [])
    with pytest.raises(ValueError, match="cannot_link has -3 at pair 1"):
        Pairs.from_constraints([], [(0, 1), (-3, 2)])


def test_scores_and_votes_become_weighted_answers():
    soft = Pairs.from_scores([0, 1, 2], [1, 2, 3], [1.0, 0.25, 0.0], annotator=["a", "b", "c"])
    found = zip(soft.left, soft.right, soft.same, soft.weight, soft.annotator, strict=True)
    assert [tuple(entry) for entry in found] == [
        (0, 1, True, 1.0, 0),
        (1, 2, True, 0.25, 1),
        (1, 2, False, 0.75, 1),
        (2, 3, False, 1.0, 2),
    ]
    votes = Pairs.from_votes([0, 1, 5], [1, 2, 6], [3, 1, 0], [0, 2, 0])
    assert votes == Pairs([0, 1, 1], [1, 2, 2], [1, 1, 0], n_items=7, weight=[3, 1, 2])
    with pytest.raises(ValueError, match=r"score has 1.5 at pair 0, expected a number in \[0, 1\]"):
        Pairs.from_scores([0], [1], [1.5])
    with pytest.raises(ValueError, match="n_different has -1 at pair 0"):
        Pairs.from_votes([0], [1], [1], [-1])
    with pytest.raises(ValueError, match="different has 2"):
        Pairs.from_votes([0], [1], [1], [1, 1])


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers which items, and which pairs among them, each fit and each score saw."""

    seen: list[tuple[str, frozenset[int], frozenset[tuple[int, int]]]] = []  # noqa: RUF012

    def __init__(self, knob=0):
        self.knob = knob

    def note(self, event, X, pairs):
        assert isinstance(pairs, Pairs)
        items = X[:, 0].astype(int)
        assert pairs.n_items == len(items)
        ends = zip(items[pairs.left].tolist(), items[pairs.right].tolist(), strict=True)
        self.seen.append((event, frozenset(items.tolist()), frozenset(ends)))

    def fit(self, X, y):
        self.note("fit", X, y)
        self.classes_ = np.array([0, 1])
        return self

    def score(self, X, y):
        self.note("score", X, y)
        return float(self.knob)


@pytest.fixture
def world():
    rng = np.random.default_rng(5)
    left, right = rng.integers(50, size=(2, 400))
    X = np.column_stack([np.arange(50), rng.normal(size=50)])
    Recorder.seen.clear()
    return X, Pairs(left, right, rng.random(400) < 0.5, n_items=50, labels={7: 1})


def check_splits(pairs):
    """Every score follows its fit: no item in both, and all pairs among the items, no others."""
    ends = set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    for _, items, found in Recorder.seen:
        assert found == {(a, b) for a, b in ends if a in items and b in items}
    fits = [items for event, items, _ in Recorder.seen if event == "fit"]
    scores = [items for event, items, _ in Recorder.seen if event == "score"]
    assert all(fit.isdisjoint(score) for fit, score in zip(fits, scores, strict=False))
    return fits, scores


@pytest.mark.parametrize("cv", [KFold(5), KFold(5, shuffle=True, random_state=0), 5, None])
def test_cross_val_score_sees_item_disjoint_folds(world, cv):
    X, pairs = world
    cross_val_score(Recorder(), X, pairs, cv=cv)
    fits, scores = check_splits(pairs)
    assert len(fits) == len(scores) == 5
    assert set().union(*scores) == set(range(50))
    if not isinstance(cv, KFold):  # an integer means a plain KFold, in the order of the items
        assert scores[0] == set(range(10))


@pytest.mark.parametrize("cv", [KFold(5), 5])
def test_grid_search_sees_item_disjoint_folds(world, cv):
    X, pairs = world
    search = GridSearchCV(Recorder(), {"knob": [0, 1]}, cv=cv).fit(X, pairs)
    fits, scores = check_splits(pairs)
    assert len(scores) == 10
    assert search.best_params_ == {"knob": 1}
    assert fits[-1] == set(range(50))  # the refit


def test_learning_curve_sees_item_disjoint_folds(world):
    X, pairs = world
    learning_curve(Recorder(), X, pairs, cv=KFold(5), train_sizes=[0.5, 1.0])
    # Each fit is scored on the test fold, then on its own training items.
    events = [event for event, _, _ in Recorder.seen]
    assert events == ["fit", "score", "score"] * 10
    Recorder.seen[:] = [entry for k, entry in enumerate(Recorder.seen) if k % 3 < 2]
    fits, _ = check_splits(pairs)
    assert sorted({len(fit) for fit in fits}) == [20, 40]


def test_train_test_split_keeps_labels_with_their_items(world):
    X, pairs = world
    X_train, X_test, train, test = train_test_split(X, pairs, random_state=0)
    assert set(X_train[:, 0]).isdisjoint(X_test[:, 0])
    found = [
        (X_part[item, 0], name)
        for X_part, part in ((X_train, train), (X_test, test))
        for item, name in part.labels.items()
    ]
    assert found == [(7, 1)]
    assert train.n_items + test.n_items == 50


def test_stratification_is_refused_since_items_have_no_class(world):
    X, pairs = world
    with pytest.raises(ValueError, match="needs the class of every item"):
        cross_val_score(Recorder(), X, pairs, cv=StratifiedKFold(5))


def test_clone_keeps_pairs_given_as_a_parameter(world):
    _, pairs = world
    assert clone(Recorder(knob=pairs)).knob == pairs


def test_as_an_array_pairs_are_items_of_unknown_class(full):
    assert np.asarray(full).tolist() == [None] * 6
    with pytest.raises(TypeError, match=r"use \.left, \.right and \.same"):
        np.asarray(full, dtype=float)


def test_more_answers_come_behind(full):
    more = full.with_answers([4], [5], [True], annotator=["cy"], weight=[2.0], chosen=[True])
    assert more.n_pairs == full.n_pairs + 1
    assert drawn_at_random(more.select(slice(0, 5))) == full
    assert more.annotator_names[more.annotator].tolist()[-2:] == ["bob", "cy"]
    assert more.chosen.tolist() == [False] * 5 + [True]
    assert more.labels == full.labels
    again = more.with_answers([0], [5], [0], annotator=["cy"], weight=[1.0])
    assert again.chosen.tolist() == [False] * 5 + [True, False]
    empty = Pairs([], [], [], n_items=3).with_answers([0], [1], [1], annotator=["ann"])
    assert empty.annotator_names.tolist() == ["ann"]


def test_more_answers_must_say_as_much_as_the_first(full):
    with pytest.raises(ValueError, match="annotator is given for some answers only"):
        full.with_answers([4], [5], [True], weight=[1.0])
    with pytest.raises(ValueError, match="too large for n_items=6"):
        full.with_answers([4], [6], [True], annotator=["cy"], weight=[1.0])


@pytest.fixture
def marked():
    return Pairs([0, 1, 2, 3], [1, 2, 3, 0], [1, 0, 1, 1], chosen=[True, False, False, True])


def test_the_mark_follows_its_answers(marked):
    assert marked.chosen.tolist() == [True, False, False, True]
    assert not marked.chosen.flags.writeable
    assert "chosen=2" in repr(marked)
    assert marked.select([3, 1]).chosen.tolist() == [True, False]
    assert marked[[2, 3, 0]].chosen.tolist() == [False, True]
    ordered, place = sorted_answers(marked)
    assert ordered.chosen.tolist() == marked.chosen[place].tolist()
    assert pickle.loads(pickle.dumps(marked)) == copy.deepcopy(marked) == marked
    assert marked != Pairs(marked.left, marked.right, marked.same)


def test_only_pairs_drawn_at_random_are_left(marked):
    drawn = drawn_at_random(marked)
    assert (drawn.left.tolist(), drawn.chosen, drawn.n_items) == ([1, 2], None, 4)
    assert drawn_at_random(drawn) is drawn


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
    ordered, place = sorted_answers(pairs)
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


def test_groups_sorted_at_once_are_answers_to_one_question():
    pairs = Pairs.from_groups([[[0, 1], [2]], [[3], [1, 4, 0]]], 6, annotator=["ann", "bob"])
    assert pairs.n_pairs == 3 + 6
    assert pairs.same.tolist()[:3] == [True, False, False]
    np.testing.assert_allclose(pairs.weight[:3], 2 / 3)  # m − 1 free answers of m(m − 1)/2
    np.testing.assert_allclose(pairs.weight[3:], 2 / 4)
    assert pairs.annotator_names.tolist() == ["ann", "bob"]
    assert len(set(zip(pairs.annotator, pairs.question, strict=True))) == 2
    assert {tuple(sorted(ends)) for ends in zip(pairs.left[3:], pairs.right[3:], strict=True)} == {
        (1, 3), (3, 4), (0, 3), (1, 4), (0, 1), (0, 4)
    }  # fmt: skip


def test_groups_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="sorting 0 has an item in two places"):
        Pairs.from_groups([[0, 1], [1]])
    with pytest.raises(ValueError, match="annotator has 1 entries but there are 2 sortings"):
        Pairs.from_groups([[[0], [1]], [[0, 1]]], annotator=["ann"])


@pytest.mark.parametrize(
    "change",
    [
        lambda pairs: pairs.select([0, 2]),
        lambda pairs: pairs[[2, 1, 0]],
        lambda pairs: sorted_answers(pairs)[0],
        lambda pairs: pairs.without_copies(),
        lambda pairs: pairs.with_answers([0], [1], [True], weight=[1.0]),
        lambda pairs: pairs.with_labels({0: "a"}),
    ],
)
def test_every_copy_keeps_what_was_asked_together(change):
    pairs = Pairs([0, 0, 1], [1, 2, 2], [True, False, False], question=["q", "q", "q"])
    after = change(pairs)
    assert after.question is not None
    assert len(set(after.question[: min(3, after.n_pairs)])) == 1
    if after.n_pairs > 3:
        assert after.question[-1] not in after.question[:3]


def test_questions_may_be_said_later():
    pairs = Pairs([0, 0, 1], [1, 2, 2], [True, False, False])
    assert with_questions(pairs, ["q"] * 3) == Pairs(
        [0, 0, 1], [1, 2, 2], [True, False, False], question=["q"] * 3
    )
    assert with_questions(with_questions(pairs, ["q"] * 3), None).question is None
