"""Draw docs/figures/active.svg: the index after so many answers, chosen pairs and random ones.

    python docs/figures/active.py

From the record of `benchmarks/active.py`: noise level .2, number of classes unknown; mean over the
runs, and each run as a thin line. Every number in the picture is in the record.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "benchmarks"))
from active import FOUR, REACHED, mean_curve, some  # noqa: E402 -- found by the line before

TARGET = HERE / "active.svg"
LEVEL = 0.2
COLOURS = {"chosen": "#0072b2", "random": "#d55e00"}  # told apart by colour-blind readers too
STYLES = {"chosen": "-", "random": "--"}


def main() -> None:
    """Draw and save the picture."""
    plt.rcParams |= {"svg.hashsalt": "active", "svg.fonttype": "path", "font.size": 9}
    names = [*FOUR, "20newsgroups"]
    figure, panels = plt.subplots(1, 5, figsize=(11, 2.8), sharey=True, layout="constrained")
    for axes, name in zip(panels, names, strict=True):
        for way, colour in COLOURS.items():
            records = some(name=name, level=LEVEL, classes="unknown", way=way)
            if not records:
                continue
            grid, each = mean_curve(records, "index")
            axes.plot(grid, each.T, color=colour, lw=0.5, alpha=0.4)
            axes.plot(grid, each.mean(axis=0), STYLES[way], color=colour, lw=2, label=way)
        axes.axhline(REACHED, color="#7a7a7a", lw=0.8, ls=":")
        axes.set(title=name, xlabel="answers per item", ylim=(0, 1.02), xlim=(0, None))
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("adjusted Rand index")
    panels[0].legend(frameon=False, loc="lower right")
    figure.savefig(TARGET, metadata={"Date": None})


if __name__ == "__main__":
    main()
