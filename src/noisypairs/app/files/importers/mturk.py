"""Mechanical Turk: a batch with the items in Input.*, the answer in Answer.*, and WorkerId.

Answers come in many shapes: a cell (Answer.same), one column of true and false per option
(Answer.same.yes), the label of a crowd-classifier (Answer.category.label), or all of these as JSON
in one cell (Answer.taskAnswers).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from noisypairs.app.files.cells import as_text
from noisypairs.app.files.columns import Columns, find_ends
from noisypairs.app.files.contents import BadFile, some
from noisypairs.app.files.file_table import FileTable
from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    Near,
    PairsFile,
    has_columns,
)
from noisypairs.app.files.importers.tasks import find_question, without_rejected
from noisypairs.app.files.json_values import parse_json
from noisypairs.errors import did_you_mean

TASK_ANSWERS = "Answer.taskAnswers"
_TICKS = {"true": True, "1": True, "on": True, "false": False, "0": False, "": False}


def _recognises(file: PairsFile) -> bool | Near:
    return has_columns(file.column_names, "HITId", "Input.*", "Answer.*")


def _read(file: PairsFile) -> ImportedTable:
    columns = file.named
    table, notes = without_rejected(file.table, _rejected(file.table.frame))
    frame = table.frame
    names = [str(name) for name in frame.columns]
    inputs = {name.removeprefix("Input."): name for name in names if name.startswith("Input.")}
    asked = {role: _bare(getattr(columns, role), "Input.") for role in ("left", "right")}
    left, right = find_ends(
        list(inputs),
        lambda name: as_text(frame[inputs[name]]).tolist(),
        replace(columns, **asked),
        table.path,
        file.known,
    )
    said = _said(table)
    if not said:
        raise BadFile(f"{table.path}: there is no column Answer.* with answers: {some(names, 12)}")
    question = find_question(said, _bare(columns.same, "Answer."), table.path, {})
    used = pd.DataFrame({inputs[end]: frame[inputs[end]] for end in (left, right)})
    used[f"Answer.{question}"] = said[question]
    worker = columns.annotator or ("WorkerId" if "WorkerId" in frame else None)
    if worker is not None:
        if worker not in frame:
            hint = did_you_mean(worker, names)
            raise BadFile(f"{table.path}: there is no column {worker!r}; {hint}")
        used[worker] = frame[worker]
    roles = Columns(inputs[left], inputs[right], f"Answer.{question}", worker, columns.id)
    return ImportedTable(replace(table, frame=used), roles, notes=notes)


def _rejected(frame: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Say which assignments were rejected: by status, or marked so in a file for review."""
    rejected = np.zeros(len(frame), dtype=bool)
    if "AssignmentStatus" in frame:
        rejected |= as_text(frame["AssignmentStatus"]).str.lower().eq("rejected").to_numpy()
    if "Reject" in frame:
        rejected |= as_text(frame["Reject"]).ne("").to_numpy()
    return rejected


def _bare(name: str | None, prefix: str) -> str | None:
    return None if name is None else name.removeprefix(prefix)


def _said(table: FileTable) -> dict[str, list[str]]:
    """Return the answers by question, whatever their shape."""
    frame = table.frame
    cells = {
        str(name).removeprefix("Answer."): as_text(frame[name]).tolist()
        for name in frame.columns
        if str(name).startswith("Answer.") and name != TASK_ANSWERS
    }
    if TASK_ANSWERS in frame:
        for row, text in enumerate(as_text(frame[TASK_ANSWERS])):
            for name, value in _flat(_task(table, row, text)).items():
                cells.setdefault(name, [""] * len(frame))[row] = value
    groups: dict[str, list[str]] = {}
    for name in cells:
        groups.setdefault(name.partition(".")[0], []).append(name)
    return {group: _one_each(group, members, cells) for group, members in groups.items()}


def _task(table: FileTable, row: int, text: str) -> Mapping[str, Any]:
    """Return the JSON of one cell of taskAnswers: a list of one object, or the object."""
    found = parse_json(text, table.path) if text else {}
    found = found[0] if isinstance(found, list) and len(found) == 1 else found
    if not isinstance(found, dict):
        raise BadFile(
            f"{table.where(row)}: {TASK_ANSWERS} holds {json.dumps(found)[:60]}, expected a list "
            "of one object"
        )
    return found


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested answers as columns are named: {"same": {"yes": true}} is same.yes.

    >>> _flat({"category": {"label": "Same"}, "q": {"yes": True}})
    {'category.label': 'Same', 'q.yes': 'true'}
    """
    found: dict[str, str] = {}
    for name, entry in value.items():
        if isinstance(entry, dict):
            found |= _flat(entry, f"{prefix}{name}.")
        else:
            text = entry if isinstance(entry, str) else json.dumps(entry)
            found[f"{prefix}{name}"] = "" if entry is None else text.strip()
    return found


def _one_each(group: str, members: list[str], cells: Mapping[str, list[str]]) -> list[str]:
    """Return one answer per row of a group of columns: the cell itself, or the option ticked."""
    if members == [group]:
        return cells[group]
    options = {name.removeprefix(f"{group}."): cells[name] for name in members}
    if all(cell.lower() in _TICKS for column in options.values() for cell in column):
        ticked = [
            [option for option, column in options.items() if _TICKS[column[row].lower()]]
            for row in range(len(cells[members[0]]))
        ]
        return [one[0] if len(one) == 1 else "" for one in ticked]
    label = options.get("label") or options.get("labels") or next(iter(options.values()))
    return [_single(cell) for cell in label]


def _single(cell: str) -> str:
    """Return the one label of a list of labels in JSON; a plain label as it is."""
    if not cell.startswith("["):
        return cell
    try:
        labels = json.loads(cell)
    except (ValueError, RecursionError):
        return cell
    return str(labels[0]) if isinstance(labels, list) and len(labels) == 1 else ""


MTURK = Importer(
    "mturk",
    "a batch of Mechanical Turk",
    _recognises,
    _read,
    Example(
        "batch.csv",
        "HITId,WorkerId,AssignmentStatus,Input.image1_id,Input.image2_id,Answer.category.label\n"
        "3AX,A1X,Approved,p1,p2,Same\n"
        "3AX,A2Y,Approved,p1,p2,Same\n"
        "3BY,A1X,Approved,p2,p3,Different\n"
        "3BY,A9Z,Rejected,p2,p3,Same\n",
    ),
    "Items from the two Input columns, the answer from Answer.same, Answer.same.yes (radio "
    "buttons), Answer.category.label (crowd-classifier) or the JSON of Answer.taskAnswers, the "
    "annotator from WorkerId. Rejected assignments are left out and counted.",
    "https://docs.aws.amazon.com/sagemaker/latest/dg/sms-ui-template-crowd-classifier.html",
)
