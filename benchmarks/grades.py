"""Grades of likeness: levels against the same answers cut to yes and no.

    python benchmarks/grades.py [--print]

The English word usage graphs (shared data, not in the package): each word is a problem of its own,
with 64 features per sentence. Half of the graded pairs are held out. "Levels" learns from grades,
people and unsure answers; "cut" from the same answers with 3 and 4 as "same", and its P("same")
becomes P(grade) by a response curve, a multinomial logistic regression fitted to one half of the
held-out grades and tested on the other, which is more than levels are given. Prints the mean
log-likelihood of held-out grades by word, and the adjusted Rand index with the published clusters,
with all of the training answers and with 85 % of them for levels.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import PolynomialFeatures

from noisypairs import JointPairClassifier, NotIdentifiable, Pairs
from noisypairs.estimation.heldout import HeldOut
from protocol import run

GRADES, UNSURE = ["1", "2", "3", "4"], "0"
#: Share of the training answers that levels are given where they are to do with fewer.
FEWER = 0.85


def folder():
    """Return where the grades are."""
    return Path(os.environ["NOISYPAIRS_DATA"]) / "grades"


def problem(word):
    """Return features, pairs with grades, and the published clusters (−1 for none)."""
    items = pd.read_csv(folder() / "dwug_en_items.csv")
    mine = np.flatnonzero(items.word == word)
    with np.load(folder() / "dwug_en_target_pca64.npz") as arrays:
        X = arrays[arrays.files[0]][mine]
    rows = pd.read_csv(folder() / "dwug_en_judgments.csv")
    rows = rows[rows.word == word]
    place = {name: k for k, name in enumerate(items.item.iloc[mine])}
    ends = [rows[end].map(place).to_numpy() for end in ("item_a", "item_b")]
    known = np.isfinite(ends[0].astype(float)) & np.isfinite(ends[1].astype(float))
    left, right = (end[known].astype(int) for end in ends)
    grade, who = rows.judgment.astype(str).to_numpy()[known], rows.annotator.to_numpy()[known]
    pairs = Pairs.from_levels(left, right, grade, GRADES, UNSURE, len(mine), who)
    return X, pairs, items.cluster.iloc[mine].to_numpy()


def fitted(X, pairs, n_classes):
    """Return the joint learner with this number of classes, or None where nothing is seen."""
    try:
        return JointPairClassifier(LogisticRegression(), n_classes=n_classes, random_state=0).fit(
            X, pairs
        )
    except NotIdentifiable:
        return None


def agreement(model, pairs, cluster):
    """Return the adjusted Rand index with the clusters over compared items."""
    some = (pairs.item_counts().total > 0) & (cluster >= 0)
    if model is None:
        return 0.0
    return float(adjusted_rand_score(cluster[some], model.item_proba_.argmax(axis=1)[some]))


def by_curve(chance, level, fold):
    """Return log P(grade) by a response curve, fitted to the other half of the held-out grades."""
    columns = PolynomialFeatures(2).fit_transform(logit(np.clip(chance, 1e-4, 1 - 1e-4))[:, None])
    found = np.empty(len(level))
    for k in (0, 1):
        curve = LogisticRegression(max_iter=1000).fit(columns[fold != k], level[fold != k])
        proba = np.full((np.count_nonzero(fold == k), 4), 1e-3)
        proba[:, curve.classes_] = curve.predict_proba(columns[fold == k])
        proba /= proba.sum(axis=1, keepdims=True)
        found[fold == k] = np.log(proba[np.arange(len(proba)), level[fold == k]])
    return found


def task(word):
    """Return what levels and the cut say of one word."""
    warnings.simplefilter("ignore")
    X, pairs, cluster = problem(word)
    half = HeldOut.by_pair(pairs, 2, 0)
    train, test = pairs.select(half.fold == 0), pairs.select(half.fold == 1)
    test = test.select(test.level < 4)
    cut = fitted(X, train.yes_or_no(), "auto")
    levels = fitted(X, train, "auto")
    if cut is None or levels is None:
        return {"seen": [cut is not None, levels is not None]}
    fewer = HeldOut.by_pair(train, 20, 1).fold < round(20 * FEWER)
    some = fitted(X, train.select(fewer), "auto")
    chance = levels.level_proba(X, test, training_items=True)[:, :4]
    chance /= chance.sum(axis=1, keepdims=True)
    own = np.log(np.maximum(chance[np.arange(test.n_pairs), test.level], 1e-9))
    curve = by_curve(
        cut.answer_proba(X, test.yes_or_no(), training_items=True),
        np.asarray(test.level),
        HeldOut.by_pair(test, 2, 2).fold,
    )
    return {
        "n_test": test.n_pairs,
        "levels": float(own.mean()),
        "cut": float(curve.mean()),
        "gain_error": float(
            half.pairs.select(half.fold == 1).n_pairs ** -0.5 * (own - curve).std()
        ),
        "classes": [levels.n_classes_, cut.n_classes_],
        "parts": list(levels.parts_),
        "index": [agreement(one, train, cluster) for one in (levels, cut, some)],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print", action="store_true", dest="only_print", help="run nothing")
    words = sorted(pd.read_csv(folder() / "dwug_en_items.csv").word.unique())
    cells = [] if parser.parse_args().only_print else [{"word": word} for word in words]
    found = sorted(run(task, cells, "grades"), key=lambda one: one["cell"]["word"])
    known = [one for one in found if "levels" in one]
    print(f"{'word':18} grades  levels     cut    gain ± error   classes")
    for one in known:
        gain = one["levels"] - one["cut"]
        print(
            f"{one['cell']['word']:18} {one['n_test']:6} {one['levels']:7.3f} {one['cut']:7.3f} "
            f"{gain:7.3f} ± {one['gain_error']:.3f}   {one['classes'][0]} and {one['classes'][1]}"
        )
    better = sum(one["levels"] > one["cut"] for one in known)
    print(f"levels predict held-out grades better in {better} of {len(known)} words")
    only = [sum(one.get("seen", [0, 0])[k] for one in found if "seen" in one) for k in (0, 1)]
    print(f"of {len(found) - len(known)} others, classes are seen by the cut in {only[0]}")
    print(f"and by levels in {only[1]}")
    index = np.array([one["index"] for one in known])
    for name, column in zip(("levels", "cut", f"levels, {FEWER:.0%}"), index.T, strict=True):
        print(f"adjusted Rand index, {name:12} {column.mean():.3f}")


if __name__ == "__main__":
    main()
