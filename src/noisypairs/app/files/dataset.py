"""Items and answers that belong together, from files."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.app.files.answers import (
    BY_WEIGHT,
    find_roles,
    pairs_of,
    read_answers,
    seconds_of,
    told,
    unused_columns,
    without_copies,
)
from noisypairs.app.files.cells import MISSING
from noisypairs.app.files.columns import NAME_THEM, OPTION, Columns, KnownItems, match_ids
from noisypairs.app.files.contents import BadFile, SourceFile, about, plural, some, whole
from noisypairs.app.files.importers import import_pairs, link_files, naming_near
from noisypairs.app.files.items import Items, items_of, labels_of, with_group
from noisypairs.app.files.media import with_media
from noisypairs.app.files.table import (
    PARQUET,
    FileTable,
    by_row,
    extension,
    parquet_parts,
    read_table,
)
from noisypairs.app.files.writing import unguarded
from noisypairs.errors import did_you_mean
from noisypairs.pairs import Pairs
from noisypairs.pairs.answers import UnknownWords
from noisypairs.pairs.columns import OPTIONAL
from noisypairs.pairs.ids import clean_ids
from noisypairs.pairs.levels import MOST_LEVELS, Scale, spoken_scale
from noisypairs.pairs.pairs import (
    sorted_answers,
    with_confidence,
    with_families,
    with_levels,
    with_questions,
)
from noisypairs.tables import PairTable
from noisypairs.tables.engine import fetch
from noisypairs.tables.reading import distinct_ids, select_columns
from noisypairs.tables.source import Files, Kind

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
    rows, place : the row of each answer in its table, (n_pairs,), and what to call it, such as
        "line 7"; None of a file too large to load.
    swapped : whether the file has the ends of an answer the other way round, (n_pairs,).
    encode : how content becomes numbers, as `noisypairs.app.encoding.encoders_of` takes it.
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
    rows: NDArray[np.int64] | None = None
    place: Callable[[int], str] | None = None
    swapped: NDArray[np.bool_] | None = None
    encode: str = "auto"

    def in_order(self) -> Dataset:
        """Return the same with items by id and answers by items, so that no draw follows the file.

        A `PairTable` keeps its positions in the engine, and its items are left as they are.
        """
        if not isinstance(self.pairs, Pairs):
            return self
        order = np.argsort(np.array(self.ids, dtype=object), kind="stable")
        features = None if self.features is None else self.features.iloc[order]
        moved = self.pairs[order]
        pairs, at = sorted_answers(moved)
        swapped = (moved.left > moved.right)[at]
        return replace(
            self,
            features=features,
            ids=[self.ids[i] for i in order],
            pairs=pairs,
            seconds=None if self.seconds is None else self.seconds[at],
            rows=None if self.rows is None else self.rows[at],
            swapped=swapped if self.swapped is None else swapped ^ self.swapped[at],
        )


def read_dataset(
    items: AnyPath | None,
    pairs: AnyPath,
    columns: Columns = Columns(),  # noqa: B008 -- frozen
    labels: AnyPath | None = None,
    format: str | None = None,
    stream: bool = False,
    keep_copies: bool = False,
    words: Mapping[str, str] | None = None,
    scale: Scale | None = None,
    question: str | None = None,
    confidence: tuple[str, Sequence[str] | None] | None = None,
    family: str | None = None,
    images: str | None = None,
    encode: str = "auto",
) -> Dataset:
    r"""Read items and pairs from two files; columns not named and the format are guessed.

    Some formats hold the items beside the answers: then `items` may be None or the same file.
    With `stream`, a table of more than `MOST_ROWS` pairs (Parquet, also a folder of it) or
    `MOST_BYTES` bytes (CSV, too) is not loaded: `pairs` is then a `PairTable`. Copied answers
    are left out and counted in the notes (see `copies`), unless `keep_copies`; those of a
    `PairTable` stay and are counted by its audit. ``words`` says what answers mean that are not
    known: {"nope": "different"}. A column ``columns.group`` of the items becomes their groups.
    With a ``scale``, answers are its levels (`Pairs.from_levels`). ``question`` is the column that
    says which answers were given together, ``family`` the one of families of annotators, whose
    names become "family/annotator", and ``confidence`` is a column and its words from low to high
    (`Pairs.from_confidence`). All are read of tables that are loaded. ``images`` is a folder of
    pictures or sounds, or the column that names them, and ``encode`` how content becomes numbers.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     items, pairs = Path(folder, "items.csv"), Path(folder, "pairs.csv")
    ...     _ = items.write_text("id,size\n007,1.5\n008,2\n")
    ...     _ = pairs.write_text("left,right,answer\n7,8,Yes\n8,7,unsure\n")
    ...     data = read_dataset(items, pairs)
    >>> data.ids, data.pairs, data.notes[-1]
    (['007', '008'], Pairs[2 items](n_pairs=1, same=1, different=0), "2 ids of pairs.csv
    matched to items.csv only without leading zeros, '.0', case and blanks, such as '7' to '007'")
    """
    beside = None if items is None or Path(items) == Path(pairs) else read_table(items)
    known = None if beside is None else KnownItems(beside, columns.id)
    stream = stream and not (scale or question or confidence or family)
    if stream and format in (None, "table") and (kind := kind_of_large(Path(pairs))):
        _require_items(known, columns)
        data, found, sources = read_large(Path(pairs), kind, known, columns, words)
        return _with_files(replace(data, encode=encode), found, sources, labels, images)
    given = {**(words or {}), **(scale.meanings() if scale else {})}
    imported = import_pairs(Path(pairs), columns, format, known, given)
    table, scale = imported.table, scale or imported.scale
    if scale is None and words is None and confidence is None:
        scale = _spoken_scale(table, imported.columns)
    with naming_near(imported.near):
        meant = {**imported.words, **(words or {}), **(scale.meanings() if scale else {})}
        everything = read_answers(table, imported.columns, known, meant)
    answers, copies, on_copies = without_copies(everything, keep_copies)
    if beside is not None:
        read: Items | None = items_of(beside, columns.id, answers.ids, columns.group)
    else:
        _require_items(read := imported.items, columns)
        if read is not None and columns.group is not None:
            read = with_group(read, columns.group)
    where = table.path.name if read is None else Path(read.source["path"]).name
    loaded, more, rows = pairs_of(answers, None if read is None else read.ids, where, copies)

    def cells(name: str, option: str) -> NDArray[Any]:
        if name not in table.names:
            hint = did_you_mean(name, table.names)
            raise BadFile(f"{table.path} has no column {name!r}, which {option} names: {hint}")
        return table.text(name)[rows]

    if question is not None:
        loaded = with_questions(loaded, cells(question, "--question"))
    if scale is not None and answers.columns.same is not None:
        loaded = with_levels(loaded, cells(answers.columns.same, "--same"), scale)
        more.append(f"{table.path.name}: levels {scale}")
    if confidence is not None:
        with about(f"{table.path}: column {confidence[0]!r}"):
            sure = cells(confidence[0], "--confidence")
            loaded = with_confidence(loaded, sure, confidence[1])
        more.append(f"{table.path.name}: levels {loaded.scale}")
    if family is not None:
        loaded = with_families(loaded, cells(family, "--family"))
    seconds, on_times = seconds_of(table)
    more += on_times
    if imported.format == "table":
        more += unused_columns(table, answers.columns)
    mapping = dict(answers.mapping)
    if scale is not None and scale.unsure in mapping:
        mapping[scale.unsure] = "unsure"
    used = replace(answers.columns, id=read.id_column if read else None, group=columns.group)
    notes = [*table.notes, *imported.notes, *answers.notes, *on_copies, *more]
    data = _dataset(loaded, read, used, mapping, notes)
    data = _with_files(data, read, imported.sources, labels, images)
    return replace(
        data,
        rows=rows,
        place=table.place,
        encode=encode,
        seconds=None if seconds is None else seconds[rows],
        format=imported.format,
    )


def _spoken_scale(table: FileTable, columns: Columns) -> Scale | None:
    """Return the scale of the one column whose words spell out grades of same and different."""
    tried = [name for name in table.names if columns.same in (None, name)]
    few = [n for n in tried if 3 <= len({*table.beginning(n, N_LOOKED_AT)} - {""}) <= MOST_LEVELS]
    found = [scale for n in few if (scale := spoken_scale(sorted({*table.text(n)} - {""})))]
    return found[0] if len(found) == 1 else None


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
    data: Dataset,
    items: Items | None,
    sources: Sequence[SourceFile],
    labels: AnyPath | None,
    images: str | None,
) -> Dataset:
    """Add the pictures and sounds, the known classes, where a file has them, and all files."""
    files = [*([items.source] if items else []), *sources]
    features, more = with_media(data.features, data.ids, Path(files[0]["path"]), images)
    pairs, notes = data.pairs, [*data.notes, *more]
    if labels is not None:
        table = read_table(labels)
        classes, said, unknown_ids = labels_of(table, data.ids, data.columns.id)
        pairs, notes = pairs.with_labels(classes, by="position"), [*notes, *said, *unknown_ids]
        files.append(table.source)
    return replace(
        data,
        features=features,
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


#: A table of pairs with more rows (Parquet says how many) or bytes than this is not loaded.
MOST_ROWS, MOST_BYTES = 5_000_000, 500_000_000
#: Rows looked at to find the column of the items' ids.
N_LOOKED_AT = 1000


def kind_of_large(path: Path) -> Kind | None:
    """Return what a table of pairs is written in if it is too large to load, else None."""
    parts = [] if path.is_dir() and link_files(path) else parquet_parts(path)
    if parts and all(part.is_file() for part in parts):
        from pyarrow import parquet

        rows, size = 0, sum(part.stat().st_size for part in parts)
        for part in parts:
            with whole(part, *PARQUET):  # its last bytes say how many rows it has
                rows += parquet.read_metadata(part).num_rows
        return "parquet" if rows > MOST_ROWS or size > MOST_BYTES else None
    text = path.is_file() and extension(path) in (".csv", ".tsv", ".txt")
    return "csv" if text and path.stat().st_size > MOST_BYTES else None


def read_large(
    path: Path,
    kind: Kind,
    known: KnownItems | None,
    columns: Columns,
    words: Mapping[str, str] | None = None,
) -> tuple[Dataset, Items | None, list[SourceFile]]:
    """Open a table of pairs where it lies; the items, if a file holds them, are loaded.

    Its columns are found by its first rows, as those of a table that is loaded.
    """
    files = Files.find(path, kind, {}, None)
    with about(path), files.unchanged():
        first = fetch(files.table.limit(N_LOOKED_AT)).to_pandas()
        nothing: SourceFile = {"path": "", "bytes": 0, "sha256": "", "rows": 0}
        beginning = FileTable(path, first, nothing, by_row)
        named, guessed = find_roles(beginning, columns, None, known, words or {})
        raw, names = select_columns(files.table, named, OPTION)
    asked = [name for end in ("left", "right") for name in beginning.text(names[end])]
    read = None if known is None else items_of(known.table, columns.id, asked, columns.group)
    with about(path), files.unchanged():
        keys, matched = _keys(raw, read, path, asked)
        table, notes = _opened(path, kind, keys, names, words)
    if table.n_pairs == 0:
        raise BadFile(
            f"none of the pairs in {path} is about two of the items: the first holds "
            f"{some(list(dict.fromkeys(asked)), 2)}, the second {some(list(keys), 2)}. {NAME_THEM}"
        )
    roles = {role: name for role, name in names.items() if role != "weight"}
    used = Columns(**roles, id=None if read is None else read.id_column, group=columns.group)
    source = _source(path, table)
    where = f"{path.name}: {plural(source['rows'], 'row')}, too many to load: read where they lie"
    said = [where, f"{path.name}: columns {used}", *guessed, *matched, *notes]
    if "weight" in names:
        said.append(BY_WEIGHT.format(path.name))
    said += unused_columns(beginning, used)
    return _dataset(table, read, used, table.mapping, said), read, [source]


def _keys(
    raw: Any, items: Items | None, path: Path, asked: Sequence[str]
) -> tuple[Sequence[Any], list[str]]:
    """Return the items' ids as the columns write them, text or whole numbers, and notes."""
    if items is None:
        return clean_ids(distinct_ids(raw), "items"), []
    ids = items.ids
    if not raw.left.type().is_integer():
        written = [name for name in map(str, distinct_ids(raw)) if name.lower() not in MISSING]
        plain = {unguarded(name): name for name in written}
        known, notes = match_ids(plain, ids, path.name, Path(items.source["path"]).name)
        as_written = {item: plain[name] for name, item in known.items()}
        return [as_written.get(item, item) for item in ids], notes
    if ids == [str(k) for k in range(len(ids))]:
        return range(len(ids)), []
    strange = [name for name in ids if not name.lstrip("-").isdecimal()]
    if strange:
        raise BadFile(
            f"{path} names items by whole numbers such as {some(asked, 2)}, but the items have ids "
            f"such as {some(strange, 2)}: write ids alike in both files"
        )
    return [int(name) for name in ids], []


def _opened(
    path: Path,
    kind: Kind,
    keys: Sequence[Any],
    names: dict[str, str],
    words: Mapping[str, str] | None,
) -> tuple[PairTable, list[str]]:
    """Open the table with what cannot be used left out, and say how much that is."""
    roles: dict[str, Any] = dict.fromkeys(OPTIONAL, False) | names
    read = PairTable.from_parquet if kind == "parquet" else PairTable.from_csv
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what it would say stands in the notes
        try:
            table = read(
                path, items=keys, unsure="drop", drop_unknown=True, words=words or None, **roles
            )
        except UnknownWords as error:
            raise BadFile(f"{path}: {told(error)}") from error
    fates = {"unsure": "missing or unsure, left out", "unknown": "left out that name unknown items"}
    return table, [
        f"{path.name}: {plural(table.dropped[reason], 'answer')} {fate}"
        for reason, fate in fates.items()
        if table.dropped[reason]
    ]


def _source(path: Path, table: PairTable) -> SourceFile:
    """Return path, size, digest and rows; the digest of several files is that of their digests."""
    assert isinstance(table.source, Files)
    digests = []
    for name in table.source.paths:
        with open(name, "rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    digest = digests[0]
    if path.is_dir():
        digest = hashlib.sha256("".join(digests).encode()).hexdigest()
    size = sum(part[1] for part in table.source.state)
    rows = table.n_pairs + sum(table.dropped.values())
    return {"path": str(path), "bytes": size, "sha256": digest, "rows": rows}
