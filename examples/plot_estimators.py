"""
Any scikit-learn estimator inside
=================================

The answers become beliefs about the items, and any classifier is trained on these: one that takes
no sample weights, such as nearest neighbours, on classes drawn from the beliefs. Here four of them
learn two interleaved half moons from the same 3,000 answers, 30 % of which are wrong. Where no
estimator is given, the learner compares several and keeps the one whose predictions for left-out
items explain the answers best.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from noisypairs import JointPairClassifier, PairingNoise, sample_pairs

X, y = make_moons(400, noise=0.2, random_state=0)
new, y_new = make_moons(2_000, noise=0.2, random_state=1)
pairs = sample_pairs(y, 3_000, PairingNoise(0.3, 0.3), random_state=0)
pairs = pairs.with_labels({int(np.flatnonzero(y == k)[0]): k for k in (0, 1)})

# %%
# Neighbours follow the moons, a forest steps. ``None`` lets the learner choose.
ESTIMATORS = {
    "15 nearest neighbours": KNeighborsClassifier(15),
    "random forest": RandomForestClassifier(60, min_samples_leaf=5, random_state=0),
    "chosen by the learner": None,
}
models = {
    name: JointPairClassifier(estimator, random_state=0).fit(X, pairs)
    for name, estimator in ESTIMATORS.items()
}

# %%
# Transformations go before the learner, in a pipeline like any other: splines make it bend.
splines = make_pipeline(
    SplineTransformer(), JointPairClassifier(LogisticRegression(), random_state=0)
)
models["splines before the learner"] = splines.fit(X, pairs)
print("chosen:", models["chosen by the learner"].candidate_)

# %%
side = np.linspace(-1.7, 2.7, 150), np.linspace(-1.3, 1.8, 110)
grid = np.stack(np.meshgrid(*side), axis=-1)
figure, panels = plt.subplots(2, 2, figsize=(7.4, 5.6), layout="constrained")
for panel, (name, model) in zip(panels.flat, models.items(), strict=True):
    proba = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(grid.shape[:2])
    panel.contourf(*side, proba, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.6)
    panel.contour(*side, proba, levels=[0.5], colors="black", linewidths=1)
    for k, colour in ((0, "#7f1d1d"), (1, "#1e3a5f")):
        panel.plot(*new[:300][y_new[:300] == k].T, ".", color=colour, markersize=3)
    panel.set_title(f"{name}: {model.score(new, y_new):.1%}", fontsize=10)
    panel.set(xticks=[], yticks=[])
plt.show()
