"""Reading items and pairs from files: what is guessed, repaired, left out and refused."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from noisypairs.app.files import (
    BadFile,
    Columns,
    cells,
    read_dataset,
    read_frame,
    read_items,
    read_labels,
    read_pairs,
)
from noisypairs.app.files.table import read_table

ITEMS = "id,size,colour\n007,1.5,red\n008,2,blue\n009,,red\n"
PAIRS = "left,right,answer,worker\n007,008,Yes,w1\n008,009,no,w2\n009,007,YES,w1\n"


@pytest.fixture
def put(tmp_path):
    def write(name: str, content: str | bytes) -> Path:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return write


def noted(data, words: str) -> bool:
    return any(words in note for note in data.notes)


def test_two_csv_files_become_a_dataset(put):
    items, pairs = put("items.csv", ITEMS), put("pairs.csv", PAIRS)
    data = read_dataset(items, pairs)
    assert data.ids == ["007", "008", "009"]
    assert data.features.dtypes.map(lambda t: t.kind).to_dict() == {"size": "f", "colour": "O"}
    assert np.isnan(data.features["size"][2])
    assert data.pairs.left.tolist() == [0, 1, 2]
    assert data.pairs.right.tolist() == [1, 2, 0]
    assert data.pairs.same.tolist() == [True, False, True]
    assert data.annotator_names == ["w1", "w2"]
    assert data.pairs.annotator.tolist() == [0, 1, 0]
    assert data.columns == Columns("left", "right", "answer", "worker", "id")
    assert data.mapping == {"Yes": "same", "no": "different", "YES": "same"}
    assert [source["rows"] for source in data.sources] == [3, 3]
    assert data.sources[1]["sha256"] == hashlib.sha256(PAIRS.encode()).hexdigest()
    assert data.sources[1]["bytes"] == len(PAIRS)


def as_parquet(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_parquet(path)
    return path


def test_every_format_gives_the_same_dataset(put, tmp_path):
    frame = pd.read_csv(put("pairs.csv", PAIRS), dtype=str)
    lines = "\n".join(json.dumps(row) for row in frame.to_dict("records"))
    folder = tmp_path / "parts"
    folder.mkdir()
    as_parquet(folder / "1.parquet", frame[:2])
    as_parquet(folder / "2.parquet", frame[2:])
    paths = [
        put("pairs.tsv", PAIRS.replace(",", "\t")),
        put("semicolons.csv", PAIRS.replace(",", ";")),
        put("pairs.jsonl", lines),
        put("records.json", json.dumps(frame.to_dict("records"))),
        put("pairs.csv.gz", gzip.compress(PAIRS.encode())),
        put("joined.csv.gz", b"".join(gzip.compress(p.encode()) for p in (PAIRS[:40], PAIRS[40:]))),
        put("spreadsheet.csv", PAIRS.replace("\n", "\n,,,\n") + ",,,\n"),
        put("disguised.csv", gzip.compress(PAIRS.encode())),
        put("marked.csv", b"\xef\xbb\xbf" + PAIRS.encode()),
        put("wide.csv", PAIRS.encode("utf-16")),
        put("windows.csv", PAIRS.replace("\n", "\r\n")),
        put("blanks.csv", PAIRS.replace(",", " , ").replace("\n", "\n\n")),
        put("quoted.csv", "\n".join(f'"{line}"'.replace(",", '","') for line in PAIRS.split())),
        as_parquet(tmp_path / "pairs.parquet", frame),
        as_parquet(tmp_path / "parquet.csv", frame),
        folder,
    ]
    items = put("items.csv", ITEMS)
    wanted = read_dataset(items, tmp_path / "pairs.csv")
    for path in paths:
        data = read_dataset(items, path)
        assert data.pairs == wanted.pairs, path
        assert set(data.mapping) == {"Yes", "no", "YES"}
    for name, words in {
        "disguised.csv": "gzip-compressed",
        "marked.csv": "byte order mark",
        "wide.csv": "UTF-16",
        "semicolons.csv": "';'",
        "parts": "2 Parquet files",
    }.items():
        assert noted(read_dataset(items, tmp_path / name), words)


def test_other_encodings_are_read_and_said(put):
    path = put("pairs.csv", "left,right,same\ncafé,b,1\nb,ü,0\n".encode("cp1252"))
    data = read_pairs(path)
    assert data.ids == ["café", "b", "ü"]
    assert noted(data, "line 2")
    assert noted(data, "Windows-1252")


def test_ids_keep_their_zeros_and_numbers_become_numbers(put):
    frame = read_frame(
        put("t.csv", "item_id,zip,n,x,flag,all\n007,010,1,1e3,true,\n8,11,2,-.5,false,\n")
    )
    assert frame["item_id"].tolist() == ["007", "8"]
    assert frame["zip"].tolist() == ["010", "11"]
    assert frame["n"].tolist() == [1, 2]
    assert frame["x"].tolist() == [1000.0, -0.5]
    assert frame["flag"].dtype == bool
    assert frame["all"].isna().all()


def test_infinite_and_huge_numbers_become_missing_with_a_note(put):
    items = put("items.csv", "id,size\na,1e999\nb,-inf\nc,3\n")
    data = read_dataset(items, put("pairs.csv", "left,right,same\na,b,1\nb,c,0\n"))
    assert data.features["size"].isna().tolist() == [True, True, False]
    assert noted(data, "2 infinite numbers read as missing")


def test_decimal_commas_in_files_with_semicolons(put):
    assert read_frame(put("t.csv", "n;w\nx;1,5\ny;2\n"))["w"].tolist() == [1.5, 2.0]


@pytest.mark.parametrize(
    ("ids", "asked", "notes"),
    [
        (("007", "012", "100"), ("7", "12", "100"), 1),  # a spreadsheet ate the zeros
        (("7", "12", "100"), ("007", "012", "100"), 1),
        (("7", "12", "100"), ("7.0", "12.0", "100.0"), 1),
        (("Dog", "cat", "COW"), (" dog", "CAT ", "cow"), 1),
        (("7", "12", "100"), (" 7", "12 ", "100"), 0),
    ],
)
def test_ids_match_as_text_first_then_loosely(put, ids, asked, notes):
    items = put("items.csv", "id,w\n" + "".join(f"{name},1\n" for name in ids))
    a, b, c = asked
    data = read_dataset(items, put("pairs.csv", f"left,right,same\n{a},{b},1\n{b},{c},0\n"))
    assert data.ids == list(ids)
    assert data.pairs.left.tolist() == [0, 1]
    assert data.pairs.right.tolist() == [1, 2]
    assert sum("only without leading zeros" in note for note in data.notes) == notes


@pytest.mark.parametrize(
    ("ids", "asked"), [(("007", "7", "8"), ("07", "8")), (("7", "8", "9"), ("7", "007"))]
)
def test_ambiguous_ids_are_refused(put, ids, asked):
    items = put("items.csv", "id,w\n" + "".join(f"{name},1\n" for name in ids))
    with pytest.raises(BadFile, match="write ids alike in both files"):
        read_dataset(items, put("pairs.csv", "left,right,same\n{},{},1\n".format(*asked)))


def test_places_count_lines_not_rows(put):
    head = 'left,right,same\n\n"two\nlines",b,1\n,,\n'
    with pytest.raises(BadFile, match="'maybe' on line 6"):
        read_pairs(put("pairs.csv", head + "a,b,maybe\n"))
    with pytest.raises(BadFile, match="line 2: not valid JSON"):
        read_pairs(put("pairs.jsonl", '{"left": 1, "right": 2, "same": true}\n{"left": \n'))
    with pytest.raises(BadFile, match=r"'maybe' on line 3"):
        read_pairs(
            put("gap.jsonl", '\n{"left":1,"right":2,"same":1}\n{"left":1,"right":2,"same":"maybe"}')
        )


@pytest.mark.parametrize(
    ("content", "cells", "places"),
    [
        ('a,b\r\n1,"y\r\nz"\n3,w\r4,v\n', [["1", "y\r\nz"], ["3", "w"], ["4", "v"]], [2, 4, 5]),
        ('a,b\r\n1,5" pipe\r\n2,6" pipe\r\n', [["1", '5" pipe'], ["2", '6" pipe']], [2, 3]),
        ("ID,id\n1,2\n", [["1", "2"]], [2]),
        (",,\n\na,b\n \t,\n1,2\n", [["1", "2"]], [5]),
        ("a,b\n1,\xa0\n2,\u2028\n", [["1", "\xa0"], ["2", "\u2028"]], [2, 3]),
        ("a\n1\n\n2\n", [["1"], ["2"]], [2, 4]),
        ('a,b\n"1, ""one""",\n', [['1, "one"', ""]], [2]),
    ],
)
def test_delimited_text_is_read_cell_by_cell_and_line_by_line(put, content, cells, places):
    table = read_table(put("t.csv", content))
    assert table.frame.to_numpy().tolist() == cells
    assert [table.place(row) for row in range(len(cells))] == [f"line {one}" for one in places]


