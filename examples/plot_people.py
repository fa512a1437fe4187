"""
Kinds that people tell apart, and pictures that nobody recognises
=================================================================

People see more than the classes one wants. Here there are two classes, each of two kinds, and
people answer "same" for pictures of one *kind*; one picture in eight is so blurred that answers
about it are guesses. A learner of two classes is misled by both. With ``n_kinds`` the kinds are
learnt, and a few labels say which class each belongs to; with ``clarity`` blurred items are
allowed for.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from noisypairs import JointPairClassifier, Pairs, SearchOptions

warnings.simplefilter("ignore")  # about the number of classes: it is the subject here
rng = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0.0], [3.5, 3.5], [3.5, 0.0], [0.0, 3.5]])

# %%
# 320 pictures of four kinds; kinds 0 and 1 are class 0, the others class 1. Opposite corners belong
# together, so no straight line parts the classes.
kind = rng.integers(4, size=320)
y = kind // 2
X = CENTRES[kind] + rng.standard_normal((320, 2))
blurred = rng.random(320) < 0.125
left, right = rng.integers(320, size=(2, 4_000))
left, right = left[left != right], right[left != right]
seen = (kind[left] == kind[right]) ^ (rng.random(len(left)) < 0.15)
guess = rng.random(len(left)) < 0.4
same = np.where(blurred[left] | blurred[right], guess, seen)

# %%
# Three labelled pictures of each kind name the classes.
labels = {int(i): int(y[i]) for k in range(4) for i in np.flatnonzero(kind == k)[:3]}
pairs = Pairs(left, right, same, n_items=320, labels=labels)
models = {
    "two classes": JointPairClassifier(random_state=0).fit(X, pairs),
    "kinds, clarity": JointPairClassifier(random_state=0, search=SearchOptions(n_kinds=4)).fit(
        X, pairs
    ),
}
new_kind = rng.integers(4, size=2_000)
new = CENTRES[new_kind] + rng.standard_normal((2_000, 2))
right_share = {name: model.score(new, new_kind // 2) for name, model in models.items()}
print({name: f"{share:.1%}" for name, share in right_share.items()})

# %%
side = np.linspace(-3, 6.5, 120)
grid = np.stack(np.meshgrid(side, side), axis=-1)
figure, panels = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
for panel, (name, model) in zip(panels, models.items(), strict=True):
    proba = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(grid.shape[:2])
    panel.contourf(side, side, proba, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.5)
    for k, marker in enumerate("osD^"):
        panel.plot(*X[(kind == k) & ~blurred].T, marker, color="0.2", markersize=3)
    panel.plot(*X[blurred].T, "x", color="#d55e00", markersize=4)
    panel.set_title(f"{name}: {right_share[name]:.1%} of new pictures right", fontsize=10)
    panel.set(xticks=[], yticks=[], aspect="equal")
plt.show()
