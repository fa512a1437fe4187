"""Vectors in a cell, such as embeddings: every entry becomes a column of numbers.

They come as lists in Parquet, as arrays in JSON, as text such as "[0.1, 0.2]" in CSV, and as rows
of an array in a .npy or .npz file.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.app.files.arrays import ENDINGS, load_arrays
from noisypairs.app.files.cells import MISSING
from noisypairs.app.files.contents import BadFile, Content, decode, load, some
from noisypairs.app.files.file_table import FileTable, by_row

IDS = ("ids", "id", "names", "keys", "item_ids", "index")
SAVE = "save plain arrays with numpy.savez(path, ids=ids, X=X)"
_GAPS = re.compile(r"[\s,;]+")
#: What Python writes around numbers and arrays.
_TYPED = re.compile(r"\b(?:np|numpy)\.float\d+\(([^()]*)\)")
_CALLED = re.compile(r"(?:(?:np|numpy|torch)\.)?(?:array|tensor)\((\[.*\])(?:,.*)?\)", re.DOTALL)


def expanded(table: FileTable) -> tuple[FileTable, list[str]]:
    """Return a table with its columns of vectors as columns of numbers, and notes on them.

    Column v of vectors of three becomes v[0], v[1] and v[2]. Vectors of different lengths are
    refused; missing ones are missing in every entry.
    """
    parts, notes = [], []
    for name in table.frame.columns:
        found = _vectors(table, str(name))
        if found is None:
            parts.append(table.frame[[name]])
            continue
        names = [f"{name}[{k}]" for k in range(found.shape[1])]
        parts.append(pd.DataFrame(found, columns=names))
        notes.append(
            f"{table.path.name}: column {name!r} holds vectors of {found.shape[1]} numbers, read "
            "as that many numeric features"
        )
    if not notes:
        return table, []
    frame = pd.concat([part.reset_index(drop=True) for part in parts], axis=1)
    return replace(table, frame=frame), notes


def _vectors(table: FileTable, name: str) -> NDArray[np.float64] | None:
    """Return a column of vectors as an array (n, d), None where it holds anything else."""
    cells = table.frame[name].tolist()
    at = next((k for k, cell in enumerate(cells) if not _is_missing(cell)), None)
    if at is None:
        return None
    if _vector(cells[at]) is None:
        _refuse_cut_short(table, name, at)
        return None
    rows = [None if _is_missing(cell) else _vector(cell) for cell in cells]
    if any(row is None and not _is_missing(cell) for row, cell in zip(rows, cells, strict=True)):
        return None
    size = len(next(row for row in rows if row is not None))
    for k, row in enumerate(rows):
        if row is not None and len(row) != size:
            raise BadFile(
                f"{table.where(k)}: the vector in column {name!r} has {len(row)} numbers, those "
                f"above have {size}: all must have the same length"
            )
    gap = np.full(size, np.nan)
    found = np.stack([gap if row is None else row for row in rows])
    return np.where(np.isfinite(found), found, np.nan)


def _refuse_cut_short(table: FileTable, name: str, row: int) -> None:
    """Refuse vectors that were printed, not written: long ones then lack their middle."""
    cell = table.frame[name].iloc[row]
    if isinstance(cell, str) and "..." in cell and _vector(cell.replace("...", " ")) is not None:
        raise BadFile(
            f"{table.where(row)}: the vector in column {name!r} was cut short when it was written "
            "('...'): write all its numbers, for example as JSON or Parquet"
        )


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in MISSING
    return cell is None or (isinstance(cell, float) and cell != cell)


def _vector(cell: Any) -> NDArray[np.float64] | None:
    """Return numbers in a row, None for anything else; text needs brackets around them.

    >>> _vector("[0.5, 2]"), _vector("array([1. 2.5])"), _vector("[a]"), _vector("3")
    (array([0.5, 2. ]), array([1. , 2.5]), None, None)
    """
    if isinstance(cell, str):
        text = _TYPED.sub(r"\1", cell.strip())
        text = found[1] if (found := _CALLED.fullmatch(text)) else text
        if not (text.startswith("[") and text.endswith("]")):
            return None
        inner = text[1:-1].strip()
        cell = [entry for entry in _GAPS.split(inner) if entry]
        cell = [np.nan if entry in ("null", "None") else entry for entry in cell]
    elif not isinstance(cell, list | tuple | np.ndarray):
        return None
    try:
        numbers = np.asarray(cell, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 and numbers.size else None


def array_table(content: Content) -> FileTable:
    """Return the rows of an array as a table of items: of a .npy, or of a .npz with ids."""
    arrays = load_arrays(content, SAVE)
    name, matrix = _matrix(content, arrays)
    columns: dict[str, Any] = {}
    named = next((key for key in IDS if key in arrays), None)
    ids = _ids_beside(content.path) if named is None else arrays[named].tolist()
    if ids is not None:
        if not isinstance(ids, list) or len(ids) != len(matrix):
            raise BadFile(
                f"{content.path} has {len(matrix)} rows, but there are ids for "
                f"{len(ids) if isinstance(ids, list) else 1}: {SAVE}"
            )
        columns["id"] = pd.Series(ids, dtype=object)
    numbers = np.where(np.isfinite(matrix), matrix, np.nan)
    frame = pd.DataFrame(numbers, columns=[f"{name}[{k}]" for k in range(matrix.shape[1])])
    note = f"{content.path.name}: {matrix.shape[1]} numbers a row, read as numeric features"
    frame = pd.concat([pd.DataFrame(columns), frame], axis=1)
    return FileTable(content.path, frame, content.source(len(frame)), by_row, notes=(note,))


def _matrix(content: Content, arrays: dict[str, NDArray[Any]]) -> tuple[str, NDArray[np.float64]]:
    """Return the one array of two dimensions and its name."""
    found = [key for key, one in arrays.items() if one.ndim == 2 and one.dtype.kind in "biuf"]
    found = [key for key in found if key in ("", "X", "x", "features", "embeddings")] or found
    if len(found) != 1 or not arrays[found[0]].size:
        shapes = [f"{key or 'the array'} {one.shape} of {one.dtype}" for key, one in arrays.items()]
        raise BadFile(
            f"{content.path} holds {some(shapes, 6)}, expected one array of numbers with a row "
            f"for each item: {SAVE}"
        )
    return found[0] or "x", arrays[found[0]].astype(np.float64)


def _ids_beside(path: Path) -> list[Any] | None:
    """Return the ids in a file beside an array: x_ids.npy, x_ids.txt, ids.npy or ids.txt."""
    for name in (f"{path.stem}_ids", "ids"):
        for place in (path.with_name(f"{name}.npy"), path.with_name(f"{name}.txt")):
            if place == path or not place.is_file():
                continue
            content = load(place)
            if place.suffix == ".txt":
                return [line.strip() for line in decode(content)[0].splitlines() if line.strip()]
            found: list[Any] = np.ravel(load_arrays(content, SAVE).get("", np.array([]))).tolist()
            return found
    return None


def with_array_beside(table: FileTable) -> FileTable:
    """Return a table with the rows of an array of the same name beside it: items.csv, items.npy."""
    for ending in ENDINGS:
        place = table.path.with_suffix(ending)
        if place == table.path or table.path.suffix.lower() in ENDINGS or not place.is_file():
            continue
        try:
            name, matrix = _matrix(content := load(place), load_arrays(content, SAVE))
        except BadFile:  # whatever it is, it is not about the items
            continue
        if len(matrix) != len(table.frame):
            note = f"{place.name} beside it has {len(matrix):,} rows, not {len(table.frame):,}"
            return replace(table, notes=(*table.notes, f"{note}, and is not used"))
        names = [f"{name}[{k}]" for k in range(matrix.shape[1])]
        features = pd.DataFrame(np.where(np.isfinite(matrix), matrix, np.nan), columns=names)
        note = f"{place.name} beside it: {len(names)} numbers a row, read as numeric features"
        frame = pd.concat([table.frame.reset_index(drop=True), features], axis=1)
        return replace(table, frame=frame, notes=(*table.notes, note))
    return table
