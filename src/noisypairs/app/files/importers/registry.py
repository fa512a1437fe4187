"""Which format a file of answers has, by name or by its looks, and who reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from noisypairs.app.files.answers import Columns
from noisypairs.app.files.contents import BadFile, Content, decode, load
from noisypairs.app.files.frames import Table, extension, parse_json, read_table, records_table
from noisypairs.app.files.importers.base import Import, has_ends
from noisypairs.app.files.importers.crowds import crowd_kit, label_studio, mturk
from noisypairs.app.files.importers.linkage import (
    LINK_COLUMNS,
    dedupe,
    link_files,
    link_lists,
    splink,
)
from noisypairs.app.files.importers.tuples import metric_learn
from noisypairs.errors import did_you_mean

FORMATS: tuple[str, ...] = (
    "table",
    "metric-learn",
    "links",
    "crowd-kit",
    "mturk",
    "splink",
    "dedupe",
    "label-studio",
)
"""Names of the formats in which answers about pairs are read."""

_TABULAR: dict[str, Callable[[Table, Columns], Import]] = {
    "crowd-kit": crowd_kit,
    "mturk": mturk,
    "splink": splink,
}


def import_pairs(path: Path, columns: Columns, format: str | None = None) -> Import:
    """Read answers in the format named, else in the one the file looks like."""
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: {did_you_mean(format, FORMATS)}")
    kind = extension(path)
    if format == "metric-learn" or (format is None and kind in (".npz", ".npy")):
        return metric_learn(path, columns)
    if format == "links" or (format is None and link_files(path) is not None):
        return link_lists(path, columns)
    if format in ("dedupe", "label-studio") or (format in (None, "table") and kind == ".json"):
        return _json(load(path), columns, format)
    table = read_table(path)
    format = format or _looks_like(table, columns)
    if format == "links":
        return link_lists(path, columns)
    if format in _TABULAR:
        return _TABULAR[format](table, columns)
    return Import(table, columns, [table.source])


def _looks_like(table: Table, columns: Columns) -> str:
    """Return the format whose columns the table has; plain columns named by the user win."""
    names = {str(name).strip().lower() for name in table.frame.columns}
    if {"unique_id_l", "unique_id_r"} <= names and columns.left in (None, "unique_id_l"):
        return "splink"
    if any(name.startswith("input.") for name in names) and "hitid" in names:
        return "mturk"
    if columns.left is None and not has_ends(sorted(names)) and {"task", "worker"} <= names:
        return "crowd-kit"
    if columns.same is None and has_ends(sorted(names)) and names & set(LINK_COLUMNS[:4]):
        return "links"
    return "table"


def _json(content: Content, columns: Columns, format: str | None) -> Import:
    """Tell dedupe's training, Label Studio's tasks and plain records apart."""
    text, notes = decode(content)
    path = content.path
    if format is None and text.lstrip().startswith("{") and _has_lines(text):
        table = read_table(path)
        return Import(table, columns, [table.source])
    found = parse_json(text, path)
    if format == "dedupe" or (format is None and _is_training(found)):
        if not _is_training(found):
            raise BadFile(f"{path}: a dedupe training file is an object with match and distinct")
        return dedupe(content, found, columns)
    if format == "label-studio" or (format is None and _is_tasks(found)):
        if not _is_tasks(found):
            raise BadFile(f"{path}: a Label Studio export is a list of tasks with annotations")
        return label_studio(content, found, columns)
    if not isinstance(found, list):
        raise BadFile(
            f"{path}: expected a list of records, a dedupe training file or a Label Studio export"
        )
    table = records_table(content, found, None, notes)
    return Import(table, columns, [table.source])


def _has_lines(text: str) -> bool:
    """Whether the first line is a whole object: JSON lines under another name."""
    try:
        json.loads(text.lstrip().split("\n", 1)[0])
    except ValueError:
        return False
    return "\n" in text.strip()


def _is_training(found: Any) -> bool:
    return isinstance(found, dict) and bool({"match", "distinct"} & found.keys())


def _is_tasks(found: Any) -> bool:
    first = found[0] if isinstance(found, list) and found else None
    return (
        isinstance(first, dict)
        and "data" in first
        and bool({"annotations", "completions"} & first.keys())
    )
