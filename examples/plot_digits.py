"""
Ten digits that nobody named
============================

1,797 small pictures of handwritten digits. People are shown two of them and say whether it is the
same digit; one answer in five is wrong, of both kinds. There are ten classes, so nine of ten
random pairs are truly different and a "same" is more often wrong than right. From such answers
the joint learner sorts the pictures into ten groups and learns to sort new ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from noisypairs import JointPairClassifier, PairingNoise, sample_pairs
from noisypairs.metrics import contingency

X, y = load_digits(return_X_y=True)
train, new, y_train, y_new = train_test_split(X / 16, y, stratify=y, random_state=0)

# %%
# Forty answers per picture. ``same`` answers are rare and most of them are wrong.
pairs = sample_pairs(y_train, 40 * len(y_train), PairingNoise(0.2, 0.2), random_state=0)
truth = y_train[pairs.left] == y_train[pairs.right]
print(pairs)
print(f"of the answers 'same', {np.mean(~truth[pairs.same]):.0%} are wrong")

# %%
# Ten labelled pictures, one of each digit, name the groups. They change nothing else.
named = {int(np.flatnonzero(y_train == digit)[0]): digit for digit in range(10)}
inside = LogisticRegression(C=0.1, max_iter=500)
model = JointPairClassifier(inside, n_classes=10, random_state=0)
model.fit(train, pairs.with_labels(named))
accuracy = model.score(new, y_new)
reference = inside.fit(train, y_train).score(new, y_new)
print(f"{accuracy:.1%} of {len(y_new)} new pictures right")
print(f"the same estimator trained on every true digit: {reference:.1%}")

# %%
# Rows are true digits, columns what the model says, in per cent of the row.
table = contingency(y_new, model.predict(new))
share = 100 * table / table.sum(axis=1, keepdims=True)
figure, axes = plt.subplots(figsize=(5.4, 5), layout="constrained")
axes.imshow(share, cmap="Blues", vmin=0, vmax=100)
for i, j in np.argwhere(share >= 1):
    colour = "white" if share[i, j] > 50 else "black"
    axes.text(j, i, f"{share[i, j]:.0f}", ha="center", va="center", color=colour, fontsize=9)
axes.set_xticks(range(10), model.classes_)
axes.set_yticks(range(10), range(10))
axes.set(
    xlabel="predicted",
    ylabel="true digit",
    title=f"{accuracy:.1%} right, learnt from answers about pairs",
)
plt.show()
