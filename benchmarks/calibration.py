"""Are stated probabilities true? Calibration of predict_proba and oof_proba_, 2 to 25 classes.

    python benchmarks/calibration.py [--label 0.3.0] [--draws 4] [--print]

Gaussian classes in ten columns, 1,000 items or 80 per class, eight answers per item, the number of
classes given; the default estimator and logistic regression. Of 5,000 new items (`predict_proba`)
and of the training items (`oof_proba_`) the confidence, the largest probability, is compared with
the share of items right, in ten bins of equally many items:

    expected calibration error = Σ_bins n_bin / n · |mean confidence − share right|

Even probabilities that are true have an error above zero in a finite sample: "by chance" is what
they would have, with right and wrong drawn from the confidences. Classes get the names of the best
matching on the training items. Runs what ``records/calibration.jsonl`` lacks. --quick makes one
draw.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from draws import SPREADS, gaussian_classes, true_names
from protocol import attempt, machine, mean_error, options, read, run, select, versions

NAME = "calibration"
CLASSES = (2, 3, 5, 8, 12, 25)
ESTIMATORS = {"default": None, "logistic": LogisticRegression(max_iter=1000)}
WAYS = ("predict_proba", "oof_proba_")
ANSWERS_PER_ITEM, N_NEW, BINS, N_CHANCE = 8, 5_000, 10, 100
#: The error that is aimed at.
SMALL = 0.03


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """Return Σ n_bin / n · |mean confidence − share right| over bins of equally many items."""
    bins = np.array_split(np.argsort(confidence, kind="stable"), BINS)
    gaps = [abs(confidence[one].mean() - right[one].mean()) * len(one) for one in bins]
    return float(sum(gaps) / len(confidence))


def facts(proba: np.ndarray, y: np.ndarray, names: np.ndarray) -> dict[str, float]:
    """Return error, error by chance, mean confidence and accuracy of P(class | x), (n, K)."""
    confidence, right = proba.max(axis=1), names[proba.argmax(axis=1)] == y
    rng = np.random.default_rng(0)
    drawn = (rng.random(len(y)) < confidence for _ in range(N_CHANCE))
    return {
        "error": calibration_error(confidence, right),
        "by chance": float(np.mean([calibration_error(confidence, one) for one in drawn])),
        "confidence": float(confidence.mean()),
        "accuracy": float(right.mean()),
    }


def task(
    version: str,  # noqa: ARG001
    n_classes: int,
    features: str,
    estimator: str,
    draw: int,
) -> dict[str, Any]:
    n_items = max(1_000, 80 * n_classes)
    data = gaussian_classes(
        n_classes, n_items, ANSWERS_PER_ITEM, features=features, n_new=N_NEW, seed=draw
    )
    done = attempt(data.X, data.pairs, ESTIMATORS[estimator], n_classes)
    if done.model is None:
        return done.facts
    model = done.model
    names = true_names(data.y, model.item_proba_)
    return done.facts | {
        "predict_proba": facts(model.predict_proba(data.X_new), data.y_new, names),
        "oof_proba_": facts(model.oof_proba_, data.y, names),
    }


def table(records: list[dict[str, Any]]) -> None:
    heads = ["error", "by chance", "worst draw", "confidence", "accuracy"]
    shown = " | ".join(f"{way} {head}" for way in WAYS for head in heads)
    print(f"\n| version | classes | features | estimator | draws | {shown} |")
    print(f"|{'---|' * (5 + 2 * len(heads))}")
    keys = ("version", "n_classes", "features", "estimator")
    fits = [r for r in records if r["error"] is None]
    for cell in dict.fromkeys(tuple(r["cell"][key] for key in keys) for r in fits):
        mine = select(fits, **dict(zip(keys, cell, strict=True)))
        values = []
        for way in WAYS:
            means = {key: mean_error(r[way][key] for r in mine)[0] for key in mine[0][way]}
            worst = max(r[way]["error"] for r in mine)
            values += [means["error"], means["by chance"], worst]
            values += [means["confidence"], means["accuracy"]]
        text = " | ".join(f"{value:.3f}" for value in values)
        print(f"| {' | '.join(map(str, cell))} | {len(mine)} | {text} |")
    for version in versions(records):
        mine = select(fits, version=version)
        print(f"\n{version}: {len(mine)} fits, {len(select(records, version=version))} tried")
        for way in WAYS:
            raw = sum(r[way]["error"] <= SMALL for r in mine)
            less = sum(r[way]["error"] - r[way]["by chance"] <= SMALL for r in mine)
            print(f"  {way}: error at most {SMALL} in {raw}, less what chance makes in {less}")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--draws", type=int, default=4, help="draws of each setting")
    given = parser.parse_args()
    cells = [
        {
            "version": given.label,
            "n_classes": K,
            "features": features,
            "estimator": estimator,
            "draw": draw,
        }
        for draw in range(1 if given.quick else given.draws)
        for K in CLASSES
        for features in SPREADS
        for estimator in ESTIMATORS
    ]
    records = read(NAME) if given.only_print else run(task, cells, NAME)
    print(machine())
    table(records)


if __name__ == "__main__":
    main()
