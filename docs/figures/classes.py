"""Draw docs/figures/classes.svg: items right with the number of classes given, and with it chosen.

    python docs/figures/classes.py

The shares are those of benchmarks/records/class_number.jsonl (`python benchmarks/class_number.py`).
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import pandas as pd

TARGET = Path(__file__).with_suffix(".svg")
RECORD = Path(__file__).parents[2] / "benchmarks" / "records" / "class_number.jsonl"
VERSION = "0.3.0"
STYLES = {"given": ("number given", "#009e73", "s"), "auto": ("number chosen", "#0072b2", "o")}


def main() -> None:
    """Draw the mean of the draws of each number, and write the file, the same at every run."""
    rows = [json.loads(line) for line in RECORD.read_text().splitlines()]
    mine = [row for row in rows if row["cell"]["version"] == VERSION]
    plt.rcParams.update({"svg.hashsalt": "noisypairs", "svg.fonttype": "none"})
    figure, axes = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    for key, (label, colour, marker) in STYLES.items():
        right = pd.Series({i: row[key]["right"] for i, row in enumerate(mine)})
        mean = right.groupby([row["cell"]["n_classes"] for row in mine]).mean()
        axes.plot(mean.index, mean, color=colour, marker=marker, label=label)
    axes.set(xscale="log", xlabel="true number of classes", ylabel="share of items right")
    axes.set_xticks(mean.index, map(str, mean.index))
    axes.minorticks_off()
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="lower left")
    figure.savefig(TARGET, metadata={"Date": None, "Creator": None})
    print(f"{TARGET.name}: {len(mine)} draws")


if __name__ == "__main__":
    main()
