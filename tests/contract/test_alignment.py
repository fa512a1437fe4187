"""Rows of X are matched to items by their ids, whatever the order; other items are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from noisypairs import JointPairClassifier, Pairs

from .learners import build, every, problem


def named(ids, X, pairs):
    """Return X with its ids as index, and the same pairs read from a table of ids."""
    frame = pd.DataFrame(X, index=ids, columns=["length", "width"])
    table = pd.DataFrame({"left": ids[pairs.left], "right": ids[pairs.right], "same": pairs.same})
    return frame, Pairs.from_frame(table, items=frame.index)


@every
@pytest.mark.parametrize("kind_of_id", ["text", "number"])
def test_another_order_is_aligned(kind, kind_of_id):
    X, y, pairs = problem()
    ids = np.random.default_rng(0).permutation(300) + 100
    ids = ids if kind_of_id == "number" else np.array([f"item {k}" for k in ids])
    frame, read = named(ids, X, pairs)
    truth = pd.Series(y, index=ids)
    moved = frame.sort_index()
    clf = build(kind).fit(moved, read)
    assert clf.score(moved, truth[moved.index]) > 0.97
    np.testing.assert_allclose(
        clf.same_proba(moved, read), build(kind).fit(frame, read).same_proba(frame, read)
    )
    assert clf.score(moved, read) == pytest.approx(clf.score(frame, read))


@every
def test_other_items_are_refused_with_the_first_differences(kind):
    X, _, pairs = problem()
    ids = np.array([f"item {k}" for k in range(300)])
    frame, read = named(ids, X, pairs)
    with pytest.raises(ValueError, match=r"1 are only in X: 'vase'; 1 are only in the pairs: 'ite"):
        build(kind).fit(frame.rename(index={"item 7": "vase"}), read)
    with pytest.raises(ValueError, match="2 are only in the pairs: 'item 298', 'item 299'"):
        build(kind).fit(frame.iloc[:298], read)


@every
def test_rows_that_are_only_counted_are_not_compared(kind):
    X, _, pairs = problem()
    ids = np.array([f"item {k}" for k in range(300)])
    frame, read = named(ids, X, pairs)
    counted = frame.reset_index(drop=True)
    rows = np.random.default_rng(1).permutation(300)[:250]
    assert build(kind).fit(counted.iloc[rows], read[rows]).score(counted, read) < 0


@every
@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("kind_of_id", ["text", "number"])
def test_a_column_of_ids(kind, library, kind_of_id):
    X, y, pairs = problem()
    ids = np.random.default_rng(0).permutation(300) + 100
    ids = ids if kind_of_id == "number" else np.array([f"item {k}" for k in ids])
    _, read = named(ids, X, pairs)
    order = np.argsort(X[:, 0])
    name = "ID" if kind_of_id == "number" else "photo"
    table = library.DataFrame({name: ids[order], "length": X[order, 0], "width": X[order, 1]})
    clf = build(kind).fit(table, read)
    assert clf.score(table, y[order]) > 0.97
    assert clf.feature_names_in_.tolist() == ["length", "width"]  # ids are no feature
    np.testing.assert_array_equal(clf.predict(table[["length", "width"]]), clf.predict(table))
    other = library.DataFrame({"id": ids[order[:200]], "length": X[order[:200], 0]})
    with pytest.raises(ValueError, match="100 are only in the pairs"):
        build(kind).fit(other, read)


def test_ids_that_are_in_no_table():
    X, y, pairs = problem()
    ids = np.array([f"item {k}" for k in range(300)])
    _, read = named(ids, X, pairs)
    order = np.argsort(X[:, 0])
    assert (
        build(JointPairClassifier)
        .fit(X[order], read.aligned_to(ids[order]))
        .score(X[order], y[order])
        > 0.97
    )
    assert read.aligned_to(ids) is read
    with pytest.raises(ValueError, match="by position only"):
        pairs.aligned_to(ids)


@every
def test_positions_that_begin_at_one(kind):
    X, _, pairs = problem()
    from_one = Pairs(pairs.left + 1, pairs.right + 1, pairs.same)
    with pytest.raises(ValueError, match="seem to start at 1: subtract 1"):
        build(kind).fit(X, from_one)
    with pytest.raises(ValueError, match=r"up to row 299.*Give all rows of X"):
        build(kind).fit(X[:200], pairs)
    with pytest.raises(ValueError, match=r"last rows of X are in no pair.*n_items=len\(X\)"):
        build(kind).fit(np.vstack([X, X]), pairs)
