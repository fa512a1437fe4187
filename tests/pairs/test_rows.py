"""Hashes of rows: equal for equal rows, whatever kind of table they stand in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.decomposition import PCA

from noisypairs.pairs.rows import as_numbers, row_hashes


def partition(values):
    """Return the same codes for the same partition, whatever its groups are called."""
    code = {}
    return [code.setdefault(value, len(code)) for value in np.asarray(values).tolist()]


ROWS = np.array([[0.0, 1.5], [1.5, 0.0], [0.0, 1.5], [np.nan, 1.0], [np.nan, 1.0], [1.0, np.nan]])
SAME = [0, 1, 0, 2, 2, 3]


@pytest.mark.parametrize(
    "table",
    [
        ROWS,
        ROWS.tolist(),
        np.asfortranarray(ROWS),
        ROWS.astype(np.float32),
        pd.DataFrame(ROWS, columns=["a", "b"]),
        pl.DataFrame(ROWS, schema=["a", "b"]),
        sparse.csr_array(ROWS),
        sparse.csc_matrix(ROWS),
        sparse.coo_array(ROWS),
        ROWS.reshape(6, 2, 1),
        np.where(np.isnan(ROWS), None, ROWS),
    ],
    ids=lambda table: type(table).__name__,
)
def test_equal_rows_have_equal_hashes_in_every_kind_of_table(table):
    hashes = row_hashes(table)
    assert hashes.dtype == np.uint64
    assert partition(hashes) == SAME


def test_a_sparse_matrix_has_the_hashes_of_the_same_matrix_in_full():
    rng = np.random.default_rng(0)
    full = rng.poisson(0.2, size=(200, 30)).astype(float)
    stored = sparse.csr_array(full)
    stored.data[::7] = 0.0  # stored zeros are zeros
    full = stored.toarray()
    twice = sparse.csr_array(([1.0, 2.0], [3, 3], [0, 2]), shape=(1, 30))  # 1 + 2 in one cell
    three = np.zeros((1, 30))
    three[0, 3] = 3.0
    assert (row_hashes(stored) == row_hashes(full)).all()
    assert (row_hashes(twice) == row_hashes(three)).all()
    assert twice.nnz == 2  # the caller's matrix stays as it is


def test_signs_of_zero_and_forms_of_missing_do_not_matter():
    odd = np.array([0x7FF8000000000123], dtype=np.uint64).view(float)[0]  # a NaN of another form
    assert partition(row_hashes([[0.0], [-0.0], [np.nan], [odd], [np.inf], [-np.inf]])) == [
        *(0, 0, 1, 1),
        *(2, 3),
    ]


def test_values_that_change_places_are_another_row():
    rng = np.random.default_rng(0)
    rows = np.array([rng.permutation(8) for _ in range(3000)], dtype=float)
    hashes = row_hashes(rows)
    assert np.unique(hashes).size == np.unique(rows, axis=0).shape[0]
    assert partition(row_hashes([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0], [0.0, 0.0]])) == [
        0,
        1,
        2,
        3,
    ]


def test_whole_numbers_differ_and_errors_of_rounding_do_not():
    whole = np.array([[2.0**27], [2.0**27 + 1], [1e-12], [2e-12]])
    assert partition(row_hashes(whole)) == [0, 1, 2, 3]
    assert partition(row_hashes([[0.3, 1e-9], [0.1 + 0.2, 1e-9]])) == [0, 0]
    X = np.repeat(np.random.default_rng(0).normal(size=(137, 64)), 4, axis=0)
    turned = PCA(10, random_state=0).fit_transform(X)
    assert partition(row_hashes(turned)) == partition(row_hashes(X))


def test_columns_of_every_type_count():
    table = pd.DataFrame(
        {
            "text": ["a", "a", "a", "a", None],
            "day": pd.to_datetime(["2024-01-01", "2024-01-01", "2024-01-02", None, None]),
            "flag": [True, True, True, True, False],
            "level": pd.Categorical(["x", "x", "x", "x", "y"]),
            "count": pd.array([1, 1, 1, 1, None], dtype="Int64"),
        }
    )
    assert partition(row_hashes(table)) == [0, 0, 1, 2, 3]
    assert partition(row_hashes(["one text", "another", "one text"])) == [0, 1, 0]


def test_tables_without_rows_or_columns():
    assert row_hashes(np.zeros((0, 3))).shape == (0,)
    assert partition(row_hashes(np.zeros((3, 0)))) == [0, 0, 0]
    assert as_numbers(np.zeros((0, 3))).shape == (0, 3)


def test_rows_beyond_one_block_are_hashed_alike():
    wide = np.zeros((6, 200_000))  # two rows do not fit into a block
    wide[3:, -1] = 1.0
    assert partition(row_hashes(wide)) == [0, 0, 0, 1, 1, 1]
