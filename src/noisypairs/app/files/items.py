"""Items from files: one row per item, the column of ids set apart, the others typed as features."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from noisypairs.app.files.cells import (
    ADDRESS,
    ID_NAME,
    ITEM_NAMES,
    MISSING,
    as_text,
    looks_like_id,
    typed,
)
from noisypairs.app.files.columns import (
    DECIMAL,
    ENOUGH,
    NUMBER,
    KnownItems,
    match_ids,
    near_miss,
)
from noisypairs.app.files.contents import BadFile, SourceFile, plural, some
from noisypairs.app.files.dates import kind_of_dates
from noisypairs.app.files.table import UNNAMED, FileTable, expanded, read_table, with_array_beside
from noisypairs.errors import did_you_mean
from noisypairs.pairs.answers import IntArray
from noisypairs.pairs.ids import loose

#: Rows looked at before a column is taken for one of ids.
LOOKED_AT = 200
#: How `row_contents` calls rows.
_CONTENT = re.compile(r"row-[0-9a-f]{12}(-\d+)?")

ROWS_CHANGED = (
    "rows without ids are known by all that they hold, so a column was added, taken out or "
    "renamed, or every cell of one changed, since they were asked about: give the file as it was"
)
"""Why no row has the name that `row_contents` gave it before, and what to do."""

CLASS_NAMES = frozenset(
    {"label", "class", "category", "target", "y", "truth", "true_class", "gold", "true_label"}
)
"""Names of a column that holds the class of an item, whatever the case."""


@dataclass(frozen=True, eq=False)
class Items:
    """Items as read: typed features, one row per item, and their ids in the same order.

    ``groups`` says which items belong together, None for one that is alone; it is None where no
    column was named. ``contents`` has a name for each row by all that it holds but its id, where
    that was asked for.
    """

    features: pd.DataFrame
    ids: list[str]
    id_column: str | None
    source: SourceFile
    notes: list[str]
    groups: list[str | None] | None = None
    contents: list[str] | None = None


def read_items(path: PathLike[str] | str, id: str | None = None) -> tuple[pd.DataFrame, list[str]]:
    r"""Return the features of the items in a file, one row each, and their ids as text.

    The column of ids is the one named, else the one that identifies every row (`id_columns`);
    without one, ids are row numbers counted from 0.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "items.csv")
    ...     _ = file.write_text("id,size\n007,1\n008,2\n")
    ...     features, ids = read_items(file)
    >>> ids, features["size"].tolist()
    (['007', '008'], [1, 2])
    """
    items = items_of(read_table(path), id)
    return items.features, items.ids


def items_of(
    table: FileTable,
    id: str | None = None,
    asked: Sequence[str] | None = None,
    group: str | None = None,
    features: Collection[str] = (),
    by_content: bool = False,
) -> Items:
    """Return the items of a table; `asked`, the ids that pairs use, helps to find their column.

    The column `group` says which items belong together and is no feature; `features` hold no ids.
    `by_content`, or where the pairs do so, rows without ids are called by what they hold.
    """
    if table.frame.empty:
        raise BadFile(f"{table.path} has a header but no rows: expected one row per item")
    raw = table.frame
    table, on_vectors = expanded(with_array_beside(table))
    if group is not None:
        _check_group(group, id, table.names, table.path)
    rest = replace(table, frame=table.frame.drop(columns=[] if group is None else [group]))
    column, notes = find_ids(rest, id, asked, features)
    notes += on_vectors
    contents = None
    if by_content or (column is None and are_contents(asked)):
        contents = row_contents(raw, column)
    if column is not None:
        ids, kept, more = _unique_ids(table, column)
        notes += more
    else:
        ids, kept = contents or [str(k) for k in range(len(raw))], np.arange(len(raw))
        if are_contents(asked) and not set(ids) & set(asked or ()):
            raise BadFile(
                f"{table.path}: none of its rows is one of those that the pairs are about, such as "
                f"{some(asked or (), 1)}: {ROWS_CHANGED}"
            )
    frame = rest.frame.drop(columns=[] if column is None else [column]).iloc[kept]
    columns, repaired = typed(frame.reset_index(drop=True), (), table.decimal_comma)
    notes += [f"{table.path.name}: {note}" for note in repaired]
    notes += [
        f"{table.path.name}: column {name!r} may be the class itself and is used as a feature; "
        "take it out, or give it as a file of known classes (--labels)"
        for name in columns.columns
        if name.lower() in CLASS_NAMES
    ]
    known = None if contents is None else [contents[row] for row in kept]
    notes = [*table.notes, *notes]
    items = Items(columns, ids, column, table.source, notes, contents=known)
    return items if group is None else _grouped(items, table.frame[group].iloc[kept], table.path)


def with_group(items: Items, group: str) -> Items:
    """Return items with one of their features taken out, which says what belongs together."""
    path = Path(items.source["path"])
    _check_group(group, None, list(map(str, items.features.columns)), path)
    rest = replace(items, features=items.features.drop(columns=[group]))
    return _grouped(rest, items.features[group], path)


def _check_group(group: str, id: str | None, columns: Sequence[str], path: Path) -> None:
    """Refuse a column of groups that is not there, or that holds the ids."""
    if group not in columns:
        hint = did_you_mean(group, columns)
        raise BadFile(f"{path}: there is no column {group!r} to hold the groups (--group); {hint}")
    if group == id:
        raise BadFile(
            f"{path}: column {group!r} cannot hold both the ids (--id) and the groups (--group): a "
            "group is shared by several items, an id belongs to one"
        )


def _grouped(items: Items, cells: pd.Series, path: Path) -> Items:
    """Return items with the groups in these cells, one per item, and a note on them."""
    groups = [None if text.lower() in MISSING else text for text in as_text(cells)]
    alone, named = groups.count(None), {name for name in groups if name is not None}
    if len(named) == 1 and not alone and len(groups) > 1:
        raise BadFile(
            f"{path}: column {cells.name!r} (--group) holds {groups[0]!r} for all "
            f"{len(groups):,} items: expected two groups or more"
        )
    n_groups = len(named) + alone
    note = f"{path.name}: {plural(len(groups), 'item')} in {plural(n_groups, 'group')} by column "
    note += f"{cells.name!r}"
    if alone:
        note += f"; {alone:,} of them without a group: each counts as one of its own"
    elif n_groups == len(groups):
        note += "; every item is a group of its own, so that --group changes nothing"
    return replace(items, groups=groups, notes=[*items.notes, note])


def find_ids(
    table: FileTable,
    named: str | None,
    asked: Sequence[str] | None,
    features: Collection[str] = (),
) -> tuple[str | None, list[str]]:
    """Return the column of ids (None: items have no ids of their own) and a note on the guess.

    The column that holds what is asked for; names break ties, and lead where nothing is asked.
    Without such a name it is the first of `id_columns` that is none of the features.
    """
    columns, name = table.names, table.path.name
    if named is not None:
        if named not in columns:
            hint = did_you_mean(named, columns)
            raise BadFile(f"{table.path}: there is no column {named!r} to hold the ids; {hint}")
        return named, []
    likely = _named(columns, ITEM_NAMES) or _named(columns, {UNNAMED.format(1)})
    if asked is not None:
        likely = _holding(table, likely, asked) or likely
    elif not likely:
        likely = id_columns(table.frame.drop(columns=[n for n in columns if n in features]))
    if likely:
        return likely[0], [f"{name}: ids of the items in column {likely[0]!r}"]
    if are_contents(asked):
        return None, [f"{name}: no column of ids, so items are known by what they hold"]
    if strange := _no_row_numbers(table, asked or ()):
        raise BadFile(
            f"{table.path}: no column holds the ids that the pairs name, such as "
            f"{some(strange, 2)}, which are no row numbers below {len(table.frame)} either. The "
            f"columns begin {_beginnings(table)}: name the one with the ids with --id"
        )
    return None, [f"{name}: no column of ids, so items are numbered by row, from 0"]


def _named(columns: Sequence[str], names: Collection[str]) -> list[str]:
    return [name for name in columns if name.strip().lower() in names]


def id_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that identify every row: by name first, then words, then running numbers.

    >>> id_columns(pd.DataFrame({"size": [1.5, 2, 3], "nr": [1, 2, 3], "sku": ["a", "b", "c"]}))
    ['sku', 'nr']
    """
    ranked = [(rank, str(name)) for name in frame if (rank := _id_rank(frame[name])) is not None]
    return [name for _, name in sorted(ranked, key=lambda one: one[0])]


