"""Tables from files: CSV, TSV, Excel, JSON lines, Parquet (also a folder of parts), and arrays.

Delimited text is read as text, cell by cell as it stands, so that "007" is never 7; `cells.typed`
finds the numbers afterwards, in feature columns only. Every table can name the place of a row.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from noisypairs.app.files.arrays import ENDINGS as ARRAYS
from noisypairs.app.files.cells import as_text, looks_like_id, typed
from noisypairs.app.files.contents import (
    STANDARD_INPUT,
    BadFile,
    Content,
    SourceFile,
    decode,
    empty,
    load,
    some,
)
from noisypairs.app.files.delimited import unguarded
from noisypairs.app.files.file_table import FileTable, by_row
from noisypairs.app.files.json_values import parse_json
from noisypairs.app.files.vectors import array_table
from noisypairs.app.files.workbook import WORKBOOKS, workbook_table

UNNAMED = "column {}"
DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ","}
JSON_LINES = (".jsonl", ".ndjson", ".json")


def read_frame(path: PathLike[str] | str) -> pd.DataFrame:
    r"""Read a table by its extension: .csv, .tsv, .parquet (or a folder), .jsonl; .gz on top.

    Columns whose names look like ids, items or annotators stay text; the others become numbers
    where every cell is one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "t.csv").write_text("id,size\n007,1.5\n008,\n")
    ...     read_frame(Path(folder, "t.csv")).values.tolist()
    [['007', 1.5], ['008', nan]]
    """
    table = read_table(path)
    texts = [name for name in table.frame if looks_like_id(str(name))]
    frame, _ = typed(table.frame, texts, table.decimal_comma)
    for name in texts:
        frame[name] = as_text(table.frame[name])
    return frame


def read_table(path: PathLike[str] | str) -> FileTable:
    """Read a table as it stands in its file; an error names file, line and what to do."""
    path = Path(path)
    if path.is_dir():
        return _parquet_folder(path)
    content = load(path)
    kind = extension(path)
    if content.is_parquet or kind in (".parquet", ".pq"):
        return _parquet(content)
    if kind in JSON_LINES:
        return _json_lines(content)
    if kind in ARRAYS:
        return array_table(content)
    if kind in WORKBOOKS:
        frame, place, notes = workbook_table(content)
        return _typed_table(path, frame, content.source(len(frame)), place, notes)
    if kind not in DELIMITERS:
        raise BadFile(
            f"{path} has the extension {kind!r}, expected .csv, .tsv, .txt, .xlsx, .parquet or "
            ".jsonl (or one of these with .gz): rename or export it"
        )
    return _delimited(content, DELIMITERS[kind])


def extension(path: Path) -> str:
    """Return the extension in small letters, that of the packed file under .gz.

    Standard input has the one that fits what it holds: .json or .csv.

    >>> extension(Path("pairs.CSV.gz"))
    '.csv'
    """
    if path == STANDARD_INPUT:
        return ".json" if load(path).data.lstrip().startswith((b"[", b"{")) else ".csv"
    inner = path.with_suffix("") if path.suffix.lower() in (".gz", ".gzip") else path
    return inner.suffix.lower()


def named_uniquely(names: Sequence[str], path: Path) -> tuple[list[str], list[str]]:
    """Return column names without blanks around them, and notes; refuse a name that stands twice.

    >>> named_uniquely(["", " id"], Path("a.csv"))
    (['column 1', 'id'], ["a.csv: column 1 has no name and is called 'column 1'"])
    """
    notes = []
    clean = [str(name).strip() for name in names]
    for k, name in enumerate(clean):
        if not name:
            clean[k] = UNNAMED.format(k + 1)
            notes.append(f"{path.name}: column {k + 1} has no name and is called {clean[k]!r}")
    name, times = Counter(clean).most_common(1)[0]
    if times > 1:
        at = [str(k + 1) for k, other in enumerate(clean) if other == name]
        raise BadFile(
            f"{path}: the column name {name!r} stands {times} times in the header (columns "
            f"{', '.join(at[:6])}): rename all but one"
        )
    return clean, notes


def _delimited(content: Content, usual: str) -> FileTable:
    text, notes = decode(content)
    path = content.path
    delimiter = _delimiter(text, usual)
    if delimiter != usual:
        notes += (f"{path.name}: columns are separated by {delimiter!r}",)
    rows = list(_records(text, delimiter, path))
    if "'" in text:
        rows = [[unguarded(cell) for cell in row] for row in rows]
    if not rows:
        raise empty(path)
    header, more = named_uniquely(rows[0], path)
    width = len(header)
    ragged = next((k for k, row in enumerate(rows) if len(row) != width), None)
    place = _line_finder(text, delimiter)
    if ragged is not None:
        raise BadFile(
            f"{path}, {place(ragged - 1)} has {len(rows[ragged])} cells, but the header names "
            f"{width} columns ({some(header)}): put quotes around cells that hold {delimiter!r}, "
            "or fill in what is missing"
        )
    columns = zip(*rows[1:], strict=True) if len(rows) > 1 else [()] * width
    frame = pd.DataFrame(
        {name: pd.Series(cells, dtype=object) for name, cells in zip(header, columns, strict=True)}
    )
    return FileTable(
        path,
        frame,
        content.source(len(frame)),
        place,
        delimited=True,
        decimal_comma=delimiter == ";",
        notes=(*content.notes, *notes, *more),
    )


def _delimiter(text: str, usual: str) -> str:
    """Return what separates the columns: what the header holds, the usual one first."""
    header = text.lstrip().split("\n", 1)[0]
    return next((mark for mark in (usual, ",", ";", "\t", "|") if mark in header), usual)


def _records(text: str, delimiter: str, path: Path) -> Iterator[list[str]]:
    """Yield the rows of delimited text; lines of empty cells, as spreadsheets leave, are none."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        with _any_length():
            yield from filter(_has_cells, reader)
    except csv.Error as error:
        raise BadFile(
            f"{path}, line {reader.line_num}: {error}. A quote is open or out of place: write "
            'cells with quotes in them as "like ""this"" one"'
        ) from error


