"""dedupe's training file."""

from __future__ import annotations

import json

import pytest

from noisypairs.app.files import BadFile, read_dataset, read_pairs
from tests.app.files.importers.linked_items import answers


def record(name: str, age: int) -> dict:
    return {"name": name, "age": age}


def marked(*values: object) -> dict:
    return {"__class__": "tuple", "__value__": list(values)}


def test_dedupe_training(tmp_path):
    path = tmp_path / "training.json"
    ann, anne, bob = record("Ann", 3), record("Anne", 3), record("Bob", 4)
    training = {"match": [marked(ann, anne)], "distinct": [[anne, bob], marked(ann, bob)]}
    path.write_text(json.dumps(training))
    data = read_dataset(path, path)
    assert data.format == "dedupe"
    assert data.features["name"].tolist() == ["Ann", "Anne", "Bob"]
    assert data.features["age"].tolist() == [3, 3, 4]
    names = data.features["name"]
    found = {(names[data.ids.index(a)], names[data.ids.index(b)], s) for a, b, s in answers(data)}
    assert found == {("Ann", "Anne", True), ("Anne", "Bob", False), ("Ann", "Bob", False)}
    path.write_text(json.dumps({"match": [[{"id": 7, "n": 1}, {"id": 8, "n": 2}]]}))
    assert read_pairs(path).ids == ["7", "8"]
    path.write_text(json.dumps({"match": [[ann]], "distinct": []}))
    with pytest.raises(BadFile, match="match 1: expected two records"):
        read_pairs(path)
    path.write_text(json.dumps({"match": [], "distinct": []}))
    with pytest.raises(BadFile, match="no couples"):
        read_pairs(path)


def test_records_are_found_in_a_file_of_items_by_all_their_fields(tmp_path):
    path, items = tmp_path / "training.json", tmp_path / "items.csv"
    items.write_text(
        'code,name,age,city\nx1,"ANN  Lée",3,Rome\nx2,Anne Lee,3,Bonn\nx3,Bob,4,Rome\n'
    )
    ann, anne, bob = record("ann lee", 3), record("anne lee", 3), record("bob", 4)
    path.write_text(json.dumps({"match": [[ann, anne]], "distinct": [[anne, bob]]}))
    data = read_dataset(items, path)
    assert data.columns.id == "code"
    assert answers(data) == {("x1", "x2", True), ("x2", "x3", False)}
    assert any("3 of 3 records found in items.csv by the fields" in note for note in data.notes)
    items.write_text("code,name,age\nx1,ann lee,3\nx2,ann lee,3\nx3,bob,4\nx4,anne lee,3\n")
    data = read_dataset(items, path)  # who is "ann lee"? two could be
    assert answers(data) == {("x4", "x3", False)}
    assert any("1 answer left out that name an item unknown" in note for note in data.notes)


def test_the_order_of_fields_makes_no_other_record(tmp_path):
    path = tmp_path / "training.json"
    ann, same_ann, bob = record("Ann", 3), {"age": 3, "name": "Ann"}, record("Bob", 4)
    path.write_text(json.dumps({"match": [], "distinct": [[ann, bob], [bob, same_ann]]}))
    assert read_dataset(path, path).features["name"].tolist() == ["Ann", "Bob"]
