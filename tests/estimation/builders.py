"""Pairs with a given number of "same" answers."""

from __future__ import annotations

import numpy as np

from noisypairs import Pairs


def answered(n_same, n_pairs):
    """Build ``n_pairs`` pairs of disjoint items, ``n_same`` of them answered "same"."""
    left = 2 * np.arange(n_pairs)
    return Pairs(left, left + 1, np.arange(n_pairs) < n_same)
