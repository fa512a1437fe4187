"""The store: one SQLite file with every question, answer and person of a project.

Whatever is committed survives a kill at any moment (write-ahead log, synced at each commit). The
server and the worker each open it for themselves.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from noisypairs.app.files.contents import BadFile, special
from noisypairs.app.files.store import (
    APPLICATION,
    VERSION,
    VIEW,
    check_version,
    damaged,
    is_database,
)

#: Seconds to wait for another process to end its transaction, where nothing else is asked for.
PATIENCE = 30.0

#: Numbers of rows are smaller than this.
MOST_ROWS = 2**63

_TABLES = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE items (item INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE);

CREATE TABLE people (
    person INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    token TEXT NOT NULL UNIQUE,
    joined_at TEXT NOT NULL,
    joined_by TEXT, -- the link by which they gave a name themselves
    blocked_at TEXT,
    left_out_at TEXT -- since when none of their answers counts
);

-- What the model was when a batch was chosen; what it says of the project and its people is JSON.
CREATE TABLE fits (
    fit INTEGER PRIMARY KEY,
    finished_at TEXT NOT NULL,
    n_answers INTEGER NOT NULL,
    progress TEXT NOT NULL,
    people TEXT NOT NULL
);

-- Pairs chosen and not yet asked, in the order in which to ask them; low < high.
CREATE TABLE queue (
    place INTEGER PRIMARY KEY,
    low INTEGER NOT NULL,
    high INTEGER NOT NULL,
    kind TEXT NOT NULL,
    chance REAL,
    fit INTEGER
);

-- A pair shown to somebody; open until it is answered.
CREATE TABLE questions (
    question INTEGER PRIMARY KEY,
    person INTEGER NOT NULL REFERENCES people,
    low INTEGER NOT NULL REFERENCES items,
    high INTEGER NOT NULL REFERENCES items,
    swapped INTEGER NOT NULL,
    kind TEXT NOT NULL,
    chance REAL,
    fit INTEGER,
    asked_at TEXT NOT NULL,
    open INTEGER NOT NULL DEFAULT 1,
    CHECK (low < high)
);
CREATE INDEX open_questions ON questions (person, question) WHERE open;
CREATE INDEX open_pairs ON questions (low, high) WHERE open;

CREATE TABLE answers (
    answer INTEGER PRIMARY KEY,
    question INTEGER NOT NULL UNIQUE REFERENCES questions,
    person INTEGER NOT NULL REFERENCES people,
    low INTEGER NOT NULL,
    high INTEGER NOT NULL,
    said TEXT NOT NULL CHECK (said IN ('same', 'different', 'unsure', 'skip')),
    grade TEXT, -- the level that was answered, of a project with a scale
    answered_at TEXT NOT NULL,
    seconds REAL NOT NULL,
    model_shown INTEGER NOT NULL,
    undone_at TEXT
);
CREATE INDEX standing_pairs ON answers (low, high, person, said) WHERE undone_at IS NULL;
CREATE INDEX standing_people ON answers (person, said) WHERE undone_at IS NULL;
"""

_VIEWS = f"""
-- Answers that neither who gave them nor the owner took back.
CREATE VIEW standing AS
SELECT * FROM answers WHERE undone_at IS NULL
AND person NOT IN (SELECT person FROM people WHERE left_out_at IS NOT NULL);

CREATE VIEW {VIEW} AS
SELECT
    CASE swapped WHEN 1 THEN upper.id ELSE lower.id END AS "left",
    CASE swapped WHEN 1 THEN lower.id ELSE upper.id END AS "right",
    coalesce(grade, said) AS answer, people.name AS annotator, answered_at, seconds,
    chance AS model_chance, model_shown, kind, kind <> 'random' AS chosen
FROM standing
JOIN questions USING (question)
JOIN people ON people.person = standing.person
JOIN items AS lower ON lower.item = standing.low
JOIN items AS upper ON upper.item = standing.high
WHERE said <> 'skip'
ORDER BY standing.answer;
"""

_FROM_VERSION_2 = f"""
ALTER TABLE answers ADD COLUMN grade TEXT;
DROP VIEW IF EXISTS {VIEW};
DROP VIEW IF EXISTS standing
"""

_FROM_VERSION_1 = f"""
ALTER TABLE people ADD COLUMN joined_by TEXT;
ALTER TABLE people ADD COLUMN blocked_at TEXT;
ALTER TABLE people ADD COLUMN left_out_at TEXT;
{_FROM_VERSION_2}"""

#: Tables that stores of this version may lack: what an item looks like besides its id
#: (`row_contents`), what was sent to judges, and the pairs that a person should answer.
_LATER = """
CREATE TABLE IF NOT EXISTS contents (
    item INTEGER PRIMARY KEY REFERENCES items, content TEXT NOT NULL
);

-- Open until it has an answer; lost if that may have been made and did not arrive.
CREATE TABLE IF NOT EXISTS requests (
    request INTEGER PRIMARY KEY,
    question INTEGER NOT NULL REFERENCES questions,
    sent_at TEXT NOT NULL,
    cost REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'answered', 'lost', 'refused'))
);

CREATE TABLE IF NOT EXISTS wanted (
    place INTEGER PRIMARY KEY, low INTEGER NOT NULL, high INTEGER NOT NULL, kind TEXT NOT NULL,
    UNIQUE (low, high)
)
"""


