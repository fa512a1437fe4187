"""The registry of problems, and the items and answers that they share."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs import LabelingNoise, NoiseModel, PairingNoise, Pairs, PairTable, sample_pairs

NOISE, LABELING = PairingNoise(0.2, 0.1), LabelingNoise(0.15, 0.1)
#: What a fitted learner is asked for, where it has it.
FITTED = [
    "classes_",
    "prior_",
    "item_proba_",
    "oof_proba_",
    "annotator_noise_",
    "wrong_proba_",
    "log_likelihood_",
    "start_",
    "starts_",
    "n_classes_",
    "noise_model_",
    "noise_models_",
    "candidates_",
    "converged_",
    "n_iter_",
    "history_",
    "alpha_",
    "gain_",
    "rate_choice_",
    "prior_estimate_",
    "labels_",
    "cluster_centers_",
    "inertia_",
    "variance_",
    "violated_",
    "n_violations_",
    "violation_weight_",
    "n_contradictory_pairs_",
    "n_frustrated_items_",
]
#: More pairs than this are streamed, or sampled first; no table here is as large.
ENOUGH = 2_000_000

Problem = Callable[[], Any]
PROBLEMS: dict[str, Problem] = {}
XY = tuple[NDArray[np.float64], NDArray[np.int64]]


def problem(function: Problem) -> Problem:
    """Add a function to the problems, under its own name."""
    PROBLEMS[function.__name__] = function
    return function


@cache
def items(n_classes: int = 2, n_items: int = 120, seed: int = 0) -> XY:
    """Return items of overlapping Gaussian classes, the first the largest: X (n, 3) and y."""
    rng = np.random.default_rng(seed)
    share = np.linspace(3.0, 1.0, n_classes)
    y = rng.choice(n_classes, n_items, p=share / share.sum())
    centres = 2.5 * np.random.default_rng(7).normal(size=(n_classes, 3))
    return centres[y] + rng.normal(size=(n_items, 3)), y


def answers(
    noise: NoiseModel = NOISE, n_classes: int = 2, n_pairs: int = 900, seed: int = 1
) -> Pairs:
    """Return noisy pairs of `items`."""
    return sample_pairs(items(n_classes)[1], n_pairs, noise, random_state=seed)


def many(noise: NoiseModel = NOISE) -> Pairs:
    """Return as many pairs as rates and prior take that are estimated point by point."""
    return answers(noise, n_pairs=4000)


def crowd(n_classes: int = 2, weights: bool = False, n_pairs: int = 900) -> Pairs:
    """Return the answers of three annotators, of whom one guesses; weights if wanted."""
    rng = np.random.default_rng(3)
    pairs = answers(n_classes=n_classes, n_pairs=n_pairs)
    who = rng.choice(["ann", "bob", "coin"], pairs.n_pairs, p=[0.4, 0.4, 0.2])
    same = np.where(who == "coin", rng.random(pairs.n_pairs) < 0.5, pairs.same)
    weight = rng.uniform(0.5, 2.0, pairs.n_pairs) if weights else None
    return Pairs(pairs.left, pairs.right, same, pairs.n_items, annotator=who, weight=weight)


def with_some_labels(pairs: Pairs, y: NDArray[np.int64]) -> Pairs:
    """Return the pairs with the names of two items of every class."""
    known = np.concatenate([np.flatnonzero(y == k)[:2] for k in np.unique(y)])
    return pairs.with_labels({int(i): f"class {y[i]}" for i in known})


@contextlib.contextmanager
def table_of(pairs: Pairs) -> Iterator[PairTable]:
    """Write the pairs to Parquet and yield them as a table that stays there."""
    columns = {"left": pairs.left, "right": pairs.right, "same": pairs.same}
    if pairs.annotator_names is not None:
        columns["annotator"] = np.asarray(pairs.annotator_names)[pairs.annotator]
    if pairs.weight is not None:
        columns["weight"] = pairs.weight
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.parquet"
        pd.DataFrame(columns).to_parquet(path)
        yield PairTable.from_parquet(path, n_items=pairs.n_items, threads=1)


@contextlib.contextmanager
def enough_pairs(number: int) -> Iterator[None]:
    """Let the joint learner take more pairs than this for many, whichever module says so."""
    loaded = [module for key, module in sys.modules.items() if key.startswith("noisypairs")]
    found = [
        (home, name)
        for home in loaded
        for name, value in vars(home).items()
        if name.isupper() and isinstance(value, int) and value == ENOUGH
    ]
    if not found:
        raise LookupError(f"no constant of any module is {ENOUGH:,}: say in ENOUGH what it is now")
    try:
        for home, name in found:
            setattr(home, name, number)
        yield
    finally:
        for home, name in found:
            setattr(home, name, ENOUGH)


def found_by(model: Any, X: Any) -> dict[str, Any]:
    """Return all numbers of a fitted learner: noise, what it keeps, what it predicts of X."""
    kept = {name: getattr(model, name) for name in FITTED if hasattr(model, name)}
    kept["same"] = model.noise_.same_probability(len(model.classes_))
    kept["predict"] = model.predict(X)
    if hasattr(model, "predict_proba"):
        kept["predict_proba"] = model.predict_proba(X)
    return kept


def fitted(model: Any, pairs: Any, n_classes: int = 2) -> dict[str, Any]:
    """Fit a learner to items and pairs; predict these items and new ones."""
    X = items(n_classes)[0]
    new = items(n_classes, 40, seed=9)[0]
    model.fit(X, pairs)
    return {"old": found_by(model, X), "new": model.predict(new)}
