"""
Which pairs to ask next
=======================

Most pairs teach little: two items that are surely alike, or surely not. ``next_pairs`` chooses a
batch whose answers are expected to tell most, together, under the noise that was found. Here 300
handwritten digits of four kinds are compared, and one answer in ten is wrong. One learner asks
random pairs, the other chooses all but a fifth of its batch.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from noisypairs import JointPairClassifier, PairingNoise, sample_pairs
from noisypairs.metrics import accuracy_up_to_names

warnings.simplefilter("ignore")  # about class names and weak evidence: it is the beginning
NOISE = PairingNoise(similar_flip=0.1, dissimilar_flip=0.1)
FIRST, BATCH, ROUNDS = 600, 150, 6

digits, kinds = load_digits(n_class=4, return_X_y=True)
X, y = digits[:300] / 16, kinds[:300]


# %%
# Both begin with the same random pairs. A batch of pairs is asked, its answers are added, and the
# model is fitted again; ``random_share=1`` is the learner that does not choose.
def ask(random_share, seed):
    """Return (answers so far, share of the items in the right group) after each batch."""
    rng = np.random.default_rng(seed)
    pairs = sample_pairs(y, FIRST, NOISE, random_state=seed)
    model = JointPairClassifier(LogisticRegression(C=0.1), n_classes=4, random_state=0)
    curve = []
    for _ in range(ROUNDS):
        model.fit(X, pairs)
        right = accuracy_up_to_names(y, model.item_proba_.argmax(axis=1))
        curve.append((pairs.n_pairs, right))
        batch = model.next_pairs(BATCH, random_share=random_share, random_state=seed)
        truth = y[batch.left] == y[batch.right]
        said = truth ^ (rng.random(len(batch)) < 0.1)
        pairs = pairs.with_answers(batch.left, batch.right, said, chosen=batch.chosen)
    return np.array(curve).T


WAYS = {"chosen, a fifth at random": (0.2, "#0072b2"), "all at random": (1.0, "#d55e00")}
curves = {name: [ask(share, seed) for seed in range(2)] for name, (share, _) in WAYS.items()}
for name, found in curves.items():
    print(name, np.mean([right for _, right in found], axis=0).round(3).tolist())

# %%
# Thin lines are two draws of the first pairs and of the errors, thick ones their means.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name, (_, colour) in WAYS.items():
    answers = curves[name][0][0]
    for _, right in curves[name]:
        axes.plot(answers, right, color=colour, linewidth=0.7, alpha=0.5)
    mean = np.mean([right for _, right in curves[name]], axis=0)
    axes.plot(answers, mean, "o-", color=colour, label=name)
axes.set(
    xlabel="answers so far, about 300 pictures",
    ylabel="pictures in the right group",
    title="The same number of answers, chosen and not",
)
axes.legend(frameon=False, loc="lower right")
plt.show()