def test_a_table_of_many_rows_is_read_as_one_of_few(put, monkeypatch):
    items = put("items.csv", ITEMS.replace("008,", " 008 ,"))
    pairs = put("pairs.csv", PAIRS + "007, 009 ,no,\n")
    few = read_dataset(items, pairs)
    monkeypatch.setattr(cells, "MANY_ROWS", 1)
    many = read_dataset(items, pairs)
    assert many.pairs == few.pairs
    assert many.notes == few.notes
    pd.testing.assert_frame_equal(many.features, few.features)


def test_ids_that_all_miss_are_refused_and_a_few_are_left_out(put):
    items = put("items.csv", ITEMS)
    with pytest.raises(BadFile, match=r"none of the 2 ids in strange.csv is an item of items.csv"):
        read_dataset(items, put("strange.csv", "left,right,same\nx,y,1\n"))
    data = read_dataset(items, put("pairs.csv", PAIRS + "007,00x,no,w1\n"))
    assert data.pairs.n_pairs == 3
    assert data.pairs.audit().unknown == 1
    assert noted(data, "1 answer left out that name an item unknown to items.csv, such as '00x'")
    assert noted(data, "line 5")


def test_missing_and_unsure_answers_are_left_out_and_counted(put):
    rows = "007,008,unsure,w1\n007,009,,w2\n008,009,NA,\n008,,no,w1\n"
    data = read_dataset(put("items.csv", ITEMS), put("pairs.csv", PAIRS + rows))
    assert data.pairs.n_pairs == 3
    assert data.pairs.audit().unsure == 3
    assert noted(data, "3 answers missing or unsure, left out (the first on line 5)")
    assert noted(data, "1 row without an item left out (the first on line 8)")
    assert noted(data, "without an annotator, called '(unknown)'")


