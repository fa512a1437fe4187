"""What an importer is: a format by name, how it is recognised, and who reads it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from noisypairs.app.files.answers import Columns
from noisypairs.app.files.contents import BadFile, Content, SourceFile, decode, load
from noisypairs.app.files.frames import (
    FileTable,
    by_row,
    extension,
    read_table,
    records_table,
)
from noisypairs.app.files.items import Items
from noisypairs.app.files.json_values import parse_json
from noisypairs.pairs.columns import by_plain_name


@dataclass(frozen=True, eq=False)
class PairsFile:
    """A file or folder of answers in some format: what is asked of it is read once.

    `named` are the columns that the user has named.
    """

    path: Path
    named: Columns = Columns()  # noqa: RUF009 -- frozen

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
    def table(self) -> FileTable:
        """The file as a table; a .json file may be a list of records."""
        if self.document is None:
            return read_table(self.path)
        if not isinstance(self.document, list):
            raise BadFile(
                f"{self.path}: expected a list of records, a dedupe training file or a Label "
                "Studio export"
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


@dataclass(frozen=True, eq=False)
class ImportedTable:
    """A table of answers: its columns by role, the files it came from, and the items, if any.

    Without `sources` it came from the table's own file. `import_pairs` fills in `format`.
    """

    table: FileTable
    columns: Columns
    sources: Sequence[SourceFile] = ()
    items: Items | None = None
    notes: Sequence[str] = ()
    format: str = "table"


@dataclass(frozen=True)
class Importer:
    """One format of answers: `recognises` looks at a file, `read` makes a table of it.

    `name` is what --format takes, `title` says in a few words what the format is. What `read`
    cannot read it refuses with a `BadFile` that names the file, the place and what to do.
    """

    name: str
    title: str
    recognises: Callable[[PairsFile], bool]
    read: Callable[[PairsFile], ImportedTable]


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
