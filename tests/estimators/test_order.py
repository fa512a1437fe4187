"""Hashes find identical rows, and the order of items survives another order and rounding.

That no fit depends on the order is tested for every learner in `tests/contract/test_order.py`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import coo_array, csc_array, random_array

from noisypairs import Pairs, sample_pairs
from noisypairs.estimators.order import GivenOrder, in_order, item_order, row_order
from noisypairs.pairs.rows import row_hashes

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 7))


def places(order: np.ndarray) -> np.ndarray:
    """Return the place of every item in an order of them."""
    return np.argsort(order)


def test_hashes_are_equal_for_identical_rows_only():
    some = RNG.integers(3, size=(400, 5)).astype(float)
    _, group = np.unique(some, axis=0, return_inverse=True)
    _, by_hash = np.unique(row_hashes(some), return_inverse=True)
    np.testing.assert_array_equal(group[:, None] == group, by_hash[:, None] == by_hash)


def test_hashes_go_by_value():
    rows = np.array([[1.0, 0.0, np.nan], [3.0, 2.0, np.inf]])
    hashes = row_hashes(rows)
    assert hashes.dtype == np.uint64
    same = (
        rows.astype(np.float32),
        np.asfortranarray(rows),
        rows.tolist(),
        rows * [1, -1, 1] * [1, -1, 1],  # −0
        np.where(np.isnan(rows), -rows, rows),  # NaN of the other sign
        csc_array(rows),
        pd.DataFrame(rows),
        pl.DataFrame(rows),
    )
    for other in same:
        np.testing.assert_array_equal(row_hashes(other), hashes)
    whole = np.array([[1, 0], [3, 2]])
    np.testing.assert_array_equal(row_hashes(whole), row_hashes(whole.astype(float)))


def test_hashes_know_the_column():
    assert len(set(row_hashes(np.eye(50)).tolist())) == 50
    assert len(set(row_hashes([[1.0, 2.0], [2.0, 1.0], [0.0, 3.0]]).tolist())) == 3


def test_hashes_of_sparse_tables_count_stored_zeros_and_repeated_entries_as_what_they_are():
    table = random_array((100, 400), density=0.02, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(row_hashes(table), row_hashes(table.toarray()))
    twice = coo_array(([1.0, 2.0, 0.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    np.testing.assert_array_equal(row_hashes(twice), row_hashes([[0.0, 3.0], [0.0, 0.0]]))


def test_hashes_of_words_dates_and_empty_tables():
    table = pd.DataFrame(
        {
            "word": ["ash", "oak", "ash", None],
            "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-01", None]),
            "size": [1.5, 1.5, 1.5, 1.5],
        }
    )
    hashes = row_hashes(table)
    assert hashes[0] == hashes[2]
    assert len(set(hashes.tolist())) == 3
    assert row_hashes(np.zeros((0, 3))).shape == (0,)
    assert len(set(row_hashes(np.zeros((2, 0))).tolist())) == 1


@pytest.mark.parametrize("form", [np.asarray, csc_array, pd.DataFrame])
def test_order_of_rows_does_not_depend_on_the_one_given(form):
    moved = RNG.permutation(len(X))
    one, other = row_order(form(X)), row_order(form(X[moved]))
    np.testing.assert_array_equal(moved[other], one)


def test_sparse_and_dense_rows_have_one_order():
    table = random_array((200, 50), density=0.2, rng=np.random.default_rng(1))
    np.testing.assert_array_equal(row_order(table), row_order(table.toarray()))


@pytest.mark.parametrize(("change", "kept"), [(1e-15, 1.0), (1e-7, 0.99), (1e-5, 0.9)])
def test_small_changes_of_the_features_keep_nearly_all_items_in_their_place(change, kept):
    many = np.random.default_rng(2).normal(size=(2_000, 10))
    other = many * (1 + change * np.random.default_rng(3).normal(size=many.shape))
    assert np.mean(row_order(many) == row_order(other)) >= kept


def test_the_order_follows_no_feature():
    place = places(row_order(X))
    assert np.abs(np.corrcoef(X.T, place)[-1, :-1]).max() < 0.15  # of 500: 3.4 standard errors


def test_ties_of_rows_go_by_what_is_given():
    few, ties = np.repeat(X[:5], 4, axis=0), RNG.permutation(20)
    moved = RNG.permutation(20)
    one, other = row_order(few, ties), row_order(few[moved], ties[moved])
    np.testing.assert_array_equal(moved[other], one)


@pytest.mark.parametrize("table", [None, np.repeat(X[:20], 3, axis=0), np.full((60, 1), np.nan)])
def test_identical_items_are_told_apart_by_answers(table):
    y = np.arange(60) % 2
    pairs = sample_pairs(y, 300, random_state=0)
    assert pairs.degrees().min() > 0
    moved = RNG.permutation(60)
    one = item_order(table, pairs)
    other = item_order(None if table is None else table[moved], pairs[moved])
    np.testing.assert_array_equal(moved[other], one)


@pytest.mark.parametrize("what", ["same", "annotator", "weight", "labels"])
def test_items_are_told_apart_by_whatever_an_answer_or_label_says(what):
    said = {"same": [True, False], "annotator": ["a", "b"], "weight": [1.0, 2.0]}
    more = {"same": [True, True]} | ({what: said[what]} if what in said else {})
    pairs = Pairs([0, 2], [1, 3], n_items=4, **more)
    pairs = pairs.with_labels({0: "ash", 2: "oak"}) if what == "labels" else pairs
    moved = np.array([2, 3, 0, 1])
    one, other = item_order(None, pairs), item_order(None, pairs[moved])
    group = np.array([0, 0, 1, 1])  # ends of one pair can take each other's place
    np.testing.assert_array_equal(group[moved[other]], group[one])


def test_values_are_put_back_into_the_order_given():
    pairs = sample_pairs(np.arange(500) % 2, 900, random_state=0)
    items, ordered, given = in_order(X, pairs)
    np.testing.assert_array_equal(given.of_items(items), X)
    np.testing.assert_array_equal(given.reordered_items(X), items)
    np.testing.assert_array_equal(given.of_answers(ordered.same), pairs.same)
    assert GivenOrder().of_items(None) is None
