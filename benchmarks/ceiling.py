"""The most that the answers hold: what could be learnt if all other items' classes were known.

    python benchmarks/ceiling.py [dataset …] [--density 2] [--splits 10]

An oracle is given the noise, the class shares and, for each item, the true class of everyone it was
compared with. What the answers say about an item is then as sharp as it can be,

    m_i(y) = Π P(answer | y, true class of the other),

and every answer is used for both of its items. No learner that sees only answers knows as much. The
oracle learns P(class | x) from m by the loop of the joint learner, b ∝ φ m with φ out of fold, with
each of several learners inside, and the one with the best mean accuracy on the new items is shown:
the choice, too, favours the oracle. So its distance to the best of four learners on the true labels
(`true_labels`) is a lower bound for what few answers cost, up to what better learners could gain
from the same evidence.

The joint learner's accuracy is that of `joint_tables`; where it refuses, the larger
class is counted. Runs what benchmarks/records/ceiling.jsonl lacks and prints the table.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold

from noisypairs import reduction
from noisypairs.estimators.inner.classifiers import default_candidates
from noisypairs.experiments import load_records
from noisypairs.experiments.paper import ROWS
from noisypairs.experiments.problem import Problem, noise_of
from protocol import RECORDS, machine, mean_error, run
from tree_tables import problem
from true_labels import SPLITS, best, by_table

NAME = "ceiling"
ROUNDS = 6
#: Trees of the boosted candidates here: weak evidence calls for few.
FEW_TREES = 20
#: Probabilities out of fold are at least this.
CERTAIN = 1e-3


def evidence(data: Problem) -> np.ndarray:
    """Return m, shape (n_items, 2), rows that sum to one."""
    S = data.noise.same_probability(2)
    log_m = np.zeros((len(data.y), 2))
    for own, other in ((data.pairs.left, data.pairs.right), (data.pairs.right, data.pairs.left)):
        chance = S[:, data.y[other]].T  # (n_pairs, 2)
        said = np.where(data.pairs.same[:, None], chance, 1 - chance)
        np.add.at(log_m, own, np.log(said))
    m = np.exp(log_m - log_m.max(axis=1, keepdims=True))
    return np.asarray(m / m.sum(axis=1, keepdims=True))


def learners(X: np.ndarray, seed: int) -> dict:
    """Return the joint learner's candidates, a forest, and two means."""
    found = default_candidates(X, seed)
    for name in ("small trees", "trees"):
        found[name].steps[-1][1].set_params(max_iter=FEW_TREES)
    found.pop("gaussian")
    found["forest"] = RandomForestClassifier(min_samples_leaf=5, random_state=seed)
    return found


MEANS = (("ridge", "small trees"), ("ridge", "small trees", "forest"))


def normal(values: np.ndarray) -> np.ndarray:
    return np.asarray(values / values.sum(axis=1, keepdims=True))


def soft_fit(member, X: np.ndarray, beliefs: np.ndarray, items: np.ndarray):
    """Fit a clone to the beliefs of some items: a row per item and class, weighted by belief."""
    rows, label, weight = reduction.soft_rows(beliefs[items])
    return reduction.fit_weighted(clone(member), X[items[rows]], label, weight, rescale=False)


def out_of_fold(member, X: np.ndarray, beliefs: np.ndarray, folds: list) -> np.ndarray:
    """Return P(class | x) of each fold, learnt from the beliefs of the others."""
    phi = np.zeros_like(beliefs)
    for train, test in folds:
        model = soft_fit(member, X, beliefs, train)
        phi[np.ix_(test, model.classes_)] = model.predict_proba(X[test])
    return phi


