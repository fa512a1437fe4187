"""Real people: dog photos of three breeds, 9,000 crowd answers, no true label used in training.

    NOISYPAIRS_DATA=… python benchmarks/dogs.py

Eight splits, a quarter of the photos held out; pairs among the training photos only. The crowd's
data stay outside the package: the folder in NOISYPAIRS_DATA must hold ``crowd_dogs3``. Prints the
table of docs/joint.md.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noisypairs import JointPairClassifier, NotIdentifiable, Pairs
from noisypairs.metrics import accuracy_up_to_names
from protocol import machine, mean_error, run

WAYS = {
    "joint, defaults": {},
    "joint, two rates": {"noise_model": "pairing"},
    "joint, free matrix": {"noise_model": "free"},
    "joint, annotators": {"annotators": True},
    "joint, linear": {"estimator": make_pipeline(StandardScaler(), LogisticRegression(C=0.01))},
    "joint, naive Bayes": {"estimator": GaussianNB()},
    "joint, naive Bayes, annotators": {"estimator": GaussianNB(), "annotators": True},
}


def load():
    folder = Path(os.environ["NOISYPAIRS_DATA"]) / "crowd_dogs3"
    answers = pd.read_csv(folder / "pairs.csv")
    answers = answers[answers["query_type"] == "radio2"]
    X = pd.read_csv(folder / "features_effnetlite0_pca64.csv").drop(columns="item").to_numpy()
    y = pd.read_csv(folder / "items.csv")["true_class"].to_numpy()
    pairs = Pairs(answers["item_a"], answers["item_b"], answers["same"], len(y), answers["worker"])
    return X, y, pairs


def task(way, seed):
    X, y, pairs = load()
    train, test = train_test_split(np.arange(len(y)), stratify=y, random_state=seed)
    if way == "k-means":
        model = KMeans(3, n_init=10, random_state=seed).fit(X[train])
    elif way == "true labels":
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.01)).fit(X[train], y[train])
    else:
        options = {"n_classes": 3, "random_state": seed, **WAYS[way]}
        try:
            model = JointPairClassifier(**options).fit(X[train], pairs[train])
        except NotIdentifiable:
            return {"accuracy": 1 / 3}
    return {"accuracy": accuracy_up_to_names(y[test], model.predict(X[test]))}


def main() -> None:
    ways = ["k-means", "true labels", *WAYS]
    records = run(task, [{"way": w, "seed": s} for s in range(8) for w in ways], "dogs")
    print(machine())
    print("| way | accuracy, names matched | worst of 8 splits |\n|---|---|---|")
    for way in ways:
        mine = [r["accuracy"] for r in records if r["cell"]["way"] == way]
        mean, error = mean_error(mine)
        print(f"| {way} | {mean:.3f} ± {error:.3f} | {min(mine):.3f} |")


if __name__ == "__main__":
    main()
