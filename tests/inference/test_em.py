"""The loop of expectation maximisation, against propagation alone and against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from noisypairs import PairingNoise, sample_pairs
from noisypairs.inference import em
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.posteriors import expected_counts
from noisypairs.inference.propagation import propagate
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.noise import LabelingNoise, MatrixNoise, fixed
from noisypairs.noise.people import fit_people

from .graph_problems import Problem, enumerate_classes, loopy_problem, planted, random_tree_problem


def infer(graph, *start, clamp=None, messages=None, **options):
    """The loop in memory."""
    return em.infer(em.GraphEStep(graph, clamp=clamp, messages=messages), *start, **options)


def matrix_noise(S):
    return MatrixNoise(tuple(map(tuple, S.tolist())))


def constant(phi):
    """A potential that learns nothing."""
    return lambda _beliefs: phi.copy()


def tree(seed: int, n_classes: int, n_items: int = 9) -> Problem:
    """A tree of one group with moderate potentials, all above the loop's floor."""
    problem = random_tree_problem(seed, n_items, n_classes, extra=6)
    phi = np.random.default_rng(seed).uniform(0.1, 1, (n_items, n_classes))
    problem.log_phi = np.log(phi / phi.sum(axis=1, keepdims=True))
    problem.group = np.zeros_like(problem.group)
    problem.S = np.where(np.eye(n_classes, dtype=bool), 0.75, 0.3)[None]
    problem.clamp = {}
    return problem


def run(problem: Problem, fit=None, **options):
    phi = np.exp(problem.log_phi)
    noise = matrix_noise(problem.S[0])
    fit = fit or fixed(noise)
    flat = np.full_like(phi, 1 / phi.shape[1])
    return infer(problem.graph(), constant(phi), flat, noise, fit, **options)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_nothing_to_learn_is_propagation(n_classes):
    problem = loopy_problem(n_classes=n_classes)
    problem.log_phi -= np.log(np.exp(problem.log_phi).sum(axis=1, keepdims=True))
    found = run(problem, tol=1e-10)
    alone = propagate(problem.graph(), problem.log_phi, problem.S[0], tol=1e-12, max_iter=2000)
    assert alone.converged
    assert found.converged
    assert_allclose(found.beliefs.item, alone.item, rtol=0, atol=1e-7)
    assert_array_equal(found.matrices, problem.S[0])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("clamp", [None, {2: 1}, {0: 0, 5: 1}])
def test_beliefs_and_likelihood_on_a_tree_are_exact(n_classes, clamp):
    problem = tree(4, n_classes, n_items=8)
    problem.clamp = clamp or {}
    found, truth = run(problem, tol=1e-10, clamp=clamp), enumerate_classes(problem)
    assert_allclose(found.beliefs.item, truth.item, rtol=0, atol=1e-7)
    assert found.log_likelihood == pytest.approx(truth.log_likelihood, abs=1e-6)
    for item, known in problem.clamp.items():
        assert_array_equal(found.beliefs.item[item], np.eye(n_classes)[known])


def most_likely(same, different):
    """The M-step of a free S without any prior."""
    return matrix_noise(np.clip(same / (same + different), 1e-6, 1 - 1e-6))


def no_penalty(_noise, _n_classes):
    return 0.0


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
    ("fit", "penalty", "n_classes"),
    [
        (most_likely, no_penalty, 2),
        (most_likely, no_penalty, 3),
        (PairingNoise.fit, penalty_of_rates, 2),
        (PairingNoise.fit, penalty_of_rates, 3),
        (MatrixNoise.fit, penalty_of_entries, 2),  # of more classes the prior follows the answers
        (LabelingNoise.fit, penalty_of_flips, 2),
        (LabelingNoise.fit, penalty_of_flips, 3),
    ],
)
def test_every_round_explains_the_answers_better(fit, penalty, seed, n_classes):
    """EM's guarantee on a forest, where the E-step is exact, judged by enumeration of all classes.

    Fits with a weak prior raise log-likelihood + log-prior; 1e-4 is left to the E-step's own
    tolerance and the flip matrix's solver.
    """
    problem, values = tree(seed, n_classes, n_items=8), []
    for rounds in (1, 2, 3, 4, 6, 9):
        found = run(problem, fit, max_iter=rounds, tol=0.0)
        problem_now = tree(seed, n_classes, n_items=8)
        problem_now.S = found.matrices[None]
        log_likelihood = enumerate_classes(problem_now).log_likelihood
        values.append(log_likelihood + penalty(found.noise, n_classes))
    assert min(np.diff(values)) > -1e-4
    assert values[-1] > values[0] + 1e-3


