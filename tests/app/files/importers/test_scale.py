"""Tasks of Scale."""

from __future__ import annotations

import json

import pytest

from noisypairs.app.files import BadFile, read_pairs
from tests.app.files.importers.linked_items import answers


def task(left, right, response, **more):
    shown = {"attachments": [left, {"type": "image", "content": right}]}
    return {"task_id": left + right, "params": shown, "response": response, **more}


def test_answers_of_every_kind_of_task(tmp_path):
    path = tmp_path / "tasks.json"
    for one in ({"category": "no"}, {"choice": "no"}, {"annotations": {"q": {"value": "no"}}}):
        path.write_text(json.dumps([task("a", "b", one), task("b", "c", one, status="error")]))
        data = read_pairs(path)
        assert answers(data) == {("a", "b", False)}
        assert data.annotator_names is None
        assert any("1 task not completed, left out" in note for note in data.notes)


def test_tasks_with_one_attachment_name_no_pair(tmp_path):
    path = tmp_path / "tasks.jsonl"
    one = {"task_id": "1", "params": {"attachment": "a"}, "response": {"category": "no"}}
    path.write_text(json.dumps(one) + "\n")
    with pytest.raises(BadFile, match="two columns must name the items of a pair"):
        read_pairs(path)
