"""A table as it stands in a file: its cells, where it came from, and the place of every row.

Delimited text of any size is read by DuckDB, every column as text. The csv module only says on
which line of it a row stands, and what is wrong there.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from os import PathLike, getpid
from pathlib import Path
from tempfile import TemporaryDirectory
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
    some,
)
from noisypairs.app.files.media import media_in
from noisypairs.app.files.writing import unguarded
from noisypairs.errors import MissingExtra
from noisypairs.tables.engine import UnreadableTable, errors_naming, optional
from noisypairs.tables.source import delimiter_of

MOST_CHARACTERS = 100_000
"""Length of a name of an item or annotator, at most; some tools name a text by itself."""

Place = Callable[[int], str]


@dataclass(frozen=True, eq=False)
class FileTable:
    """A table as it stands in a file, with where it came from.

    `frame` holds text (missing cells are "") if `delimited`, else values as the file types them.
    `place` gives the place of a row, counted from 0, in the file ("line 7"), when asked.
    """

    path: Path
    frame: pd.DataFrame
    source: SourceFile
    place: Place
    delimited: bool = False
    decimal_comma: bool = False
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [str(name) for name in self.frame.columns]

    def text(self, name: str) -> NDArray[Any]:
        """Return a column as text, shape (n,), missing cells as ""."""
        cells: NDArray[Any] = as_text(self.frame[name]).to_numpy()
        return cells

    def beginning(self, name: str, rows: int = 200) -> list[str]:
        """Return the first cells of a column as text."""
        cells: list[str] = as_text(self.frame[name].iloc[:rows]).tolist()
        return cells

    def where(self, row: int) -> str:
        """Return the file and the place of a row, counted from 0, for a message."""
        return f"{self.path}, {self.place(row)}"

    def refuse_long_names(self, column: str, names: NDArray[Any]) -> None:
        """Refuse a column of names in which a cell is longer than any name."""
        longest = max(pd.unique(names), key=len, default="")
        if len(longest) > MOST_CHARACTERS:
            raise BadFile(
                f"{self.where(int(np.argmax(names == longest)))}: the cell in column {column!r} "
                f"has {len(longest):,} characters, a name at most {MOST_CHARACTERS:,}: is a quote "
                "missing above?"
            )


def by_row(row: int) -> str:
    """Return the place of a row in a file without lines."""
    return f"row {row + 1}"


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
    texts = [name for name in table.names if looks_like_id(name)]
    return typed(table.frame, texts, table.decimal_comma)[0].assign(
        **{name: as_text(table.frame[name]) for name in texts}
    )


DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": ","}
JSON_LINES = (".jsonl", ".ndjson", ".json")
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


def read_table(path: PathLike[str] | str, content: Content | None = None) -> FileTable:
    """Read a table as it stands in its file; an error names file, line and what to do."""
    path = Path(path)
    if path.is_dir():
        return folder_table(path) or _parquet_folder(path)
    content, kind = content or load(path), extension(path)
    if content.is_parquet or kind in (".parquet", ".pq"):
        return _parquet(content)
    if kind in JSON_LINES:
        return records_table(content, *json_records(content), decode(content)[1])
    if kind in ARRAYS:
        return _array_table(content)
    if kind in WORKBOOKS:
        return _workbook_table(content)
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
UNNAMED = "column {}"


def _refuse_width(n_columns: int, path: Path) -> None:
    if n_columns > MOST_COLUMNS:
        raise BadFile(
            f"{path} has {n_columns:,} columns, and at most {MOST_COLUMNS:,} are read: leave out "
            "those that say little, or reduce them first, as by principal components"
        )


def _table(
    path: Path,
    frame: pd.DataFrame,
    source: SourceFile,
    place: Place = by_row,
    notes: Sequence[str] = (),
    **more: bool,
) -> FileTable:
    """Return a table with the blanks around its columns' names removed; refuse bad names."""
    if frame.shape[1] == 0:
        raise BadFile(f"{path} holds no columns: expected a table")
    _refuse_width(frame.shape[1], path)
    given = [str(name).strip() for name in frame.columns]
    clean = [name or UNNAMED.format(k) for k, name in enumerate(given, 1)]
    name, times = Counter(clean).most_common(1)[0]
    if times > 1:
        at = [str(k) for k, other in enumerate(clean, 1) if other == name]
        raise BadFile(
            f"{path}: the column name {name!r} stands {times} times in the header (columns "
            f"{', '.join(at[:6])}): rename all but one"
        )
    unnamed = [name for name, was in zip(clean, given, strict=True) if not was]
    said = (f"{path.name}: {name} has no name and is called {name!r}" for name in unnamed)
    frame = frame.reset_index(drop=True).set_axis(clean, axis=1)
    return FileTable(path, frame, source, place, notes=(*notes, *said), **more)


