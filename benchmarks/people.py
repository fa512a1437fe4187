"""Real people: what each part of the answer model is worth on two crowds, and what kinds gain.

    NOISYPAIRS_DATA=… python benchmarks/people.py [--only answers photos birds] [--print]

Dogs: 473 photos of three breeds, 9,000 answers to two-photo questions of 300 people. Eight splits.
Answers: a fifth of the answers is held out, and predicted with all else known. Photos: a quarter of
the photos is held out, pairs among the others. Birds: 125 photos of 20 species, every pair answered
once; eight seeds with all pairs, and eight draws of 30 % of them. No true class is used but to name
kinds, two typical photos each, and to score. The data stay outside the package: NOISYPAIRS_DATA
must hold ``crowd_dogs3`` and ``crowd_birds20``. Prints the tables of docs/people.md.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split

from noisypairs import JointPairClassifier, Pairs
from noisypairs.errors import ClassNamesWarning
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.pairs.pairs import keys_of
from protocol import machine, mean_error, options, read, run, select

SPLITS = range(8)
#: Ways to predict answers: parts switched on one after the other, and the defaults.
ANSWERS = {
    "two rates": {"noise": "pairing", "answer_model": []},
    "matrix S": {"noise": "free", "answer_model": []},
    "two rates, people": {"noise": "pairing", "answer_model": ["people"]},
    "S, people": {"noise": "free", "answer_model": ["people"]},
    "S, people, clarity": {"noise": "free", "answer_model": ["people", "clarity"]},
    "S, people, similarity": {"noise": "free", "answer_model": ["people", "similarity"]},
    "defaults": {},
}
PHOTOS = (
    "three classes, defaults",
    "kinds, named by two photos",
    "kinds, joined by their looks",
    "k-means, 3 clusters, named by two photos",
    "k-means, 8 clusters, named by two photos",
)


def crowd(name):
    """Return features, true classes and answers of a crowd."""
    folder = Path(os.environ["NOISYPAIRS_DATA"]) / name
    X = pd.read_csv(folder / "features_effnetlite0_pca64.csv").drop(columns="item").to_numpy()
    y = pd.read_csv(folder / "items.csv")["true_class"].to_numpy()
    return X, y, pd.read_csv(folder / "pairs.csv")


def dogs():
    X, y, answers = crowd("crowd_dogs3")
    answers = answers[answers["query_type"] == "radio2"]
    ends = answers["item_a"], answers["item_b"]
    return X, y, Pairs(*ends, answers["same"], len(y), answers["worker"])


def birds():
    X, y, answers = crowd("crowd_birds20")
    return X, y, Pairs(answers["item_a"], answers["item_b"], answers["same"], len(y))


def held_out_answers(way, seed):
    """Return the log-likelihood of an answer held out, its items and person known from others."""
    X, _, pairs = dogs()
    out = np.random.default_rng(seed).random(pairs.n_pairs) < 0.2
    model = JointPairClassifier(n_classes=3, random_state=seed, **ANSWERS[way])
    model.fit(X, pairs.select(~out))
    asked = pairs.select(out)
    chance = model.answer_proba(X, asked, training_items=True)
    log_chance = np.log(np.where(asked.same, chance, 1 - chance))
    return {"log_likelihood": float(log_chance.mean()), "parts": list(model.parts_)}


def new_photos(way, seed):
    """Return the share of photos held out that are put into the right breed."""
    X, y, pairs = dogs()
    train, test = train_test_split(np.arange(len(y)), stratify=y, random_state=seed)
    if way.startswith("k-means"):
        clusters = KMeans(3 if " 3 " in way else 8, n_init=10, random_state=seed).fit(X[train])
        near = clusters.transform(X[train]).argsort(axis=0)[:2]
        names = np.array([_agreed(y[train][near[:, k]]) for k in range(clusters.n_clusters)])
        return {"accuracy": float((names[clusters.predict(X[test])] == y[test]).mean())}
    if way.startswith("three"):
        model = JointPairClassifier(n_classes=3, random_state=seed).fit(X[train], pairs[train])
        return {"accuracy": accuracy_up_to_names(y[test], model.predict(X[test]))}
    model = JointPairClassifier(random_state=seed).fit_kinds(X[train], pairs[train])
    kinds = model.n_classes_
    if "named" in way:
        shown = model.kinds(2)
        model.name_kinds({one.number: _agreed(y[train][list(one.typical)]) for one in shown})
        accuracy = float((model.predict(X[test]) == y[test]).mean())
    else:
        model.join_kinds(3)
        accuracy = accuracy_up_to_names(y[test], model.predict(X[test]))
    return {"accuracy": accuracy, "kinds": kinds}


def _agreed(breeds):
    """Return the breed of two photos; where they differ, that of the more typical one."""
    return int(breeds[0])


def species(way, seed):
    """Return how far twenty classes agree with the species, as an adjusted Rand index."""
    X, y, pairs = birds()
    if way != "all pairs":
        pairs = pairs.select(np.random.default_rng(seed).random(pairs.n_pairs) < 0.3)
    model = JointPairClassifier(n_classes=20, random_state=seed).fit(X, pairs)
    clusters = KMeans(20, n_init=10, random_state=seed).fit_predict(X)
    return {
        "index": adjusted_rand_score(y, model.item_proba_.argmax(axis=1)),
        "k-means": adjusted_rand_score(y, clusters),
    }


TASKS = {"answers": held_out_answers, "photos": new_photos, "birds": species}


def task(what, way, seed, version):  # noqa: ARG001
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClassNamesWarning)
        return TASKS[what](way, seed)


def error_correlations():
    """Print how far two wrong answers go together: of one person, about one photo, on one pair.

    Residuals of "the answer is wrong", less its mean over truly same and truly different pairs;
    mean product over all couples of answers that share something, over the variance.
    """
    _, y, pairs = dogs()
    truly = y[pairs.left] == y[pairs.right]
    wrong = (pairs.same != truly).astype(float)
    residual = wrong - np.where(truly, wrong[truly].mean(), wrong[~truly].mean())
    shared = {
        "person": [pairs.annotator],
        "photo": [pairs.left, pairs.right],
        "pair": [np.unique(keys_of(pairs), return_inverse=True)[1]],
    }
    print("| two answers share | correlation of their errors | couples of answers |\n|---|---|---|")
    for what, groups in shared.items():
        group = np.concatenate(groups)
        values = np.tile(residual, len(groups))
        total, squares, count = (
            np.bincount(group, one) for one in (values, values**2, np.ones(len(values)))
        )
        couples = (count * (count - 1)).sum() / 2
        rho = ((total**2 - squares).sum() / 2) / couples / residual.var()
        print(f"| {what} | {rho:.3f} | {couples:,.0f} |")
    print()


def table(records, what, ways, value, title):
    print(f"| {title} | mean ± s.e. | worst of {len(SPLITS)} |\n|---|---|---|")
    for way in ways:
        mine = [r[value] for r in select(records, what=what, way=way)]
        if not mine:
            continue
        mean, error = mean_error(mine)
        print(f"| {way} | {mean:.3f} ± {error:.3f} | {min(mine):.3f} |")
    print()


def main() -> None:
    ways = {"answers": ANSWERS, "photos": PHOTOS, "birds": ("all pairs", "30 % of the pairs")}
    parser = options(__doc__)
    parser.add_argument("--only", nargs="+", choices=list(ways), default=list(ways))
    given = parser.parse_args()
    splits = SPLITS[:1] if given.quick else SPLITS
    cells = [
        {"what": what, "way": way, "seed": seed, "version": given.label}
        for what in given.only
        for seed in splits
        for way in ways[what]
    ]
    records = read("people") if given.only_print else run(task, cells, "people")
    records = select(records, version=given.label)
    print(machine())
    error_correlations()
    table(records, "answers", ANSWERS, "log_likelihood", "log-likelihood of an answer held out")
    table(records, "photos", PHOTOS, "accuracy", "new photos put right")
    table(records, "birds", ways["birds"], "index", "adjusted Rand index")
    table(records, "birds", ways["birds"], "k-means", "the same of k-means, answers ignored")


if __name__ == "__main__":
    main()