def now() -> str:
    """Return the time in UTC, as text that sorts."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Database:
    """An open store; every thread may use it, one transaction at a time."""

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        """Open a store, or make one where there is no file yet."""
        self.path = path
        self._lock = threading.RLock()
        self._depth = 0
        check_place(path)
        try:
            self._connection = sqlite3.connect(
                path, timeout=patience, isolation_level=None, check_same_thread=False
            )
            if not self.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
                os.chmod(path, 0o600)  # it holds the tokens of people's links
                self._make(_TABLES, _VIEWS, f"PRAGMA application_id = {APPLICATION}")
            check_version(self._connection, path)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.execute("PRAGMA foreign_keys = ON")
            (version,) = self.row("PRAGMA user_version") or (VERSION,)
            if version < VERSION:
                self._make({1: _FROM_VERSION_1, 2: _FROM_VERSION_2}[version], _VIEWS)
            with self.writing():  # which fails where the file may only be read
                self._make(_LATER)
        except sqlite3.Error as error:
            raise damaged(path, error) from error

    def _make(self, *scripts: str) -> None:
        """Run statements and set the version, all or nothing."""
        with self.writing():
            for script in scripts:
                for statement in script.split(";\n"):
                    self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version = {VERSION}")

    def be_patient(self, seconds: float) -> None:
        """Wait so long at most, from now on, for another process to end its transaction."""
        with self._lock:
            self._connection.execute(f"PRAGMA busy_timeout = {max(round(1000 * seconds), 0)}")

    def close(self) -> None:
        """Close the file; what was committed is there whether this is called or not."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Commit all that the block does when it ends, or nothing of it where it fails.

        Blocks may nest: the outermost one commits.
        """
        with self._lock:
            if self._depth == 0:
                self._connection.execute("BEGIN IMMEDIATE")
            self._depth += 1
            try:
                yield
            except BaseException:
                self._depth -= 1
                if self._depth == 0:
                    self._connection.execute("ROLLBACK")
                raise
            self._depth -= 1
            if self._depth == 0:
                self._connection.execute("COMMIT")

    def run(self, statement: str, *values: Any) -> int:
        """Run one statement; return the number of the row that it inserted."""
        with self._lock:
            return int(self._connection.execute(statement, values).lastrowid or 0)

    def run_many(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        """Run one statement for each of many rows."""
        with self._lock:
            self._connection.executemany(statement, rows)

    def rows(self, query: str, *values: Any, **named: Any) -> list[tuple[Any, ...]]:
        """Return all rows of a query; its values come in their order or by name."""
        with self._lock:
            return self._connection.execute(query, named or values).fetchall()

    def row(self, query: str, *values: Any, **named: Any) -> tuple[Any, ...] | None:
        """Return the first row of a query, None if there is none."""
        with self._lock:
            found: tuple[Any, ...] | None = self._connection.execute(
                query, named or values
            ).fetchone()
            return found

    def setting(self, name: str) -> str | None:
        """Return a setting of the project, None if it was never made."""
        found = self.row("SELECT value FROM settings WHERE name = ?", name)
        return None if found is None else str(found[0])

    def set_setting(self, name: str, value: str) -> None:
        """Keep a setting of the project."""
        self.run("INSERT OR REPLACE INTO settings VALUES (?, ?)", name, value)

    def item_numbers(self) -> dict[str, int]:
        """Return the number of every item that was ever in the project, by id."""
        return {str(id): int(item) for item, id in self.rows("SELECT item, id FROM items")}

    def item_contents(self) -> dict[str, str]:
        """Return the id under which each content was last seen."""
        found = self.rows("SELECT content, id FROM contents JOIN items USING (item)")
        return {str(content): str(id) for content, id in found}

    def add_items(self, ids: list[str], contents: list[str]) -> dict[str, int]:
        """Keep items and what they hold; return all numbers by id."""
        with self.writing():
            known = self.item_numbers()
            fresh = [(id,) for id in ids if id not in known]
            if fresh:
                self.run_many("INSERT INTO items (id) VALUES (?)", fresh)
                known = self.item_numbers()
            rows = [(known[id], text) for id, text in zip(ids, contents, strict=True) if text]
            self.run_many("INSERT OR REPLACE INTO contents VALUES (?, ?)", rows)
        return known


def check_place(path: Path) -> None:
    """Refuse what is there and no database, and a folder that is not there."""
    if (what := special(path)) is not None or path.is_dir():
        raise BadFile(f"{path} is {what or 'a folder'}: name a file for the answers")
    if path.exists() and path.stat().st_size and not is_database(path):
        raise BadFile(
            f"{path} is no store of `noisypairs ask`: name another file for the answers with "
            "--store, such as answers.db"
        )
    if not path.absolute().parent.is_dir():
        raise BadFile(f"the folder {path.parent} of {path.name} does not exist: make it first")