def _id_rank(column: pd.Series[Any]) -> int | None:
    """Return how well a column identifies rows, 0 the best; None where it does not."""
    if column.iloc[:LOOKED_AT].astype(str).duplicated().any() or len(column) < 2:
        return None
    texts = as_text(column).tolist()
    if len(set(map(loose, texts))) < len(texts) or any(text.lower() in MISSING for text in texts):
        return None
    whole = all(text.isdecimal() for text in texts)
    if (ID_NAME.search(str(column.name)) or looks_like_id(str(column.name))) and (
        whole or not all(map(DECIMAL.fullmatch, texts))
    ):
        return 0
    if whole:
        numbers = np.array([int(text[:18]) for text in texts])
        return 2 if numbers.max() - numbers.min() == len(numbers) - 1 else None
    single = all(len(text.split()) == 1 for text in texts) or all(map(ADDRESS.fullmatch, texts))
    if not single or any(map(NUMBER.fullmatch, texts)) or kind_of_dates(texts) is not None:
        return None
    return 1


def row_contents(frame: pd.DataFrame, id: str | None = None) -> list[str]:
    """Return a name for every row by all that it holds but its id, "" where that is nothing.

    Equal rows are numbered.
    Neither the order of the rows nor that of the columns changes a name.

    >>> frame = pd.DataFrame({"a": [1, 2, 1], "b": ["x", "y", "x"]})
    >>> row_contents(frame)
    ['row-01129a7b5d85', 'row-bed3a44e2fce', 'row-01129a7b5d85-2']
    """
    names = sorted(str(name) for name in frame if name != id)
    cells = [[f"{name}\x1f{text}\x1e" for text in as_text(frame[name])] for name in names]
    seen: Counter[str] = Counter()
    found = []
    for parts in zip(*cells, strict=True):
        digest = blake2b("".join(parts).encode("utf-8", "surrogatepass"), digest_size=6)
        name = f"row-{digest.hexdigest()}"
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return found or [""] * len(frame)


