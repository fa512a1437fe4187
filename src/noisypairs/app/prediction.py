"""Classes of new items, from a model file and a table of items."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from noisypairs.app import model_file
from noisypairs.app.encoding import unread
from noisypairs.app.files import read_frame, read_items
from noisypairs.app.model_file import Model
from noisypairs.errors import collected_warnings, did_you_mean

_WRITERS: dict[str, Callable[[Any], Any]] = {
    ".csv": lambda table: table.to_csv(index=False, lineterminator="\n"),
    ".tsv": lambda table: table.to_csv(index=False, sep="\t", lineterminator="\n"),
    ".jsonl": lambda table: table.to_json(orient="records", lines=True, force_ascii=False),
    ".parquet": lambda table: table.to_parquet(index=False),
}


def predict_file(
    model: Path, items: Path, id: str | None = None, threshold: float | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """Return one row per item (id, class, and P(class) for every class) and notes.

    Of two classes the second is named from P = ``threshold`` on, by default where it is likelier.
    """
    with collected_warnings() as warned:
        loaded = model_file.load(model)
        features, ids, notes = _new_items(loaded, items, id)
        result = _predictions(loaded, features, ids, threshold)
    return result, [*warned, *notes]


def writer(path: Path) -> Callable[[Any], Any]:
    """Return the function from a table to the content of a file of this extension."""
    kind = path.suffix.lower()
    if kind not in _WRITERS:
        raise ValueError(f"{path} has the extension {kind!r}: {did_you_mean(kind, _WRITERS)}")
    return _WRITERS[kind]


def _new_items(
    model: Model, path: Path, id: str | None
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Return the columns that the model uses, the ids, and notes on the rest of the file."""
    trained = model.facts["columns"].get("id")
    if id is None and trained in read_frame(path).columns:
        id = trained
    features, ids = read_items(path, id)
    extra = [name for name in features.columns if name not in model.columns]
    for name in model.columns:
        if name not in features.columns:
            hint = did_you_mean(name, extra or features.columns)
            raise ValueError(f"{path} has no column {name!r}, which the model uses: {hint}")
    kinds = {one["name"]: one["kind"] for one in model.facts["features"]}
    notes = [f"column {name!r} is not used" for name in extra if name not in kinds]
    used = features[model.columns]
    return used, ids, notes + unread(used, {name: kinds[name] for name in model.columns})


def _predictions(
    model: Model, features: pd.DataFrame, ids: list[str], threshold: float | None
) -> pd.DataFrame:
    classes = [str(name) for name in model.pipeline.classes_]
    proba = model.pipeline.predict_proba(features)
    winner = proba.argmax(axis=1)
    if threshold is not None:
        if len(classes) != 2:
            raise ValueError(f"--threshold is for two classes, and the model has {len(classes)}")
        winner = (proba[:, 1] >= threshold).astype(int)
    shown = {"id": ids, "class": [classes[k] for k in winner.tolist()]}
    return pd.DataFrame(shown | {f"P({name})": proba[:, k] for k, name in enumerate(classes)})