def _delimited(content: Content, usual: str) -> FileTable:
    path, (text, notes) = content.path, decode(content)
    head = text.lstrip().split("\n", 1)[0]
    delimiter = delimiter_of(head, usual)
    if delimiter != usual:
        notes += (f"{path.name}: columns are separated by {delimiter!r}",)

    @cache
    def lines() -> list[int]:
        return [line for line, _ in _rows(text, delimiter, path)]

    first, header = next(_rows(text, delimiter, path), (0, None))
    if header is None:
        raise empty(path)
    _refuse_width(len(header), path)  # the engine takes minutes to do so
    frame = _cells(text, delimiter, first - 1, header, path)
    if "'" in text:
        frame = frame.map(unguarded).rename(columns=unguarded)
    return _table(
        path,
        frame,
        content.source(len(frame)),
        lambda row: f"line {lines()[row + 1]}",
        (*content.notes, *notes),
        delimited=True,
        decimal_comma=delimiter == ";",
    )


def _cells(
    text: str, delimiter: str, above: int, header: Sequence[str], path: Path
) -> pd.DataFrame:
    """Return the rows below the header; lines of empty cells, as spreadsheets leave, are none."""
    with TemporaryDirectory(prefix="noisypairs-") as folder, _engine(getpid()).cursor() as engine:
        plain = Path(folder, "table.csv")  # unpacked, in UTF-8, with one kind of line end
        alike = _LINE_ENDS.sub(lambda m: m[1] or "\n", text) if "\r" in text else text
        alike = alike.replace("\r", _RETURN)
        plain.write_bytes(alike.encode())
        try:
            with errors_naming(str(path)):
                rows = engine.read_csv(
                    str(plain),
                    auto_detect=False,  # which would rather give up quotes than refuse an open one
                    header=True,
                    skiprows=above,
                    delimiter=delimiter,
                    quotechar='"',
                    escapechar='"',
                    strict_mode=True,
                    columns={f"c{k}": "VARCHAR" for k in range(len(header))},
                    max_line_size=plain.stat().st_size + 1,
                )
                filled = rows.filter(f"regexp_matches(concat(*COLUMNS(*)), '{_FILLED.pattern}')")
                frame = filled.select("COALESCE(COLUMNS(*), '')").to_arrow_table().to_pandas()
        except UnreadableTable as error:
            for line, cells in _rows(text, delimiter, path):
                if len(cells) != len(header):
                    raise BadFile(
                        f"{path}, line {line} has {len(cells)} cells, but the header names "
                        f"{len(header)} columns ({some(header)}): put quotes around cells that "
                        f"hold {delimiter!r}, or fill in what is missing"
                    ) from error
            raise BadFile(str(error)) from error
    if _RETURN in alike:
        frame = frame.map(lambda cell: cell.replace(_RETURN, "\r"))
    return frame.set_axis(list(header), axis=1)


@lru_cache(maxsize=1)
def _engine(process: int) -> Any:  # noqa: ARG001 -- a fork needs an engine of its own
    return optional("duckdb", "app", "Reading tables").connect()


#: What a row holds that is one: the same to Python and to DuckDB.
_FILLED = re.compile(r"[^\t\n\f\r ]")
#: A carriage return within a cell, at which DuckDB would end the row.
_RETURN = "\ue00d"
#: A cell in quotes, which is left as it is, or the end of a line in Windows, or of old Macs.
_LINE_ENDS = re.compile(r'((?:^|(?<=[,;\t|\n\r]))"[^"]*(?:""[^"]*)*")|\r\n?')


