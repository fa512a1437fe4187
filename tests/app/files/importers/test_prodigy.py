"""Prodigy's annotations."""

from __future__ import annotations

import json

import pytest

from noisypairs.app.files import BadFile, read_pairs
from tests.app.files.importers.linked_items import answers


def write(path, *records):
    hashed = [{"_task_hash": k, "_input_hash": k, **one} for k, one in enumerate(records)]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in hashed))
    return path


def test_options_are_read_by_id_or_by_text(tmp_path):
    texts = [{"id": 0, "text": "Yes"}, {"id": 1, "text": "No"}]
    words = [{"id": "SAME", "text": "Ja"}, {"id": "DIFFERENT", "text": "Nein"}]
    two = {"item1": "a", "item2": "b", "answer": "accept"}
    other = {"item1": "a", "item2": "c", "answer": "accept"}
    for options, yes, no in ((texts, 0, 1), (words, "SAME", "DIFFERENT")):
        records = [{**two, "options": options, "accept": [yes]}]
        records += [{**other, "options": options, "accept": [no]}]
        records += [{**other, "options": options, "accept": [yes, no]}]  # both: no answer
        records += [{**other, "options": options, "accept": [yes], "answer": "ignore"}]
        data = read_pairs(write(tmp_path / "db.jsonl", *records))
        assert answers(data) == {("a", "b", True), ("a", "c", False)}
        assert data.pairs.n_pairs == 2


def test_a_session_names_who_has_no_annotator_id(tmp_path):
    one = {"left": "a", "right": "b", "answer": "accept", "_session_id": "db-ann"}
    path = write(tmp_path / "db.jsonl", one, {**one, "right": "c", "_annotator_id": "db-bob"})
    assert read_pairs(path).annotator_names == ["db-ann", "db-bob"]


def test_comparisons_are_preferences(tmp_path):
    one = {"id": 1, "accept": {"text": "a"}, "reject": {"text": "b"}, "answer": "accept"}
    with pytest.raises(BadFile, match="line 1 is a comparison, which says which of the two"):
        read_pairs(write(tmp_path / "db.jsonl", one))
