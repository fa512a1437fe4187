"""Rows of numbers that were made before, in one SQLite file, by content and encoder."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from pathlib import Path

import numpy as np

from noisypairs.algebra import Array

#: The file in which rows are kept, if any.
_file: ContextVar[Path | None] = ContextVar("noisypairs_rows", default=None)
#: Seconds to wait for another process that writes.
PATIENCE = 30.0


@contextmanager
def cached_in(path: Path | None) -> Iterator[None]:
    """Let encoders keep in this file, within the block, what they find out of pictures and sounds.

    An item is known again by its content, whatever its name, so that a file may be moved.
    """
    before = _file.set(path)
    try:
        yield
    finally:
        _file.reset(before)


class RowCache:
    """Rows of one encoder by the content that they were made of; without a file, none."""

    def __init__(self, database: sqlite3.Connection | None, key: str) -> None:
        self._database, self._key = database, key

    def get(self, content: bytes) -> Array | None:
        """Return the row of this content, None where it is not known."""
        if self._database is None:
            return None
        asked = (self._digest(content),)
        found = self._database.execute("SELECT row FROM rows WHERE digest = ?", asked).fetchone()
        return None if found is None else np.frombuffer(found[0], dtype="<f4")

    def put(self, content: bytes, row: Array) -> None:
        """Keep a row."""
        if self._database is not None:
            made = (self._digest(content), np.asarray(row, dtype="<f4").tobytes())
            self._database.execute("INSERT OR REPLACE INTO rows VALUES (?, ?)", made)
            self._database.commit()

    def _digest(self, content: bytes) -> bytes:
        return blake2b(content, digest_size=16, key=blake2b(self._key.encode()).digest()).digest()


@contextmanager
def opened(key: str) -> Iterator[RowCache]:
    """Open the rows of an encoder; a file that holds no such rows is an error of `sqlite3`."""
    path = _file.get()
    if path is None:
        yield RowCache(None, key)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=PATIENCE)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = OFF")  # a row that is lost is made again
        database.execute("CREATE TABLE IF NOT EXISTS rows (digest BLOB PRIMARY KEY, row BLOB)")
        yield RowCache(database, key)
