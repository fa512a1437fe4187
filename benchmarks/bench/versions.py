"""Ratio 9: the joint learner of this version against that of an older one, default settings."""

from __future__ import annotations

import io
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from noisypairs import PairingNoise
from noisypairs.experiments.problem import split

#: The commit of version 0.1.0.
OLDER = "06c74de"
TABLES, QUICK_TABLES = ("spambase", "magic", "adult"), ("diabetes",)
PAIRS_PER_ITEM, ROUNDS = 10, 3
ROOT = Path(__file__).parents[2]
FIT = """
import json, sys, time, warnings
import numpy as np
from noisypairs import JointPairClassifier, Pairs
warnings.simplefilter("ignore")
data = np.load(sys.argv[1])
pairs = Pairs(data["left"], data["right"], data["same"], n_items=len(data["X"]))
# Once on few items, so that what is loaded late is not timed.
X, y = data["X"][:200], (data["X"][:200, 0] > np.median(data["X"][:200, 0]))
left, right = np.random.default_rng(0).integers(200, size=(2, 2000))
JointPairClassifier(random_state=0).fit(X, Pairs(left, right, y[left] == y[right], n_items=200))
start = time.process_time()
found = JointPairClassifier(random_state=0).fit(data["X"], pairs)
seconds = time.process_time() - start
predicted = found.predict(data["X_test"])
right = float((predicted == data["y_test"]).mean())
print(json.dumps({"seconds": seconds, "accuracy": max(right, 1 - right)}))
"""


def against_older(quick: bool) -> dict[str, Any]:
    """Fit both versions in turn, each in a process of its own; seconds are processor time."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        older = Path(folder) / "older"
        command = ["git", "-C", str(ROOT), "archive", OLDER, "src"]
        archive = subprocess.run(command, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(older, filter="data")
        for name in QUICK_TABLES if quick else TABLES:
            problem = Path(folder) / f"{name}.npz"
            _save(name, problem)
            rows = [
                {"older": _fit(older / "src", problem), "this": _fit(ROOT / "src", problem)}
                for _ in range(1 if quick else ROUNDS)
            ]
            found[name] = {
                f"{version}_{what}": statistics.median(row[version][what] for row in rows)
                for version in ("older", "this")
                for what in ("seconds", "accuracy")
            }
            found[name]["ratio"] = found[name]["this_seconds"] / found[name]["older_seconds"]
    return found


def _save(name: str, path: Path) -> None:
    data = split(name, PairingNoise(0.2, 0.2), pairs_per_item=PAIRS_PER_ITEM, seed=0)
    pairs = data.pairs
    answers = {"left": pairs.left, "right": pairs.right, "same": pairs.same}
    np.savez(path, X=data.X, X_test=data.X_test, y_test=data.y_test, **answers)


def _fit(source: Path, problem: Path) -> dict[str, float]:
    """Return seconds and accuracy of a fit with the package in this folder."""
    environment = os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", FIT, str(problem)],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result
