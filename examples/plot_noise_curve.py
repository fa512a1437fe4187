"""
How much noise can be borne
===========================

Different pairs are called "same" at a rate from 0 to 60 %, same pairs "different" at half of that.
Three learners see the same answers, ten per item. SD-Loss takes every answer at its word: with
unequal rates it cuts in the wrong place. The loss correction is given the true rates. The joint
learner is given nothing and estimates the rates itself.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from noisypairs import (
    CleanPairs,
    JointPairClassifier,
    LossCorrectionClassifier,
    NotIdentifiable,
    PairingNoise,
    datasets,
    sample_pairs,
)
from noisypairs.metrics import accuracy_up_to_names

warnings.simplefilter("ignore")  # about weak evidence and class names
RATES = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
N_ITEMS, N_NEW, PRIOR = 600, 3_000, 0.3

X, y = datasets.load("gaussians", n_samples=N_ITEMS + N_NEW, prior=PRIOR, random_state=0)
X = X + np.random.default_rng(0).normal(scale=2.0, size=X.shape)
train, new, y_new = X[:N_ITEMS], X[N_ITEMS:], y[N_ITEMS:]
larger = max(y_new.mean(), 1 - y_new.mean())


# %%
# A learner that refuses is counted as naming the larger class for every item.
def fit_and_score(learner, pairs):
    """Return (accuracy on new items, the fitted learner or None)."""
    try:
        fitted = learner.fit(train, pairs)
    except NotIdentifiable:
        return larger, None
    return accuracy_up_to_names(y_new, fitted.predict(new)), fitted


found = {"joint": [], "loss correction, rates given": [], "SD-Loss, noise ignored": []}
estimated = []
for rate in RATES:
    noise = PairingNoise(rate / 2, rate)
    pairs = sample_pairs(y[:N_ITEMS], 10 * N_ITEMS, noise, random_state=0)
    accuracy, joint = fit_and_score(JointPairClassifier(random_state=0), pairs)
    found["joint"].append(accuracy)
    estimated.append(np.nan if joint is None else joint.noise_.same_probability()[0, 1])
    for name, assumed in list(zip(list(found)[1:], (noise, CleanPairs()), strict=True)):
        learner = LossCorrectionClassifier(noise=assumed, prior=PRIOR, random_state=0)
        found[name].append(fit_and_score(learner, pairs)[0])
print("true rates     ", RATES.tolist())
print("joint estimates", np.round(estimated, 2).tolist())

# %%
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, values), colour in zip(found.items(), ("#0072b2", "#d55e00", "#7a7a7a"), strict=True):
    axes.plot(RATES, values, "o-", color=colour, label=name)
axes.axhline(larger, color="0.6", linestyle=":", label="larger class")
axes.set(
    xlabel="different pairs called same; same called different: half of it",
    ylabel="new items right",
    title="600 items, ten answers each",
)
axes.legend(frameon=False, loc="center left")
plt.show()
