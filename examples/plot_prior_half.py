"""
At a prior of ½ single items say nothing
========================================

Every method that looks at items one by one learns from the difference a − b = (1 − ρ_S − ρ_D)(2π
− 1): how differently the two classes are answered. With two classes of equal size that difference
is zero, and no number of answers helps: such methods refuse. The pairs as a graph still hold
everything: *i same as j, j different from k* says something about i and k. The joint learner uses
that.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from noisypairs import (
    JointPairClassifier,
    NotIdentifiable,
    PairingNoise,
    WeightedPairClassifier,
    datasets,
    sample_pairs,
)
from noisypairs.metrics import accuracy_up_to_names

warnings.simplefilter("ignore")  # about weak signals and class names: both are the subject here
NOISE = PairingNoise(similar_flip=0.3, dissimilar_flip=0.2)
PRIORS = (0.1, 0.2, 0.3, 0.4, 0.45, 0.5)


# %%
# The same task at six priors: 600 items, 6,000 answers, a quarter of them wrong. The features are
# the paper's two Gaussians, moved closer. The weighted learner is given the true rates and the true
# prior, the joint learner nothing.
def trial(learner, prior, seed):
    """Return the accuracy on new items up to class names, NaN where the learner refuses."""
    scale = np.random.default_rng(seed).normal(scale=2.0, size=(2_600, 2))
    X, y = datasets.load("gaussians", n_samples=2_600, prior=prior, random_state=seed)
    X, new, y_new = X[:600] + scale[:600], X[600:] + scale[600:], y[600:]
    pairs = sample_pairs(y[:600], 6_000, NOISE, random_state=seed)
    try:
        return accuracy_up_to_names(y_new, learner(prior).fit(X, pairs).predict(new))
    except NotIdentifiable:
        return np.nan


LEARNERS = {
    "joint, nothing given": lambda _: JointPairClassifier(random_state=0),
    "weighted, rates and prior given": lambda prior: WeightedPairClassifier(
        noise=NOISE, prior=prior, random_state=0
    ),
}
found = {
    name: np.array([[trial(learner, prior, seed) for seed in range(2)] for prior in PRIORS])
    for name, learner in LEARNERS.items()
}
for name, accuracy in found.items():
    print(name, np.nanmean(accuracy, axis=1).round(3).tolist(), np.isnan(accuracy).sum(), "refused")

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, accuracy), colour in zip(found.items(), ("#0072b2", "#d55e00"), strict=True):
    axes.plot(PRIORS, np.nanmean(accuracy, axis=1), "o-", color=colour, label=name)
    refused = np.isnan(accuracy).any(axis=1)
    axes.plot(np.array(PRIORS)[refused], np.full(refused.sum(), 0.5), "x", color=colour)
axes.plot([], [], "x", color="#d55e00", label="refused")
axes.plot(PRIORS, [1 - prior for prior in PRIORS], color="0.6", linestyle=":", label="larger class")
axes.set(xlabel="share of class 1", ylabel="new items right", title="Six priors, one kind of noise")
axes.legend(frameon=False, loc="lower left")
plt.show()
