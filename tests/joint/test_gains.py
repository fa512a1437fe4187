"""What an answer is worth, against enumeration, and what is left of it beside another one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from noisypairs import LabelingNoise, PairingNoise
from noisypairs.joint.gains import MOST_BELIEFS, Gains

NOISES = [
    PairingNoise(0.1, 0.2).same_probability(3),
    LabelingNoise(flip=[[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.0, 0.1, 0.9]]).same_probability(3),
]


def information(joint: np.ndarray) -> float:
    """Return I(row; column) in bits of a table of probabilities, by its definition."""
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    cells = itertools.product(range(joint.shape[0]), range(joint.shape[1]))
    return sum(
        joint[i, j] * np.log2(joint[i, j] / (rows[i] * columns[j]))
        for i, j in cells
        if joint[i, j] > 0
    )


def gain(one: np.ndarray, two: np.ndarray, S: np.ndarray) -> float:
    law = np.outer(one, two)
    table = np.stack([law * S, law * (1 - S)], axis=-1)  # (y, y', answer)
    together = information(table.reshape(-1, 2))
    return (together + information(table.sum(axis=1)) + information(table.sum(axis=0))) / 2


@pytest.mark.parametrize("S", NOISES, ids=["pairing", "labeling"])
def test_gains_are_enumerated_mutual_information(S):
    belief = np.random.default_rng(0).dirichlet(np.ones(3), size=5)
    values = Gains(belief, S).values
    assert (np.diag(values) == -np.inf).all()
    for i, j in itertools.permutations(range(5), 2):
        assert values[i, j] == pytest.approx(gain(belief[i], belief[j], S), abs=1e-12)


@pytest.mark.parametrize("S", NOISES, ids=["pairing", "labeling"])
def test_what_is_left_is_the_mean_over_the_answers_counted_on(S):
    belief = np.random.default_rng(1).dirichlet(np.ones(3), size=4)
    gains = Gains(belief, S)
    before = gains.values.copy()
    gains.take(0, 1, np.random.default_rng(0))
    expected = 0.0
    for says in (S, 1 - S):
        after = belief[0] * (says @ belief[1])
        expected += after.sum() * gain(after / after.sum(), belief[2], S)
    assert gains.values[0, 2] == pytest.approx(min(expected, before[0, 2]), abs=1e-12)
    assert gains.values[2, 0] == gains.values[0, 2]
    assert gains.values[0, 1] == -np.inf
    assert gains.values[2, 3] == before[2, 3]  # items of neither


def test_possible_beliefs_stay_few():
    belief = np.full((12, 2), 0.5)
    belief[1:] = [0.9, 0.1]
    gains = Gains(belief, PairingNoise(0.2, 0.2).same_probability())
    rng = np.random.default_rng(0)
    left = []
    for other in range(1, 9):
        left.append(gains.values[0, 11])
        gains.take(0, other, rng)
    chance, possible = gains.possible[0]
    assert len(chance) == len(possible) == MOST_BELIEFS
    assert chance.sum() == pytest.approx(1)
    assert (np.diff(left) <= 0).all()
    assert left[-1] < 0.6 * left[0]
