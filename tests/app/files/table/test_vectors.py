"""Vectors in cells and arrays beside tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from noisypairs.app.files import BadFile, read_items
from noisypairs.app.files.items import items_of
from noisypairs.app.files.table import read_table


def test_texts_of_vectors_with_gaps_and_other_columns(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text('id,v,w\na,"[1.5, 2]",x\nb,,y\nc,[-1e3 0.25],z\nd,"[nan, inf]",z\n')
    items = items_of(read_table(path))
    assert list(items.features) == ["v[0]", "v[1]", "w"]
    expected = [[1.5, 2.0], [np.nan, np.nan], [-1000.0, 0.25], [np.nan, np.nan]]
    np.testing.assert_array_equal(items.features[["v[0]", "v[1]"]].to_numpy(float), expected)
    assert any("column 'v' holds vectors of 2 numbers" in note for note in items.notes)


@pytest.mark.parametrize(
    "cells", [["[1, 2]", "red"], ["[a]", "[b]"], ["[[1], [2]]"] * 2, ["[]"] * 2]
)
def test_what_is_no_vector_stays_as_it_is(tmp_path, cells):
    path = tmp_path / "items.csv"
    pd.DataFrame({"id": ["a", "b"], "v": cells}).to_csv(path, index=False)
    features, _ = read_items(path)
    assert features["v"].tolist() == cells


def test_lists_of_words_in_parquet_are_no_vectors(tmp_path):
    path = tmp_path / "items.parquet"
    pd.DataFrame({"id": ["a", "b"], "tags": [["x", "y"], ["z"]]}).to_parquet(path)
    assert list(read_items(path)[0]) == ["tags"]


def test_vectors_of_different_lengths_are_refused_by_line(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text('id,v\na,"[1, 2]"\nb,"[1, 2, 3]"\n')
    with pytest.raises(BadFile, match=r"items.csv, line 3: the vector in column 'v' has 3 numbers"):
        read_items(path)


def test_vectors_as_python_writes_them(tmp_path):
    path = tmp_path / "items.csv"
    X = np.array([[0.5, -2.0], [1e-7, 3.25]])
    for write in (str, repr, lambda row: str(list(row)), lambda row: f"tensor({row.tolist()})"):
        cells = [write(row) for row in X]
        pd.DataFrame({"id": ["a", "b"], "v": cells}).to_csv(path, index=False)
        np.testing.assert_array_equal(read_items(path)[0].to_numpy(), X)
    pd.DataFrame({"id": ["a"], "v": [str(np.arange(2000.0))]}).to_csv(path, index=False)
    with pytest.raises(
        BadFile, match=r"line 2: the vector in column 'v' was cut short when it was"
    ):
        read_items(path)


def test_an_array_beside_a_table_is_joined_row_by_row(tmp_path):
    (tmp_path / "items.csv").write_text("id,colour\na,red\nb,blue\n")
    X = np.array([[1.0, 2.0], [3.0, np.inf]])
    np.save(tmp_path / "items.npy", X)
    items = items_of(read_table(tmp_path / "items.csv"))
    assert list(items.features) == ["colour", "x[0]", "x[1]"]
    np.testing.assert_array_equal(items.features[["x[0]", "x[1]"]], [[1.0, 2.0], [3.0, np.nan]])
    assert any("items.npy beside it: 2 numbers a row" in note for note in items.notes)
    np.save(tmp_path / "items.npy", X[:1])
    items = items_of(read_table(tmp_path / "items.csv"))
    assert list(items.features) == ["colour"]
    assert any("has 1 rows, not 2, and is not used" in note for note in items.notes)
    (tmp_path / "items.npy").write_bytes(b"no array")
    assert list(items_of(read_table(tmp_path / "items.csv")).features) == ["colour"]


def test_arrays_that_are_no_items(tmp_path):
    path = tmp_path / "items.npz"
    np.savez(path, X=np.eye(3), ids=["a", "b"])
    with pytest.raises(BadFile, match="3 rows, but there are ids for 2"):
        read_items(path)
    np.savez(path, first=np.eye(3), second=np.eye(3))
    with pytest.raises(BadFile, match="expected one array of numbers with a row for each item"):
        read_items(path)
    np.save(tmp_path / "alone.npy", np.eye(3))
    features, ids = read_items(tmp_path / "alone.npy")
    assert ids == ["0", "1", "2"]
    assert features.shape == (3, 3)
    np.save(tmp_path / "alone_ids.npy", np.array([7, 8, 9]))
    assert read_items(tmp_path / "alone.npy")[1] == ["7", "8", "9"]
