"""What a joint fit chooses by how well it explains the answers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize

from noisypairs import (
    LabelingNoise,
    PairingNoise,
    Pairs,
    datasets,
    sample_pairs,
)
from noisypairs.estimators.inner.features import numeric_features
from noisypairs.estimators.inner.ridge import RidgeClasses
from noisypairs.estimators.joint.beliefs.alignment import Alignment
from noisypairs.estimators.joint.choice import Choice
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.estimators.joint.search.selection import ranked
from noisypairs.inference import em
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.noise import families
from tests.estimators.joint.builders import STARTS, joint, overlapping, search

# --- alignment -----------------------------------------------------------------------------------


def test_leading_direction_maximises_the_quadratic_form():
    X, _, pairs = overlapping(n=80, n_pairs=200)
    found = Alignment(X, pairs)
    Z = X - X.mean(axis=0)
    A = np.zeros((80, 80))
    np.add.at(A, (pairs.left, pairs.right), pairs.same - pairs.same.mean())
    M, metric = Z.T @ (A + A.T) @ Z, Z.T @ Z + 80 / 30 * np.eye(8)
    values, vectors = np.linalg.eig(np.linalg.solve(metric, M))
    expected = Z @ vectors[:, values.real.argmax()].real
    got = found.directions(1)[:, 0]
    assert abs(np.corrcoef(got, expected)[0, 1]) == pytest.approx(1.0)
    for other in np.random.default_rng(1).normal(size=(200, 8)):  # no direction does better
        assert other @ M @ other / (other @ metric @ other) <= values.real.max() + 1e-9


def test_weights_count_as_repeated_answers():
    X, _, pairs = overlapping(n=60, n_pairs=100)
    times = np.arange(100) % 4 + 1
    repeated = pairs.select(np.repeat(np.arange(100), times))
    weighted = pairs.reweighted(times)
    np.testing.assert_allclose(
        Alignment(X, weighted).directions(2), Alignment(X, repeated).directions(2), atol=1e-9
    )


def test_excess_is_small_for_random_answers_and_large_for_true_ones():
    rng = np.random.default_rng(0)
    random, true = [], []
    for seed in range(10):
        X, _, pairs = overlapping(seed=seed)
        permuted = Pairs(pairs.left, pairs.right, rng.permutation(pairs.same), n_items=600)
        random.append(Alignment(X, permuted).excess(rng))
        true.append(Alignment(X, pairs).excess(rng))
    assert np.mean(random) < 1.0
    assert min(true) > 6.0


def test_aligned_start_sees_what_the_graph_does_not():
    """Two pairs per item, 42 % of the answers wrong: the graph's eigenvectors show nothing."""
    found = {"aligned": [], "spectral": []}
    for seed in range(5):
        X, y, pairs = overlapping(1500, 3000, LabelingNoise(0.3, 0.3), seed)
        problem = JointProblem(X, pairs, [2], 5, seed)
        for name in found:
            guess = problem.guesses((name,), 2, 0)[name]
            found[name].append(accuracy_up_to_names(y, guess.argmax(axis=1)))
    assert np.mean(found["aligned"]) > 0.7
    assert np.mean(found["spectral"]) < 0.6


# --- choices -------------------------------------------------------------------------------------


HALF_LOG = np.log(1200) / 2  # of the 1200 answers, for each number more


@pytest.mark.parametrize(
    ("K", "gains", "kept"),
    [
        (2, {"labeling": 2.9}, "pairing"),  # two numbers each, for two classes: three nats
        (2, {"labeling": 3.1}, "labeling"),
        (2, {"free": HALF_LOG - 0.01}, "pairing"),
        (2, {"free": HALF_LOG + 0.01}, "free"),
        (3, {"labeling": 4 * HALF_LOG - 0.01}, "pairing"),
        (3, {"labeling": 4 * HALF_LOG + 0.01}, "labeling"),
    ],
)
def test_a_richer_family_must_pay_for_its_parameters(K, gains, kept, monkeypatch):
    X, _, pairs = overlapping()
    reached = [gains.get(name, 0.0) for name in families(auto=True)]
    one, beliefs = search(X, pairs), SimpleNamespace(item=np.full((600, K), 1 / K), sent=None)
    runs = (SimpleNamespace(log_likelihood=g, history=[], beliefs=beliefs) for g in reached)
    monkeypatch.setattr(em, "infer", lambda *_, **__: next(runs))
    one.choose_family(SimpleNamespace(beliefs=beliefs, noise=None, learnt_by=None))
    assert one.family == kept


