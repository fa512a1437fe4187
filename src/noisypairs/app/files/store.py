"""The store of ``noisypairs ask``: a SQLite file whose view `VIEW` holds the answers that count.

Answers that were undone and pairs that were skipped are not in the view; "unsure" is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from noisypairs.app.files.contents import BadFile, load
from noisypairs.pairs.levels import Scale, read_scale

MAGIC = b"SQLite format 3\0"
"""How every SQLite file begins."""

APPLICATION, VERSION = 0x6E705061, 3
"""What SQLite calls the application's id ("npPa"), and the version of its tables."""

VIEW = "answers_that_count"
COLUMNS: tuple[str, ...] = ("left", "right", "answer", "annotator", "answered_at", "seconds")
COLUMNS += ("model_chance", "model_shown", "kind", "chosen")
"""The columns of the view, and of the CSV file that ``--export`` writes."""

_OUTSIDE = tuple(f"SQLITE_{name}" for name in ("CANTOPEN", "READONLY", "PERM", "FULL", "IOERR"))
"""Errors that say nothing about what a store holds."""


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
    why = ""
    if application != APPLICATION:
        why = "is a SQLite file, but no store of `noisypairs ask`: name another file"
    elif version < 1:
        why = "is a store without a version: take a copy of it that is whole"
    elif version > VERSION:
        why = f"is a store of version {version}, written by a newer noisypairs; this one reads "
        why += f"versions 1 to {VERSION}: update noisypairs"
    if why:
        raise BadFile(f"{path} {why}")


def damaged(path: Path, error: Exception) -> BadFile:
    """Return the refusal of a store that SQLite cannot read, or may not."""
    name = getattr(error, "sqlite_errorname", "")
    if is_busy(error):
        return BadFile(f"{path} is in use by another program ({error}): try again in a moment")
    if name.startswith(_OUTSIDE):
        return BadFile(
            f"{path} cannot be used ({error}): it takes permission to write the file and its "
            "folder, and room on the disk"
        )
    return BadFile(f"{path} is a damaged store ({error}): take a copy of it that is whole")


def is_busy(error: Exception) -> bool:
    """Whether another program held the store for too long."""
    return getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


#: The name under which a store keeps the scale of its answers, and the answer outside of it.
SCALE, UNSURE = "scale", "unsure"


def stored_scale(path: Path) -> Scale | None:
    """Return the scale of the answers of a store; None of yes and no."""
    with _reading(path) as connection:
        row = connection.execute("SELECT value FROM settings WHERE name = ?", (SCALE,))
        found = row.fetchone()
    return None if found is None else read_scale(found[0], UNSURE)


def stored_answers(path: Path) -> list[tuple[Any, ...]]:
    """Return the rows of `VIEW`, in the order in which they were answered."""
    if not is_database(path):
        load(path)  # which says why, where there is nothing to read
        raise BadFile(f"{path} is no store of `noisypairs ask`, which is a SQLite file")
    with _reading(path) as connection:
        check_version(connection, path)
        columns = ", ".join(f'"{name}"' for name in COLUMNS)
        return connection.execute(f"SELECT {columns} FROM {VIEW}").fetchall()


@contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a store for reading, also while it is being written: then as of its last answer.

    SQLite puts a file beside a store that it reads. Where it may not, and no log is there, nobody
    is writing, and the store is read as it is.
    """
    place = path.resolve()
    try:
        try:
            connection = _opened(place, "mode=ro")
        except sqlite3.OperationalError:
            if place.with_name(f"{place.name}-wal").exists():
                raise
            connection = _opened(place, "immutable=1")
        with closing(connection):
            yield connection
    except (sqlite3.Error, UnicodeError) as error:
        raise damaged(path, error) from error


def _opened(place: Path, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{place.as_uri()}?{how}", uri=True, timeout=10.0)
    try:
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1")
    except sqlite3.Error:
        connection.close()
        raise
    return connection
