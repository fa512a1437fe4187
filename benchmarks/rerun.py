"""Hold the records of one run of `noisypairs reproduce` against those of another, cell by cell.

    python benchmarks/rerun.py [OLD NEW]

Prints, for every method, how many cells both have, how many accuracies differ, and the mean
difference in points with its standard error. By default OLD is the record behind
docs/reproduction.md and NEW that of ``noisypairs reproduce all`` with this version.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from noisypairs.experiments import load_records
from protocol import mean_error

FOLDER = Path(__file__).parent / "records"


def main(old: Path = FOLDER / "reproduction", new: Path = FOLDER / "reproduction_all") -> None:
    before, after = load_records(Path(old)), load_records(Path(new))
    changes: dict[str, list[float]] = {}
    for spec, record in after.items():
        if spec in before:
            change = 100 * (record.accuracy - before[spec].accuracy)
            changes.setdefault(spec.method, []).append(change)
    print("| method | cells | differ | mean difference, points |")
    print("|---|---|---|---|")
    for method, values in changes.items():
        differ = int(np.count_nonzero(values))
        mean, error = mean_error(values)
        print(f"| {method} | {len(values)} | {differ} | {mean:+.2f} ± {error:.2f} |")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
