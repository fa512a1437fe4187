"""Classes of new items, from a model file and a table of items."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError

from noisypairs.algebra import Array
from noisypairs.app import model_file
from noisypairs.app.drift import Drift, TrainingSummary, find_drift
from noisypairs.app.encoding import read_content, unread
from noisypairs.app.files.items import items_of
from noisypairs.app.files.media import with_media
from noisypairs.app.files.table import read_table
from noisypairs.app.model_archive import BadModelFile, damaged
from noisypairs.app.model_file import Model
from noisypairs.assess.words import class_title
from noisypairs.errors import collected_warnings, did_you_mean

#: Decimals of a written probability; none is written as less than the last of them.
DECIMALS = 6


class Prediction(NamedTuple):
    """One row per item (id, class, and P(class) for every class), notes, and how items differ."""

    table: pd.DataFrame
    notes: list[str]
    drift: Drift


def predict_file(
    model: Path,
    items: Path,
    id: str | None = None,
    threshold: float | None = None,
    images: str | None = None,
) -> Prediction:
    """Classify the items of a file with the model of another.

    Of two classes the second is named from P = ``threshold`` on, by default where it is likelier.
    """
    with collected_warnings() as warned:
        loaded = model_file.load(model)
        features, ids, notes = _new_items(loaded, items, id, images)
        with blaming(loaded, model):
            X, lost = read_content(loaded.pipeline[:-1].transform, features)
            table = _predictions(loaded, X, ids, threshold)
            drift = _drift(loaded, features, X, model)
    return Prediction(table, [*warned, *notes, *lost, *drift.notes], drift)


@contextmanager
def blaming(model: Model, path: Path) -> Iterator[None]:
    """Turn what a model does that cannot predict into an error about its file.

    Unless the file is as it was written: then it is a defect of ours, and must stay visible. A
    `ValueError` may be about the items, except that of a part that was never fitted.
    """
    try:
        yield
    except Exception as error:
        about_items = isinstance(error, ValueError) and not isinstance(error, NotFittedError)
        if about_items or model.edited is False or isinstance(error, MemoryError):
            raise
        raise damaged(path, error) from error


def _new_items(
    model: Model, path: Path, id: str | None, images: str | None
) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Return the columns that the model uses, the ids, and notes on the rest of the file."""
    table = read_table(path)
    trained = model.facts["columns"].get("id")
    if id is None and trained in table.frame.columns:
        id = trained
    items = items_of(table, id, features=model.columns)
    features, lost = with_media(items.features, items.ids, path, images)
    assert features is not None  # it has rows
    used, notes = used_columns(model, features, str(path))
    return used, items.ids, [*lost, *notes]


def used_columns(
    model: Model, features: pd.DataFrame, where: str
) -> tuple[pd.DataFrame, list[str]]:
    """Return the columns that a model uses of items found ``where``, and notes on the rest."""
    wanted = model.columns
    extra = list(features.columns.difference(wanted, sort=False))
    for name in wanted:
        if name not in features.columns:
            hint = did_you_mean(name, extra or features.columns)
            if _kinds(model)[name] in ("picture", "sound"):
                hint = "name the folder of the files, or their column, with --images"
            if name.endswith("]"):  # as columns of an array are called
                array = Path(where).with_suffix(".npy")
                hint = (
                    "the training items had an array beside their file, such as items.npy beside "
                    f"items.csv. Put that of the new items at {array}, one row for each"
                )
            raise ValueError(f"{where} has no column {name!r}, which the model uses: {hint}")
    kinds = _kinds(model)
    notes = [f"column {name!r} is not used" for name in extra if name not in kinds]
    used = features[wanted]
    return used, notes + unread(used, {name: kinds[name] for name in wanted})


def _kinds(model: Model) -> dict[str, str]:
    """Return what each column of the training items was taken for."""
    return {one["name"]: one["kind"] for one in model.facts["features"]}


def _predictions(model: Model, X: Array, ids: list[str], threshold: float | None) -> pd.DataFrame:
    classes = [class_title(name) for name in model.pipeline.classes_]
    proba = model.pipeline[-1].predict_proba(X)
    winner = proba.argmax(axis=1)
    if threshold is not None:
        if len(classes) != 2:
            raise ValueError(f"--threshold is for two classes, and the model has {len(classes)}")
        winner = (proba[:, 1] >= threshold).astype(int)
    table: dict[str, Any] = {"id": ids, "class": [classes[k] for k in winner.tolist()]}
    shown = written_probabilities(proba)
    return pd.DataFrame(table | {f"P({name})": shown[:, k] for k, name in enumerate(classes)})


def written_probabilities(proba: Array) -> Array:
    """Return P(class), (n, K), as it is written: with `DECIMALS` decimals, none below the last one.

    A model cannot be surer than that from noisy answers. What the other classes are given, the
    likeliest one gives, so that rows add up to one.

    >>> written_probabilities(np.array([[1e-57, 1.0], [0.25, 0.75]])).tolist()
    [[1e-06, 0.999999], [0.25, 0.75]]
    """
    rows, likeliest = np.arange(len(proba)), proba.argmax(axis=1)
    shown: Array = np.maximum(proba, 10.0**-DECIMALS).round(DECIMALS)
    shown[rows, likeliest] = 0.0
    shown[rows, likeliest] = np.round(1.0 - shown.sum(axis=1), DECIMALS)
    return shown


def _drift(model: Model, features: pd.DataFrame, X: Array, path: Path) -> Drift:
    """Compare the items with those of training, which the model file describes."""
    try:
        trained = TrainingSummary.from_dict(model.facts["training"])
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise BadModelFile(
            f"{path}: its description of the items is damaged ({error!r})"
        ) from error
    known = _kinds(model)
    kinds = {name: known[name] for name in features.columns if name in trained.columns}
    return find_drift(features, kinds, X, model.pipeline[0], trained)
