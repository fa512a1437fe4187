"""dedupe: a training file, {"distinct": [[record, record], …], "match": […]}.

Equal records are one item. An id among their fields names them, else they are numbered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from noisypairs.app.files.answers import Columns
from noisypairs.app.files.cells import ITEM_NAMES, typed
from noisypairs.app.files.contents import BadFile
from noisypairs.app.files.frames import FileTable
from noisypairs.app.files.importers.importer import ImportedTable, Importer, PairsFile, answer_table
from noisypairs.app.files.items import Items


def _recognises(file: PairsFile) -> bool:
    return _is_training(file.document)


def _is_training(found: Any) -> bool:
    return isinstance(found, dict) and bool({"match", "distinct"} & found.keys())


def _read(file: PairsFile) -> ImportedTable:
    columns, path, training = file.named, file.path, file.json
    if not _is_training(training):
        raise BadFile(f"{path}: a dedupe training file is an object with match and distinct")
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
    data = {"left": left, "right": right, "answer": same}
    source, notes = file.content.source(len(couples)), file.content.notes
    table = answer_table(path, source, data, lambda row: f"couple {row + 1}", notes)
    items = _records(list(records.values()), [f for f in fields if f != key], table)
    used = Columns("left", "right", "answer", None, columns.id)
    return ImportedTable(table, used, items=items)


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
    records: list[tuple[str, Mapping[str, Any]]], fields: list[str], table: FileTable
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


DEDUPE = Importer("dedupe", "dedupe's training file", _recognises, _read)
