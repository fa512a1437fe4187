"""The same problem, the same model? Order of rows, threads, jobs, and features changed by 1e-7.

    python benchmarks/steady.py [--label 0.3.0] [--large] [--print]

Every fit runs in a process of its own. "Model" is what `item_proba_` and, on 2,000 new items,
`predict_proba` say; the largest difference from the first fit should be below 1e-6 where

- the same is fitted again, rows and pairs come in another order,
- OMP_NUM_THREADS is 2 instead of 1, n_jobs is 2 instead of 1.

Features plus 1e-7 times a normal number, and features rounded to float32, should change neither
the number of classes nor the noise family, put no item in another class, and cost the same: the
ratio is processor time over that of the first fit.

The command line is tried as well: ``noisypairs fit`` on the files of ``noisypairs sample``, with
two threads and with shuffled files; the difference is the largest of any number that it prints.
--large adds 30 classes of 20,000 items and two classes of 25,000. Runs what
``records/steady.jsonl`` lacks. --quick leaves out 30 classes of 10,000 items.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from draws import gaussian_classes
from noisypairs import JointPairClassifier, Pairs, datasets
from noisypairs.metrics import accuracy_up_to_names
from protocol import load_all, machine, options, read, run, select, versions

NAME = "steady"
COMMAND = "command line"
#: Number of classes given; number of classes, items, answers per item, features and seed.
PROBLEMS = {
    "two classes": ("2", (2, 1_000, 6, "weak", 0)),
    "five classes, number open": ("auto", (5, 500, 12, "weak", 0)),
    "crowd of 60": ("3", None),
    "30 classes, 3,000 items": ("30", (30, 3_000, 10, "clear", 0)),
    "30 classes, 10,000 items": ("30", (30, 10_000, 10, "clear", 2)),
}
LARGE = {
    "two classes, 25,000 items": ("2", (2, 25_000, 4, "weak", 0)),
    "30 classes, 20,000 items": ("30", (30, 20_000, 10, "clear", 1)),
}
N_NEW, TINY, EQUAL = 2_000, 1e-7, 1e-6
RUN_COMMAND = "from noisypairs.cli import main; main()"
#: Numbers of these names in what a command prints differ from run to run.
UNSTEADY = {"seconds", "versions", "version", "date", "sources", "checksums", "written"}


def draw(problem: str) -> dict[str, np.ndarray]:
    """Return the arrays of a problem."""
    _, how = (PROBLEMS | LARGE)[problem]
    if how is None:
        crowd = datasets.simulated_crowd(300, 3, 60, 16, random_state=0)
        X, y, pairs, X_new = crowd.data, crowd.target, crowd.pairs, crowd.data[:0]
    else:
        n_classes, n_items, density, features, seed = how
        data = gaussian_classes(
            n_classes, n_items, density, features=features, n_new=N_NEW, seed=seed
        )
        X, y, pairs, X_new = data.X, data.y, data.pairs, data.X_new
    arrays = {"X": X, "y": y, "X_new": X_new}
    arrays |= {"left": pairs.left, "right": pairs.right, "same": pairs.same}
    return arrays if pairs.annotator is None else arrays | {"annotator": pairs.annotator}


def reordered(arrays: dict[str, np.ndarray]) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the problem with rows, pairs and new items shuffled, and the order of the rows."""
    rng = np.random.default_rng(1)
    order, place = rng.permutation(len(arrays["X"])), np.empty(len(arrays["X"]), dtype=int)
    place[order] = np.arange(len(order))
    pairs = rng.permutation(len(arrays["left"]))
    new = dict(arrays, X=arrays["X"][order], y=arrays["y"][order])
    new |= {name: place[arrays[name]][pairs] for name in ("left", "right")}
    new |= {name: arrays[name][pairs] for name in ("same", "annotator") if name in arrays}
    return new, order


def variants(
    arrays: dict[str, np.ndarray],
) -> Iterator[tuple[str, dict[str, np.ndarray], np.ndarray | None, int, int]]:
    """Yield name, arrays, order of the rows, threads and jobs of every fit after the first."""
    yield "again", arrays, None, 1, 1
    yield "other order", *reordered(arrays), 1, 1
    yield "two threads", arrays, None, 2, 1
    yield "two jobs", arrays, None, 1, 2
    noise = np.random.default_rng(2).normal(size=arrays["X"].shape)
    yield "+ 1e-7", arrays | {"X": arrays["X"] + TINY * noise}, None, 1, 1
    yield "float32", arrays | {"X": arrays["X"].astype(np.float32)}, None, 1, 1


def environment(threads: int) -> dict[str, str]:
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return os.environ | dict.fromkeys(names, str(threads))


def fit_in_process(
    arrays: dict[str, np.ndarray], n_classes: str, threads: int, jobs: int
) -> dict[str, Any]:
    """Fit in a process of its own; return what it found, or its error."""
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "given.npz", Path(folder) / "found.npz"
        np.savez(given, **arrays)
        command = [sys.executable, __file__, "--fit", str(given), str(found), n_classes, str(jobs)]
        subprocess.run(command, check=True, env=environment(threads), stdout=subprocess.DEVNULL)
        with np.load(found) as stored:
            return {name: stored[name] for name in stored.files}


