"""Chosen pairs against random ones: index and accuracy after so many answers.

    NOISYPAIRS_DATA=… python benchmarks/active.py --sets ecoli,user_knowledge,mnist,yeast --runs 5
    NOISYPAIRS_DATA=… python benchmarks/active.py --sets 20newsgroups --runs 5
    NOISYPAIRS_DATA=… python benchmarks/active.py --dogs --runs 5
    python benchmarks/active.py --time          seconds for 100 pairs among 1,000 items, 20 classes
    python benchmarks/active.py --print         the tables of docs/ask.md, from the record

Sets of ``active/*.npz`` in the data folder. At level v a share v of the answers is replaced by a
coin toss, so that v/2 are wrong. The loop: `first_pairs`, one answer per item; fit; `next_pairs`,
half an answer per item (one from four answers per item on, and always of 20newsgroups); fit again
with ``warm_start=True``; and so on. Where the answers show no classes yet (`NotIdentifiable`), more
first pairs are asked. Random pairs go through the same loop. To save time, one of the default
candidates, logistic regression on a kernel map, stands inside the learner, and the noise has two
rates. A run ends when the adjusted Rand index of the items reaches .95, or at the most answers;
where others go on, its last index stands.

Dogs: recorded answers of people, "same breed?", one per pair, are replayed; only recorded pairs can
be asked. The number of classes, three, is given, and the learner chooses its classifier and noise.
Accuracy is that of the photos up to class names. To see what is due to people, the same pairs are
also answered by coins: at the rates of these people, and independently of each other.
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from noisypairs import JointPairClassifier, NotIdentifiable, Pairs, first_pairs
from noisypairs.assess import choose_pairs
from noisypairs.estimators.inner.classifiers import default_candidates
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.pairs.counts import pair_ends, pair_keys
from protocol import machine, mean_error, read, run

FOUR, LEVELS = ("ecoli", "user_knowledge", "mnist", "yeast"), (0.2, 0.4)
CLASSES, WAYS = ("unknown", "given"), ("chosen", "random")
DOG_ANSWERS = ("people", "coins")
#: The most answers per item of chosen and of random pairs.
MOST = {0.2: (8, 12), 0.4: (12, 20)}
MOST_NEWS = {0.2: (25, 20), 0.4: (40, 20)}
REACHED, DONE = 0.9, 0.95
#: Answers per item until the mean index is .9: best recorded method, and its random pairs.
RECORDED = {
    0.2: {"ecoli": (33, 49), "user_knowledge": (36, 58), "mnist": (59, 146), "yeast": (66, 132)},
    0.4: {"ecoli": (42, 66), "user_knowledge": (45, 77), "mnist": (78, 193), "yeast": (81, 174)},
}
RECORDED[0.2]["20newsgroups"], RECORDED[0.4]["20newsgroups"] = (94, 176), (126, 235)


def folder() -> Path:
    return Path(os.environ["NOISYPAIRS_DATA"])


def load(name):
    with np.load(folder() / "active" / f"{name}.npz") as data:
        return data["X"].astype(float), data["y"].astype(int)


def people(y, level, rng):
    """Return who answers: right, but for a share ``level`` of coin tosses."""

    def answer(left, right):
        tossed = rng.random(len(left)) < level
        return np.where(tossed, rng.random(len(left)) < 0.5, y[left] == y[right])

    return answer


def learner(X, n_classes, seed):
    inside = default_candidates(X, seed)["kernel, C=15"]
    options = {"noise_model": "pairing", "random_state": seed, "warm_start": True}
    return JointPairClassifier(inside, n_classes, **options)


def set_task(name, level, classes, way, run):
    X, y = load(name)
    rng = np.random.default_rng(run)
    most = (MOST_NEWS if name == "20newsgroups" else MOST)[level][way == "random"]
    answer = people(y, level, rng)
    model = learner(X, len(np.unique(y)) if classes == "given" else "auto", run)
    near = 0.5 if way == "chosen" else 0.0
    ask, pairs, curve = first_pairs(X, len(y), near_share=near, random_state=rng), None, []
    while True:
        given = ask.left, ask.right, answer(ask.left, ask.right)
        if pairs is None:
            pairs = Pairs(*given, n_items=len(y), chosen=ask.chosen)
        else:
            pairs = pairs.with_answers(*given, chosen=ask.chosen)
        begun = time.process_time()
        step = len(y) if name == "20newsgroups" or pairs.n_pairs > 3.9 * len(y) else len(y) // 2
        try:
            model.fit(X, pairs)
        except NotIdentifiable:
            asked = pairs.left, pairs.right
            ask = first_pairs(X, step, asked=asked, near_share=near, random_state=rng)
            row = {"index": 0.0, "classes": 0}
        else:
            share = 1.0 if way == "random" else 0.2
            row = {"classes": int(model.n_classes_)}
            row["index"] = float(adjusted_rand_score(y, model.item_proba_.argmax(axis=1)))
            row["seconds"] = round(time.process_time() - begun, 2)
            ask = model.next_pairs(step, random_share=share, random_state=rng)
        curve.append({"answers": round(pairs.n_pairs / len(y), 1), **row})
        if row["index"] >= DONE or pairs.n_pairs >= most * len(y):
            return {"curve": curve}


def dogs_task(way, run, answers):
    X = pd.read_csv(folder() / "crowd_dogs3/features_effnetlite0_pca64.csv")
    X = X.drop(columns="item").to_numpy()
    y = pd.read_csv(folder() / "crowd_dogs3/items.csv")["true_class"].to_numpy()
    asked = pd.read_csv(folder() / "crowd_dogs3/pairs.csv").query("query_type == 'radio2'")
    rng = np.random.default_rng(run)
    asked = asked.iloc[rng.permutation(len(asked))]
    key = pair_keys(asked["item_a"].to_numpy(), asked["item_b"].to_numpy(), len(y))
    pool, first = np.unique(key, return_index=True)
    said = asked["same"].to_numpy()[first].astype(bool)
    if answers == "coins":
        alike = np.equal(*(y[end] for end in pair_ends(pool, len(y))))
        said = rng.random(len(pool)) < np.where(alike, said[alike].mean(), said[~alike].mean())
    everything = pair_keys(*np.triu_indices(len(y), 1), len(y))
    closed = np.setdiff1d(everything, pool)  # no recorded answer
    model = JointPairClassifier(n_classes=3, random_state=run, warm_start=True)
    curve = []
    done = rng.choice(pool, len(y), replace=False)
    chosen = np.zeros(len(done), dtype=bool)
    while True:
        pairs = Pairs(
            *pair_ends(done, len(y)), said[np.searchsorted(pool, done)], len(y), chosen=chosen
        )
        try:
            model.fit(X, pairs)
        except NotIdentifiable:
            new, marks = rng.choice(np.setdiff1d(pool, done), len(y) // 4, replace=False), False
        else:
            right = accuracy_up_to_names(y, model.item_proba_.argmax(axis=1))
            curve.append({"answers": pairs.n_pairs, "accuracy": float(right)})
            old = pair_ends(np.union1d(closed, done), len(y))
            share = 1.0 if way == "random" else 0.2
            S = model.noise_.same_probability(3)
            how = {"asked": old, "random_share": share, "random_state": rng}
            ask = choose_pairs(model.item_proba_, S, len(y) // 4, **how)
            new, marks = pair_keys(ask.left, ask.right, len(y)), ask.chosen
        if len(done) + len(new) > min(8 * len(y), len(pool)):
            return {"curve": curve}
        done = np.concatenate([done, new])
        chosen = np.concatenate([chosen, np.broadcast_to(marks, len(new))])


def seconds_of_choice() -> None:
    """Print the seconds for 100 pairs among 1,000 items of 20 classes, best of three."""
    rng = np.random.default_rng(0)
    belief = rng.dirichlet(np.full(20, 0.1), size=1_000)
    S = np.where(np.eye(20, dtype=bool), 0.9, 0.1)
    asked = rng.integers(1_000, size=(2, 5_000))
    taken = []
    for seed in range(3):
        begun = time.perf_counter()
        choose_pairs(belief, S, 100, asked=(asked[0], asked[1]), random_state=seed)
        taken.append(time.perf_counter() - begun)
    print(f"100 pairs among 1,000 items of 20 classes: {min(taken):.2f} s")


def mean_curve(records, value):
    """Return answers and the mean over runs, the last value of a run standing to the end."""
    curves = [record["curve"] for record in records]
    grid = np.unique(np.concatenate([[row["answers"] for row in curve] for curve in curves]))
    each = []
    for curve in curves:
        at = np.searchsorted([row["answers"] for row in curve], grid, side="right") - 1
        each.append([curve[k][value] if k >= 0 else 0.0 for k in at])
    return grid, np.array(each)


def reached(records):
    """Return at how many answers per item the mean index is .9, or None."""
    grid, each = mean_curve(records, "index")
    above = np.flatnonzero(each.mean(axis=0) >= REACHED)
    return None if not len(above) else float(grid[above[0]])


def some(**wanted):
    records = read("active")
    return [r for r in records if all(r["cell"].get(k) == v for k, v in wanted.items())]


def tables() -> None:
    print(
        "| set | level | classes | runs | chosen | random | saved | recorded, best / random |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    saved = []
    for level, name, classes in product(LEVELS, (*FOUR, "20newsgroups"), CLASSES):
        cells = {"name": name, "level": level, "classes": classes}
        both = [some(**cells, way=way) for way in WAYS]
        if not both[0]:
            continue
        ours = [reached(records) if records else None for records in both]
        most = [max(r["curve"][-1]["answers"] for r in b) if b else 0 for b in both]
        text = [
            f"{value:g}"
            if value
            else f"> {m:g} ({mean_curve(b, 'index')[1].mean(axis=0)[-1]:.2f})"
            if b
            else "–"
            for value, m, b in zip(ours, most, both, strict=True)
        ]
        share = "–"
        if ours[0] and both[1] and (ours[1] or ours[0] < most[1]):  # else nothing is known
            part = 1 - ours[0] / (ours[1] or most[1])
            saved.append(part)
            share = f"{'' if ours[1] else '> '}{part:.0%}"
        best, plain = RECORDED[level][name]
        runs = "/".join(str(len(b)) for b in both)
        print(
            f"| {name} | {level} | {classes} | {runs} | {text[0]} | {text[1]} | {share} "
            f"| {best} / {plain} |"
        )
    if saved:
        print(f"\nSaved in the mean of these rows: {np.mean(saved):.0%}")
    dogs()


def dogs() -> None:
    for answers in DOG_ANSWERS:
        curves = [some(dogs=True, way=way, answers=answers) for way in WAYS]
        if not all(curves):
            continue
        runs = "/".join(str(len(records)) for records in curves)
        print(
            f"\nanswers by {answers}, {runs} runs\n\n| answers | chosen | random |\n|---|---|---|"
        )
        (grid, first), (other, second) = (mean_curve(r, "accuracy") for r in curves)
        for n in grid[:: max(1, len(grid) // 10)]:
            row = [
                values[:, max(np.searchsorted(where, n, side="right") - 1, 0)]
                for where, values in ((grid, first), (other, second))
            ]
            shown = (
                f"{mean:.3f}" + (f" ± {error:.3f}" if np.isfinite(error) else "")
                for mean, error in map(mean_error, row)
            )
            print(f"| {n:g} | " + " | ".join(shown) + " |")


def task(**cell):
    if cell.pop("dogs", False):
        return dogs_task(**cell)
    return set_task(**cell)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default="")
    parser.add_argument("--levels", default="0.2,0.4")
    parser.add_argument("--classes", default=",".join(CLASSES))
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--dogs", action="store_true")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--print", action="store_true", dest="only_print")
    given = parser.parse_args()
    names = [name for name in given.sets.split(",") if name]
    levels = [float(level) for level in given.levels.split(",")]
    cells = [
        {"name": name, "level": level, "classes": classes, "way": way, "run": number}
        for number, name, level, classes, way in product(
            range(given.runs), names, levels, given.classes.split(","), given.ways.split(",")
        )
    ]
    if given.dogs:
        cells += [
            {"dogs": True, "way": way, "run": number, "answers": answers}
            for number, answers, way in product(range(given.runs), DOG_ANSWERS, WAYS)
        ]
    if given.time:
        seconds_of_choice()
        return
    if not given.only_print:
        run(task, cells, "active")
        print(machine())
    tables()


if __name__ == "__main__":
    main()
