"""How a benchmark runs: cells in parallel, one record per cell, means with standard errors.

The settings of the paper, the splits and the pairs are those of `noisypairs.app.experiments`.
"""

from __future__ import annotations

import json
import os
import platform
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import noisypairs

RECORDS = Path(__file__).parent / "records"


def run(task: Callable[..., dict[str, Any]], cells: Iterable[dict[str, Any]], name: str) -> list:
    """Run ``task(**cell)`` for every cell on two processes, one thread each; append as they come.

    Cells already in the record file are not run again. The environment variable JOBS says how many
    processes.
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