def _has_cells(row: list[str]) -> bool:
    return bool("".join(row).strip())


@contextmanager
def _any_length() -> Iterator[None]:
    """Let cells be longer than the 131,072 characters the csv module stops at."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _line_finder(text: str, delimiter: str) -> Callable[[int], str]:
    """Return a function from a row, counted from 0 below the header, to the line it begins on."""

    def place(row: int) -> str:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        begins, found = 1, -2
        with _any_length():
            for cells in reader:
                found += _has_cells(cells)
                if found == row:
                    return f"line {begins}"
                begins = reader.line_num + 1
        return f"row {row + 1}"

    return place


def _parquet(content: Content) -> FileTable:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        frame = parquet.read_table(io.BytesIO(content.data)).to_pandas()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise BadFile(
            f"{content.path} cannot be read as Parquet, it is damaged or cut short "
            f"({_first_line(error)}): write or copy it again"
        ) from error
    return _typed_table(content.path, frame, content.source(len(frame)), by_row, content.notes)


def _parquet_folder(folder: Path) -> FileTable:
    """Read a folder of Parquet parts, in the order of their names, as one table."""
    parts = sorted(p for p in folder.rglob("*") if p.suffix.lower() in (".parquet", ".pq"))
    if not parts:
        raise BadFile(
            f"{folder} is a folder without Parquet files: name the file in it, or a folder of "
            ".parquet parts"
        )
    tables = [_parquet(load(part)) for part in parts]
    header = list(tables[0].frame)
    for table in tables[1:]:
        if list(table.frame) != header:
            raise BadFile(
                f"{table.path} has the columns {list(table.frame)}, but {parts[0]} has {header}: "
                "all parts of one table need the same columns in the same order"
            )
    digest = hashlib.sha256("".join(t.source["sha256"] for t in tables).encode()).hexdigest()
    frame = pd.concat([table.frame for table in tables], ignore_index=True)
    size = sum(table.source["bytes"] for table in tables)
    source: SourceFile = {"path": str(folder), "bytes": size, "sha256": digest, "rows": len(frame)}
    notes = (f"{folder.name}: {len(parts)} Parquet files read as one table",)
    return _typed_table(folder, frame, source, by_row, notes)


def _json_lines(content: Content) -> FileTable:
    """Read one JSON object per line, or one array of objects."""
    return records_table(content, *json_records(content), decode(content)[1])


@lru_cache(maxsize=2)
def json_records(content: Content) -> tuple[list[Any], list[int] | None]:
    """Return the values of JSON lines and the lines they stand on, or those of one array."""
    text, _ = decode(content)
    if text.lstrip().startswith("["):
        return parse_json(text, content.path), None
    numbered = [(k, line) for k, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [parse_json(line, content.path, k) for k, line in numbered], [k for k, _ in numbered]


def records_table(
    content: Content, records: Any, lines: Sequence[int] | None, notes: Sequence[str] = ()
) -> FileTable:
    """Return a list of flat JSON objects as a table; nested values become JSON text."""
    path = content.path
    place = by_row if lines is None else (lambda row: f"line {lines[row]}")
    for k, record in enumerate(records if isinstance(records, list) else [records]):
        if not isinstance(record, dict):
            raise BadFile(
                f"{path}, {place(k)} holds {json.dumps(record)[:60]}, expected an object like "
                '{"left": "a", "right": "b", "same": true}'
            )
    flat = [
        {k: json.dumps(v) if isinstance(v, dict | list) else v for k, v in record.items()}
        for record in records
    ]
    names = list(dict.fromkeys(name for record in flat for name in record))
    # Column by column as objects: pandas would turn whole numbers with a gap into decimals.
    frame = pd.DataFrame(
        {name: pd.Series([row.get(name) for row in flat], dtype=object) for name in names}
    )
    source = content.source(len(frame))
    return _typed_table(path, frame, source, place, (*content.notes, *notes))


def _typed_table(
    path: Path,
    frame: pd.DataFrame,
    source: SourceFile,
    place: Callable[[int], str],
    notes: Sequence[str],
) -> FileTable:
    if frame.shape[1] == 0:
        raise BadFile(f"{path} holds no columns: expected a table")
    header, more = named_uniquely([str(name) for name in frame.columns], path)
    frame = frame.reset_index(drop=True)
    frame.columns = pd.Index(header)
    return FileTable(path, frame, source, place, notes=(*notes, *more))


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
