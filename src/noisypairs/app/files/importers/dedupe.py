"""dedupe: a training file, {"distinct": [[record, record], …], "match": […]}.

Equal records are one item. An id among their fields names them; beside a file of items they are
found in it by all the fields that both have, as dedupe cleans them; else they are numbered.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

import pandas as pd

from noisypairs.app.files.cells import ITEM_NAMES, as_text, typed
from noisypairs.app.files.columns import ENOUGH, Columns
from noisypairs.app.files.contents import BadFile, plural, some
from noisypairs.app.files.file_table import FileTable
from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    Near,
    PairsFile,
    answer_table,
)
from noisypairs.app.files.items import Items, find_ids


def _recognises(file: PairsFile) -> bool | Near:
    if isinstance(file.document, dict) and not _is_training(file.document):
        return Near("the object has neither match nor distinct")
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
    found, on_items = _in_items(file, records, list(fields)) if file.known else ({}, [])
    left, right = zip(*([found.get(name, name) for name in both] for both in ends), strict=True)
    data = {"left": left, "right": right, "answer": same}
    source, notes = file.content.source(len(couples)), file.content.notes
    table = answer_table(path, source, data, lambda row: f"couple {row + 1}", notes)
    items = _records(list(records.values()), [f for f in fields if f != key], table)
    used = Columns("left", "right", "answer", None, columns.id)
    return ImportedTable(table, used, items=items, notes=on_items)


def _in_items(
    file: PairsFile, records: Mapping[str, tuple[str, Mapping[str, Any]]], fields: list[str]
) -> tuple[dict[str, str], list[str]]:
    """Return {name of a record: id of the item it is}, where names are no ids, and a note.

    A record is the item that has the same in all fields both have, if only one has.
    """
    assert file.known is not None
    names = [name for name, _ in records.values()]
    frame, where = file.known.table.frame, file.known.table.path.name
    if max(file.known.shares(names).values(), default=0.0) >= ENOUGH:
        return {}, []  # the records have ids, and the items have the same
    column, _ = find_ids(file.known.table, file.known.id, None)
    others = [name for name in file.known.columns if name not in fields]
    column = others[0] if column is None and len(others) == 1 else column
    shared = [field for field in fields if field in frame and field != column]
    if not shared:
        return {}, []
    ids = [str(k) for k in range(len(frame))] if column is None else as_text(frame[column]).tolist()
    rows: dict[tuple[str, ...], list[str]] = {}
    cells = [[_cleaned(cell) for cell in as_text(frame[field])] for field in shared]
    for name, *row in zip(ids, *cells, strict=True):
        rows.setdefault(tuple(row), []).append(name)
    found = {}
    for name, record in records.values():
        same = rows.get(tuple(_cleaned(record.get(field)) for field in shared), [])
        if len(same) == 1:
            found[name] = same[0]
    return found, [
        f"{file.path.name}: {len(found):,} of {plural(len(names), 'record')} found in {where} by "
        f"the fields {some(shared, 6)}"
    ]


def _cleaned(value: Any) -> str:
    """Write a cell as dedupe's examples clean it: small letters, single blanks, no quotes."""
    text = "" if value is None else value if isinstance(value, str) else str(value)
    return " ".join(unidecoded(text).lower().strip("\"' ").split())


def unidecoded(text: str) -> str:
    """Return text without accents.

    >>> unidecoded("Café")
    'Cafe'
    """
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


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


DEDUPE = Importer(
    "dedupe",
    "dedupe's training file (training.json)",
    _recognises,
    _read,
    Example(
        "training.json",
        '{"match": [[{"id": "p1", "name": "ann lee"}, {"id": "p2", "name": "anne lee"}]],\n'
        ' "distinct": [[{"id": "p2", "name": "anne lee"}, {"id": "p3", "name": "bob ray"}],\n'
        '   {"__class__": "tuple", "__value__":\n'
        '     [{"id": "p1", "name": "ann lee"}, {"id": "p3", "name": "bob ray"}]}]\n'
        "}\n",
    ),
    "The records are the items, or are found in a file of items: by an id among their fields, else "
    "by all the fields that both have.",
    "https://docs.dedupe.io",
    "part of a training file, published in a fork of dedupe-examples (OSabb/dedupe-examples)",
)
