"""Draw docs/figures/how-good.svg: what is stated about each trap, the truth, and the verdict.

    python docs/figures/how-good.py

From the record of `benchmarks/traps.py`, one line per problem that has classes: the first draw of
the newest version. Every number in the picture is in the record.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "benchmarks"))
from protocol import read  # noqa: E402 -- found by the line before
from trap_problems import TRAPS  # noqa: E402
from traps import versions_of  # noqa: E402

TARGET = HERE / "how-good.svg"
#: Told apart by colour-blind readers too.
COLOURS = {"good": "#009e73", "consistent": "#0072b2", "caution": "#e69f00"}
BAR = {"lw": 5, "alpha": 0.45, "solid_capstyle": "butt"}


def lines() -> list[tuple[str, dict]]:
    """Return title and record of every problem with an interval and a truth."""
    records = read("traps")
    version = versions_of(records)[-1]
    found = []
    for row, traps in TRAPS.items():
        for trap in traps:
            for problem in trap.problems:
                cell = {"row": row, "problem": problem, "seed": 0, "version": version}
                for one in records:
                    stated = one["cell"] == cell and one["verdict"] in COLOURS and one["stated"]
                    if stated and one["truth"] is not None:
                        found.append((f"{trap.title}: {problem}", one))
    return found


def main() -> None:
    """Draw and save the picture."""
    plt.rcParams |= {"svg.hashsalt": "how-good", "svg.fonttype": "path", "font.size": 8}
    found = lines()[::-1]
    figure, axes = plt.subplots(figsize=(8, 0.22 * len(found) + 0.9), layout="constrained")
    for place, (_, one) in enumerate(found):
        middle, low, high = one["stated"]
        colour = COLOURS[one["verdict"]]
        axes.plot([low, high], [place, place], color=colour, **BAR)
        axes.plot(middle, place, "|", color=colour, ms=9, mew=2)
        axes.plot(one["truth"], place, "o", color="#1c2126", ms=4)
    for name, colour in COLOURS.items():
        axes.plot([], [], color=colour, **BAR, label=name)
    axes.plot([], [], "o", color="#1c2126", ms=4, label="truth")
    axes.set_yticks(range(len(found)), [title for title, _ in found])
    axes.set(xlabel="accuracy on new items, with its 90 % interval", xlim=(None, 1.01))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        frameon=False, ncols=5, loc="upper center", bbox_to_anchor=(0.3, 1.0 + 2 / len(found))
    )
    figure.savefig(TARGET, metadata={"Date": None})


if __name__ == "__main__":
    main()
