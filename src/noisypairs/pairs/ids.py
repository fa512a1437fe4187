"""Item ids as positions: matched exactly, blanks around text aside; unknown ones are named."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.pairs.answers import IntArray, Treatment, check_treatment, factorise
from noisypairs.pairs.columns import Column

#: What a missing id looks like as text.
MISSING_IDS = frozenset({"", "None", "nan", "NaT", "<NA>"})

_WHOLE = re.compile(r"([+-]?)0*(\d+)(?:\.0*)?")


def number_items(
    left: Column, right: Column, items: ArrayLike | None, unknown: Treatment
) -> tuple[IntArray, IntArray, NDArray[Any] | None]:
    """Return both ends of each pair as positions, and the ids behind the positions.

    With `items` (the ids in table order) an id's position is its index there; with
    `unknown="drop"` an unknown one gets −1. Ids match exactly, blanks around text aside. Without
    `items`, integers ≥ 0 are positions (and no ids are returned); other ids are numbered as they
    first appear.

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
        known = known_ids(items)
    position = {item: index for index, item in enumerate(known)}
    first = _locate(left, position, unknown)
    return first, _locate(right, position, unknown), id_array(known)


def _locate(ids: Column, position: Mapping[Any, int], unknown: Treatment) -> IntArray:
    """Return the position of each id, −1 or an error where there is none."""
    distinct, codes = factorise(ids.values)
    cleaned = clean_ids(distinct, f"column {ids.name!r}")
    where = np.array([position.get(entry, -1) for entry in cleaned], dtype=np.int64)
    strange = [entry for entry, at in zip(cleaned, where, strict=True) if at < 0]
    if strange and unknown == "raise":
        raise ValueError(
            f"column {ids.name!r} has {len(strange)} ids that are not among the {len(position)} "
            f"items: {', '.join(map(repr, strange[:4]))}{', …' if len(strange) > 4 else ''}"
            f"{_near_miss(strange, position)}. Correct them, or drop their pairs: unknown='drop'"
        )
    return where[codes]


def _near_miss(strange: Sequence[Any], items: Iterable[Any]) -> str:
    """Point out the first unknown id that differs from an item only as "007" does from 7."""
    by_loose = {loose(str(item)): item for item in items}
    for name in strange:
        if loose(str(name)) in by_loose:
            twin = by_loose[loose(str(name))]
            return (
                f"; {name!r} would be item {twin!r} apart from type, case or leading zeros: "
                f"write ids alike in both tables"
            )
    return ""


def loose(name: str) -> str:
    """Write an id without what spreadsheets add or take away: zeros, ".0", case and blanks.

    >>> loose("007"), loose("7.0"), loose(" Dog  A"), loose("1-2")
    ('7', '7', 'dog a', '1-2')
    """
    plain = " ".join(name.casefold().split())
    number = _WHOLE.fullmatch(plain)
    if number is None:
        return plain
    sign, digits = number.groups()
    return ("-" if sign == "-" else "") + digits


def known_ids(items: ArrayLike) -> list[Any]:
    """Return the ids of all items, in their order; refuse missing and repeated ones.

    >>> known_ids(["a ", 7])
    ['a', 7]
    """
    given = list(items) if isinstance(items, list | tuple) else np.asarray(items).tolist()
    known = clean_ids(given, "items")
    (twice, times), *_ = Counter(known).most_common(1) or [(None, 0)]
    if times > 1:
        raise ValueError(f"items names {twice!r} {times} times: give each row its own id")
    return known


