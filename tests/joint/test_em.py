"""The loop of expectation maximisation, against propagation alone and against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from noisypairs import PairingNoise, Pairs, sample_pairs
from noisypairs.graph.propagation import PairGraph, cavities, propagate
from noisypairs.joint.class_model import ClassModel, SharesModel
from noisypairs.joint.em import GraphEStep, KnownModel, Spec, beliefs_from, evidence, run_em
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.noise import AnswerModel, Clarity, LabelingNoise, MatrixNoise
from tests.graph.graph_problems import (
    Problem,
    enumerate_classes,
    loopy_problem,
    planted,
    random_tree_problem,
)
from tests.joint.builders import data


def matrix_noise(S):
    return MatrixNoise(tuple(map(tuple, S.tolist())))


def tree(seed: int, n_classes: int, n_items: int = 8) -> Problem:
    """A tree of one group with moderate potentials, all above the loop's floor."""
    problem = random_tree_problem(seed, n_items, n_classes, extra=6)
    phi = np.random.default_rng(seed).uniform(0.1, 1, (n_items, n_classes))
    problem.log_phi = np.log(phi / phi.sum(axis=1, keepdims=True))
    problem.group = np.zeros_like(problem.group)
    problem.S = np.where(np.eye(n_classes, dtype=bool), 0.75, 0.3)[None]
    problem.clamp = {}
    return problem


def loop(graph, model, answers, guess, clamp=None, sweeps=500, **options):
    spec = Spec(answers.n_classes, model.name, answers.family)
    return run_em(spec, "guess", GraphEStep(graph, clamp, sweeps), model, answers, guess, **options)


def run(problem: Problem, family="given", **options):
    phi = np.exp(problem.log_phi)
    answers = AnswerModel(matrix_noise(problem.S[0]), family, phi.shape[1])
    return loop(problem.graph(), KnownModel(phi), answers, phi, **options)


# --- the E-step ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_nothing_to_learn_is_propagation(n_classes):
    problem = loopy_problem(n_classes=n_classes)
    problem.log_phi -= np.log(np.exp(problem.log_phi).sum(axis=1, keepdims=True))
    found = run(problem, rounds=30, tolerance=1e-10)
    alone = propagate(problem.graph(), problem.log_phi, problem.S[0], tol=1e-12, max_iter=2000)
    assert alone.converged
    assert_allclose(found.item_proba, alone.item, rtol=0, atol=1e-3)  # where a round's sweeps end


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("clamp", [None, {2: 1}, {0: 0, 5: 1}])
def test_beliefs_and_likelihood_on_a_tree_are_exact(n_classes, clamp):
    problem = tree(4, n_classes)
    problem.clamp = clamp or {}
    found, truth = run(problem, clamp=clamp, tolerance=1e-10), enumerate_classes(problem)
    assert_allclose(found.item_proba, truth.item, rtol=0, atol=1e-4)
    assert found.log_likelihood == pytest.approx(truth.log_likelihood, abs=1e-4)


def test_a_hard_state_on_a_tree_is_exact():
    """Three states by enumeration; a hard item has the class that its features show."""
    problem = tree(4, 2)
    phi, part = np.exp(problem.log_phi), Clarity(0.3, ((0.4, 0.6), (0.55, 0.45)))
    answers = AnswerModel(matrix_noise(problem.S[0]), "given", 2, (part,))
    found = loop(problem.graph(), KnownModel(phi), answers, phi, rounds=1)
    S = np.full((3, 3), 0.6)
    S[:2, :2], S[2, 2] = problem.S[0], 0.45
    problem.S, problem.log_phi = S[None], np.log(np.c_[0.7 * phi, np.full(8, 0.3)])
    truth = enumerate_classes(problem)
    assert_allclose(found.beliefs.item, truth.item, rtol=0, atol=2e-3)
    assert found.log_likelihood == pytest.approx(truth.log_likelihood, abs=1e-3)
    expected = truth.item[:, :2] + truth.item[:, 2:] * phi
    assert_allclose(found.item_proba, expected, rtol=0, atol=2e-3)


def test_evidence_is_what_multiplies_the_features():
    rng = np.random.default_rng(0)
    phi, m = rng.dirichlet([2, 2, 2], 20), rng.dirichlet([1, 1, 1], 20)
    beliefs = phi * m / (phi * m).sum(axis=1, keepdims=True)
    assert_allclose(evidence(beliefs, phi), m, atol=1e-9)


def test_a_guess_of_equal_shares_is_not_lost_without_features():
    """Equal P(class) of all items prefers no class: the guess must travel in the messages."""
    y = np.repeat([0, 1], 50)
    pairs = sample_pairs(y, 2000, PairingNoise(0.1, 0.1), random_state=0)
    answers = AnswerModel(PairingNoise(0.2, 0.2), "pairing", 2)
    guess = 0.6 * np.eye(2)[y] + 0.2
    found = loop(PairGraph.from_pairs(pairs), SharesModel(np.ones(100)), answers, guess, sweeps=25)
    assert_array_equal(found.item_proba.argmax(axis=1), y)


