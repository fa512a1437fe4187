"""Mechanical Turk: a batch with the items in Input.*, the answer in Answer.*, and WorkerId."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from noisypairs.app.files.answers import Columns
from noisypairs.app.files.cells import as_text
from noisypairs.app.files.contents import BadFile, plural, some
from noisypairs.app.files.frames import FileTable
from noisypairs.app.files.importers.couples import find_couple
from noisypairs.app.files.importers.importer import ImportedTable, Importer, PairsFile
from noisypairs.errors import did_you_mean
from noisypairs.pairs.columns import SPELLINGS


def _recognises(file: PairsFile) -> bool:
    names = file.column_names
    return "hitid" in names and any(name.startswith("input.") for name in names)


def _read(file: PairsFile) -> ImportedTable:
    columns, table = file.named, file.table
    frame, notes = table.frame, []
    names = [str(name) for name in frame.columns]
    inputs = {name.removeprefix("Input."): name for name in names if name.startswith("Input.")}
    asked = {role: _bare(getattr(columns, role), "Input.") for role in ("left", "right")}
    left, right = find_couple(list(inputs), replace(columns, **asked), table.path)
    answer = _answer(table, columns.same)
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
    return ImportedTable(moved, roles, notes=notes)


def _bare(name: str | None, prefix: str) -> str | None:
    return None if name is None else name.removeprefix(prefix)


def _answer(table: FileTable, named: str | None) -> dict[str, pd.Series]:
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


MTURK = Importer("mturk", "a batch of Mechanical Turk", _recognises, _read)
