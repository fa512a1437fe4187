"""Items, points of a known law, and mutual information by enumeration."""

from __future__ import annotations

import itertools

import numpy as np

from noisypairs import PairingNoise
from noisypairs.app.learning_curve import NEW, LearningCurve

NOISE = PairingNoise(0.1, 0.2)


def items(n: int, seed: int, separation: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return np.outer(2 * y - 1, [separation, 0.0, 0.0]) + rng.standard_normal((n, 3)), y


def mutual_information(joint: np.ndarray, S: np.ndarray) -> float:
    """Enumerate P(y, y', answer) and sum P log P / (P P)."""
    K, total = len(S), 0.0
    for y, z, q in itertools.product(range(K), range(K), (0, 1)):
        chance = joint[y, z] * (S[y, z] if q else 1 - S[y, z])
        of_answer = (joint * (S if q else 1 - S)).sum()
        if chance > 0:
            total += chance * np.log2(chance / (joint[y, z] * of_answer))
    return total


def law_points(name: str, seed: int, error: float) -> LearningCurve:
    sizes = np.array([300, 480, 760, 1200, 1900])
    exact = 0.92 - 4.0 / sizes**0.8 if name == NEW else 1 - 0.25 * np.exp(-0.6 * sizes / 1000)
    noise = error * np.random.default_rng(seed).standard_normal(5)
    return LearningCurve(name, sizes, exact + noise, np.eye(5) * error**2)