def test_history_tells_every_round():
    problem = tree(0, 2)
    first = run(problem, MatrixNoise.fit, max_iter=1)
    assert not first.converged
    assert len(first.history) == 1
    change = np.abs(first.matrices - problem.S[0]).max()
    assert first.history[0]["noise_change"] == pytest.approx(change)
    moved = np.abs(first.beliefs.item - 0.5).mean()
    assert first.history[0]["belief_change"] == pytest.approx(moved)
    whole = run(problem, MatrixNoise.fit, max_iter=500, tol=1e-5)
    assert whole.converged
    assert max(whole.history[-1].values()) < 1e-5
    assert all(max(row.values()) >= 1e-5 for row in whole.history[:-1])
    assert whole.history[0] == first.history[0]


def test_potentials_learn_from_the_beliefs_and_are_never_certain():
    problem, asked = tree(1, 2), []

    def hard(beliefs):
        asked.append(beliefs)
        return np.eye(2)[beliefs.argmax(axis=1)]

    start = np.random.default_rng(0).dirichlet([1, 1], problem.n_items)
    noise = matrix_noise(problem.S[0])
    found = infer(problem.graph(), hard, start, noise, fixed(noise), max_iter=3, tol=0)
    assert len(asked) == 3
    assert_array_equal(asked[0], start)
    assert_allclose(found.potential.sum(axis=1), 1)
    assert found.potential.min() == pytest.approx(em.CERTAIN / (1 + em.CERTAIN))
    assert_array_equal(found.potential.argmax(axis=1), asked[2].argmax(axis=1))