def _rows(text: str, delimiter: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line that each row with cells begins on, and its cells; the header comes first."""
    csv.field_size_limit(2**31 - 1)  # a cell may be a long text
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if _FILLED.search("".join(cells)):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise BadFile(
            f"{path}, line {line}: {error}. A quote is open or out of place: write cells with "
            'quotes in them as "like ""this"" one"'
        ) from error


def _parquet(content: Content) -> FileTable:
    from pyarrow import parquet

    with content.opened(*PARQUET) as data:
        found = parquet.ParquetFile(data)
        _refuse_width(len(found.schema_arrow.names), content.path)
        frame = found.read().to_pandas()
    return _table(content.path, frame, content.source(len(frame)), notes=content.notes)


PARQUET = "Parquet", "it is damaged or cut short: write or copy it again"


def parquet_parts(path: Path) -> list[Path]:
    """Return a Parquet file, or those below a folder but the hidden ones, in their order."""
    found = path.rglob("*") if path.is_dir() else [path]
    parts = (part for part in found if part.suffix.lower() in (".parquet", ".pq"))
    return sorted(part for part in parts if not part.is_dir() and part.name[0] not in "_.")


def _parquet_folder(folder: Path) -> FileTable:
    """Read a folder of Parquet parts, in the order of their names, as one table."""
    parts = parquet_parts(folder)
    if not parts:
        raise BadFile(
            f"{folder} is a folder without pictures, sounds or Parquet files: name the file in it, "
            "or a folder of these"
        )
    tables = [_parquet(load(part)) for part in parts]
    for table in tables:
        if table.names != tables[0].names:
            raise BadFile(
                f"{table.path} has the columns {table.names}, but {parts[0]} has "
                f"{tables[0].names}: all parts of one table need the same, in the same order"
            )
    frame = pd.concat([table.frame for table in tables], ignore_index=True)
    digests = "".join(table.source["sha256"] for table in tables)
    source = _folder(folder, (table.source["bytes"] for table in tables), digests, len(frame))
    notes = (f"{folder.name}: {len(parts)} Parquet files read as one table",)
    return FileTable(folder, frame, source, by_row, notes=notes)


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
    source = _folder(folder, sizes, listing, len(names))
    note = f"{folder.name}: a folder of {len(names):,} pictures or sounds, one item each"
    return FileTable(folder, frame, source, lambda row: f"file {names[row]}", notes=(note,))


def _folder(folder: Path, sizes: Iterable[int], listing: str, rows: int) -> SourceFile:
    digest = hashlib.sha256(listing.encode("utf-8", "surrogatepass")).hexdigest()
    return {"path": str(folder), "bytes": sum(sizes), "sha256": digest, "rows": rows}


@lru_cache(maxsize=2)
def json_records(content: Content) -> tuple[list[Any], list[int] | None]:
    """Return the values of JSON lines and the lines they stand on, or those of one document."""
    text, _ = decode(content)
    whole = extension(content.path) == ".json" and not _begins_with_object(text)
    if whole or text.lstrip().startswith("["):
        found = parse_json(text, content.path)
        return found if isinstance(found, list) else [found], None
    numbered = [(k, line) for k, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [parse_json(line, content.path, k) for k, line in numbered], [k for k, _ in numbered]


def _begins_with_object(text: str) -> bool:
    """Whether the first line is a whole object: JSON lines under another name."""
    first, _, rest = text.strip().partition("\n")
    try:
        return bool(rest) and isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def records_table(
    content: Content, records: list[Any], lines: Sequence[int] | None, notes: Sequence[str] = ()
) -> FileTable:
    """Return a list of flat JSON objects as a table; nested values become JSON text."""
    place = by_row if lines is None else (lambda row: f"line {lines[row]}")
    for k, record in enumerate(records):
        if not isinstance(record, dict):
            raise BadFile(
                f"{content.path}, {place(k)} holds {json.dumps(record)[:60]}, expected an object "
                'like {"left": "a", "right": "b", "same": true}'
            )
    names = dict.fromkeys(name for record in records for name in record)
    # Column by column as objects: pandas would turn whole numbers with a gap into decimals.
    columns = {name: [flat(record.get(name)) for record in records] for name in names}
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    source = content.source(len(records))
    return _table(content.path, frame, source, place, (*content.notes, *notes))


def flat(value: Any) -> Any:
    """Return lists and objects as JSON text, anything else as it is."""
    return json.dumps(value, default=str) if isinstance(value, dict | list) else value


def _workbook_table(content: Content) -> FileTable:
    """Read the first sheet that holds a table: names in its first row, and rows below."""
    try:
        from python_calamine import CalamineWorkbook
    except ModuleNotFoundError:
        raise MissingExtra("python-calamine", "app", "Reading workbooks") from None
    fix = "it is damaged or protected: save it again, or export the sheet as CSV"
    with content.opened("a workbook", fix) as data:
        book = CalamineWorkbook.from_filelike(data)
        sheets = {
            name: pd.DataFrame(
                book.get_sheet_by_name(name).to_python(skip_empty_area=False), dtype=object
            )
            for name in book.sheet_names
        }
    cells = {
        name: one.mask(one.map(lambda cell: not str(cell).strip())) for name, one in sheets.items()
    }
    filled = {name: one.dropna(how="all").dropna(how="all", axis=1) for name, one in cells.items()}
    full = [name for name, one in filled.items() if len(one) > 1]
    if not full:
        raise BadFile(
            f"{content.path} holds no sheet with a table: expected names in the first row and rows "
            f"below it, found the sheets {some(list(sheets))}"
        )
    name, rows = full[0], filled[full[0]].astype(object)
    rows = rows.where(rows.notna(), None)
    frame = rows[1:].set_axis(["" if n is None else str(n) for n in rows.iloc[0]], axis=1)
    notes = content.notes
    if len(full) > 1:
        notes += (f"{content.path.name}: sheet {name!r} is read, {some(full[1:])} are not",)
    place = lambda row: f"sheet {name!r}, row {rows.index[row + 1] + 1}"  # noqa: E731
    return _table(content.path, frame, content.source(len(frame)), place, notes)


IDS = ("ids", "id", "names", "keys", "item_ids", "index")
SAVE = "save plain arrays with numpy.savez(path, ids=ids, X=X)"


def _array_table(content: Content) -> FileTable:
    """Return the rows of an array as a table of items: of a .npy, or of a .npz with ids."""
    arrays = load_arrays(content, SAVE)
    features = _columns(*_matrix(content, arrays), content.path)
    named = next((arrays[key] for key in IDS if key in arrays), None)
    ids = _ids_beside(content.path) if named is None else named.tolist()
    if ids is not None:
        if np.shape(ids) != (len(features),):
            n_ids = np.size(ids)
            raise BadFile(
                f"{content.path} has {len(features)} rows, but there are ids for {n_ids}: {SAVE}"
            )
        features.insert(0, "id", pd.Series(ids, dtype=object))
    note = f"{content.path.name}: {_width(features)}"
    return _table(content.path, features, content.source(len(features)), notes=(note,))


def _width(features: pd.DataFrame) -> str:
    return f"{features.shape[1] - ('id' in features)} numbers a row, read as numeric features"


def _matrix(content: Content, arrays: dict[str, NDArray[Any]]) -> tuple[str, NDArray[Any]]:
    """Return the one array of two dimensions and its name."""
    found = [key for key, one in arrays.items() if one.ndim == 2 and one.dtype.kind in "biuf"]
    found = [key for key in found if key in ("", "X", "x", "features", "embeddings")] or found
    if len(found) != 1 or not arrays[found[0]].size:
        shapes = [f"{key or 'the array'} {one.shape} of {one.dtype}" for key, one in arrays.items()]
        raise BadFile(
            f"{content.path} holds {some(shapes, 6)}, expected one array of numbers with a row "
            f"for each item: {SAVE}"
        )
    return found[0] or "x", arrays[found[0]]


def _columns(name: str, matrix: NDArray[Any], path: Path) -> pd.DataFrame:
    """Return an array as columns x[0], x[1] and so on; infinite numbers are missing."""
    _refuse_width(matrix.shape[1], path)
    numbers = matrix.astype(np.float64)
    numbers = np.where(np.isfinite(numbers), numbers, np.nan)
    return pd.DataFrame(numbers, columns=[f"{name}[{k}]" for k in range(numbers.shape[1])])


def _ids_beside(path: Path) -> list[Any] | None:
    """Return the ids in a file beside an array: x_ids.npy, x_ids.txt, ids.npy or ids.txt."""
    names = (f"{name}{end}" for name in (f"{path.stem}_ids", "ids") for end in (".npy", ".txt"))
    places = (path.with_name(name) for name in names)
    place = next((one for one in places if one != path and one.is_file()), None)
    if place is None:
        return None
    if place.suffix == ".txt":
        return [line.strip() for line in decode(load(place))[0].splitlines() if line.strip()]
    found: list[Any] = np.ravel(load_arrays(load(place), SAVE).get("", np.array([]))).tolist()
    return found


def with_array_beside(table: FileTable) -> FileTable:
    """Return a table with the rows of an array of the same name beside it: items.csv, items.npy."""
    places = [table.path.with_suffix(ending) for ending in ARRAYS]
    for place in () if table.path in places else filter(Path.is_file, places):
        try:
            name, matrix = _matrix(content := load(place), load_arrays(content, SAVE))
        except BadFile:  # whatever it is, it is not about the items
            continue
        features = _columns(name, matrix, place)
        note = f"{place.name} beside it"
        if len(features) != len(table.frame):
            note += f" has {len(features):,} rows, not {len(table.frame):,}, and is not used"
            return replace(table, notes=(*table.notes, note))
        frame = pd.concat([table.frame.reset_index(drop=True), features], axis=1)
        return replace(table, frame=frame, notes=(*table.notes, f"{note}: {_width(features)}"))
    return table


def expanded(table: FileTable) -> tuple[FileTable, list[str]]:
    """Return a table with its columns of vectors as columns of numbers, and notes on them.

    Column v of vectors of three becomes v[0], v[1] and v[2]. Vectors of different lengths are
    refused; missing ones are missing in every entry.
    """
    vectors = {name: found for name in table.names if (found := _vectors(table, name)) is not None}
    if not vectors:
        return table, []
    parts = [
        _columns(name, vectors[name], table.path) if name in vectors else table.frame[[name]]
        for name in table.names
    ]
    frame = pd.concat([part.reset_index(drop=True) for part in parts], axis=1)
    return replace(table, frame=frame), [
        f"{table.path.name}: column {name!r} holds vectors of {found.shape[1]} numbers, read as "
        "that many numeric features"
        for name, found in vectors.items()
    ]


def _vectors(table: FileTable, name: str) -> NDArray[np.float64] | None:
    """Return a column of vectors as an array (n, d), None where it holds anything else."""
    cells = table.frame[name].tolist()
    there = [k for k, cell in enumerate(cells) if not _is_missing(cell)]
    if not there:
        return None
    first = cells[there[0]]
    if isinstance(first, str) and "..." in first and _vector(first.replace("...", " ")) is not None:
        raise BadFile(
            f"{table.where(there[0])}: the vector in column {name!r} was cut short when it was "
            "written ('...'): write all its numbers, for example as JSON or Parquet"
        )
    if _vector(first) is None:
        return None
    rows = {k: _vector(cells[k]) for k in there}
    full = {k: row for k, row in rows.items() if row is not None}
    if len(full) < len(rows):
        return None
    size = len(full[there[0]])
    for k, row in full.items():
        if len(row) != size:
            raise BadFile(
                f"{table.where(k)}: the vector in column {name!r} has {len(row)} numbers, those "
                f"above have {size}: all must have the same length"
            )
    found = np.full((len(cells), size), np.nan)
    found[there] = np.stack(list(full.values()))
    return found


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return cell is None or (isinstance(cell, float) and cell != cell)


_GAPS = re.compile(r"[\s,;]+")
#: What Python writes around numbers and arrays.
_TYPED = re.compile(r"\b(?:np|numpy)\.float\d+\(([^()]*)\)")
_CALLED = re.compile(r"(?:(?:np|numpy|torch)\.)?(?:array|tensor)\((\[.*\])(?:,.*)?\)", re.DOTALL)


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
        entries = filter(None, _GAPS.split(text[1:-1].strip()))
        cell = [np.nan if entry in ("null", "None") else entry for entry in entries]
    elif not isinstance(cell, list | tuple | np.ndarray):
        return None
    try:
        numbers = np.asarray(cell, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 and numbers.size else None
