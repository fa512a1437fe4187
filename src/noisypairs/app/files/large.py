"""Files of pairs too large to load: left where they are, behind a `PairTable`.

What `answers` does row by row in memory the engine does here: columns are guessed by the same
rule, words read by the same parser, and what is left out is counted, but no line can be named.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noisypairs.app.files.answers import BY_WEIGHT, told
from noisypairs.app.files.cells import MISSING
from noisypairs.app.files.columns import OPTION, Columns, find_ends
from noisypairs.app.files.contents import BadFile, SourceFile, about, plural, some, unreadable
from noisypairs.app.files.delimited import unguarded
from noisypairs.app.files.frames import extension
from noisypairs.app.files.importers.link_lists import link_files
from noisypairs.app.files.items import Items, items_of
from noisypairs.app.files.known import KnownItems
from noisypairs.app.files.matching import match_ids
from noisypairs.pairs.answers import UnknownWords
from noisypairs.pairs.columns import OPTIONAL
from noisypairs.pairs.ids import clean_ids
from noisypairs.tables import PairTable
from noisypairs.tables.engine import fetch
from noisypairs.tables.reading import distinct_ids, select_columns
from noisypairs.tables.source import Files, Kind

#: A table of pairs with more rows (Parquet says how many) or bytes than this is not loaded.
MOST_ROWS, MOST_BYTES = 5_000_000, 500_000_000
#: Rows looked at to find the column of the items' ids.
N_LOOKED_AT = 1000


@dataclass(frozen=True, eq=False)
class LargePairs:
    """Pairs that stay in their files: the table, the items behind it, and how it was read."""

    pairs: PairTable
    items: Items | None
    columns: Columns
    mapping: dict[str, str]
    notes: list[str]
    source: SourceFile


def kind_of_large(path: Path) -> Kind | None:
    """Return what a table of pairs is written in if it is too large to load, else None."""
    parts = _parquet_parts(path)
    if parts:
        rows, size = _rows(parts), sum(part.stat().st_size for part in parts)
        return "parquet" if rows > MOST_ROWS or size > MOST_BYTES else None
    text = path.is_file() and extension(path) in (".csv", ".tsv", ".txt")
    return "csv" if text and path.stat().st_size > MOST_BYTES else None


def _parquet_parts(path: Path) -> list[Path]:
    if path.is_file():
        return [path] if path.suffix.lower() in (".parquet", ".pq") else []
    if not path.is_dir() or link_files(path) is not None:
        return []
    found = (p for p in path.rglob("*") if p.suffix.lower() in (".parquet", ".pq"))
    return sorted(p for p in found if p.is_file() and not p.name.startswith(("_", ".")))


def _rows(parts: Sequence[Path]) -> int:
    """Return how many rows the footers of Parquet files promise."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = 0
    for part in parts:
        try:
            rows += parquet.read_metadata(part).num_rows
        except PermissionError as error:
            raise unreadable(part, error) from error
        except (pa.ArrowException, OSError, ValueError) as error:
            raise BadFile(
                f"{part} cannot be read as Parquet, it is damaged or cut short "
                f"({str(error).splitlines()[0]}): write or copy it again"
            ) from error
    return rows


def read_large(
    path: Path,
    kind: Kind,
    known: KnownItems | None,
    columns: Columns,
    words: Mapping[str, str] | None = None,
) -> LargePairs:
    """Open a table of pairs where it lies; the items, if a file holds them, are loaded."""
    files = Files.find(path, kind, {}, None)
    with about(path), files.unchanged():
        first = fetch(files.table.limit(N_LOOKED_AT))

        def cells(name: str) -> list[str]:
            return ["" if v is None else str(v).strip() for v in first[name].to_pylist()]

        left, right = find_ends(first.column_names, cells, columns, path, known)
        named = columns.of_pairs | {"left": left, "right": right}
        raw, names = select_columns(files.table, named, OPTION)
    asked = [*cells(left), *cells(right)]
    read = None if known is None else items_of(known.table, columns.id, asked, columns.group)
    with about(path), files.unchanged():
        keys, matched = _keys(raw, read, path, asked)
        table, notes = _opened(path, kind, keys, names, words)
    if table.n_pairs == 0:
        items = None if known is None else known.table.path
        raise BadFile(
            f"none of the pairs in {path} is about two items of {items}: the first holds "
            f"{some(list(dict.fromkeys(asked)), 2)}, the second {some(list(keys), 2)}. Name the "
            "columns that hold the ids with --left, --right and --id"
        )
    roles = {role: name for role, name in names.items() if role != "weight"}
    used = Columns(**roles, id=None if read is None else read.id_column, group=columns.group)
    source = _source(path, table)
    where = f"{path.name}: {plural(source['rows'], 'row')}, too many to load: read where they lie"
    notes = [where, f"{path.name}: columns {used}", *matched, *notes]
    if "weight" in names:
        notes.append(BY_WEIGHT.format(path.name))
    return LargePairs(table, read, used, dict(table.mapping), notes, source)


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
    notes = []
    for reason, fate in fates.items():
        if table.dropped[reason]:
            notes.append(f"{path.name}: {plural(table.dropped[reason], 'answer')} {fate}")
    return table, notes


def _source(path: Path, table: PairTable) -> SourceFile:
    """Return path, size, digest and rows; the digest of several files is that of their digests."""
    assert isinstance(table.source, Files)
    digests = []
    for name in table.source.paths:
        with open(name, "rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    one = len(digests) == 1 and path.is_file()
    digest = digests[0] if one else hashlib.sha256("".join(digests).encode()).hexdigest()
    size = sum(part[1] for part in table.source.state)
    rows = table.n_pairs + sum(table.dropped.values())
    return {"path": str(path), "bytes": size, "sha256": digest, "rows": rows}
