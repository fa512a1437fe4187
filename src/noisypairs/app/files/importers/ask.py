"""The store of ``noisypairs ask``: a SQLite file whose view `VIEW` holds the answers that count.

Answers that were undone and pairs that were skipped are not in the view; "unsure" is.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from noisypairs.app.files.columns import Columns
from noisypairs.app.files.contents import BadFile, load
from noisypairs.app.files.importers.importer import (
    ImportedTable,
    Importer,
    PairsFile,
    answer_table,
)

MAGIC = b"SQLite format 3\0"
"""How every SQLite file begins."""

APPLICATION, VERSION = 0x6E705061, 1
"""What SQLite calls the application's id ("npPa"), and the version of its tables."""

VIEW = "answers_that_count"
COLUMNS: tuple[str, ...] = ("left", "right", "answer", "annotator", "answered_at", "seconds")
COLUMNS += ("model_chance", "model_shown", "kind", "chosen")
"""The columns of the view, and of the CSV file that ``--export`` writes."""


def is_database(path: Path) -> bool:
    """Whether a file begins as SQLite files do.

    >>> is_database(Path("none.db"))
    False
    """
    try:
        with path.open("rb") as stream:
            return stream.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):  # a path may itself hold a NUL
        return False


def check_version(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that is no store, or one of a newer version of this package."""
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error as error:
        raise damaged(path, error) from error
    if application != APPLICATION:
        raise BadFile(
            f"{path} is a SQLite file, but no store of `noisypairs ask`: export its answers as CSV"
        )
    if version != VERSION:
        raise BadFile(
            f"{path} is a store of version {version}, and this version of noisypairs reads "
            f"version {VERSION}: update noisypairs"
        )


def damaged(path: Path, error: Exception) -> BadFile:
    """Return the refusal of a store that SQLite cannot read."""
    return BadFile(f"{path} is a damaged store ({error}): take a copy of it that is whole")


def stored_answers(path: Path) -> list[tuple[Any, ...]]:
    """Return the rows of `VIEW`, in the order in which they were answered."""
    if not is_database(path):
        load(path)  # which says why, where there is nothing to read
        raise BadFile(f"{path} is no store of `noisypairs ask`, which is a SQLite file")
    # A store that is being written is read as of its last answer; its folder may be read only.
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=10.0)) as connection:
            check_version(connection, path)
            query = f"SELECT {', '.join(map(_quoted, COLUMNS))} FROM {VIEW}"
            return connection.execute(query).fetchall()
    except (sqlite3.Error, UnicodeError) as error:
        raise damaged(path, error) from error


def _quoted(name: str) -> str:
    return f'"{name}"'


def _recognises(file: PairsFile) -> bool:
    return is_database(file.path)


def _read(file: PairsFile) -> ImportedTable:
    rows = stored_answers(file.path)
    if not rows:
        raise BadFile(f"{file.path} holds no answer yet: ask some pairs first")
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    source = file.content.source(len(rows))
    table = answer_table(file.path, source, columns, lambda row: f"answer {row + 1}")
    return ImportedTable(table, Columns("left", "right", "answer", "annotator", file.named.id))


ASK = Importer(
    "ask",
    "the store of noisypairs ask",
    _recognises,
    _read,
    reading="Answers that count: what was undone or skipped is left out. `noisypairs ask --store "
    "answers.db --export answers.csv` writes the same as a table.",
    checked="stores that `noisypairs ask` wrote",
)
