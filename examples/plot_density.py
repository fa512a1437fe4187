"""
Two pairs per item, and twenty
==============================

Answers are pooled by item: an item that was compared twenty times is known far better than one
that was compared twice. The point-wise learners need many answers before each item's share of
"same" says anything. The joint learner also learns from paths of answers through the graph, and
from the features of all items at once, so two answers per item already carry it most of the way.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from noisypairs import (
    JointPairClassifier,
    LossCorrectionClassifier,
    NotIdentifiable,
    PairingNoise,
    datasets,
    sample_pairs,
)
from noisypairs.metrics import accuracy_up_to_names

warnings.simplefilter("ignore")  # about weak evidence and class names
NOISE = PairingNoise(similar_flip=0.2, dissimilar_flip=0.2)
DENSITIES = (1, 2, 5, 10, 20)
N_ITEMS, N_NEW = 500, 3_000


# %%
# Two Gaussians, moved closer by added noise; 30 % of the items are of class 1 and a fifth of the
# answers is wrong. The loss correction is given rates and prior, the joint learner nothing.
def problem(density, seed):
    """Return training items, their pairs, new items and the classes of these."""
    X, y = datasets.load("gaussians", n_samples=N_ITEMS + N_NEW, prior=0.3, random_state=seed)
    X = X + np.random.default_rng(seed).normal(scale=2.0, size=X.shape)
    pairs = sample_pairs(y[:N_ITEMS], density * N_ITEMS, NOISE, random_state=seed)
    return X[:N_ITEMS], pairs, X[N_ITEMS:], y[N_ITEMS:]


def accuracy(learner, density, seed):
    """Return the accuracy on new items; a learner that refuses names the larger class."""
    X, pairs, new, y_new = problem(density, seed)
    try:
        return accuracy_up_to_names(y_new, learner.fit(X, pairs).predict(new))
    except NotIdentifiable:
        return max(y_new.mean(), 1 - y_new.mean())


learners = {
    "joint, nothing given": JointPairClassifier(random_state=0),
    "loss correction, rates and prior given": LossCorrectionClassifier(
        noise=NOISE, prior=0.3, random_state=0
    ),
}
found = {
    name: np.array([[accuracy(learner, n, seed) for seed in range(3)] for n in DENSITIES])
    for name, learner in learners.items()
}
for name, values in found.items():
    print(name, dict(zip(DENSITIES, values.mean(axis=1).round(3).tolist(), strict=True)))

# %%
# Three draws of items and answers each; the bars reach from the worst to the best.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), colour in zip(found.items(), ("#0072b2", "#d55e00"), strict=True):
    mean = values.mean(axis=1)
    spread = [mean - values.min(axis=1), values.max(axis=1) - mean]
    axes.errorbar(DENSITIES, mean, spread, fmt="o-", color=colour, capsize=3, label=name)
axes.axhline(0.7, color="0.6", linestyle=":", label="larger class")
axes.set_xscale("log", base=2)
axes.set_xticks(DENSITIES, [str(n) for n in DENSITIES])
axes.set(
    xlabel="answers per item", ylabel="new items right", title="Where the methods part company"
)
axes.legend(frameon=False, loc="center right")
plt.show()
