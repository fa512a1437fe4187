"""Ratios 1 and 2: what pooling items saves, and how training grows with the pairs."""

from __future__ import annotations

from functools import partial
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
from record import NOISE, answers, items, seconds
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score

from noisypairs import (
    JointPairClassifier,
    LossCorrectionClassifier,
    Pairs,
    WeightedPairClassifier,
    algebra,
    reduction,
)
from noisypairs.nn import TorchRegressor
from noisypairs.tables import PairTable

#: Epochs of the paper's network, the same for both ways to train it.
EPOCHS = 20


def pooled_against_expanded(quick: bool) -> dict[str, Any]:
    """Train one model on pooled items and on one row per occurrence, both from the same pairs."""
    n_items, n_pairs, epochs = (1_000, 10_000, 3) if quick else (10_000, 1_000_000, EPOCHS)
    X, y = items(n_items)
    X_new, y_new = items(n_items, seed=1)
    pairs, prior = answers(y, n_pairs), float(y.mean())
    ends = np.concatenate([pairs.left, pairs.right])
    said = np.concatenate([pairs.same, pairs.same])
    alpha = algebra.alpha(NOISE.same_probability(), prior)

    def pooled_logistic() -> Any:
        rows, label, weight = reduction.weighted_rows(reduction.item_counts(pairs), alpha)
        return reduction.fit_weighted(LogisticRegression(), X[rows], label, weight)

    def expanded_logistic() -> Any:
        weight = np.where(said, 1 - alpha, alpha)
        return reduction.fit_weighted(LogisticRegression(), X[ends], said.astype(int), weight)

    C = NOISE.corrected_coefficients(prior)

    def pooled_network() -> Any:
        u, v = reduction.risk_weights(reduction.item_counts(pairs), C)
        rows, target, weight = reduction.squared_loss_rows(u, v)
        network = TorchRegressor(max_epochs=epochs, random_state=0)
        return reduction.fit_weighted(network, X[rows], target, weight)

    def expanded_network(epochs: int = epochs) -> Any:
        network = TorchRegressor(max_epochs=epochs, random_state=0)
        return network.fit(X[ends], np.where(said, C[0, 0], C[1, 0]))

    def result(pooled: Any, expanded: Any, sign: float) -> dict[str, float]:
        (fast, one), (slow, other) = seconds(pooled), seconds(expanded)
        scores = []
        for model in (one, other):
            known = hasattr(model, "predict_proba")
            margin = model.predict_proba(X_new)[:, 1] if known else model.predict(X_new)
            scores.append(float(accuracy_score(y_new, sign * (margin - 0.5) > 0)))
        return {
            "pooled_seconds": fast,
            "expanded_seconds": slow,
            "ratio": slow / fast,
            "pooled_accuracy": scores[0],
            "expanded_accuracy": scores[1],
        }

    TorchRegressor(max_epochs=1).fit(X[:64], X[:64, 0])  # torch sets itself up at the first fit
    turn = float(np.sign(algebra.gain(NOISE.same_probability(), prior)))
    return {
        "n_items": n_items,
        "n_pairs": n_pairs,
        "epochs": epochs,
        "logistic regression": result(pooled_logistic, expanded_logistic, turn),
        "paper's network": result(pooled_network, expanded_network, 1.0),
        # The least that training on occurrences can do, and it has as many steps as many epochs.
        "paper's network, one expanded epoch": result(
            pooled_network, partial(expanded_network, 1), 1.0
        ),
    }


def growth(quick: bool) -> dict[str, Any]:
    """Time the pass, the training after it and the joint learner over a hundredfold of pairs."""
    n_items = 1_000 if quick else 20_000
    sizes = (5_000, 20_000) if quick else (100_000, 1_000_000, 10_000_000)
    X, y = items(n_items)
    prior = float(y.mean())
    told = {"noise": NOISE, "prior": prior, "random_state": 0}
    pointwise = {
        "loss correction": LossCorrectionClassifier(**told),
        "weighted": WeightedPairClassifier(**told),
    }
    rows: list[dict[str, float]] = []
    for n_pairs in sizes:
        pairs = answers(y, n_pairs)
        row: dict[str, float] = {"n_pairs": n_pairs}
        table = _as_table(pairs, n_items)
        row["pass"] = seconds(table.item_counts)[0]
        for name, learner in pointwise.items():
            row[name] = min(seconds(partial(learner.fit, X, table))[0] for _ in range(3))
        joint = JointPairClassifier(LogisticRegression(), prior=prior, random_state=0)
        row["joint"] = seconds(partial(joint.fit, X, pairs))[0]
        rows.append(row)
    slope, start = np.polyfit([r["n_pairs"] for r in rows], [r["joint"] for r in rows], 1)
    return {
        "n_items": n_items,
        "rows": rows,
        "pointwise_growth": {
            name: max(r[name] for r in rows) / min(r[name] for r in rows) for name in pointwise
        },
        "joint_seconds_per_million_pairs": float(slope) * 1e6,
        "joint_seconds_without_pairs": float(start),
    }


def _as_table(pairs: Pairs, n_items: int) -> PairTable:
    columns = {"left": pairs.left, "right": pairs.right, "same": pairs.same}
    return PairTable.from_ibis(ibis.memtable(pa.table(columns)), n_items=n_items)
