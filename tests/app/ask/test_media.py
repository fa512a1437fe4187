"""Pictures and sounds: found by ids and columns, and never outside their folder."""

from __future__ import annotations

import os

import pandas as pd
import pytest

from noisypairs.app.ask.media import find_media
from tests.app.ask.ask_problems import write_pictures

IDS = ["a", "b", "c"]


def features(*names):
    return pd.DataFrame({"size": [1, 2, 3], "photo": list(names) or ["x.png", "y.png", "z.png"]})


def test_a_folder_is_matched_by_ids_with_or_without_their_ends(tmp_path):
    write_pictures(tmp_path / "p", ["a.png", "b.JPG", "other.png"])
    found = find_media(str(tmp_path / "p"), features(), IDS, tmp_path / "items.csv")
    assert {row: path.name for row, path in found.files.items()} == {0: "a.png", 1: "b.JPG"}
    assert found.column is None
    by_name = find_media(str(tmp_path / "p"), features(), ["a.png", "x", "y"], tmp_path / "i.csv")
    assert list(by_name.files) == [0]


def test_a_column_names_files_in_the_folder_or_beside_the_items(tmp_path):
    write_pictures(tmp_path / "p", ["x.png", "y.png"])
    table = features("p/x.png", "p/y.png", "p/none.png")
    found = find_media("photo", table, IDS, tmp_path / "items.csv")
    assert (sorted(found.files), found.column) == ([0, 1], "photo")
    folder = find_media(str(tmp_path / "p"), features(), IDS, tmp_path / "items.csv")
    assert (sorted(folder.files), folder.column) == ([0, 1], "photo")


def test_a_column_that_names_the_same_files_as_the_ids_is_no_feature(tmp_path):
    write_pictures(tmp_path / "p", ["a.png", "b.png", "c.png"])
    table = features("a.png", "b.png", "c.png")
    found = find_media(str(tmp_path / "p"), table, IDS, tmp_path / "items.csv")
    assert (len(found.files), found.column) == (3, "photo")


def test_a_column_is_found_without_being_named_only_if_all_its_files_are_there(tmp_path):
    items = tmp_path / "items.csv"
    write_pictures(tmp_path, ["x.png", "y.png"])
    assert find_media(None, features(), IDS, items).files == {}
    write_pictures(tmp_path, ["z.png"])
    assert len(find_media(None, features(), IDS, items).files) == 3


def test_sounds_are_told_from_pictures_by_their_ends(tmp_path):
    for name in ("a.wav", "b.mp3", "c.png"):
        (tmp_path / name).write_bytes(b"x")
    found = find_media(str(tmp_path), features(), IDS, tmp_path / "items.csv")
    assert [found.kind(row) for row in range(4)] == ["audio", "audio", "image", None]


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
    found = find_media("photo", table, IDS, inside / "items.csv")
    assert sorted(found.files) == [0, 2]


def test_files_that_are_no_media_are_not_served(tmp_path):
    (tmp_path / "a.html").write_text("<script>")
    (tmp_path / "b.png").mkdir()
    write_pictures(tmp_path, ["c.png"])
    found = find_media(str(tmp_path), features(), IDS, tmp_path / "items.csv")
    assert list(found.files) == [2]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("phto", "did you mean 'photo'"),
        ("photo", "column 'photo' names any"),
        ("size", "any picture"),
    ],
)
def test_what_names_no_picture_is_refused(tmp_path, given, says):
    with pytest.raises(ValueError, match=says):
        find_media(given, features(), IDS, tmp_path / "items.csv")
    with pytest.raises(ValueError, match="neither the ids nor a column"):
        find_media(str(tmp_path), features(), IDS, tmp_path / "items.csv")
