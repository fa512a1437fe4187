"""Zooniverse: an export of classifications, with JSON in annotations and subject_data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    Near,
    PairsFile,
    has_columns,
)
from noisypairs.app.files.importers.tasks import (
    Answered,
    fields,
    objects,
    plain_fields,
    tasks_table,
)
from noisypairs.app.files.json_values import parse_json

#: Answers may begin with a picture in Markdown, and hidden fields of subjects with one of #, ! /.
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)\s*")
_HIDDEN = re.compile(r"^[#!/\s]+")


def _recognises(file: PairsFile) -> bool | Near:
    wanted = ("classification_id", "annotations", "subject_data", "user_name")
    return has_columns(file.column_names, *wanted)


def _read(file: PairsFile) -> ImportedTable:
    table = file.table
    tasks = []
    for row in range(len(table.frame)):
        said, subject = (_json(file, row, name) for name in ("annotations", "subject_data"))
        who = str(table.frame["user_name"].iloc[row]).strip()
        tasks.append(Answered(row, _fields(subject), _answers(said), who))
    return tasks_table(file, tasks, "classifications", table.place)


def _json(file: PairsFile, row: int, name: str) -> Any:
    cell = file.table.frame[name].iloc[row]
    return parse_json(cell, file.path) if isinstance(cell, str) and cell.strip() else None


def _answers(annotations: Any) -> dict[str, str]:
    """Return {task: answer} without pictures; of lists of answers only those of one."""
    found = {}
    for one in objects(annotations):
        if "task" in one:
            value = one.get("value")
            value = value[0] if isinstance(value, list) and len(value) == 1 else value
            plain = isinstance(value, str | int | float)
            found[str(one["task"])] = _PICTURE.sub("", str(value)).strip() if plain else ""
    return found


def _fields(subject_data: Any) -> Mapping[str, Any]:
    """Return the fields of the subject, which stand under its number."""
    subjects = list(fields(subject_data).values())
    subject = fields(subjects[0]) if len(subjects) == 1 else {}
    return {_HIDDEN.sub("", name): value for name, value in plain_fields(subject).items()}


ZOONIVERSE = Importer(
    "zooniverse",
    "an export of classifications of Zooniverse",
    _recognises,
    _read,
    Example(
        "classifications.csv",
        "classification_id,user_name,annotations,subject_data,subject_ids\n"
        '1,ann,"[{""task"":""T0"",""value"":""Yes""}]",'
        '"{""70"":{""image1"":""p1.jpg"",""image2"":""p2.jpg""}}",70\n'
        '2,not-logged-in-4f2,"[{""task"":""T0"",""value"":""Yes""}]",'
        '"{""70"":{""image1"":""p1.jpg"",""image2"":""p2.jpg""}}",70\n'
        '3,ann,"[{""task"":""T0"",""value"":""No""}]",'
        '"{""71"":{""image1"":""p2.jpg"",""image2"":""p3.jpg""}}",71\n'
        '4,bob,"[{""task"":""T0"",""value"":""Can\'t tell""}]",'
        '"{""71"":{""image1"":""p2.jpg"",""image2"":""p3.jpg""}}",71\n',
    ),
    "Items from two fields of the subject, the answer from the value of the one task that asks for "
    "it (--same T0 names another), the annotator from user_name.",
    "https://github.com/zooniverse/Data-digging",
)
