"""A folder of pictures is a table of items; names match with and without folder and ending."""

from __future__ import annotations

import os

import pandas as pd
import pytest

from noisypairs.app.files import BadFile, read_dataset
from noisypairs.app.files.media import TYPES, MediaFile, files_named, media_column, with_media
from noisypairs.app.report.thumbnails import image_source
from tests.app.ask.ask_problems import write_pictures

PAIRS = "left,right,same\n{0},{1},yes\n{1},{2},no\n{0},{2},no\n"


@pytest.mark.parametrize("name", ["{}", "{}.png", "photos/{}.png", "https://a.org/x/{}.png?v=2"])
def test_a_folder_of_pictures_is_a_table_of_items_however_the_answers_name_them(tmp_path, name):
    folder = tmp_path / "photos"
    write_pictures(folder, ["a.png", "b.png", "c.png", ".hidden.png"])
    (folder / "readme.txt").write_text("no picture")
    (tmp_path / "pairs.csv").write_text(PAIRS.format(*(name.format(one) for one in "abc")))
    data = read_dataset(folder, tmp_path / "pairs.csv")
    assert data.ids == ["a", "b", "c"]
    assert data.pairs.left.tolist() == [0, 1, 0]
    assert data.features["file"].tolist() == ["a.png", "b.png", "c.png"]
    assert "photos: a folder of 3 pictures or sounds, one item each" in data.notes
    assert data.sources[0]["rows"] == 3
    shown = image_source(data.features, data.ids)
    assert {item: path.name for item, path in shown.files.items()}["b"] == "b.png"


def test_folders_in_the_folder_are_part_of_the_names(tmp_path):
    (tmp_path / "p").mkdir()
    for one in ("u/a", "v/a", "v/b"):
        write_pictures(tmp_path / "p" / one[0], [f"{one[2]}.png"])
    (tmp_path / "pairs.csv").write_text(PAIRS.format("u/a", "v/a", "v/b.png"))
    data = read_dataset(tmp_path / "p", tmp_path / "pairs.csv")
    assert data.ids == ["u/a", "v/a", "v/b"]
    assert data.pairs.n_pairs == 3
    column, found = files_named(tmp_path / "p", None, ["u/a", "a", "b"], TYPES)
    assert column is None
    assert {row: path.parent.name for row, path in found.items()} == {0: "u", 2: "v"}  # which a?


def test_pictures_that_differ_in_their_ending_alone_keep_it(tmp_path):
    write_pictures(tmp_path / "p", ["a.png", "a.jpg", "b.png"])
    (tmp_path / "pairs.csv").write_text(PAIRS.format("a.png", "a.jpg", "b"))
    data = read_dataset(tmp_path / "p", tmp_path / "pairs.csv")
    assert data.ids == ["a.jpg", "a.png", "b.png"]
    assert data.pairs.left.tolist() == [1, 0, 1]


def test_a_column_names_files_without_their_ending(tmp_path):
    write_pictures(tmp_path / "p", ["x.png", "y.JPG"])
    features = pd.DataFrame({"size": [1, 2], "photo": ["x", "old/y.gif"]})
    column, found = files_named(tmp_path / "p", features, ["1", "2"], TYPES)
    assert (column, [path.name for path in found.values()]) == ("photo", ["x.png", "y.JPG"])


def test_one_picture_and_no_picture_are_no_tables(tmp_path):
    write_pictures(tmp_path / "p", ["a.png"])
    (tmp_path / "pairs.csv").write_text(PAIRS.format(*"abc"))
    with pytest.raises(BadFile, match=r"one picture or sound, a.png: expected one per item"):
        read_dataset(tmp_path / "p", tmp_path / "pairs.csv")
    (tmp_path / "p" / "a.png").unlink()
    with pytest.raises(BadFile, match="folder without pictures, sounds or Parquet files"):
        read_dataset(tmp_path / "p", tmp_path / "pairs.csv")


IDS = ["a", "b", "c"]


def features(*names):
    return pd.DataFrame({"size": [1, 2, 3], "photo": list(names) or ["x.png", "y.png", "z.png"]})