def order_by_ids(item_ids: NDArray[Any] | None, ids: ArrayLike) -> NDArray[np.int64] | None:
    """Return where each of ``ids`` is among the ids of pairs; None where they are in this order.

    >>> order_by_ids(np.array(["a", "b"]), ["b", "a"])
    array([1, 0])
    """
    if item_ids is None:
        raise ValueError(
            "these pairs know their items by position only: build them with from_frame or from_ids"
        )
    wanted = known_ids(ids)
    place = {item: k for k, item in enumerate(item_ids.tolist())}
    if wanted == list(place):
        return None
    missing = [item for item in place if item not in set(wanted)]
    strange = [item for item in wanted if item not in place]
    if missing or strange:
        facts = [
            f"{len(some)} are only in {where}: {', '.join(map(repr, some[:3]))}"
            + ", …" * (len(some) > 3)
            for some, where in ((strange, "X"), (missing, "the pairs"))
            if some
        ]
        raise ValueError(
            f"X and the pairs are about other items; of their ids {'; '.join(facts)}"
            f"{_near_miss(strange, place)}. Take the items that both have, in X and in "
            "Pairs.from_frame(items=...); before both are split, pairs.aligned_to(X.index)"
        )
    return np.array([place[item] for item in wanted], dtype=np.int64)


def labelled_positions(
    labels: Mapping[Any, Hashable] | None,
    item_ids: Callable[[], NDArray[Any] | None],
    by: Literal["position", "id"] | None,
) -> Mapping[int, Hashable] | None:
    """Return known classes by position, of items named by position or id.

    >>> labelled_positions({"b": "cat"}, lambda: np.array(["a", "b"]), None)
    {1: 'cat'}
    """
    if by not in (None, "position", "id"):
        raise ValueError(f"by={by!r}: expected 'position', 'id' or None")
    if not isinstance(labels, Mapping) or by == "position" or not labels:
        return labels
    whole = all(isinstance(item, int | np.integer) for item in labels)
    ids = item_ids()
    if by is None and whole:
        if ids is not None and ids.dtype.kind in "iu" and (ids != np.arange(ids.size)).any():
            raise ValueError(
                "the items have whole numbers for ids, so that a label may name a position or an "
                "id: say which with by='position' or by='id'"
            )
        return labels
    if ids is None:
        if by == "id" and whole:
            return labels  # positions are the only ids there are
        strange = next(item for item in labels if not isinstance(item, int | np.integer))
        raise ValueError(
            f"labels names item {strange!r}, but these pairs know their items by position only: "
            "give positions, or build the pairs with from_frame or from_ids"
        )
    position = {item: index for index, item in enumerate(ids.tolist())}
    names = dict(zip(clean_ids(list(labels), "labels"), labels.values(), strict=True))
    strange = [item for item in names if item not in position]
    if strange:
        raise ValueError(
            f"labels names {len(strange)} ids that are not among the {ids.size} items: "
            f"{', '.join(map(repr, strange[:4]))}{', …' * (len(strange) > 4)}"
            f"{_near_miss(strange, position)}. Correct them or leave them out"
        )
    return {position[item]: name for item, name in names.items()}


def warn_dropped(dropped: Mapping[str, int], n_rows: int, stacklevel: int) -> None:
    """Say how many rows were left out, if any were."""
    if any(dropped.values()):
        warnings.warn(
            f"{dropped['unsure']} missing or unsure answers and {dropped['unknown']} pairs with "
            f"unknown items were dropped from {n_rows} rows",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def clean_ids(ids: Sequence[Any], name: str) -> list[Any]:
    """Strip blanks around text ids; refuse missing ones.

    >>> clean_ids([" a", 7], "items")
    ['a', 7]
    """
    cleaned = [entry.strip() if isinstance(entry, str) else entry for entry in ids]
    missing = [k for k, entry in enumerate(cleaned) if str(entry) in MISSING_IDS]
    if missing:
        raise ValueError(f"{name} has missing ids (for example {ids[missing[0]]!r}): fill them in")
    return cleaned


def id_array(ids: Sequence[Any]) -> NDArray[Any]:
    """Return ids as an array, of objects where their types differ (numpy would make all text)."""
    return np.array(ids, dtype=None if len({type(entry) for entry in ids}) == 1 else object)
