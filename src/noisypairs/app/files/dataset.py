"""Items and answers that belong together, from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from noisypairs.algebra import Array
from noisypairs.app.files import large
from noisypairs.app.files.answers import read_answers
from noisypairs.app.files.columns import Columns
from noisypairs.app.files.contents import BadFile, SourceFile
from noisypairs.app.files.copies import without_copies
from noisypairs.app.files.frames import read_table
from noisypairs.app.files.importers import import_pairs, naming_near
from noisypairs.app.files.items import Items, items_of, labels_of, with_group
from noisypairs.app.files.known import KnownItems
from noisypairs.app.files.pairs import pairs_of
from noisypairs.app.files.times import seconds_of
from noisypairs.pairs import Pairs

AnyPath = PathLike[str] | str


@dataclass(frozen=True, eq=False)
class Dataset:
    """Items and pairs of them as read from files, with an account of the reading.

    Attributes
    ----------
    features : one row per item, without the ids; None if no file holds the items.
    ids : the items' ids as text; item i of `features` and of `pairs` is ``ids[i]``.
    pairs : the answers, with annotators, weights, known classes and groups of items where there
        are any. Of a file too large to load a `PairTable`, which stands wherever `Pairs` do
        (`read_dataset`).
    annotator_names : names behind ``pairs.annotator``, or None.
    columns : the columns that were used, by name.
    mapping : how each answer was read, for example {"yes": "same", "no": "different"}.
    notes : everything that was guessed, repaired or left out, in plain English.
    sources : path, bytes, sha256 and rows of every file.
    format : the format of the file of pairs, "table" or the name of an importer.
    seconds : how long each answer took, (n_pairs,), NaN where unknown; None without such a column.
    """

    features: pd.DataFrame | None
    ids: list[str]
    pairs: Pairs
    annotator_names: list[str] | None
    columns: Columns
    mapping: dict[str, str]
    notes: list[str]
    sources: list[SourceFile]
    format: str = "table"
    seconds: Array | None = None

    def in_order(self) -> Dataset:
        """Return the same with items by id and answers by items, so that no draw follows the file.

        A `PairTable` keeps its positions in the engine, and its items are left as they are.
        """
        if not isinstance(self.pairs, Pairs):
            return self
        order = np.argsort(np.array(self.ids, dtype=object), kind="stable")
        features = None if self.features is None else self.features.iloc[order]
        pairs, place = self.pairs[order].in_order()
        seconds = None if self.seconds is None else self.seconds[place]
        ids = [self.ids[i] for i in order]
        return replace(self, features=features, ids=ids, pairs=pairs, seconds=seconds)


def read_dataset(
    items: AnyPath | None,
    pairs: AnyPath,
    columns: Columns = Columns(),  # noqa: B008 -- frozen
    labels: AnyPath | None = None,
    format: str | None = None,
    stream: bool = False,
    keep_copies: bool = False,
    words: Mapping[str, str] | None = None,
) -> Dataset:
    r"""Read items and pairs from two files; columns not named and the format are guessed.

    Some formats hold the items beside the answers: then `items` may be None or the same file.
    With `stream`, a table of more than `large.MOST_ROWS` pairs (Parquet, also a folder of it) or
    `large.MOST_BYTES` bytes (CSV, too) is not loaded: `pairs` is then a `PairTable`. Copied answers
    are left out and counted in the notes (see `copies`), unless `keep_copies`; those of a
    `PairTable` stay and are counted by its audit. ``words`` says what answers mean that are not
    known: {"nope": "different"}. A column ``columns.group`` of the items becomes their groups.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     items, pairs = Path(folder, "items.csv"), Path(folder, "pairs.csv")
    ...     _ = items.write_text("id,size\n007,1.5\n008,2\n")
    ...     _ = pairs.write_text("left,right,answer\n7,8,Yes\n8,7,unsure\n")
    ...     data = read_dataset(items, pairs)
    >>> data.ids, data.pairs, data.notes[-1]
    (['007', '008'], Pairs(n_items=2, n_pairs=1, same=1, different=0), "2 ids of pairs.csv
    matched to items.csv only without leading zeros, '.0', case and blanks, such as '7' to '007'")
    """
    beside = None if items is None or Path(items) == Path(pairs) else read_table(items)
    known = None if beside is None else KnownItems(beside, columns.id)
    if stream and format in (None, "table") and (kind := large.kind_of_large(Path(pairs))):
        _require_items(known, columns)
        found = large.read_large(Path(pairs), kind, known, columns, words)
        data = _dataset(found.pairs, found.items, found.columns, found.mapping, found.notes)
        return _with_files(data, found.items, [found.source], labels)
    imported = import_pairs(Path(pairs), columns, format, known)
    with naming_near(imported.near):
        meant = {**imported.words, **(words or {})}
        everything = read_answers(imported.table, imported.columns, known, meant)
    answers, copies, on_copies = without_copies(everything, keep_copies)
    read = (
        _imported_items(imported.items, columns)
        if beside is None
        else items_of(beside, columns.id, answers.ids, columns.group)
    )
    where = imported.table.path.name if read is None else Path(read.source["path"]).name
    ids = None if read is None else read.ids
    loaded, more, rows = pairs_of(answers, ids, where, copies)
    seconds, on_times = seconds_of(imported.table)
    more += on_times
    notes = [*imported.table.notes, *imported.notes, *answers.notes, *on_copies, *more]
    used = replace(answers.columns, id=read.id_column if read else None, group=columns.group)
    data = _dataset(loaded, read, used, answers.mapping, notes)
    data = replace(data, seconds=None if seconds is None else seconds[rows])
    return replace(_with_files(data, read, imported.sources, labels), format=imported.format)


def _imported_items(items: Items | None, columns: Columns) -> Items | None:
    """Return the items that stand beside the answers, with their groups if a column is named."""
    _require_items(items, columns)
    return items if items is None or columns.group is None else with_group(items, columns.group)


def _require_items(items: object | None, columns: Columns) -> None:
    if items is None and columns.group is not None:
        raise BadFile(
            f"--group {columns.group} names a column of the items, but no file of items is given: "
            "name one, or leave --group out"
        )


def _dataset(
    pairs: Any,  # `Pairs`, or a `PairTable` that takes their place
    items: Items | None,
    columns: Columns,
    mapping: Mapping[str, str],
    notes: Sequence[str],
) -> Dataset:
    names = pairs.annotator_names
    if items is not None and items.groups is not None:
        pairs = pairs.with_groups(items.groups)
    return Dataset(
        features=None if items is None else items.features,
        ids=items.ids if items else [str(name) for name in np.asarray(pairs.item_ids)],
        pairs=pairs,
        annotator_names=None if names is None else [str(name) for name in names],
        columns=columns,
        mapping=dict(mapping),
        notes=[*(items.notes if items else []), *notes],
        sources=[],
    )


def _with_files(
    data: Dataset, items: Items | None, sources: Sequence[SourceFile], labels: AnyPath | None
) -> Dataset:
    """Add the known classes, where a file has them, and the list of all files."""
    pairs, notes = data.pairs, data.notes
    files = [*([items.source] if items else []), *sources]
    if labels is not None:
        table = read_table(labels)
        classes, said, unknown_ids = labels_of(table, data.ids, data.columns.id)
        pairs, notes = pairs.with_labels(classes, by="position"), [*notes, *said, *unknown_ids]
        files.append(table.source)
    return replace(
        data,
        pairs=pairs,
        notes=list(dict.fromkeys(notes)),
        sources=list({file["path"]: file for file in files}.values()),
    )


def read_pairs(
    pairs: AnyPath,
    columns: Columns = Columns(),  # noqa: B008 -- frozen
    format: str | None = None,
) -> Dataset:
    r"""Read pairs alone: the items are those the answers name, in order of appearance.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "pairs.csv")
    ...     _ = file.write_text("left,right,answer,worker\nb,a,yes,w1\na,c,no,w2\n")
    ...     data = read_pairs(file)
    >>> data.ids, data.pairs.same.tolist(), data.annotator_names, data.mapping
    (['b', 'a', 'c'], [True, False], ['w1', 'w2'], {'yes': 'same', 'no': 'different'})
    """
    return read_dataset(None, pairs, columns, None, format)
