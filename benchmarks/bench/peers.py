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
from record import NOISE, answers, items, seconds, side_by_side
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import torch
from noisypairs import ClassNamesWarning, COPKMeans, JointPairClassifier, Pairs, datasets
from noisypairs.metrics import accuracy_up_to_names
from pair_network import FIRST_RATES, PATIENCE, PairLikelihood, class_network

#: How near to the joint learner's accuracy counts as nearly the same.
NEARLY = 0.005
#: Pairs per item of the comparison with a network.
PAIRS_PER_ITEM = 10
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
taken = []
for _ in range(3):
    np.random.seed(0)
    start = time.perf_counter()
    model = COPKMeans(n_clusters=int(data["k"]))
    model.fit(data["X"], ml=must, cl=cannot)
    taken.append(time.perf_counter() - start)
print(json.dumps({"seconds": sorted(taken)[1], "labels": np.asarray(model.labels_).tolist()}))
"""


def joint_against_network(quick: bool) -> dict[str, Any]:
    """Time both to the same accuracy on new items, on items of a linear rule and on real tables."""
    found: dict[str, Any] = {}
    for name, (X, y, X_new, y_new, estimator) in _network_problems(quick).items():
        pairs = answers(y, PAIRS_PER_ITEM * len(y))
        joint = JointPairClassifier(estimator, 2, random_state=0)
        ours, _ = seconds(partial(joint.fit, X, pairs))
        reached = accuracy_up_to_names(y_new, joint.predict(X_new))
        row: dict[str, Any] = {"n_items": len(y), "n_pairs": pairs.n_pairs}
        row |= {"joint_seconds": ours, "joint_accuracy": reached}
        for told in (True, False):
            path = _train_network(X, pairs, X_new, y_new, reached, 5 if quick else 60, told)
            best_time, best = max(path, key=lambda point: point[1])
            near = [time for time, accuracy in path if accuracy >= reached - NEARLY]
            row["network, told the rates" if told else "network, told nothing"] = {
                "seconds": path[-1][0],
                "accuracy": best,
                "seconds_to_its_best": best_time,
                "reached_it": best >= reached,
                "ratio": path[-1][0] / ours,
                f"ratio, within {NEARLY}": near[0] / ours if near else None,
            }
        found[name] = row
    return found


def _network_problems(quick: bool) -> dict[str, tuple[Any, ...]]:
    """Return training items, new items and the classifier inside the joint learner, by name."""
    n_items = 1_000 if quick else 20_000
    linear = (*items(n_items), *items(n_items, seed=1), LogisticRegression())
    problems: dict[str, tuple[Any, ...]] = {"linear rule": linear}
    for name in () if quick else ("spambase", "magic", "adult"):
        X, y = datasets.load(name)
        X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
        scaler = StandardScaler().fit(X)
        problems[name] = (scaler.transform(X), y, scaler.transform(X_new), y_new, None)
    return problems


def _train_network(
    X: np.ndarray,
    pairs: Pairs,
    X_new: np.ndarray,
    y_new: np.ndarray,
    target: float,
    most: int,
    told: bool,
) -> list[tuple[float, float]]:
    """Maximise Σ log P(answer), P(same) = η(x)ᵀ S η(x'), by Adam; stop when accurate enough.

    S is given, or two rates are learnt with the weights. Goes on until it is as
    accurate on new items as ``target``, or `PATIENCE` epochs brought no gain. Returns (seconds of
    training, accuracy on new items) four times an epoch; looking at new items is not timed.
    """
    torch.manual_seed(0)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    network = class_network(X.shape[1])
    given = torch.tensor([NOISE.similar_flip, NOISE.dissimilar_flip] if told else FIRST_RATES)
    logits = torch.logit(given).requires_grad_(not told)
    learnt = [*network.parameters(), *([] if told else [logits])]
    optimiser = torch.optim.Adam(learnt, lr=1e-3)
    loss, new = PairLikelihood.of(X, pairs), torch.tensor(X_new, dtype=torch.float32)
    path: list[tuple[float, float]] = []
    taken, best, best_at = 0.0, 0.0, 0
    while len(path) < 4 * most and best < target and len(path) - best_at < 4 * PATIENCE:
        if len(path) % 4 == 0:
            quarters = torch.randperm(pairs.n_pairs).tensor_split(4)
        start = time.perf_counter()
        loss.steps(network, logits, quarters[len(path) % 4].split(256), optimiser)
        taken += time.perf_counter() - start
        with torch.no_grad():
            predicted = network(new).argmax(dim=1).numpy()
        right_share = float(accuracy_score(y_new, predicted))
        path.append((taken, max(right_share, 1 - right_share)))  # classes have no names here
        if path[-1][1] > best:
            best, best_at = path[-1][1], len(path)
    return path


def copkmeans_against_peer(quick: bool) -> dict[str, Any]:
    """Cluster 400 items under 1,000 consistent constraints with ours and with the peer."""
    n_items, n_pairs = (100, 150) if quick else (400, 1_000)
    found: dict[str, Any] = {"n_items": n_items, "n_pairs": n_pairs, "pins": list(PEER)}
    for k in (2, 3):
        found[f"{k} clusters"] = _copkmeans(n_items, n_pairs, k)
    return found


def _copkmeans(n_items: int, n_pairs: int, k: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n_items)
    X = rng.normal(size=(n_items, 5)) + 1.5 * np.eye(k, 5)[y]
    left, right = rng.integers(n_items, size=(2, 3 * n_pairs))
    proper = left != right
    left, right = left[proper][:n_pairs], right[proper][:n_pairs]
    pairs = Pairs(left, right, y[left] == y[right], n_items)
    found: dict[str, Any] = {}
    starts = {"one start": 1, "ten starts": 10}  # the peer makes one
    models = {name: COPKMeans(k, n_init=n, random_state=0) for name, n in starts.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClassNamesWarning)  # groups are compared, not names
        taken = side_by_side({name: partial(m.fit, X, pairs) for name, m in models.items()}, 5)
    for name, model in models.items():
        found[name] = {"seconds": taken[name]} | _quality(X, pairs, model.labels_)
    try:
        peer = _run_peer(X, np.column_stack([left, right]), pairs.same, k)
    except (subprocess.SubprocessError, OSError) as error:
        why = getattr(error, "stderr", None) or str(error)
        return found | {"skipped": f"the peer could not be run: {str(why).strip()[-300:]}"}
    return found | {
        "peer_seconds": peer["seconds"],
        "peer": _quality(X, pairs, np.array(peer["labels"])),
        "ratio": {name: peer["seconds"] / taken[name] for name in starts},
    }


def _run_peer(X: np.ndarray, couples: np.ndarray, same: np.ndarray, k: int) -> dict[str, Any]:
    """Return the median seconds of three runs, and the labels, of the peer in its environment."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "problem.npz"
        np.savez(data, X=X, must=couples[same], cannot=couples[~same], k=k)
        command = [_peer_environment(), "-c", PEER_SCRIPT, str(data)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=900)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _quality(X: np.ndarray, pairs: Pairs, labels: np.ndarray) -> dict[str, float]:
    """Return Σ |x − mean of its group|², and how many constraints the groups break.

    An objective below the constrained optimum is no better where constraints are broken for it.
    """
    groups = (X[labels == group] for group in np.unique(labels))
    broken = (labels[pairs.left] == labels[pairs.right]) != pairs.same
    return {
        "objective": float(sum(((part - part.mean(axis=0)) ** 2).sum() for part in groups)),
        "broken_constraints": int(broken.sum()),
    }


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
