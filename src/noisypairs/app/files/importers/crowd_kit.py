"""crowd-kit: a frame of task, worker and label, whose tasks name two items: "a|b", "(a, b)"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from noisypairs.app.files.cells import as_text
from noisypairs.app.files.columns import Columns
from noisypairs.app.files.contents import BadFile, some
from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    Near,
    PairsFile,
    has_columns,
)
from noisypairs.pairs.answers import factorise
from noisypairs.pairs.columns import by_plain_name, couples_of

SEPARATORS = (" vs. ", " vs ", "|", "::", "--", "__", "~", ";", ",", "/", "&", ":", "_", "-", " ")
"""What may stand between the two items in the name of a task, the least ambiguous first."""

_BRACKETS = re.compile(r"^[\[({]\s*|\s*[\])}]$")


def _recognises(file: PairsFile) -> bool | Near:
    names = {"worker" if name == "performer" else name for name in file.column_names}
    if file.named.left is not None or couples_of(names):
        return False
    return has_columns(names, "task", "worker", "label")


def _read(file: PairsFile) -> ImportedTable:
    columns, table = file.named, file.table
    by_name = by_plain_name(table.frame.columns)
    if "performer" in by_name:  # as it was called before version 1
        by_name.setdefault("worker", by_name["performer"])
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
    found = split_names(tasks)
    if found is not None:
        return found
    raise BadFile(
        f"{path}: tasks such as {some(tasks, 2)} do not name two items each. Labels of single "
        "items are not answers about pairs; for pairs write the task as 'a|b', or give columns "
        "left and right"
    )


def split_names(names: Sequence[str]) -> tuple[list[tuple[str, str]], str] | None:
    """Split names into two each, at the one mark that does so for all of them; and that mark.

    >>> split_names(["(a, b)", "(a, c)"])
    ([('a', 'b'), ('a', 'c')], ',')
    """
    bare = [_BRACKETS.sub("", name) for name in names]
    for mark in SEPARATORS:
        parts = [[part.strip(" '\"") for part in name.split(mark)] for name in bare]
        if all(len(both) == 2 and all(both) for both in parts):
            return [(first, second) for first, second in parts], mark
    return None


CROWD_KIT = Importer(
    "crowd-kit",
    "crowd-kit's frame of task, worker, label",
    _recognises,
    _read,
    Example(
        "crowd.csv",
        "task,worker,label\np1|p2,w1,same\np1|p2,w2,same\np2|p3,w1,different\np1|p3,w2,different\n",
    ),
    "The task names two items, with any one mark between them that splits all tasks in two. Before "
    "version 1 the worker was called performer.",
    "https://crowd-kit.readthedocs.io",
)
