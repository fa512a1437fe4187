"""What pooling items saves, and how training grows with the pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
from record import NOISE, answers, items, processor_seconds, seconds
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score

from noisypairs import (
    JointPairClassifier,
    LossCorrectionClassifier,
    Pairs,
    WeightedPairClassifier,
    algebra,
    reduction,
)
from noisypairs.estimators.base import warn_of_copies
from noisypairs.tables import PairTable
from noisypairs.torch import TorchRegressor

#: Epochs of the paper's network when both ways to train it get equally many, and the most that
#: the pooled way gets to show how accurate it becomes.
EQUAL_EPOCHS, MOST_EPOCHS = 20, 100
#: Equal accuracy: so close to where the pooled network ends.
MARGIN = 0.005
#: Parts of an expanded epoch after which accuracy is looked at.
PARTS = 50


class Pooling:
    """One set of items and pairs, and the same two models trained from it in both ways."""

    def __init__(self, n_items: int, n_pairs: int) -> None:
        self.X, y = items(n_items)
        self.X_new, self.y_new = items(n_items, seed=1)
        self.pairs, self.prior = answers(y, n_pairs), float(y.mean())
        self.ends = np.concatenate([self.pairs.left, self.pairs.right])
        self.said = np.concatenate([self.pairs.same, self.pairs.same])
        self.alpha = algebra.alpha(NOISE.same_probability(), self.prior)
        self.C = NOISE.corrected_coefficients(self.prior)

    def logistic(self) -> dict[str, Any]:
        """Time logistic regression both ways, in processor seconds: one optimum, one tolerance."""
        # Weights as they are: the sums, and so the penalty's share, are equal in both forms.
        settings: dict[str, Any] = {"tol": 1e-6, "max_iter": 1000}

        def pooled() -> Any:
            counts = self.pairs.item_counts()
            rows, label, weight = reduction.weighted_rows(counts, self.alpha)
            return LogisticRegression(**settings).fit(self.X[rows], label, weight)

        def expanded() -> Any:
            weight = np.where(self.said, 1 - self.alpha, self.alpha)
            return LogisticRegression(**settings).fit(self.X[self.ends], self.said, weight)

        one, other = pooled(), expanded()
        taken = processor_seconds({"pooled": pooled, "expanded": expanded}, times=5)
        fast, slow = taken["pooled"], taken["expanded"]
        turn = float(np.sign(algebra.gain(NOISE.same_probability(), self.prior)))
        scores = [
            self.accuracy(turn * model.decision_function(self.X_new)) for model in (one, other)
        ]
        return {
            "pooled_seconds": fast,
            "expanded_seconds": slow,
            "ratio": slow / fast,
            "pooled_accuracy": scores[0],
            "expanded_accuracy": scores[1],
            "largest_difference_of_coefficients": float(np.abs(one.coef_ - other.coef_).max()),
        }

    def learner(self) -> dict[str, Any]:
        """Time the whole fit of the weighted learner against the same optimum, expanded.

        Processor seconds, in turn. The fit also checks its input, counts the pairs and looks for
        copies; for the expanded rows only the solver is timed.
        """
        inner = LogisticRegression(tol=1e-6, max_iter=1000)
        clf = WeightedPairClassifier(inner, noise=NOISE, prior=self.prior)
        _, _, pooled = reduction.weighted_rows(self.pairs.item_counts(), self.alpha)
        X, weight = self.X[self.ends], np.where(self.said, 1 - self.alpha, self.alpha)
        expanded = LogisticRegression(tol=1e-6, max_iter=1000)
        taken = processor_seconds(
            {
                "fit": lambda: clf.fit(self.X, self.pairs),
                "expanded": lambda: expanded.fit(X, self.said, weight / pooled.mean()),
            },
            times=7,
        )
        difference = np.abs(clf.estimator_.coef_ - expanded.coef_).max()
        return {
            "fit_seconds": taken["fit"],
            "expanded_seconds": taken["expanded"],
            "ratio": taken["expanded"] / taken["fit"],
            "largest_difference_of_coefficients": float(difference),
        }

    def accuracy(self, margin: np.ndarray) -> float:
        """Return the accuracy on new items of the classes that margins say."""
        return float(accuracy_score(self.y_new, margin > 0))

    def pooled_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return features, targets and weights of the squared loss, a row per item."""
        u, v = reduction.risk_weights(self.pairs.item_counts(), self.C)
        rows, target, weight = reduction.squared_loss_rows(u, v)
        return self.X[rows], target, weight / weight.mean()

    def expanded_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return features, targets and weights of the same loss, a row per occurrence."""
        target = np.where(self.said, self.C[0, 0], self.C[1, 0])
        return self.X[self.ends], target, np.ones(len(target))

    def equal_epochs(self, epochs: int) -> dict[str, Any]:
        """Time the paper's network over equally many passes through its rows."""
        found: dict[str, Any] = {"epochs": epochs}
        for way in ("pooled", "expanded"):
            network = TorchRegressor(max_epochs=epochs, random_state=0)
            make = self.pooled_rows if way == "pooled" else self.expanded_rows
            found[f"{way}_seconds"] = seconds(lambda: network.fit(*make()))[0]  # noqa: B023
            found[f"{way}_accuracy"] = self.accuracy(network.predict(self.X_new) - 0.5)
        return found | {"ratio": found["expanded_seconds"] / found["pooled_seconds"]}

    def equal_accuracy(self, most_epochs: int) -> dict[str, Any]:
        """Time the paper's network until it is as accurate on new items as the pooled one becomes.

        Both are looked at often, and looking is not timed. The expanded rows come in one random
        order, a part at a time, until they are accurate enough or were all seen twice.
        """
        taken, rows = seconds(self.pooled_rows)
        epochs = (rows for _ in range(most_epochs))
        curve = list(self._curve(epochs))
        target = curve[-1][1] - MARGIN
        fast = next(time for time, accuracy in curve if accuracy >= target) + taken
        taken, (X, wanted, weight) = seconds(self.expanded_rows)
        order = np.random.default_rng(0).permutation(len(X))
        parts = [part for _ in range(2) for part in np.array_split(order, PARTS)]
        path = []
        for point in self._curve((X[part], wanted[part], weight[part]) for part in parts):
            path.append(point)
            if point[1] >= target:
                break
        slow, reached = path[-1]
        return {
            "accuracy_aimed_at": target,
            "pooled_seconds": fast,
            "pooled_final_accuracy": curve[-1][1],
            "pooled_final_seconds": curve[-1][0],
            "expanded_seconds": slow + taken,
            "expanded_accuracy": reached,
            "expanded_epochs": len(path) / PARTS,
            "expanded_reached_it": reached >= target,
            "ratio": (slow + taken) / fast,
        }

    def _curve(self, rows: Iterable[tuple[np.ndarray, ...]]) -> Iterator[tuple[float, float]]:
        """Yield (seconds of training so far, accuracy on new items) after each lot of rows."""
        network, total = TorchRegressor(max_epochs=1, warm_start=True), 0.0
        for number, lot in enumerate(rows):
            network.set_params(random_state=number)
            total += seconds(partial(network.fit, *lot))[0]
            yield total, self.accuracy(network.predict(self.X_new) - 0.5)


