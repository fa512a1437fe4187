"""What every measurement shares: items and pairs, a clock, the machine, the record."""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from noisypairs import PairingNoise, Pairs, sample_pairs

RECORDS = Path(__file__).parents[1] / "records"
NOISE = PairingNoise(0.2, 0.1)
PACKAGES = ("noisypairs", "numpy", "scipy", "scikit-learn", "torch", "duckdb", "ibis-framework")


def items(n_items: int, n_features: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return Gaussian items and classes of a linear rule with some overlap, prior about .35."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_items, n_features))
    direction = np.random.default_rng(12345).normal(size=n_features)
    margin = X @ direction / np.linalg.norm(direction)
    return X, (margin + 0.3 * rng.normal(size=n_items) > 0.4).astype(int)


def answers(y: np.ndarray, n_pairs: int, seed: int = 0) -> Pairs:
    return sample_pairs(y, n_pairs, NOISE, random_state=seed)


def seconds(action: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long the action took, and what it returned."""
    start = time.perf_counter()
    result = action()
    return time.perf_counter() - start, result


def side_by_side(actions: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return median seconds of each action; in turn within each round, so all meet the same load.

    A first round warms caches and is not counted.
    """
    taken = [{name: seconds(act)[0] for name, act in actions.items()} for _ in range(rounds + 1)]
    return {name: statistics.median(one[name] for one in taken[1:]) for name in actions}


def processor_seconds(actions: dict[str, Callable[[], Any]], times: int = 3) -> dict[str, float]:
    """Return processor seconds of each action: the median of so many, made in turn."""
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(times):
        for name, act in actions.items():
            start = time.process_time()
            act()
            taken[name].append(time.process_time() - start)
    return {name: statistics.median(several) for name, several in taken.items()}


def peak_gigabytes() -> float:
    """Return the largest resident memory of this process so far, in 10⁹ bytes.

    Linux says so in VmHWM. Its ru_maxrss would not do: a process inherits that of its parent.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = [row for row in status.read_text().splitlines() if row.startswith("VmHWM")]
        return int(line.split()[1]) * 1024 / 1e9
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def in_fresh_process(script: str, *arguments: str) -> dict[str, Any]:
    """Run a script of this folder in a new process; return the JSON it prints last."""
    command = [sys.executable, str(Path(__file__).parent / script), *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def machine() -> dict[str, Any]:
    """Describe the machine and the versions; nothing that names it."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = None
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(memory, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "threads_per_process": os.environ.get("OMP_NUM_THREADS", "unset"),
        "versions": versions,
    }


def write(path: Path, record: dict[str, Any]) -> None:
    """Write the record beside its place, then move it there: never half a file."""
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(record, indent=1) + "\n")
    os.replace(temporary, path)
