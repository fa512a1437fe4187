"""Rows of a table of items by what they hold: as numbers, and as one hash per row."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Hashes = NDArray[np.uint64]

#: Numbers of a table that are worked on at once.
BLOCK = 1 << 18
#: Bits of a double that may differ in equal numbers, of 52: the last half of 16 digits.
ROUNDED = 25


def row_hashes(X: Any) -> Hashes:
    """Return a hash per row, shape (n_items,): equal for equal rows, and hardly ever for others.

    ``X`` is an array, a sparse matrix or a data frame. Numbers are compared to about eight digits:
    a matrix product, such as that of a PCA, rounds equal rows differently. Missing values equal
    each other. A sparse matrix has the hashes of the same matrix in full. Two of n different rows
    share a hash with probability n²/2⁶⁵: one in 37 million for a million rows.

    >>> hashes = row_hashes([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    >>> hashes[0] == hashes[2], hashes[0] == hashes[1]
    (np.True_, np.False_)
    """
    if hasattr(X, "tocsr"):
        return _sparse_hashes(X.tocsr())
    table = as_numbers(X)
    salt = _salts(table.shape[1])
    zero = mixed(salt)
    sums = [(mixed(_bits(block) + salt) - zero).sum(axis=1) for block in blocks(table)]
    return mixed(np.concatenate(sums)) if sums else np.zeros(0, dtype=np.uint64)


def _sparse_hashes(X: Any) -> Hashes:
    """Return the same for a CSR matrix; zeros add nothing, stored or not."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    salt = _salts(X.shape[1])[X.indices]
    terms = mixed(_bits(X.data.astype(np.float64)) + salt) - mixed(salt)
    sums = np.zeros(X.shape[0], dtype=np.uint64)
    filled = np.flatnonzero(np.diff(X.indptr))  # reduceat cannot take empty rows
    if filled.size:
        sums[filled] = np.add.reduceat(terms, X.indptr[filled])
    return mixed(sums)


def _salts(n_columns: int) -> Hashes:
    """Return a number per column: the same values in other columns are another row."""
    return mixed(np.arange(n_columns, dtype=np.uint64))


def _bits(values: Array) -> Hashes:
    """Return the bits of numbers without the last `ROUNDED`; missing values have one form.

    −0.0 becomes 0.0, too.
    """
    bits = np.where(np.isnan(values), np.nan, values + 0.0).view(np.uint64)
    last = np.uint64(1 << ROUNDED)
    return (bits + last // np.uint64(2)) & ~(last - np.uint64(1))


def mixed(values: Hashes) -> Hashes:
    """Return the numbers with their bits mixed (SplitMix64).

    >>> mixed(np.arange(2, dtype=np.uint64))
    array([16294208416658607535, 10451216379200822465], dtype=uint64)
    """
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def blocks(table: NDArray[Any]) -> Iterator[Array]:
    """Cut a table into blocks of rows, as C-ordered doubles."""
    step = max(1, BLOCK // max(table.shape[1], 1))
    for start in range(0, len(table), step):
        yield np.ascontiguousarray(table[start : start + step], dtype=np.float64)


def as_numbers(X: Any) -> NDArray[Any]:
    """Return a table of numbers, shape (n_items, d): texts become their place in the alphabet.

    >>> as_numbers([["b", 2], ["a", 1]]).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    if hasattr(X, "iloc"):  # pandas
        return _joined([X.iloc[:, j] for j in range(X.shape[1])], len(X))
    if hasattr(X, "get_columns"):  # polars
        return _joined(X.get_columns(), len(X))
    table = np.asarray(X)
    table = table.reshape(len(table), math.prod(table.shape[1:]))
    return table if table.dtype.kind in "biuf" else _joined(list(table.T), len(table))


def _joined(columns: list[Any], n_rows: int) -> Array:
    table = np.empty((n_rows, len(columns)))
    for j, column in enumerate(columns):
        table[:, j] = _column_numbers(np.asarray(column))
    return table


def _column_numbers(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind in "biuf":
        return values
    if values.dtype.kind in "mM":
        return values.astype(np.int64)
    texts = [str(value) for value in values.tolist()]
    place = {text: k for k, text in enumerate(sorted(set(texts)))}
    return np.array([place[text] for text in texts], dtype=float)