def test_a_guess_is_not_lost_where_features_say_nothing():
    """P(class) that is only nearly equal prefers no class either."""
    y = np.repeat([0, 1, 2, 3], 25)
    noise = PairingNoise(0.2, 0.2)
    pairs = sample_pairs(y, 2000, noise, random_state=0)
    phi = 0.25 + 0.01 * np.random.default_rng(0).normal(size=(100, 4))
    guess = 0.8 * np.eye(4)[y] + 0.05
    answers, graph = AnswerModel(noise, "given", 4), PairGraph.from_pairs(pairs)
    found = loop(graph, KnownModel(phi), answers, guess, sweeps=3, rounds=1)
    assert_array_equal(found.item_proba.argmax(axis=1), y)


# --- the M-step ----------------------------------------------------------------------------------


def penalty_of_rates(noise, _n_classes):
    rates = np.array([noise.similar_flip, noise.dissimilar_flip])
    return 10 * (0.2 * np.log(rates) + 0.8 * np.log1p(-rates)).sum()


def penalty_of_entries(noise, n_classes):
    S, prior = noise.same_probability(n_classes), np.where(np.eye(n_classes), 0.8, 0.2)
    return 10 * (prior * np.log(S) + (1 - prior) * np.log1p(-S)).sum()


def penalty_of_flips(noise, n_classes):
    F, prior = noise.flip_matrix(n_classes), np.where(np.eye(n_classes), 0.8, 0.2)
    return 10 * (prior * np.log(F)).sum()


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("family", "start", "penalty", "n_classes"),
    [
        ("pairing", PairingNoise(0.25, 0.3), penalty_of_rates, 2),
        ("pairing", PairingNoise(0.25, 0.3), penalty_of_rates, 3),
        ("free", MatrixNoise(((0.75, 0.3), (0.3, 0.75))), penalty_of_entries, 2),
        ("labeling", LabelingNoise(0.1, 0.2), penalty_of_flips, 2),
    ],
)
def test_every_step_explains_the_answers_better(family, start, penalty, seed, n_classes):
    """EM's guarantee on a forest, where the E-step is exact, judged by enumeration of all classes.

    Fits with a weak prior raise log-likelihood + log-prior; 1e-4 is left to the E-step's own
    tolerance and the flip matrix's solver.
    """
    problem, values = tree(seed, n_classes), []
    phi = np.exp(problem.log_phi)
    answers, e_step = AnswerModel(start, family, n_classes), GraphEStep(problem.graph(), sweeps=500)
    for _ in range(8):
        problem.S = answers.matrices()[None]
        values.append(enumerate_classes(problem).log_likelihood + penalty(answers.table, n_classes))
        seen, _ = e_step(problem.log_phi, phi, phi, answers)
        answers = answers.fitted(seen)
    assert min(np.diff(values)) > -1e-4
    assert values[-1] > values[0] + 1e-3


def test_without_features_the_graph_decides_and_the_rates_come_back():
    graph, y = planted(200, 4000, 0.3, seed=0)
    guess = np.random.default_rng(1).dirichlet([2, 2], 200)
    guess[:40] = 0.2 + 0.6 * np.eye(2)[y[:40].astype(int)]
    answers = AnswerModel(PairingNoise(0.3, 0.3), "pairing", 2)
    found = loop(graph, SharesModel(np.ones(200)), answers, guess, sweeps=25)
    assert accuracy_up_to_names(y, found.item_proba.argmax(axis=1)) > 0.99
    assert found.answers.table.similar_flip == pytest.approx(0.2, abs=0.03)
    assert found.answers.table.dissimilar_flip == pytest.approx(0.2, abs=0.03)
    assert found.phi[0, 1] == pytest.approx(y.mean(), abs=0.02)


def test_everybody_gets_their_own_matrix_where_classes_are_known():
    rng = np.random.default_rng(0)
    y = (rng.random(60) < 0.4).astype(int)
    left = rng.integers(0, 60, 6000)
    right = (left + rng.integers(1, 60, 6000)) % 60
    who = rng.integers(0, 3, 6000)
    same = (y[left] == y[right]) ^ (rng.random(6000) < np.array([0.1, 0.3, 0.5])[who])
    pairs = Pairs(left, right, same, 60, annotator=who)
    graph = PairGraph.from_pairs(pairs, annotators=True)
    found = beliefs_from(graph, 0.2 + 0.6 * np.eye(2)[y], PairingNoise(0.3, 0.3), pairs)
    S = found.answers.matrices()
    assert_allclose(
        np.c_[1 - S[:, 0, 0], S[:, 0, 1]], [[r] * 2 for r in (0.1, 0.3, 0.5)], atol=0.05
    )
    assert_array_equal(found.item_proba.argmax(axis=1), y)