def are_contents(asked: Sequence[str] | None) -> bool:
    """Whether pairs call items by what their rows hold."""
    return bool(asked) and all(map(_CONTENT.fullmatch, asked or ()))


def _holding(table: FileTable, likely: Sequence[str], asked: Sequence[str]) -> list[str]:
    """Return the column that holds most of the asked ids, if it holds half of them.

    Of several that hold about as many, the one with a likely name. Where the ids may be row numbers
    a column of whole numbers is no better, unless it holds them all.
    """
    shares = KnownItems(table).shares(asked)
    most = max(shares.values(), default=0.0)
    if most < 1.0 and not likely and not _no_row_numbers(table, asked):
        return []
    good = [name for name in shares if shares[name] >= max(0.5, 0.9 * most)]
    good = [name for name in good if name in likely] or good
    good.sort(key=lambda name: -shares[name])
    if len(good) > 1 and good[0] not in likely and shares[good[0]] == shares[good[1]]:
        raise BadFile(
            f"{table.path}: columns {some(good)} could each hold the ids of the items: name one "
            f"with --id {good[0]}"
        )
    return good[:1]


def _no_row_numbers(table: FileTable, asked: Sequence[str]) -> list[str]:
    size = len(table.frame)
    return [name for name in asked if not (name.isdecimal() and int(name[:18]) < size)]


def _beginnings(table: FileTable) -> str:
    """Return the first two cells of up to six columns, in words."""
    shown = [f"{name!r} with {some(table.beginning(name, 2))}" for name in table.names[:6]]
    return ", ".join(shown) + (", …" if len(table.names) > 6 else "")


def _label_ids(table: FileTable, ids: Sequence[str], id: str | None) -> str:
    """Return the column of a file of known classes that names items: by name, else by content."""
    if id in table.names:
        return str(id)
    if likely := _named(table.names, ITEM_NAMES):
        return likely[0]
    known, shares = {loose(name) for name in ids}, dict[str, float]()
    for name in table.names:
        if name.strip().lower() not in CLASS_NAMES:
            cells = [loose(text) in known for text in table.text(name)]
            shares[name] = sum(cells) / max(len(cells), 1)
    best = max(shares, key=shares.__getitem__, default="")
    if shares.get(best, 0.0) < ENOUGH:
        raise BadFile(
            f"{table.path}: no column holds ids of the items such as {some(ids, 2)}; the columns "
            f"begin {_beginnings(table)}. Expected columns such as {id or 'id'} and class"
        )
    return best


