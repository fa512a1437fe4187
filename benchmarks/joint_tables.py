"""The joint learner, given only the pairs, on the 18 settings of the paper's Tables 1 and 2.

    noisypairs reproduce table1 --methods joint --pairs-per-item 2,20 \
        --out benchmarks/records/reproduction_joint …
    python benchmarks/true_labels.py
    python benchmarks/joint_tables.py

Reads the records of ``noisypairs reproduce … --methods joint`` (docs/reproduction.md has the
commands), in a folder of their own. Beside the joint learner: the very estimator that it chose,
trained on the true labels. Where it refuses, for want of signal, the larger class for everything
is counted in its place; the reference is then the linear default. The hardest yardstick is the
best of four learners on the true labels (`true_labels`): logistic regression, random forest,
boosted trees and a network. The best is picked per data set by the same test accuracy that it is
judged by, which favours the yardstick.

Prints the table of docs/joint.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from sklearn.base import clone

from noisypairs.estimators.inner.classifiers import default_candidates
from noisypairs.experiments import Spec, load_records
from noisypairs.experiments.paper import ROWS
from noisypairs.experiments.problem import make_problem
from protocol import RECORDS, machine, mean_error
from true_labels import best, by_table

#: Pairs per training item.
DENSITIES = (20.0, 2.0)


def reference(record) -> float:
    """Return the accuracy of the same estimator on the true labels."""
    return record.details.get("true_labels") or linear(record.spec)


def linear(spec: Spec) -> float:
    """Return the accuracy of logistic regression on the true labels of the same split."""
    return linear_on_split(replace(spec, family="clean", rates=(0.0, 0.0), density=1.0))


@cache
def linear_on_split(spec: Spec) -> float:
    problem = make_problem(spec)
    model = clone(default_candidates(problem.X, spec.seed)["linear"]).fit(problem.X, problem.y)
    return float(model.score(problem.X_test, problem.y_test))


def yardsticks(records: dict) -> dict[tuple[str, int], float]:
    """Return the accuracy of the best of four learners by data set and split of the records."""
    found = by_table()
    shown = {row.dataset for row in ROWS}
    needed = {(spec.dataset, spec.seed) for spec in records if spec.dataset in shown}
    missing = sorted(key for key in needed if key[1] not in found.get(key[0], {}))
    if missing:
        raise SystemExit(f"no true labels recorded for {missing}: run benchmarks/true_labels.py")
    names = {dataset: best(splits) for dataset, splits in found.items()}
    return {(d, seed): found[d][seed][names[d]] for d, seed in needed}


@dataclass(frozen=True)
class Cells:
    """What one setting of the tables gives at one density, in points; an error each."""

    joint: float
    gap: float
    gap_error: float
    to_best: float
    best_error: float
    refused: int

    def __str__(self) -> str:
        refused = f" ({self.refused} refused)" if self.refused else ""
        gap = f"{self.gap:.1f} ± {self.gap_error:.1f}"
        to_best = f"{self.to_best:.1f} ± {self.best_error:.1f}"
        return f"{self.joint:.1f}{refused} | {gap} | {to_best}"


def measured(records: dict, hardest: dict, row, density: float) -> Cells:
    """Return the joint learner of one setting beside both yardsticks."""
    setting = (row.dataset, row.family, row.rates, density, "network", 0, "joint")
    mine = [
        record
        for s, record in records.items()
        if (s.dataset, s.family, s.rates, s.density, s.model, s.rows, s.method) == setting
        and not s.flat_priors
    ]
    gap, gap_error = mean_error(100 * (reference(r) - r.accuracy) for r in mine)
    to_best, best_error = mean_error(
        100 * (hardest[r.spec.dataset, r.spec.seed] - r.accuracy) for r in mine
    )
    joint = 100 * float(np.mean([r.accuracy for r in mine]))
    refused = sum(r.refused is not None for r in mine)
    return Cells(joint, gap, gap_error, to_best, best_error, refused)


def print_table(records: dict, hardest: dict) -> None:
    """Print a row for each setting with both densities, and the means below it."""
    columns = ("joint", "gap ± s.e.", "behind the best of four")
    cells = [f"{name}, {density:g}" for density in DENSITIES for name in columns]
    print("\n| dataset | rates |", " | ".join(cells), "|\n|" + "---|" * 8)
    found = {
        density: [measured(records, hardest, row, density) for row in ROWS] for density in DENSITIES
    }
    for row, *both in zip(ROWS, *found.values(), strict=True):
        rates = f"({row.rates[0]}, {row.rates[1]})"
        print("|", " | ".join([row.dataset, rates, *map(str, both)]), "|")
    for density, rows in found.items():
        for name, gaps in (
            ("gap", [row.gap for row in rows]),
            ("behind the best of four", [row.to_best for row in rows]),
        ):
            most = f"median {np.median(gaps):.2f}, worst {max(gaps):.2f}"
            print(f"\n{density:g} pairs per item, {name}: mean {np.mean(gaps):.2f}, {most}")


def main() -> None:
    records = load_records(RECORDS / "reproduction_joint")
    hardest = yardsticks(records)
    print(machine())
    print_table(records, hardest)


if __name__ == "__main__":
    main()
