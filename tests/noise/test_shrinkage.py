"""Groups are shrunk towards the crowd as by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from noisypairs.noise.shrinkage import group_errors, strength


def group_counts(rates, answers, n_classes=3):
    """Counts of groups with rates (ρ_S, ρ_D), as many answers on same as on different pairs."""
    diagonal = np.eye(n_classes, dtype=bool)
    asked = np.where(diagonal, 1 / n_classes, 1 / (n_classes * (n_classes - 1)))
    S = np.array([np.where(diagonal, 1 - similar, flip) for similar, flip in rates])
    asked = asked * np.asarray(answers, dtype=float)[:, None, None]
    return asked * S, asked * (1 - S)


def test_group_errors_by_hand():
    same, different = group_counts([(0.1, 0.4), (0.5, 0.5)], [50, 8])
    wrong, total = group_errors(same, different)
    assert_allclose(wrong, [[5, 4], [20, 4]])
    assert_allclose(total, [[50, 8], [50, 8]])


def test_strength_by_hand():
    wrong, total, mean = np.array([6.0, 1.0, 4.0]), np.array([10.0, 10.0, 20.0]), 0.3
    spread = sum(
        (w - mean * t) ** 2 - mean * (1 - mean) * t for w, t in zip(wrong, total, strict=True)
    )
    variance = spread / sum(t * (t - 1) for t in total)
    expected = mean * (1 - mean) / variance - 1
    assert 2 < expected < 200
    assert strength(wrong, total, mean) == pytest.approx(expected)
    assert strength(np.array([0.0, 100.0]), np.array([100.0, 100.0]), 0.5) == 2
    assert strength(np.zeros(3), np.zeros(3), 0.2) == 200  # no answers at all


@pytest.mark.parametrize("expected", [5.0, 20.0, 80.0])
def test_strength_of_a_beta_crowd_comes_back(expected):
    """4,000 annotators, 60 answers each, rates Beta(m s, (1−m) s): s within a fifth."""
    rng, mean = np.random.default_rng(0), 0.3
    total = np.full(4000, 60.0)
    wrong = rng.binomial(60, rng.beta(mean * expected, (1 - mean) * expected, 4000))
    assert strength(wrong.astype(float), total, mean) == pytest.approx(expected, rel=0.2)
