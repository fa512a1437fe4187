"""A number for each row of a table, by which its rows can be ranked whatever order they come in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array

#: Numbers of a table that are worked on at once.
BLOCK = 1 << 18
#: What a missing value counts as, beside numbers between −1 and 1; an infinite one counts 3.
MISSING, INFINITE = 1.618033988749895, 3.0


def row_keys(X: Any) -> Array:
    """Return a number per row, shape (n_items,): equal for equal rows, and hardly ever for others.

    A fixed random sum of the columns, each divided by a power of two near its largest value. The
    ranks of such sums survive rounding: that of a scaler, say, which added up the same items in
    another order. A checksum of each row would not. Texts count by their place in the alphabet.

    >>> keys = row_keys([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])
    >>> keys[0] == keys[2], keys[0] == keys[1]
    (np.True_, np.False_)
    """
    if hasattr(X, "tocsr"):
        return _sparse_keys(X.tocsr())
    table = _numbers(X)
    largest = np.zeros(table.shape[1])
    for block in _blocks(table):
        size = np.where(np.isfinite(block), np.abs(block), 0.0)
        largest = np.maximum(largest, size.max(axis=0, initial=0.0))
    scale, weight = _scale(largest), _weights(largest.size)
    # Row by row: a matrix product may round equal rows differently.
    keys = [(_cleaned(block * scale) * weight).sum(axis=1) for block in _blocks(table)]
    return np.concatenate(keys) if keys else np.zeros(0)


def _sparse_keys(X: Any) -> Array:
    """Return the same for a CSR array, (n_items,); zeros add nothing, stored or not."""
    if not X.has_sorted_indices:
        X = X.sorted_indices()
    values = X.data.astype(np.float64)
    largest = np.zeros(X.shape[1])
    np.maximum.at(largest, X.indices, np.where(np.isfinite(values), np.abs(values), 0.0))
    terms = _cleaned(values * _scale(largest)[X.indices]) * _weights(X.shape[1])[X.indices]
    keys = np.zeros(X.shape[0])
    filled = np.flatnonzero(np.diff(X.indptr))  # reduceat cannot take empty rows
    if filled.size:
        keys[filled] = np.add.reduceat(terms, X.indptr[filled])
    return keys


def _scale(largest: Array) -> Array:
    """Return for each column the power of two that brings its largest value below one."""
    exponent = np.minimum(-np.frexp(largest)[1], 1000)
    scale: Array = np.ldexp(1.0, exponent)
    return scale


def _weights(n_columns: int) -> Array:
    return np.random.default_rng(0).uniform(0.5, 1.5, n_columns)


def _cleaned(scaled: Array) -> Array:
    """Return the numbers with fixed values in place of those that are missing or infinite."""
    return np.nan_to_num(scaled, nan=MISSING, posinf=INFINITE, neginf=-INFINITE)


def _blocks(table: NDArray[Any]) -> Iterator[Array]:
    """Cut a table into blocks of rows, as C-ordered doubles."""
    step = max(1, BLOCK // max(table.shape[1], 1))
    for start in range(0, len(table), step):
        yield np.ascontiguousarray(table[start : start + step], dtype=np.float64)


def _numbers(X: Any) -> NDArray[Any]:
    """Return a table of numbers, shape (n_items, d): texts become their place in the alphabet."""
    if hasattr(X, "iloc"):  # pandas
        return _joined([X.iloc[:, j] for j in range(X.shape[1])], len(X))
    if hasattr(X, "get_columns"):  # polars
        return _joined(X.get_columns(), len(X))
    table = np.asarray(X)
    table = table.reshape(len(table), -1)
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
