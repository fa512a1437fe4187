"""Draw docs/figures/curve.svg: what a fit of the joint learner costs, by pairs and by items.

    python docs/figures/curve.py

The seconds are those of benchmarks/records/curve.jsonl (`python benchmarks/bench --only curve`).
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

TARGET = Path(__file__).with_suffix(".svg")
RECORD = Path(__file__).parents[2] / "benchmarks" / "records" / "curve.jsonl"
#: By rising number of items; told apart by colour-blind readers too, and by their markers.
STYLES = (("#56b4e9", "o"), ("#009e73", "s"), ("#0072b2", "^"), ("#d55e00", "D"))


def main() -> None:
    """Draw a line for each number of items, and write the file, the same at every run."""
    rows = [json.loads(line) for line in RECORD.read_text().splitlines()]
    plt.rcParams.update({"svg.hashsalt": "noisypairs", "svg.fonttype": "none"})
    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for n_items, (colour, marker) in zip(
        sorted({r["n_items"] for r in rows}), STYLES, strict=False
    ):
        mine = sorted(
            (r["n_pairs"], r["processor_seconds"]) for r in rows if r["n_items"] == n_items
        )
        pairs, taken = zip(*mine, strict=True)
        axes.plot(pairs, taken, color=colour, marker=marker, label=f"{n_items:,} items")
    axes.set(xscale="log", yscale="log", xlabel="pairs", ylabel="seconds of one processor")
    axes.grid(which="major", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    figure.savefig(TARGET, metadata={"Date": None, "Creator": None})
    print(f"{TARGET.name}: {len(rows)} fits")


if __name__ == "__main__":
    main()
