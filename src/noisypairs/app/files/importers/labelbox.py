"""Labelbox: an export of data rows as NDJSON, with a radio classification about two items.

A data row is one asset. Its two items are named by metadata fields or attachments, else by its
global key: "p1|p2".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from noisypairs.app.files.columns import couples_by_name
from noisypairs.app.files.importers.crowd_kit import split_names
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

KEYS = ("global_key", "external_id", "row_data")


def _recognises(file: PairsFile) -> bool | Near:
    first = file.records[0] if file.records else {}
    if isinstance(first.get("data_row"), dict):
        return isinstance(first.get("projects"), dict) or Near("the data rows have no projects")
    return False


def _read(file: PairsFile) -> ImportedTable:
    tasks = []
    for k, record in enumerate(file.records):
        shown = _fields(record)
        for label in _labels(record):
            who = fields(label.get("label_details")).get("created_by")
            tasks.append(Answered(k, shown, _answers(label), str(who or "")))
    notes = list[str]()
    if tasks and not couples_by_name([name for task in tasks for name in task.shown]):
        tasks, notes = _by_key(file, tasks)
    return tasks_table(file, tasks, "labels", file.place, notes)


def _by_key(file: PairsFile, tasks: list[Answered]) -> tuple[list[Answered], list[str]]:
    """Split the first key that names two items; the tasks as they are where none does."""
    for key in KEYS:
        names = [str(task.shown.get(key, "")) for task in tasks]
        if all(names) and (found := split_names(names)) is not None:
            couples, mark = found
            split = [
                Answered(t.number, {"left": one, "right": other}, t.said, t.who)
                for t, (one, other) in zip(tasks, couples, strict=True)
            ]
            return split, [f"{file.path.name}: {key} split at {mark!r} into two items"]
    return tasks, []


def _labels(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for project in fields(record.get("projects")).values():
        yield from objects(fields(project).get("labels"))


def _answers(label: Mapping[str, Any]) -> dict[str, str]:
    """Return {question: answer} of the radio buttons; of checklists only a single tick counts."""
    found = {}
    for one in objects(fields(label.get("annotations")).get("classifications")):
        ticked = one.get("checklist_answers")
        answer = one.get("radio_answer")
        if answer is None and isinstance(ticked, list) and len(ticked) == 1:
            answer = ticked[0]
        if isinstance(answer, dict):
            said = answer.get("name") or answer.get("value") or ""
            found[str(one.get("name") or one.get("value"))] = str(said)
    return found


def _fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what names the items: keys of the data row, metadata and attachments."""
    row = fields(record.get("data_row"))
    found = {key: row[key] for key in KEYS if isinstance(row.get(key), str)}
    for part, name in (("metadata_fields", "schema_name"), ("attachments", "name")):
        for one in objects(record.get(part)):
            field = one.get(name) or one.get("name")
            found |= plain_fields({str(field): one.get("value")}) if field else {}
    return found


LABELBOX = Importer(
    "labelbox",
    "an export of Labelbox (NDJSON)",
    _recognises,
    _read,
    Example(
        "export.ndjson",
        "".join(
            f'{{"data_row": {{"id": "r{k}", "global_key": "{key}"}}, "projects": {{"x1": '
            f'{{"labels": [{{"label_details": {{"created_by": "{who}@a.org"}}, "annotations": '
            f'{{"classifications": [{{"name": "same", "radio_answer": {{"name": "{said}"}}}}]}}'
            "}]}}}\n"
            for k, key, who, said in (
                (1, "p1|p2", "ann", "yes"),
                (2, "p2|p3", "ann", "no"),
                (3, "p1|p3", "bob", "no"),
                (4, "p1|p2", "bob", "yes"),
            )
        ),
    ),
    "Items from two metadata fields or attachments of the data row (left_id and right_id), else "
    "from its global key, split in two. The answer is that of a radio classification, the "
    "annotator created_by.",
    "https://docs.labelbox.com/reference/export-quick-reference",
)
