"""What more gradient steps change, and whether one fit could serve for all methods.

    python benchmarks/one_fit.py [data sets: cancer diabetes ionosphere magic by default]

The paper's network after more and more steps on one split, 20 pairs per item, true rates and prior:
on the true classes, and from pairs by one fit of m(x) = P(same | x) read at the threshold α (which
every point-wise method would give at its optimum), by the weighted fit, and by T-Loss.
"""

from __future__ import annotations

import sys

import numpy as np

from noisypairs import algebra, reduction
from noisypairs.experiments.paper import ROWS
from noisypairs.experiments.problem import noise_of, split
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.torch import TorchRegressor
from protocol import machine

STEPS, BATCH = (1_000, 2_500, 5_000, 10_000, 20_000), 32
DEFAULT = ("cancer", "diabetes", "ionosphere", "magic")


def targets(data) -> dict[str, tuple[np.ndarray, np.ndarray, float]]:
    """Return {name: (target, weight, threshold)}, one regression for each method."""
    S, prior = data.noise.same_probability(), float(data.y.mean())
    alpha, counts = algebra.alpha(S, prior), data.pairs.item_counts()
    u, v = reduction.risk_weights(counts, data.noise.corrected_coefficients(prior))
    weighted = (1 - alpha) * counts.same + alpha * counts.different
    return {
        "true classes": (data.y.astype(float), np.ones(len(data.y)), 0.5),
        "one fit": (counts.share, counts.total, alpha),
        "weighted": ((1 - alpha) * counts.same / weighted, weighted, 0.5),
        "T-Loss": (u / (u + v), u + v, 0.5),
    }


def show(name: str, family: str, rates: tuple[float, float]) -> None:
    data = split(name, noise_of(family, rates), pairs_per_item=20, seed=0)
    per_epoch, done = -(-len(data.y) // BATCH), 0
    ways = targets(data)
    nets = {way: TorchRegressor(warm_start=True, n_threads=1, random_state=0) for way in ways}
    for goal in STEPS:
        epochs = max(1, round((goal - done) / per_epoch))
        done += epochs * per_epoch
        row = []
        for way, (target, weight, threshold) in ways.items():
            net = nets[way].set_params(max_epochs=epochs)
            net.fit(data.X, target, weight / weight.mean())
            right = accuracy_up_to_names(data.y_test, net.predict(data.X_test) > threshold)
            row.append(f"{100 * right:.1f}")
        print(f"| {name} | {rates} | {done:,} | " + " | ".join(row) + " |", flush=True)


def main() -> None:
    print(machine(), "\n")
    print("| data set | rates | steps | true classes | one fit | weighted | T-Loss |")
    print("|---|---|---|---|---|---|---|")
    wanted = sys.argv[1:] or DEFAULT
    for row in ROWS:
        if row.dataset in wanted and row.rates[0] != row.rates[1]:
            show(row.dataset, row.family, row.rates)


if __name__ == "__main__":
    main()
