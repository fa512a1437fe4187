"""Small problems on a pair graph, and what enumeration of all class assignments says of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisypairs.graph.propagation import PROBABILITY_FLOOR, PairGraph

FloatArray = NDArray[np.float64]


@dataclass
class Problem:
    """Answers, potentials and S, as plain arrays."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    same: NDArray[np.bool_]
    weight: NDArray[np.float32]
    group: NDArray[np.int64]
    log_phi: FloatArray
    S: FloatArray
    clamp: dict[int, int]

    @property
    def n_items(self) -> int:
        return len(self.log_phi)

    @property
    def n_classes(self) -> int:
        return self.log_phi.shape[1]

    def graph(self) -> PairGraph:
        return PairGraph.from_answers(
            self.left,
            self.right,
            self.same,
            n_items=self.n_items,
            weight=self.weight,
            group=self.group,
            n_groups=len(self.S),
        )


def random_tree_problem(seed: int, n_items: int, n_classes: int, extra: int) -> Problem:
    """A random tree, with ``extra`` answers that repeat or contradict answers on its edges."""
    rng = np.random.default_rng(seed)
    child = np.arange(1, n_items)
    parent = np.array([rng.integers(0, c) for c in child], dtype=int)
    again = rng.integers(0, n_items - 1, extra)
    left, right = np.append(child, child[again]), np.append(parent, parent[again])
    swap = rng.random(left.size) < 0.5
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    S = rng.uniform(0.02, 0.98, (3, n_classes, n_classes))
    n = left.size
    return Problem(
        left=left,
        right=right,
        same=rng.random(n) < 0.5,
        weight=rng.choice([0.25, 0.5, 1.0, 1.0, 2.0], n).astype(np.float32),
        group=rng.integers(0, 3, n),
        log_phi=rng.normal(size=(n_items, n_classes)),
        S=(S + S.swapaxes(1, 2)) / 2,
        clamp={int(rng.integers(n_items)): int(rng.integers(n_classes))} if seed % 2 else {},
    )


def loopy_problem(n_items: int = 9, n_classes: int = 2, seed: int = 3) -> Problem:
    """Every pair of items answered once by its planted classes with 30 % noise, weak potentials."""
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(n_items, 1)
    y = np.arange(n_items) % n_classes
    S = np.where(np.eye(n_classes, dtype=bool), 0.7, 0.3)[None]
    return Problem(
        left=left,
        right=right,
        same=rng.random(left.size) < S[0][y[left], y[right]],
        weight=np.ones(left.size, dtype=np.float32),
        group=np.zeros(left.size, dtype=int),
        log_phi=0.7 * np.eye(n_classes)[y] + 0.3 * rng.normal(size=(n_items, n_classes)),
        S=S,
        clamp={},
    )


def sparse_problem(n_classes: int, weights: bool = False) -> tuple[PairGraph, FloatArray]:
    """150 random answers on 60 items, some on the same pair, and the logarithms of potentials."""
    rng = np.random.default_rng(0)
    left, right = rng.integers(60, size=(2, 150))
    weight = rng.uniform(0.2, 2.0, 150) if weights else None
    same = rng.random(150) < 0.4
    graph = PairGraph.from_answers(left, right, same, n_items=60, weight=weight)
    return graph, np.log(rng.dirichlet(np.full(n_classes, 0.5), 60) + 1e-6)


def planted(
    n_items: int, n_pairs: int, prior: float, seed: int
) -> tuple[PairGraph, NDArray[np.bool_]]:
    """Two planted classes; pairing noise of 20 %."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_items) < prior
    left = rng.integers(0, n_items, n_pairs)
    right = (left + rng.integers(1, n_items, n_pairs)) % n_items
    same = (y[left] == y[right]) ^ (rng.random(n_pairs) < 0.2)
    return PairGraph.from_answers(left, right, same, n_items=n_items), y


@dataclass
class Truth:
    """What enumeration of all K^n assignments gives."""

    assignments: NDArray[np.int64]
    probability: FloatArray
    log_likelihood: float
    item: FloatArray


def enumerate_classes(p: Problem) -> Truth:
    k = p.n_classes
    phi = np.exp(p.log_phi)
    for item, known in p.clamp.items():
        phi[item] = np.eye(k)[known]
    phi /= phi.sum(axis=1, keepdims=True)
    every = np.array(list(itertools.product(range(k), repeat=p.n_items)))
    product = np.prod([phi[i, every[:, i]] for i in range(p.n_items)], axis=0)
    for i, j, q, w, r in zip(p.left, p.right, p.same, p.weight, p.group, strict=True):
        says_same = np.clip(p.S[r], PROBABILITY_FLOOR, 1)[every[:, i], every[:, j]]
        says_not = np.clip(1 - p.S[r], PROBABILITY_FLOOR, 1)[every[:, i], every[:, j]]
        product = product * (says_same if q else says_not) ** float(w)
    probability = product / product.sum()
    item = np.array(
        [[probability[every[:, i] == y].sum() for y in range(k)] for i in range(p.n_items)]
    )
    return Truth(every, probability, float(np.log(product.sum())), item)


def joint(truth: Truth, i: int, j: int, k: int) -> FloatArray:
    table = np.zeros((k, k))
    np.add.at(table, (truth.assignments[:, i], truth.assignments[:, j]), truth.probability)
    return table
