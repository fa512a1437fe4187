"""Ids of two files brought together."""

from __future__ import annotations

import pytest

from noisypairs.app.files.columns import last_part, match_ids


@pytest.mark.parametrize(
    ("written", "part"),
    [
        ("/data/upload/7/3f2c01aa-SKU 9.jpg", "sku 9"),
        (r"C:\pictures\SKU.PNG", "sku"),
        ("https://a.org/p/SKU.tar?size=2#top", "sku"),
        ("s3://bucket/007.png", "7"),
        ("SKU", "sku"),
        ("3f2-SKU", "3f2-sku"),  # no path: nobody uploaded it
        ("v1.5", "v1.5"),
        ("a/b/", "b"),
        (".hidden", ".hidden"),
    ],
)
def test_the_last_part_of_a_path(written, part):
    assert last_part(written) == part


def test_files_match_by_their_last_part_with_a_note():
    found, notes = match_ids(
        ["/up/3f2-A.jpg", "B", "/x/C.png"], ["A", "B", "pics/C.jpeg"], "p", "i"
    )
    assert found == {"B": "B", "/up/3f2-A.jpg": "A", "/x/C.png": "pics/C.jpeg"}
    (note,) = notes
    assert note.startswith("2 ids of p matched to i by the last part of a path, such as '/up/3f2-A")


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        (["/a/1.jpg", "/b/1.jpg", "z"], ["1", "z"]),  # two files of one name
        (["1.jpg", "z"], ["/a/1.jpg", "/b/1.png", "z"]),  # two items of one name
        (["1.jpg", "1", "z"], ["1", "z"]),  # the item is named already
    ],
)
def test_what_could_be_two_is_not_matched(asked, known):
    found, notes = match_ids(asked, known, "p", "i")
    assert set(found) == set(asked) & set(known)
    assert notes == []
