"""Answers as record linkage and constrained clustering write them: splink, dedupe, link lists."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from noisypairs.app.files.answers import Columns
from noisypairs.app.files.cells import ITEM_NAMES, as_text, typed
from noisypairs.app.files.contents import BadFile, Content, Source, some
from noisypairs.app.files.frames import Table, read_table
from noisypairs.app.files.importers.base import Import, answer_table, has_ends
from noisypairs.app.files.items import Items

LINKS = {"ml": "must-link", "cl": "cannot-link", "must": "must-link", "cannot": "cannot-link"}
"""Short names of the two kinds of constraint, as they are written in a column."""

LINK_COLUMNS = ("constraint", "constraint_type", "link", "link_type", "type", "kind")
_MUST = re.compile(r"(?i)must|(?<![a-z])ml(?![a-z])")


def splink(table: Table, columns: Columns) -> Import:
    """Read splink's labels: unique_id_l, unique_id_r, clerical_match_score, maybe source_dataset.

    Where records come from several data sets their ids are written dataset-__-id, as splink does.
    """
    frame, notes = table.frame.copy(), []
    ends = ("unique_id_l", "unique_id_r")
    missing = [name for name in ends if name not in frame]
    if missing:
        raise BadFile(f"{table.path}: splink labels need the columns {some(ends)}")
    sets = [f"source_dataset_{side}" for side in "lr"]
    if all(name in frame for name in sets):
        sources = [as_text(frame[name]) for name in sets]
        if len(set(sources[0]) | set(sources[1])) > 1:
            for end, source in zip(ends, sources, strict=True):
                frame[end] = source + "-__-" + as_text(frame[end])
            notes.append(
                f"{table.path.name}: records of several data sets, so ids are written like "
                f"{frame[ends[0]].iloc[0]!r}; the items need a column of such ids"
            )
    scored = "clerical_match_score" if "clerical_match_score" in frame else None
    used = replace(columns, left=ends[0], right=ends[1], same=columns.same or scored)
    return Import(replace(table, frame=frame), used, [table.source], "splink", notes=notes)


def dedupe(content: Content, training: Any, columns: Columns) -> Import:
    """Read dedupe's training file: {"distinct": [[record, record], …], "match": […]}.

    Equal records are one item. An id among their fields names them, else they are numbered.
    """
    path = content.path
    couples, same = [], []
    for answer in ("match", "distinct"):
        given = _plain(training.get(answer, []))
        for k, couple in enumerate(given if isinstance(given, list) else [given]):
            if not (isinstance(couple, list) and len(couple) == 2) or not all(
                isinstance(record, dict) for record in couple
            ):
                raise BadFile(
                    f"{path}, {answer} {k + 1}: expected two records, found "
                    f"{json.dumps(couple, default=str)[:60]}"
                )
            couples.append(couple)
            same.append(answer)
    if not couples:
        raise BadFile(f"{path} holds no couples under match or distinct: label some first")
    records: dict[str, tuple[str, Mapping[str, Any]]] = {}
    fields = dict.fromkeys(name for couple in couples for record in couple for name in record)
    key = columns.id or next((name for name in fields if name.lower() in ITEM_NAMES), None)
    ends = [[_named(record, key, records) for record in couple] for couple in couples]
    left, right = zip(*ends, strict=True)
    source = content.source(len(couples))
    data = {"left": left, "right": right, "answer": same}
    table = answer_table(path, source, data, lambda row: f"couple {row + 1}", content.notes)
    items = _records(list(records.values()), [f for f in fields if f != key], table)
    used = Columns("left", "right", "answer", None, columns.id)
    return Import(table, used, [source], "dedupe", items)


def _plain(value: Any) -> Any:
    """Undo dedupe's marks of tuples and sets, {"__class__": …, "__value__": […]}."""
    if isinstance(value, dict):
        if "__class__" in value and "__value__" in value:
            return _plain(value["__value__"])
        return {name: _plain(entry) for name, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


def _named(
    record: Mapping[str, Any], key: str | None, seen: dict[str, tuple[str, Mapping[str, Any]]]
) -> str:
    """Return the id of a record, a new one for one not met before."""
    content = json.dumps(record, sort_keys=True, default=str)
    own = record.get(key) if key is not None else None
    name = str(own).strip() if own not in (None, "") else f"record {len(seen) + 1}"
    return seen.setdefault(content, (name, record))[0]


def _records(
    records: list[tuple[str, Mapping[str, Any]]], fields: list[str], table: Table
) -> Items:
    ids = [name for name, _ in records]
    repeated = (
        [name for name in dict.fromkeys(ids) if ids.count(name) > 1]
        if len(set(ids)) < len(ids)
        else []
    )
    if repeated:
        raise BadFile(
            f"{table.path}: records with the id {repeated[0]!r} differ: one id, one record"
        )
    frame = pd.DataFrame(
        {name: pd.Series([_cell(r.get(name)) for _, r in records], dtype=object) for name in fields}
    )
    features, notes = typed(frame)
    return Items(features, ids, None, table.source, [f"{table.path.name}: {n}" for n in notes])


def _cell(value: Any) -> Any:
    return json.dumps(value, default=str) if isinstance(value, dict | list) else value


def link_lists(path: Path, columns: Columns) -> Import:
    """Read must-links and cannot-links: two lists side by side, or one with a column that tells.

    The two lists are files like must_link.csv and cannot_link.csv, named by their folder or by
    either of them; without a header their two columns are the items.
    """
    files = link_files(path)
    if files is None:
        return _one_list(path, columns)
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
    source: Source = {**tables[0].source, "rows": len(left)}
    notes = [note for table in tables for note in table.notes]
    notes.append(f"{files[0].name}: must-links; {files[1].name}: cannot-links")
    joined = answer_table(path, source, data, place, notes)
    used = Columns("left", "right", "constraint", None, columns.id)
    return Import(joined, used, [table.source for table in tables], "links")


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


def _two_columns(table: Table, cells: Set[Any]) -> Table:
    """Return a list of couples with its first line among them, if that is no header.

    A header is a couple of names we know that is no item of either list: a,b may be both.
    """
    names = [str(name) for name in table.frame.columns]
    if len(names) < 2:
        raise BadFile(f"{table.path} has one column, expected two items per line")
    if not table.delimited or (has_ends(names) and not cells & set(names)):
        return table
    if len(names) > 2:
        raise BadFile(
            f"{table.path} has {len(names)} columns, expected two items per line, or a header "
            "with left and right"
        )
    first = pd.DataFrame([names], columns=table.frame.columns, dtype=object)
    frame = pd.concat([first, table.frame], ignore_index=True)
    return replace(table, frame=frame, place=lambda row: table.place(row - 1))


def _one_list(path: Path, columns: Columns) -> Import:
    table = read_table(path)
    by_name = {str(name).strip().lower(): str(name) for name in table.frame.columns}
    kind = columns.same or next((by_name[n] for n in LINK_COLUMNS if n in by_name), None)
    if kind is None or kind not in table.frame:
        raise BadFile(
            f"{path}: expected a column {some(LINK_COLUMNS, 6)} that says must-link or "
            "cannot-link, or two files must_link and cannot_link side by side"
        )
    frame = table.frame.copy()
    frame[kind] = [LINKS.get(cell.lower(), cell) for cell in as_text(frame[kind])]
    used = replace(columns, same=kind)
    return Import(replace(table, frame=frame), used, [table.source], "links")
