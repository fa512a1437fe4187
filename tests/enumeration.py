"""Brute force from the definition of the noise: sum over every class, report and flip."""

from __future__ import annotations

from itertools import product

import numpy as np


def pairing_outcomes(K, similar_flip, dissimilar_flip):
    """Yield (y, y', answer, probability of the answer given y, y')."""
    for y, z in product(range(K), repeat=2):
        for flipped in (False, True):
            rate = similar_flip if y == z else dissimilar_flip
            yield y, z, (y == z) != flipped, rate if flipped else 1.0 - rate


def labeling_outcomes(F):
    """Yield (y, y', answer, probability): both items report, the reports are compared."""
    K = len(F)
    for y, z, reported, reported2 in product(range(K), repeat=4):
        yield y, z, reported == reported2, F[y, reported] * F[z, reported2]


def composed_outcomes(F, similar_flip, dissimilar_flip):
    for y, z, answer, chance in labeling_outcomes(F):
        rate = similar_flip if answer else dissimilar_flip
        yield y, z, answer, chance * (1.0 - rate)
        yield y, z, not answer, chance * rate


def table(outcomes, K):
    """Return P(answer | y, y') with shape (2, K, K): index 0 is "same"."""
    P = np.zeros((2, K, K))
    for y, z, answer, chance in outcomes:
        P[0 if answer else 1, y, z] += chance
    return P


def random_flip(K, rng, strength=0.4):
    """Return a K×K row-stochastic matrix with at least 1 − strength on the diagonal."""
    F = rng.random((K, K)) + 1e-3
    np.fill_diagonal(F, 0.0)
    F *= strength * rng.random((K, 1)) / F.sum(axis=1, keepdims=True)
    np.fill_diagonal(F, 1.0 - F.sum(axis=1))
    return F
