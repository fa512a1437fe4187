"""Answers to tasks that show two items: which fields are the items, and which question was asked.

Most tools export tasks with fields of the asker's own choosing, and answers to questions of their
own names. What is common to all of them is here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.app.files.cells import as_text
from noisypairs.app.files.columns import Columns, find_ends
from noisypairs.app.files.contents import BadFile, plural, some
from noisypairs.app.files.file_table import FileTable
from noisypairs.app.files.importers.importer import ImportedTable, PairsFile, answer_table
from noisypairs.app.files.items import Items
from noisypairs.errors import did_you_mean
from noisypairs.pairs import answers


@dataclass(frozen=True)
class Answered:
    """One task as one person answered it: its number in the file, fields, questions and answers."""

    number: int
    shown: Mapping[str, Any]
    said: Mapping[str, str]
    who: str = ""


def tasks_table(
    file: PairsFile,
    tasks: Sequence[Answered],
    what: str,
    place: Callable[[int], str],
    notes: Sequence[str] = (),
    words: Mapping[str, str] | None = None,
) -> ImportedTable:
    """Return tasks as a table of answers, with the items as far as the tasks show them.

    ``place`` names the place of a task by its number, counted from 0.
    """
    if not tasks:
        raise BadFile(f"{file.path} holds no {what}: export answered tasks")
    columns, words = file.named, words or {}
    said = {name: [task.said.get(name, "") for task in tasks] for name in _names(tasks, "said")}
    question = find_question(said, columns.same, file.path, words)
    names = _names(tasks, "shown")
    shown = {name: pd.Series([t.shown.get(name) for t in tasks], dtype=object) for name in names}
    left, right = find_ends(
        names, lambda name: as_text(shown[name]).tolist(), columns, file.path, file.known
    )
    found = {left: shown[left], right: shown[right], question: said[question]}
    who = [task.who for task in tasks]
    named = {"annotator": who} if any(who) else {}
    source = file.content.source(len(tasks))
    table = answer_table(
        file.path, source, found | named, lambda row: place(tasks[row].number), file.content.notes
    )
    seen = as_text(pd.concat([shown[left], shown[right]], ignore_index=True))
    ids = list(dict.fromkeys(text for text in seen if text))
    items = Items(pd.DataFrame({"text": ids}), ids, None, source, [])
    used = Columns(left, right, question, next(iter(named), None), columns.id)
    return ImportedTable(table, used, items=items, notes=notes, words=words)


def _names(tasks: Sequence[Answered], part: str) -> list[str]:
    return list(dict.fromkeys(name for task in tasks for name in getattr(task, part)))


def find_question(
    said: Mapping[str, Sequence[str]],
    named: str | None,
    path: Path,
    words: Mapping[str, str],
) -> str:
    """Return the question about the pair: the one named, the only one, or the one so answered."""
    if named is not None:
        if named not in said:
            raise BadFile(f"{path}: no answer {named!r}; {did_you_mean(named, said)}")
        return named
    likely = [name for name in said if _is_answered(said[name], words)] or list(said)
    likely = [name for name in likely if name.lower() == "same"] or likely
    if len(likely) != 1:
        raise BadFile(
            f"{path}: answers to several questions, {some(sorted(likely), 8) or 'none'}: name the "
            "one about the pair with --same"
        )
    return likely[0]


def _is_answered(cells: Sequence[str], words: Mapping[str, str]) -> bool:
    """Whether cells hold answers, or which of two is better, which is refused later by name."""
    try:
        read = answers.parse(list(dict.fromkeys(cells)), unsure="drop", words=words)
    except ValueError:
        return False
    return bool(read.usable.any())


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a list; none where the value is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def fields(value: Any) -> Mapping[str, Any]:
    """Return an object as it is, and anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def plain_fields(record: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the fields of a record that hold one value each."""
    return {
        f"{prefix}{name}": value
        for name, value in record.items()
        if isinstance(value, str | int | float | bool) and str(value).strip()
    }


def without_rejected(table: FileTable, rejected: NDArray[np.bool_]) -> tuple[FileTable, list[str]]:
    """Return a table without the rows of rejected work, which still names its lines, and a note."""
    if not rejected.any():
        return table, []
    kept = np.flatnonzero(~rejected).tolist()
    frame = table.frame.iloc[kept].reset_index(drop=True)
    many = plural(int(rejected.sum()), "rejected assignment")
    left = replace(table, frame=frame, place=lambda row: table.place(kept[row]))
    return left, [f"{table.path.name}: {many} left out"]
