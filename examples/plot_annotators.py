"""
Who answers badly
=================

Forty people answer questions about pairs, some often, some rarely. A quarter of them is not
honest: coins, people who always give one answer, and people who took the question the wrong way
round. Nobody knows who, and no true class is given. ``annotator_table`` infers the classes and
judges everyone: two error rates with intervals, and the most probable kind.
"""

import matplotlib.pyplot as plt
import numpy as np

from noisypairs import datasets
from noisypairs.annotators import annotator_table

crowd = datasets.load(
    "crowd",
    return_X_y=False,
    n_items=300,
    n_classes=2,
    n_annotators=40,
    pairs_per_item=15,
    similar_flip=0.15,
    dissimilar_flip=0.1,
    spread=0.3,
    spammer_share=0.25,
    random_state=3,
)

# %%
# The table, the most suspect first.
table = annotator_table(crowd.pairs, random_state=0)
print(table.to_text(10))

# %%
# Compared with the truth, which only a simulation has.
rows = [row for row in table.rows if row.verdict != "too few answers"]
truth = [str(crowd.annotator_kind[int(row.name)]) for row in rows]
right = np.mean([row.verdict == kind for row, kind in zip(rows, truth, strict=True)])
print(f"{len(rows)} of {len(table.rows)} people judged, {right:.0%} of the verdicts right")

# %%
# Each person by the two error rates. Honest people are near the lower left corner. Everyone on the
# dashed line answers without looking; beyond it, answers say the opposite.
COLOURS = {
    "honest": "#009e73",
    "spammer": "#d55e00",
    "always-same": "#cc79a7",
    "always-different": "#0072b2",
    "reversed": "black",
    "too few answers": "#b0b0b0",
}
figure, axes = plt.subplots(figsize=(6.2, 5), layout="constrained")
axes.plot([0, 1], [1, 0], color="0.7", linestyle="--", linewidth=1)
for verdict, colour in COLOURS.items():
    mine = [row for row in table.rows if row.verdict == verdict]
    if not mine:
        continue
    x = np.array([row.similar_flip for row in mine])
    y = np.array([row.dissimilar_flip for row in mine])
    errors = [
        [[one.estimate - one.low for one in rates], [one.high - one.estimate for one in rates]]
        for rates in (x, y)
    ]
    axes.errorbar(
        [one.estimate for one in x],
        [one.estimate for one in y],
        xerr=errors[0],
        yerr=errors[1],
        fmt="o",
        color=colour,
        markersize=5,
        linewidth=0.5,
        label=f"{verdict} ({len(mine)})",
    )
axes.set(
    xlim=(-0.03, 1.03),
    ylim=(-0.03, 1.03),
    xlabel="same pairs called different",
    ylabel="different pairs called same",
    title="Forty annotators, judged without one true class",
)
axes.legend(frameon=False, fontsize=9)
plt.show()
