"""The commands, run in this process on files that are written for them."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from noisypairs.cli import main as command_line

from .problem import crowd, items, problem

#: Keys of JSON output that name the time, the machine or the place.
UNSTEADY = {"seconds", "versions", "version", "date", "sources", "checksums", "written"}


def write_files(folder: Path, n_pairs: int) -> dict[str, Path]:
    """Write items with columns of several kinds, the crowd's answers and a few known classes."""
    X, y = items()
    rng, pairs = np.random.default_rng(4), crowd(n_pairs=n_pairs)
    ids = np.array([f"p{k:03d}" for k in range(len(y))])
    table = pd.DataFrame({"id": ids, "width": X[:, 0], "height": X[:, 1], "depth": X[:, 2]})
    table["colour"] = rng.choice(["red", "blue"], len(y))
    table["about"] = [" ".join(rng.choice(["round", "soft", "old", "big"], 3)) for _ in ids]
    table.loc[::11, "height"] = np.nan
    asked = np.asarray(pairs.annotator_names)[pairs.annotator]
    answered = pd.DataFrame({"left": ids[pairs.left], "right": ids[pairs.right]})
    answered = answered.assign(same=np.where(pairs.same, "yes", "no"), annotator=asked)
    known = pd.DataFrame({"id": ids[:10], "class": np.where(y[:10] == 1, "yew", "ash")})
    frames = {"items": table, "pairs": answered, "labels": known}
    paths = {name: folder / f"{name}.csv" for name in frames}
    for name, frame in frames.items():
        frame.to_csv(paths[name], index=False)
    return paths


def command(*words: object) -> str:
    """Run one command in this process and return what it prints."""
    printed, noted = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["noisypairs", *map(str, words)]
    code: Any = None
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(noted):
            command_line()
    except SystemExit as stop:
        code = stop.code
    finally:
        sys.argv = before
    if code:
        raise RuntimeError(f"noisypairs {words[0]} failed: {noted.getvalue()}")
    return printed.getvalue()


def only_numbers(facts: Any) -> Any:
    """Return JSON data without text and without what changes from run to run."""
    if isinstance(facts, dict):
        steady = {key: value for key, value in facts.items() if key not in UNSTEADY}
        return {key: only_numbers(value) for key, value in steady.items()}
    if isinstance(facts, list):
        return [only_numbers(value) for value in facts]
    return None if isinstance(facts, str) else facts


def numbers_of(*words: object) -> Any:
    """Run one command with ``--json`` and return the numbers that it prints."""
    return only_numbers(json.loads(command(*words, "--json")))


@contextlib.contextmanager
def written_files(n_pairs: int = 900) -> Iterator[tuple[Path, dict[str, Path]]]:
    """Yield a temporary folder and the files of `write_files` in it."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name), write_files(Path(name), n_pairs)


def fit_and_predict(*options: str, labels: bool = False, n_pairs: int = 900) -> list[Any]:
    """Run fit, then predict and inspect the model file; return all numbers."""
    with written_files(n_pairs) as (folder, files):
        model, out = folder / "m.skops", folder / "out.csv"
        words: list[object] = ["fit", files["items"], files["pairs"], "-o", model, "--quiet"]
        words += ["--labels", files["labels"]] if labels else []
        fit = numbers_of(*words, *options)
        predict = numbers_of("predict", model, files["items"], "-o", out, "--quiet")
        return [fit, predict, pd.read_csv(out).to_dict("list"), numbers_of("inspect", model)]


@problem
def command_fit() -> Any:
    return fit_and_predict()


@problem
def command_fit_labels() -> Any:
    return fit_and_predict("--method", "joint", "--estimator", "logistic", labels=True)


@problem
def command_fit_methods() -> Any:
    plain = ("--estimator", "logistic", "--no-annotators", "--method")
    methods = ("weighted", "correction")
    return [fit_and_predict(*plain, method, n_pairs=20_000) for method in methods]


@problem
def command_check() -> Any:
    with written_files() as (_, files):
        return numbers_of("check", files["items"], files["pairs"], "--quiet")


@problem
def command_annotators() -> Any:
    with written_files() as (_, files):
        alone = numbers_of("annotators", files["pairs"], "--quiet")
        gold = ("--gold", files["labels"])
        return [alone, numbers_of("annotators", files["pairs"], files["items"], *gold, "--quiet")]


@problem
def command_plan() -> Any:
    with written_files() as (folder, files):
        out = folder / "next.csv"
        words = ["plan", files["items"], files["pairs"], "--target", 0.95, "--cost", 0.04]
        facts = numbers_of(*words, "--next", 10, "-o", out, "--quiet")
        return [facts, pd.read_csv(out).to_dict("list")]


@problem
def command_theory() -> Any:
    words = ("theory", "--prior", "0.3", "--noise")
    return [numbers_of(*words, kind, "0.2", "0.1") for kind in ("pairing", "labeling")]
