"""Planted classes with random pairs, all labellings, and what they break and cost."""

import itertools

import numpy as np

from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of


def planted(n, n_pairs, n_classes, noise=0.0, seed=0, separation=1.0):
    """Items around random centres, pairs drawn at random, a share of the answers turned over."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, 3)) + separation * rng.normal(size=(n_classes, 3))[y]
    left = rng.integers(n, size=n_pairs)
    right = (left + rng.integers(1, n, size=n_pairs)) % n
    same = (y[left] == y[right]) ^ (rng.random(n_pairs) < noise)
    return X, y, Pairs(left, right, same, n_items=n)


def count_broken(y, pairs):
    """Weight of the answers broken by labellings of shape (..., n_items), straight from them."""
    weight = weights_of(pairs)
    return ((y[..., pairs.left] == y[..., pairs.right]) != pairs.same) @ weight


def labellings(n, n_classes):
    """All of them, shape (K^n, n)."""
    return np.array(list(itertools.product(range(n_classes), repeat=n)))


def same_partition(a, b):
    return np.array_equal(a[:, None] == a, b[:, None] == b)
