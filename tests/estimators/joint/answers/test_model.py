"""The chance of every answer, by loops over states, and the slope of similarity by search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, logit

from noisypairs import PairingNoise, Pairs
from noisypairs.estimators.joint.answers.model import PRECISION, AnswerModel, Similarity
from noisypairs.noise import MatrixNoise
from noisypairs.noise.clarity import ClarityNoise
from noisypairs.noise.people import People

CLEAR = MatrixNoise(((0.9, 0.2), (0.2, 0.7)))
HARD = ClarityNoise(CLEAR, (0.6, 0.4), (0.5, 0.45), 0.25, n_classes=2)
PEOPLE = People(np.array([0.8, -0.5]), np.array([0.3, -1.0]), *np.ones((2, 2)), shift=(-0.1, 0.2))
NAMES = np.array(["ann", "bob"])
MODELS = {
    "crowd": AnswerModel(CLEAR, 2),
    "people": AnswerModel(CLEAR, 2, PEOPLE, NAMES),
    "hard": AnswerModel(HARD, 2),
    "both": AnswerModel(HARD, 2, PEOPLE, NAMES),
}


def answers(n=40, n_items=9, seed=0):
    """Answers of ann, bob and eve, whom no model knows, and features of the items."""
    rng = np.random.default_rng(seed)
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    who = rng.choice(["ann", "bob", "eve"], n)
    return Pairs(left, right, rng.random(n) < 0.5, n_items, who), rng.normal(size=(n_items, 3))


def states_of(model, n_items=9, seed=1):
    return np.random.default_rng(seed).dirichlet(np.ones(model.n_states), n_items)


def log_odds(model, name, s, t):
    """The log-odds of "same" for two states, by hand."""
    y, other = s % 2, t % 2
    if s < 2 and t < 2:
        rate = CLEAR.same_probability(2)[y, other]
    else:
        rate = (HARD.both_hard if s > 1 and t > 1 else HARD.one_hard)[0 if y == other else 1]
    odds = logit(rate)
    if model.people is not None and name in NAMES:
        who = NAMES.tolist().index(name)
        sign = 0.5 if y == other else -0.5
        odds += PEOPLE.bias[who] + PEOPLE.skill[who] * sign + (0.2 if y == other else -0.1)
    return odds


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("similar", [False, True])
def test_chance_and_error_by_loops(name, similar):
    model, (pairs, X) = MODELS[name], answers()
    likeness = None
    if similar:
        similarity = replace(Similarity.of_pairs(X, pairs), slope=1.5, shift=(-0.3, 0.4))
        model = replace(model, similarity=similarity)
        likeness = similarity.likeness(X, pairs.left, pairs.right)
    states = states_of(model)
    chance, error = np.zeros((2, pairs.n_pairs))
    for n in range(pairs.n_pairs):
        who = pairs.annotator_names[pairs.annotator[n]]
        for s in range(model.n_states):
            for t in range(model.n_states):
                same = s % 2 == t % 2
                more = 1.5 * likeness[n] + (0.4 if same else -0.3) if similar else 0.0
                both = states[pairs.left[n], s] * states[pairs.right[n], t]
                chance[n] += both * expit(log_odds(model, who, s, t) + more)
                crowd = expit(log_odds(model, "eve", s, t) + more)
                error[n] += both * (1 - crowd if same else crowd)
    assert_allclose(model.chance(states, pairs, likeness), chance)
    assert_allclose(model.expected_error(states, pairs, likeness), error)
    log_chance = np.log(np.where(pairs.same, chance, 1 - chance))
    assert_allclose(model.log_chance(states, pairs, likeness), log_chance)


def test_nobody_is_known_without_people_or_names():
    pairs, _ = answers()
    assert_array_equal(MODELS["crowd"].who(pairs), 0)
    nameless = Pairs(pairs.left, pairs.right, pairs.same, pairs.n_items)
    assert_array_equal(MODELS["people"].who(nameless), 2)


def test_matrices_of_classes_are_means_over_clarity():
    S = MODELS["both"].class_matrices
    assert S.shape == (2, 2, 2)
    for who, name in enumerate(NAMES):
        mean = sum(
            (0.25 if h else 0.75)
            * (0.25 if g else 0.75)
            * expit(log_odds(MODELS["both"], name, 2 * h, 2 * g + 1))
            for h in (0, 1)
            for g in (0, 1)
        )
        assert S[who, 0, 1] == pytest.approx(mean)
    assert_allclose(MODELS["hard"].class_matrices[0], HARD.same_probability(2))
    assert MODELS["people"].class_matrices.shape == (2, 2, 2)


def test_states_of_new_items():
    proba = np.array([[0.3, 0.7]])
    assert_array_equal(MODELS["people"].states(proba), proba)
    assert_allclose(MODELS["hard"].states(proba), [[0.225, 0.525, 0.075, 0.175]])


def test_likeness_is_the_cosine_of_centred_features():
    pairs, X = answers()
    found = Similarity.of_pairs(X, pairs).likeness(X, pairs.left, pairs.right)
    centred = X - X.mean(axis=0)
    a, b = centred[pairs.left], centred[pairs.right]
    cosine = (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert_allclose(found, cosine - cosine.mean())


@pytest.mark.parametrize("X", [np.ones((9, 2)), np.array([["a"]] * 9, dtype=object)])
def test_similarity_needs_numbers_that_differ(X):
    pairs, _ = answers()
    assert Similarity.of_pairs(X, pairs) is None
    model = MODELS["crowd"]
    assert model.with_similarity(states_of(model), pairs, X) is model


@pytest.mark.parametrize("name", ["crowd", "both"])
def test_slope_and_shifts_explain_the_answers_best(name):
    """Nelder and Mead's search, which knows no gradient, ends at the same numbers."""
    model, (pairs, X) = MODELS[name], answers(400)
    states = states_of(model)
    found = model.with_similarity(states, pairs, X).similarity
    likeness = found.likeness(X, pairs.left, pairs.right)

    def unlikely(numbers):
        slope, *shift = numbers
        other = replace(model, similarity=replace(found, slope=slope, shift=tuple(shift)))
        return PRECISION / 2 * numbers @ numbers - other.log_chance(states, pairs, likeness).sum()

    start = np.array([found.slope, *found.shift])
    best = minimize(unlikely, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-4})
    assert_allclose(start, best.x, atol=5e-3)
    assert np.abs(start).max() > 0.05


def test_the_slope_of_simulated_answers_comes_back():
    """3,000 answers, S of two rates that had part of the slope in it: its error is about .15."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = 2.0 * np.eye(2)[y] + rng.normal(size=(200, 2))
    left = rng.integers(0, 200, 3000)
    pairs = Pairs(left, (left + rng.integers(1, 200, 3000)) % 200, np.ones(3000), 200)
    likeness = Similarity.of_pairs(X, pairs).likeness(X, pairs.left, pairs.right)
    same = y[pairs.left] == y[pairs.right]
    said = rng.random(3000) < expit(np.where(same, 1.0, -1.0) + 1.5 * likeness)
    pairs = Pairs(pairs.left, pairs.right, said, 200)
    noise = PairingNoise(1 - said[same].mean(), said[~same].mean())
    model = AnswerModel(noise, 2).with_similarity(np.eye(2)[y], pairs, X)
    assert model.similarity.slope == pytest.approx(1.5, abs=0.45)
    assert model.similarity.shift[0] > 0.1 > -0.1 > model.similarity.shift[1]
