"""metric-learn: pairs of items as tuples of shape (n, 2, d), or as row numbers (n, 2), and y in ±1.

Both in one .npz (arrays pairs and y), or the pairs in a .npy with y.npy beside it. Row numbers are
those of an array X in the same .npz, or of a file of items.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.app.files.arrays import ENDINGS, load_arrays
from noisypairs.app.files.columns import Columns
from noisypairs.app.files.contents import BadFile, SourceFile, load, some
from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    PairsFile,
    answer_table,
)
from noisypairs.app.files.items import Items
from noisypairs.pairs import Pairs

TUPLES = ("pairs", "tuples", "X_pairs", "pairs_train", "indices", "pairs_indices", "X")
ANSWERS = ("y", "y_pairs", "labels", "y_train", "same")
ITEMS = ("X", "preprocessor", "items", "points")
SAVE = "save plain arrays with numpy.savez(path, pairs=pairs, y=y)"


def _recognises(file: PairsFile) -> bool:
    return file.extension in ENDINGS


def _read(file: PairsFile) -> ImportedTable:
    columns, path, content = file.named, file.path, file.content
    sources = [content.source(0)]
    arrays = load_arrays(content, SAVE)
    if content.is_archive:
        tuples, y = _pick(path, arrays, TUPLES), _pick(path, arrays, ANSWERS)
    else:
        beside = _answers_beside(path)
        second = load(beside)
        tuples, y = arrays[""], load_arrays(second, SAVE)[""]
        sources.append(second.source(len(y) if y.ndim else 0))
    indices = tuples.ndim == 2 and tuples.shape[1] == 2 and tuples.dtype.kind in "iu"
    if not indices and (
        tuples.ndim != 3 or tuples.shape[1] != 2 or tuples.dtype.kind not in "biuf"
    ):
        raise BadFile(
            f"{path}: the tuples have shape {tuples.shape} of {tuples.dtype}, expected numbers of "
            "shape (n, 2, features), or row numbers (whole ones) of shape (n, 2)"
        )
    if y.shape != (len(tuples),) or len(y) == 0:
        raise BadFile(f"{path}: {len(tuples)} tuples, but y has shape {y.shape}: one answer each")
    sources[0] = content.source(len(tuples))
    if indices:
        X = next((arrays[name] for name in ITEMS if name in arrays), None)
        return _import_indices(path, tuples, y, X, sources, columns)
    return _import(path, tuples, y, sources, columns)


def _import_indices(
    path: Path,
    indices: NDArray[Any],
    y: NDArray[Any],
    X: NDArray[Any] | None,
    sources: list[SourceFile],
    columns: Columns,
) -> ImportedTable:
    """Return pairs of row numbers; the items are the rows of X, where there is one."""
    left, right = ([str(int(k)) for k in end] for end in indices.T)
    data = {"left": left, "right": right, "y": [str(answer) for answer in y.tolist()]}
    table = answer_table(path, sources[0], data, lambda row: f"pair {row + 1}")
    items = None
    if X is not None and X.ndim == 2 and X.dtype.kind in "biuf":
        ids = [str(k) for k in range(len(X))]
        items = Items(_features(X), ids, None, sources[0], [])
    used = Columns("left", "right", "y", None, columns.id)
    return ImportedTable(table, used, sources, items)


def _features(X: NDArray[Any]) -> pd.DataFrame:
    names = [f"x{k}" for k in range(X.shape[1])]
    return pd.DataFrame(np.where(np.isfinite(X), X, np.nan), columns=names)


def _import(
    path: Path, tuples: NDArray[Any], y: NDArray[Any], sources: list[SourceFile], columns: Columns
) -> ImportedTable:
    # Only the items and their places: the answers are read with those of every other format.
    X, pairs = Pairs.from_tuples(tuples, np.ones(len(tuples), dtype=bool))
    ids = [str(k) for k in range(len(X))]
    data = {"left": [ids[k] for k in pairs.left], "right": [ids[k] for k in pairs.right]}
    data["y"] = [str(answer) for answer in y.tolist()]
    table = answer_table(path, sources[0], data, lambda row: f"tuple {row + 1}")
    items = Items(_features(X), ids, None, sources[0], [])
    notes = [f"{path.name}: {len(X):,} different rows among the tuples are the items"]
    used = Columns("left", "right", "y", None, columns.id)
    return ImportedTable(table, used, sources, items, notes)


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


METRIC_LEARN = Importer(
    "metric-learn",
    "metric-learn's tuples, or row numbers, and ±1 (.npz, .npy)",
    _recognises,
    _read,
    Example(
        "pairs.npz",
        "import numpy as np\n\n"
        "X = np.array([[0.1, 1.0], [0.2, 1.1], [5.0, 3.2], [5.1, 3.0]])\n"
        "pairs = np.array([[0, 1], [1, 2], [0, 3], [2, 3]])  # or X[pairs], of shape (4, 2, 2)\n"
        "y = np.array([1, -1, -1, 1])\n"
        'np.savez("pairs.npz", X=X, pairs=pairs, y=y)\n',
        code=True,
    ),
    "Equal rows of tuples are one item. Row numbers are those of an array X beside the pairs, or "
    "of the file of items.",
    "https://contrib.scikit-learn.org/metric-learn/weakly_supervised.html",
)
