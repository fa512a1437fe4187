"""Measure how near the paper's two learners come to the Bayes rule on its two Gaussians.

    python benchmarks/gaussians.py

Prior .2, every item in one pair (n pairs are 2n S-D points, as in the paper), all noise rates .4,
rates and prior given, 20 seeds, accuracy on 50,000 new items. Prints the table of
docs/pointwise.md. Pairing noise leaves a signal a − b = −.12, labeling noise one of −.024.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge

from noisypairs import LossCorrectionClassifier, Pairs, WeightedPairClassifier, datasets
from noisypairs.estimators import LinearRiskClassifier
from noisypairs.experiments.problem import noise_of
from protocol import machine, run

PRIOR, RATES, SEEDS, TEST_ITEMS = 0.2, (0.4, 0.4), 20, 50_000
SIZES = {"pairing": [10_000], "labeling": [10_000, 100_000, 1_000_000]}
LEARNERS = {
    # the paper's model: a logistic linear model under the squared loss of its probabilities
    "loss correction, logistic model": lambda **known: LossCorrectionClassifier(
        LinearRiskClassifier("brier", penalty=1e-2), loss="brier", **known
    ),
    "loss correction, ridge": lambda **known: LossCorrectionClassifier(Ridge(), **known),
    "weighted, logistic regression": lambda **known: WeightedPairClassifier(
        LogisticRegression(), **known
    ),
}


def task(family: str, n_pairs: int, learner: str, seed: int) -> dict[str, Any]:
    noise = noise_of(family, RATES)
    X, y = datasets.load("gaussians", n_samples=2 * n_pairs, prior=PRIOR, random_state=seed)
    left, right = np.arange(2 * n_pairs).reshape(2, n_pairs)
    pairs = Pairs(left, right, noise.corrupt(y, left, right, random_state=1000 + seed))
    X_new, y_new = datasets.load(
        "gaussians", n_samples=TEST_ITEMS, prior=PRIOR, random_state=2000 + seed
    )
    model = LEARNERS[learner](noise=noise, prior=PRIOR).fit(X, pairs)
    bayes = (X_new.sum(axis=1) > np.log((1 - PRIOR) / PRIOR) / 4).astype(int)
    return {
        "accuracy": model.score(X_new, y_new),
        "bayes": float(np.mean(bayes == y_new)),
    }


def main() -> None:
    cells = [
        {"family": family, "n_pairs": n_pairs, "learner": learner, "seed": seed}
        for family, sizes in SIZES.items()
        for n_pairs in sizes
        for learner in LEARNERS
        for seed in range(SEEDS)
    ]
    records = run(task, cells, "gaussians")
    print(machine(), "\n")
    print("| noise | pairs | learner | mean | standard deviation | least | median | Bayes rule |")
    print("|---|---|---|---|---|---|---|---|")
    for family, sizes in SIZES.items():
        for n_pairs in sizes:
            for learner in LEARNERS:
                row = {"family": family, "n_pairs": n_pairs, "learner": learner}
                mine = [r for r in records if row.items() <= r["cell"].items()]
                found = 100 * np.array([r["accuracy"] for r in mine])
                bayes = 100 * np.mean([r["bayes"] for r in mine])
                print(
                    f"| {family} .4 | {n_pairs:,} | {learner} | {found.mean():.2f} | "
                    f"{found.std(ddof=1):.2f} | {found.min():.2f} | {np.median(found):.2f} | "
                    f"{bayes:.2f} |"
                )


if __name__ == "__main__":
    main()
