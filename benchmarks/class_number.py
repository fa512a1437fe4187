"""How often the number of classes is chosen rightly: simulated problems with 2 to 6 classes.

    python benchmarks/class_number.py [--runs 3]        go on with the record and print the table
    python benchmarks/class_number.py --print           print the table of the record

Gaussian classes in six dimensions, 400 items, pairing noise; the smallest class is as large as the
largest, a third of it, or a tenth. Nothing but items and answers is given. Beside the choice: whether
two classes, where there are more, and the true number draw a `ClassNumberWarning`.
"""

from __future__ import annotations

import argparse
import json
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from noisypairs import (
    ClassNamesWarning,
    ClassNumberWarning,
    JointPairClassifier,
    PairingNoise,
    Pairs,
    sample_pairs,
)

RECORD = Path(__file__).parent / "records" / "class_number.jsonl"
CLASSES, DENSITIES, RATES, SKEWS = (2, 3, 4, 5, 6), (5, 10), (0.2, 0.3), (1, 3, 10)
N_ITEMS, N_FEATURES, SPREAD = 400, 6, 1.55


def problem(n_classes: int, density: int, rate: float, skew: int, run: int) -> tuple[Any, Pairs]:
    """Return items and noisy pairs of them; class sizes grow in equal steps of their logarithm."""
    random = np.random.default_rng([run, n_classes, density, round(100 * rate), skew])
    share = np.geomspace(1, skew, n_classes)
    ends = np.round(np.cumsum(share / share.sum()) * N_ITEMS)
    y = random.permutation(np.searchsorted(ends, np.arange(N_ITEMS), side="right"))
    means = SPREAD * random.normal(size=(n_classes, N_FEATURES))
    X = means[y] + random.normal(size=(N_ITEMS, N_FEATURES))
    seed = int(random.integers(2**31))
    return X, sample_pairs(y, density * N_ITEMS, PairingNoise(rate, rate), random_state=seed)


def fit(X: Any, pairs: Pairs, n_classes: Any) -> tuple[int, bool]:
    """Return how many classes were learnt, and whether more were said to explain better."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ClassNamesWarning)
        clf = JointPairClassifier(n_classes=n_classes, random_state=0).fit(X, pairs)
    return clf.n_classes_, any(issubclass(one.category, ClassNumberWarning) for one in caught)


def measure(setting: dict[str, Any]) -> dict[str, Any]:
    """Choose the number, then fit two classes and the true number; return the row of the record."""
    X, pairs = problem(**setting)
    K = setting["n_classes"]
    chosen, _ = fit(X, pairs, "auto")
    _, too_few = fit(X, pairs, 2) if K > 2 else (2, None)
    _, right = fit(X, pairs, K)
    return setting | {"chosen": chosen, "warned_at_two": too_few, "warned_at_truth": right}


def rows() -> list[dict[str, Any]]:
    """Return the record as it is."""
    return [json.loads(line) for line in RECORD.read_text().splitlines()] if RECORD.exists() else []


def go_on(runs: int) -> None:
    """Measure what the record lacks, run by run, so that every setting has as many."""
    settings = [
        {"n_classes": K, "density": density, "rate": rate, "skew": skew, "run": run}
        for run, K, density, rate, skew in product(range(runs), CLASSES, DENSITIES, RATES, SKEWS)
    ]
    done = [{key: row[key] for key in settings[0]} for row in rows()]
    for setting in settings:
        if setting not in done:
            row = measure(setting)
            with RECORD.open("a") as file:
                file.write(json.dumps(row) + "\n")


def share(values: list[bool]) -> str:
    """Return a share in percent with its standard error."""
    p = float(np.mean(values))
    return f"{100 * p:.0f} ± {100 * np.sqrt(p * (1 - p) / len(values)):.0f}"


def table(found: list[dict[str, Any]]) -> str:
    """Return the share of right choices by density, rate and skew, and by number of classes."""
    lines = ["| pairs per item | wrong | smallest : largest | right | 1 off or right | n |"]
    lines.append("|---|---|---|---|---|---|")
    for density, rate, skew in product(DENSITIES, RATES, SKEWS):
        here = [r for r in found if (r["density"], r["rate"], r["skew"]) == (density, rate, skew)]
        right = share([r["chosen"] == r["n_classes"] for r in here])
        near = share([abs(r["chosen"] - r["n_classes"]) <= 1 for r in here])
        lines.append(
            f"| {density} | {100 * rate:.0f} % | 1 : {skew} | {right} | {near} | {len(here)} |"
        )
    lines += ["", "| classes | right | too many | two given: warned | true number given: warned |"]
    lines.append("|---|---|---|---|---|")
    for K in CLASSES:
        here = [r for r in found if r["n_classes"] == K]
        right = share([r["chosen"] == K for r in here])
        many = share([r["chosen"] > K for r in here])
        two = "" if K == 2 else share([r["warned_at_two"] for r in here])
        truth = share([r["warned_at_truth"] for r in here])
        lines.append(f"| {K} | {right} | {many} | {two} | {truth} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--print", action="store_true", dest="only_print")
    given = parser.parse_args()
    if not given.only_print:
        go_on(given.runs)
    print(table(rows()))
