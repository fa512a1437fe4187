"""Measure how the package scales and print ratios, each measured side by side in this one run.

    python benchmarks/bench [--quick] [--only NAME ...] [--cost]

Results go to benchmarks/records/bench.json with a description of the machine; a measurement made
again replaces its older self only, and is printed beside it. --quick takes small sizes, to see
that everything runs, and writes to the folder for temporary files. --cost prints what 10⁹ and 10¹¹
pairs would take, from the record.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from record import RECORDS, machine, write

sys.path.insert(0, str(Path(__file__).parents[1]))  # for imports.py


def start_up(quick: bool) -> dict[str, Any]:
    """Time imports and --help in fresh processes, against scikit-learn's own import."""
    from imports import REFERENCE, measure

    medians = measure(2 if quick else 10)
    ratios = {name: taken / medians[REFERENCE] for name, taken in medians.items()}
    return {"seconds": medians, "over_import_sklearn": ratios}


def measurements() -> dict[str, Callable[[bool], dict[str, Any]]]:
    """Return every measurement by name; imported here, so that --help costs nothing."""
    from classes import cost_of_classes
    from crowds import cost_of_annotators
    from passes import cost_curve, joint_in_memory, memory, pass_against_group_by
    from peers import copkmeans_against_peer, joint_against_network
    from pooling import growth, pointwise_in_memory, pooled_against_expanded, pooled_network
    from versions import against_older

    return {
        "pooling": pooled_against_expanded,
        "pooled_network": pooled_network,
        "growth": growth,
        "pointwise": pointwise_in_memory,
        "pass": pass_against_group_by,
        "network": joint_against_network,
        "copkmeans": copkmeans_against_peer,
        "inmemory": joint_in_memory,
        "curve": cost_curve,
        "memory": memory,
        "classes": cost_of_classes,
        "annotators": cost_of_annotators,
        "versions": against_older,
        "startup": start_up,
    }


def cost(results: dict[str, Any]) -> list[str]:
    """Return, for 10⁹ and 10¹¹ pairs, the hours of a counting pass from the measured constants."""
    needed = {"pass", "memory"} - results.keys()
    if needed:
        return [f"not measured yet: {', '.join(sorted(needed))}"]
    bytes_per_pair = results["memory"]["parquet_gigabytes"] * 1e9 / results["memory"]["n_pairs"]
    lines = ["| pairs | Parquet | counting pass |", "|---|---|---|"]
    for n in (1e9, 1e11):
        hours = results["pass"]["pass_seconds_per_million_pairs"] * n / 1e6 / 3600
        lines.append(f"| {n:.0e} | {bytes_per_pair * n / 1e9:,.0f} GB | {hours:,.2g} h |")
    return lines


def show(name: str, values: Any, before: Any = None, indent: int = 0) -> None:
    """Print a result, and beside each number what the record held before."""
    if isinstance(values, dict):
        print("  " * indent + name)
        for key, value in values.items():
            show(key, value, before.get(key) if isinstance(before, dict) else None, indent + 1)
    elif isinstance(values, list) and values and isinstance(values[0], dict):
        for row in values:
            print("  " * indent + ", ".join(f"{k} {_short(v)}" for k, v in row.items()))
    else:
        changed = isinstance(values, float) and isinstance(before, float) and before != values
        was = f" (before: {_short(before)})" if changed else ""
        print("  " * indent + f"{name}: {_short(values)}{was}")


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these measurements only")
    parser.add_argument("--cost", action="store_true", help="print the cost of 1e9 and 1e11 pairs")
    chosen = parser.parse_args()
    temporary = Path(tempfile.gettempdir()) / "noisypairs_bench_quick.json"
    path = temporary if chosen.quick else RECORDS / "bench.json"
    record = json.loads(path.read_text()) if path.exists() else {"results": {}}
    if chosen.cost:
        print("\n".join(cost(record["results"])))
        return
    known = measurements()
    unknown = set(chosen.only or ()) - known.keys()
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}. Known: {', '.join(known)}")
    record["machine"] = machine()
    for name in chosen.only or known:
        print(f"{time.strftime('%H:%M:%S')} {name} …", file=sys.stderr, flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = known[name](chosen.quick)
        before, record["results"][name] = record["results"].get(name), result
        write(path, record)  # after each one: a run that is stopped loses nothing
        show(name, result, before)


if __name__ == "__main__":
    main()
