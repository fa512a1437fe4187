"""The joint learner, given only the pairs, on the 18 settings of the paper's Tables 1 and 2.

    noisypairs reproduce table1 --pairs-per-item 2,20 --out benchmarks/records/reproduction …
    python benchmarks/true_labels.py
    python benchmarks/joint_tables.py

Reads the records of ``noisypairs reproduce`` (the commands are in docs/reproduction.md), those of
the joint learner from a folder of their own, made by the same commands with ``--methods joint``.
Beside it: the very estimator that it chose trained on the true labels, and the paper's two
learners with the paper's network, tuned on the noisy pairs, and logistic regression on the true
labels, against which a draft with known rates was judged. Where a learner refuses, for want of
signal, the larger class for everything is counted in its place; the reference is then the linear
default. The hardest yardstick is the best of four learners on the true labels (`true_labels`):
logistic regression, random forest, boosted trees and a network. The best is picked per data set by
the same test accuracy that it is judged by, which favours the yardstick.

Prints the tables of docs/joint.md.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from sklearn.base import clone

from noisypairs.estimators.inner.classifiers import default_candidates
from noisypairs.experiments import Spec, load_records
from noisypairs.experiments.paper import ROWS
from noisypairs.experiments.problem import make_problem
from protocol import RECORDS, machine, mean_error
from true_labels import best, by_table


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


def yardsticks(records: dict) -> dict[tuple[str, int], tuple[str, float]]:
    """Return the best of four learners and its accuracy by data set and split of the records."""
    found = by_table()
    shown = {row.dataset for row in ROWS}
    needed = {(spec.dataset, spec.seed) for spec in records if spec.dataset in shown}
    missing = sorted(key for key in needed if key[1] not in found.get(key[0], {}))
    if missing:
        raise SystemExit(f"no true labels recorded for {missing}: run benchmarks/true_labels.py")
    names = {dataset: best(splits) for dataset, splits in found.items()}
    return {(d, seed): (names[d], found[d][seed][names[d]]) for d, seed in needed}


def table(records: dict, hardest: dict, density: float) -> None:
    print(f"\n{density:g} pairs per training item\n")
    print("| dataset | noise | rates | true labels | joint | gap ± s.e. ", end="")
    print("| best of four, true labels | gap to it ± s.e. ", end="")
    print("| logistic, true labels | T-Loss | Weighted | splits (refused) |")
    print("|" + "---|" * 12)
    gaps, far, behind = [], [], []
    for row in ROWS:
        mine = [
            record
            for spec, record in records.items()
            if (spec.dataset, spec.family, spec.rates) == (row.dataset, row.family, row.rates)
            and (spec.density, spec.model, spec.rows) == (density, "network", 0)
            and not spec.flat_priors
        ]
        joint = [record for record in mine if record.spec.method == "joint"]
        if not joint:
            continue
        gap, error = mean_error(100 * (reference(r) - r.accuracy) for r in joint)
        gaps.append(gap)
        best_ones = [hardest[r.spec.dataset, r.spec.seed] for r in joint]
        most = f"{best_ones[0][0]} {100 * np.mean([one for _, one in best_ones]):.1f}"
        to_best, best_error = mean_error(
            100 * (one - r.accuracy) for (_, one), r in zip(best_ones, joint, strict=True)
        )
        far.append(to_best)
        behind.append(100 * np.mean([linear(r.spec) - r.accuracy for r in joint]))
        logistic = f"{100 * np.mean([linear(r.spec) for r in joint]):.1f}"
        ours, t_loss, weighted = (
            f"{100 * np.mean([r.accuracy for r in mine if r.spec.method == method]):.1f}"
            for method in ("joint", "t-loss", "weighted")
        )
        true = f"{100 * np.mean([reference(r) for r in joint]):.1f}"
        splits = f"{len(joint)} ({sum(r.refused is not None for r in joint)})"
        cells = (row.dataset, row.family, row.rates, true, ours, f"{gap:.1f} ± {error:.1f}")
        cells = (*cells, most, f"{to_best:.1f} ± {best_error:.1f}")
        print("|", " | ".join(map(str, (*cells, logistic, t_loss, weighted, splits))), "|")
    if gaps:
        worst = f"worst {max(gaps):.2f}"
        print(f"\ngap: mean {np.mean(gaps):.2f}, median {np.median(gaps):.2f}, {worst}")
        print(
            f"gap to the best of four: mean {np.mean(far):.2f}, median {np.median(far):.2f}, "
            f"worst {max(far):.2f}"
        )
        print(
            f"behind logistic regression on true labels: mean {np.mean(behind):.2f}, "
            f"median {np.median(behind):.2f}"
        )


def main() -> None:
    others = load_records(RECORDS / "reproduction").items()
    records = {spec: record for spec, record in others if spec.method != "joint"}
    records |= load_records(RECORDS / "reproduction_joint")
    hardest = yardsticks(records)
    print(machine())
    for density in (20.0, 2.0):
        table(records, hardest, density)


if __name__ == "__main__":
    main()
