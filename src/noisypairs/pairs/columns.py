"""Columns of a pairs table: found in a frame, turned into positions, and checked.

`read_columns` finds the columns of a dataframe, `number_items` turns item ids into positions, and
the checks (`check_…`) say what must hold of every array that becomes part of `Pairs`. All are
functions of flat arrays, so that `Pairs` imports this module and not the other way round.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.errors import did_you_mean
from noisypairs.pairs.answers import (
    IntArray,
    Treatment,
    canonical,
    check_treatment,
    column,
    factorise,
)

Positions = NDArray[np.integer[Any]]

ENDS: tuple[tuple[str, str], ...] = (
    ("left", "right"),
    ("left_id", "right_id"),
    ("id_left", "id_right"),
    ("left_item", "right_item"),
    ("item_left", "item_right"),
    ("item_a", "item_b"),
    ("item1", "item2"),
    ("item_1", "item_2"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("id_a", "id_b"),
    ("unique_id_l", "unique_id_r"),
    ("id_l", "id_r"),
    ("source", "target"),
    ("first", "second"),
    ("a", "b"),
    ("i", "j"),
    ("x", "y"),
)
"""Names of the two columns of items, recognised (whatever the case) only as a couple."""

SPELLINGS: Mapping[str, frozenset[str]] = {
    "same": frozenset(
        {"same", "is_same", "same_class", "answer", "label", "response", "q"}
        | {"match", "is_match", "similar", "verdict"}
    ),
    "annotator": frozenset(
        {"annotator", "annotator_id", "worker", "worker_id", "user", "user_id"}
        | {"rater", "rater_id", "labeler", "labeller"}
    ),
    "weight": frozenset({"weight", "weights", "count", "n_votes"}),
}
"""Names of the other columns, recognised whatever the case when the caller names none."""


class Column(NamedTuple):
    """One column of a table: its name there and its values."""

    name: str
    values: NDArray[Any]


def read_columns(frame: Any, named: Mapping[str, str | Literal[False] | None]) -> dict[str, Column]:
    """Take the columns of a pairs table from any dataframe narwhals knows.

    `named` gives for each role ("left", "right", "same", "annotator", "weight") a column name,
    None to guess from `ENDS` and `SPELLINGS`, or False to leave an optional role out. The result
    lacks an optional role for which no column is found; the first three are required.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"item_a": [0], "item_b": [1], "Answer": ["same"]})
    >>> [c.name for c in read_columns(table, dict(left=None, right=None, same=None)).values()]
    ['item_a', 'item_b', 'Answer']
    """
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TypeError(
            f"frame is a {type(frame).__name__}, expected a pandas or polars DataFrame or a "
            f"pyarrow Table; a lazy frame must be collected first"
        ) from error
    chosen = dict(named)
    if chosen["left"] is None and chosen["right"] is None:
        chosen["left"], chosen["right"] = _guess_ends(table.columns)
    found: dict[str, Column] = {}
    for role, given in chosen.items():
        name = _column_name(role, given, table.columns)
        if name is not None:
            found[role] = Column(name, table[name].to_numpy())
    return found


def _guess_ends(columns: Sequence[str]) -> tuple[str, str]:
    """Find the one couple of columns that names the two items."""
    by_name = {str(name).strip().lower(): name for name in columns}
    couples = [(by_name[a], by_name[b]) for a, b in ENDS if a in by_name and b in by_name]
    if len(couples) == 1 or (couples and {"left", "right"} <= by_name.keys()):
        return couples[0]
    reason = (
        f"more than one couple of columns could hold the two items of a pair: {couples}"
        if couples
        else f"no two columns look like the two items of a pair; the frame has {list(columns)}"
    )
    raise ValueError(f"{reason}. Name them: left=..., right=...")


def _column_name(
    role: str, given: str | Literal[False] | None, columns: Sequence[str]
) -> str | None:
    """Name the column that plays `role`; more than one candidate is refused, not guessed at."""
    optional = role in ("annotator", "weight")
    if given is False and optional:
        return None
    if given is not None:
        if given not in columns:
            raise ValueError(
                f"{role}={given!r} is not a column of the frame; "
                + did_you_mean(str(given), columns)
            )
        return str(given)
    if role not in SPELLINGS:
        raise ValueError(f"only one of left and right was named: name {role} too, {role}=...")
    by_name = {str(name).strip().lower(): name for name in columns}
    matches = [name for spelling, name in by_name.items() if spelling in SPELLINGS[role]]
    if role in by_name:  # the role's own name is no guess: it wins over every other spelling
        return by_name[role]
    if len(matches) > 1:
        raise ValueError(
            f"columns {', '.join(map(repr, matches))} could each be {role!r}: name one, "
            f"{role}={matches[0]!r}" + (f", or {role}=False for none" if optional else "")
        )
    if not matches and not optional:
        raise ValueError(
            f"no column looks like {role!r}; the frame has {list(columns)}. Name it: {role}=..."
        )
    return matches[0] if matches else None


def number_items(
    left: Column, right: Column, items: ArrayLike | None, unknown: Treatment
) -> tuple[IntArray, IntArray, NDArray[Any] | None]:
    """Return both ends of each pair as positions, and the ids behind the positions.

    With `items` (the ids in table order) an id's position is its index there, −1 for a stranger if
    `unknown="drop"`; ids match exactly, blanks around text aside. Without, integers ≥ 0 are taken
    as positions (and no ids returned); other ids are numbered as they first appear.

    >>> ends = Column("a", np.array(["x", "y"])), Column("b", np.array(["z ", "x"]))
    >>> number_items(*ends, items=None, unknown="raise")
    (array([0, 2]), array([1, 0]), array(['x', 'z', 'y'], dtype='<U1'))
    """
    check_treatment(unknown, "unknown")
    if items is None:
        integers = left.values.dtype.kind in "iu" and right.values.dtype.kind in "iu"
        if integers and min(left.values.min(initial=0), right.values.min(initial=0)) >= 0:
            return left.values.astype(np.int64), right.values.astype(np.int64), None
        both = np.empty(2 * left.values.size, dtype=object)
        both[0::2], both[1::2] = left.values, right.values
        known = list(dict.fromkeys(clean_ids(factorise(both)[0], f"{left.name} or {right.name}")))
    else:
        given = list(items) if isinstance(items, (list, tuple)) else np.asarray(items).tolist()
        known = clean_ids(given, "items")
        (twice, times), *_ = Counter(known).most_common(1) or [(None, 0)]
        if times > 1:
            raise ValueError(f"items names {twice!r} {times} times: give each row its own id")
    position = {item: index for index, item in enumerate(known)}
    first = _locate(left, position, unknown)
    return first, _locate(right, position, unknown), id_array(known)


def _locate(ids: Column, position: Mapping[Any, int], unknown: Treatment) -> IntArray:
    """Return the position of each id, −1 or an error where there is none."""
    distinct, codes = factorise(ids.values)
    cleaned = clean_ids(distinct, f"column {ids.name!r}")
    where = np.array([position.get(entry, -1) for entry in cleaned], dtype=np.int64)
    strangers = [entry for entry, at in zip(cleaned, where, strict=True) if at < 0]
    if strangers and unknown == "raise":
        raise ValueError(
            f"column {ids.name!r} has {len(strangers)} ids that are not among the {len(position)} "
            f"items: {', '.join(map(repr, strangers[:4]))}{', …' if len(strangers) > 4 else ''}"
            f"{_near_miss(strangers, position)}. Correct them, or drop their pairs: unknown='drop'"
        )
    return where[codes]


def _near_miss(strangers: Sequence[Any], items: Iterable[Any]) -> str:
    """Point out the first stranger that differs from an item only as "007" does from 7."""

    def loose(entry: Any) -> str:
        return canonical(str(entry)).lstrip("0") or "0"

    by_loose = {loose(item): item for item in items}
    for stranger in strangers:
        if loose(stranger) in by_loose:
            twin = by_loose[loose(stranger)]
            return (
                f"; {stranger!r} would be item {twin!r} apart from type, case or leading zeros: "
                f"write ids alike in both tables"
            )
    return ""


def clean_ids(ids: Sequence[Any], name: str) -> list[Any]:
    """Strip blanks around text ids; refuse missing ones.

    >>> clean_ids([" a", 7], "items")
    ['a', 7]
    """
    cleaned = [entry.strip() if isinstance(entry, str) else entry for entry in ids]
    missing = [k for k, entry in enumerate(cleaned) if str(entry) in ("", "None", "nan", "<NA>")]
    if missing:
        raise ValueError(f"{name} has missing ids (for example {ids[missing[0]]!r}): fill them in")
    return cleaned


def id_array(ids: Sequence[Any]) -> NDArray[Any]:
    """Return ids as an array, of objects where their types differ (numpy would make all text)."""
    return np.array(ids, dtype=None if len({type(entry) for entry in ids}) == 1 else object)


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
