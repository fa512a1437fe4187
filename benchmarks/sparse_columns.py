"""What wide sparse tables cost: 1,000 and 50,000 columns, 30 entries in each row.

    python benchmarks/sparse_columns.py         # 1,000 items
    python benchmarks/sparse_columns.py 3000    # more of them

Prints the processor time of a fit with 50,000 columns, as a multiple of that with 1,000: the median
of five draws. Columns lean to one of two classes; 10 pairs per item, 20 % of the answers wrong.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from noisypairs import JointPairClassifier, PairingNoise, WeightedPairClassifier, sample_pairs

NOISE = PairingNoise(0.2, 0.2)


def table(y, n_columns, rng):
    lean = 0.8 * rng.normal(size=n_columns)
    chance = np.exp(lean * np.array([[-1.0], [1.0]]))
    chance /= chance.sum(axis=1, keepdims=True)
    columns = [np.unique(rng.choice(n_columns, size=30, p=chance[k])) for k in y]
    rows = np.repeat(np.arange(len(y)), [len(one) for one in columns])
    ones = np.ones(len(rows))
    return csr_matrix((ones, (rows, np.concatenate(columns))), shape=(len(y), n_columns))


def main() -> None:
    n_items = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    joint = {"n_classes": 2, "class_order": "rising", "random_state": 0}
    learners = {
        "joint, default": JointPairClassifier(**joint),
        "joint, n_classes='auto'": JointPairClassifier(**joint | {"n_classes": "auto"}),
        "joint, LogisticRegression": JointPairClassifier(LogisticRegression(), **joint),
        "weighted": WeightedPairClassifier(noise=NOISE, prior=0.45, class_order="rising"),
    }
    warnings.simplefilter("ignore")
    times = {name: ([], []) for name in learners}
    for draw in range(6):
        rng = np.random.default_rng(draw)
        y = rng.integers(2, size=n_items)
        pairs = sample_pairs(y, 10 * n_items, NOISE, random_state=draw)
        for k, n_columns in enumerate((1_000, 50_000)):
            X = table(y, n_columns, rng)
            for name, learner in learners.items():
                begun = time.process_time()
                learner.fit(X, pairs)
                times[name][k].append(time.process_time() - begun)
    for name, both in times.items():
        few, many = (float(np.median(one[1:])) for one in both)  # the first draw loads modules
        print(f"{name:28} {few:.2f} s, {many:.2f} s: {many / few:.1f} times")


if __name__ == "__main__":
    main()
