"""The command line gives the same result with any number of threads, down to the last digit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from noisypairs.cli import THREAD_SETTINGS

RUN = (sys.executable, "-c", "from noisypairs.cli import main; main()")
#: One estimator and one method: what is tested is the encoding and one fit, not the choice.
FIT = ("--estimator", "logistic", "--method", "joint", "--classes", "3", "--json", "--quiet")


def begin_fit(folder: Path, threads: str) -> subprocess.Popen[str]:
    files = folder / "items.csv", folder / "pairs.csv"
    return subprocess.Popen(
        [*RUN, "fit", *map(str, files), "-o", str(folder / f"{threads}.skops"), *FIT],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **dict.fromkeys(THREAD_SETTINGS, threads)},
    )


def found(process: subprocess.Popen[str]) -> dict[str, Any]:
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    result: dict[str, Any] = json.loads(printed)
    return {part: result[part] for part in ("accuracy", "noise", "classes", "suspects")}


def test_one_and_two_threads_print_the_same(tmp_path: Path) -> None:
    subprocess.run([*RUN, "sample", str(tmp_path / "shop")], capture_output=True, check=True)
    one, two = (begin_fit(tmp_path / "shop", threads) for threads in ("1", "2"))
    assert found(one) == found(two)