def test_self_pairs_repeats_and_contradictions_stay_and_are_said(put):
    rows = "007,007,no,w1\n008,007,no,w2\n"
    data = read_dataset(put("items.csv", ITEMS), put("pairs.csv", PAIRS + rows))
    assert data.pairs.n_pairs == 5
    assert noted(data, "1 pair of an item with itself kept")
    assert noted(data, "1 pair asked more than once, in either order, 1 of them answered both ways")


def test_scores_become_two_weighted_answers(put):
    pairs = put("pairs.csv", "left,right,score\na,b,0.75\nb,c,0\na,c,unsure\n")
    data = read_pairs(pairs)
    found = data.pairs
    rows = zip(found.left, found.right, found.same, found.weight, strict=True)
    assert sorted((int(a), int(b), bool(s), float(w)) for a, b, s, w in rows) == [
        (0, 1, False, 0.25),
        (0, 1, True, 0.75),
        (1, 2, False, 1.0),
    ]
    assert noted(data, "1 answer missing or unsure")
    assert "same with weight p" in data.mapping["p"]


def test_votes_become_weighted_answers(put):
    data = read_pairs(put("p.csv", "left,right,n_same,n_different\na,b,3,1\nb,c,0,2\na,c,0,0\n"))
    assert data.pairs.same.tolist() == [True, False, False]
    assert data.pairs.weight.tolist() == [3, 1, 2]
    assert noted(data, "1 row without any vote")
    assert data.columns.same == "n_same and n_different"


