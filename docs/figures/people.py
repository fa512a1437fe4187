"""Draw docs/figures/people.svg: what each part of the answer model is worth on real answers.

    python docs/figures/people.py

From benchmarks/records/people.jsonl (`python benchmarks/people.py`): log-likelihood of held-out
answers about dogs, and how many new photos are put into the right breed; mean and standard error of
eight splits.
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
RECORD = HERE.parent.parent / "benchmarks" / "records" / "people.jsonl"
COLOURS = {"answers": "#33658a", "photos": "#86a873"}


def values(records, what, value):
    """Return {way: mean and standard error}, in the order of the record."""
    found = {}
    for one in records:
        if one["cell"]["what"] == what:
            found.setdefault(one["cell"]["way"], []).append(one[value])
    return {way: (np.mean(v), np.std(v, ddof=1) / np.sqrt(len(v))) for way, v in found.items()}


def bars(axis, found, colour, title, low):
    """Draw one bar for each way, from ``low`` on."""
    ways = list(found)[::-1]
    means, errors = np.array([found[way] for way in ways]).T
    axis.barh(ways, means - low, left=low, xerr=errors, color=colour, height=0.6)
    axis.set_title(title, fontsize=10, loc="left")
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)


def main() -> None:
    """Draw both panels and write the file, the same at every run."""
    records = [json.loads(line) for line in RECORD.read_text().splitlines()]
    plt.rcParams.update({"svg.hashsalt": "noisypairs", "svg.fonttype": "none"})
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
    answers = values(records, "answers", "log_likelihood")
    title = "log-likelihood of a held-out answer (higher is better)"
    bars(left, answers, COLOURS["answers"], title, -0.62)
    title = "new photos put into the right breed"
    bars(right, values(records, "photos", "accuracy"), COLOURS["photos"], title, 0.9)
    figure.savefig(HERE / "people.svg", metadata={"Date": None, "Creator": None})


if __name__ == "__main__":
    main()
