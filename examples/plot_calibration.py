"""
Probabilities that hold
=======================

A model that says 70 % should be right in 70 % of the cases. Without true classes the only check
is by answers: of the held-out pairs that are predicted "same" with 70 %, about 70 % should be
answered so. Here the truth is known as well, so both can be seen: the check that anyone can make,
and whether it told the truth.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from noisypairs import JointPairClassifier, PairingNoise, algebra, sample_pairs

X, y = make_classification(
    3_000, 10, n_informative=4, n_redundant=0, flip_y=0.05, class_sep=1.3, random_state=0
)
train, held = np.arange(600), np.arange(600, 3_000)

# %%
# Learn from 6,000 answers about 600 items; 15 % of the answers are wrong.
pairs = sample_pairs(y, 60_000, PairingNoise(0.2, 0.1), random_state=0)
among_train = sample_pairs(y[train], 6_000, PairingNoise(0.2, 0.1), random_state=1)
named = among_train.with_labels({int(np.flatnonzero(y[train] == k)[0]): k for k in (0, 1)})
model = JointPairClassifier(random_state=0).fit(X[train], named)

# %%
# Held-out answers are about items that the model has not seen. What it says about the
# *answer* to a pair is η(x)ᵀ S η(x').
unseen = pairs[held]
eta = model.predict_proba(X[held])
S = model.noise_.same_probability()
says_same = algebra.pair_posterior(S, eta[unseen.left], eta[unseen.right])


def reliability(predicted, happened, n_bins=10):
    """Return (mean prediction, share that happened) of equally large groups."""
    groups = np.array_split(np.argsort(predicted), n_bins)
    return np.array([(predicted[rows].mean(), happened[rows].mean()) for rows in groups]).T


by_answers = reliability(says_same, unseen.same)
by_classes = reliability(eta[:, 1], y[held] == 1)
for name, (said, seen) in (("answers", by_answers), ("classes", by_classes)):
    print(f"{name}: largest difference {np.abs(said - seen).max():.3f}")

# %%
figure, panels = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for panel, (said, seen), title in (
    (panels[0], by_answers, 'held-out answers: P("same"), can be checked'),
    (panels[1], by_classes, "new items: P(class 1), cannot be checked"),
):
    panel.plot([0, 1], [0, 1], color="0.7", linestyle="--", linewidth=1)
    panel.plot(said, seen, "o-", color="#0072b2")
    panel.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel="predicted", ylabel="observed")
    panel.set_title(title, fontsize=10)
plt.show()
