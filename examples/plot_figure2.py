"""
Figure 2 of the paper
=====================

The paper's picture of its two methods: two Gaussians, answers without noise and with 40 % noise
under both noise models, and the linear rules that weighted learning and T-Loss find, rates and
prior given. Every cell is a ``Spec`` of the reproduction, run here as ``noisypairs reproduce
figure2`` runs it.
"""

import matplotlib.pyplot as plt
import numpy as np

from noisypairs.experiments import COLUMNS, Choice, plan
from noisypairs.experiments.problem import make_problem
from noisypairs.experiments.run import grouped, records_of

specs = plan("figure2", Choice(repeats=1))
records = {
    (record.spec.family, record.spec.method): record
    for group in grouped(specs)
    for record in records_of(group)
}
for (family, method), record in records.items():
    print(f"{family:9} {COLUMNS[method]:9} {record.accuracy:.2%} of the test items right")

# %%
# One row per kind of noise: the answers (an item is blue if it was called "same" and orange if
# "different"), then test items in their true colours with the rule of each method.
FAMILIES = {"clean": "no noise", "pairing": "pairing noise .4", "labeling": "labeling noise .4"}
figure, panels = plt.subplots(3, 3, figsize=(7.6, 7.6), layout="constrained")
for row, (family, title) in zip(panels, FAMILIES.items(), strict=True):
    problem = make_problem(records[family, "t-loss"].spec)
    pairs = problem.pairs
    for same, colour in ((True, "#0072b2"), (False, "#d55e00")):
        items = pairs.left[:300][pairs.same[:300] == same]
        row[0].plot(*problem.X[items].T, ".", color=colour, markersize=3)
    row[0].set_title(f"answers, {title}", fontsize=10)
    for panel, method in zip(row[1:], ("weighted", "t-loss"), strict=True):
        record = records[family, method]
        for k, colour in ((0, "#7a7a7a"), (1, "#009e73")):
            shown = problem.X_test[:300][problem.y_test[:300] == k]
            panel.plot(*shown.T, ".", color=colour, markersize=3)
        slope_x, slope_y, intercept = record.details["line"]
        x = np.array([-6.0, 6.0])
        panel.plot(x, -(slope_x * x + intercept) / slope_y, color="black", linewidth=1)
        panel.set_title(f"{COLUMNS[method]}: {record.accuracy:.2%}", fontsize=10)
for panel in panels.flat:
    panel.set(xticks=[], yticks=[], xlim=(-6, 6), ylim=(-6, 6), aspect="equal")
plt.show()
