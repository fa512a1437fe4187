"""Exports of Labelbox."""

from __future__ import annotations

import json

from noisypairs.app.files import read_pairs
from tests.app.files.importers.linked_items import answers


def row(key, *said, **more):
    labels = [
        {
            "label_details": {"created_by": f"w{k}"},
            "annotations": {"classifications": [{"name": "same", **one}]},
        }
        for k, one in enumerate(said)
    ]
    return {
        "data_row": {"id": key, "global_key": key},
        "projects": {"p": {"labels": labels}},
        **more,
    }


def test_keys_are_split_where_nothing_else_names_two_items(tmp_path):
    yes, no = {"radio_answer": {"name": "Yes"}}, {"checklist_answers": [{"name": "No"}]}
    both = {"checklist_answers": [{"name": "Yes"}, {"name": "No"}]}
    rows = [row("a__b", yes, both), row("b__c", no), row("a__d")]  # the last is not labelled
    path = tmp_path / "export.ndjson"
    path.write_text("\n".join(map(json.dumps, rows)))
    data = read_pairs(path)
    assert answers(data) == {("a", "b", True), ("b", "c", False)}
    assert data.annotator_names == ["w0"]
    assert any("global_key split at '__' into two items" in note for note in data.notes)


def test_attachments_may_name_the_items(tmp_path):
    two = [{"name": "left", "value": "a"}, {"name": "right", "value": "b"}]
    path = tmp_path / "export.json"  # a list is as good as lines
    path.write_text(json.dumps([row("x|y", {"radio_answer": {"value": "same"}}, attachments=two)]))
    assert answers(read_pairs(path)) == {("a", "b", True)}


def test_a_key_that_does_not_name_two_items_everywhere_is_not_split(tmp_path):
    """Half a name is none: the next key is tried, which has two in each row."""
    yes, path = {"radio_answer": {"name": "Yes"}}, tmp_path / "export.ndjson"
    for half in ("c|", "|c", "", "c"):
        rows = [row("a|b", yes), row(half, yes)]
        for k, one in enumerate(rows):
            one["data_row"]["external_id"] = f"x{k}|y{k}"
        path.write_text("\n".join(map(json.dumps, rows)))
        assert answers(read_pairs(path)) == {("x0", "y0", True), ("x1", "y1", True)}
