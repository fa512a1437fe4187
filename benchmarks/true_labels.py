"""What five standard learners reach with the true labels of the same splits: a hard yardstick.

    python benchmarks/true_labels.py [dataset …]

logistic, kernel, forest, boosting and network are scikit-learn's logistic regression (also on the
RBF kernel map of the package's default), random forest, HistGradientBoostingClassifier and
MLPClassifier with early stopping, on standardised items, untuned. Runs what
benchmarks/records/true_labels.jsonl lacks and prints means ± standard errors over the splits.
"""

from __future__ import annotations

import sys

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from noisypairs import CleanPairs
from noisypairs.estimators.inner.classifiers import default_classifier
from protocol import machine, mean_error, read, run
from tree_tables import problem

NAME = "true_labels"
#: Splits of each table: those of the paper's tables, and of fair_network.py for the last two.
SPLITS = {
    "diabetes": 10,
    "cancer": 10,
    "ionosphere": 10,
    "spambase": 10,
    "magic": 3,
    "adult": 3,
    "phoneme": 5,
    "churn": 5,
}
LEARNERS = ("logistic", "kernel", "forest", "boosting", "network")
#: The yardstick is the best of these.
YARDSTICKS = ("logistic", "forest", "boosting", "network")


def learners(X, seed):
    network = MLPClassifier((100, 100), early_stopping=True, max_iter=500, random_state=seed)
    return {
        "logistic": LogisticRegression(max_iter=1000),
        "kernel": default_classifier(X, seed),
        "forest": RandomForestClassifier(random_state=seed),
        "boosting": HistGradientBoostingClassifier(random_state=seed),
        "network": network,
    }


def task(dataset, seed):
    data = problem(dataset, CleanPairs(), 1.0, seed)
    fitted = {name: one.fit(data.X, data.y) for name, one in learners(data.X, seed).items()}
    return {name: float(model.score(data.X_test, data.y_test)) for name, model in fitted.items()}


def by_table() -> dict[str, dict[int, dict[str, float]]]:
    """Return data set → split → learner → accuracy, as recorded."""
    found: dict[str, dict[int, dict[str, float]]] = {}
    for record in read(NAME):
        accuracies = {name: record[name] for name in LEARNERS}
        found.setdefault(record["cell"]["dataset"], {})[record["cell"]["seed"]] = accuracies
    return found


def best(splits: dict[int, dict[str, float]]) -> str:
    """Return the yardstick of highest mean test accuracy over the splits of one data set."""
    return max(YARDSTICKS, key=lambda name: sum(split[name] for split in splits.values()))


def main() -> None:
    print(machine())
    asked = sys.argv[1:] or list(SPLITS)
    run(task, [{"dataset": d, "seed": seed} for d in asked for seed in range(SPLITS[d])], NAME)
    found = by_table()
    print("\n| dataset |", " | ".join(LEARNERS), "| best of four | splits |")
    print("|---" * (len(LEARNERS) + 3) + "|")
    for dataset in (name for name in SPLITS if name in found):
        splits = found[dataset].values()
        means = [mean_error(100 * split[name] for split in splits) for name in LEARNERS]
        shown = [f"{mean:.1f} ± {error:.1f}" for mean, error in means]
        print("|", " | ".join([dataset, *shown, best(found[dataset]), str(len(splits))]), "|")


if __name__ == "__main__":
    main()
