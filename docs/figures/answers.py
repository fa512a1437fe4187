"""Draw docs/figures/answers-*.svg: what each kind of answer is worth, on recorded answers.

    python docs/figures/answers.py

From benchmarks/records/answers.jsonl and grades.jsonl (`python benchmarks/answers.py` and
`python benchmarks/grades.py`).
"""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
RECORDS = HERE.parent.parent / "benchmarks" / "records"
SAME, DIFFERENT, PLAIN = "#33658a", "#d1603d", "#86a873"


def read(name):
    """Return the records of a benchmark."""
    return [json.loads(line) for line in (RECORDS / f"{name}.jsonl").read_text().splitlines()]


def new(title, size=(6.2, 2.4)):
    """Return a figure and its axis, titled."""
    figure, axis = plt.subplots(figsize=size, layout="constrained")
    axis.set_title(title, fontsize=10, loc="left")
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=8)
    return figure, axis


def save(figure, name):
    """Write a figure, the same at every run."""
    figure.savefig(HERE / f"answers-{name}.svg", metadata={"Date": None, "Creator": None})


def grades(one):
    """Grades of pairs of one sense and of two."""
    figure, axis = new("grades of pairs of one sense and of two")
    place = np.arange(1, 5)
    for shift, share, colour, label in (
        (-0.2, one["shares"][1], SAME, "one sense"),
        (0.2, one["shares"][0], DIFFERENT, "two senses"),
    ):
        axis.bar(place + shift, share, 0.38, color=colour, label=label)
    axis.set_xticks(place)
    axis.legend(fontsize=8, frameon=False)
    save(figure, "grades")


def bars(name, title, values, colour):
    """Horizontal bars of bits."""
    figure, axis = new(title)
    labels = list(values)[::-1]
    axis.barh(labels, [values[label] for label in labels], color=colour, height=0.6)
    axis.set_xlabel("bits of an answer about 'same'", fontsize=8)
    save(figure, name)


def known(records):
    """Width of intervals with known pairs inside, beside known pairs alone."""
    figure, axis = new("width of intervals beside those of known pairs alone")
    names = sorted({one["cell"]["name"] for one in records})
    place = np.arange(len(names))
    for shift, rate, colour in ((-0.2, "similar_flip", SAME), (0.2, "dissimilar_flip", DIFFERENT)):
        ratio = [
            np.mean([one["ratio"][rate] for one in records if one["cell"]["name"] == name])
            for name in names
        ]
        label = "same called different" if rate == "similar_flip" else "different called same"
        axis.barh(place + shift, ratio, 0.38, color=colour, label=label)
    axis.set_yticks(place, [name.replace("_", " ") for name in names])
    axis.set_xlim(0, 1)
    axis.legend(fontsize=8, frameon=False)
    save(figure, "known")


def main() -> None:
    """Draw all and write the files, the same at every run."""
    plt.rcParams.update({"svg.hashsalt": "noisypairs", "svg.fonttype": "none"})
    records = read("answers")
    by_kind = {one["cell"]["kind"]: one for one in records if "name" not in one["cell"]}
    grades(by_kind["grades"])
    one = by_kind["grades"]
    bars(
        "unsure",
        "a grade, the same cut, and whether somebody was unsure",
        {"grade": one["grade"], "cut": one["cut"], "unsure or not": one["unsure"]},
        PLAIN,
    )
    bars(
        "confidence",
        "grades read as yes or no, alone and with how sure",
        {"yes or no": one["cut"], "with confidence": one["grade"]},
        PLAIN,
    )
    sorted_ = by_kind["sorted"]
    names = {"radio2": "two photos", "radio3": "three sorted", "radio4": "four sorted"}
    bars(
        "sorted",
        "photos compared two by two, and sorted at once",
        {label: sorted_[key] for key, label in names.items() if key in sorted_},
        PLAIN,
    )
    judges = by_kind["judges"]
    bars(
        "judges",
        "language models as judges",
        {
            f"{what}, {name.replace('_', ' ')}": value
            for name in ("abt_buy", "amazon_google")
            for what, value in judges[name].items()
        },
        SAME,
    )
    bars(
        "words",
        "language models that answer in free words, and with one word",
        {
            f"{what}, {name.replace('_', ' ')}": value
            for name, found in by_kind["words"].items()
            if name not in ("cell", "made")
            for what, value in found.items()
            if what != "not read"
        },
        SAME,
    )
    known([one for one in records if "name" in one["cell"]])


if __name__ == "__main__":
    main()
