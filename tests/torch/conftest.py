"""Rows that every test of the networks may use."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@pytest.fixture
def rows() -> tuple[Floats, Floats, Floats]:
    """Forty rows with signed prices u, v and u + v > 0, as the loss correction makes them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    total = rng.integers(1, 5, size=40).astype(float)
    u = total * rng.uniform(-0.8, 1.8, size=40)
    return X, u, total - u
