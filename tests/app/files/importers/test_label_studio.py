"""Label Studio's export."""

from __future__ import annotations

import json

import pytest

from noisypairs.app.files import BadFile, Columns, read_pairs
from tests.app.files.importers.linked_items import LINKED, answers


def task(first: str, second: str, *annotations: dict) -> dict:
    return {"id": 1, "data": {"text1": first, "text2": second}, "annotations": list(annotations)}


def chose(*words: str, by: object = 1, **more: object) -> dict:
    value = {"choices": list(words)}
    result = {"type": "choices", "from_name": "q", "to_name": "text1", "value": value}
    return {"completed_by": by, "result": [result], **more}


def test_label_studio_choices(tmp_path):
    path = tmp_path / "export.json"
    tasks = [
        task("a", "b", chose("Same", by={"id": 4, "email": "x@y.org"})),
        task("b", "c", chose("Different"), chose("Same", was_cancelled=True)),
        task("a", "c", chose("Different", by=2), {"completed_by": 1, "result": []}),
    ]
    path.write_text(json.dumps(tasks))
    data = read_pairs(path)
    assert data.format == "label-studio"
    assert answers(data) == LINKED
    assert data.annotator_names == ["1", "2", "x@y.org"]
    assert data.features is None  # a and b are names, and no text to learn from
    assert any("2 annotations cancelled or without a choice" in note for note in data.notes)


def test_what_tasks_show_is_a_feature_where_it_is_text(tmp_path):
    path = tmp_path / "export.json"
    tasks = [
        task("a red fox", "a fox", chose("Same")),
        task("a fox", "an old owl", chose("Different")),
        {"id": 3, "data": {"text1": "a fox", "text2": "an owl"}, "annotations": []},
    ]
    path.write_text(json.dumps(tasks))
    data = read_pairs(path)
    assert data.features["text"].tolist() == data.ids == ["a red fox", "a fox", "an old owl"]
    assert "export.json: 1 row without an answer left out" in data.notes


def test_label_studio_preferences_are_refused_with_the_reason(tmp_path):
    path = tmp_path / "export.json"
    picked = {"type": "pairwise", "from_name": "pw", "value": {"selected": "left"}}
    path.write_text(json.dumps([task("a", "b", {"completed_by": 1, "result": [picked]})]))
    with pytest.raises(BadFile, match="row 1 is a comparison, which says which of the"):
        read_pairs(path)
    path.write_text(json.dumps([{"text1": "a", "text2": "b", "pw": "left"}]))
    with pytest.raises(BadFile, match="preferred"):
        read_pairs(path, Columns("text1", "text2", "pw"))


def test_label_studio_with_several_questions(tmp_path):
    path = tmp_path / "export.json"
    first, second = chose("yes"), chose("no")
    second["result"][0]["from_name"] = "other"
    both = {"completed_by": 1, "result": first["result"] + second["result"]}
    path.write_text(json.dumps([task("a", "b", both)]))
    with pytest.raises(BadFile, match="answers to several questions, 'other', 'q'"):
        read_pairs(path)
    assert answers(read_pairs(path, Columns(same="other"))) == {("a", "b", False)}


def test_flat_exports_with_several_choices_and_other_fields(tmp_path):
    path = tmp_path / "export.csv"
    head = "id,image_a,image_b,note,sim,annotator,annotation_id,lead_time\n"
    rows = ["1,a,b,x,Same,7,1,2.0", '2,b,c,y,"{""choices"": [""Same"", ""Different""]}",7,2,2.0']
    path.write_text(head + "\n".join([*rows, "3,a,c,x,Different,8,3,1.5"]) + "\n")
    data = read_pairs(path)
    assert data.format == "label-studio"
    assert answers(data) == {("a", "b", True), ("a", "c", False)}
    assert data.annotator_names == ["7", "8"]
    assert data.columns.same == "sim"
