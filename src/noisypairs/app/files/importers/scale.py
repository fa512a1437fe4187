"""Scale: completed tasks as NDJSON or a JSON list, with two attachments and a category."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from noisypairs.app.files.contents import plural
from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    Near,
    PairsFile,
)
from noisypairs.app.files.importers.tasks import Answered, fields, plain_fields, tasks_table


def _recognises(file: PairsFile) -> bool | Near:
    first = file.records[0] if file.records else {}
    if "task_id" not in first or not {"params", "metadata"} & first.keys():
        return False
    done = any(isinstance(one.get("response"), dict) for one in file.records)
    return done or Near("no task has a response: export completed tasks")


def _read(file: PairsFile) -> ImportedTable:
    tasks, open_ = [], 0
    for k, record in enumerate(file.records):
        response = record.get("response")
        if not isinstance(response, dict) or record.get("status", "completed") != "completed":
            open_ += 1
            continue
        tasks.append(Answered(k, _fields(record), _answers(response)))
    notes = [f"{file.path.name}: {plural(open_, 'task')} not completed, left out"] if open_ else []
    return tasks_table(file, tasks, "completed tasks", file.place, notes)


def _fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a task, and what its two attachments hold."""
    shown = plain_fields(fields(record.get("metadata")))
    attached = fields(record.get("params")).get("attachments")
    contents = [
        one.get("content", one.get("attachment")) if isinstance(one, dict) else one
        for one in (attached if isinstance(attached, list) else [])
    ]
    if len(contents) == 2:
        shown |= plain_fields({"attachment_1": contents[0], "attachment_2": contents[1]})
    return shown


def _answers(response: Mapping[str, Any]) -> dict[str, str]:
    """Return {field: answer}: of the fields of a collection, or the category or choice."""
    found = {}
    for name, one in fields(response.get("annotations")).items():
        value = one.get("response", one.get("value")) if isinstance(one, dict) else one
        while isinstance(value, list) and len(value) == 1:
            value = value[0]
        plain = isinstance(value, str | int | float)
        found[str(name)] = str(value) if plain else ""
    for name in ("category", "choice"):
        if isinstance(response.get(name), str):
            found[name] = response[name]
    return found


SCALE = Importer(
    "scale",
    "completed tasks of Scale (NDJSON or JSON)",
    _recognises,
    _read,
    Example(
        "tasks.ndjson",
        "".join(
            f'{{"task_id": "t{k}", "status": "completed", "metadata": {{"left_id": "{left}", '
            f'"right_id": "{right}"}}, "params": {{}}, "response": {{"annotations": {{"same": '
            f'{{"type": "category", "response": [["{said}"]]}}}}}}}}\n'
            for k, left, right, said in (
                (1, "p1", "p2", "yes"),
                (2, "p2", "p3", "no"),
                (3, "p1", "p3", "no"),
                (4, "p2", "p1", "yes"),
            )
        ),
    ),
    "Items from two fields of the task's metadata, else from its two attachments; the answer from "
    "the category field of the response. Scale does not say who answered.",
    "https://docs.scale.com/reference/text-collection",
)
