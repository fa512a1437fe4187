"""Folds of items and of people: what is held out, and its chance by integration."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, logit, logsumexp
from scipy.stats import norm

from noisypairs import PairingNoise
from noisypairs.estimators.joint.parts.held_out import ItemFold, PeopleFold, crowd_nodes
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.inference import em
from noisypairs.inference.graph import PairGraph
from noisypairs.noise.people import People
from tests.estimators.joint.builders import crowd

PEOPLE = frozenset({"people"})


def begin(problem):
    """Some rounds from the first of two coordinates."""
    guess = np.where(problem.X[:, :1] > problem.X[:, 1:2], [0.8, 0.2], [0.2, 0.8])
    return rounds(problem, guess, problem.graph)


def rounds(problem, guess, graph):
    start = problem.fast_potential, guess, PairingNoise(0.2, 0.2), PairingNoise.fit
    return em.infer(em.GraphEStep(graph), *start, max_iter=8)


def run(problem, found, parts):
    graph = PairGraph.from_pairs(problem.pairs, annotators="people" in parts)
    return rounds(problem, found.beliefs.item, graph)


@pytest.fixture(scope="module")
def simulated():
    return crowd(n_items=80, n_classes=2, n_annotators=9, bias_spread=1.0, pairs_per_item=25)


@pytest.fixture(scope="module")
def problem(simulated):
    return JointProblem(simulated.data, simulated.pairs, [2], "auto", 0)


def test_items_held_out_are_nowhere_in_the_rest(problem):
    out = np.arange(80) % 3 == 0
    fold = ItemFold(problem, out, begin, run, gaussian=False)
    pairs = problem.pairs
    asked = [n for n in range(pairs.n_pairs) if out[pairs.left[n]] or out[pairs.right[n]]]
    assert_array_equal(fold.rows, asked)
    assert fold.rest.pairs.n_items == (~out).sum()
    assert fold.rest.pairs.n_pairs + len(asked) == pairs.n_pairs
    assert_array_equal(fold.rest.X, problem.X[~out])


@pytest.mark.parametrize("gaussian", [False, True])
def test_answers_about_new_items_follow_from_their_features(problem, simulated, gaussian):
    """The groups lie six deviations apart: predicted as if the true classes were known."""
    fold = ItemFold(problem, np.arange(80) % 3 == 0, begin, run, gaussian)
    found = fold.log_chance(frozenset())
    same = simulated.target[fold.answers.left] == simulated.target[fold.answers.right]
    S = fold.begun.noise.same_probability(2)
    chance = np.where(same, S[0, 0], S[0, 1])
    expected = np.log(np.where(fold.answers.same, chance, 1 - chance))
    # Nearly: the potentials are not certain.
    assert np.abs(found - expected).mean() < 0.05
    assert fold.log_chance(PEOPLE).sum() > found.sum() + 8
    assert fold.found(PEOPLE) is fold.found(PEOPLE | {"similarity"})  # it moves no class


def test_similarity_is_learnt_from_the_rest_alone(problem):
    fold = ItemFold(problem, np.arange(80) % 3 == 0, begin, run, gaussian=False)
    without, with_it = fold.log_chance(frozenset()), fold.log_chance(frozenset({"similarity"}))
    assert without.shape == with_it.shape
    assert np.abs(without - with_it).max() > 1e-3
    assert abs(with_it.sum() - without.sum()) < 10  # there is none in this crowd


def test_people_held_out_are_integrated_over_the_crowd(problem):
    out = np.arange(9) < 3
    fold = PeopleFold(problem, out, begin, run)
    assert fold.answers.n_pairs == out[problem.pairs.annotator].sum()
    assert not out[fold.rest.pairs.annotator].any()
    found, people = fold.log_chance(PEOPLE), fold.found(PEOPLE).people
    S, beliefs = fold.found(PEOPLE).noise.same_probability(2), fold.found(PEOPLE).beliefs.item
    odds = logit(S) + np.where(np.eye(2), people.shift[1], people.shift[0])
    grid = np.linspace(-5, 5, 41)
    weight = norm.logpdf(grid) + np.log(0.25)
    for who in range(3):
        own = problem.pairs.select(problem.pairs.annotator == who)
        left, right = beliefs[own.left], beliefs[own.right]
        values = np.empty((41, 41))
        for a, bias in enumerate(grid * people.bias_spread):
            for b, skill in enumerate(grid * people.skill_spread):
                matrix = expit(odds + bias + skill * (np.eye(2) - 0.5))
                chance = np.einsum("ns,st,nt->n", left, matrix, right)
                values[a, b] = np.log(np.where(own.same, chance, 1 - chance)).sum()
        expected = logsumexp(values + weight[:, None] + weight)
        # Seven nodes are coarse for somebody with many answers.
        assert found[who] == pytest.approx(expected, abs=0.02 * abs(expected))


def test_without_people_everybody_answers_as_the_crowd(problem):
    fold = PeopleFold(problem, np.arange(9) < 3, begin, run)
    S, beliefs = fold.begun.noise.same_probability(2), fold.begun.beliefs.item
    own = problem.pairs.select(problem.pairs.annotator == 1)
    chance = np.einsum("ns,st,nt->n", beliefs[own.left], S, beliefs[own.right])
    expected = np.log(np.where(own.same, chance, 1 - chance)).sum()
    assert fold.log_chance(frozenset())[1] == pytest.approx(expected)


def test_nodes_have_the_moments_of_the_crowd():
    people = People(*np.zeros((4, 1)), bias_spread=0.7, skill_spread=1.2, shift=(0.1, 0.2))
    weights, nodes = crowd_nodes(people)
    assert weights.sum() == pytest.approx(1)
    moments = [weights @ nodes.bias, weights @ nodes.skill, weights @ (nodes.bias * nodes.skill)]
    assert_allclose(moments, 0, atol=1e-12)
    assert_allclose([weights @ nodes.bias**2, weights @ nodes.skill**2], [0.49, 1.44])
    assert weights @ nodes.bias**4 == pytest.approx(3 * 0.7**4)
    assert nodes.shift == people.shift
