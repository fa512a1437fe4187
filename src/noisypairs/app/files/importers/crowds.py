"""Answers as crowdsourcing tools export them: crowd-kit, Mechanical Turk and Label Studio."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from noisypairs.app.files.answers import Columns, preference
from noisypairs.app.files.cells import as_text
from noisypairs.app.files.contents import BadFile, Content, plural, some
from noisypairs.app.files.frames import Table
from noisypairs.app.files.importers.base import Import, answer_table, find_couple
from noisypairs.app.files.items import Items
from noisypairs.errors import did_you_mean
from noisypairs.pairs.answers import factorise
from noisypairs.pairs.columns import SPELLINGS

SEPARATORS = (" vs. ", " vs ", "|", "::", "--", "__", "~", ";", ",", "/", "&", ":", "_", "-", " ")
"""What may stand between the two items in the name of a task, the least ambiguous first."""

_BRACKETS = re.compile(r"^[\[({]\s*|\s*[\])}]$")


def crowd_kit(table: Table, columns: Columns) -> Import:
    """Read crowd-kit's frame (task, worker, label), whose tasks name two items: "a|b", "(a, b)"."""
    by_name = {str(name).strip().lower(): str(name) for name in table.frame.columns}
    missing = [name for name in ("task", "worker", "label") if name not in by_name]
    if missing:
        raise BadFile(
            f"{table.path}: a crowd-kit frame has the columns task, worker and label, but there "
            f"is no {some(missing)} among {some(list(table.frame.columns), 12)}"
        )
    tasks, codes = factorise(as_text(table.frame[by_name["task"]]).to_numpy())
    couples, mark = _split(tasks, table.path)
    left, right = (np.array(end, dtype=object)[codes] for end in zip(*couples, strict=True))
    frame = pd.DataFrame({"left": left, "right": right})
    for role in ("label", "worker"):
        frame[by_name[role]] = table.frame[by_name[role]].to_numpy()
    used = Columns("left", "right", by_name["label"], by_name["worker"], columns.id)
    note = f"{table.path.name}: tasks such as {tasks[0]!r} split at {mark!r} into two items"
    return Import(replace(table, frame=frame), used, [table.source], "crowd-kit", notes=[note])


def _split(tasks: Sequence[str], path: Path) -> tuple[list[tuple[str, str]], str]:
    """Split every task into two items at the one mark that does so for all of them."""
    bare = [_BRACKETS.sub("", task) for task in tasks]
    for mark in SEPARATORS:
        parts = [[part.strip(" '\"") for part in task.split(mark)] for task in bare]
        if all(len(both) == 2 and all(both) for both in parts):
            return [(first, second) for first, second in parts], mark
    raise BadFile(
        f"{path}: tasks such as {some(tasks, 2)} do not name two items each. Labels of single "
        "items are not answers about pairs; for pairs write the task as 'a|b', or give columns "
        "left and right"
    )


def mturk(table: Table, columns: Columns) -> Import:
    """Read a batch of Mechanical Turk: items in Input.*, the answer in Answer.*, WorkerId."""
    frame, notes = table.frame, []
    names = [str(name) for name in frame.columns]
    inputs = {name.removeprefix("Input."): name for name in names if name.startswith("Input.")}
    asked = {role: _bare(getattr(columns, role), "Input.") for role in ("left", "right")}
    left, right = find_couple(list(inputs), replace(columns, **asked), table.path)
    answer = _mturk_answer(table, columns.same)
    kept = np.arange(len(frame))
    if "AssignmentStatus" in frame:
        rejected = as_text(frame["AssignmentStatus"]).str.lower().eq("rejected").to_numpy()
        kept = np.flatnonzero(~rejected)
        if rejected.any():
            many = plural(int(rejected.sum()), "rejected assignment")
            notes.append(f"{table.path.name}: {many} left out")
    shown = {inputs[left]: frame[inputs[left]], inputs[right]: frame[inputs[right]]}
    used = pd.DataFrame({**shown, **answer})
    worker = columns.annotator or ("WorkerId" if "WorkerId" in frame else None)
    if worker is not None:
        if worker not in frame:
            hint = did_you_mean(worker, names)
            raise BadFile(f"{table.path}: there is no column {worker!r}; {hint}")
        used[worker] = frame[worker]
    roles = Columns(inputs[left], inputs[right], next(iter(answer)), worker, columns.id)
    rows = kept.tolist()
    moved = replace(
        table,
        frame=used.iloc[kept].reset_index(drop=True),
        place=lambda row: table.place(rows[row]),
    )
    return Import(moved, roles, [table.source], "mturk", notes=notes)


def _bare(name: str | None, prefix: str) -> str | None:
    return None if name is None else name.removeprefix(prefix)


def _mturk_answer(table: Table, named: str | None) -> dict[str, pd.Series]:
    """Return the answers by name: one column, or a group of yes/no columns, one per option."""
    names = [str(n) for n in table.frame.columns if str(n).startswith("Answer.")]
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(name.removeprefix("Answer.").partition(".")[0], []).append(name)
    wanted = _bare(named, "Answer.")
    if wanted is not None and wanted not in groups:
        raise BadFile(f"{table.path}: no answer {named!r}; {did_you_mean(wanted, groups)}")
    likely = [wanted] if wanted else [g for g in groups if g.lower() in SPELLINGS["same"]]
    likely = likely or list(groups)
    if len(likely) != 1:
        raise BadFile(
            f"{table.path}: expected one question about the pair, found {some(names, 8) or 'none'}"
            ": name it with --same"
        )
    members = groups[likely[0]]
    if len(members) == 1 and members[0].count(".") == 1:
        return {members[0]: table.frame[members[0]]}
    prefix = f"Answer.{likely[0]}."
    ticks = {m: as_text(table.frame[m]).str.lower().isin(("true", "1", "on")) for m in members}
    chosen = np.full(len(table.frame), "", dtype=object)
    for member, ticked in ticks.items():
        chosen[ticked.to_numpy()] = member.removeprefix(prefix)
    chosen[sum(ticked.to_numpy().astype(int) for ticked in ticks.values()) > 1] = ""
    return {prefix.rstrip("."): pd.Series(chosen, dtype=object)}


def label_studio(content: Content, tasks: Any, columns: Columns) -> Import:
    """Read Label Studio's JSON: `choices` about the two items in each task's data."""
    path = content.path
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
    place = _task_place([k for k, *_ in rows])
    ends = {name: [data.get(name) for _, data, _, _ in rows] for name in (left, right)}
    found: dict[str, list[Any]] = {**ends, "choice": [r[2] for r in rows]}
    found["completed_by"] = [r[3] for r in rows]
    table = answer_table(path, content.source(len(tasks)), found, place, content.notes)
    notes = []
    if skipped:
        notes.append(f"{path.name}: {plural(skipped, 'annotation')} cancelled or without a choice")
    shown = list(dict.fromkeys(as_text(pd.Series(ends[left] + ends[right], dtype=object))))
    items = Items(pd.DataFrame({"text": shown}), shown, None, table.source, [])
    used = Columns(left, right, "choice", "completed_by", columns.id)
    return Import(table, used, [table.source], "label-studio", items, notes)


def _task_place(tasks: Sequence[int]) -> Any:
    return lambda row: f"task {tasks[row] + 1}"


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
