"""What a sweep of belief propagation over a table of pairs costs: in the engine, and streamed.

    python benchmarks/sweeps.py [--pairs 1000000 10000000] [--engine streamed duckdb spark]
    python benchmarks/sweeps.py --print

Each row is a process of its own: ``duckdb`` (two threads, memory limit 2 GB), ``spark`` (local[2];
needs Java and the extra) and ``streamed``, the E-step of the commit before sweeps were queries,
from this repository's history. All compute in double precision. A streamed sweep also counts for
the M-step; in the engine this is a query of its own after the sweeps (``counts``). Rows are added
to benchmarks/records/sweeps.jsonl as they end; one that is there is not made again. Processor
seconds are of all threads, and of Spark's Java process too. Shuffled bytes are from Spark's event
log. --print shows the table of docs/scale.md, and larger tables on a cluster.
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
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "benchmarks" / "records" / "sweeps.jsonl"
#: The commit before sweeps were queries.
OLDER = "4835f39^"
ENGINES = ("streamed", "duckdb", "spark")
SWEEPS, DEPTH = 4, 3
#: The cluster of --print: executors, their cores, and bytes a second that one sends.
EXECUTORS, CORES, NETWORK = 50, 4, 1.25e9
#: The most rounds of a fit.
ROUNDS = 10


def problem(
    folder: Path, n_pairs: int, n_classes: int, per_item: int
) -> tuple[np.ndarray, np.ndarray]:
    """Write pairs, and return potentials (n_items, K) and S (K, K)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_items, rng = n_pairs // per_item, np.random.default_rng(0)
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


def measure(engine: str, n_pairs: int, n_classes: int, per_item: int) -> dict[str, Any]:
    """Sweep, in this process, with the package that is imported."""
    from noisypairs.tables import PairTable

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pairs").mkdir()
        phi, S = problem(folder / "pairs", n_pairs, n_classes, per_item)
        if engine == "streamed":
            from noisypairs.graph.streaming import sweep

            table = PairTable.from_parquet(folder / "pairs", n_items=len(phi), threads=2)
            log_phi = np.log(phi)
            past, before = [log_phi], spent()
            for _ in range(SWEEPS):
                past = [sweep(table, log_phi, past, S).log_item, *past[: DEPTH - 1]]
            return since("sweep", before, SWEEPS) | memory()
        from noisypairs.tables.propagation import TablePropagation

        given: dict[str, Any] = {"memory_limit": "2GB", "threads": 2}
        if engine == "spark":
            given = {"engine": spark(folder / "events")}
        table = PairTable.from_parquet(folder / "pairs", n_items=len(phi), **given)
        before = spent()
        at = TablePropagation(table)
        potentials = at.potentials(phi)
        at.begin(potentials, potentials)
        found = since("layout", before, 1)
        first, before = shuffled(folder / "events"), spent()
        responses = np.stack([1 - S, S])[None]
        for _ in range(SWEEPS):
            at.sweep(responses)
        found |= since("sweep", before, SWEEPS)
        more, before = shuffled(folder / "events") - first, spent()
        at.expected(responses)
        found |= since("counts", before, 1)
        if engine == "spark":
            found["shuffled_bytes_per_pair"] = more / SWEEPS / n_pairs
        return found | memory()


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


def java() -> Path | None:
    """Return where Linux tells about the Java process of Spark, if there is one."""
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    gateway = getattr(context, "_gateway", None)
    return None if gateway is None else Path("/proc") / str(gateway.proc.pid)


def spent() -> tuple[float, float]:
    """Return seconds and processor seconds so far."""
    processor, other = time.process_time(), java()
    if other is not None:
        ticks = (other / "stat").read_text().rpartition(")")[2].split()[11:13]
        processor += sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    return time.perf_counter(), processor


def since(what: str, before: tuple[float, float], times: int) -> dict[str, float]:
    wall, processor = (now - then for now, then in zip(spent(), before, strict=True))
    return {f"{what}_seconds": wall / times, f"{what}_processor_seconds": processor / times}


def memory() -> dict[str, float]:
    """Return the peak memory of this process and of Java."""
    total = 0.0
    for process in (Path("/proc/self"), java()):
        if process is not None:
            lines = (process / "status").read_text().splitlines()
            total += sum(int(one.split()[1]) * 1024 for one in lines if one.startswith("VmHWM"))
    return {"peak_gigabytes": total / 1e9}


def in_process(engine: str, *size: int) -> dict[str, Any]:
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
            [sys.executable, __file__, "--one", engine, *map(str, size)],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"},
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def show(rows: list[dict[str, Any]]) -> None:
    """Print the table, and what 10⁹ and 10¹⁰ pairs would take, from the largest row of Spark."""
    for row in rows:
        size = f"{row['n_pairs']:>11,} {row['pairs_per_item']:>3} {row['n_classes']:>2}"
        cost = [row.get(f"{what}_processor_seconds", 0.0) for what in ("layout", "sweep", "counts")]
        more = row.get("shuffled_bytes_per_pair", 0.0)
        print(size, f"{row['engine']:9}", *(f"{one:7.2f}" for one in cost), end="")
        print(f" {row['sweep_seconds']:7.1f} {row['peak_gigabytes']:5.2f} {more:5.1f}")
    of_spark = [row for row in rows if row["engine"] == "spark" and row["n_classes"] == 2]
    row = max(of_spark, key=lambda one: float(one["n_pairs"]))
    print(f"from {row['n_pairs']:,} pairs on Spark; {EXECUTORS} executors of {CORES} cores")
    for n in (1e9, 1e10):
        times = n / row["n_pairs"] / EXECUTORS
        work = row["sweep_processor_seconds"] * times / CORES
        network = row["shuffled_bytes_per_pair"] * n / EXECUTORS / NETWORK
        counts = row["counts_processor_seconds"] * times / CORES
        hours = ROUNDS * (SWEEPS * (work + network) + counts) / 3600
        sweep = f"{work:,.0f} s of work and {network:,.1f} s of network per sweep"
        print(f"{n:.0e} pairs: {sweep}, {hours:.1f} h for {ROUNDS} rounds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=[10**6, 10**7])
    parser.add_argument("--classes", type=int, nargs="+", default=[2])
    parser.add_argument("--per-item", type=int, nargs="+", default=[10], help="pairs per item")
    parser.add_argument("--engine", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--print", action="store_true", help="print the records")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(measure(chosen.one[0], *map(int, chosen.one[1:]))))
        return
    rows = (
        [json.loads(line) for line in RECORDS.read_text().splitlines()] if RECORDS.exists() else []
    )
    if chosen.print:
        show(rows)
        return
    names = ("engine", "n_pairs", "n_classes", "pairs_per_item")
    known = {tuple(row[name] for name in names) for row in rows}
    for size in product(chosen.pairs, chosen.classes, chosen.per_item):
        for engine in chosen.engine:
            if (engine, *size) not in known:
                row = dict(zip(names, (engine, *size), strict=True)) | in_process(engine, *size)
                with RECORDS.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(row, flush=True)


if __name__ == "__main__":
    main()