def test_em_goes_on_while_people_are_learnt_though_beliefs_stay():
    """Beliefs that are right already change no more, but who answers badly is still to be seen."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=90)
    left = rng.integers(0, 90, 3000)
    right = (left + rng.integers(1, 90, 3000)) % 90
    who = rng.integers(0, 6, 3000)
    wrong = rng.random(3000) < np.array([0.1, 0.1, 0.1, 0.1, 0.5, 0.9])[who]
    pairs = Pairs(left, right, (y[left] == y[right]) ^ wrong, 90, annotator=who)
    found = beliefs_from(
        PairGraph.from_pairs(pairs, annotators=True),
        0.001 + 0.997 * np.eye(3)[y],
        PairingNoise(0.2, 0.2),
        pairs,
    )
    values = [row["log_likelihood"] for row in found.history]
    assert len(values) > 2
    assert values[-1] > values[0] + 300


# --- rounds --------------------------------------------------------------------------------------


class Sharpening(ClassModel):
    """Right with another probability every round, at last always the same."""

    name, calibrated = "sharpening", False

    def __init__(self, y, rights):
        self.y, self.rights, self.rounds = y, rights, []
        self.weight = np.ones(len(y))

    def scores(self, beliefs):
        del beliefs
        right = self.rights[min(len(self.rounds), len(self.rights) - 1)]
        self.rounds.append(right)
        return np.log(np.where(np.eye(2, dtype=bool)[self.y], right, 1 - right))

    def fitted(self, beliefs, line):
        raise NotImplementedError


def rounds_of(rights, rounds=10, family="given"):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    pairs = sample_pairs(y, 400, PairingNoise(0.3, 0.3), random_state=0)
    model, answers = Sharpening(y, rights), AnswerModel(PairingNoise(0.3, 0.3), family, 2)
    guess = np.where(np.eye(2, dtype=bool)[y], 0.8, 0.2)
    found = loop(PairGraph.from_pairs(pairs), model, answers, guess, sweeps=25, rounds=rounds)
    return found, model.rounds, found.phi.max()


def test_the_round_that_explains_most_is_kept_and_the_second_fall_is_the_last():
    found, rounds, right = rounds_of([0.6, 0.75, 0.65, 0.55, 0.9])
    assert rounds == [0.6, 0.75, 0.65, 0.55]
    assert right == pytest.approx(0.75)
    assert found.converged
    values = [row["log_likelihood"] for row in found.history]
    assert found.log_likelihood == max(values)
    alone, _, _ = rounds_of([0.75], rounds=1)
    assert found.log_likelihood == pytest.approx(alone.log_likelihood, abs=0.2)


def test_one_fall_ends_nothing():
    _, rounds, right = rounds_of([0.6, 0.75, 0.74, 0.8], rounds=4)
    assert rounds == [0.6, 0.75, 0.74, 0.8]
    assert right == pytest.approx(0.8)


def test_the_round_that_explains_most_is_kept_though_a_later_one_converged():
    found, rounds, right = rounds_of([0.8, 0.6])
    assert found.converged
    assert right == pytest.approx(0.8)
    assert len(rounds) < 10
    n_answers = 2000

    def still(row):
        return row["belief_change"] < 1e-3 and row["gain"] < 0.01 * np.sqrt(n_answers)

    assert still(found.history[-1])
    assert not any(still(row) for row in found.history[:-1])


def test_too_few_rounds_have_not_converged():
    found, rounds, _ = rounds_of([0.55, 0.65, 0.75], rounds=3)
    assert len(rounds) == len(found.history) == 3
    assert not found.converged


# --- another order of classes --------------------------------------------------------------------


@pytest.mark.parametrize(
    "noise",
    [
        PairingNoise(0.1, 0.2),
        LabelingNoise(flip=[[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.0, 0.1, 0.9]]),
        MatrixNoise(((0.9, 0.3, 0.1), (0.3, 0.6, 0.2), (0.1, 0.2, 0.7))),
    ],
    ids=["pairing", "labeling", "free"],
)
@pytest.mark.parametrize("hard", [False, True])
def test_everything_follows_when_classes_are_put_in_another_order(noise, hard):
    _, _, pairs = data(n_items=50, n_pairs=300)
    graph, order = PairGraph.from_pairs(pairs), np.array([2, 0, 1])
    parts = (Clarity(0.2, ((0.5, 0.5), (0.6, 0.4))),) if hard else ()
    guess = 0.2 + 0.4 * np.eye(3)[np.arange(50) % 3]
    answers = AnswerModel(noise, "given", 3, parts)
    found = loop(graph, SharesModel(np.ones(50)), answers, guess, rounds=1, tolerance=0.0)
    turned = found.permuted(order)
    assert_array_equal(turned.item_proba, found.item_proba[:, order])
    assert_array_equal(turned.phi, found.phi[:, order])
    S = noise.same_probability(3)[np.ix_(order, order)]
    assert_allclose(turned.answers.S, S, atol=1e-12)
    assert_allclose(turned.evidence, found.evidence[:, order])
    states = np.append(order, 3) if hard else order
    edges = np.arange(graph.n_edges)
    for one, other in zip(
        cavities(graph, turned.beliefs, edges), cavities(graph, found.beliefs, edges), strict=True
    ):
        assert_allclose(one, other[:, states], atol=1e-6)
    back = turned.permuted(np.argsort(order))
    assert_allclose(back.item_proba, found.item_proba)
