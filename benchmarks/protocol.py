"""The experiments' common ground: the paper's settings, item splits, pairs, records, tables."""

from __future__ import annotations

import json
import os
import platform
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import noisypairs
from noisypairs import LabelingNoise, NoiseModel, PairingNoise, Pairs, datasets, sample_pairs

RECORDS = Path(__file__).parent / "records"

#: Tables 1 and 2 of the paper: dataset, noise family, its three pairs of rates.
PAPER_SETTINGS = [
    (name, family, rates)
    for name, family, unequal in (
        ("diabetes", "pairing", (0.1, 0.2)),
        ("adult", "pairing", (0.1, 0.2)),
        ("cancer", "pairing", (0.1, 0.2)),
        ("ionosphere", "labeling", (0.1, 0.2)),
        ("spambase", "labeling", (0.1, 0.2)),
        ("magic", "labeling", (0.2, 0.1)),
    )
    for rates in ((0.2, 0.2), unequal, (0.3, 0.3))
]


@dataclass(frozen=True)
class Split:
    """Training items with their pairs, test items with their true classes."""

    X: np.ndarray
    y: np.ndarray
    pairs: Pairs
    X_test: np.ndarray
    y_test: np.ndarray
    noise: NoiseModel


def noise_of(family: str, rates: tuple[float, float]) -> NoiseModel:
    return PairingNoise(*rates) if family == "pairing" else LabelingNoise(*rates)


def split(
    name: str,
    noise: NoiseModel,
    *,
    pairs_per_item: float | None = None,
    n_pairs: int | None = None,
    seed: int = 0,
    rows: int | None = None,
) -> Split:
    """Split 75:25 by item, stratified; standardise on training items, cut at ±10; draw pairs."""
    X, y = datasets.load(name)
    if rows is not None and rows < len(y):
        keep = np.random.default_rng(seed).choice(len(y), rows, replace=False)
        X, y = X[keep], y[keep]
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X)
    X, X_test = (np.clip(scaler.transform(part), -10, 10) for part in (X, X_test))
    n_pairs = n_pairs or round(pairs_per_item * len(y))
    pairs = sample_pairs(y, n_pairs, noise, random_state=seed)
    return Split(X, y, pairs, X_test, y_test, noise)


def run(task: Callable[..., dict[str, Any]], cells: Iterable[dict[str, Any]], name: str) -> list:
    """Run ``task(**cell)`` for every cell on two processes, one thread each; append as they come.

    Cells already in the record file are not run again.
    """
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / f"{name}.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {json.dumps(record["cell"], sort_keys=True) for record in records}
    todo = [cell for cell in cells if json.dumps(cell, sort_keys=True) not in done]
    jobs = int(os.environ.get("JOBS", "2"))
    results = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(_one)(task, cell) for cell in todo
    )
    for record in results:
        records.append(record)
        with path.open("a") as file:
            file.write(json.dumps(record) + "\n")
    return records


def _one(task: Callable[..., dict[str, Any]], cell: dict[str, Any]) -> dict[str, Any]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"cell": cell, **task(**cell)}


def mean_error(values: Iterable[float]) -> tuple[float, float]:
    """Return mean and standard error."""
    array = np.array(list(values), dtype=float)
    error = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else np.nan
    return float(array.mean()), float(error)


def machine() -> str:
    return (
        f"noisypairs {noisypairs.__version__}, Python {platform.python_version()}, "
        f"{os.cpu_count()} cores"
    )
