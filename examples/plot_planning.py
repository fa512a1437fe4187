"""
How many more answers, and what they buy
========================================

400 items have been compared 1,200 times, and 30 % of the answers are wrong. Is it worth paying
for more? ``plan`` estimates the accuracy now and a learning curve from the noisy answers alone,
says how many more answers a target takes, and what the features allow at best.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from noisypairs import PairingNoise, datasets, plan, sample_pairs

warnings.simplefilter("ignore")  # about class names
X, y = datasets.load("gaussians", n_samples=400, prior=0.4, random_state=0)
X = X + np.random.default_rng(0).normal(scale=2.0, size=X.shape)
pairs = sample_pairs(y, 1_200, PairingNoise(0.3, 0.3), random_state=0)

# %%
# Two accuracies: of new items, which features alone decide, and of these items, about which there
# are answers. Enough answers determine every compared item, whatever the features say.
found = plan(X, pairs, 0.98, random_state=0)
for goal in (found.new_items, found.these_items):
    needed = "" if goal.needed is None else f", {goal.needed.estimate:,.0f} more answers"
    print(f"{goal.name}: now {goal.now.estimate:.3f}, target 0.98 is {goal.state}{needed}")

# %%
# The points are measured on held-out answers, the curves are fitted to them and go on beyond the
# present number of answers, with their 90 % band; the target is the grey line.
sizes = np.geomspace(200, 12_000, 100)
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for forecast, colour in zip(found.forecasts, ("#d55e00", "#0072b2"), strict=True):
    curve = forecast.curve
    axes.errorbar(curve.sizes, curve.accuracy, curve.error, fmt="o", color=colour, capsize=2)
    middle, low, high = forecast.band(sizes)
    axes.plot(sizes, middle, color=colour, label=curve.name)
    axes.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
axes.axvline(pairs.n_pairs, color="0.6", linestyle=":", linewidth=1)
axes.annotate("answers now", (pairs.n_pairs * 1.05, 0.62), color="0.4", fontsize=9)
axes.axhline(0.98, color="0.7", linewidth=1)
axes.set_xscale("log")
axes.set(xlabel="answers", ylabel="share right", ylim=(0.6, 1.01), title="What more answers buy")
axes.legend(frameon=False, loc="lower right")
plt.show()
