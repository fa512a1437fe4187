"""Prodigy: JSON lines of tasks with accept, reject or ignore, or with the options chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noisypairs.app.files.answers import preference
from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    Near,
    PairsFile,
)
from noisypairs.app.files.importers.tasks import (
    Answered,
    fields,
    objects,
    plain_fields,
    tasks_table,
)
from noisypairs.pairs import answers

WORDS = {"accept": "same", "reject": "different", "ignore": "unsure"}
HASHES = {"_task_hash", "_input_hash"}


def _recognises(file: PairsFile) -> bool | Near:
    first = file.records[0] if file.records else {}
    if "answer" in first and HASHES & first.keys():
        return True
    if HASHES & first.keys():
        return Near("the tasks have no answer: export them after they are annotated")
    if first.get("answer") in WORDS:
        return Near("the tasks have no _task_hash")
    return False


def _read(file: PairsFile) -> ImportedTable:
    tasks = []
    for k, record in enumerate(file.records):
        if isinstance(record.get("accept"), dict):
            raise preference(file.path, f"{file.place(k)} is a comparison, which", ["accept"])
        shown = plain_fields(fields(record.get("meta")))
        shown |= {
            name: value
            for name, value in plain_fields(record).items()
            if not name.startswith("_") and name != "answer"
        }
        who = record.get("_annotator_id") or record.get("_session_id") or ""
        tasks.append(Answered(k, shown, {"answer": _answer(record)}, str(who)))
    return tasks_table(file, tasks, "tasks with an answer", file.place, words=WORDS)


def _answer(record: Mapping[str, Any]) -> str:
    """Return accept, reject or ignore; of a task with options the one that was chosen."""
    chosen, options = record.get("accept"), record.get("options")
    if not isinstance(chosen, list) or not isinstance(options, list):
        return str(record.get("answer", ""))
    if record.get("answer") != "accept" or len(chosen) != 1:
        return "ignore"
    name = str(chosen[0])
    if answers.canonical(name) in answers.MEANING and not name.strip().lstrip("-").isdecimal():
        return name
    texts = {str(one.get("id")): one.get("text") for one in objects(options)}
    return str(texts.get(name) or name)


PRODIGY = Importer(
    "prodigy",
    "Prodigy's annotations (db-out)",
    _recognises,
    _read,
    Example(
        "annotations.jsonl",
        '{"left": "p1", "right": "p2", "_task_hash": 1, "answer": "accept", "_annotator_id": "ann"}'
        '\n{"left": "p2", "right": "p3", "_task_hash": 2, "answer": "reject", "_annotator_id": '
        '"ann"}\n{"left": "p1", "right": "p3", "_task_hash": 3, "answer": "ignore", '
        '"_annotator_id": "ann"}\n'
        '{"left": "p1", "right": "p2", "_task_hash": 1, "answer": "accept", "_annotator_id": "bob"}'
        '\n{"left": "p1", "right": "p3", "_task_hash": 3, "answer": "reject", "_annotator_id": '
        '"bob"}\n',
    ),
    "Items from two fields of the task or of its meta. accept is same, reject is different, ignore "
    "is unsure. Of tasks with options, the one option chosen is the answer. The annotator is "
    "_annotator_id or _session_id.",
    "https://prodi.gy/docs/api-interfaces",
)
