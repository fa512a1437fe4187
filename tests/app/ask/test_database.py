"""The store: made once, versioned, whole transactions or none, and no other file taken for it."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from noisypairs.app.ask.database import Database
from noisypairs.app.ask.people import People
from noisypairs.app.files import BadFile
from noisypairs.app.files.store import damaged, stored_answers
from tests.app.ask.ask_problems import sealed

STORE_1 = Path(__file__).parents[2] / "data" / "ask_store_1.sql"


def test_a_new_store_has_its_version_a_log_and_is_its_owners_alone(tmp_path):
    path = tmp_path / "answers.db"
    database = Database(path)
    assert database.row("PRAGMA journal_mode") == ("wal",)
    assert database.row("PRAGMA synchronous") == (2,)  # full: synced at each commit
    assert database.row("PRAGMA user_version") == (3,)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    database.close()
    Database(path).close()  # and is opened again


def test_a_store_of_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "answers.db"
    Database(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 7")
    with pytest.raises(BadFile, match="version 7, written by a newer noisypairs; this one reads"):
        Database(path)


def test_other_files_are_refused_and_left_as_they_are(tmp_path):
    text, other = tmp_path / "answers.csv", tmp_path / "other.db"
    text.write_text("left,right,same\na,b,1\n")
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    for path, why in ((text, "no store"), (other, "no store"), (tmp_path, "a folder")):
        with pytest.raises(BadFile, match=why):
            Database(path)
    assert text.read_text() == "left,right,same\na,b,1\n"
    with pytest.raises(BadFile, match="does not exist: make it first"):
        Database(tmp_path / "none" / "answers.db")


def test_a_damaged_store_is_called_that(tmp_path):
    path = tmp_path / "answers.db"
    Database(path).close()
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    with pytest.raises(BadFile, match="damaged store"):
        Database(path)


@pytest.mark.parametrize("mode", [0o555, 0o777])
def test_a_store_that_may_only_be_read_is_refused_and_not_called_damaged(mode):
    with sealed(mode) as (folder, seal):
        Database(folder / "answers.db").close()
        seal()
        with pytest.raises(BadFile, match="takes permission to write the file"):
            Database(folder / "answers.db")


def test_an_empty_file_that_a_kill_left_becomes_a_store(tmp_path):
    path = tmp_path / "answers.db"
    path.touch()
    assert Database(path).rows("SELECT * FROM answers") == []


def test_a_block_that_fails_leaves_nothing(tmp_path):
    database = Database(tmp_path / "answers.db")

    def fail() -> None:
        with database.writing():
            database.set_setting("a", "1")
            with database.writing():
                database.set_setting("b", "2")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (database.setting("a"), database.setting("b")) == (None, None)
    with database.writing():
        database.set_setting("a", "3")
    assert Database(database.path).setting("a") == "3"


def test_items_keep_their_numbers_when_others_come(tmp_path):
    database = Database(tmp_path / "answers.db")
    before = database.add_items(["x", "y"], ["row-1", "row-2"])
    after = database.add_items(["z", "y", "x"], ["row-3", "row-2", "row-1"])
    assert {name: after[name] for name in before} == before
    assert len(set(after.values())) == 3


def test_a_store_without_a_version_is_called_that(tmp_path):
    path = tmp_path / "answers.db"
    Database(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 0")
    with pytest.raises(BadFile, match=r"answers\.db is a store without a version"):
        Database(path)


def test_a_store_of_0_2_0_is_read_and_goes_on_with_everything_in_it(tmp_path):
    """Two of its people differ by case alone, which was possible then."""
    path = tmp_path / "answers.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(STORE_1.read_text("utf-8"))
    before = stored_answers(path)  # without any change of the file
    assert [row[2:4] for row in before] == [
        ("different", "Élise"),
        ("unsure", "Élise"),
        ("same", "élise"),
        ("different", "élise"),
    ]
    database = Database(path)
    assert database.row("PRAGMA user_version") == (3,)
    assert stored_answers(path) == before
    people = People(database)
    assert [one.name for one in people.everybody()] == ["Élise", "élise", "eve"]
    people.change(2, "leave out")
    assert stored_answers(path) == before[:2]
    database.close()
    database = Database(path)
    People(database).change(2, "restore")
    assert stored_answers(path) == before


def test_patience_ends_and_the_error_says_why(tmp_path):
    path = tmp_path / "answers.db"
    database = Database(path)
    database.be_patient(0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked") as error, database.writing():
            pass
    assert "answers.db is in use by another program" in str(damaged(path, error.value))
    with database.writing():  # nothing of the failure stays
        pass
