"""
How many classes are there?
===========================

Nobody knows the number of classes before the first fit. The joint learner can choose it: every
number is fitted, and a larger one must explain the answers better, by more than chance would give
it. Here the truth is four, and one answer in five is wrong.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from noisypairs import JointPairClassifier, PairingNoise, sample_pairs

warnings.simplefilter("ignore")  # about class names: no group needs one here

# %%
# Four clouds in six dimensions, 320 items, ten answers each.
rng = np.random.default_rng(0)
y = np.arange(320) % 4
centres = 3 * rng.standard_normal((4, 6)) / np.sqrt(2)
X = centres[y] + rng.standard_normal((320, 6))
pairs = sample_pairs(y, 3_200, PairingNoise(0.2, 0.2), random_state=0)

# %%
# ``n_classes="auto"`` tries two to six, and stops when two numbers in a row are not kept.
model = JointPairClassifier(n_classes="auto", random_state=0).fit(X, pairs)
print("chosen:", model.n_classes_)
for number, score in model.class_numbers_.items():
    print(f"{number} classes: {score:9.1f} nats")

# %%
# Left: the log-likelihood of all answers, less what a richer noise costs. Right: the first two
# directions of the features with the groups found.
numbers = np.array(list(model.class_numbers_))
scores = np.array(list(model.class_numbers_.values()))
centred = X - X.mean(axis=0)
plane = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
group = model.item_proba_.argmax(axis=1)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
left.plot(numbers, scores - scores.max(), "o-", color="#0072b2")
left.axvline(model.n_classes_, color="0.7", linestyle=":")
left.set(xticks=numbers, xlabel="number of classes", ylabel="behind the best, nats")
left.set_title(f"chosen: {model.n_classes_}", fontsize=10)
for k, colour in zip(
    range(model.n_classes_), ("#0072b2", "#d55e00", "#009e73", "#cc79a7"), strict=False
):
    right.plot(*plane[group == k].T, ".", color=colour)
right.set(xticks=[], yticks=[])
right.set_title("the items, by the group found", fontsize=10)
plt.show()
