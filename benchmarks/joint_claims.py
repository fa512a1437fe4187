"""What the joint learner claims, beyond the paper's tables: one function per claim.

    python benchmarks/joint_claims.py [claim …]

peers      18 settings shared with other systems, three seeds, rates unknown
balanced   two Gaussians at prior ½, noise .3, 5,000 pairs on 2,000 items
rates      error of both rates and coverage of 90 % intervals, 10 pairs per item, 50 and 200 runs
digits     ten classes, 50,000 pairs, pairing noise (.2, .2)
suspects   which answers are wrong: cancer, 2,000 pairs, 20 % noise

Prints the tables of docs/joint.md.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from noisypairs import JointPairClassifier, PairingNoise, datasets, sample_pairs
from noisypairs.experiments.problem import split
from noisypairs.metrics import accuracy_up_to_names
from protocol import machine, mean_error, run

PEER_SETTINGS = [
    (name, n_pairs, rates)
    for name, n_pairs in (
        ("cancer", 1500),
        ("cancer", 20_000),
        ("diabetes", 2000),
        ("ionosphere", 1000),
        ("magic", 10_000),
        ("adult", 10_000),
    )
    for rates in ((0.2, 0.2), (0.1, 0.2), (0.3, 0.3))
]


def peers_task(name, n_pairs, rates, seed):
    data = split(name, PairingNoise(*rates), n_pairs=n_pairs, seed=seed, rows=6000)
    model = JointPairClassifier(n_classes=2, random_state=seed).fit(data.X, data.pairs)
    clean = clone(model.estimator_).fit(data.X, data.y)
    return {
        "accuracy": accuracy_up_to_names(data.y_test, model.predict(data.X_test)),
        "clean": float(np.mean(clean.predict(data.X_test) == data.y_test)),
    }


def peers() -> None:
    cells = [
        {"name": name, "n_pairs": n, "rates": list(rates), "seed": seed}
        for seed in range(3)
        for name, n, rates in PEER_SETTINGS
    ]
    records = run(peers_task, cells, "joint_peers")
    print(
        "\n| dataset | pairs | rates | joint | same estimator, true labels |\n|---|---|---|---|---|"
    )
    means = []
    for name, n, rates in PEER_SETTINGS:
        mine = [
            r
            for r in records
            if (r["cell"]["name"], r["cell"]["n_pairs"], tuple(r["cell"]["rates"]))
            == (name, n, rates)
        ]
        accuracy, error = mean_error(100 * r["accuracy"] for r in mine)
        means.append(accuracy)
        clean, _ = mean_error(100 * r["clean"] for r in mine)
        print(f"| {name} | {n:,} | {rates} | {accuracy:.1f} ± {error:.1f} | {clean:.1f} |")
    by_seed = [
        np.mean([r["accuracy"] for r in records if r["cell"]["seed"] == seed]) for seed in range(3)
    ]
    mean, error = mean_error(100 * np.array(by_seed))
    print(f"\nmean of the 18 settings: {mean:.2f} ± {error:.2f}")


def balanced_task(seed):
    X, y = datasets.gaussians(n_samples=2000, prior=0.5, random_state=seed)
    X_test, y_test = datasets.gaussians(n_samples=5000, prior=0.5, random_state=1000 + seed)
    pairs = sample_pairs(y, 5000, PairingNoise(0.3, 0.3), random_state=seed)
    model = JointPairClassifier(n_classes=2, random_state=seed).fit(X, pairs)
    clean = clone(model.estimator_).fit(X, y)
    return {
        "joint": accuracy_up_to_names(y_test, model.predict(X_test)),
        "clean": float(np.mean(clean.predict(X_test) == y_test)),
    }


def balanced() -> None:
    records = run(balanced_task, [{"seed": seed} for seed in range(10)], "joint_balanced")
    joint, error = mean_error(100 * r["joint"] for r in records)
    gap, gap_error = mean_error(100 * (r["clean"] - r["joint"]) for r in records)
    print(f"\nprior ½: joint {joint:.2f} ± {error:.2f}")
    print(f"gap to true labels: {gap:.2f} ± {gap_error:.2f}")


def rates_task(seed):
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0.05, 0.35, size=2)
    X, y = datasets.gaussians(n_samples=400, prior=float(rng.uniform(0.25, 0.5)), random_state=seed)
    X = 0.6 * X + rng.normal(size=X.shape)  # classes overlap
    pairs = sample_pairs(y, 4000, PairingNoise(*truth.tolist()), random_state=seed)
    model = JointPairClassifier(n_classes=2, random_state=seed, class_order="falling").fit(X, pairs)
    found = model.intervals(X, pairs, level=0.9)
    wrong = [abs(found[k].estimate - t) for k, t in zip(NAMES, truth, strict=True)]
    inside = [bool(t in found[k]) for k, t in zip(NAMES, truth, strict=True)]
    share = float(min(y.mean(), 1 - y.mean()))
    return {"wrong": wrong, "inside": [*inside, share in found["prior"]]}


NAMES = ("similar_flip", "dissimilar_flip")


def rates() -> None:
    every = run(rates_task, [{"seed": seed} for seed in range(200)], "joint_rates")
    for records in ([r for r in every if r["cell"]["seed"] < 50], every):
        print(f"{len(records)} runs")
        for k, name in enumerate(NAMES):
            wrong, error = mean_error(r["wrong"][k] for r in records)
            print(f"{name}: mean absolute error {wrong:.4f} ± {error:.4f}")
        inside, error = mean_error(np.mean(r["inside"][:2]) for r in records)
        print(f"90 % intervals of both rates: cover {inside:.1%} ± {error:.1%}")


def digits_task(seed):
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
    pairs = sample_pairs(y, 50_000, PairingNoise(0.2, 0.2), random_state=seed)
    model = JointPairClassifier(n_classes=10, random_state=seed).fit(X, pairs)
    clean = clone(model.estimator_).fit(X, y)
    return {
        "joint": accuracy_up_to_names(y_test, model.predict(X_test)),
        "clean": float(np.mean(clean.predict(X_test) == y_test)),
    }


def digits() -> None:
    records = run(digits_task, [{"seed": seed} for seed in range(10)], "joint_digits")
    joint, error = mean_error(100 * r["joint"] for r in records)
    clean, _ = mean_error(100 * r["clean"] for r in records)
    print(f"\ndigits: joint {joint:.2f} ± {error:.2f}, true labels {clean:.2f}")


def suspects_task(seed):
    data = split("cancer", PairingNoise(0.2, 0.2), n_pairs=2000, seed=seed)
    model = JointPairClassifier(n_classes=2, random_state=seed).fit(data.X, data.pairs)
    named = model.wrong_proba_ > 0.5
    wrong = (data.y[data.pairs.left] == data.y[data.pairs.right]) != data.pairs.same
    both = float((named & wrong).sum())
    return {"precision": both / named.sum(), "recall": both / wrong.sum()}


def suspects() -> None:
    records = run(suspects_task, [{"seed": seed} for seed in range(10)], "joint_suspects")
    for name in ("precision", "recall"):
        value, error = mean_error(r[name] for r in records)
        print(f"suspect answers: {name} {value:.3f} ± {error:.3f}")


CLAIMS = {
    "peers": peers,
    "balanced": balanced,
    "rates": rates,
    "digits": digits,
    "suspects": suspects,
}


def main() -> None:
    print(machine())
    for claim in sys.argv[1:] or CLAIMS:
        CLAIMS[claim]()


if __name__ == "__main__":
    main()
