"""metric-learn: an array of tuples of shape (n, 2, d) with y in ±1.

Both in one .npz (arrays pairs and y), or the tuples in a .npy with y.npy beside it.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.app.files.answers import Columns
from noisypairs.app.files.contents import (
    BadFile,
    Content,
    SourceFile,
    load,
    refuse_trap,
    some,
)
from noisypairs.app.files.importers.importer import ImportedTable, Importer, PairsFile, answer_table
from noisypairs.app.files.items import Items
from noisypairs.pairs import Pairs

TUPLES = ("pairs", "tuples", "X_pairs", "pairs_train", "X")
ANSWERS = ("y", "y_pairs", "labels", "y_train", "same")


def _recognises(file: PairsFile) -> bool:
    return file.extension in (".npz", ".npy")


def _read(file: PairsFile) -> ImportedTable:
    columns, path, content = file.named, file.path, file.content
    sources = [content.source(0)]
    arrays = _arrays(content)
    if content.is_archive:
        tuples, y = _pick(path, arrays, TUPLES), _pick(path, arrays, ANSWERS)
    else:
        beside = _answers_beside(path)
        second = load(beside)
        tuples, y = arrays[""], _arrays(second)[""]
        sources.append(second.source(len(y)))
    if tuples.ndim != 3 or tuples.shape[1] != 2 or tuples.dtype.kind not in "biuf":
        raise BadFile(
            f"{path}: the tuples have shape {tuples.shape} of {tuples.dtype}, expected numbers of "
            "shape (n, 2, features)"
        )
    if y.shape != (len(tuples),) or len(y) == 0:
        raise BadFile(f"{path}: {len(tuples)} tuples, but y has shape {y.shape}: one answer each")
    sources[0] = content.source(len(tuples))
    return _import(path, tuples, y, sources, columns)


def _import(
    path: Path, tuples: NDArray[Any], y: NDArray[Any], sources: list[SourceFile], columns: Columns
) -> ImportedTable:
    # Only the items and their places: the answers are read with those of every other format.
    X, pairs = Pairs.from_tuples(tuples, np.ones(len(tuples), dtype=bool))
    ids = [str(k) for k in range(len(X))]
    data = {"left": [ids[k] for k in pairs.left], "right": [ids[k] for k in pairs.right]}
    data["y"] = [str(answer) for answer in y.tolist()]
    table = answer_table(path, sources[0], data, lambda row: f"tuple {row + 1}")
    names = [f"x{k}" for k in range(X.shape[1])]
    features = pd.DataFrame(np.where(np.isfinite(X), X, np.nan), columns=names)
    items = Items(features, ids, None, sources[0], [])
    notes = [f"{path.name}: {len(X):,} different rows among the tuples are the items"]
    used = Columns("left", "right", "y", None, columns.id)
    return ImportedTable(table, used, sources, items, notes)


def _arrays(content: Content) -> dict[str, NDArray[Any]]:
    """Return the arrays of a .npz by name, that of a .npy under ""; never runs code from them."""
    try:
        if content.is_archive:
            with zipfile.ZipFile(io.BytesIO(content.data)) as archive:
                unpacked = sum(one.file_size for one in archive.infolist())
            refuse_trap(content.path, content.size, unpacked)
        loaded = np.load(io.BytesIO(content.data), allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"": loaded}
        return {name: loaded[name] for name in loaded.files}
    except BadFile:
        raise
    except Exception as error:  # an archive may be damaged in any way
        raise BadFile(
            f"{content.path} is no file of numpy arrays, or damaged ({error}): save plain arrays "
            "with numpy.savez(path, pairs=pairs, y=y)"
        ) from error


def _pick(path: Path, arrays: Mapping[str, NDArray[Any]], names: tuple[str, ...]) -> NDArray[Any]:
    found = next((arrays[name] for name in names if name in arrays), None)
    if found is None:
        raise BadFile(
            f"{path} holds the arrays {some(list(arrays), 8)}, expected one called {names[0]!r}: "
            "save it with numpy.savez(path, pairs=pairs, y=y)"
        )
    return found


def _answers_beside(path: Path) -> Path:
    names = [f"{path.stem}_y.npy", "y.npy", f"{path.stem.replace('pairs', 'y')}.npy"]
    for name in names:
        if name != path.name and (path.parent / name).is_file():
            return path.parent / name
    raise BadFile(
        f"{path} holds tuples but no answers: put them beside it as {names[0]}, or save both with "
        "numpy.savez(path, pairs=pairs, y=y)"
    )


METRIC_LEARN = Importer("metric-learn", "metric-learn's tuples and ±1", _recognises, _read)
