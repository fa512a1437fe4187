"""Whether one M-step tells if a free matrix of many classes pays.

    python benchmarks/one_step.py

Simulated classes, half of which are confused with another more or less often. From where two rates
have converged: what one M-step of a free matrix gains over what its numbers cost, and the same
after all its rounds, where more than one means that it is kept.
"""

from __future__ import annotations

import numpy as np

from noisypairs import JointPairClassifier, MatrixNoise, sample_pairs
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.estimators.joint.search.families import ONE_STEP_OF_MANY
from protocol import machine, run

SIZES = ((8, 600, 10), (8, 1_500, 4), (15, 1_000, 12), (20, 1_500, 20))
CONFUSED, SEEDS = (0.05, 0.1, 0.15, 0.2, 0.3), range(3)


def crowd(n_classes, n_items, density, confused, seed):
    """Return Gaussian classes and answers under a matrix with some entries larger than others."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_items) % n_classes)
    X = 1.5 * rng.normal(size=(n_classes, 8))[y] + rng.normal(size=(n_items, 8))
    S = np.where(np.eye(n_classes, dtype=bool), 0.8, 0.12)
    for _ in range(n_classes // 2):
        one, other = rng.choice(n_classes, 2, replace=False)
        S[one, other] = S[other, one] = 0.12 + confused
    S[np.diag_indices(n_classes)] -= confused / 2 * rng.random(n_classes)
    noise = MatrixNoise(tuple(map(tuple, S.tolist())))
    return X, sample_pairs(y, density * n_items, noise, random_state=seed)


def task(n_classes, n_items, density, confused, seed):
    X, pairs = crowd(n_classes, n_items, density, confused, seed)
    problem = JointProblem(X, pairs, [n_classes], "auto", seed)
    search = JointPairClassifier(n_classes=n_classes).search(problem)
    begun = search.go_on_with(problem, "pairing", search.choose_classes([n_classes]))
    gain, cost = search.one_step("free", "pairing", begun)
    ended = search.go_on_with(problem, "free", begun)
    more = search.cost("free", ended) - search.cost("pairing", begun)
    return {"one step": gain / cost, "all": (ended.log_likelihood - begun.log_likelihood) / more}


def main() -> None:
    names = ("n_classes", "n_items", "density", "confused", "seed")
    cells = [
        dict(zip(names, (*size, confused, seed), strict=True))
        for size in SIZES
        for confused in CONFUSED
        for seed in SEEDS
    ]
    records = run(task, cells, "one_step")
    print(machine())
    pays = [record["one step"] for record in records if record["all"] > 1]
    fails = [record["one step"] for record in records if record["all"] <= 1]
    print(f"gain over cost after one M-step where a matrix pays: at least {min(pays):.2f}")
    print(f"where it does not: at most {max(fails):.2f} ({len(pays)} and {len(fails)} crowds)")
    left = sum(ONE_STEP_OF_MANY * ratio <= 1 for ratio in fails)
    wrong = sum(ONE_STEP_OF_MANY * ratio <= 1 for ratio in pays)
    print(f"left after one step with {ONE_STEP_OF_MANY}: {left} rightly, {wrong} wrongly")


if __name__ == "__main__":
    main()
