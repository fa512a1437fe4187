"""Must-links and cannot-links: two lists side by side, or one with a column that says which.

The two lists are files like must_link.csv and cannot_link.csv, named by their folder or by either
of them; without a header their two columns are the items.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from noisypairs.app.files.cells import as_text
from noisypairs.app.files.columns import Columns
from noisypairs.app.files.contents import BadFile, SourceFile, some
from noisypairs.app.files.file_table import FileTable
from noisypairs.app.files.frames import read_table
from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    Near,
    PairsFile,
    answer_table,
)
from noisypairs.pairs.columns import by_plain_name, couples_of

WORDS = {"ml": "same", "cl": "different", "must": "same", "cannot": "different"}
"""Short names of the two kinds of constraint."""

LINK_COLUMNS = ("constraint", "constraint_type", "link", "link_type", "type", "kind")
_MUST = re.compile(r"(?i)must|(?<![a-z])ml(?![a-z])")


def _recognises(file: PairsFile) -> bool | Near:
    if link_files(file.path) is not None:
        return True
    if file.path.is_file() and _MUST.search(file.path.name):
        return Near("there is no file of cannot-links beside it")
    names = file.column_names
    splink = {"unique_id_l", "unique_id_r"} <= names  # has a reader of its own
    has_kind = file.named.same is None and bool(names & set(LINK_COLUMNS[:4]))
    return has_kind and bool(couples_of(names)) and not splink


def _read(file: PairsFile) -> ImportedTable:
    columns, path, files = file.named, file.path, link_files(file.path)
    if files is None:
        return _one_list(file.table, columns)
    tables = [read_table(file) for file in files]
    cells = {cell for table in tables for name in table.frame for cell in table.frame[name]}
    tables = [_two_columns(table, cells) for table in tables]
    left, right, same, places = [], [], [], []
    for table, answer in zip(tables, ("must-link", "cannot-link"), strict=True):
        left += as_text(table.frame.iloc[:, 0]).tolist()
        right += as_text(table.frame.iloc[:, 1]).tolist()
        same += [answer] * len(table.frame)
        places += [(table, row) for row in range(len(table.frame))]

    def place(row: int) -> str:
        table, at = places[row]
        return f"{table.path.name}, {table.place(at)}"

    data = {"left": left, "right": right, "constraint": same}
    source: SourceFile = {**tables[0].source, "rows": len(left)}
    notes = [note for table in tables for note in table.notes]
    notes.append(f"{files[0].name}: must-links; {files[1].name}: cannot-links")
    joined = answer_table(path, source, data, place, notes)
    used = Columns("left", "right", "constraint", None, columns.id)
    return ImportedTable(joined, used, [table.source for table in tables])


def link_files(path: Path) -> tuple[Path, Path] | None:
    """Return the files of must-links and cannot-links that a folder or one of them stands for."""
    folder = path if path.is_dir() else path.parent
    if path.is_file() and not re.search(r"(?i)must|cannot|(?<![a-z])[mc]l(?![a-z])", path.name):
        return None
    try:
        names = sorted(p for p in folder.iterdir() if p.is_file())
    except OSError:
        return None
    for must in names:
        if not _MUST.search(must.name) or (path.is_file() and path.suffix != must.suffix):
            continue
        for cannot in names:
            if _MUST.sub("*", must.name) == re.sub(
                r"(?i)cannot|can_?not|(?<![a-z])cl(?![a-z])", "*", cannot.name
            ) and (path.is_dir() or path in (must, cannot)):
                return must, cannot
    return None


def _two_columns(table: FileTable, cells: Set[Any]) -> FileTable:
    """Return a list of couples with its first line among them, if that is no header.

    A header is a couple of names we know that is no item of either list: a,b may be both.
    """
    names = [str(name) for name in table.frame.columns]
    if len(names) < 2:
        raise BadFile(f"{table.path} has one column, expected two items per line")
    if not table.delimited or (couples_of(names) and not cells & set(names)):
        return table
    if len(names) > 2:
        raise BadFile(
            f"{table.path} has {len(names)} columns, expected two items per line, or a header "
            "with left and right"
        )
    first = pd.DataFrame([names], columns=table.frame.columns, dtype=object)
    frame = pd.concat([first, table.frame], ignore_index=True)
    return replace(table, frame=frame, place=lambda row: table.place(row - 1))


def _one_list(table: FileTable, columns: Columns) -> ImportedTable:
    by_name = by_plain_name(table.frame.columns)
    kind = columns.same or next((by_name[n] for n in LINK_COLUMNS if n in by_name), None)
    if kind is None or kind not in table.frame:
        raise BadFile(
            f"{table.path}: expected a column {some(LINK_COLUMNS, 6)} that says must-link or "
            "cannot-link, or two files must_link and cannot_link side by side"
        )
    return ImportedTable(table, replace(columns, same=kind), words=WORDS)


LINK_LISTS = Importer(
    "links",
    "lists of must-links and cannot-links",
    _recognises,
    _read,
    Example(
        "links.csv",
        "i,j,constraint\np1,p2,must-link\np2,p3,cannot-link\np1,p3,CL\np3,p4,ML\n",
    ),
    "One list with a column that says which, or two files side by side, must_link.csv and "
    "cannot_link.csv, named by their folder or either of them.",
)
