"""The store: made once, versioned, whole transactions or none, and no other file taken for it."""

from __future__ import annotations

import sqlite3
import stat

import pytest

from noisypairs.app.ask.database import Database
from noisypairs.app.files import BadFile
from tests.app.ask.ask_problems import sealed


def test_a_new_store_has_its_version_a_log_and_is_its_owners_alone(tmp_path):
    path = tmp_path / "answers.db"
    database = Database(path)
    assert database.row("PRAGMA journal_mode") == ("wal",)
    assert database.row("PRAGMA synchronous") == (2,)  # full: synced at each commit
    assert database.row("PRAGMA user_version") == (1,)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    database.close()
    Database(path).close()  # and is opened again


def test_a_store_of_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "answers.db"
    Database(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 7")
    with pytest.raises(BadFile, match="store of version 7, and this version of noisypairs reads"):
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
    before = database.add_items(["x", "y"])
    after = database.add_items(["z", "y", "x"])
    assert {name: after[name] for name in before} == before
    assert len(set(after.values())) == 3