def test_weights_count_and_zero_leaves_out(put):
    data = read_pairs(put("p.csv", "left,right,same,count\na,b,1,2\nb,c,0,0\na,c,0,1\n"))
    assert data.pairs.weight.tolist() == [2, 1]
    assert noted(data, "of weight 0 left out (the first on line 3)")
    with pytest.raises(BadFile, match=r"line 2: the weight is '-1', expected"):
        read_pairs(put("q.csv", "left,right,same,count\na,b,1,-1\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"pairs.csv is empty"),
        ("  \n\n", r"pairs.csv is empty"),
        ("left,right,same\n", "has a header but no rows"),
        ("left,right,same\na,b,1\nb,c\n", r"line 3 has 2 cells, but the header names 3"),
        ('left,right,same\n"a\nb",c,1\nb,c,1,4\n', r"line 4 has 4 cells"),
        ("left,right,same\na,b,1\nb,c,maybe\n", r"'maybe' on line 3; expected same/different"),
        ("left,right,same\na,b,1\na,c,2\n", r"coded 1/2"),
        ("left,right,same\na,b,-1\na,c,yes\n", r"'-1' on line 2 beside other codings"),
        ("left,right,same\na,b,unsure\n", "no usable answer"),
        ("left,right,same,same\na,b,1,1\n", r"'same' stands 2 times"),
        ("left,right,answer\na,b,left\nb,c,right\n", "a preference says nothing about classes"),
        ("left,right,label\na,b,a\nb,c,c\n", "a preference says nothing about classes"),
        ("u,v,same\na,b,1\n", "two columns must name the items of a pair"),
        ("left,right,same\na,b,\x00\n", "NUL byte on line 2"),
        ('left,right,same\na,"b,1\n', "line 2: .* A quote is open or out of place"),
        ('left,right,same\na,b,1\n"a"b,c,1\n', "line 3: .* A quote is open or out of place"),
        (b"\x81\xff\xfe,right\n", "neither UTF-8 nor Windows-1252: byte 0x81 on line 1"),
        (b"PK\x03\x04 sheet", "zip archive or an Excel workbook"),
        (gzip.compress(PAIRS.encode(), mtime=0)[:-20], "damaged gzip file, or ends too early"),
        (b"\xef\xbb\xbf", "is empty"),
        (b",,\n , \n", "is empty"),
        (b"PAR1 not really", "cannot be read as Parquet .*: it is damaged"),
    ],
)
def test_bad_pairs_are_refused_with_file_place_and_fix(put, content, message):
    path = put("pairs.csv", content)
    with pytest.raises(BadFile, match=message) as refusal:
        read_pairs(path)
    assert "pairs.csv" in str(refusal.value)


def test_a_truncated_parquet_a_folder_and_a_missing_file_are_refused(put, tmp_path):
    whole = as_parquet(tmp_path / "whole.parquet", pd.DataFrame({"left": ["a"], "right": ["b"]}))
    cut = put("cut.parquet", whole.read_bytes()[:-30])
    with pytest.raises(BadFile, match=r"cut.parquet cannot be read as Parquet"):
        read_pairs(cut)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadFile, match="folder without pictures, sounds or Parquet files"):
        read_pairs(tmp_path / "empty")
    with pytest.raises(BadFile, match=r"does not exist; did you mean 'whole.parquet'"):
        read_pairs(tmp_path / "hole.parquet")
    with pytest.raises(BadFile, match=r"extension '.sav', expected .csv"):
        read_pairs(put("book.sav", b"x"))


