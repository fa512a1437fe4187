"""What an importer is: a format by name, how it is recognised, and who reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from noisypairs.app.files.columns import Columns
from noisypairs.app.files.contents import BadFile, Content, SourceFile, decode, load
from noisypairs.app.files.file_table import FileTable, by_row
from noisypairs.app.files.frames import (
    JSON_LINES,
    extension,
    json_records,
    read_table,
    records_table,
)
from noisypairs.app.files.items import Items
from noisypairs.app.files.json_values import parse_json
from noisypairs.app.files.known import KnownItems
from noisypairs.pairs.columns import by_plain_name


@dataclass(frozen=True, eq=False)
class PairsFile:
    """A file or folder of answers in some format: what is asked of it is read once.

    `named` are the columns that the user has named, `known` the items, if a file holds them.
    """

    path: Path
    named: Columns = Columns()  # noqa: RUF009 -- frozen
    known: KnownItems | None = None

    @property
    def extension(self) -> str:
        """The extension in small letters, that of the packed file under .gz."""
        return extension(self.path)

    @cached_property
    def content(self) -> Content:
        """The unpacked bytes, with size and digest."""
        return load(self.path)

    @cached_property
    def text(self) -> str:
        """The text of the file."""
        return decode(self.content)[0]

    @cached_property
    def json(self) -> Any:
        """The file as one JSON value."""
        return parse_json(self.text, self.path)

    @cached_property
    def document(self) -> Any:
        """The one JSON value of a .json file; None for JSON lines and for every other file."""
        return self.json if self.extension == ".json" and not _has_lines(self.text) else None

    @cached_property
    def records(self) -> list[Mapping[str, Any]]:
        """The objects of a file of JSON lines or of a JSON list; empty for every other file."""
        if self.path.is_dir() or self.extension not in JSON_LINES:
            return []
        if self.document is not None and not isinstance(self.document, list):
            return []
        found = json_records(self.content)[0]
        return found if all(isinstance(one, dict) for one in found) else []

    def place(self, record: int) -> str:
        """Return the place of one of the `records`, counted from 0."""
        lines = json_records(self.content)[1]
        return by_row(record) if lines is None else f"line {lines[record]}"

    @cached_property
    def table(self) -> FileTable:
        """The file as a table; a .json file may be a list of records."""
        if self.document is None:
            return read_table(self.path)
        if not isinstance(self.document, list):
            raise BadFile(
                f"{self.path}: expected a list of records, not one {_kind(self.document)}"
            )
        return records_table(self.content, self.document, None, decode(self.content)[1])

    @property
    def column_names(self) -> set[str]:
        """The names of the table's columns, in small letters."""
        return set(by_plain_name(self.table.frame.columns))


def _has_lines(text: str) -> bool:
    """Whether the first line is a whole object: JSON lines under another name."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        json.loads(text.lstrip().split("\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return "\n" in text.strip()


def _kind(value: Any) -> str:
    return "object" if isinstance(value, dict) else f"value such as {json.dumps(value)[:40]}"


class Near(str):
    """Why a file that looks like one of a format is none; counts as False."""

    def __bool__(self) -> bool:
        return False


def has_columns(names: Set[str], *wanted: str) -> bool | Near:
    """Whether a table has all these columns; `Near` with the missing ones, where half are there.

    A name that ends in * stands for every column that begins so.

    >>> has_columns({"hitid", "input.a"}, "HITId", "Input.*"), has_columns({"a"}, "task", "worker")
    (True, False)
    >>> has_columns({"task", "label"}, "task", "worker")
    'there is no column worker'
    """

    def there(name: str) -> bool:
        plain = name.lower()
        if plain.endswith("*"):
            return any(one.startswith(plain[:-1]) for one in names)
        return plain in names

    missing = [name for name in wanted if not there(name)]
    if not missing or 2 * len(missing) > len(wanted):
        return not missing
    return Near(f"there is no column {', '.join(missing)}")


@dataclass(frozen=True, eq=False)
class ImportedTable:
    """A table of answers: its columns by role, the files it came from, and the items, if any.

    Without `sources` it came from the table's own file. `words` says what the tool's own answers
    mean. `import_pairs` fills in `format`, and `near`, the formats that a plain table is not.
    """

    table: FileTable
    columns: Columns
    sources: Sequence[SourceFile] = ()
    items: Items | None = None
    notes: Sequence[str] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    format: str = "table"
    near: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Example:
    """A file in a format, in about five lines; of a binary file, the Python code that writes it."""

    file: str
    text: str
    code: bool = False


@dataclass(frozen=True)
class Importer:
    """One format of answers: `recognises` looks at a file, `read` makes a table of it.

    `name` is what --format takes, `title` says in a few words what the format is. `recognises`
    may return `Near` for what is almost of this format. What `read` cannot read it refuses with a
    `BadFile` that names the file, the place and what to do. The rest is for `noisypairs formats`:
    a small example, what is read of it, where the maker describes the format, and what the
    importer was checked against: documentation only, or a file that the tool itself wrote.
    """

    name: str
    title: str
    recognises: Callable[[PairsFile], bool | Near]
    read: Callable[[PairsFile], ImportedTable]
    example: Example | None = None
    reading: str = ""
    described: str = ""
    checked: str = "documentation only"


def answer_table(
    path: Path,
    source: SourceFile,
    columns: Mapping[str, Sequence[Any]],
    place: Callable[[int], str] = by_row,
    notes: Sequence[str] = (),
) -> FileTable:
    """Return columns of equal length as a table of answers; `place` names a row in messages."""
    frame = pd.DataFrame({name: pd.Series(list(v), dtype=object) for name, v in columns.items()})
    return FileTable(path, frame, source, place, notes=tuple(notes))