def _unique_ids(table: FileTable, column: str) -> tuple[list[str], IntArray, list[str]]:
    """Return ids, the rows kept and notes; equal rows are merged, others of one id refused."""
    texts, notes = table.text(column), list[str]()
    table.refuse_long_names(column, texts)
    missing = np.flatnonzero([text.lower() in MISSING for text in texts])
    if missing.size:
        raise BadFile(
            f"{table.where(int(missing[0]))}: the id in column {column!r} is missing "
            f"({plural(missing.size, 'row')} in all): fill it in or take the row out"
        )
    raw = zip(table.frame[column], texts, strict=True)
    if spaced := sum(isinstance(value, str) and value != text for value, text in raw):
        notes.append(f"{table.path.name}: blanks around {plural(spaced, 'id')} removed")
    repeated = pd.Series(texts).duplicated().to_numpy()
    if repeated.any():
        rows = pd.Series(np.arange(texts.size)).groupby(texts).transform("first").to_numpy()
        cells = table.frame.apply(as_text).to_numpy()
        if (differs := (cells != cells[rows]).any(axis=1)).any():
            row = int(np.argmax(differs))
            raise BadFile(
                f"{table.where(row)}: the id {table.frame[column].iloc[row]!r} stands already on "
                f"{table.place(int(rows[row]))}, with other values: give each item its own id"
            )
        notes.append(f"{table.path.name}: {plural(int(repeated.sum()), 'repeated row')} left out")
    kept = np.flatnonzero(~repeated)
    return texts[kept].tolist(), kept, notes


def read_labels(
    path: PathLike[str] | str, ids: Sequence[str], id: str | None = None
) -> dict[int, str]:
    r"""Return the known classes in a file as {position in ids: class name}.

    The columns of ids and classes are guessed by name, `id` (that of the items' own file) first,
    else by what they hold; two columns need no names. A warning names unknown ids.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "known.csv")
    ...     _ = file.write_text("id,class\nb,cat\na,dog\n")
    ...     read_labels(file, ["a", "b", "c"])
    {1: 'cat', 0: 'dog'}
    """
    known, _, unknown_ids = labels_of(read_table(path), ids, id)
    for note in unknown_ids:
        warnings.warn(note, UserWarning, stacklevel=2)
    return known


def labels_of(
    table: FileTable, ids: Sequence[str], id: str | None = None
) -> tuple[dict[int, str], list[str], list[str]]:
    """Return known classes by position, notes, and notes on unknown ids, which are left out.

    One item with two classes is refused. `id` is the name of the column of ids in the items' own
    file, if it has one.
    """
    column = _label_ids(table, ids, id)
    others = [name for name in table.names if name != column]
    named = _named(others, CLASS_NAMES) or others
    if len(named) != 1:
        raise BadFile(
            f"{table.path}: columns {some(named, 8)} could each hold the classes: keep the ids and "
            "one column called class"
        )
    texts, classes = table.text(column), table.text(named[0])
    given = np.flatnonzero([name.lower() not in MISSING for name in classes])
    same, more = match_ids(texts[given], ids, table.path.name, "the items")
    position = {name: k for k, name in enumerate(ids)}
    known: dict[int, str] = {}
    for row in given.tolist():
        if texts[row] in same:
            at = position[same[texts[row]]]
            if known.setdefault(at, classes[row]) != classes[row]:
                raise BadFile(
                    f"{table.where(row)}: item {texts[row]!r} is {classes[row]!r} here and "
                    f"{known[at]!r} above: an item has one class"
                )
    if not known:
        raise BadFile(f"{table.path} names no class of any item: expected columns id and class")
    unknown = [row for row in given.tolist() if texts[row] not in same]
    unknown_ids = [
        f"{table.path.name}: {plural(len(unknown), 'class', 'classes')} of unknown items left out, "
        f"such as {texts[first]!r}{near_miss(texts[first], ids)} on {table.place(first)}"
        for first in unknown[:1]
    ]
    ids_in = f"{table.path.name}: ids of the items in column {column!r}"
    many = f"{table.path.name}: classes of {plural(len(known), 'item')} in {named[0]!r}"
    return known, [*table.notes, ids_in, many, *more], unknown_ids
