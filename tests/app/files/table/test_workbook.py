"""Sheets of workbooks, written by another library than the one that reads them."""

from __future__ import annotations

import datetime
import io

import openpyxl
import pytest

from noisypairs.app.files import BadFile, read_dataset, read_items

DAY = datetime.datetime(2024, 12, 31)


def book(**sheets: list[list[object]]) -> bytes:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    written = io.BytesIO()
    made.save(written)
    return written.getvalue()


def test_items_and_answers_from_workbooks(tmp_path):
    items, pairs = tmp_path / "items.xlsx", tmp_path / "pairs.xlsx"
    rows = [["id", "size", "seen", None], [7, 1.5, DAY, None], ["008", None, DAY, None]]
    items.write_bytes(book(Notes=[["read me"]], Data=[[], *rows, [], ["x 9", 3, None, None]]))
    said = [["left", "right", "same"], [7, "008", True], ["008", "x 9", "no"], [7, 7.0, 0]]
    pairs.write_bytes(book(Answers=said, More=[["a", "b"], [1, 2]]))
    data = read_dataset(items, pairs)
    assert data.ids == ["7", "008", "x 9"]
    assert data.features["size"].tolist()[0::2] == [1.5, 3.0]
    assert data.features["seen"].tolist() == ["2024-12-31"] * 2 + [None]
    assert data.pairs.same.tolist() == [True, False, False]
    assert list(data.features) == ["size", "seen"]
    assert any("sheet 'Answers' is read, 'More' are not" in note for note in data.notes)


def test_places_are_those_of_the_sheet(tmp_path):
    path, pairs = tmp_path / "items.xlsx", tmp_path / "pairs.xlsx"
    path.write_bytes(book(Data=[["id", "w"], ["a", 1], ["b", 2]]))
    pairs.write_bytes(
        book(S=[[], ["left", "right", "same"], ["a", "b", 1], [], ["b", "a", "perhaps"]])
    )
    with pytest.raises(BadFile, match="'perhaps' on sheet 'S', row 5"):
        read_dataset(path, pairs)


def test_what_is_no_workbook_is_refused(tmp_path):
    path = tmp_path / "items.xlsx"
    whole = book(Data=[["id", "w"], ["a", 1]])
    for content in (whole[: len(whole) // 2], b"PK\x03\x04 nothing", b"id,w\na,1\n"):
        path.write_bytes(content)
        with pytest.raises(BadFile, match=r"items.xlsx cannot be read as a workbook"):
            read_items(path)
    path.write_bytes(book(Empty=[], Title=[["only a title"]]))
    with pytest.raises(
        BadFile, match=r"no sheet with a table: .* found the sheets 'Empty', 'Title'"
    ):
        read_items(path)