def test_pairing_noise_is_recognised():
    X, _, pairs = overlapping(n_pairs=6000)
    one = search(X, pairs)
    one.choose_family(one.choose_classes([2]))
    assert one.family == "pairing"
    assert set(one.noise_models) == {"pairing", "labeling", "free"}


def test_noise_that_is_given_stays():
    X, _, pairs = overlapping()
    noise = PairingNoise(0.2, 0.2)
    one = search(X, pairs, given=noise)
    assert one.choose_family(one.choose_classes([2])).noise == noise
    assert list(one.noise_models) == ["given"]


def test_with_many_pairs_only_leading_starts_go_on(monkeypatch):
    X, _, pairs = overlapping(n_pairs=6000)
    monkeypatch.setattr("noisypairs.estimators.joint.search.evidence.PLAIN_EVIDENCE", np.inf)
    every = search(X, pairs)
    expected = every.choose_classes([2])
    monkeypatch.setattr("noisypairs.estimators.joint.search.selection.MANY_PAIRS", 5000)
    two = search(X, pairs)
    found = two.choose_classes([2])
    assert len(two.starts) <= 2 < len(every.starts)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, abs=1.0)
    agree = accuracy_up_to_names(expected.beliefs.item.argmax(1), found.beliefs.item.argmax(1))
    assert agree > 0.99


ALIGNED = {"aligned, 2 classes"}


def test_one_start_is_enough_where_evidence_is_plain():
    X, y, pairs = overlapping(n_pairs=6000, noise=PairingNoise(0.1, 0.1))
    one, every = search(X, pairs), search(X, pairs, every_start=True)
    found, expected = one.choose_classes([2]), every.choose_classes([2])
    assert set(one.starts) == ALIGNED
    assert set(every.starts) > ALIGNED
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, abs=0.5)
    assert accuracy_up_to_names(y, found.beliefs.item.argmax(axis=1)) > 0.98


@pytest.mark.parametrize(
    ("changed", "kinds"),
    [
        ({"n_pairs": 900, "noise": PairingNoise(0.3, 0.3)}, STARTS),  # weak
        ({"n_pairs": 6000}, ("aligned", "kmeans")),  # nothing to compare the aligned start with
    ],
)
def test_more_starts_where_one_is_not_enough(changed, kinds):
    X, _, pairs = overlapping(**changed)
    one = search(X, pairs, kinds=kinds)
    one.choose_classes([2])
    assert set(one.starts) > ALIGNED


def test_all_starts_are_run_where_the_graph_leads_elsewhere(monkeypatch):
    monkeypatch.setattr("noisypairs.estimators.joint.search.selection.ALIKE", 0.0)
    X, _, pairs = overlapping(n_pairs=6000, noise=PairingNoise(0.1, 0.1))
    one = search(X, pairs)
    one.choose_classes([2])
    assert set(one.starts) > ALIGNED


def test_features_that_say_nothing_mislead_no_single_start():
    """The answers divide the items at random, the features along their first column."""
    X, _, _ = overlapping()
    y = np.random.default_rng(1).integers(2, size=600)
    pairs = sample_pairs(y, 6000, PairingNoise(0.1, 0.1), random_state=0)
    found = search(X, pairs).choose_classes([2])
    assert accuracy_up_to_names(y, found.beliefs.item.argmax(axis=1)) > 0.98


def test_the_learner_says_which_starts_were_run():
    X, _, pairs = overlapping(n=200, n_pairs=2000, noise=PairingNoise(0.1, 0.1))
    assert set(joint().fit(X, pairs).starts_) == ALIGNED


def test_no_start_is_an_error():
    _, _, pairs = overlapping(n=40, n_pairs=60)
    words = np.array([["a"], ["b"]] * 20)
    with pytest.raises(ValueError, match="gives no start for 2 classes: add 'random'"):
        search(words, pairs, kinds=("kmeans",)).choose_classes([2])


