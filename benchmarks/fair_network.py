"""The joint learner against a network on the same pairs, nothing given, on six tables.

    python benchmarks/fair_network.py [--only diabetes …] [--methods joint network]
        [--densities 2 10] [--splits 5] [--forget joint]

network   two hidden layers of 100 ReLU, Adam, P(same) = η(x)ᵀ S η(x') with both rates learnt; best
          of three starts, each stopped by a tenth of the answers (`pair_network`)
joint     JointPairClassifier(random_state=seed); where it refuses, the larger class is counted

Tables: four of the paper's, and two where trees win (`tree_tables`). Noise is pairing (.2, .2) and
(.3, .3), and labeling (.1, .2). Both learners see the same standardised items and the same pairs.
Accuracy is that on new items (a quarter) after the better matching of class names. Seconds are
processor seconds of one thread; for times, set JOBS=1 and OMP_NUM_THREADS=1. Runs what the record
lacks, then prints the table from the record. --forget drops the cells of a method first; with
--methods and no name after it nothing is run.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict

import numpy as np
from sklearn.metrics import accuracy_score

import torch
from noisypairs import JointPairClassifier, NotIdentifiable, PairingNoise, datasets
from noisypairs.experiments.problem import Problem, noise_of, split_table
from noisypairs.metrics import accuracy_up_to_names
from pair_network import fit_pair_network
from protocol import RECORDS, machine, mean_error, read, run
from tree_tables import problem

NAME = "fair_network"
#: Splits of each table; the two large ones have fewer.
SPLITS = {"diabetes": 5, "phoneme": 5, "churn": 5, "spambase": 5, "magic": 3, "adult": 3}
NOISES = (("pairing", (0.2, 0.2)), ("pairing", (0.3, 0.3)), ("labeling", (0.1, 0.2)))
DENSITIES = (2.0, 10.0)
#: Rows with fewer splits of both methods are shown, and left out of the summary.
FEWEST_SPLITS = 3


def task(dataset, family, rates, density, seed, method):
    data = problem(dataset, noise_of(family, rates), density, seed)
    warm_up(method)
    start = time.process_time()
    predicted, details = METHODS[method](data, seed)
    seconds = time.process_time() - start
    return {"accuracy": _accuracy(data, predicted), "seconds": seconds, **details}


#: Methods that were run once in this process.
WARM: set[str] = set()


def warm_up(method: str) -> None:
    """Run a method once on a small problem, so that what it imports late is not timed."""
    if method in WARM:
        return
    WARM.add(method)
    X, y = datasets.gaussians(n_samples=60, random_state=0)
    METHODS[method](split_table(X, y, PairingNoise(0.3, 0.3), pairs_per_item=2), 0)


def _accuracy(data: Problem, predicted: np.ndarray | None) -> float:
    if predicted is None:  # refused
        larger = np.full(len(data.y_test), np.bincount(data.y).argmax())
        return float(accuracy_score(data.y_test, larger))
    return accuracy_up_to_names(data.y_test, predicted)


def network(data: Problem, seed: int):
    torch.set_num_threads(1)
    kept = fit_pair_network(data.X, data.pairs, seed)
    return kept.predict(data.X_test), {"epochs": kept.epochs, "rates_found": kept.rates}


def joint(data: Problem, seed: int):
    try:
        model = JointPairClassifier(n_classes=2, random_state=seed).fit(data.X, data.pairs)
    except NotIdentifiable as error:
        return None, {"candidate": None, "refused": str(error)}
    return model.predict(data.X_test), {"candidate": model.candidate_, "refused": None}


METHODS = {"network": network, "joint": joint}


def cells(only: list[str], methods: list[str], densities: list[float], splits: int) -> list[dict]:
    return [
        {
            "dataset": dataset,
            "family": family,
            "rates": list(rates),
            "density": density,
            "seed": seed,
            "method": method,
        }
        for dataset in only
        for density in densities
        for seed in range(min(splits, SPLITS[dataset]))
        for family, rates in NOISES
        for method in methods
    ]


def forget(methods: list[str]) -> None:
    """Drop the cells of these methods from the record."""
    kept = [record for record in read(NAME) if record["cell"]["method"] not in methods]
    path = RECORDS / f"{NAME}.jsonl"
    temporary = path.with_suffix(".tmp")
    temporary.write_text("".join(json.dumps(record) + "\n" for record in kept))
    os.replace(temporary, path)


def by_row(records: list[dict]) -> dict[tuple, dict[str, dict[int, dict]]]:
    """Return row → method → split → record, rows in the order of the tables above."""
    rows: dict = defaultdict(lambda: defaultdict(dict))
    for record in records:
        cell = record["cell"]
        row = (cell["dataset"], cell["density"], cell["family"], tuple(cell["rates"]))
        rows[row][cell["method"]][cell["seed"]] = record
    places = {name: place for place, name in enumerate(SPLITS)}
    return dict(sorted(rows.items(), key=lambda item: (places[item[0][0]], item[0][1:])))


def table(records: list[dict]) -> None:
    rows = by_row(records)
    print("\n| dataset | pairs per item | noise | rates | network | s | joint | s ", end="")
    print("| joint − network ± s.e. | time ratio | splits (refused) |\n|" + "---|" * 11)
    gaps, ratios = {}, {}
    for row, found in rows.items():
        shown = [text for method in METHODS for text in _shown(found[method])]
        both = sorted(found["network"].keys() & found["joint"].keys())
        difference = ratio = "—"
        if both:
            pairs = [(found["joint"][k], found["network"][k]) for k in both]
            gaps[row] = {k: 100 * _minus(found, k) for k in both}
            mean, error = mean_error(gaps[row].values())
            difference = f"{mean:+.1f} ± {error:.1f}"
            ratios[row] = sum(j["seconds"] for j, _ in pairs) / sum(n["seconds"] for _, n in pairs)
            ratio = f"{ratios[row]:.2f}"
        refused = sum(record["refused"] is not None for record in found["joint"].values())
        splits = f"{len(both)} ({refused})" if both else str(len(found["network"]))
        dataset, density, family, rates = row
        line = (dataset, f"{density:g}", family, rates, *shown, difference, ratio, splits)
        print("|", " | ".join(map(str, line)), "|")
    enough = {row: gap for row, gap in gaps.items() if len(gap) >= FEWEST_SPLITS}
    if enough:
        summary(enough, {row: ratios[row] for row in enough})


def _shown(found: dict[int, dict]) -> tuple[str, str]:
    if not found:
        return "—", "—"
    accuracy = 100 * np.mean([record["accuracy"] for record in found.values()])
    return f"{accuracy:.1f}", f"{np.mean([record['seconds'] for record in found.values()]):.1f}"


def _minus(found: dict[str, dict[int, dict]], split_number: int) -> float:
    joint, network = (found[method][split_number]["accuracy"] for method in ("joint", "network"))
    return joint - network


def summary(gaps: dict[tuple, dict[int, float]], ratios: dict[tuple, float]) -> None:
    mean, error = mean_of_rows(gaps)
    print(f"\njoint − network, mean of {len(gaps)} rows: {mean:+.2f} ± {error:.2f} points")
    found = [mean_error(gap.values()) for gap in gaps.values()]
    behind = sum(mean < -error for mean, error in found)
    ahead = sum(mean > error for mean, error in found)
    print(f"behind by more than one s.e.: {behind} rows; ahead by more than one s.e.: {ahead} rows")
    slower = sum(ratio > 1 for ratio in ratios.values())
    print(f"joint slower: {slower} rows; median time ratio {np.median(list(ratios.values())):.2f}")


def mean_of_rows(gaps: dict[tuple, dict[int, float]]) -> tuple[float, float]:
    """Return the mean over rows and its standard error.

    Rows of one table share their splits, so the error is that over the splits of each table, of
    the mean over its rows; tables are independent.
    """
    tables = {row[0] for row in gaps}
    variance = 0.0
    for name in tables:
        mine = [gap for row, gap in gaps.items() if row[0] == name]
        shared = set.intersection(*(set(gap) for gap in mine))
        _, error = mean_error(np.mean([gap[k] for gap in mine]) for k in sorted(shared))
        variance += (len(mine) * error) ** 2
    means = [np.mean(list(gap.values())) for gap in gaps.values()]
    return float(np.mean(means)), float(np.sqrt(variance) / len(gaps))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SPLITS, default=list(SPLITS))
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--densities", nargs="+", type=float, default=list(DENSITIES))
    parser.add_argument("--splits", type=int, default=max(SPLITS.values()), help="at most so many")
    parser.add_argument("--forget", nargs="+", choices=METHODS, default=[])
    given = parser.parse_args()
    if given.forget:
        forget(given.forget)
    print(machine())
    todo = cells(given.only, given.methods, given.densities, given.splits)
    table(run(task, todo, NAME))


if __name__ == "__main__":
    main()
