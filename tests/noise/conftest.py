"""Counts of answers as a noise model predicts them."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def exact_counts():
    """The counts that S predicts when classes (y, y') come in unequal numbers."""

    def counts(S, total=1e8, seed=0):
        share = np.random.default_rng(seed).dirichlet(np.ones(len(S)) * 5)
        asked = total * np.outer(share, share)
        return asked * S, asked * (1 - S)

    return counts
