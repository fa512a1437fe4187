"""
Which answers are wrong
=======================

A quarter of 4,000 answers is wrong, and nobody knows which. After a fit ``wrong_proba_`` holds,
for each answer, the probability that it is wrong, given everything else: the features of the two
items and all other answers about them. Asking again about the most suspect ones finds many more
errors than asking at random.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs import JointPairClassifier, PairingNoise, sample_pairs

X, y = load_breast_cancer(return_X_y=True)
pairs = sample_pairs(y, 4_000, PairingNoise(0.3, 0.2), random_state=0)
wrong = pairs.same != (y[pairs.left] == y[pairs.right])
print(f"{wrong.mean():.0%} of {pairs.n_pairs:,} answers are wrong")

# %%
# 569 tumours, seven answers each, nothing else given.
learner = JointPairClassifier(class_order="falling", random_state=0)
make_pipeline(StandardScaler(), learner).fit(X, pairs)
proba = learner.wrong_proba_

# %%
# ``suspect_pairs`` lists the answers that are more likely wrong than right, worst first.
rows, how_sure = learner.suspect_pairs()
print(f"{len(rows)} suspects, {wrong[rows].mean():.0%} of them wrong; {wrong.sum()} wrong in all")

# %%
# Left: how many wrong answers are found when so many are looked at again. Right: the probabilities
# themselves, of the answers that are right and of those that are wrong.
order = np.argsort(-proba)
looked = np.arange(1, len(order) + 1)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
left.plot(looked, np.cumsum(wrong[order]), color="#0072b2", label="most suspect first")
left.plot(looked, looked * wrong.mean(), color="0.6", linestyle=":", label="at random")
left.axhline(wrong.sum(), color="0.8", linewidth=0.8)
left.set(xlabel="answers looked at again", ylabel="wrong ones among them")
left.legend(frameon=False, loc="lower right")
right.hist(
    [proba[~wrong], proba[wrong]],
    bins=np.linspace(0, 1, 21),
    color=["#009e73", "#d55e00"],
    label=["right answers", "wrong answers"],
)
right.set_yscale("log")
right.set(xlabel="probability of being wrong", ylabel="answers")
right.legend(frameon=False, loc="upper center")
plt.show()