def crowd_graph(seed=0, n_items=60, n_answers=6000):
    """Three annotators, rates .1, .3 and .5, on two planted classes."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_items) < 0.4
    left = rng.integers(0, n_items, n_answers)
    right = (left + rng.integers(1, n_items, n_answers)) % n_items
    group = rng.integers(0, 3, n_answers)
    wrong = rng.random(n_answers) < np.array([0.1, 0.3, 0.5])[group]
    same = (y[left] == y[right]) ^ wrong
    graph = PairGraph.from_answers(left, right, same, n_items=n_items, group=group, n_groups=3)
    return graph, y.astype(int), rng


def test_every_group_gets_its_own_matrix():
    graph, y, rng = crowd_graph()
    guess = 0.3 + 0.4 * np.eye(2)[np.where(rng.random(len(y)) < 0.2, 1 - y, y)]
    found = infer(graph, em.class_shares, guess, PairingNoise(0.3, 0.3), PairingNoise.fit, tol=1e-6)
    assert found.matrices.shape == (3, 2, 2)
    rates = np.c_[1 - found.matrices[:, 0, 0], found.matrices[:, 0, 1]]
    assert_allclose(rates, [[0.1] * 2, [0.3] * 2, [0.5] * 2], atol=0.05)
    assert_array_equal(found.beliefs.item.argmax(axis=1), y)
    # at the fixed point the matrices are those of the counts they bring about
    assert found.people is not None
    counts = expected_counts(graph, found.beliefs, found.matrices)
    crowd = PairingNoise.fit(*(count.sum(axis=0) for count in counts))
    again = fit_people(*counts, crowd.same_probability(), start=found.people)
    assert_allclose(again.matrices(crowd.same_probability(), np.eye(2)), found.matrices, atol=1e-4)
    assert found.noise.similar_flip == pytest.approx(0.3, abs=0.03)  # of all answers together


def test_matrices_and_messages_to_go_on_from():
    graph, y, _ = crowd_graph()
    guess = 0.3 + 0.4 * np.eye(2)[y]
    S = np.array([PairingNoise(r, r).same_probability() for r in (0.1, 0.3, 0.45)])
    start = constant(guess), guess, PairingNoise(0.3, 0.3), PairingNoise.fit
    one = infer(graph, *start, max_iter=1, tol=0, matrices=S)
    alone = propagate(graph, np.log(guess), S, tol=1e-3, max_iter=25)
    assert_array_equal(one.beliefs.item, alone.item)
    goes_on = {"matrices": one.matrices, "messages": one.beliefs.messages}
    warm = infer(graph, *start, max_iter=1, **goes_on)
    assert warm.beliefs.n_iter < alone.n_iter


def test_without_features_the_graph_decides():
    graph, y = planted(200, 4000, 0.3, seed=0)
    guess = np.random.default_rng(1).dirichlet([2, 2], 200)
    guess[:40] = 0.2 + 0.6 * np.eye(2)[y[:40].astype(int)]
    found = infer(graph, em.class_shares, guess, PairingNoise(0.3, 0.3), PairingNoise.fit, tol=1e-4)
    assert accuracy_up_to_names(y, found.beliefs.item.argmax(axis=1)) > 0.99
    assert found.noise.similar_flip == pytest.approx(0.2, abs=0.03)
    assert found.noise.dissimilar_flip == pytest.approx(0.2, abs=0.03)
    assert found.potential[0, 1] == pytest.approx(y.mean(), abs=0.02)


def test_a_guess_of_equal_shares_is_not_lost_without_features():
    """Constant potentials prefer no class: the guess must travel in the first messages."""
    y = np.repeat([0, 1], 50)
    pairs = sample_pairs(y, 2000, PairingNoise(0.1, 0.1), random_state=0)
    guess = 0.6 * np.eye(2)[y] + 0.2
    found = infer(
        PairGraph.from_pairs(pairs),
        em.class_shares,
        guess,
        PairingNoise(0.2, 0.2),
        PairingNoise.fit,
    )
    assert (found.beliefs.item.argmax(axis=1) == y).all()


def weak_pairs():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    pairs = sample_pairs(y, 400, PairingNoise(0.3, 0.3), random_state=0)
    return y, pairs, np.where(np.eye(2, dtype=bool)[y], 0.8, 0.2)


def failing(good, after):
    """A potential that is good for some rounds and then certain of something else every time."""
    calls = []

    def potential(_beliefs):
        calls.append(None)
        other = np.random.default_rng(len(calls)).permutation(good)
        return good if len(calls) <= after else other

    return potential, calls


def test_without_convergence_the_round_that_explains_most_can_be_kept():
    y, pairs, good = weak_pairs()
    noise = PairingNoise(0.3, 0.3)
    kept = {}
    for or_best in (True, False):
        potential, calls = failing(good, after=2)
        start = PairGraph.from_pairs(pairs), potential, good, noise, fixed(noise)
        kept[or_best] = infer(*start, max_iter=6, tol=0.0, or_best=or_best)
        assert len(calls) == len(kept[or_best].history) == 6
        assert not kept[or_best].converged
    assert_array_equal(kept[True].potential, good)
    assert kept[True].log_likelihood > kept[False].log_likelihood + 10
    assert accuracy_up_to_names(y, kept[True].item_proba.argmax(axis=1)) > 0.9
    assert np.abs(kept[False].potential - good).max() > 0.5


def test_the_converged_round_is_kept_though_another_explained_more():
    _, pairs, good = weak_pairs()
    noise = PairingNoise(0.3, 0.3)
    worse = np.random.default_rng(0).permutation(good)
    calls = []

    def potential(_beliefs):
        calls.append(None)
        return good if len(calls) == 1 else worse

    start = PairGraph.from_pairs(pairs), potential, good, noise, fixed(noise)
    found = infer(*start, max_iter=10, tol=1e-3, or_best=True)
    assert found.converged
    assert len(calls) < 10
    assert_array_equal(found.potential, worse)


def sharpening(good, rights):
    """A potential that is right with another probability every round, at last always the same."""
    rounds = []

    def potential(_beliefs):
        right = rights[min(len(rounds), len(rights) - 1)]
        rounds.append(right)
        return np.where(good > 0.5, right, 1 - right)

    return potential, rounds


def worthwhile(rights, worth, max_iter=8, tol=1e-9, fit=None, **options):
    _, pairs, good = weak_pairs()
    noise = PairingNoise(0.3, 0.3)
    potential, rounds = sharpening(good, rights)
    start = PairGraph.from_pairs(pairs), potential, good, noise, fit or fixed(noise)
    found = infer(*start, max_iter=max_iter, tol=tol, or_best=True, worth=worth, **options)
    return found, rounds, good


def right_of(found, good):
    return found.potential[good > 0.5][0]


def test_a_round_that_gains_too_little_is_the_last():
    rights = [0.55, 0.65, 0.75, 0.752, 0.85, 0.9]
    found, rounds, good = worthwhile(rights, worth=3.0)
    assert rounds == rights[:4]
    assert found.converged
    assert right_of(found, good) == pytest.approx(0.752)  # little, but more than nothing
    assert len(found.history) == 4


def test_a_round_that_loses_is_the_last_and_not_the_one_kept():
    found, rounds, good = worthwhile([0.6, 0.8, 0.55, 0.9], worth=3.0)
    assert rounds == [0.6, 0.8, 0.55]
    assert found.converged
    assert right_of(found, good) == pytest.approx(0.8)
    alone, _, _ = worthwhile([0.8], worth=3.0, max_iter=1)
    assert found.log_likelihood == pytest.approx(alone.log_likelihood, abs=0.1)


@pytest.mark.parametrize("fit", [None, PairingNoise.fit])
def test_rounds_go_on_where_each_is_worth_it_or_the_noise_still_changes(fit):
    """Small gains are no end while S moves; large ones are none, however S stands."""
    rights = [0.7, 0.705, 0.71] if fit else [0.55, 0.65, 0.75]
    found, rounds, _ = worthwhile(rights, worth=3.0, max_iter=3, fit=fit)
    assert rounds == rights
    assert not found.converged


def test_without_worth_small_gains_and_losses_end_nothing():
    _, rounds, _ = worthwhile([0.6, 0.8, 0.801, 0.55, 0.9], worth=-np.inf, max_iter=5)
    assert len(rounds) == 5


FALLING = [0.7, 0.95, 0.9, 0.85, 0.8, 0.75]


def test_the_second_fall_in_a_row_is_the_last_round_though_the_noise_still_changes():
    found, rounds, good = worthwhile(FALLING, worth=3.0, tol=1e-12, fit=PairingNoise.fit)
    likelihood = [
        worthwhile([right], worth=3.0, tol=1e-12, max_iter=1, fit=PairingNoise.fit)[0]
        for right in FALLING[:4]
    ]
    assert np.argmax([one.log_likelihood for one in likelihood]) == FALLING.index(rounds[-3])
    assert found.converged
    assert right_of(found, good) == pytest.approx(rounds[-3])


def test_below_what_is_wanted_at_least_the_first_fall_is_the_last_round():
    fit = {"tol": 1e-12, "fit": PairingNoise.fit}
    _, rounds, _ = worthwhile(FALLING, 3.0, **fit)
    _, fewer, _ = worthwhile(FALLING, 3.0, at_least=np.inf, **fit)
    assert fewer == rounds[:-1]
