"""The answer model by hand: matrices of every state and person, and the chance of every answer."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit

from noisypairs import PairingNoise, Pairs
from noisypairs.noise import PARTS, AnswerModel, Clarity, MatrixNoise, PairError, People
from noisypairs.noise.answers import chance_of_same, class_chances

TABLE = MatrixNoise(((0.9, 0.2), (0.2, 0.7)))
HARD = Clarity(0.25, ((0.4, 0.6), (0.55, 0.45)))
EFFECTS = np.array([[0.8, 0.3], [-0.5, -1.0]])
PEOPLE = People(EFFECTS, np.ones((2, 2)), np.ones(2), shift=(-0.1, 0.2))
NAMES = np.array(["ann", "bob"])
MODELS = {
    "crowd": AnswerModel(TABLE, "free", 2),
    "people": AnswerModel(TABLE, "free", 2).with_parts(PEOPLE),
    "hard": AnswerModel(TABLE, "free", 2).with_parts(HARD),
    "both": AnswerModel(TABLE, "free", 2).with_parts(PEOPLE, HARD),
}


def chance(name, s, t, who=None):
    """P("same") of two states by hand; state 2 is hard, and of no class."""
    hard = (s == 2) + (t == 2)
    rate = {0: TABLE.same_probability(2)[min(s, 1), min(t, 1)], 1: 0.6, 2: 0.45}[hard]
    if name not in ("people", "both") or who is None:
        return rate
    alike = not hard and s == t
    more = PEOPLE.bias[who] + PEOPLE.skill[who] * (0.5 if alike else -0.5)
    return expit(logit(rate) + more + (0.2 if alike else -0.1))


@pytest.mark.parametrize("name", MODELS)
def test_matrices_by_hand(name):
    model = MODELS[name]
    Q, people = model.n_states, [0, 1] if model.part("people") else [None]
    assert (3 if model.part("clarity") else 2) == Q
    S = model.matrices().reshape(-1, Q, Q)
    assert len(S) == len(people)
    for who, s, t in product(people, range(Q), range(Q)):
        assert S[who or 0, s, t] == pytest.approx(chance(name, s, t, who))
        assert model.alike[s, t] == (s == t and s < 2)


@pytest.mark.parametrize("name", MODELS)
def test_the_chance_of_every_answer_by_loops(name):
    """Of ann, of bob, and of eve, whom no model knows."""
    model, rng = MODELS[name], np.random.default_rng(0)
    left = rng.integers(0, 9, 40)
    right = (left + rng.integers(1, 9, 40)) % 9
    pairs = Pairs(left, right, rng.random(40) < 0.5, 9, rng.choice(["ann", "bob", "eve"], 40))
    states = rng.dirichlet(np.ones(model.n_states), 9)
    expected, one_class, both = np.zeros((3, 40))
    for n in range(40):
        known = [*NAMES.tolist(), "eve"]
        who = known.index(pairs.annotator_names[pairs.annotator[n]])
        for s, t in product(range(model.n_states), repeat=2):
            mass = states[left[n], s] * states[right[n], t]
            rate = chance(name, s, t, who if who < 2 else None)
            expected[n] += mass * rate
            if s == t < 2:
                one_class[n] += mass
                both[n] += mass * rate
    assert_allclose(chance_of_same(model, states, pairs, NAMES), expected)
    alike, different = class_chances(model, states, pairs, NAMES)
    assert_allclose(alike, [one_class, both / one_class])
    assert_allclose(different[0] * different[1], expected - both)


def test_states_and_classes_of_items():
    phi = np.array([[0.3, 0.7], [0.9, 0.1]])
    model = MODELS["both"]
    states = model.states(phi)
    assert_allclose(states, [[0.225, 0.525, 0.25], [0.675, 0.075, 0.25]])
    assert_allclose(model.classes(states, phi), phi)  # hard items are what their features show
    assert_array_equal(MODELS["people"].states(phi), phi)


def test_the_noise_of_an_average_answer_by_enumeration_of_hard_items():
    S = MODELS["both"].crowd_noise().same_probability(2)
    for y, z in product(range(2), repeat=2):
        mean = sum(
            (0.25 if h else 0.75)
            * (0.25 if g else 0.75)
            * chance("hard", 2 if h else y, 2 if g else z)
            for h, g in product((False, True), repeat=2)
        )
        assert S[y, z] == pytest.approx(mean)
    assert MODELS["people"].crowd_noise() is TABLE
    rates = AnswerModel(PairingNoise(0.1, 0.2), "pairing", 3).with_parts(HARD).crowd_noise()
    assert isinstance(rates, PairingNoise)
    assert rates.dissimilar_flip == pytest.approx(0.75**2 * 0.2 + 0.375 * 0.6 + 0.0625 * 0.45)
    assert AnswerModel(TABLE, "given", 2).with_parts(HARD).crowd_noise() is TABLE


def test_parts_have_an_order_and_those_of_strength_zero_are_left_out():
    model = AnswerModel(TABLE, "free", 2).with_parts(PEOPLE, PairError(0.2), HARD)
    assert [part.name for part in model.parts] == [p for p in PARTS if p != "similarity"]
    assert model.with_parts(PairError(0.0)).part("pair error") is None
    assert model.with_parts(None, PairError(0.4)).part("pair error").rho == 0.4
    assert model.without("people", "clarity").parts == model.parts[1:2]


def test_another_order_of_classes():
    S = MODELS["both"].permuted(np.array([1, 0])).matrices()
    order = [1, 0, 2]  # the hard state stays the last
    assert_allclose(S, MODELS["both"].matrices()[:, order][:, :, order])
