"""Small files of items and answers for the tests of fit, predict and inspect."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs import PairingNoise, datasets, sample_pairs
from noisypairs.app import model_file
from noisypairs.app.files import Dataset, read_dataset
from noisypairs.app.fit.fitting import fit_dataset
from noisypairs.app.fit.request import Request

NOISE = PairingNoise(0.15, 0.1)


@dataclass(frozen=True)
class Files:
    """Items and pairs on disk, with the true classes that no command is told."""

    items: Path
    pairs: Path
    labels: Path
    y: NDArray[np.int64]

    def read(self, labels: bool = False) -> Dataset:
        return read_dataset(self.items, self.pairs, labels=self.labels if labels else None)


def write_files(
    folder: Path, n_items: int = 90, n_pairs: int = 700, prior: float = 0.25, seed: int = 0
) -> Files:
    """Write two Gaussian classes with a column of every kind, 700 answers, four known classes."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n_items) < prior * n_items).astype(np.int64)
    y = rng.permutation(y)
    ids = [f"p{k:03d}" for k in range(n_items)]
    words = np.array(["round", "soft", "hard", "old", "big"])
    items = pd.DataFrame(
        {
            "photo": ids,
            "width": rng.normal(size=n_items) + 3.0 * y,
            "height": rng.normal(size=n_items) - 3.0 * y,
            "colour": np.where(rng.random(n_items) < 0.7, "red", "blue"),
            "about": [" ".join(rng.choice(words, 3)) for _ in ids],
            "unit": "mm",
        }
    )
    items.loc[::11, "height"] = np.nan
    pairs = sample_pairs(y, n_pairs, NOISE, random_state=seed)
    answers = pd.DataFrame(
        {
            "left": [ids[i] for i in pairs.left],
            "right": [ids[i] for i in pairs.right],
            "answer": np.where(pairs.same, "yes", "no"),
            "worker": rng.choice(["ann", "bob", "cid"], n_pairs),
        }
    )
    known = np.concatenate([np.flatnonzero(y == 0)[:2], np.flatnonzero(y == 1)[:2]])
    labels = pd.DataFrame(
        {"id": [ids[i] for i in known], "label": np.where(y[known] == 1, "yew", "ash")}
    )
    files = Files(folder / "items.csv", folder / "pairs.csv", folder / "labels.csv", y)
    items.to_csv(files.items, index=False)
    answers.to_csv(files.pairs, index=False)
    labels.to_csv(files.labels, index=False)
    return files


#: Removed when the process ends.
FOLDER = tempfile.TemporaryDirectory(prefix="noisypairs-model-")


class SmallModel(NamedTuple):
    """A model file, and a file of items that it was not fitted to."""

    model: Path
    items: Path


def _items(X: np.ndarray, first: int) -> pd.DataFrame:
    columns = {f"x{k}": X[:, k] for k in range(X.shape[1])}
    return pd.DataFrame({"id": [f"i{first + k}" for k in range(len(X))], **columns})


@cache
def small_model() -> SmallModel:
    """Fit a linear model to 90 items of two clear classes, and write it with 60 new items."""
    folder = Path(FOLDER.name)
    X, y = datasets.load("gaussians", n_samples=150, prior=0.4, random_state=0)
    pairs = sample_pairs(y[:90], 600, PairingNoise(0.1, 0.1), random_state=0)
    ids = np.array([f"i{k}" for k in range(90)])
    answers = {"left": ids[pairs.left], "right": ids[pairs.right]}
    answers["same"] = np.where(pairs.same, "yes", "no")
    known, new = folder / "known.csv", folder / "items.csv"
    _items(X[:90], 0).to_csv(known, index=False)
    _items(X[90:], 90).to_csv(new, index=False)
    pd.DataFrame(answers).to_csv(folder / "pairs.csv", index=False)
    asked = Request("joint", "logistic", n_classes=2)
    fitted = fit_dataset(read_dataset(known, folder / "pairs.csv"), asked)
    path = model_file.save(folder / "model.skops", fitted.model, fitted.result.facts)
    return SmallModel(path, new)
