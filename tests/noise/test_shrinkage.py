"""Groups are shrunk towards the crowd as by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from noisypairs import PairingNoise
from noisypairs.noise.shrinkage import group_errors, group_matrices, strength

CROWD = np.array([[0.7, 0.3, 0.3], [0.3, 0.7, 0.3], [0.3, 0.3, 0.7]])


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


def test_group_matrices_by_hand():
    rates, answers = [(0.05, 0.1), (0.5, 0.5), (0.3, 0.35)], [100, 40, 3]
    same, different = group_counts(rates, answers)
    found = group_matrices(same, different, CROWD)
    assert found.shape == (3, 3, 3)
    for kind in (0, 1):
        wrong = np.array([r[kind] * n for r, n in zip(rates, answers, strict=True)])
        m = strength(wrong, np.array(answers, dtype=float), 0.3)
        assert 2 < m < 200
        by_hand = (wrong + 0.3 * m) / (np.array(answers) + m)
        entry = 1 - found[:, 0, 0] if kind == 0 else found[:, 0, 1]
        assert_allclose(entry, by_hand)
    for S in found:  # two rates each
        assert_allclose(S, PairingNoise(1 - S[0, 0], S[0, 1]).same_probability(3))


def test_groups_with_many_answers_keep_their_own_rates():
    rates = [(0.02, 0.03), (0.5, 0.5), (0.95, 0.9)]  # good, a coin, reversed
    found = group_matrices(*group_counts(rates, [1e6] * 3), CROWD)
    assert_allclose(np.c_[1 - found[:, 0, 0], found[:, 0, 1]], rates, atol=1e-3)
    silent = group_matrices(*group_counts([(0, 0)] * 2, [0, 0]), CROWD)
    assert_allclose(silent, [CROWD, CROWD])  # who never answered is like the crowd
