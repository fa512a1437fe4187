"""Draw docs/figures/coverage.svg: how often 90 % intervals hold the truth.

    python docs/figures/coverage.py

From the runs of this version in benchmarks/records/coverage.jsonl (`benchmarks/coverage.py` prints
the same as a table): the share of the runs that were not refused, with its standard error.
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
RECORD = HERE.parent.parent / "benchmarks" / "records" / "coverage.jsonl"
VERSION, LEVEL = "0.3.0", 0.9
QUANTITIES = ("similar_flip", "dissimilar_flip", "prior", "accuracy")


def shares(records, quantity):
    """Return {configuration: share of intervals that hold the truth, its standard error}."""
    found = {}
    for one in records:
        truth, _, low, high = one[quantity]
        found.setdefault(one["cell"]["configuration"], []).append(low <= truth <= high)
    return {name: (np.mean(held), np.std(held) / len(held) ** 0.5) for name, held in found.items()}


def main() -> None:
    """Draw a panel for each quantity and write the file, the same at every run."""
    records = [json.loads(line) for line in RECORD.read_text().splitlines()]
    records = [r for r in records if r["cell"]["version"] == VERSION and r["error"] is None]
    plt.rcParams.update({"svg.hashsalt": "noisypairs", "svg.fonttype": "none"})
    figure, axes = plt.subplots(1, 4, figsize=(10, 3.4), sharey=True, layout="constrained")
    for axis, quantity in zip(axes, QUANTITIES, strict=True):
        found = shares(records, quantity)
        means, errors = np.array([found[name] for name in list(found)[::-1]]).T
        axis.axvline(LEVEL, color="#999999", linewidth=1)
        axis.errorbar(means, list(found)[::-1], xerr=errors, fmt="o", color="#33658a", markersize=4)
        axis.set_title(quantity, fontsize=10, loc="left")
        axis.set_xlim(0.6, 1.03)
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(HERE / "coverage.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
