"""What must hold of every array that becomes part of `Pairs`, and what is said where it does not.

All are functions of flat arrays, so that `Pairs` imports this module and not the other way round.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.pairs.answers import column, factorise
from noisypairs.pairs.ids import clean_ids, id_array

Positions = NDArray[np.integer[Any]]


def check_positions(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return item positions as int64, shape (n,); whole floats pass, anything else is refused."""
    array = column(values, name)
    if array.size == 0:
        return np.zeros(0, np.int64)
    if array.dtype.kind not in "iuf":
        raise TypeError(
            f"{name} holds {array.dtype} values such as {array[0]!r}, expected integer positions; "
            f"for ids use Pairs.from_frame(..., items=ids)"
        )
    wrong = ~(array >= 0) | ~np.isfinite(array) | (array != np.floor(array))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"{name} has {array[at]} at pair {at}, expected a whole number ≥ 0: "
            f"positions count the rows of the items table from 0"
        )
    return array.astype(np.int64)


def check_couples(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return position pairs as an array of shape (n, 2); an empty list has none."""
    array = np.asarray(values)
    if array.size == 0:
        return np.zeros((0, 2), np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{name} has shape {array.shape}, expected (n, 2): two positions per row")
    return np.column_stack([check_positions(ends, name) for ends in array.T])


def check_n_items(left: Positions, right: Positions, n_items: int | None) -> int:
    """Return the number of items: the one given if all positions are below it, else max + 1."""
    largest = int(max(left.max(initial=-1), right.max(initial=-1)))
    if n_items is None:
        if largest < 0:
            raise ValueError("there are no pairs, so n_items cannot be guessed: give n_items")
        return largest + 1
    size = operator.index(n_items)
    if size <= largest:
        raise ValueError(f"position {largest} is too large for n_items={size}: they count from 0")
    return size


def check_lengths(n_pairs: int, **columns: NDArray[Any] | None) -> None:
    """Raise unless every column has one entry per pair."""
    wrong = {k: v.size for k, v in columns.items() if v is not None and v.size != n_pairs}
    if wrong:
        sizes = ", ".join(f"{name} has {size}" for name, size in wrong.items())
        raise ValueError(f"left has {n_pairs} entries but {sizes}: give one per pair to each")


def check_amounts(values: ArrayLike, name: str, upper: float = np.inf) -> NDArray[np.float32]:
    """Return finite numbers from 0 to `upper` as float32, shape (n,)."""
    array = column(values, name)
    if array.size and array.dtype.kind not in "biuf":
        raise TypeError(f"{name} holds {array.dtype} values, expected numbers")
    with np.errstate(over="ignore"):  # too large for float32: infinite, and refused below
        single = array.astype(np.float32)
    wrong = ~((single >= 0) & (single <= upper) & np.isfinite(single))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"{name} has {array[at]} at pair {at}, expected a number in [0, {upper:g}]"
        )
    return single


def check_weight(weight: ArrayLike | None, n_pairs: int) -> NDArray[np.float32] | None:
    """Return positive finite weights as float32, shape (n_pairs,)."""
    if weight is None:
        return None
    amounts = check_amounts(weight, "weight")
    check_lengths(n_pairs, weight=amounts)
    if not amounts.all():
        raise ValueError(
            f"weight is 0 at pair {int(np.argmin(amounts))}, expected positive numbers: "
            f"leave pairs of no weight out with select(weight > 0)"
        )
    return amounts


def check_annotators(
    annotator: ArrayLike | None, n_pairs: int
) -> tuple[NDArray[np.int32] | None, NDArray[Any] | None]:
    """Return annotators as int32 codes, shape (n_pairs,), and their sorted names."""
    if annotator is None:
        return None, None
    array = column(annotator, "annotator")
    check_lengths(n_pairs, annotator=array)
    distinct, codes = factorise(array)
    cleaned = clean_ids(distinct, "annotator")
    try:
        names = sorted(set(cleaned))
    except TypeError as error:
        raise TypeError("annotator mixes text and numbers: use ids of one type") from error
    code = {name: index for index, name in enumerate(names)}
    return np.array([code[name] for name in cleaned], np.int32)[codes], id_array(names)


def check_labels(labels: Mapping[int, Hashable] | None, n_items: int) -> dict[int, Hashable]:
    """Return known classes by item position; refuse unknown items and missing classes."""
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise TypeError(f"labels is a {type(labels).__name__}, expected {{item position: class}}")
    known = {operator.index(item): name for item, name in labels.items()}
    for item, name in known.items():
        if not 0 <= item < n_items:
            raise ValueError(f"labels names item {item}, but the items are 0 … {n_items - 1}")
        if name is None or name != name:
            raise ValueError(f"labels gives {name} for item {item}: leave unknown classes out")
    return known


def check_index(which: Any, size: int, what: str) -> NDArray[np.int64]:
    """Return a mask, slice or array of positions as positions 0 … size−1, shape (n,)."""
    if isinstance(which, slice) or which is Ellipsis:
        return np.arange(size)[which]
    index = np.asarray(which)
    if index.ndim != 1 or isinstance(which, tuple):  # numpy reads a tuple as several axes
        raise TypeError(
            f"cannot take {what} by {which!r}: give a list, a mask or a slice of {what}"
        )
    if index.dtype.kind == "b":
        if index.size != size:
            raise IndexError(f"the mask has {index.size} entries but there are {size} {what}")
        return np.flatnonzero(index)
    if index.size and index.dtype.kind not in "iu":
        raise TypeError(f"cannot take {what} by {index.dtype} values: give integers or a mask")
    if index.size and not (-size <= index.min() and index.max() < size):
        raise IndexError(f"{index.min()} … {index.max()} do not all exist: there are {size} {what}")
    return np.where(index < 0, index + size, index).astype(np.int64)


def check_chosen(chosen: ArrayLike | None, n_pairs: int) -> NDArray[np.bool_] | None:
    """Return the mark of pairs that were not drawn at random, (n_pairs,); None if there are none.

    >>> check_chosen([0, 1], 2), check_chosen([False], 1)
    (array([False,  True]), None)
    """
    if chosen is None:
        return None
    marks = np.asarray(chosen)
    if marks.dtype != bool and not np.isin(marks, (0, 1)).all():
        raise ValueError("chosen holds other values than True and False (or 1 and 0)")
    check_lengths(n_pairs, chosen=marks)
    return marks.astype(bool) if marks.any() else None
