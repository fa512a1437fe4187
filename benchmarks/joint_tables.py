"""The joint learner, with nothing told, on the 18 settings of the paper's Tables 1 and 2.

    python benchmarks/joint_tables.py [pairs per item: 20 and 2 by default]

Ten splits (adult and magic: three). Beside it: the same estimator trained on the true labels, and
the paper's two learners with rates and prior estimated. Where a learner refuses, for want of
signal, the larger class for everything is counted in its place. Prints the tables of docs/joint.md.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.base import clone

from noisypairs import (
    JointPairClassifier,
    LossCorrectionClassifier,
    NotIdentifiable,
    WeightedPairClassifier,
)
from noisypairs.estimators.defaults import default_candidates
from noisypairs.metrics import accuracy_up_to_names
from protocol import PAPER_SETTINGS, machine, mean_error, noise_of, run, split

LARGE = ("adult", "magic")
POINTWISE = {"correction": LossCorrectionClassifier, "weighted": WeightedPairClassifier}


def task(name, family, rates, pairs_per_item, seed):
    noise = noise_of(family, tuple(rates))
    data = split(name, noise, pairs_per_item=pairs_per_item, seed=seed)
    record = joint_record(data, seed)
    for kind, learner in POINTWISE.items():
        try:
            model = learner(noise_model=family, random_state=seed).fit(data.X, data.pairs)
            record[kind] = accuracy_up_to_names(data.y_test, model.predict(data.X_test))
        except NotIdentifiable:
            record[kind] = constant(data)
    return record


def constant(data):
    """Return the accuracy of calling every item by the larger class."""
    return float(max(data.y_test.mean(), 1 - data.y_test.mean()))


def joint_record(data, seed):
    start = time.perf_counter()
    try:
        joint = JointPairClassifier(random_state=seed).fit(data.X, data.pairs)
    except NotIdentifiable:
        linear = clone(default_candidates(data.X, seed)["linear"]).fit(data.X, data.y)
        clean = float(np.mean(linear.predict(data.X_test) == data.y_test))
        return {"joint": constant(data), "clean": clean, "refused": True}
    clean = clone(joint.estimator_).fit(data.X, data.y)
    return {
        "seconds": time.perf_counter() - start,
        "joint": accuracy_up_to_names(data.y_test, joint.predict(data.X_test)),
        "clean": float(np.mean(clean.predict(data.X_test) == data.y_test)),
        "noise_model": joint.noise_model_,
        "noise": str(joint.noise_),
        "training_items": accuracy_up_to_names(data.y, joint.item_proba_.argmax(axis=1)),
        "log_likelihood": joint.log_likelihood_,
    }


def table(records: list[dict], density: float) -> None:
    print(f"\n{density:g} pairs per training item\n")
    print("| dataset | noise | rates | true labels | joint | gap ± s.e. ", end="")
    print("| correction | weighted | splits (refused) |")
    print("|---|---|---|---|---|---|---|---|---|")
    gaps = []
    for name, family, rates in PAPER_SETTINGS:
        mine = [
            r
            for r in records
            if (r["cell"]["name"], tuple(r["cell"]["rates"]), r["cell"]["pairs_per_item"])
            == (name, rates, density)
        ]
        if not mine:
            continue
        gap, error = mean_error(100 * (r["clean"] - r["joint"]) for r in mine)
        gaps.append(gap)
        means = {
            k: mean_error(100 * r[k] for r in mine)[0]
            for k in ("clean", "joint", "correction", "weighted")
        }
        print(
            f"| {name} | {family} | {rates} | {means['clean']:.1f} | {means['joint']:.1f} | "
            f"{gap:.1f} ± {error:.1f} | {means['correction']:.1f} | {means['weighted']:.1f} | "
            f"{len(mine)} ({sum(r.get('refused', False) for r in mine)}) |"
        )
    print(f"\ngap: mean {np.mean(gaps):.2f}, median {np.median(gaps):.2f}, worst {max(gaps):.2f}")


def main() -> None:
    densities = [float(word) for word in sys.argv[1:]] or [20.0, 2.0]
    cells = [
        {
            "name": name,
            "family": family,
            "rates": list(rates),
            "pairs_per_item": density,
            "seed": seed,
        }
        for large in (False, True)
        for density in densities
        for seed in range(3 if large else 10)
        for name, family, rates in PAPER_SETTINGS
        if (name in LARGE) == large
    ]
    records = run(task, cells, "joint_tables")
    print(machine())
    for density in densities:
        table(records, density)


if __name__ == "__main__":
    main()
