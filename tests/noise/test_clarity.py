"""Hard items: S of 2K states, its mean by enumeration of the hidden bits, and its fit by counts."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from noisypairs import PairingNoise
from noisypairs.noise import MatrixNoise
from noisypairs.noise.clarity import (
    ClarityNoise,
    first_clarity,
    fit_clarity,
    hard_probability,
    with_clarity,
    without_clarity,
)

CLEAR = MatrixNoise(((0.9, 0.2, 0.1), (0.2, 0.8, 0.3), (0.1, 0.3, 0.7)))
NOISE = ClarityNoise(CLEAR, (0.6, 0.4), (0.55, 0.5), 0.25, n_classes=3)


def rate(y, other, hard, hard_other):
    """P("same") of two items by hand."""
    if not (hard or hard_other):
        return CLEAR.same_probability(3)[y, other]
    return (NOISE.both_hard if hard and hard_other else NOISE.one_hard)[0 if y == other else 1]


def test_every_state_by_hand():
    S, alike = NOISE.same_probability(6), NOISE.same_class(6)
    for s, t in product(range(6), repeat=2):
        assert S[s, t] == rate(s % 3, t % 3, s >= 3, t >= 3)
        assert alike[s, t] == (s % 3 == t % 3)


def test_s_of_the_classes_is_the_mean_over_hidden_bits():
    S = NOISE.same_probability(3)
    for y, other in product(range(3), repeat=2):
        mean = sum(
            (0.25 if hard else 0.75) * (0.25 if again else 0.75) * rate(y, other, hard, again)
            for hard, again in product((False, True), repeat=2)
        )
        assert S[y, other] == pytest.approx(mean)
    with pytest.raises(ValueError, match="3 classes, but 4 are needed"):
        NOISE.same_probability(4)


def test_the_fit_gives_back_what_made_the_counts():
    share = np.concatenate([0.8 * np.array([0.5, 0.3, 0.2]), 0.2 * np.array([0.5, 0.3, 0.2])])
    asked, S = 1e7 * np.outer(share, share), NOISE.same_probability(6)
    found = fit_clarity(MatrixNoise.fit, 3)(asked * S, asked * (1 - S))
    assert_allclose(found.same_probability(6), S, atol=1e-4)
    assert found.hard_share == pytest.approx(0.2)


def test_few_answers_about_hard_items_leave_them_near_a_coin():
    found = fit_clarity(PairingNoise.fit, 2)(np.zeros((4, 4)), np.zeros((4, 4)))
    assert found.one_hard == found.both_hard == (0.5, 0.5)


def test_renumbered_classes_keep_their_rates():
    order = np.array([2, 0, 1])
    both = np.concatenate([order, order + 3])
    found = NOISE.permuted(order).same_probability(6)
    assert_allclose(found, NOISE.same_probability(6)[np.ix_(both, both)])


def test_the_start_says_next_to_nothing_about_hard_items():
    S = first_clarity(PairingNoise(0.1, 0.1), 2).same_probability(4)
    assert_allclose(S[:2, :2], [[0.9, 0.1], [0.1, 0.9]])
    assert np.abs(S[2:] - 0.5).max() < 0.1


def test_beliefs_with_and_without_clarity():
    beliefs = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    both = with_clarity(beliefs, 0.3)
    assert_allclose(both.sum(axis=1), 1)
    assert_allclose(hard_probability(both), 0.3)
    assert_allclose(without_clarity(both), beliefs)
    assert_array_equal(both[:, 3:], 0.3 * beliefs)