def oracle(data: Problem, members: list, seed: int) -> float:
    """Return the accuracy on new items of the mean of these, learnt from m."""
    m, n = evidence(data), len(data.y)
    in_pairs = np.flatnonzero(data.pairs.item_counts().total)
    n_folds = 5 if n < 2_000 else 3
    parts = KFold(n_folds, shuffle=True, random_state=seed).split(np.arange(n))
    folds = [(np.intersect1d(train, in_pairs), test) for train, test in parts]
    beliefs = normal(m * [1 - data.prior, data.prior])
    for _ in range(ROUNDS):
        own = [out_of_fold(member, data.X, beliefs, folds) for member in members]
        phi = np.clip(np.mean(own, axis=0), CERTAIN, None)
        beliefs = normal(normal(phi) * m)
    fitted = [soft_fit(one, data.X, beliefs, in_pairs) for one in members]
    predicted = np.mean([one.predict_proba(data.X_test) for one in fitted], axis=0).argmax(axis=1)
    return float((predicted == data.y_test).mean())


def task(dataset, family, rates, density, seed):
    data = problem(dataset, noise_of(family, rates), density, seed)
    single = learners(data.X, seed)
    found = {name: oracle(data, [one], seed) for name, one in single.items()}
    for names in MEANS:
        found[" and ".join(names)] = oracle(data, [single[name] for name in names], seed)
    return {"oracle": found}


def table(records: list[dict], density: float) -> None:
    hardest = by_table()
    ours = load_records(RECORDS / "reproduction_joint")
    print(
        "\n| dataset | noise | rates | best of four, true labels | oracle | its gap ± s.e. ", end=""
    )
    print("| joint | its gap | splits |\n|" + "---|" * 9)
    far, joint_far = [], []
    for row in ROWS:
        mine = {
            r["cell"]["seed"]: r["oracle"]
            for r in records
            if (r["cell"]["dataset"], r["cell"]["family"], tuple(r["cell"]["rates"]))
            == (row.dataset, row.family, row.rates)
            and r["cell"]["density"] == density
        }
        joint = {
            spec.seed: record.accuracy
            for spec, record in ours.items()
            if (spec.dataset, spec.family, spec.rates) == (row.dataset, row.family, row.rates)
            and (spec.density, spec.model, spec.rows) == (density, "network", 0)
            and not spec.flat_priors
        }
        both = sorted(mine.keys() & joint.keys())
        if not both:
            continue
        names = mine[both[0]]
        kept = max(names, key=lambda name: sum(mine[seed][name] for seed in both))
        yardstick = best(hardest[row.dataset])
        most = [hardest[row.dataset][seed][yardstick] for seed in both]
        gap, error = mean_error(
            100 * (one - mine[seed][kept]) for one, seed in zip(most, both, strict=True)
        )
        own = 100 * np.mean([one - joint[seed] for one, seed in zip(most, both, strict=True)])
        far.append(gap)
        joint_far.append(own)
        cells = (row.dataset, row.family, row.rates, f"{yardstick} {100 * np.mean(most):.1f}")
        reached = 100 * np.mean([mine[seed][kept] for seed in both])
        cells = (*cells, f"{kept} {reached:.1f}", f"{gap:.1f} ± {error:.1f}")
        mean = 100 * np.mean([joint[seed] for seed in both])
        print("|", " | ".join(map(str, (*cells, f"{mean:.1f}", f"{own:.1f}", len(both)))), "|")
    if far:
        for name, gaps in (("oracle", far), ("joint", joint_far)):
            print(f"\n{name}: mean {np.mean(gaps):.2f}, median {np.median(gaps):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shown = list(dict.fromkeys(row.dataset for row in ROWS))
    parser.add_argument("datasets", nargs="*", default=shown)
    parser.add_argument("--density", type=float, default=2.0, help="pairs per item")
    parser.add_argument("--splits", type=int, default=10, help="at most so many")
    given = parser.parse_args()
    cells = [
        {
            "dataset": row.dataset,
            "family": row.family,
            "rates": list(row.rates),
            "density": given.density,
            "seed": seed,
        }
        for row in ROWS
        for seed in range(min(given.splits, SPLITS[row.dataset]))
        if row.dataset in given.datasets
    ]
    print(machine())
    table(run(task, cells, NAME), given.density)


if __name__ == "__main__":
    main()
