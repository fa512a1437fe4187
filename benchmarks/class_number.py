"""The number of classes: left open against given, 2 to 40 classes.

    python benchmarks/class_number.py [--label 0.3.0] [--draws 20] [--classes 2 3 5] [--print]

Gaussian classes in ten columns, at least 300 items and 40 per class. Every twenty draws combine
even sizes and sizes from 1 to 4, clear and weak features, and 8, 11, 15, 20 and 25 answers per
item. The rates vary: similar_flip .1 to .25, dissimilar_flip .05 to .15. Each draw is fitted with
``n_classes="auto"``, with the true number, and from five classes on with a quarter of it.

The tables show for each number of classes: how often the number found is within 10 % of the truth
where the true number, given, puts 90 % of the compared items right; the share of compared items
right; classes without an item; the processor time of "auto" over that of the given number; and how
often a `ClassNumberWarning` came where the estimated similar_flip passes one half. Runs what
``records/class_number.jsonl`` lacks. --quick makes two draws of each number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from draws import Draw, compared, gaussian_classes, mean_flips
from noisypairs.metrics import accuracy_up_to_names
from protocol import attempt, machine, options, read, run, select, versions

NAME = "class_number"
CLASSES = (2, 3, 5, 8, 12, 20, 25, 40)
DENSITIES = (15, 25, 8, 20, 11)
#: Even sizes, features; by the draw's number modulo four.
KINDS = ((True, "clear"), (False, "weak"), (True, "weak"), (False, "clear"))
FEWEST_ITEMS, ITEMS_PER_CLASS, SKEW = 300, 40, 4.0
#: A draw counts for the number found where the true number puts this share right.
WELL = 0.9


def setting(draw: int) -> dict[str, Any]:
    """Return what varies from draw to draw; any twenty in a row hold each combination once."""
    even, features = KINDS[draw % 4]
    return {"even": even, "features": features, "answers_per_item": DENSITIES[draw % 5]}


def problem(n_classes: int, draw: int) -> Draw:
    chosen = setting(draw)
    rng = np.random.default_rng([draw, n_classes, 1])
    return gaussian_classes(
        n_classes,
        max(FEWEST_ITEMS, ITEMS_PER_CLASS * n_classes),
        chosen["answers_per_item"],
        features=chosen["features"],
        skew=1.0 if chosen["even"] else SKEW,
        rates=(float(rng.uniform(0.1, 0.25)), float(rng.uniform(0.05, 0.15))),
        seed=draw,
    )


def fit(data: Draw, n_classes: Any) -> dict[str, Any]:
    """Return what a fit found: number, share of compared items right, empty classes, time."""
    done = attempt(data.X, data.pairs, None, n_classes)
    if done.model is None:
        return done.facts | {"n_classes": 1, "right": 0.0, "empty": 0, "similar_flip": None}
    items = compared(data.pairs)
    said = done.model.item_proba_[items].argmax(axis=1)
    return done.facts | {
        "n_classes": int(done.model.n_classes_),
        "right": accuracy_up_to_names(data.y[items], said),
        "empty": int(done.model.n_classes_) - len(np.unique(said)),
        "similar_flip": mean_flips(done.model)[0],
    }


def task(version: str, n_classes: int, draw: int) -> dict[str, Any]:  # noqa: ARG001
    data = problem(n_classes, draw)
    found = {"auto": fit(data, "auto"), "given": fit(data, n_classes)}
    if n_classes >= 5:
        found["few"] = fit(data, max(2, n_classes // 4))
    return {"setting": setting(draw), **found}


def near(record: dict[str, Any]) -> bool:
    """Return whether the number found is within 10 % of the true one."""
    true = record["cell"]["n_classes"]
    return bool(abs(record["auto"]["n_classes"] - true) <= 0.1 * true)


def warned(records: list[dict[str, Any]]) -> str:
    """Return how many fits whose similar_flip passes ½ came with a warning about the number."""
    fits = [r[way] for r in records for way in ("auto", "given", "few") if way in r]
    high = [one for one in fits if (one["similar_flip"] or 0) > 0.5]
    said = [any("ClassNumberWarning" in text for text in one["warnings"]) for one in high]
    return f"{sum(said)} of {len(high)}"


def row(records: list[dict[str, Any]]) -> list[str]:
    well = [r for r in records if r["given"]["right"] >= WELL]
    ratios = [r["auto"]["seconds"] / r["given"]["seconds"] for r in records]
    right = [f"{np.mean([r[way]['right'] for r in records]):.3f}" for way in ("given", "auto")]
    return [
        f"{sum(map(near, well))} of {len(well)}",
        f"{sum(map(near, records))} of {len(records)}",
        *right,
        str(sum(r[way]["empty"] for r in records for way in ("auto", "given"))),
        f"{np.median(ratios):.1f}, {max(ratios):.1f}",
        warned(records),
        str(sum(r[way]["error"] is not None for r in records for way in ("auto", "given"))),
    ]


def table(records: list[dict[str, Any]], first: str, groups: dict[str, Callable]) -> None:
    heads = ["within 10 %, K given ≥ .9", "within 10 %", "right, K given", "right, auto"]
    heads += ["empty", "time auto/given, median and most", "warned at flip > ½", "errors"]
    print(f"\n| version | {first} | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 2)}")
    for version in versions(records):
        for name, holds in groups.items():
            mine = [r for r in select(records, version=version) if holds(r)]
            if mine:
                print(f"| {version} | {name} | {' | '.join(row(mine))} |")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--draws", type=int, default=20, help="draws of each number of classes")
    parser.add_argument("--classes", type=int, nargs="+", default=CLASSES)
    given = parser.parse_args()
    cells = [
        {"version": given.label, "n_classes": K, "draw": draw}
        for draw in range(2 if given.quick else given.draws)
        for K in given.classes
    ]
    records = read(NAME) if given.only_print else run(task, cells, NAME)
    print(machine())
    by_number = {str(K): lambda r, K=K: r["cell"]["n_classes"] == K for K in CLASSES}
    table(records, "classes", by_number | {"all": lambda _: True})
    kinds = {
        f"{'even' if even else 'uneven'}, {features}": lambda r, even=even, features=features: (
            (r["setting"]["even"], r["setting"]["features"]) == (even, features)
        )
        for even, features in KINDS
    }
    table(records, "sizes, features", kinds)
    print("\n| version | classes | found |\n|---|---|---|")
    for version in versions(records):
        for K in CLASSES:
            mine = select(records, version=version, n_classes=K)
            if mine:
                print(f"| {version} | {K} | {sorted(r['auto']['n_classes'] for r in mine)} |")


if __name__ == "__main__":
    main()