def found(table, ids, items, images=None):
    """Return the column of the files, and the name of the file of each row."""
    table, _ = with_media(table, ids, items, images)
    column = media_column(table)
    cells = [] if column is None else table[column]
    return column, {
        row: cell.path.name for row, cell in enumerate(cells) if isinstance(cell, MediaFile)
    }


def test_a_folder_is_matched_by_ids_with_or_without_their_ends(tmp_path):
    write_pictures(tmp_path / "p", ["a.png", "b.JPG", "other.png"])
    items = tmp_path / "items.csv"
    assert found(features(), IDS, items, str(tmp_path / "p")) == (
        "picture",
        {0: "a.png", 1: "b.JPG"},
    )
    assert found(None, IDS, items, str(tmp_path / "p"))[1] == {0: "a.png", 1: "b.JPG"}
    assert list(found(features(), ["a.png", "x", "y"], items, str(tmp_path / "p"))[1]) == [0]
    assert found(None, ["A.PNG", "B", "c"], items, str(tmp_path / "p"))[1] == {
        0: "a.png",
        1: "b.JPG",
    }


def test_a_column_names_files_in_the_folder_or_beside_the_items(tmp_path):
    write_pictures(tmp_path / "p", ["x.png", "y.png"])
    items = tmp_path / "items.csv"
    beside = features("p/x.png", "p/y.png", "p/none.png")
    table, notes = with_media(beside, IDS, items, "photo")
    assert notes == [
        "items.csv: column 'photo': 1 of 3 files are not there and count as missing, such as "
        "'p/none.png'"
    ]
    assert (list(map(str, table["photo"][:2])), table["photo"][2]) == (["p/x.png", "p/y.png"], None)
    assert found(features(), IDS, items, str(tmp_path / "p")) == ("photo", {0: "x.png", 1: "y.png"})


def test_a_column_is_found_without_being_named_if_half_its_files_are_there(tmp_path):
    items = tmp_path / "items.csv"
    write_pictures(tmp_path, ["x.png"])
    assert found(features(), IDS, items) == (None, {})
    write_pictures(tmp_path, ["y.png"])
    assert found(features(), IDS, items) == ("photo", {0: "x.png", 1: "y.png"})


def test_sounds_are_told_from_pictures_by_their_ends(tmp_path):
    for name in ("x.wav", "y.mp3", "z.flac"):
        (tmp_path / name).write_bytes(b"x")
    table, _ = with_media(features("x.wav", "y.mp3", "z.flac"), IDS, tmp_path / "i.csv", None)
    assert [cell.kind for cell in table["photo"]] == ["sound"] * 3


@pytest.mark.parametrize(
    "name",
    [
        "../secret.png",
        "/etc/passwd",
        "{root}/secret.png",
        "link.png",
        "p/../../secret.png",
        "a\0.png",
    ],
)
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    write_pictures(tmp_path, ["secret.png"])
    inside = tmp_path / "in"
    write_pictures(inside, ["good.png"])
    os.symlink(tmp_path / "secret.png", inside / "link.png")
    table = features("good.png", name.format(root=tmp_path), "good.png")
    assert sorted(found(table, IDS, inside / "items.csv", "photo")[1]) == [0, 2]


def test_what_is_no_file_or_no_picture_is_not_taken(tmp_path):
    (tmp_path / "a.html").write_text("<script>")
    (tmp_path / "b.png").mkdir()
    write_pictures(tmp_path, ["c.png"])
    assert list(found(features(), IDS, tmp_path / "items.csv", str(tmp_path))[1]) == [2]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("phto", "did you mean 'photo'"),
        ("photo", "column 'photo' names no picture or sound .* Nothing is fetched"),
        ("size", "column 'size' names no"),
    ],
)
def test_what_names_no_picture_is_refused(tmp_path, given, says):
    table = features("https://a.org/x.png", "https://a.org/y.png", "z.png")
    with pytest.raises(ValueError, match=says):
        with_media(table, IDS, tmp_path / "items.csv", given)
    with pytest.raises(ValueError, match="neither the ids nor a column"):
        with_media(table, IDS, tmp_path / "items.csv", str(tmp_path))
