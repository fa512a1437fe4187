"""From a raw table to answers: columns named, ids turned into positions, words into booleans.

Everything is an Ibis expression, evaluated in the engine. One look at the table (grouped by the
distinct answers, so its result is a handful of rows) finds what must be known before any counting:
which words occur, how many rows have unknown items, how many compare an item with itself.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.pairs import answers
from noisypairs.pairs.columns import ARGUMENT, OPTIONAL, Asking, Role, find_columns
from noisypairs.pairs.ids import id_array, known_ids, warn_dropped
from noisypairs.tables.engine import fetch, load_arrow, load_ibis
from noisypairs.tables.items import ItemTable
from noisypairs.tables.source import TableSource

logger = logging.getLogger(__name__)

#: More distinct answers than this cannot be words for "same" and "different".
MOST_WORDS = 1000


@dataclass(frozen=True)
class OpenedTable:
    """A table of answers as the learners see it, and what the first look found.

    ``answers`` is an Ibis table with the columns left, right (positions), same (bool) and,
    where there are any, annotator (as given) and weight (float64). ``names`` are the columns by
    role, ``mapping`` how each word was read, {"yes": "same", "no": "different"}.
    """

    answers: Any
    n_items: int
    n_pairs: int
    self_pairs: int
    item_ids: NDArray[Any] | None
    dropped: dict[str, int]
    names: dict[str, str]
    mapping: dict[str, str]


def open_answers(
    source: TableSource,
    named: Mapping[str, Role],
    items: ArrayLike | ItemTable | None,
    n_items: int | None,
    unsure: answers.Treatment,
    drop_unknown: bool,
    words: Mapping[str, str] | None = None,
) -> OpenedTable:
    """Find the columns, place the items, read the words; refuse what cannot be learnt from."""
    answers.check_treatment(unsure, "unsure")
    raw, names = select_columns(source.table, named)
    if isinstance(items, ItemTable):
        ids, size = None, items.n_items
        placed = _joined_positions(raw, items.keys)
    else:
        ids, size = _items(items, n_items)
        placed = _add_positions(raw, ids, size)
    with source.unchanged():
        found = _count_read_words(placed)
    n_rows = sum(row["n"] for row in found)
    if n_rows == 0:
        raise ValueError(f"{source.name} holds no pairs: there is nothing to learn from")
    n_unknown = sum(row["unknown"] for row in found)
    if n_unknown and not drop_unknown:
        with source.unchanged():
            raise ValueError(_unknown_items(placed, names, n_unknown, n_rows, size))
    _check_weights(found, names)
    same, usable, mapping = _read_words(placed, found, unsure, names["same"], words)
    if n_unknown:
        placed = placed.filter(placed.left.notnull() & placed.right.notnull())
    elif ids is None and not isinstance(
        items, ItemTable
    ):  # all in range: later passes need not look again
        placed = placed.mutate(left=_whole_number(placed, "left"))
        placed = placed.mutate(right=_whole_number(placed, "right"))
    kept = placed if usable is None else placed.filter(usable)
    clear = [row for row in found if row["usable"]]
    dropped = {
        "unsure": n_rows - sum(row["n"] for row in clear),
        "unknown": sum(row["unknown"] for row in clear),
    }
    warn_dropped(dropped, n_rows, stacklevel=4)
    optional = [role for role in OPTIONAL if role in names]
    return OpenedTable(
        answers=kept.select("left", "right", *optional, same=same),
        n_items=size,
        n_pairs=n_rows - sum(dropped.values()),
        self_pairs=sum(row["selves"] for row in clear),
        item_ids=None if ids is None else id_array(ids),
        dropped=dropped,
        names=names,
        mapping=mapping,
    )


def distinct_ids(raw: Any) -> list[Any]:
    """Return every id in the columns left and right of `select_columns`, sorted."""
    ends = raw.select(id=raw.left).union(raw.select(id=raw.right), distinct=True)
    found = fetch(ends.filter(ends.id.notnull()))["id"].to_pylist()
    return sorted({entry.strip() if isinstance(entry, str) else entry for entry in found})


def select_columns(
    table: Any, named: Mapping[str, Role], asking: Asking = ARGUMENT
) -> tuple[Any, dict[str, str]]:
    """Return the columns under their roles, and what each is called in the table."""
    names = find_columns(table.columns, named, asking)
    chosen = {role: table[name] for role, name in names.items()}
    if "weight" in chosen:  # as `Pairs` stores it, so that both give the same numbers
        chosen["weight"] = _number(chosen["weight"], "float64").cast("float32").cast("float64")
    return table.select(**chosen), names


def _number(column: Any, kind: str) -> Any:
    """Read text as numbers, NULL where it is none; numbers stay what they are."""
    return column.strip().try_cast(kind) if column.type().is_string() else column.cast(kind)


def _whole_number(table: Any, end: str) -> Any:
    """Return a column of positions as int64; integers of any width keep theirs."""
    column = table[f"{end}_id"]
    return column if column.type().is_integer() else _number(column, "int64")


def _items(items: ArrayLike | None, n_items: int | None) -> tuple[list[Any] | None, int]:
    """Return the ids in table order, None where the columns hold positions, and their number."""
    if items is None:
        if n_items is None or int(n_items) < 1:
            raise ValueError(
                f"n_items={n_items!r}: say how many items there are (n_items=len(X), where the "
                "columns hold row numbers of X) or give their ids in the order of X (items=ids)"
            )
        return None, int(n_items)
    if isinstance(items, range) and items == range(len(items)):
        return None, len(items)
    ids = known_ids(items)
    if n_items is not None and n_items != len(ids):
        raise ValueError(f"n_items={n_items}, but items has {len(ids)} ids: give one of the two")
    return ids, len(ids)


def _add_positions(raw: Any, ids: list[Any] | None, n_items: int) -> Any:
    """Add positions left, right (NULL for an unknown id); given ids stay as left_id, right_id."""
    ibis = load_ibis()
    table = raw.rename(left_id="left", right_id="right")
    if ids is None:
        ends = {}
        for end in ("left", "right"):
            whole = _whole_number(table, end)
            ends[end] = ibis.ifelse(
                (whole >= 0) & (whole < n_items), whole, ibis.null(whole.type())
            )
        return table.mutate(**ends)
    pa = load_arrow()
    for end in ("left", "right"):
        text = table[f"{end}_id"].type().is_string()
        keys = pa.array([str(entry) for entry in ids] if text else _whole(ids, end))
        table = _joined(table, end, ibis.memtable(pa.table({"key": keys, "item": range(n_items)})))
    return table


def _joined_positions(raw: Any, keys: Any) -> Any:
    """Add positions left, right of a table of ids, in the engine of both."""
    table = raw.rename(left_id="left", right_id="right")
    for end in ("left", "right"):
        kind = table[f"{end}_id"].type()
        if kind.is_string() != keys.key.type().is_string():
            raise TypeError(
                f"the items have ids of type {keys.key.type()}, but the column of {end} ends holds "
                f"{kind}: write ids alike in both tables"
            )
        table = _joined(table, end, keys)
    return table


def _joined(table: Any, end: str, keys: Any) -> Any:
    """Add the position of one end, by a table of key and item; NULL where there is none."""
    column, name = table[f"{end}_id"], f"{end}_key"
    key = column.strip() if column.type().is_string() else column.cast(keys.key.type())
    table = table.mutate(**{name: key}).left_join(
        keys.select(**{name: keys.key, end: keys.item}), name
    )
    return table.drop(*[one for one in table.columns if one.endswith(("_key", "_right"))])


def _whole(ids: list[Any], end: str) -> list[int]:
    wrong = [entry for entry in ids if not isinstance(entry, int)]
    if wrong:
        raise TypeError(
            f"the items have ids such as {wrong[0]!r}, but the column of {end} ends holds whole "
            "numbers: write ids alike in both tables"
        )
    return ids


def _count_read_words(placed: Any) -> list[dict[str, Any]]:
    """One row per distinct answer: how many, of unknown items, of self pairs, weights."""
    known = placed.left.notnull() & placed.right.notnull()
    facts = {
        "n": placed.count(),
        "unknown": (~known).sum(),
        "selves": (known & (placed.left == placed.right)).sum(),
    }
    if "weight" in placed.columns:
        good = placed.weight.notnull() & (placed.weight > 0) & ~placed.weight.isinf()
        facts["bad_weights"] = (~(good & ~placed.weight.isnan())).sum()
    grouped = placed.group_by("same").agg(**facts).limit(MOST_WORDS + 1)
    rows: list[dict[str, Any]] = fetch(grouped).to_pylist()
    return rows


def _check_weights(found: list[dict[str, Any]], names: dict[str, str]) -> None:
    bad = sum(row.get("bad_weights") or 0 for row in found)
    if bad:
        raise ValueError(
            f"column {names['weight']!r} has {bad} weights that are missing, not finite or not "
            "positive: correct them, leave these pairs out, or pass weight=False"
        )


def _read_words(
    placed: Any,
    found: list[dict[str, Any]],
    unsure: answers.Treatment,
    name: str,
    words: Mapping[str, str] | None,
) -> tuple[Any, Any | None, dict[str, str]]:
    """Return the answers as a boolean expression, a filter where some are unusable, the mapping.

    `answers.parse` reads the distinct values only; each row of ``found`` is marked usable or not.
    """
    column = f"column {name!r}"
    if len(found) > MOST_WORDS:
        raise ValueError(
            f"{column} has more than {MOST_WORDS} different values: no answers but scores, it "
            "seems. Round them to same and different, or load them with Pairs.from_scores"
        )
    values = [row["same"] for row in found]
    given = np.empty(len(values), dtype=object)
    given[:] = values
    read = answers.parse(given, unsure="drop", name=f"{column} (its distinct values)", words=words)
    for row, usable in zip(found, read.usable.tolist(), strict=True):
        row["usable"] = usable
    n_unsure = sum(row["n"] for row in found if not row["usable"])
    if n_unsure and unsure == "raise":
        raise ValueError(
            f"{column} has {n_unsure} of {sum(row['n'] for row in found)} answers missing or "
            "unsure. Leave these pairs out with unsure='drop', or decide them"
        )
    logger.info("%s read as %s", column, read.mapping)
    if not read.usable.any():
        raise ValueError(f"{column} holds no usable answer: nothing to learn from")
    clear = [value for value, usable in zip(values, read.usable, strict=True) if usable]
    yes = [value for value, same in zip(clear, read.same, strict=True) if same]
    raw = placed.same
    same = raw if raw.type().is_boolean() else raw.isin(yes) if yes else raw.isnull()
    return same, None if read.usable.all() else raw.isin(clear), read.mapping


def _unknown_items(
    placed: Any, names: dict[str, str], n_unknown: int, n_rows: int, n_items: int
) -> str:
    """Say how many pairs have unknown items, with examples."""
    for end in ("left", "right"):
        lost = placed.filter(placed[end].isnull()).select(id=placed[f"{end}_id"])
        ids = fetch(lost.distinct().limit(4))["id"].to_pylist()
        if ids:
            return (
                f"{n_unknown} of {n_rows} pairs name an item that is not among the {n_items} "
                f"items; column {names[end]!r} has for example {', '.join(map(repr, ids))}. "
                "Correct the ids, or leave these pairs out: drop_unknown=True"
            )
    raise AssertionError("unknown items were counted, but none was found")