def fit(given: str, found: str, n_classes: str, jobs: str) -> None:
    """Fit a stored problem and store the model's probabilities: the work of `fit_in_process`."""
    load_all()
    data = np.load(given)
    annotator = data["annotator"] if "annotator" in data.files else None
    ends = data["left"], data["right"], data["same"]
    pairs = Pairs(*ends, n_items=len(data["X"]), annotator=annotator)
    number = n_classes if n_classes == "auto" else int(n_classes)
    model = JointPairClassifier(None, number, random_state=0, n_jobs=int(jobs))
    warnings.simplefilter("ignore")
    start = time.process_time()
    model.fit(data["X"], pairs)
    seconds = time.process_time() - start
    np.savez(
        found,
        seconds=seconds,
        item_proba=model.item_proba_,
        new_proba=model.predict_proba(data["X_new"]) if len(data["X_new"]) else np.empty((0, 0)),
        n_classes=model.n_classes_,
        family=getattr(model, "noise_model_", None) or type(model.noise_).__name__,
        right=accuracy_up_to_names(data["y"], model.item_proba_.argmax(axis=1)),
    )


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference; 1 where the numbers of classes differ."""
    if one.shape != other.shape:
        return 1.0
    return float(np.abs(one - other).max(initial=0.0))


def compare(first: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    said = [fit["item_proba"].argmax(axis=1) for fit in (first, other)]
    return {
        "difference": max(difference(first[n], other[n]) for n in ("item_proba", "new_proba")),
        "elsewhere": 1 - accuracy_up_to_names(*said),
        "n_classes": int(other["n_classes"]),
        "family": str(other["family"]),
        "right": float(other["right"]),
        "seconds": float(other["seconds"]),
        "ratio": float(other["seconds"] / first["seconds"]),
    }


def task(version: str, problem: str) -> dict[str, Any]:  # noqa: ARG001
    if problem == COMMAND:
        return {"fits": command_line()}
    n_classes, _ = (PROBLEMS | LARGE)[problem]
    arrays = draw(problem)
    first = fit_in_process(arrays, n_classes, 1, 1)
    found = {"first": compare(first, first)}
    for name, changed, order, threads, jobs in variants(arrays):
        other = fit_in_process(changed, n_classes, threads, jobs)
        if order is not None:
            back = np.empty_like(other["item_proba"])
            back[order] = other["item_proba"]
            other["item_proba"] = back
        found[name] = compare(first, other)
    return {"fits": found}


# ---------------------------------------------------------------- the command line


def command_line() -> dict[str, Any]:
    """Return what ``noisypairs fit`` prints about the sample, and how that differs."""
    with tempfile.TemporaryDirectory() as name:
        plain, mixed = Path(name) / "plain", Path(name) / "mixed"
        _command(1, "sample", str(plain))
        _command(1, "sample", str(mixed))
        for file in ("items.csv", "pairs.csv"):
            rows = pd.read_csv(mixed / file, dtype=str, keep_default_na=False)
            rows.sample(frac=1, random_state=0).to_csv(mixed / file, index=False)
        runs = {"first": (1, plain), "again": (1, plain)}
        runs |= {"other order": (1, mixed), "two threads": (2, plain)}
        printed = {key: _fit_files(*how) for key, how in runs.items()}
    first = dict(_numbers(printed["first"]))
    found = {}
    for key, result in printed.items():
        numbers = dict(_numbers(result))
        both = first.keys() & numbers.keys()
        found[key] = {
            "difference": max(abs(first[path] - numbers[path]) for path in both),
            "n_classes": len(result.get("classes", [])),
            "family": result.get("noise", {}).get("family", ""),
            "stated": numbers.get("/accuracy/estimate"),
            "missing": len(first.keys() ^ numbers.keys()),
        }
    return found


def _command(threads: int, *arguments: str) -> str:
    command = [sys.executable, "-c", RUN_COMMAND, *arguments]
    done = subprocess.run(command, check=True, env=environment(threads), capture_output=True)
    return done.stdout.decode()


def _fit_files(threads: int, folder: Path) -> dict[str, Any]:
    files = [str(folder / file) for file in ("items.csv", "pairs.csv")]
    model = str(folder / f"model{threads}.skops")
    printed = _command(threads, "fit", *files, "-o", model, "--force", "--quiet", "--json")
    result: dict[str, Any] = json.loads(printed)
    return result


def _numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield path and value of every number with a fraction in what a command printed."""
    if isinstance(value, dict):
        for key, part in value.items():
            if key not in UNSTEADY:
                yield from _numbers(part, f"{path}/{key}")
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from _numbers(part, f"{path}/{place}")
    elif isinstance(value, float):
        yield path, value


# ---------------------------------------------------------------- the table


def table(records: list[dict[str, Any]]) -> None:
    heads = "largest difference | same to 1e-6 | items elsewhere | classes | family | right"
    print(f"\n| version | problem | fit | {heads} | s | time ratio |\n|{'---|' * 11}")
    for version in versions(records):
        for record in select(records, version=version):
            for name, fit in record["fits"].items():
                same = "yes" if fit["difference"] < EQUAL else "no"
                right = fit["stated"] if "stated" in fit else fit["right"]
                cells = [version, record["cell"]["problem"], name, f"{fit['difference']:.1e}", same]
                cells += [f"{fit['elsewhere']:.4f}" if "elsewhere" in fit else ""]
                cells += [str(fit["n_classes"]), fit["family"]]
                cells += ["" if right is None else f"{right:.4f}"]
                times = ("seconds", "ratio")
                cells += [f"{fit[key]:.2f}" if key in fit else "" for key in times]
                print(f"| {' | '.join(cells)} |")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--large", action="store_true", help="20,000 and 25,000 items as well")
    given = parser.parse_args()
    problems = [COMMAND, *PROBLEMS, *(LARGE if given.large else ())]
    cells = [
        {"version": given.label, "problem": problem}
        for problem in problems
        if not given.quick or problem != "30 classes, 10,000 items"
    ]
    records = read(NAME) if given.only_print else run(task, cells, NAME)
    print(machine())
    table(records)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fit"]:
        fit(*sys.argv[2:])
    else:
        main()