def test_columns_can_be_named_and_misspelt_ones_get_a_hint(put):
    items = put("items.csv", "name,code,w\na,x1,1\nb,x2,2\n")
    pairs = put("pairs.csv", "one,two,verdict,gold\nx1,x2,yes,no\n")
    data = read_dataset(items, pairs, Columns("one", "two", "gold", id="code"))
    assert data.pairs.same.tolist() == [False]
    assert data.ids == ["x1", "x2"]
    with pytest.raises(BadFile, match="did you mean 'one'"):
        read_dataset(items, pairs, Columns(left="onne", right="two"))
    with pytest.raises(BadFile, match="did you mean 'code'"):
        read_dataset(items, pairs, Columns("one", "two", id="cod"))


def test_the_column_of_ids_is_found_by_what_it_holds(put):
    items = put("items.csv", "serial,picture,w\n5,cat.png,1\n6,dog.png,2\n")
    data = read_dataset(items, put("pairs.csv", "left,right,same\ncat.png,dog.png,1\n"))
    assert data.ids == ["cat.png", "dog.png"]
    assert data.columns.id == "picture"
    numbered = put("numbered.csv", "w,v\n1.5,3.5\n2.5,3.5\n")
    data = read_dataset(numbered, put("positions.csv", "left,right,same\n0,1,1\n"))
    assert data.ids == ["0", "1"]
    assert noted(data, "numbered by row, from 0")
    with pytest.raises(BadFile, match=r"such as '2', .* begin 'w' with '1.5', '2.5', 'v' with"):
        read_dataset(numbered, put("beyond.csv", "left,right,same\n0,2,1\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,w\n", "has a header but no rows"),
        ("id,w\na,1\na,2\n", r"line 3: the id 'a' stands already on line 2, with other values"),
        ("id,w\na,1\n,2\n", r"line 3: the id in column 'id' is missing"),
        ("id,w,w\na,1,1\n", "'w' stands 2 times"),
    ],
)
def test_bad_items_are_refused(put, content, message):
    with pytest.raises(BadFile, match=message):
        read_items(put("items.csv", content))


def test_items_alone(put):
    features, ids = read_items(put("items.csv", "id,w\na,1\n b,2\na,1\n"))
    assert ids == ["a", "b"]
    assert features["w"].tolist() == [1, 2]
    features, ids = read_items(put("indexed.csv", ",w\n10,1\n11,2\n"))
    assert ids == ["10", "11"]
    assert list(features) == ["w"]


def test_a_class_among_the_features_is_pointed_out(put):
    items = put("items.csv", "id,w,true_class\na,1,0\nb,2,1\n")
    data = read_dataset(items, put("pairs.csv", "left,right,same\na,b,0\n"))
    assert noted(data, "'true_class' may be the class itself")


def test_known_classes(put):
    labels = put("known.csv", "id,class,by\n7,cat,me\n009,dog,me\n008,,me\nzz,cow,me\n")
    with pytest.warns(UserWarning, match="1 class of unknown items left out, such as 'zz' on line"):
        assert read_labels(labels, ["007", "008", "009"]) == {0: "cat", 2: "dog"}
    data = read_dataset(put("items.csv", ITEMS), put("pairs.csv", PAIRS), labels=labels)
    assert dict(data.pairs.labels) == {0: "cat", 2: "dog"}
    assert noted(data, "1 class of unknown items")
    assert len(data.sources) == 3
    with pytest.raises(BadFile, match=r"line 3: item 'a' is 'dog' here and 'cat' above"):
        read_labels(put("both.csv", "id,class\na,cat\na,dog\n"), ["a"])
    with pytest.raises(BadFile, match="names no class of any item"):
        read_labels(put("none.csv", "id,class\na,\n"), ["a"])


