"""Label Studio: a JSON export with `choices` about the two items in each task's data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from noisypairs.app.files.answers import Columns, preference
from noisypairs.app.files.cells import as_text
from noisypairs.app.files.contents import BadFile, plural, some
from noisypairs.app.files.importers.couples import find_couple
from noisypairs.app.files.importers.importer import ImportedTable, Importer, PairsFile, answer_table
from noisypairs.app.files.items import Items


def _recognises(file: PairsFile) -> bool:
    return _are_tasks(file.document)


def _are_tasks(found: Any) -> bool:
    first = found[0] if isinstance(found, list) and found else None
    return (
        isinstance(first, dict)
        and "data" in first
        and bool({"annotations", "completions"} & first.keys())
    )


def _read(file: PairsFile) -> ImportedTable:
    columns, path, content, tasks = file.named, file.path, file.content, file.json
    if not _are_tasks(tasks):
        raise BadFile(f"{path}: a Label Studio export is a list of tasks with annotations")
    rows: list[tuple[int, Mapping[str, Any], str, str]] = []
    skipped = 0
    for k, task in enumerate(tasks):
        data = task.get("data") if isinstance(task, dict) else None
        given = task.get("annotations", task.get("completions")) if data else None
        if not isinstance(data, dict) or not isinstance(given, list):
            raise BadFile(f"{path}, task {k + 1}: expected an object with data and annotations")
        for annotation in given:
            answer = _choice(path, k, annotation, columns.same)
            skipped += answer is None
            if answer is not None:
                rows.append((k, data, answer, _who(annotation)))
    if not rows:
        raise BadFile(f"{path} holds no annotation with a choice: export annotated tasks")
    names = list(dict.fromkeys(name for _, data, _, _ in rows for name in data))
    left, right = find_couple(names, columns, path)
    ends = {name: [data.get(name) for _, data, _, _ in rows] for name in (left, right)}
    found: dict[str, list[Any]] = {**ends, "choice": [r[2] for r in rows]}
    found["completed_by"] = [r[3] for r in rows]
    table = answer_table(
        path,
        content.source(len(tasks)),
        found,
        lambda row: f"task {rows[row][0] + 1}",
        content.notes,
    )
    notes = []
    if skipped:
        notes.append(f"{path.name}: {plural(skipped, 'annotation')} cancelled or without a choice")
    shown = list(dict.fromkeys(as_text(pd.Series(ends[left] + ends[right], dtype=object))))
    items = Items(pd.DataFrame({"text": shown}), shown, None, table.source, [])
    used = Columns(left, right, "choice", "completed_by", columns.id)
    return ImportedTable(table, used, items=items, notes=notes)


def _choice(path: Path, k: int, annotation: Any, named: str | None) -> str | None:
    """Return the one choice of an annotation, None if cancelled or without; refuse preferences."""
    if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
        return None
    results = [r for r in annotation.get("result") or () if isinstance(r, dict)]
    if any(result.get("type") == "pairwise" for result in results):
        raise preference(path, f"task {k + 1} is a pairwise comparison, which", ["left", "right"])
    choices = [r for r in results if r.get("type") == "choices"]
    if named is not None:
        choices = [r for r in choices if r.get("from_name") == named]
    questions = {str(r.get("from_name")) for r in choices}
    if len(questions) > 1:
        raise BadFile(
            f"{path}, task {k + 1} answers several questions, {some(sorted(questions))}: name the "
            "one about the pair with --same"
        )
    value = choices[0].get("value") if choices else None
    said = value.get("choices") if isinstance(value, dict) else None
    return str(said[0]) if isinstance(said, list) and len(said) == 1 else None


def _who(annotation: Mapping[str, Any]) -> str:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("id")
    return "" if by is None else str(by)


LABEL_STUDIO = Importer("label-studio", "Label Studio's JSON export", _recognises, _read)
