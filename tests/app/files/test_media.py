"""A folder of pictures is a table of items; names match with and without folder and ending."""

from __future__ import annotations

import pandas as pd
import pytest

from noisypairs.app.files import BadFile, read_dataset
from noisypairs.app.files.media import TYPES, files_named
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
    shown = image_source(None, data.features, data.ids, folder)
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
