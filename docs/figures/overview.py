"""Draw docs/figures/overview.svg: noisy answers about pairs, and the rule learnt from them.

    python docs/figures/overview.py

Two Gaussians, prior .2, 2,000 items in 10,000 pairs; 30 % of the same pairs were called different,
20 % of the different ones same. Rates and prior are estimated. Every number in the picture is
computed here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from noisypairs import LossCorrectionClassifier, PairingNoise, Pairs, datasets, sample_pairs

TARGET = Path(__file__).with_suffix(".svg")
SAME, DIFFERENT = "#0072b2", "#d55e00"  # told apart by colour-blind readers too
CLASSES = ["#7a7a7a", "#009e73"]
SHOWN_PAIRS, SHOWN_ITEMS, LIMITS = 150, 400, (-5.5, 5.5)


def draw_pairs(axes: Any, X: np.ndarray, y: np.ndarray, pairs: Pairs) -> None:
    """Draw some pairs as thin lines coloured by the answer; wrong answers are dashed."""
    left, right = pairs.left[:SHOWN_PAIRS], pairs.right[:SHOWN_PAIRS]
    same = pairs.same[:SHOWN_PAIRS]
    wrong = same != (y[left] == y[right])
    ends = np.stack([X[left], X[right]], axis=1)
    for chosen, style in ((~wrong, "solid"), (wrong, (0, (4, 2)))):
        colours = np.where(same[chosen], SAME, DIFFERENT)
        axes.add_collection(
            LineCollection(ends[chosen], colors=colours, linewidths=0.6, linestyles=style)
        )
    axes.plot(*ends.reshape(-1, 2).T, ".", color="black", markersize=2)
    for colour, style, label in (
        (SAME, "solid", '"same"'),
        (DIFFERENT, "solid", '"different"'),
        ("black", "dashed", "wrong answer"),
    ):
        axes.plot([], [], color=colour, linestyle=style, linewidth=1, label=label)
    axes.legend(loc="upper left", frameon=False, fontsize=8)
    axes.set_title(f"given: {pairs.n_pairs:,} answers, {SHOWN_PAIRS} shown", fontsize=10)


def draw_rule(axes: Any, model: LossCorrectionClassifier, X: np.ndarray, y: np.ndarray) -> None:
    """Draw the two regions of the learnt rule, new items in their true colours, the accuracy."""
    side = np.linspace(*LIMITS, 121)
    grid = np.stack(np.meshgrid(side, side), axis=-1)
    margin = model.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    axes.contourf(side, side, margin, levels=[-1, 0, 1], colors=["#eeeeee", "#d5efe6"])
    axes.contour(side, side, margin, levels=[0], colors="black", linewidths=0.8)
    for name, colour in zip(model.classes_, CLASSES, strict=True):
        mine = X[:SHOWN_ITEMS][y[:SHOWN_ITEMS] == name]
        axes.plot(*mine.T, ".", color=colour, markersize=3, label=f"class {name}")
    axes.legend(loc="upper left", frameon=False, fontsize=8)
    accuracy = model.score(X, y)
    axes.set_title(f"learnt: {accuracy:.1%} of {len(y):,} new items right", fontsize=10)


def main() -> None:
    """Draw both panels and write the file, byte for byte the same at every run."""
    X, y = datasets.load("gaussians", n_samples=2000, prior=0.2, random_state=0)
    X_new, y_new = datasets.load("gaussians", n_samples=5000, prior=0.2, random_state=1)
    pairs = sample_pairs(y, 10_000, PairingNoise(0.3, 0.2), random_state=0)
    model = LossCorrectionClassifier(class_order="falling", random_state=0).fit(X, pairs)

    plt.rcParams.update({"svg.hashsalt": "noisypairs", "svg.fonttype": "none"})
    figure, (first, second) = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    draw_pairs(first, X, y, pairs)
    draw_rule(second, model, X_new, y_new)
    for axes in (first, second):
        axes.set(xlim=LIMITS, ylim=LIMITS, aspect="equal", xticks=[], yticks=[])
    figure.savefig(TARGET, metadata={"Date": None, "Creator": None})
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB, {model.noise_}")


if __name__ == "__main__":
    main()