def test_numeric_features_feed_the_alignment():
    X, _ = datasets.load("gaussians", n_samples=50, random_state=0)
    assert numeric_features(X, 20, 0).shape == (50, 2 + 20)


# --- what features predict -----------------------------------------------------------------------


def test_predicted_gain_is_the_likelihood_that_the_best_rates_would_gain():
    X, y, pairs = overlapping(n_pairs=4000, noise=PairingNoise(0.35, 0.35))
    problem = JointProblem(X, pairs, [2], 5, 0)
    phi = np.where(np.eye(2, dtype=bool)[y], 0.8, 0.2)
    alike = np.einsum("nk,nk->n", phi[pairs.left], phi[pairs.right])

    def loss(parameters):
        chance = np.clip(parameters[0] + parameters[1] * alike, 1e-6, 1 - 1e-6)
        return -np.log(np.where(pairs.same, chance, 1 - chance)).sum()

    best = -minimize(loss, [0.3, 0.3], method="Nelder-Mead").fun
    exact = best - problem.blind_log_likelihood
    assert problem.predicted_gain(phi) == pytest.approx(exact, rel=0.1)
    assert problem.predicted_gain(phi[:, ::-1]) == pytest.approx(problem.predicted_gain(phi))


def test_nothing_is_predicted_by_nothing():
    X, _, pairs = overlapping()
    problem = JointProblem(X, pairs, [2], 5, 0)
    assert problem.predicted_gain(np.full((600, 2), 0.5)) == 0.0
    noise = np.random.default_rng(0).dirichlet([1, 1], size=600)
    assert problem.predicted_gain(noise) < 3.0


def test_weights_count_in_the_predicted_gain():
    X, y, pairs = overlapping()
    phi = np.where(np.eye(2, dtype=bool)[y], 0.8, 0.2)
    right = (y[pairs.left] == y[pairs.right]) == pairs.same
    trusted = pairs.reweighted(np.where(right, 1.0, 0.01))
    gain = JointProblem(X, trusted, [2], 5, 0).predicted_gain(phi)
    assert gain > 2 * JointProblem(X, pairs, [2], 5, 0).predicted_gain(phi)


def test_a_run_that_only_agrees_with_itself_is_left_out():
    X, y, pairs = overlapping()
    problem = JointProblem(X, pairs, [2], 5, 0)
    seeing = np.where(np.eye(2, dtype=bool)[y], 0.8, 0.2)
    blind = np.random.default_rng(0).dirichlet([1, 1], size=600)
    runs = {
        "agrees with itself": SimpleNamespace(potential=blind, log_likelihood=-100.0),
        "sees": SimpleNamespace(potential=seeing, log_likelihood=-200.0),
        "sees too": SimpleNamespace(potential=seeing, log_likelihood=-190.0),
    }
    assert ranked(problem, runs)[0] == "sees too"
    # Where no features predict anything, the likelihood decides.
    for run in runs.values():
        run.potential = np.full((600, 2), 0.5)
    assert ranked(problem, runs)[0] == "agrees with itself"


def test_ridge_regression_needs_a_lead_to_be_chosen():
    X, _, pairs = overlapping(n=200, n_pairs=800)
    found = search(X, pairs)
    run = found.choose_family(found.choose_classes([2]))
    fast = RidgeClasses(random_state=found.problem.seed)
    twins = {"first": fast, "second": RidgeClasses(random_state=7)}
    choice = Choice(found.problem, run, twins)
    choice.choose()
    assert choice.gains["first"] < choice.gains["second"] + 3.0
    assert "second" in choice.members
    better = Choice(found.problem, run, {"a": fast, "b": RidgeClasses(penalty=1e6)})
    better.choose()
    assert better.name == "a"


def test_weights_count_in_the_gain():
    X, _, pairs = overlapping(n=100, n_pairs=200)
    times = np.arange(200) % 3 + 1
    repeated = pairs.select(np.repeat(np.arange(200), times))
    weighted, counted = (
        JointProblem(X, one, [2], 5, 0).blind_log_likelihood
        for one in (pairs.reweighted(times), repeated)
    )
    assert weighted == pytest.approx(counted)
