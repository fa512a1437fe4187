"""How often the intervals of the joint learner hold the truth.

    python benchmarks/coverage.py [runs per configuration]

Every run draws 200 items of two overlapping classes and about 1,200 answers with flip rates between
.05 and .3, fits `JointPairClassifier`, and asks `clf.intervals` at 90 %. The truth is what the
answers were drawn with: both rates, the share of the smaller class in the population, and the share
of 4,000 new items that the model puts in the right class. A configuration says how the answers are
given: `CONFIGURATIONS`. Runs go to ``records/coverage.jsonl``; those already there are skipped.
Prints the table of docs/intervals.md.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from noisypairs import JointPairClassifier, Pairs
from noisypairs.sampling import random_pairs

RECORD = Path(__file__).parent / "records" / "coverage.jsonl"
N_ITEMS, N_ANSWERS, N_NEW, LEVEL = 200, 1200, 4000, 0.9
QUANTITIES = ("similar_flip", "dissimilar_flip", "prior", "accuracy")


def draw_items(prior, size, rng):
    """Draw two Gaussian classes that overlap: the best rule gets about 89 % right."""
    y = (rng.random(size) < prior).astype(int)
    return rng.normal(size=(size, 4)) + 1.2 * np.outer(2 * y - 1, [0.7, 0.7, 0.0, 0.0]), y


def answer(y, left, right, rates, rng):
    """Answer each pair; ``rates`` are (similar_flip, dissimilar_flip), numbers or one per pair."""
    same = y[left] == y[right]
    return same ^ (rng.random(len(left)) < np.where(same, rates[0], rates[1]))


def plain(y, rates, rng):
    left, right = random_pairs(len(y), N_ANSWERS, rng)
    return Pairs(left, right, answer(y, left, right, rates, rng), len(y)), rates


def weights(y, rates, rng):
    pairs, rates = plain(y, rates, rng)
    return pairs.reweighted(rng.choice([0.5, 1.0, 2.0], pairs.n_pairs)), rates


def repeated(y, rng, times=3):
    left, right = random_pairs(len(y), N_ANSWERS // times, rng)
    return np.tile(left, times), np.tile(right, times)


def repeats(y, rates, rng):
    left, right = repeated(y, rng)
    return Pairs(left, right, answer(y, left, right, rates, rng), len(y)), rates


def votes(y, rates, rng):
    left, right = repeated(y, rng)
    said = answer(y, left, right, rates, rng).reshape(3, -1).sum(axis=0)
    size = len(said)
    return Pairs.from_votes(left[:size], right[:size], said, 3 - said, len(y)), rates


def annotators(y, rates, rng):
    """Ten people whose rates lie between half and one and a half times the mean."""
    left, right = random_pairs(len(y), N_ANSWERS, rng)
    who = rng.integers(10, size=N_ANSWERS)
    own = np.outer(rates, np.linspace(0.5, 1.5, 10))
    same = answer(y, left, right, own[:, who], rng)
    return Pairs(left, right, same, len(y), annotator=who), own[:, who].mean(axis=1)


def agreeing(y, rates, rng, rho=0.5):
    """Three people answer each pair; two of their answers on a pair correlate by ρ."""
    left, right = repeated(y, rng)
    own = answer(y, left, right, rates, rng).reshape(3, -1)
    shared = answer(y, left[: own.shape[1]], right[: own.shape[1]], rates, rng)
    same = np.where(rng.random(own.shape) < np.sqrt(rho), shared, own)
    return Pairs(left, right, same.ravel(), len(y)), rates


def copies(y, rates, rng):
    """Record 600 answers three times, without saying by whom."""
    pairs, rates = plain(y, rates, rng)
    return pairs.select(np.tile(np.arange(N_ANSWERS // 2), 3)), rates


CONFIGURATIONS = {
    "plain": plain,
    "weights": weights,
    "repeats": repeats,
    "votes": votes,
    "annotators": annotators,
    "agreeing": agreeing,
    "copies": copies,
}


def one_run(name, seed):
    """Return for each quantity the truth, the estimate and the ends of its interval."""
    rng = np.random.default_rng([seed, list(CONFIGURATIONS).index(name)])
    prior, rates = rng.uniform(0.25, 0.4), rng.uniform(0.05, 0.3, size=2)
    X, y = draw_items(prior, N_ITEMS, rng)
    X_new, y_new = draw_items(prior, N_NEW, rng)
    pairs, rates = CONFIGURATIONS[name](y, rates, rng)
    model = JointPairClassifier(
        LogisticRegression(),
        annotators=pairs.annotator is not None,
        positive="minority",
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.fit(X, pairs).intervals(X, pairs, LEVEL)
    truth = dict(zip(QUANTITIES, [*rates, prior, model.score(X_new, y_new)], strict=True))
    return {
        name: [truth[name], found[name].estimate, found[name].low, found[name].high]
        for name in QUANTITIES
    }


def covered(records, quantity):
    """Return the share of intervals that hold the truth, and its standard error."""
    inside = [low <= truth <= high for truth, _, low, high in (r[quantity] for r in records)]
    share = float(np.mean(inside))
    return share, float(np.sqrt(share * (1 - share) / len(inside)))


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    lines = RECORD.read_text().splitlines() if RECORD.exists() else []
    records = [json.loads(line) for line in lines]
    done = {(r["configuration"], r["seed"]) for r in records}
    for seed in range(runs):
        for name in CONFIGURATIONS:
            if (name, seed) not in done:
                records.append({"configuration": name, "seed": seed, **one_run(name, seed)})
                with RECORD.open("a") as file:
                    file.write(json.dumps(records[-1]) + "\n")
    print(f"| answers | runs | {' | '.join(QUANTITIES)} |\n|---|---|{'---|' * len(QUANTITIES)}")
    for name in CONFIGURATIONS:
        mine = [r for r in records if r["configuration"] == name]
        cells = ["{:.1%} ± {:.1%}".format(*covered(mine, quantity)) for quantity in QUANTITIES]
        print(f"| {name} | {len(mine)} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
