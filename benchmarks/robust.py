"""What awkward features cost: rows in another unit, log-normal columns, wide vectors.

    python benchmarks/robust.py [--label 0.3.0] [--draws 5] [--print]

clean        Gaussian classes in ten columns, 600 items, 6 answers per item
scaled rows  the same items and answers, 5 % of the rows times 10⁴; new items are as they were
log-normal   the same, with every column x replaced by exp(2 x), of new items too
wide         vectors of 384 numbers with 32 factors behind them, as embeddings have; 600 items, 10
             answers per item
wide text    questions of bank customers about 8 of 30 intents, 384 numbers each (TF-IDF and SVD, no
             labels); 600 items, 10 answers per item. Left out without NOISYPAIRS_DATA

2, 3 and 5 classes (8 of the text), the number given, the default estimator. Accuracy on 3,000 new
items (the rest of the text) is compared with that of the clean features, and with logistic
regression on the true labels of the training items (of the clean features where features are
spoilt); its penalty, and whether columns are standardised, are chosen by cross-validation. Runs
what ``records/robust.jsonl`` lacks. --quick makes two draws.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from draws import Draw, gaussian_classes
from noisypairs import PairingNoise, sample_pairs
from noisypairs.metrics import accuracy_up_to_names
from protocol import attempt, machine, mean_error, options, read, run, select, versions

NAME = "robust"
CLASSES = (2, 3, 5)
N_INTENTS = 8
#: Numbers of classes of each kind of features.
KINDS = {"clean": CLASSES, "scaled rows": CLASSES, "log-normal": CLASSES}
KINDS |= {"wide": CLASSES, "wide text": (N_INTENTS,)}
N_ITEMS, N_NEW, ANSWERS_PER_ITEM = 600, 3_000, 6
SCALED_SHARE, SCALE, LOG_SCALE = 0.05, 1e4, 2.0
WIDE, N_FACTORS, WIDE_ANSWERS = 384, 32, 10
#: Spread of class means over that within a class, for every factor of the wide vectors; what is
#: added to every number besides.
WIDE_SPREAD, WIDE_NOISE = 0.45, 0.05


def wide(n_classes: int, seed: int) -> Draw:
    """Return vectors whose factors have variances 1, 1/2, 1/3, …, in all directions of space."""
    rng = np.random.default_rng([seed, n_classes, WIDE])
    means = WIDE_SPREAD * rng.normal(size=(n_classes, N_FACTORS))
    y, y_new = (rng.integers(n_classes, size=size) for size in (N_ITEMS, N_NEW))
    scale = 1 / np.sqrt(1 + np.arange(N_FACTORS))
    directions = np.linalg.qr(rng.normal(size=(WIDE, N_FACTORS)))[0].T

    def vectors(classes: np.ndarray) -> np.ndarray:
        factors = (means[classes] + rng.normal(size=(len(classes), N_FACTORS))) * scale
        return factors @ directions + WIDE_NOISE * rng.normal(size=(len(classes), WIDE))

    X, X_new = vectors(y), vectors(y_new)
    noise = PairingNoise(0.2, 0.1)
    pairs = sample_pairs(y, WIDE_ANSWERS * N_ITEMS, noise, random_state=int(rng.integers(2**31)))
    return Draw(X, y, pairs, X_new, y_new)


def wide_text(n_classes: int, seed: int) -> Draw:
    """Return questions about some intents as vectors; those beyond the training items are new."""
    table = pd.read_csv(Path(os.environ["NOISYPAIRS_DATA"]) / "text" / "banking30.csv")
    rng = np.random.default_rng([seed, n_classes])
    intents = rng.choice(sorted(table["category"].unique()), n_classes, replace=False)
    rows = table[table["category"].isin(intents)]
    words = TfidfVectorizer(sublinear_tf=True).fit_transform(rows["text"])
    X = TruncatedSVD(WIDE, random_state=0).fit_transform(words)
    y = np.unique(rows["category"], return_inverse=True)[1]
    order = rng.permutation(len(y))
    known, new = order[:N_ITEMS], order[N_ITEMS:]
    noise = PairingNoise(0.2, 0.1)
    pairs = sample_pairs(y[known], WIDE_ANSWERS * N_ITEMS, noise, random_state=seed)
    return Draw(X[known], y[known], pairs, X[new], y[new])


def problem(kind: str, n_classes: int, draw: int) -> Draw:
    if kind == "wide":
        return wide(n_classes, draw)
    if kind == "wide text":
        return wide_text(n_classes, draw)
    data = gaussian_classes(
        n_classes, N_ITEMS, ANSWERS_PER_ITEM, features="weak", n_new=N_NEW, seed=draw
    )
    if kind == "scaled rows":
        chosen = np.random.default_rng(draw).random(N_ITEMS) < SCALED_SHARE
        return replace(data, X=np.where(chosen[:, None], SCALE * data.X, data.X))
    if kind == "log-normal":
        return replace(data, X=np.exp(LOG_SCALE * data.X), X_new=np.exp(LOG_SCALE * data.X_new))
    return data


def true_labels(data: Draw) -> float:
    """Return the accuracy on new items of logistic regression on the true labels."""
    model = Pipeline([("scale", StandardScaler()), ("learn", LogisticRegression(max_iter=1000))])
    choices = {"scale": [StandardScaler(), "passthrough"], "learn__C": [0.001, 0.01, 0.1, 1, 10]}
    search = GridSearchCV(model, choices).fit(data.X, data.y)
    return float(search.score(data.X_new, data.y_new))


def task(version: str, kind: str, n_classes: int, draw: int) -> dict[str, Any]:  # noqa: ARG001
    data = problem(kind, n_classes, draw)
    done = attempt(data.X, data.pairs, None, n_classes)
    spoilt = kind in ("scaled rows", "log-normal")
    known = {} if spoilt else {"true labels": true_labels(data)}
    if done.model is None:
        return done.facts | known | {"new": 1 / n_classes, "items": 1 / n_classes}
    items = done.model.item_proba_.argmax(axis=1)
    return (
        done.facts
        | known
        | {
            "new": accuracy_up_to_names(data.y_new, done.model.predict(data.X_new)),
            "items": accuracy_up_to_names(data.y, items),
        }
    )


def losses(mine: list[dict[str, Any]], others: list[dict[str, Any]], key: str) -> str:
    """Return by how many points the accuracy on new items is behind, draw by draw."""
    by_draw = {(r["cell"]["n_classes"], r["cell"]["draw"]): r[key] for r in others}
    lost = [
        100 * (by_draw[cell] - r["new"])
        for r in mine
        if (cell := (r["cell"]["n_classes"], r["cell"]["draw"])) in by_draw
    ]
    return "{:.1f} ± {:.1f}".format(*mean_error(lost)) if lost else ""


def table(records: list[dict[str, Any]]) -> None:
    print("\n| version | features | classes | draws | items right | new items right ", end="")
    print("| points behind clean | points behind true labels | s, median | errors |")
    print(f"|{'---|' * 10}")
    for version in versions(records):
        for kind in KINDS:
            for n_classes in (*KINDS[kind], "all"):
                cell = {} if n_classes == "all" else {"n_classes": n_classes}
                mine, clean = (
                    select(records, version=version, kind=one, **cell) for one in (kind, "clean")
                )
                if not mine:
                    continue
                right = [f"{np.mean([r[key] for r in mine]):.3f}" for key in ("items", "new")]
                spoilt = "true labels" not in mine[0]
                behind = losses(mine, clean, "new") if spoilt else ""
                labels = losses(mine, clean if spoilt else mine, "true labels")
                seconds = np.median([r["seconds"] for r in mine])
                errors = sum(r["error"] is not None for r in mine)
                cells = [version, kind, n_classes, len(mine), *right, behind, labels]
                print(f"| {' | '.join(map(str, [*cells, f'{seconds:.2f}', errors]))} |")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--draws", type=int, default=5, help="draws of each number of classes")
    given = parser.parse_args()
    cells = [
        {"version": given.label, "kind": kind, "n_classes": n_classes, "draw": draw}
        for draw in range(2 if given.quick else given.draws)
        for kind in KINDS
        for n_classes in KINDS[kind]
        if kind != "wide text" or "NOISYPAIRS_DATA" in os.environ
    ]
    records = read(NAME) if given.only_print else run(task, cells, NAME)
    print(machine())
    table(records)


if __name__ == "__main__":
    main()
