"""What the corrections are worth: unbiased against printed loss, weighted against unweighted.

    python benchmarks/corrections.py

True rates and prior given, 20 pairs per training item, ten splits. Default estimators, and for the
loss correction also a logistic linear model under squared loss ("brier"): its output is bounded,
so it has a minimum also where the printed loss is not convex and regression has none (shown as –).
Prints the table of which docs/pointwise.md shows the rows of unequal rates.
"""

from __future__ import annotations

from noisypairs import CleanPairs, LossCorrectionClassifier, WeightedPairClassifier
from noisypairs.estimators import LinearRiskClassifier
from noisypairs.experiments.paper import ROWS
from noisypairs.experiments.problem import noise_of, split
from protocol import machine, mean_error, run

DATASETS = ("diabetes", "cancer", "ionosphere", "spambase")
COLUMNS = (
    "unbiased",
    "printed",
    "unbiased, brier",
    "printed, brier",
    "SD-loss",
    "weighted",
    "unweighted",
)
COMPARED = (
    ("unbiased", "printed"),
    ("unbiased, brier", "printed, brier"),
    ("weighted", "unweighted"),
)


def task(name, family, rates, seed):
    noise = noise_of(family, rates)
    data = split(name, noise, pairs_per_item=20, seed=seed)
    known = {"noise": noise, "prior": float(data.y.mean()), "random_state": seed}
    bounded = {**known, "loss": "brier", "estimator": LinearRiskClassifier("brier", penalty=1e-3)}
    learners = {
        "unbiased": LossCorrectionClassifier(**known),
        "printed": LossCorrectionClassifier(formula="printed", **known),
        "unbiased, brier": LossCorrectionClassifier(**bounded),
        "printed, brier": LossCorrectionClassifier(formula="printed", **bounded),
        "SD-loss": LossCorrectionClassifier(**{**known, "noise": CleanPairs()}),
        "weighted": WeightedPairClassifier(**known),
        "unweighted": WeightedPairClassifier(alpha=0.5, **known),
    }
    return {method: accuracy(learner, data) for method, learner in learners.items()}


def accuracy(learner, data) -> float | None:
    try:
        return learner.fit(data.X, data.pairs).score(data.X_test, data.y_test)
    except ValueError as error:
        if "not convex" not in str(error):
            raise
        return None


def main() -> None:
    settings = [(r.dataset, r.family, r.rates) for r in ROWS if r.dataset in DATASETS]
    cells = [
        {"name": name, "family": family, "rates": list(rates), "seed": seed}
        for seed in range(10)
        for name, family, rates in settings
    ]
    records = run(task, cells, "corrections")
    print(machine())
    columns = [*COLUMNS, *(f"{first} − {second} ± s.e." for first, second in COMPARED)]
    print("| dataset | noise | rates | " + " | ".join(columns) + " |")
    print("|---|---|---|" + "---|" * len(columns))
    for name, family, rates in settings:
        mine = [
            r for r in records if (r["cell"]["name"], tuple(r["cell"]["rates"])) == (name, rates)
        ]
        row = [shown([r[m] for r in mine], "{0:.1f}") for m in COLUMNS]
        for first, second in COMPARED:
            gains = [None if r[second] is None else r[first] - r[second] for r in mine]
            row.append(shown(gains, "{0:+.1f} ± {1:.1f}"))
        print(f"| {name} | {family} | {rates} | " + " | ".join(row) + " |")


def shown(values: list, form: str) -> str:
    """Return mean and standard error in points, or – where there is no value in some split."""
    return "–" if None in values else form.format(*mean_error(100 * v for v in values))


if __name__ == "__main__":
    main()
