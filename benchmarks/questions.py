"""Three and four photos grouped at once: what it gains to know that answers depend on each other.

    NOISYPAIRS_DATA=… python benchmarks/questions.py

The three- and four-photo questions of ``crowd_dogs3``, 300 people each. Eight splits, a fifth of
the questions held out; the others are learnt from with all pair answers counted alike, or with
weights 2/3 and 1/2. Held-out questions are predicted pair by pair, or among consistent answers
only. Prints the table of docs/people.md.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import logit, logsumexp

from noisypairs import JointPairClassifier, Pairs
from noisypairs.estimators import GaussianClasses
from noisypairs.metrics import accuracy_up_to_names
from protocol import machine, mean_error, run

SIZES = {"three photos": "radio3", "four photos": "radio4"}
WAYS = ("independent", "dependent")


def load(size):
    folder = Path(os.environ["NOISYPAIRS_DATA"]) / "crowd_dogs3"
    answers = pd.read_csv(folder / "pairs.csv")
    answers = answers[answers["query_type"] == SIZES[size]]
    X = pd.read_csv(folder / "features_effnetlite0_pca64.csv").drop(columns="item").to_numpy()
    y = pd.read_csv(folder / "items.csv")["true_class"].to_numpy()
    ends = answers["item_a"], answers["item_b"], answers["same"], len(y), answers["worker"]
    return X, y, Pairs(*ends, question=answers["question"])


def partitions(n_items):
    """Return the group of every item in all partitions of ``n_items``."""
    groups = [(0,)]
    for _ in range(n_items - 1):
        groups = [(*known, new) for known in groups for new in range(max(known) + 2)]
    return np.array(groups)


def log_chances(chance, pairs):
    """Yield log P of the answers to each whole question among all consistent answers to it."""
    for question in np.unique(pairs.question):
        rows = np.flatnonzero(pairs.question == question)
        items, ends = np.unique([pairs.left[rows], pairs.right[rows]], return_inverse=True)
        first, second = ends.reshape(2, -1)
        groups = partitions(len(items))
        odds = logit(chance[rows])
        all_answers = (groups[:, first] == groups[:, second]) @ odds
        yield odds @ pairs.same[rows] - logsumexp(all_answers)


def task(size, counted, seed):
    X, y, pairs = load(size)
    rng = np.random.default_rng(seed)
    out = (rng.random(pairs.question.max() + 1) < 0.2)[pairs.question]
    kept, asked = pairs.select(~out), pairs.select(out)
    if counted == "independent":
        kept = kept.reweighted(None)
    start = time.process_time()
    model = JointPairClassifier(GaussianClasses(), n_classes=3, random_state=seed).fit(X, kept)
    chance = model.answer_proba(X, asked, training_items=True)
    alone = np.log(np.where(asked.same, chance, 1 - chance))
    n_questions = len(np.unique(asked.question))
    return {
        "seconds": time.process_time() - start,
        "parts": list(model.parts_),
        "items": accuracy_up_to_names(y, model.item_proba_.argmax(axis=1)),
        "shifts": model.question_shifts_,
        "pair by pair": float(alone.sum()) / n_questions,
        "consistent": float(np.mean([*log_chances(chance, asked)])),
        "consistent, shifted": float(model.question_log_proba(X, asked, True).mean()),
    }


def main() -> None:
    cells = [
        {"size": size, "counted": counted, "seed": seed}
        for seed in range(8)
        for size in SIZES
        for counted in WAYS
    ]
    records = run(task, cells, "questions")
    print(machine(), end="\n\n")
    ways = ("pair by pair", "consistent", "consistent, shifted")
    print(f"| question | answers counted as | {' | '.join(ways)} | photos right |")
    print("|---|---|---|---|---|---|")
    for size in SIZES:
        for counted in WAYS:
            cell = {"size": size, "counted": counted}
            mine = [r for r in records if cell.items() <= r["cell"].items()]
            shown = [f"{mean:.3f} ± {error:.3f}" for mean, error in means(mine, ways)]
            items = 100 * mean_error(r["items"] for r in mine)[0]
            print(f"| {size} | {counted} | {' | '.join(shown)} | {items:.1f} % |")


def means(records, ways):
    return [mean_error(record[way] for record in records) for way in ways]


if __name__ == "__main__":
    main()
