"""A column of the items that says which belong together: read, or refused with a reason."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from noisypairs.app.files import BadFile, Columns, dataset, read_dataset, read_items, table
from noisypairs.app.files.items import items_of
from noisypairs.app.files.table import read_table
from noisypairs.pairs.groups import group_number
from noisypairs.tables import PairTable

VISITS = "id,patient,size\nv1,007,1.5\nv2,7,2\nv3,007,3\nv4,n/a,4\nv5,,5\n"
ANSWERS = "left,right,same\nv1,v2,yes\nv2,v3,no\nv3,v4,yes\nv5,v1,no\n"
BY_PATIENT = Columns(group="patient")


@pytest.fixture
def read(tmp_path):
    """Write items and answers, and read them with the columns given."""

    def both(items: str = VISITS, columns: Columns = BY_PATIENT, answers: str = ANSWERS, **more):
        files = tmp_path / "items.csv", tmp_path / "pairs.csv"
        for path, content in zip(files, (items, answers), strict=True):
            path.write_text(content)
        return read_dataset(*files, columns, **more)

    return both


def groups(data) -> list[str | None]:
    return data.pairs.group_names[data.pairs.groups].tolist()


def test_the_column_becomes_groups_and_is_no_feature(read):
    data = read()
    assert groups(data) == ["007", "7", "007", None, None]  # text: 007 is not 7
    assert group_number(data.pairs.groups) == 4  # who has no group is one
    assert list(data.features.columns) == ["size"]
    assert data.columns.group == "patient"
    note = "items.csv: 5 items in 4 groups by column 'patient'; 2 of them without a group"
    assert f"{note}: each counts as one of its own" in data.notes


def test_groups_stay_with_their_items_when_these_are_ordered(read):
    head, *rows = VISITS.splitlines()
    data = read("\n".join([head, *rows[::-1]]) + "\n").in_order()
    assert data.ids == ["v1", "v2", "v3", "v4", "v5"]
    assert groups(data) == ["007", "7", "007", None, None]


def test_without_the_option_nothing_is_grouped(read):
    data = read(columns=Columns())
    assert data.pairs.groups is None
    assert list(data.features.columns) == ["patient", "size"]


@pytest.mark.parametrize("name", ["items.parquet", "items.jsonl", "items.xlsx"])
def test_typed_files_have_groups_too(read, tmp_path, name):
    read()
    frame = pd.DataFrame({"id": ["v1", "v2", "v3", "v4", "v5"], "patient": [7, 8, 7, None, 8]})
    frame["size"] = [1.0, 2.0, 3.0, 4.0, 5.0]
    path = tmp_path / name
    if name.endswith("parquet"):
        frame.to_parquet(path)
    elif name.endswith("xlsx"):
        frame.to_excel(path, index=False)
    else:
        path.write_text("\n".join(json.dumps(row) for row in frame.to_dict("records")))
    data = read_dataset(path, tmp_path / "pairs.csv", BY_PATIENT)
    assert groups(data) == ["7", "8", "7", None, "8"]
    assert list(data.features.columns) == ["size"]


def test_the_column_is_never_taken_for_the_ids(read):
    """Its name is that of a column of ids, and its cells are asked for."""
    items = "item,scan,size\na,s1,1\na,s2,2\nb,s3,3\n"
    data = read(items, Columns(group="item"), "left,right,same\ns1,s2,yes\ns2,s3,no\n")
    assert data.ids == ["s1", "s2", "s3"]
    assert groups(data) == ["a", "a", "b"]


def test_repeated_rows_are_merged_and_two_groups_of_one_item_refused(read):
    data = read(VISITS + "v1,007,1.5\n")
    assert groups(data) == ["007", "7", "007", None, None]
    with pytest.raises(BadFile, match=r"line 7: the id 'v1' stands already on line 2, with other"):
        read(VISITS + "v1,7,1.5\n")


def test_a_column_without_two_items_of_one_group_is_noted(read):
    data = read(VISITS, Columns(group="size"))
    assert any("every item is a group of its own" in note for note in data.notes)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (Columns(group="patiant"), r"items\.csv: there is no column 'patiant' .*'patient'\?"),
        (
            Columns(id="id", group="id"),
            r"column 'id' cannot hold both the ids \(--id\) and the gro",
        ),
        (
            Columns(group="site"),
            r"column 'site' \(--group\) holds 'x' for all 2 items: expected two",
        ),
    ],
)
def test_wrong_columns_are_refused(read, columns, message):
    items = "id,patient,site,size\nv1,a,x,1\nv2,b,x,2\n"
    with pytest.raises(BadFile, match=message):
        read(items, columns, "left,right,same\nv1,v2,yes\n")


@pytest.mark.parametrize("stream", [False, True])
def test_groups_need_a_file_of_items(tmp_path, monkeypatch, stream):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(ANSWERS)
    monkeypatch.setattr(dataset, "MOST_BYTES", 10)
    with pytest.raises(BadFile, match="--group patient names a column of the items, but no file"):
        read_dataset(None, pairs, BY_PATIENT, stream=stream)


def test_items_beside_the_answers_have_groups_too(tmp_path):
    def record(name: str, house: str) -> dict[str, str]:
        return {"id": name, "name": f"{name} lee", "house": house}

    ann, anne, bob = record("ann", "h1"), record("anne", "h1"), record("bob", "h2")
    path = Path(tmp_path, "training.json")
    path.write_text(json.dumps({"match": [[ann, anne]], "distinct": [[anne, bob], [ann, bob]]}))
    data = read_dataset(path, path, Columns(group="house"))
    assert groups(data) == ["h1", "h1", "h2"]
    assert "house" not in data.features
    with pytest.raises(BadFile, match=r"no column 'hous'.*did you mean 'house'"):
        read_dataset(path, path, Columns(group="hous"))


def test_answers_too_many_to_load_have_groups_too(read, monkeypatch):
    monkeypatch.setattr(dataset, "MOST_BYTES", 10)
    data = read(stream=True)
    assert isinstance(data.pairs, PairTable)
    assert groups(data) == ["007", "7", "007", None, None]
    assert data.columns.group == "patient"
    assert groups(data.in_order()) == groups(data)


@pytest.mark.parametrize(
    ("columns", "column"),
    [
        ({"sku": ["a-1", "b-2", "c-3"], "size": [1, 2, 4]}, "sku"),
        ({"file": ["x/1.png", "x/2.png", "x/3.png"], "nr": [1, 2, 3]}, "file"),
        ({"size": [3, 9, 1], "nr": [7, 9, 8]}, "nr"),
        ({"size": [3, 9, 1], "photo_id": [70, 9, 8]}, "photo_id"),
        ({"size": [1.5, 2.5, 3.5], "colour": ["red", "red", "blue"]}, None),
        ({"day": ["2024-01-01", "2024-01-02", "2024-01-03"], "size": [3, 9, 1]}, None),
        ({"note": ["a thing", "b thing", "c thing"], "price": [30, 10, 20.5]}, None),
        ({"code": ["a", "b", None], "size": [3, 9, 1]}, None),
    ],
)
def test_the_column_that_identifies_every_row_holds_the_ids(tmp_path, columns, column):
    path = tmp_path / "items.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    features, ids = read_items(path)
    assert ids == (["0", "1", "2"] if column is None else list(map(str, columns[column])))
    assert column not in features


def test_a_feature_of_a_model_is_no_column_of_ids(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("word,size\none,1\ntwo,4\n")
    assert items_of(read_table(path)).id_column == "word"
    assert items_of(read_table(path), features=["word", "size"]).id_column is None


def test_more_columns_than_can_be_learnt_from_are_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "_engine", lambda _: pytest.fail("was read"))
    path = tmp_path / "items.csv"
    names = [f"c{k}" for k in range(5_001)]
    path.write_text(",".join(names) + "\n" + ",".join("1" for _ in names) + "\n")
    with pytest.raises(BadFile, match=r"items\.csv has 5,001 columns, and at most 5,000 are read"):
        read_items(path)


def test_arrays_and_vectors_that_are_too_wide_are_refused_too(tmp_path):
    wide = np.zeros((2, 5_001))
    np.savez(tmp_path / "wide.npz", X=wide)
    np.save(tmp_path / "beside.npy", wide)
    (tmp_path / "beside.csv").write_text("id\na\nb\n")
    cells = pd.DataFrame({"id": ["a", "b"], "v": [row.tolist() for row in wide]})
    cells.to_parquet(tmp_path / "cells.parquet")
    for name, said in [("wide.npz",) * 2, ("beside.csv", "beside.npy"), ("cells.parquet",) * 2]:
        with pytest.raises(BadFile, match=rf"{said} has 5,001 columns, and at most 5,000"):
            read_items(tmp_path / name)
