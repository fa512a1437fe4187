"""What a sweep of belief propagation over a table of pairs costs: in the engine, and streamed.

    python benchmarks/sweeps.py [--pairs 1000000 10000000] [--engine streamed duckdb spark]
    python benchmarks/sweeps.py --calculate

Each row is a process of its own: ``duckdb`` (two threads, memory limit 2 GB), ``spark`` (local[2];
needs Java and the extra) and ``streamed``, the E-step of the commit before sweeps were queries,
from this repository's history. Rows are added to benchmarks/records/sweeps.jsonl as they end; one
that is there is not made again. Processor seconds are of this process, so DuckDB's threads are in
them and Spark's Java is not. Shuffled bytes are from Spark's event log. --calculate prints larger
tables.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "benchmarks" / "records" / "sweeps.jsonl"
#: The commit before sweeps were queries.
OLDER = "4835f39^"
ENGINES = ("streamed", "duckdb", "spark")
PAIRS_PER_ITEM, SWEEPS, DEPTH = 10, 4, 3
#: The cluster of --calculate: executors of two cores, and bytes a second that one sends.
EXECUTORS, NETWORK = 50, 1.25e9


def problem(folder: Path, n_pairs: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Write pairs, and return potentials (n_items, K) and S (K, K)."""
    sys.path.insert(0, str(ROOT / "benchmarks" / "bench"))
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_items, rng = n_pairs // PAIRS_PER_ITEM, np.random.default_rng(0)
    y = rng.integers(n_classes, size=n_items)
    S = np.where(np.eye(n_classes, dtype=bool), 0.8, 0.2)
    step = 5_000_000
    for start in range(0, n_pairs, step):
        left, right = rng.integers(n_items, size=(2, min(step, n_pairs - start)), dtype=np.int32)
        same = rng.random(left.size) < S[y[left], y[right]]
        rows = pa.table({"left": left, "right": right, "same": same})
        pq.write_table(rows, folder / f"{start:012}.parquet")
    phi = np.full((n_items, n_classes), 0.4 / max(n_classes - 1, 1))
    phi[np.arange(n_items), y] = 0.6
    return phi, S


def measure(engine: str, n_pairs: int, n_classes: int) -> dict[str, Any]:
    """Sweep, in this process, with the package that is imported."""
    from noisypairs.tables import PairTable

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pairs").mkdir()
        phi, S = problem(folder / "pairs", n_pairs, n_classes)
        if engine == "streamed":
            from noisypairs.graph.streaming import sweep

            table = PairTable.from_parquet(folder / "pairs", n_items=len(phi), threads=2)
            log_phi = np.log(phi)
            past, before = [log_phi], seconds()
            for _ in range(SWEEPS):
                past = [sweep(table, log_phi, past, S).log_item, *past[: DEPTH - 1]]
            return spent(before) | {"laid_out": 0.0}
        from noisypairs.tables.propagation import TablePropagation

        given: dict[str, Any] = {"memory_limit": "2GB", "threads": 2}
        if engine == "spark":
            given = {"engine": spark(folder / "events")}
        table = PairTable.from_parquet(folder / "pairs", n_items=len(phi), **given)
        start = time.perf_counter()
        at = TablePropagation(table)
        potentials = at.potentials(phi)
        at.begin(potentials, potentials)
        laid_out, before = time.perf_counter() - start, seconds()
        first = shuffled(folder / "events")
        for _ in range(SWEEPS):
            at.sweep(np.stack([1 - S, S])[None])
        found = spent(before) | {"laid_out": laid_out}
        if engine == "spark":
            more = shuffled(folder / "events") - first
            found["shuffled_bytes_per_pair"] = more / SWEEPS / n_pairs
        return found


def spark(events: Path) -> Any:
    from pyspark.sql import SparkSession

    from noisypairs.tables import spark_engine

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    events.mkdir()
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.sql.shuffle.partitions", "8")
    builder = builder.config("spark.eventLog.enabled", "true")
    builder = builder.config("spark.eventLog.compress", "false")
    return spark_engine(builder.config("spark.eventLog.dir", events.as_uri()).getOrCreate())


def shuffled(events: Path) -> int:
    """Return the bytes that tasks have written for others, by Spark's event log."""
    total = 0
    for path in events.rglob("*"):
        if path.is_file():
            for line in path.read_text(errors="replace").splitlines():
                if '"SparkListenerTaskEnd"' in line and line.endswith("}"):
                    metrics = json.loads(line).get("Task Metrics") or {}
                    written = metrics.get("Shuffle Write Metrics", {})
                    total += written.get("Shuffle Bytes Written", 0)
    return total


def seconds() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def spent(before: tuple[float, float]) -> dict[str, float]:
    """Return seconds and processor seconds of a sweep, and the peak memory of this process."""
    from record import peak_gigabytes

    wall, processor = (now - then for now, then in zip(seconds(), before, strict=True))
    return {
        "seconds_per_sweep": wall / SWEEPS,
        "processor_seconds_per_sweep": processor / SWEEPS,
        "peak_gigabytes": peak_gigabytes(),
    }


def in_process(engine: str, n_pairs: int, n_classes: int) -> dict[str, Any]:
    """Measure in a process of its own, ``streamed`` with the older package."""
    with tempfile.TemporaryDirectory() as folder:
        source = ROOT / "src"
        if engine == "streamed":
            command = ["git", "-C", str(ROOT), "archive", OLDER, "src"]
            archive = subprocess.run(command, check=True, capture_output=True).stdout
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(folder, filter="data")
            source = Path(folder) / "src"
        done = subprocess.run(
            [sys.executable, __file__, "--one", engine, str(n_pairs), str(n_classes)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"},
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def calculate(rows: list[dict[str, Any]]) -> None:
    """Print what 10⁹ and 10¹⁰ pairs would take, from the largest row of Spark."""
    of_spark = [row for row in rows if row["engine"] == "spark" and row["n_classes"] == 2]
    if not of_spark:
        print("not measured yet: spark")
        return
    row = max(of_spark, key=lambda one: float(one["n_pairs"]))
    each = row["seconds_per_sweep"] / row["n_pairs"]
    print(f"from {row['n_pairs']:,} pairs on local[2]; {EXECUTORS} executors of two cores")
    for n in (1e9, 1e10):
        work = each * n / EXECUTORS
        network = row["shuffled_bytes_per_pair"] * n / EXECUTORS / NETWORK
        print(f"{n:.0e} pairs: {work:,.0f} s of work and {network:,.0f} s of network per sweep")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=[10**6, 10**7, 10**8])
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 5])
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--calculate", action="store_true", help="print larger tables")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(measure(chosen.one[0], int(chosen.one[1]), int(chosen.one[2]))))
        return
    rows = (
        [json.loads(line) for line in RECORDS.read_text().splitlines()] if RECORDS.exists() else []
    )
    if chosen.calculate:
        calculate(rows)
        return
    known = {(row["engine"], row["n_pairs"], row["n_classes"]) for row in rows}
    for n_pairs in chosen.pairs:
        for n_classes in chosen.classes:
            for engine in chosen.engine:
                if (engine, n_pairs, n_classes) not in known:
                    row = {"engine": engine, "n_pairs": n_pairs, "n_classes": n_classes}
                    row |= in_process(engine, n_pairs, n_classes)
                    with RECORDS.open("a") as file:
                        file.write(json.dumps(row) + "\n")
                    print(row)


if __name__ == "__main__":
    main()