def test_classes_are_known_by_the_items_own_column(put):
    items = put("items.csv", "photo,w\np1,1\np2,2\np3,3\np4,4\np5,5\n")
    pairs = put("pairs.csv", "left,right,same\np1,p2,1\np3,p4,0\np5,p1,1\n")
    known = put("known.csv", "photo,kind\np4,ash\np2,yew\n")
    assert dict(read_dataset(items, pairs, labels=known).pairs.labels) == {3: "ash", 1: "yew"}
    assert read_labels(known, ["p1", "p2", "p3", "p4"], "photo") == {3: "ash", 1: "yew"}
    assert read_labels(known, ["p1", "p2", "p3", "p4"]) == {3: "ash", 1: "yew"}  # by content
    with pytest.raises(BadFile, match=r"'q1', 'q2', …; the columns begin 'photo' with 'p4'"):
        read_labels(known, ["q1", "q2", "q3"])


def test_files_that_share_no_id_show_ids_of_both(put):
    pairs = put("pairs.csv", "left,right,same\ncat.png,dog.png,1\n")
    with pytest.raises(
        BadFile, match=r"holds 'cat.png', 'dog.png', the second '007', '008', '009'"
    ):
        read_dataset(put("items.csv", ITEMS), pairs)
    halves = put("halves.csv", "left,right,same\n007,dog.png,1\n")
    with pytest.raises(BadFile, match=r"names '007', 'dog.png', the second '007', '008', …"):
        read_dataset(put("items.csv", ITEMS), halves)


def test_pairs_alone_number_items_as_they_appear(put):
    data = read_pairs(put("pairs.csv", "left,right,same\n5,3,1\n3,007,0\n"))
    assert data.ids == ["5", "3", "007"]
    assert data.features is None
    assert data.pairs.left.tolist() == [0, 1]
    assert data.columns.id is None


def test_long_cells_and_many_rows(put):
    rows = "".join(f"a{k % 300},b{k % 299},{k % 2}\n" for k in range(30_000))
    assert read_pairs(put("many.csv", "left,right,same\n" + rows)).pairs.n_pairs == 30_000
    features, _ = read_items(put("long.csv", "id,text\na," + "word " * 40_000 + "\nb,short\n"))
    assert len(features["text"][0]) == 5 * 40_000 - 1


@pytest.mark.parametrize(
    ("name", "column"), [("pairs.csv", "right"), ("pairs.csv", "who"), ("items.csv", "id")]
)
def test_a_cell_of_a_megabyte_is_no_name(tmp_path, name, column):
    tables = {
        "items.csv": [["id", "size"], ["a", "1"], ["b", "2"]],
        "pairs.csv": [["left", "right", "same", "who"], ["a", "b", "1", "w"], ["b", "a", "0", "w"]],
    }
    tables[name][2][tables[name][0].index(column)] = "x" * 10**6
    for file, rows in tables.items():
        (tmp_path / file).write_text("\n".join(",".join(row) for row in rows))
    columns = Columns(annotator="who")
    said = f"{name}, line 3: the cell in column '{column}' has 1,000,000 characters"
    with pytest.raises(BadFile, match=said):
        read_dataset(tmp_path / "items.csv", tmp_path / "pairs.csv", columns)


def test_a_column_says_which_pairs_were_chosen(put):
    pairs = "left,right,answer,chosen\n007,008,Yes,yes\n008,009,,no\n009,007,no,NO\n"
    data = read_dataset(put("i.csv", ITEMS), put("p.csv", pairs))
    assert data.pairs.chosen.tolist() == [True, False]
    other = pairs.replace(",yes\n", ",the left one\n")  # a column of another meaning
    assert read_dataset(put("i.csv", ITEMS), put("q.csv", other)).pairs.chosen is None
