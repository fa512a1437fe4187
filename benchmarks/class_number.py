"""How often the number of classes is chosen rightly: simulated problems with 2 to 6 classes.

    python benchmarks/class_number.py [--runs 2]        go on with the record and print the table
    python benchmarks/class_number.py --print           print the table of the record

Gaussian classes in six dimensions, 300 items, pairing noise; the smallest class is as large as the
largest, a third of it, or a tenth. Nothing but items and answers is given.
"""

from __future__ import annotations

import argparse
import json
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from noisypairs import PairingNoise, Pairs, sample_pairs
from noisypairs.app.fit.class_number import choose_class_number

RECORD = Path(__file__).parent / "records" / "class_number.jsonl"
CLASSES, DENSITIES, RATES, SKEWS = (2, 3, 4, 5, 6), (5, 10), (0.2, 0.3), (1, 3, 10)
N_ITEMS, N_FEATURES, SPREAD = 300, 6, 1.55


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
            found = choose_class_number(*problem(**setting), CLASSES)
            row = setting | {"chosen": found.chosen, "scores": dict(found.scores)}
            with RECORD.open("a") as file:
                file.write(json.dumps(row) + "\n")


def share(values: list[bool]) -> str:
    """Return a share in percent with its standard error."""
    p = float(np.mean(values))
    return f"{100 * p:.0f} ± {100 * np.sqrt(p * (1 - p) / len(values)):.0f}"


def table(found: list[dict[str, Any]]) -> str:
    """Return the share of right choices by density, rate and skew, and by number of classes."""
    lines = ["| pairs per item | wrong | smallest : largest | right, % | at most 1 off, % | n |"]
    lines.append("|---|---|---|---|---|---|")
    for density, rate, skew in product(DENSITIES, RATES, SKEWS):
        here = [r for r in found if (r["density"], r["rate"], r["skew"]) == (density, rate, skew)]
        right = share([r["chosen"] == r["n_classes"] for r in here])
        near = share([abs(r["chosen"] - r["n_classes"]) <= 1 for r in here])
        lines.append(
            f"| {density} | {100 * rate:.0f} % | 1 : {skew} | {right} | {near} | {len(here)} |"
        )
    lines += ["", "| classes | right, % | too few, % | too many, % | n |", "|---|---|---|---|---|"]
    for K in CLASSES:
        chosen = [r["chosen"] for r in found if r["n_classes"] == K]
        parts = ([c == K for c in chosen], [c < K for c in chosen], [c > K for c in chosen])
        lines.append(f"| {K} | {' | '.join(map(share, parts))} | {len(chosen)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--print", action="store_true", dest="only_print")
    given = parser.parse_args()
    if not given.only_print:
        go_on(given.runs)
    print(table(rows()))
