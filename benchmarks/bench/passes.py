"""Ratios 3 and 6: the pass over a Parquet table, and time and memory of learning from many pairs.

Run as a script (LEARNER FOLDER N_ITEMS, or "in memory" N_PAIRS N_ITEMS) it fits one learner in a
process of its own and prints its time, accuracy and peak memory as JSON.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from record import (
    NOISE,
    RECORDS,
    answers,
    in_fresh_process,
    items,
    peak_gigabytes,
    seconds,
    side_by_side,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score

from noisypairs import (
    JointPairClassifier,
    LossCorrectionClassifier,
    PairTable,
    WeightedPairClassifier,
)
from noisypairs.metrics import accuracy_up_to_names

BARE = """SELECT item, sum(same::BIGINT), count(*) FROM (
    SELECT "left" AS item, same FROM read_parquet('{0}') UNION ALL
    SELECT "right" AS item, same FROM read_parquet('{0}')) GROUP BY item"""
AT_ONCE = 5_000_000
CURVE = RECORDS / "curve.jsonl"
#: Fits of each size in memory.
TURNS = 5


def write_pairs(folder: Path, y: np.ndarray, n_pairs: int) -> None:
    """Draw and corrupt pairs in batches; one Parquet file each, 9 bytes a pair before packing."""
    needed = 12 * n_pairs
    if shutil.disk_usage(folder).free < 2 * needed:
        raise OSError(f"{folder} has less than {2 * needed / 1e9:.0f} GB free")
    for k, start in enumerate(range(0, n_pairs, AT_ONCE)):
        rng = np.random.default_rng(k)
        left, right = rng.integers(len(y), size=(2, min(AT_ONCE, n_pairs - start)), dtype=np.int32)
        chance = NOISE.same_probability()[y[left], y[right]]
        same = rng.random(left.size) < chance
        table = pa.table({"left": left, "right": right, "same": same})
        pq.write_table(table, folder / f"{k:04}.parquet")


def pass_against_group_by(quick: bool) -> dict[str, Any]:
    """Time opening and counting a table against the bare group-by of the same files."""
    n_items, n_pairs = (100_000, 2_000_000) if quick else (1_000_000, 50_000_000)
    with tempfile.TemporaryDirectory() as name:
        write_pairs(Path(name), items(n_items, 2)[1], n_pairs)

        def bare() -> None:
            with duckdb.connect() as connection:
                connection.sql(BARE.format(f"{name}/*.parquet")).to_arrow_table()

        def ours() -> None:
            PairTable.from_parquet(name, n_items=n_items).item_counts()

        taken = side_by_side({"bare": bare, "ours": ours}, 3)
    return {
        "n_items": n_items,
        "n_pairs": n_pairs,
        "bare_seconds": taken["bare"],
        "pass_seconds": taken["ours"],
        "ratio": taken["ours"] / taken["bare"],
        "pass_seconds_per_million_pairs": taken["ours"] / n_pairs * 1e6,
    }


def memory(quick: bool) -> dict[str, Any]:
    """Measure the peak memory of each learner on one large table, in a process of its own."""
    n_items, n_pairs = (5_000, 2_500_000) if quick else (1_000_000, 100_000_000)
    found: dict[str, Any] = {"n_items": n_items, "n_pairs": n_pairs}
    with tempfile.TemporaryDirectory() as name:
        write_pairs(Path(name), items(n_items)[1], n_pairs)
        files = Path(name).glob("*.parquet")
        found["parquet_gigabytes"] = sum(file.stat().st_size for file in files) / 1e9
        for learner in ("nothing", "loss correction", "weighted", "joint, in the engine"):
            found[learner] = in_fresh_process("passes.py", learner, name, str(n_items))
    return found


def joint_in_memory(quick: bool) -> dict[str, Any]:
    """Fit the joint learner, told nothing, to pairs in memory, each time in a fresh process.

    Sizes take turns, and of each the fit of median processor time is kept.
    """
    n_items = 2_000 if quick else 100_000
    sizes = (20_000,) if quick else (100_000, 1_000_000, 10_000_000)
    fits: dict[int, list[dict[str, Any]]] = {n_pairs: [] for n_pairs in sizes}
    for n_pairs in sizes * (1 if quick else TURNS):
        fit = in_fresh_process("passes.py", "in memory", str(n_pairs), str(n_items))
        fits[n_pairs].append(fit)
    found: dict[str, Any] = {"n_items": n_items}
    for n_pairs, several in fits.items():
        several.sort(key=lambda fit: fit["processor_seconds"])
        found[f"{n_pairs:,} pairs"] = several[len(several) // 2]
    return found


def cost_curve(quick: bool) -> dict[str, Any]:
    """Fit the joint learner to many sizes, as `joint_in_memory` does; at least a pair per item.

    Every fit is added to benchmarks/records/curve.jsonl as it ends, and one that is there is not
    made again: delete the file to begin anew.
    """
    n_items = (1_000, 3_000) if quick else (1_000, 10_000, 100_000, 1_000_000)
    sizes = (10_000, 30_000) if quick else (10_000, 100_000, 1_000_000, 10_000_000)
    path = Path(tempfile.mkdtemp()) / CURVE.name if quick else CURVE
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    known = {(row["n_items"], row["n_pairs"]): row for row in done}
    for n, n_pairs in sorted(product(n_items, sizes), key=sum):
        if n_pairs >= n and (n, n_pairs) not in known:
            row = in_fresh_process("passes.py", "in memory", str(n_pairs), str(n))
            known[n, n_pairs] = {"n_items": n, "n_pairs": n_pairs} | row
            with path.open("a") as file:
                file.write(json.dumps(known[n, n_pairs]) + "\n")
    return {f"{n:,} items, {m:,} pairs": row for (n, m), row in sorted(known.items())}


def _learn_in_memory(n_pairs: int, n_items: int) -> dict[str, Any]:
    X, y = items(n_items)
    pairs, before = answers(y, n_pairs), peak_gigabytes()
    clf = JointPairClassifier(LogisticRegression(), 2, random_state=0)
    start = time.process_time()
    taken, _ = seconds(lambda: clf.fit(X, pairs))
    return {
        "seconds": taken,
        "processor_seconds": time.process_time() - start,
        "accuracy": accuracy_up_to_names(y, clf.predict(X)),
        "accuracy_of_true_labels": float(LogisticRegression().fit(X, y).score(X, y)),
        "peak_gigabytes_before": before,
        "peak_gigabytes": peak_gigabytes(),
    }


def _learn(learner: str, folder: str, n_items: int) -> dict[str, Any]:
    X, y = items(n_items)
    told = {"noise": NOISE, "prior": float(y.mean()), "random_state": 0}
    # DuckDB would take most of the machine's memory if it could use it; 2 GB is enough.
    table = PairTable.from_parquet(folder, n_items=n_items, memory_limit="2GB", threads=2)
    if learner == "nothing":
        return {"peak_gigabytes": peak_gigabytes()}
    if learner == "joint, in the engine":
        return _joint_on_table(X, y, table) | {"peak_gigabytes": peak_gigabytes()}
    kinds = {"loss correction": LossCorrectionClassifier, "weighted": WeightedPairClassifier}
    clf = kinds[learner](LogisticRegression() if learner == "weighted" else None, **told)
    taken, _ = seconds(lambda: clf.fit(X, table))
    accuracy = float(accuracy_score(y, clf.predict(X)))
    return {"seconds": taken, "accuracy": accuracy, "peak_gigabytes": peak_gigabytes()}


def _joint_on_table(X: np.ndarray, y: np.ndarray, table: PairTable) -> dict[str, Any]:
    """Fit the joint learner: a start in memory from a sample, then sweeps in the engine."""
    clf = JointPairClassifier(LogisticRegression(), 2, random_state=0)
    taken, _ = seconds(lambda: clf.fit(X, table))
    return {
        "seconds": taken,
        "rounds": clf.n_iter_,
        "accuracy": accuracy_up_to_names(y, clf.predict(X)),
        "item_accuracy": accuracy_up_to_names(y, clf.item_proba_.argmax(axis=1)),
    }


if __name__ == "__main__":
    learner, where, size = sys.argv[1:]
    if learner == "in memory":
        print(json.dumps(_learn_in_memory(int(where), int(size))))
    else:
        print(json.dumps(_learn(learner, where, int(size))))
