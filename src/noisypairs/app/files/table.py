"""A table as it stands in a file: its cells, where it came from, and the place of every row."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.app.files.cells import MISSING, as_text, looks_like_id, typed
from noisypairs.app.files.contents import (
    ARRAYS,
    STANDARD_INPUT,
    BadFile,
    Content,
    SourceFile,
    decode,
    empty,
    load,
    load_arrays,
    parse_json,
    refuse_trap,
    some,
    unreadable,
)
from noisypairs.app.files.media import media_in
from noisypairs.app.files.writing import unguarded
from noisypairs.errors import MissingExtra

MOST_CHARACTERS = 100_000
"""Length of a name of an item or annotator, at most; some tools name a text by itself."""


@dataclass(frozen=True, eq=False)
class FileTable:
    """A table as it stands in a file, with where it came from.

    `frame` holds text (missing cells are "") if `delimited`, else values as the file types them.
    `place` gives the place of a row, counted from 0, in the file ("line 7"), when asked.
    """

    path: Path
    frame: pd.DataFrame
    source: SourceFile
    place: Callable[[int], str]
    delimited: bool = False
    decimal_comma: bool = False
    notes: tuple[str, ...] = ()

    def where(self, row: int) -> str:
        """Return the file and the place of a row, counted from 0, for a message."""
        return f"{self.path}, {self.place(row)}"

    def refuse_long_names(self, column: str, names: Sequence[str]) -> None:
        """Refuse a column of names in which a cell is longer than any name."""
        row = next((k for k, name in enumerate(names) if len(name) > MOST_CHARACTERS), None)
        if row is not None:
            raise BadFile(
                f"{self.where(row)}: the cell in column {column!r} has {len(names[row]):,} "
                f"characters, a name at most {MOST_CHARACTERS:,}: a quote may be missing above, or "
                "another column may hold the names"
            )


def by_row(row: int) -> str:
    """Return the place of a row in a file without lines."""
    return f"row {row + 1}"


WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def workbook_table(content: Content) -> tuple[pd.DataFrame, Callable[[int], str], tuple[str, ...]]:
    """Return the table of a workbook, the place of each row in it, and notes."""
    sheets = _sheets(content)
    full = {name: rows for name, rows in sheets.items() if len(_filled(rows)) > 1}
    if not full:
        raise BadFile(
            f"{content.path} holds no sheet with a table: expected names in the first row and rows "
            f"below it, found the sheets {some(list(sheets))}"
        )
    name, rows = next(iter(full.items()))
    kept = _filled(rows)
    width = max(k for row in kept for k, cell in enumerate(rows[row]) if _holds(cell)) + 1
    columns = [k for k in range(width) if any(_holds(_at(rows[row], k)) for row in kept)]
    cells = {k: [_at(rows[row], k) for row in kept] for k in columns}
    frame = pd.DataFrame({k: pd.Series(cells[k][1:], dtype=object) for k in columns})
    frame.columns = pd.Index(["" if (n := cells[k][0]) is None else str(n) for k in columns])
    notes = content.notes
    if len(full) > 1:
        others = [other for other in full if other != name]
        notes += (f"{content.path.name}: sheet {name!r} is read, {some(others)} are not",)
    return frame, lambda row: f"sheet {name!r}, row {kept[row + 1] + 1}", notes


def _sheets(content: Content) -> dict[str, list[list[Any]]]:
    try:
        from python_calamine import CalamineWorkbook
    except ModuleNotFoundError:
        raise MissingExtra("python-calamine", "app", "Reading workbooks") from None
    try:
        if content.is_archive:
            with zipfile.ZipFile(io.BytesIO(content.data)) as archive:
                unpacked = sum(one.file_size for one in archive.infolist())
            refuse_trap(content.path, content.size, unpacked)
        book = CalamineWorkbook.from_filelike(io.BytesIO(content.data))
        return {
            name: book.get_sheet_by_name(name).to_python(skip_empty_area=False)
            for name in book.sheet_names
        }
    except BadFile:
        raise
    except Exception as error:  # a workbook may be damaged in any way
        raise BadFile(
            f"{content.path} cannot be read as a workbook, it is damaged or protected "
            f"({error}): save it again, or export the sheet as CSV"
        ) from error


def _holds(cell: Any) -> bool:
    return cell is not None and str(cell).strip() != ""


def _at(row: list[Any], k: int) -> Any:
    """Return a cell as other files have it: None where it is empty."""
    cell = row[k] if k < len(row) else None
    return cell if _holds(cell) else None


def _filled(rows: list[list[Any]]) -> list[int]:
    return [k for k, row in enumerate(rows) if any(map(_holds, row))]


IDS = ("ids", "id", "names", "keys", "item_ids", "index")
SAVE = "save plain arrays with numpy.savez(path, ids=ids, X=X)"
_GAPS = re.compile(r"[\s,;]+")
#: What Python writes around numbers and arrays.
_TYPED = re.compile(r"\b(?:np|numpy)\.float\d+\(([^()]*)\)")
_CALLED = re.compile(r"(?:(?:np|numpy|torch)\.)?(?:array|tensor)\((\[.*\])(?:,.*)?\)", re.DOTALL)


def expanded(table: FileTable) -> tuple[FileTable, list[str]]:
    """Return a table with its columns of vectors as columns of numbers, and notes on them.

    Column v of vectors of three becomes v[0], v[1] and v[2]. Vectors of different lengths are
    refused; missing ones are missing in every entry.
    """
    parts, notes = [], []
    for name in table.frame.columns:
        found = _vectors(table, str(name))
        if found is None:
            parts.append(table.frame[[name]])
            continue
        _check_width(found.shape[1], table.path)
        names = [f"{name}[{k}]" for k in range(found.shape[1])]
        parts.append(pd.DataFrame(found, columns=names))
        notes.append(
            f"{table.path.name}: column {name!r} holds vectors of {found.shape[1]} numbers, read "
            "as that many numeric features"
        )
    if not notes:
        return table, []
    frame = pd.concat([part.reset_index(drop=True) for part in parts], axis=1)
    return replace(table, frame=frame), notes


def _vectors(table: FileTable, name: str) -> NDArray[np.float64] | None:
    """Return a column of vectors as an array (n, d), None where it holds anything else."""
    cells = table.frame[name].tolist()
    at = next((k for k, cell in enumerate(cells) if not _is_missing(cell)), None)
    if at is None:
        return None
    if _vector(cells[at]) is None:
        _refuse_cut_short(table, name, at)
        return None
    rows = [None if _is_missing(cell) else _vector(cell) for cell in cells]
    if any(row is None and not _is_missing(cell) for row, cell in zip(rows, cells, strict=True)):
        return None
    size = len(next(row for row in rows if row is not None))
    for k, row in enumerate(rows):
        if row is not None and len(row) != size:
            raise BadFile(
                f"{table.where(k)}: the vector in column {name!r} has {len(row)} numbers, those "
                f"above have {size}: all must have the same length"
            )
    gap = np.full(size, np.nan)
    found = np.stack([gap if row is None else row for row in rows])
    return np.where(np.isfinite(found), found, np.nan)


def _refuse_cut_short(table: FileTable, name: str, row: int) -> None:
    """Refuse vectors that were printed, not written: long ones then lack their middle."""
    cell = table.frame[name].iloc[row]
    if isinstance(cell, str) and "..." in cell and _vector(cell.replace("...", " ")) is not None:
        raise BadFile(
            f"{table.where(row)}: the vector in column {name!r} was cut short when it was written "
            "('...'): write all its numbers, for example as JSON or Parquet"
        )


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return cell is None or (isinstance(cell, float) and cell != cell)


def _vector(cell: Any) -> NDArray[np.float64] | None:
    """Return numbers in a row, None for anything else; text needs brackets around them.

    >>> _vector("[0.5, 2]"), _vector("array([1. 2.5])"), _vector("[a]"), _vector("3")
    (array([0.5, 2. ]), array([1. , 2.5]), None, None)
    """
    if isinstance(cell, str):
        text = _TYPED.sub(r"\1", cell.strip())
        text = found[1] if (found := _CALLED.fullmatch(text)) else text
        if not (text.startswith("[") and text.endswith("]")):
            return None
        inner = text[1:-1].strip()
        cell = [entry for entry in _GAPS.split(inner) if entry]
        cell = [np.nan if entry in ("null", "None") else entry for entry in cell]
    elif not isinstance(cell, list | tuple | np.ndarray):
        return None
    try:
        numbers = np.asarray(cell, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 and numbers.size else None


def array_table(content: Content) -> FileTable:
    """Return the rows of an array as a table of items: of a .npy, or of a .npz with ids."""
    arrays = load_arrays(content, SAVE)
    name, matrix = _matrix(content, arrays)
    _check_width(matrix.shape[1], content.path)
    columns: dict[str, Any] = {}
    named = next((key for key in IDS if key in arrays), None)
    ids = _ids_beside(content.path) if named is None else arrays[named].tolist()
    if ids is not None:
        if not isinstance(ids, list) or len(ids) != len(matrix):
            raise BadFile(
                f"{content.path} has {len(matrix)} rows, but there are ids for "
                f"{len(ids) if isinstance(ids, list) else 1}: {SAVE}"
            )
        columns["id"] = pd.Series(ids, dtype=object)
    numbers = np.where(np.isfinite(matrix), matrix, np.nan)
    frame = pd.DataFrame(numbers, columns=[f"{name}[{k}]" for k in range(matrix.shape[1])])
    note = f"{content.path.name}: {matrix.shape[1]} numbers a row, read as numeric features"
    frame = pd.concat([pd.DataFrame(columns), frame], axis=1)
    return FileTable(content.path, frame, content.source(len(frame)), by_row, notes=(note,))


def _matrix(content: Content, arrays: dict[str, NDArray[Any]]) -> tuple[str, NDArray[np.float64]]:
    """Return the one array of two dimensions and its name."""
    found = [key for key, one in arrays.items() if one.ndim == 2 and one.dtype.kind in "biuf"]
    found = [key for key in found if key in ("", "X", "x", "features", "embeddings")] or found
    if len(found) != 1 or not arrays[found[0]].size:
        shapes = [f"{key or 'the array'} {one.shape} of {one.dtype}" for key, one in arrays.items()]
        raise BadFile(
            f"{content.path} holds {some(shapes, 6)}, expected one array of numbers with a row "
            f"for each item: {SAVE}"
        )
    return found[0] or "x", arrays[found[0]].astype(np.float64)


def _ids_beside(path: Path) -> list[Any] | None:
    """Return the ids in a file beside an array: x_ids.npy, x_ids.txt, ids.npy or ids.txt."""
    for name in (f"{path.stem}_ids", "ids"):
        for place in (path.with_name(f"{name}.npy"), path.with_name(f"{name}.txt")):
            if place == path or not place.is_file():
                continue
            content = load(place)
            if place.suffix == ".txt":
                return [line.strip() for line in decode(content)[0].splitlines() if line.strip()]
            found: list[Any] = np.ravel(load_arrays(content, SAVE).get("", np.array([]))).tolist()
            return found
    return None


def with_array_beside(table: FileTable) -> FileTable:
    """Return a table with the rows of an array of the same name beside it: items.csv, items.npy."""
    for ending in ARRAYS:
        place = table.path.with_suffix(ending)
        if place == table.path or table.path.suffix.lower() in ARRAYS or not place.is_file():
            continue
        try:
            name, matrix = _matrix(content := load(place), load_arrays(content, SAVE))
        except BadFile:  # whatever it is, it is not about the items
            continue
        if len(matrix) != len(table.frame):
            note = f"{place.name} beside it has {len(matrix):,} rows, not {len(table.frame):,}"
            return replace(table, notes=(*table.notes, f"{note}, and is not used"))
        _check_width(matrix.shape[1], place)
        names = [f"{name}[{k}]" for k in range(matrix.shape[1])]
        features = pd.DataFrame(np.where(np.isfinite(matrix), matrix, np.nan), columns=names)
        note = f"{place.name} beside it: {len(names)} numbers a row, read as numeric features"
        frame = pd.concat([table.frame.reset_index(drop=True), features], axis=1)
        return replace(table, frame=frame, notes=(*table.notes, note))
    return table


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
        return folder_table(path) or _parquet_folder(path)
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


#: More are refused: learning from them would take longer than two minutes.
MOST_COLUMNS = 5_000


def _check_width(n_columns: int, path: Path) -> None:
    """Refuse a table of more columns than `MOST_COLUMNS`."""
    if n_columns > MOST_COLUMNS:
        raise BadFile(
            f"{path} has {n_columns:,} columns, and at most {MOST_COLUMNS:,} are read: leave out "
            "those that say little, or reduce them first, as by principal components"
        )


def named_uniquely(names: Sequence[str], path: Path) -> tuple[list[str], list[str]]:
    """Return column names without blanks around them, and notes; refuse a name that stands twice.

    >>> named_uniquely(["", " id"], Path("a.csv"))
    (['column 1', 'id'], ["a.csv: column 1 has no name and is called 'column 1'"])
    """
    _check_width(len(names), path)
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

    @cache
    def lines() -> list[int]:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        begins, found = 1, list[int]()
        with _any_length():
            for cells in reader:
                if _has_cells(cells):
                    found.append(begins)
                begins = reader.line_num + 1
        return found

    return lambda row: f"line {lines()[row + 1]}"


def _parquet(content: Content) -> FileTable:
    from pyarrow import parquet

    with whole_parquet(content.path):
        frame = parquet.read_table(io.BytesIO(content.data)).to_pandas()
    return _typed_table(content.path, frame, content.source(len(frame)), by_row, content.notes)


@contextmanager
def whole_parquet(path: Path) -> Iterator[None]:
    """Refuse a Parquet file that the block cannot read."""
    import pyarrow as pa

    try:
        yield
    except PermissionError as error:
        raise unreadable(path, error) from error
    except (pa.ArrowException, OSError, ValueError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise BadFile(
            f"{path} cannot be read as Parquet, it is damaged or cut short ({first}): write or "
            "copy it again"
        ) from error


def parquet_parts(path: Path) -> list[Path]:
    """Return a Parquet file, or those below a folder but the hidden ones, in their order."""
    found = path.rglob("*") if path.is_dir() else [path]
    parts = (part for part in found if part.suffix.lower() in (".parquet", ".pq"))
    return sorted(part for part in parts if not part.is_dir() and part.name[0] not in "_.")


def folder_table(folder: Path) -> FileTable | None:
    """Return a folder of pictures or sounds as a table of items, None where it has none.

    The ids are the names without their endings, relative to the folder.
    """
    names = [path.relative_to(folder) for path in media_in(folder)]
    if not names:
        return None
    ids = [name.with_suffix("").as_posix() for name in names]
    if len(set(ids)) < len(ids):
        ids = [name.as_posix() for name in names]
    if len(names) < 2:
        raise BadFile(f"{folder} holds one picture or sound, {names[0]}: expected one per item")
    frame = pd.DataFrame({"id": ids, "file": [name.as_posix() for name in names]}, dtype=object)
    sizes = [(folder / name).stat().st_size for name in names]
    listing = "".join(f"{name}\0{size}\n" for name, size in zip(frame["file"], sizes, strict=True))
    source: SourceFile = {
        "path": str(folder),
        "bytes": sum(sizes),
        "sha256": hashlib.sha256(listing.encode("utf-8", "surrogatepass")).hexdigest(),
        "rows": len(names),
    }
    note = f"{folder.name}: a folder of {len(names):,} pictures or sounds, one item each"
    return FileTable(folder, frame, source, lambda row: f"file {names[row]}", notes=(note,))


def _parquet_folder(folder: Path) -> FileTable:
    """Read a folder of Parquet parts, in the order of their names, as one table."""
    parts = parquet_parts(folder)
    if not parts:
        raise BadFile(
            f"{folder} is a folder without pictures, sounds or Parquet files: name the file in it, "
            "or a folder of these"
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