def pooled_against_expanded(quick: bool) -> dict[str, Any]:
    """Train one model on pooled items and on one row per occurrence, both from the same pairs."""
    n_items, n_pairs = (1_000, 10_000) if quick else (10_000, 1_000_000)
    problem = Pooling(n_items, n_pairs)
    return {
        "n_items": n_items,
        "n_pairs": n_pairs,
        "logistic regression": problem.logistic(),
        "logistic regression, whole fit": problem.learner(),
    }


def pooled_network(quick: bool) -> dict[str, Any]:
    """Train the paper's network in both ways, with equal epochs and to equal accuracy: minutes."""
    n_items, n_pairs, epochs, most = (
        (1_000, 10_000, 2, 20) if quick else (10_000, 1_000_000, EQUAL_EPOCHS, MOST_EPOCHS)
    )
    TorchRegressor(max_epochs=1).fit(np.eye(64), np.zeros(64))  # torch sets itself up once
    problem = Pooling(n_items, n_pairs)
    return {
        "n_items": n_items,
        "n_pairs": n_pairs,
        "equal epochs": problem.equal_epochs(epochs),
        "equal accuracy": problem.equal_accuracy(most),
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
        joint = JointPairClassifier(LogisticRegression(), 2, random_state=0)
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


def pointwise_in_memory(quick: bool) -> dict[str, Any]:
    """Time point-wise fits to ten times the pairs of the same items, and the pass that counts them.

    Processor seconds, in turn. ``beyond_counting`` is the ratio of the fits without that pass.
    """
    n_items, n_pairs, times = (1_000, 10_000, 2) if quick else (10_000, 100_000, 7)
    X, y = items(n_items)
    told = {"noise": NOISE, "prior": float(y.mean()), "random_state": 0}
    learners = {
        "loss correction, ridge": LossCorrectionClassifier(Ridge(), **told),
        "loss correction": LossCorrectionClassifier(**told),
        "weighted, logistic regression": WeightedPairClassifier(LogisticRegression(), **told),
        "weighted": WeightedPairClassifier(**told),
        "loss correction, noise estimated": LossCorrectionClassifier(class_order="falling"),
    }
    few, many = answers(y, n_pairs), answers(y, 10 * n_pairs)
    actions: dict[str, Any] = {}
    for size, pairs in (("few", few), ("many", many)):
        actions[f"counting, {size}"] = pairs.item_counts
        actions[f"copies, {size}"] = partial(warn_of_copies, pairs)
        for name, learner in learners.items():
            actions[f"{name}, {size}"] = partial(learner.fit, X, pairs)
    taken = processor_seconds(actions, times)
    found: dict[str, Any] = {"n_items": n_items, "n_pairs": [few.n_pairs, many.n_pairs]}
    count = [taken["counting, few"], taken["counting, many"]]
    for name in ("counting", "copies", *learners):
        one, ten = taken[f"{name}, few"], taken[f"{name}, many"]
        found[name] = {"few_seconds": one, "many_seconds": ten, "ratio": ten / one}
        if name in learners:
            found[name]["beyond_counting"] = (ten - count[1]) / (one - count[0])
    steps = [
        int(learners["weighted"].fit(X, pairs).estimator_[-1].n_iter_[0]) for pairs in (few, many)
    ]
    return found | {"solver_steps_of_weighted": steps}


def _as_table(pairs: Pairs, n_items: int) -> PairTable:
    columns = {"left": pairs.left, "right": pairs.right, "same": pairs.same}
    return PairTable.from_ibis(ibis.memtable(pa.table(columns)), n_items=n_items)
