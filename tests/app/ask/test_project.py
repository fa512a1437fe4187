"""Items as a page shows them, and what happens when their file changes."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from noisypairs.app.ask.database import Database
from noisypairs.app.ask.project import Project, Settings, read_looks
from noisypairs.app.files import BadFile, read_dataset
from tests.app.ask.ask_problems import HOSTILE, answer, open_site, write_items, write_pictures


def test_an_item_is_shown_column_by_column_as_text(tmp_path):
    (tmp_path / "items.csv").write_text(
        "id,size,unit,kind,note\n"
        f'a,1.50,mm,x,"{HOSTILE.replace(chr(34), chr(34) * 2)}"\n'
        "b,2,mm,y,\nc,,mm,x,two\x07\n"
    )
    shown = open_site(tmp_path).project.shown
    assert list(shown.kinds) == ["size", "kind", "note"]  # the unit is always the same
    one, two, three = (shown.item(number) for number in shown.numbers)
    assert one == {"id": "a", "cells": ["1.5", "x", HOSTILE], "media": None}
    assert two["cells"] == ["2", "y", ""]
    assert three["cells"] == ["", "x", "two\N{REPLACEMENT CHARACTER}"]


def test_numbers_are_shown_with_the_digits_that_tell_them_apart(tmp_path):
    sizes = pd.Series([3.64234028059523, -0.00637746144201282, None])
    sizes.to_frame("size").assign(id=list("abc")).to_csv(tmp_path / "items.csv", index=False)
    looks = read_looks(Settings(tmp_path / "items.csv", tmp_path / "answers.db"))
    assert looks.cells == {"size": ["3.642", "-0.006377", ""]}


def test_numbers_that_differ_look_different(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("id,phone,latitude\na,5551234567,47.376887\nb,5551234568,47.376912\nc,,0.3\n")
    shown = open_site(tmp_path).project.shown
    assert shown.item(1)["cells"] == ["5551234567", "47.376887"]
    assert shown.item(2)["cells"] == ["5551234568", "47.376912"]
    assert shown.item(3)["cells"] == ["", "0.3"]


def test_numbers_of_single_precision_are_shown_without_what_rounding_adds(tmp_path):
    path = tmp_path / "items.parquet"
    sizes = np.array([0.1, 0.2, 3.5], dtype="float32")
    pd.DataFrame({"id": ["a", "b", "c"], "size": sizes}).to_parquet(path)
    looks = read_looks(Settings(path, tmp_path / "answers.db"))
    assert looks.cells == {"size": ["0.1", "0.2", "3.5"]}


def test_the_address_of_a_picture_is_of_its_file_alone(tmp_path):
    """Else a browser shows what it kept of another project, or of a picture since replaced."""
    sites = []
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        write_pictures(folder / "p", ["i00.png"])
        sites.append(open_site(folder, images=str(folder / "p")))
    one, other = (site.project.shown.item(1)["media"]["url"] for site in sites)
    assert one.startswith("/media/1?")
    assert one.partition("?")[2] != other.partition("?")[2]
    again = open_site(tmp_path / "one", images=str(tmp_path / "one" / "p")).project.shown
    assert again.item(1)["media"]["url"] == one
    (tmp_path / "one" / "p" / "i00.png").write_bytes(b"another picture")
    assert again.item(1)["media"]["url"] != one


def test_a_very_long_cell_is_cut(tmp_path):
    write_items(tmp_path, 4, "word " * 5000)
    shown = open_site(tmp_path).project.shown
    assert shown.item(1)["cells"][2].endswith("more characters)")
    assert len(shown.item(1)["cells"][2]) < 20_100


def test_columns_are_those_asked_for_and_a_misspelt_one_is_refused(tmp_path):
    shown = open_site(tmp_path, columns=("note", "size")).project.shown
    assert list(shown.kinds) == ["note", "size"]
    assert list(open_site(tmp_path, columns=()).project.shown.kinds) == []
    with pytest.raises(BadFile, match="no column 'siz' to show; did you mean 'size'"):
        open_site(tmp_path, columns=("siz",))


def test_new_items_are_seen_while_it_runs_and_old_ones_keep_their_numbers(tmp_path):
    project = open_site(tmp_path).project
    before = dict(zip(project.shown.ids, project.shown.numbers, strict=True))
    assert not project.refresh()
    write_items(tmp_path, 14)
    assert project.refresh()
    after = dict(zip(project.shown.ids, project.shown.numbers, strict=True))
    assert len(after) == 14
    assert {name: after[name] for name in before} == before


def test_a_file_that_cannot_be_read_changes_nothing_until_it_can(tmp_path):
    project = open_site(tmp_path).project
    (tmp_path / "items.csv").write_text('id,size\n"a')
    assert not project.refresh()
    assert "quote" in project.trouble
    assert len(project.shown.ids) == 12
    write_items(tmp_path, 13)
    assert project.refresh()
    assert (project.trouble, len(project.shown.ids)) == ("", 13)


def test_a_store_about_other_items_is_refused(tmp_path):
    open_site(tmp_path)
    other = tmp_path / "other.csv"
    other.write_text("id,size\nx,1\ny,2\nz,3\n")
    settings = Settings(other, tmp_path / "answers.db")
    with pytest.raises(BadFile, match="holds answers about other items, such as 'i00'"):
        Project(settings, Database(settings.store))


def test_too_few_items_are_refused(tmp_path):
    for n_items, says in ((2, "holds 2 items: give at least 3"), (1, "holds 1 item: give")):
        write_items(tmp_path, n_items)
        with pytest.raises(BadFile, match=says):
            open_site(tmp_path)


ROWS = [f"{size},{kind},a {kind} thing of size {size}" for size in (1, 2, 3) for kind in "xyz"]


def write_rows(path, rows, header="size,colour,note"):
    path.write_text("\n".join([header, *rows]) + "\n")


def test_answers_stay_with_their_items_when_a_row_is_inserted_above(tmp_path):
    """Without ids rows are known by what they hold, in the store and in its answers."""
    path = tmp_path / "items.csv"
    write_rows(path, ROWS)
    site = open_site(tmp_path)
    person = site.people.add("ann")
    for _ in range(12):
        answer(site, person, "same" if len(site.answers.telling()) % 2 else "different")
    names = dict(zip(site.project.shown.numbers, site.project.shown.features["note"], strict=True))
    said = {(names[one.left], names[one.right], one.same) for one in site.answers.telling()}
    write_rows(path, ["9,q,new", *ROWS[::-1]])
    again = open_site(tmp_path).project.shown
    assert {names[number]: number for number in names} == {
        note: number
        for note, number in zip(again.features["note"], again.numbers, strict=True)
        if note != "new"
    }
    data = read_dataset(path, tmp_path / "answers.db")
    notes = data.features["note"].tolist()
    assert notes[0] == "new"
    read = zip(data.pairs.left, data.pairs.right, data.pairs.same, strict=True)
    ends = {(frozenset((notes[i], notes[j])), bool(same)) for i, j, same in read}
    assert ends == {(frozenset((left, right)), same) for left, right, same in said}
    assert any("known by what they hold" in note for note in data.notes)


def test_ids_that_have_moved_to_other_items_are_refused(tmp_path):
    path = tmp_path / "items.csv"
    header = "nr,size,colour,note"
    write_rows(path, [f"{k},{row}" for k, row in enumerate(ROWS)], header)
    assert open_site(tmp_path).project.shown.ids == [str(k) for k in range(9)]
    changed = [f"{k},{row}" for k, row in enumerate(ROWS)]
    changed[3] = "3,2,x,a note that somebody mended"
    write_rows(path, changed, header)
    assert len(open_site(tmp_path).project.shown.ids) == 9
    write_rows(path, [f"{k},{row}" for k, row in enumerate(["9,q,new", *ROWS])], header)
    with pytest.raises(BadFile, match=r"has the id '1' for an item that was '0'"):
        open_site(tmp_path)


def test_equal_items_may_change_their_order(tmp_path):
    path = tmp_path / "items.csv"
    rows = ["a,1,same", "b,1,same", "c,2,other", "d,3,another"]
    for order in (rows, rows[::-1]):
        write_rows(path, order, "id,size,note")
        assert open_site(tmp_path).project.shown.numbers[-1] == (4 if order is rows else 1)


def test_entries_of_vectors_and_hundreds_of_numbers_are_folded_away(tmp_path):
    path = tmp_path / "items.csv"
    names = [f"n{k}" for k in range(40)]
    numbers = [",".join(str(k + j) for j in range(40)) for k in range(6)]
    rows = [f'i{k},text {k},"[0.{k}, 1.5]",{cells}' for k, cells in enumerate(numbers)]
    write_rows(path, rows, ",".join(["id", "note", "embedding", *names]))
    shown = open_site(tmp_path).project.shown
    assert list(shown.kinds) == ["note"]
    assert list(open_site(tmp_path, columns=("n39",)).project.shown.kinds) == ["n39"]
    pd.read_csv(path)[["id", *names]].to_csv(path, index=False)
    (other := tmp_path / "other").mkdir()
    path.rename(other / "items.csv")
    assert list(open_site(other).project.shown.kinds) == names[:20]  # there is nothing else to show


def test_items_that_are_all_unknown_are_refused_with_what_happened(tmp_path):
    """A column was added, so that rows without ids are others; or another one has the ids."""
    items, store = tmp_path / "items.csv", tmp_path / "s.db"
    rows = pd.DataFrame(
        {"text": ["a red fox", "two owls", "an old train"], "size": [1.5, 2.5, 0.5]}
    )

    def opened(table, name, id=None):
        table.to_csv(items, index=False)
        with closing(Database(tmp_path / name)) as database:
            return Project(Settings(items, tmp_path / name, id=id), database).shown.ids

    contents = opened(rows, "s.db")
    with pytest.raises(BadFile, match="a column was added, taken out or renamed"):
        opened(rows.assign(colour="red"), "s.db")
    assert store.exists()
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(f"left,right,same\n{contents[0]},{contents[1]},no\n")
    with pytest.raises(BadFile, match=r"items.csv: none of its rows is one .* a column was added"):
        read_dataset(items, pairs)
    opened(rows.assign(code=["x1", "x2", "x3"]), "t.db")
    more = rows.assign(bar=["b1", "b2", "b3"], code=["x1", "x2", "x3"])
    with pytest.raises(BadFile, match=r"column .code. holds those ids, --id .code."):
        opened(more, "t.db")
    assert opened(more, "t.db", id="code") == ["x1", "x2", "x3"]
