"""The store of `noisypairs ask` as a file of answers."""

from __future__ import annotations

import sqlite3

import pytest

from noisypairs.app.files import BadFile, read_pairs
from tests.app.ask.ask_problems import answer, open_site, sealed
from tests.app.files.importers.linked_items import answers


@pytest.fixture
def store(tmp_path):
    """A store with three answers, in the order in which they were given."""
    site = open_site(tmp_path)
    ann = site.people.add("ann")
    shown = site.project.shown
    given = set()
    for said in ("same", "different", "same", "unsure", "skip"):
        _, left, right = answer(site, ann, said)
        if said in ("same", "different"):
            ids = (shown.ids[shown.row_of[end]] for end in (left, right))
            given.add((*ids, said == "same"))
    return site.project.settings.store, given


def test_a_store_is_recognised_whatever_its_name_and_while_it_is_open(store, tmp_path):
    path, given = store
    data = read_pairs(path)
    assert (data.format, answers(data), data.annotator_names) == ("ask", given, ["ann"])
    assert data.pairs.same.tolist() == [True, False, True]
    other = tmp_path / "pairs.csv"  # copied with its log, which holds the last answers
    with sqlite3.connect(path) as connection:
        connection.execute("VACUUM INTO ?", (str(other),))
    assert answers(read_pairs(other)) == given


def test_a_store_without_answers_another_database_and_a_damaged_one_are_refused(tmp_path):
    path = open_site(tmp_path).project.settings.store
    with pytest.raises(BadFile, match="holds no answer yet: ask some pairs first"):
        read_pairs(path)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    with pytest.raises(BadFile, match="no store of `noisypairs ask`"):
        read_pairs(other)
    with sqlite3.connect(path) as connection:
        connection.execute("VACUUM INTO ?", (str(tmp_path / "whole.db"),))
    whole = (tmp_path / "whole.db").read_bytes()
    other.write_bytes(whole[:100] + b"\xff" * (len(whole) - 100))
    with pytest.raises(BadFile, match="damaged store"):
        read_pairs(other)
    text = tmp_path / "pairs.csv"
    text.write_text("left,right,same\na,b,1\n")
    with pytest.raises(BadFile, match="which is a SQLite file"):
        read_pairs(text, format="ask")


def test_a_store_is_read_where_nothing_can_be_written():
    with sealed() as (folder, seal):
        site = open_site(folder)
        answer(site, site.people.add("ann"), "same")
        site.project.database.close()  # which puts its log into the file
        path = site.project.settings.store
        seal()
        with pytest.raises(OSError, match="denied"):
            (folder / "new").touch()
        assert read_pairs(path).pairs.same.tolist() == [True]


def test_a_log_that_cannot_be_read_is_no_damage():
    """The last answers are in the log: without it they would be left out in silence."""
    with sealed() as (folder, seal):
        site = open_site(folder)
        answer(site, site.people.add("ann"), "same")
        for end in ("", "-wal"):
            source = folder / f"answers.db{end}"
            (folder / f"copy.db{end}").write_bytes(source.read_bytes())
        site.project.database.close()
        seal()
        with pytest.raises(BadFile, match="permission to write the file and its folder"):
            read_pairs(folder / "copy.db")


def test_a_store_of_a_newer_version_is_refused(store):
    path, _ = store
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 4")
    with pytest.raises(BadFile, match="store of version 4"):
        read_pairs(path)


def test_which_pairs_were_chosen_is_known(store):
    path, _ = store
    assert read_pairs(path).pairs.chosen is None  # all were drawn at random
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE questions SET kind = 'chosen' WHERE question = 2")
        connection.execute("UPDATE questions SET kind = 'repeat' WHERE question = 3")
    assert read_pairs(path).pairs.chosen.tolist() == [False, True, True]
