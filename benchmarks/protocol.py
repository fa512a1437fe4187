"""How a benchmark runs: cells in parallel, one record per cell, means with standard errors.

The settings of the paper, the splits and the pairs are those of `noisypairs.experiments`.
Benchmarks that compare versions name the version in each cell (``--label``), fit through the public
names only (`attempt`), and print every version in their records.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import noisypairs
from noisypairs import ClassNamesWarning, JointPairClassifier, Pairs

RECORDS = Path(__file__).parent / "records"


def run(task: Callable[..., dict[str, Any]], cells: Iterable[dict[str, Any]], name: str) -> list:
    """Run ``task(**cell)`` for every cell on two processes, one thread each; append as they come.

    Cells already in the record file are not run again. Every record says which version made it
    (`made_by`). The environment variable JOBS says how many processes.
    """
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / f"{name}.jsonl"
    records = read(name)
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


def read(name: str) -> list[dict[str, Any]]:
    """Return the records of a benchmark, none where it was never run."""
    path = RECORDS / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def made_by(record: dict[str, Any]) -> str:
    """Return the version that made a record; those before 0.3.0 do not say it."""
    named = record.get("made", {}).get("noisypairs") or record["cell"].get("version")
    return named or "before 0.3.0"


def _one(task: Callable[..., dict[str, Any]], cell: dict[str, Any]) -> dict[str, Any]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"cell": cell, **task(**cell), "made": {"noisypairs": noisypairs.__version__}}


def options(doc: str) -> argparse.ArgumentParser:
    """Return the options that all comparisons of versions have."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--label", default=noisypairs.__version__, help="name of this version")
    parser.add_argument("--quick", action="store_true", help="one or two minutes")
    parser.add_argument("--print", action="store_true", dest="only_print", help="run nothing")
    return parser


@dataclass(frozen=True, eq=False)
class Attempt:
    """A fit of the joint learner, or the error in its place; warnings as "Name: text"."""

    model: JointPairClassifier | None
    seconds: float
    warnings: tuple[str, ...]
    error: str | None

    @property
    def facts(self) -> dict[str, Any]:
        """What a record keeps of it."""
        return {"seconds": self.seconds, "warnings": list(self.warnings), "error": self.error}


def attempt(X: Any, pairs: Pairs, estimator: Any = None, n_classes: Any = 2, **how: Any) -> Attempt:
    """Fit the joint learner; seconds are those of the processor, without what is loaded late."""
    load_all()
    model, error = JointPairClassifier(estimator, n_classes, random_state=0, **how), None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ClassNamesWarning)
        start = time.process_time()
        try:
            model.fit(X, pairs)
        except Exception as raised:  # a benchmark counts errors of every kind
            error = f"{type(raised).__name__}: {raised}"
        seconds = time.process_time() - start
    texts = dict.fromkeys(f"{one.category.__name__}: {one.message}" for one in caught)
    return Attempt(None if error else model, seconds, tuple(texts), error)


@cache
def load_all() -> None:
    """Fit a small problem once per process, so that what is loaded late is not timed."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 3
    X = np.eye(3)[y] * 3 + rng.normal(size=(200, 3))
    left, right = rng.permutation(200 * 199)[:1600] // 199, rng.integers(200, size=1600)
    proper = left != right
    pairs = Pairs(left[proper], right[proper], (y[left] == y[right])[proper], n_items=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        JointPairClassifier(None, 3, random_state=0).fit(X, pairs)


def versions(records: Iterable[dict[str, Any]]) -> list[str]:
    """Return the versions that records name, in the order they came."""
    return list(dict.fromkeys(record["cell"]["version"] for record in records))


def select(records: Iterable[dict[str, Any]], **cell: Any) -> list[dict[str, Any]]:
    """Return the records whose cells have these values."""
    return [record for record in records if cell.items() <= record["cell"].items()]


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
