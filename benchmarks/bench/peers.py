"""Ratios 4 and 5: the joint learner against a pair-likelihood network, COPKMeans against a peer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from record import NOISE, answers, items, seconds, side_by_side
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score

from noisypairs import ClassNamesWarning, COPKMeans, JointPairClassifier, Pairs

#: The peer and what it was tried with; nothing of it can stand beside scikit-learn 1.9.
PEER = (
    "active-semi-supervised-clustering==0.0.1",
    "metric-learn==0.6.2",
    "numpy==1.26.4",
    "scipy==1.11.4",
    "scikit-learn==1.2.2",
)
PEER_SCRIPT = """
import json, sys, time
import numpy as np
from active_semi_clustering.semi_supervised.pairwise_constraints import COPKMeans
data = np.load(sys.argv[1])
must, cannot = ([tuple(map(int, p)) for p in data[k]] for k in ("must", "cannot"))
start = time.perf_counter()
np.random.seed(0)
model = COPKMeans(n_clusters=int(data["k"]))
model.fit(data["X"], ml=must, cl=cannot)
taken = time.perf_counter() - start
labels = np.asarray(model.labels_)
print(json.dumps({"seconds": taken, "labels": labels.tolist()}))
"""


def joint_against_network(quick: bool) -> dict[str, Any]:
    """Time both to the same held-out accuracy; the network is told the true rates, ours nothing."""
    n_items, n_pairs = (1_000, 5_000) if quick else (20_000, 200_000)
    X, y = items(n_items)
    X_new, y_new = items(n_items, seed=1)
    pairs, prior = answers(y, n_pairs), float(y.mean())
    joint = JointPairClassifier(LogisticRegression(), prior=prior, random_state=0)
    ours, _ = seconds(lambda: joint.fit(X, pairs))
    reached = float(joint.score(X_new, y_new))
    most = 5 if quick else 60
    taken, best, epochs = _train_network(X, pairs, X_new, y_new, reached - 0.005, most)
    return {
        "n_items": n_items,
        "n_pairs": n_pairs,
        "joint_seconds": ours,
        "joint_accuracy": reached,
        "network_seconds": taken,
        "network_accuracy": best,
        "network_epochs": epochs,
        "network_reached_it": best >= reached - 0.005,
        "ratio": taken / ours,
    }


def _train_network(
    X: np.ndarray, pairs: Pairs, X_new: np.ndarray, y_new: np.ndarray, target: float, most: int
) -> tuple[float, float, int]:
    """Maximise Σ log P(answer), P(same) = η(x)ᵀ S η(x'), by Adam; stop when accurate enough."""
    torch.manual_seed(0)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    width = X.shape[1]
    network = torch.nn.Sequential(
        torch.nn.Linear(width, 100),
        torch.nn.ReLU(),
        torch.nn.Linear(100, 100),
        torch.nn.ReLU(),
        torch.nn.Linear(100, 2),
        torch.nn.Softmax(dim=1),
    )
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    S = torch.tensor(NOISE.same_probability(), dtype=torch.float32)
    features, new = (torch.tensor(part, dtype=torch.float32) for part in (X, X_new))
    left, right = (torch.tensor(end, dtype=torch.long) for end in (pairs.left, pairs.right))
    same = torch.tensor(pairs.same)
    taken, best, epoch = 0.0, 0.0, 0
    while epoch < most and best < target:
        epoch += 1
        start = time.perf_counter()
        for rows in torch.randperm(len(same)).split(256):
            eta = network(features[torch.cat([left[rows], right[rows]])])
            one, other = eta.split(len(rows))
            chance = ((one @ S) * other).sum(dim=1)
            likely = torch.where(same[rows], chance, 1 - chance).clamp(min=1e-6)
            optimiser.zero_grad()
            (-likely.log().mean()).backward()
            optimiser.step()
        taken += time.perf_counter() - start
        with torch.no_grad():
            predicted = network(new).argmax(dim=1).numpy()
        right_share = float(accuracy_score(y_new, predicted))
        best = max(best, right_share, 1 - right_share)
    return taken, best, epoch


def copkmeans_against_peer(quick: bool) -> dict[str, Any]:
    """Cluster 400 items under 1,000 consistent constraints with ours and with the peer."""
    n_items, n_pairs, k = (100, 150, 3) if quick else (400, 1_000, 3)
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n_items)
    X = rng.normal(size=(n_items, 5)) + 1.5 * np.eye(k, 5)[y]
    left, right = rng.integers(n_items, size=(2, 3 * n_pairs))
    proper = left != right
    left, right = left[proper][:n_pairs], right[proper][:n_pairs]
    pairs = Pairs(left, right, y[left] == y[right], n_items)
    found: dict[str, Any] = {"n_items": n_items, "n_pairs": n_pairs, "pins": list(PEER)}
    starts = {"one start": 1, "ten starts": 10}  # the peer makes one
    models = {name: COPKMeans(k, n_init=n, random_state=0) for name, n in starts.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClassNamesWarning)  # groups are compared, not names
        taken = side_by_side({name: partial(m.fit, X, pairs) for name, m in models.items()}, 5)
    for name, model in models.items():
        found[name] = {"seconds": taken[name], "objective": _objective(X, model.labels_)}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "problem.npz"
        couples = np.column_stack([left, right])
        np.savez(data, X=X, must=couples[pairs.same], cannot=couples[~pairs.same], k=k)
        try:
            python = _peer_environment()
            done = subprocess.run(
                [python, "-c", PEER_SCRIPT, str(data)],
                check=True,
                capture_output=True,
                text=True,
                timeout=3600,
            )
        except (subprocess.CalledProcessError, OSError) as error:
            why = getattr(error, "stderr", None) or str(error)
            return found | {"skipped": f"the peer could not be run: {why.strip()[-300:]}"}
    peer = json.loads(done.stdout.splitlines()[-1])
    return found | {
        "peer_seconds": peer["seconds"],
        "peer_objective": _objective(X, np.array(peer["labels"])),
        "ratio": {name: peer["seconds"] / taken[name] for name in starts},
    }


def _objective(X: np.ndarray, labels: np.ndarray) -> float:
    """Return Σ |x − mean of its group|², the same for whoever made the groups."""
    groups = (X[labels == group] for group in np.unique(labels))
    return float(sum(((part - part.mean(axis=0)) ** 2).sum() for part in groups))


def _peer_environment() -> str:
    """Build the peer's virtual environment once, in the cache folder; return its Python."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    folder = cache / "noisypairs" / "copkmeans-peer"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "--quiet", *PEER]
        subprocess.run(install, check=True, capture_output=True, text=True)
        (folder / "complete").touch()
    return str(python)
