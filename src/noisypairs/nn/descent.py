"""Stochastic gradient descent on small dense networks, with the gradients written out.

For layers of a hundred units and batches of 32, automatic differentiation spends most of its time
on bookkeeping. Written out, the same steps take a quarter of it or less.

    forward    h₀ = x,  h_k = max(0, h_{k−1} W_kᵀ + b_k),  z = h_{L−1} W_Lᵀ + b_L
    backward   δ_L = ∂R/∂z,  ∂R/∂W_k = δ_kᵀ h_{k−1},  ∂R/∂b_k = Σ δ_k,
               δ_{k−1} = (δ_k W_k) 1[h_{k−1} > 0]
    step       v ← momentum · v + ∂R,  W ← W − rate · v
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float32]
#: From the network's number z, shape (m,), and both weights of each row: the risk and ∂R/∂z.
Risk = Callable[[Floats, Floats, Floats], tuple[float, Floats]]


def squared_risk(z: Floats, u: Floats, v: Floats, *, non_negative: bool) -> tuple[float, Floats]:
    """Return R = mean(u (1−p)² + v p²) with p = 1/(1+e⁻ᶻ), and ∂R/∂z, shape (m,).

    >>> risk, slope = squared_risk(*np.float32([[0.0], [1.0], [0.0]]), non_negative=False)
    >>> risk, slope.tolist()
    (0.25, [-0.25])
    """
    p = expit(z)
    return _sum(
        (u * (1.0 - p) ** 2, -2.0 * u * (1.0 - p) ** 2 * p),
        (v * p**2, 2.0 * v * p**2 * (1.0 - p)),
        non_negative,
    )


def logistic_risk(z: Floats, u: Floats, v: Floats, *, non_negative: bool) -> tuple[float, Floats]:
    """Return R = mean(u log(1+e⁻ᶻ) + v log(1+eᶻ)) and ∂R/∂z, shape (m,)."""
    p = expit(z)
    return _sum(
        (u * np.logaddexp(np.float32(0), -z), -u * (1.0 - p)),
        (v * np.logaddexp(np.float32(0), z), v * p),
        non_negative,
    )


def _sum(
    positive: tuple[Floats, Floats], negative: tuple[Floats, Floats], non_negative: bool
) -> tuple[float, Floats]:
    """Add both parts' means and slopes; a part below zero is not followed if so asked."""
    risk, slope = 0.0, np.zeros_like(positive[1])
    for value, gradient in (positive, negative):
        mean = float(value.mean())
        if not (non_negative and mean < 0):
            risk += mean
            slope += gradient
    return risk, slope / np.float32(len(slope))


@dataclass
class Descent:
    """Steps of momentum descent on weights (out, in) and offsets (out,), changed in place."""

    weights: Sequence[Floats]
    offsets: Sequence[Floats]
    risk: Risk
    rate: float
    momentum: float
    decay: float = 0.0
    velocity: list[tuple[Floats, Floats]] = field(init=False)

    def __post_init__(self) -> None:
        self.velocity = [
            (np.zeros_like(W), np.zeros_like(b))
            for W, b in zip(self.weights, self.offsets, strict=True)
        ]

    def step(self, x: Floats, u: Floats, v: Floats) -> float:
        """Take one step on the rows x, shape (m, d), and return their risk before it."""
        layers = [x]
        for W, b in zip(self.weights[:-1], self.offsets[:-1], strict=True):
            h = layers[-1] @ W.T
            h += b
            layers.append(np.maximum(h, 0, out=h))
        z = (layers[-1] @ self.weights[-1].T + self.offsets[-1])[:, 0]
        risk, slope = self.risk(z, u, v)
        delta = slope[:, None]
        for k in range(len(self.weights) - 1, -1, -1):
            gradients = delta.T @ layers[k], delta.sum(axis=0)
            if k:
                delta = (delta @ self.weights[k]) * (layers[k] > 0)
            self._move(k, gradients)
        return risk

    def _move(self, k: int, gradients: tuple[Floats, Floats]) -> None:
        for values, speed, gradient in zip(
            (self.weights[k], self.offsets[k]), self.velocity[k], gradients, strict=True
        ):
            speed *= self.momentum
            speed += gradient
            if self.decay:
                speed += self.decay * values
            values -= self.rate * speed
