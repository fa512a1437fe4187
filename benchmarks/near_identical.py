"""Rows that are nearly identical: found where items were seen several times, and only there.

    python benchmarks/near_identical.py

"Plain" tables repeat nothing: 100 draws of each of 20 kinds, of 100 to 800 rows and 2 to 40
columns, and 13 real tables. "Repeated" tables hold every item several times, with noise of so many
standard deviations of the columns; 20 draws each. Prints how many tables are called repeated, and
the share of their rows. "Small clusters" look like items seen several times, and may be.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn import datasets as sk

from noisypairs import datasets
from noisypairs.pairs.groups import near_identical
from protocol import machine, run

SIZES, WIDTHS, N_PLAIN, N_REPEATED = (100, 150, 200, 400, 800), (2, 3, 5, 10, 20, 40), 100, 20


def scaled_rows(rng, n, d):
    return rng.normal(size=(n, d)) * rng.choice([1.0, 1e4], size=(n, 1))


def two_scales(rng, n, d):
    return rng.normal(size=(n, d)) * np.where(np.arange(n) % 2, 1.0, 0.05)[:, None]


def low_rank(rng, n, d):
    columns = rng.normal(size=(n, 3)) @ rng.normal(size=(3, d + 3))
    return columns + 0.05 * rng.normal(size=columns.shape)


def numbers_and_levels(rng, n, d):
    levels = np.eye(6)[rng.integers(6, size=(n, 2))].reshape(n, -1)
    return np.hstack([rng.normal(size=(n, d)), levels])


def blobs(rng, n, d, per_cluster):
    seed, centers = int(rng.integers(1 << 30)), max(2, n // per_cluster)
    return sk.make_blobs(n, max(d, 5), centers=centers, random_state=seed)[0]


def classification(rng, n, d):
    seed, d = int(rng.integers(1 << 30)), max(d, 6)
    return sk.make_classification(n, d, n_informative=d // 2, random_state=seed)[0]


def moons(rng, n, _):
    seed, noise = int(rng.integers(1 << 30)), rng.uniform(0.02, 0.3)
    return sk.make_moons(n, noise=noise, random_state=seed)[0]


PLAIN: dict[str, Callable] = {
    "normal": lambda rng, n, d: rng.normal(size=(n, d)),
    "correlated": lambda rng, n, d: rng.normal(size=(n, d)) @ rng.normal(size=(d, d)),
    "uniform": lambda rng, n, d: rng.uniform(size=(n, d)),
    "t, 3 degrees of freedom": lambda rng, n, d: rng.standard_t(3, size=(n, d)),
    "log-normal": lambda rng, n, d: rng.lognormal(size=(n, d)),
    "gamma, shape .5": lambda rng, n, d: rng.gamma(0.5, size=(n, d)),
    "rows scaled by 10⁴": scaled_rows,
    "half of the rows 20 times closer": two_scales,
    "three dimensions and noise": low_rank,
    "make_classification": classification,
    "clusters of 50": lambda rng, n, d: blobs(rng, n, d, 50),
    "clusters of 25": lambda rng, n, d: blobs(rng, n, d, 25),
    "moons": moons,
    "random walks": lambda rng, n, d: rng.normal(size=(n, d)).cumsum(axis=1),
    "one decimal": lambda rng, n, d: rng.normal(size=(n, d)).round(1),
    "whole numbers 0 to 29": lambda rng, n, d: rng.integers(30, size=(n, d)),
    "Poisson counts, mean 3": lambda rng, n, d: rng.poisson(3.0, size=(n, d)),
    "70 % zeros": lambda rng, n, d: rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3),
    "zeros and ones": lambda rng, n, d: rng.integers(2, size=(n, d)),
    "numbers and levels": numbers_and_levels,
}
SMALL = {"small clusters, of 12": 12, "small clusters, of 8": 8}
REAL = {
    "iris": lambda: sk.load_iris().data,
    "wine": lambda: sk.load_wine().data,
    "digits": lambda: sk.load_digits().data,
    "diabetes (progression)": lambda: sk.load_diabetes(scaled=False).data,
    **{name: lambda name=name: datasets.load(name)[0] for name in datasets.names()},
}
#: Items, rows of each (1 to r with "to"), noise, columns.
REPEATED = {
    "100 items, 4 rows, noise .3, 10 columns": (100, 4, 0.3, 10),
    "100 items, 2 rows, noise .3, 10 columns": (100, 2, 0.3, 10),
    "100 items, 8 rows, noise .3, 10 columns": (100, 8, 0.3, 10),
    "100 items, 4 rows, noise .1, 10 columns": (100, 4, 0.1, 10),
    "100 items, 4 rows, noise .5, 10 columns": (100, 4, 0.5, 10),
    "100 items, 4 rows, noise .3, 5 columns": (100, 4, 0.3, 5),
    "100 items, 4 rows, noise .3, 3 columns": (100, 4, 0.3, 3),
    "100 items, 4 rows, noise .05, 3 columns": (100, 4, 0.05, 3),
    "100 items, 4 rows, noise .3, 50 columns": (100, 4, 0.3, 50),
    "1,000 items, 3 rows, noise .3, 10 columns": (1000, 3, 0.3, 10),
    "1,000 items, one in ten with 3 rows, noise .2, 10 columns": (1000, -3, 0.2, 10),
}


def repeated(rng, n_items, n_rows, noise, d):
    items = rng.normal(size=(n_items, d))
    times = np.where(rng.random(n_items) < 0.1, -n_rows, 1) if n_rows < 0 else n_rows
    rows = items.repeat(times, axis=0)
    return rows + noise * rng.normal(size=rows.shape)


def task(kind: str, name: str) -> dict:
    if kind == "real":
        found = near_identical(REAL[name]())
        return {"tables": 1, "found": int(found.n_near > 0), "share": found.n_near / found.n_rows}
    shares = []
    for seed in range(N_REPEATED if kind == "repeated" else N_PLAIN):
        rng = np.random.default_rng([seed, len(name)])
        n, d = SIZES[seed % len(SIZES)], WIDTHS[seed % len(WIDTHS)]
        if kind == "repeated":
            X = repeated(rng, *REPEATED[name])
        else:
            X = blobs(rng, n, d, SMALL[name]) if name in SMALL else PLAIN[name](rng, n, d)
        found = near_identical(X)
        shares.append(found.n_near / found.n_rows)
    hits = [share for share in shares if share > 0]
    share = float(np.mean(hits)) if hits else 0.0
    return {"tables": len(shares), "found": len(hits), "share": share}


def main() -> None:
    names = {"plain": PLAIN, "real": REAL, "repeated": REPEATED, "small": SMALL}
    cells = [{"kind": kind, "name": name} for kind, those in names.items() for name in those]
    records = {tuple(one["cell"].values()): one for one in run(task, cells, "near_identical")}
    print(machine(), end="\n\n")
    print("| table | tables | called repeated | share of their rows |")
    print("|---|---|---|---|")
    for kind, those in names.items():
        of_kind = [records[kind, name] for name in those]
        for name, one in zip(those, of_kind, strict=True):
            print(f"| {name} | {one['tables']} | {one['found']} | {one['share']:.2f} |")
        tables, found = (sum(one[what] for one in of_kind) for what in ("tables", "found"))
        print(f"| **{kind}, all** | {tables} | {found} | |")


if __name__ == "__main__":
    main()
