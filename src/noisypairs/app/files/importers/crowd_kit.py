"""crowd-kit: a frame of task, worker and label, whose tasks name two items: "a|b", "(a, b)"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from noisypairs.app.files.answers import Columns
from noisypairs.app.files.cells import as_text
from noisypairs.app.files.contents import BadFile, some
from noisypairs.app.files.importers.importer import ImportedTable, Importer, PairsFile
from noisypairs.pairs.answers import factorise
from noisypairs.pairs.columns import by_plain_name, couples_of

SEPARATORS = (" vs. ", " vs ", "|", "::", "--", "__", "~", ";", ",", "/", "&", ":", "_", "-", " ")
"""What may stand between the two items in the name of a task, the least ambiguous first."""

_BRACKETS = re.compile(r"^[\[({]\s*|\s*[\])}]$")


def _recognises(file: PairsFile) -> bool:
    names = file.column_names
    return file.named.left is None and not couples_of(names) and {"task", "worker"} <= names


def _read(file: PairsFile) -> ImportedTable:
    columns, table = file.named, file.table
    by_name = by_plain_name(table.frame.columns)
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
    return ImportedTable(replace(table, frame=frame), used, notes=[note])


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


CROWD_KIT = Importer("crowd-kit", "crowd-kit's frame of task, worker, label", _recognises, _read)
