"""Whether few answers are better learnt from by a fixed mean of candidates than by the choice.

    python benchmarks/fixed_means.py [--splits 2] [--density 2]

On public tables of which no result is shown elsewhere (`keel_tables`), each split with another of
five noises. One search per cell; then the candidate that is chosen is replaced by

steady              the mean of ridge regression and 20 small trees
chosen and ridge    what is chosen, and ridge regression
chosen and trees    what is chosen, and 20 small trees
chosen and both     what is chosen, ridge regression and 20 small trees
kernel              logistic regression on a kernel map
small trees         20 small trees

Runs what benchmarks/records/fixed_means.jsonl lacks, and prints the mean change of the accuracy on
new items, in points ± standard error over cells, by how plainly the answers are explained.
"""

from __future__ import annotations

import argparse

from few_pairs import changes
from joint_stages import Begun, begin, finish
from keel_tables import PATHS, load
from noisypairs.app.experiments.problem import noise_of, split_table
from noisypairs.estimators.joint.choice import Choice
from protocol import machine, run

NAME = "fixed_means"
NOISES = (
    ("labeling", (0.3, 0.3)),
    ("labeling", (0.2, 0.2)),
    ("pairing", (0.3, 0.3)),
    ("pairing", (0.2, 0.2)),
    ("labeling", (0.1, 0.2)),
)
RIDGE, TREES = {"ridge": None}, {"small trees": 20}


def ways(choice: Choice) -> dict[str, dict[str, int | None]]:
    """Return the members of every mean, {name: number of stages or None}."""
    chosen = {
        name: getattr(choice.problem.items.split(choice.tuned[name])[1], "max_iter", None)
        if "trees" in name or name == "network"
        else None
        for name in choice.members
    }
    return {
        "as it is": chosen,
        "steady": RIDGE | TREES,
        "chosen and ridge": RIDGE | chosen,
        "chosen and trees": TREES | chosen,
        "chosen and both": RIDGE | TREES | chosen,
        "kernel": {"kernel, C=1": None},
        "small trees": TREES,
    }


def task(table: int, seed: int, density: float) -> dict:
    name = list(PATHS)[table]
    noise = noise_of(*NOISES[(table + 2 * seed) % len(NOISES)])
    begun: Begun = begin(split_table(*load(name), noise, pairs_per_item=density, seed=seed), seed)
    choice = begun.chosen()
    found = {way: finish(begun, begun.chosen(members)) for way, members in ways(choice).items()}
    return {"found": found, "nats_per_item": begun.nats_per_item, "chosen": choice.name}


def by_way(records: list[dict]) -> list[dict]:
    """Return a record for every way of every cell, as `few_pairs.changes` reads them."""
    rows = []
    for record in records:
        cell = record["cell"]
        for way, accuracy in record["found"].items():
            number = cell["table"] * 100 + cell["seed"]
            rows.append(
                {
                    "cell": {"seed": number, "density": cell["density"], "way": way},
                    "accuracy": accuracy,
                    "nats_per_item": record["nats_per_item"],
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--density", type=float, default=2.0, help="pairs per item")
    given = parser.parse_args()
    cells = [
        {"table": table, "seed": seed, "density": given.density}
        for seed in range(given.splits)
        for table in range(len(PATHS))
    ]
    print(machine())
    records = by_way(run(task, cells, NAME))
    changes(records, "way", list(dict.fromkeys(r["cell"]["way"] for r in records)), given.density)


if __name__ == "__main__":
    main()
