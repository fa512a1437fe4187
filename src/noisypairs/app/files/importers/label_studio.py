"""Label Studio: `choices` about the two items of a task, exported as JSON, JSON-MIN, CSV or TSV."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from noisypairs.app.files.answers import preference
from noisypairs.app.files.cells import as_text
from noisypairs.app.files.contents import BadFile, plural
from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    Near,
    PairsFile,
    has_columns,
)
from noisypairs.app.files.importers.tasks import Answered, fields, objects, tasks_table

#: Columns that JSON-MIN and CSV have beside the task's own fields and the answers.
FLAT = ("annotation_id", "annotator", "lead_time", "created_at", "updated_at", "id", "agreement")


def _recognises(file: PairsFile) -> bool | Near:
    if isinstance(file.document, list) and file.document:
        first = file.document[0]
        nested = {"annotations", "completions"}
        if isinstance(first, dict) and "data" in first:
            return bool(nested & first.keys()) or Near("the tasks have no annotations")
    elif file.document is not None:
        return False
    return has_columns(file.column_names, "annotation_id", "annotator", "lead_time")


def _read(file: PairsFile) -> ImportedTable:
    nested = isinstance(file.document, list) and any(
        isinstance(task, dict) and "data" in task for task in file.document
    )
    return _tasks(file) if nested else _flat(file)


def _tasks(file: PairsFile) -> ImportedTable:
    tasks, skipped = [], 0
    for k, task in enumerate(file.document):
        data = task.get("data") if isinstance(task, dict) else None
        given = task.get("annotations", task.get("completions")) if data else None
        if not isinstance(data, dict) or not isinstance(given, list):
            raise BadFile(
                f"{file.path}, task {k + 1}: expected an object with data and annotations"
            )
        for annotation in given:
            said = _choices(file.path, k, annotation)
            skipped += not said
            if said:
                tasks.append(Answered(k, data, said, _who(annotation)))
    what = "annotation with a choice"
    notes = []
    if skipped:
        notes.append(
            f"{file.path.name}: {plural(skipped, 'annotation')} cancelled or without a choice"
        )
    return tasks_table(file, tasks, what, lambda k: f"task {k + 1}", notes)


def _choices(path: Path, k: int, annotation: Any) -> dict[str, str]:
    """Return {question: choice} of an annotation, none if cancelled; refuse preferences."""
    if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
        return {}
    results = objects(annotation.get("result"))
    if any(result.get("type") == "pairwise" for result in results):
        raise preference(path, f"task {k + 1} is a pairwise comparison, which", ["left", "right"])
    found = {}
    for result in results:
        said = fields(result.get("value")).get("choices")
        if result.get("type") == "choices" and isinstance(said, list) and len(said) == 1:
            found[str(result.get("from_name"))] = str(said[0])
    return found


def _who(annotation: Mapping[str, Any]) -> str:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("id")
    return "" if by is None else str(by)


def _flat(file: PairsFile) -> ImportedTable:
    """Read one annotation per row: fields of the task and answers stand side by side."""
    table = file.table
    names = [str(name) for name in table.frame.columns if str(name).lower() not in FLAT]
    if not has_columns(file.column_names, "annotation_id", "annotator"):
        raise BadFile(
            f"{file.path}: a Label Studio export is a list of tasks with annotations, or has the "
            "columns annotation_id and annotator"
        )
    cells = {name: as_text(table.frame[name]).tolist() for name in names}
    cells = {name: [_one_choice(cell) for cell in column] for name, column in cells.items()}
    who = as_text(table.frame["annotator"]).tolist()
    tasks = []
    for row in range(len(table.frame)):
        shown = {name: cells[name][row] for name in names}
        tasks.append(Answered(row, shown, shown, who[row]))
    return tasks_table(file, tasks, "annotations", table.place)


def _one_choice(cell: str) -> str:
    """Return the choice of a cell that holds several things in JSON, "" where there are more."""
    if not cell.startswith('{"choices"'):
        return cell
    try:
        said = json.loads(cell).get("choices")
    except (ValueError, RecursionError, AttributeError):
        return cell
    return str(said[0]) if isinstance(said, list) and len(said) == 1 else ""


LABEL_STUDIO = Importer(
    "label-studio",
    "an export of Label Studio: JSON, JSON-MIN, CSV or TSV",
    _recognises,
    _read,
    Example(
        "project.csv",
        "image1,image2,id,same,annotator,annotation_id,created_at,updated_at,lead_time\n"
        "/data/upload/3f2-p1.jpg,/data/upload/9b1-p2.jpg,1,Yes,ann@a.org,11,2024-05-02,2024-05-02,"
        "4.1\n"
        "/data/upload/3f2-p1.jpg,/data/upload/9b1-p2.jpg,1,Yes,bob@a.org,12,2024-05-02,2024-05-02,"
        "3.0\n"
        "/data/upload/9b1-p2.jpg,/data/upload/77c-p3.jpg,2,No,ann@a.org,13,2024-05-02,2024-05-02,"
        "6.4\n"
        "/data/upload/3f2-p1.jpg,/data/upload/77c-p3.jpg,3,No,bob@a.org,14,2024-05-02,2024-05-02,"
        "2.2\n",
    ),
    "Items from two fields of the task's data, the answer from its choices, the annotator from "
    "completed_by (JSON) or annotator. Cancelled annotations are left out and counted. Pairwise "
    "comparisons say which item is better, not whether they are of one class: refused.",
    "https://labelstud.io/guide/export",
)
