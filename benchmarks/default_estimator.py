"""Which estimator should be the default? Accuracy over the paper's settings, then time.

    python benchmarks/default_estimator.py

Both point-wise learners with true rates and prior given, 20 pairs per training item, three splits;
adult and magic cut to 6,000 rows. Prints the table of docs/pointwise.md.
"""

from __future__ import annotations

import time

from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline

from noisypairs import LossCorrectionClassifier, WeightedPairClassifier
from noisypairs.experiments.paper import ROWS
from noisypairs.experiments.problem import noise_of, split
from protocol import machine, mean_error, run

HIDDEN = {"hidden_layer_sizes": (100, 100), "random_state": 0, "max_iter": 60}
KERNEL = {"n_components": 200, "random_state": 0}
REGRESSORS = {
    "linear": lambda: Ridge(),
    "kernel": lambda: make_pipeline(Nystroem(gamma=None, **KERNEL), Ridge()),
    "forest": lambda: RandomForestRegressor(200, min_samples_leaf=5, random_state=0),
    "boosting": lambda: HistGradientBoostingRegressor(
        max_iter=60, learning_rate=0.05, random_state=0
    ),
    "network": lambda: MLPRegressor(**HIDDEN, alpha=1.0),
}
CLASSIFIERS = {
    "linear": lambda: LogisticRegression(),
    "kernel": lambda: make_pipeline(Nystroem(gamma=None, **KERNEL), LogisticRegression()),
    "forest": lambda: RandomForestClassifier(200, min_samples_leaf=5, random_state=0),
    "boosting": lambda: HistGradientBoostingClassifier(
        max_iter=60, learning_rate=0.05, random_state=0
    ),
    "network": lambda: MLPClassifier(**HIDDEN, alpha=1.0),
}


def task(name, family, rates, learner, estimator, seed):
    noise = noise_of(family, rates)
    data = split(name, noise, pairs_per_item=20, seed=seed, rows=6000)
    prior = float(data.y.mean())
    inner = (REGRESSORS if learner == "correction" else CLASSIFIERS)[estimator]()
    start = time.perf_counter()
    if learner == "clean":
        model = inner.fit(data.X, data.y)
    else:
        kind = LossCorrectionClassifier if learner == "correction" else WeightedPairClassifier
        model = kind(inner, noise=noise, prior=prior).fit(data.X, data.pairs)
    seconds = time.perf_counter() - start
    return {"accuracy": model.score(data.X_test, data.y_test), "seconds": seconds}


def main() -> None:
    cells = [
        {
            "name": row.dataset,
            "family": row.family,
            "rates": list(row.rates),
            "learner": learner,
            "estimator": estimator,
            "seed": seed,
        }
        for seed in range(3)
        for row in ROWS
        for learner in ("correction", "weighted", "clean")
        for estimator in REGRESSORS
    ]
    records = run(task, cells, "default_estimator")
    print(machine())
    print("| learner | estimator | accuracy (mean of 18 settings) | seconds per fit |")
    print("|---|---|---|---|")
    for learner in ("correction", "weighted", "clean"):
        for estimator in REGRESSORS:
            mine = [
                r
                for r in records
                if r["cell"]["learner"] == learner and r["cell"]["estimator"] == estimator
            ]
            accuracy, _ = mean_error(100 * r["accuracy"] for r in mine)
            seconds, _ = mean_error(r["seconds"] for r in mine)
            print(f"| {learner} | {estimator} | {accuracy:.1f} | {seconds:.2f} |")
    print()
    names = sorted({r["cell"]["name"] for r in records})
    print("| learner | estimator | " + " | ".join(names) + " |")
    print("|---|---|" + "---|" * len(names))
    for learner in ("correction", "weighted", "clean"):
        for estimator in REGRESSORS:
            cells_of = [
                mean_error(
                    100 * r["accuracy"]
                    for r in records
                    if (r["cell"]["learner"], r["cell"]["estimator"], r["cell"]["name"])
                    == (learner, estimator, name)
                )[0]
                for name in names
            ]
            print(f"| {learner} | {estimator} | " + " | ".join(f"{c:.1f}" for c in cells_of) + " |")


if __name__ == "__main__":
    main()
