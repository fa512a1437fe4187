"""Belief propagation on a stream: that of the graph, without its memory."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import PairingNoise, Pairs, datasets, sample_pairs
from noisypairs.graph import propagation as graph_module
from noisypairs.graph import streaming
from noisypairs.graph.propagation import (
    PairGraph,
    answer_wrong_probability,
    bethe_log_likelihood,
    expected_counts,
    propagate,
)
from noisypairs.graph.streaming import CERTAIN, StreamEStep, sweep
from noisypairs.joint.class_model import EstimatorModel
from noisypairs.joint.em import GraphEStep, Spec, TableEStep, run_em
from noisypairs.noise import AnswerModel

S2 = np.array([[0.8, 0.25], [0.25, 0.7]])
S3 = np.where(np.eye(3, dtype=bool), 0.85, 0.2)


class InMemory:
    """Pairs as a stream: batches of a few answers."""

    def __init__(self, pairs):
        self.pairs, self.n_items, self.passes = pairs, pairs.n_items, 0

    def batches(self, size):
        self.passes += 1
        for start in range(0, self.pairs.n_pairs, size):
            yield self.pairs.select(slice(start, start + size))


def sparse_pairs(seed, n_items=40, n_pairs=60, annotators=False, weighted=False):
    """Distinct pairs (repeats are merged by the graph, not by the stream) and a self pair."""
    rng = np.random.default_rng(seed)
    low, high = np.triu_indices(n_items, 1)
    chosen = rng.choice(low.size, n_pairs, replace=False)
    left, right = np.append(low[chosen], 3), np.append(high[chosen], 3)
    who = rng.integers(3, size=n_pairs + 1) if annotators else None
    weight = rng.integers(1, 9, size=n_pairs + 1) / 4 if weighted else None
    same = rng.random(n_pairs + 1) < 0.5
    return Pairs(left, right, same, n_items, annotator=who, weight=weight)


def log_potentials(seed, n_items, K):
    return np.log(np.random.default_rng(seed).dirichlet(np.ones(K), size=n_items))


def stream_beliefs(pairs, log_phi, S, n_sweeps, depth, size=7):
    past = [log_phi]
    for _ in range(n_sweeps):
        past = [sweep(InMemory(pairs), log_phi, past, S, size=size).log_item, *past[: depth - 1]]
    return past


@pytest.mark.parametrize("weighted", [False, True])
def test_single_precision_agrees_with_double(weighted, monkeypatch):
    monkeypatch.setattr(graph_module, "_BLOCK", 5)  # several blocks in a batch
    pairs = sparse_pairs(3, weighted=weighted)
    log_phi = log_potentials(2, pairs.n_items, 2)
    past = [log_phi]
    for _ in range(3):
        double = sweep(InMemory(pairs), log_phi, past, S2)
        single = sweep(InMemory(pairs), log_phi, past, S2, dtype=np.float32)
        np.testing.assert_allclose(single.log_item, double.log_item, atol=1e-5)
        np.testing.assert_allclose(single.same, double.same, atol=1e-4)
        assert single.log_edges == pytest.approx(double.log_edges, abs=1e-4)
        past = [double.log_item, *past[:2]]


def test_single_precision_survives_certain_answers_of_great_weight():
    pairs = Pairs([0, 1, 0], [1, 2, 2], [True, True, False], weight=[500.0, 500.0, 3.0])
    log_phi = np.log(np.array([[0.001, 0.999], [0.5, 0.5], [0.5, 0.5]]))
    done = sweep(InMemory(pairs), log_phi, [log_phi], np.eye(2), dtype=np.float32)
    assert np.isfinite(done.log_item).all()
    assert np.isfinite(done.log_edges)
    assert np.isfinite(done.same).all()


@pytest.mark.parametrize("S", [S2, S3], ids=["two classes", "three classes"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_sweeps", [1, 2, 5])
def test_as_deep_as_there_were_sweeps_it_is_belief_propagation(S, weighted, n_sweeps):
    pairs = sparse_pairs(n_sweeps, weighted=weighted)
    log_phi = log_potentials(1, pairs.n_items, len(S))
    exact = propagate(
        PairGraph.from_pairs(pairs), log_phi, S, damping=0.0, tol=0.0, max_iter=n_sweeps
    )
    found = stream_beliefs(pairs, log_phi, S, n_sweeps, depth=n_sweeps)
    np.testing.assert_allclose(np.exp(found[0]), exact.item, atol=1e-10)


def test_annotators_have_matrices_of_their_own():
    pairs = sparse_pairs(3, annotators=True)
    S = np.stack([S2, S2[::-1, ::-1], np.full((2, 2), 0.5)])
    log_phi = log_potentials(2, pairs.n_items, 2)
    graph = PairGraph.from_pairs(pairs, annotators=True)
    exact = propagate(graph, log_phi, S, damping=0.0, tol=0.0, max_iter=4)
    found = stream_beliefs(pairs, log_phi, S, 4, depth=4)
    np.testing.assert_allclose(np.exp(found[0]), exact.item, atol=1e-10)


def test_cutting_off_costs_less_with_every_level():
    pairs = sparse_pairs(4, n_pairs=150)
    log_phi = log_potentials(3, pairs.n_items, 2)
    exact = propagate(PairGraph.from_pairs(pairs), log_phi, S2, tol=1e-12, max_iter=500)
    errors = [
        np.abs(
            np.exp(stream_beliefs(pairs, log_phi, S2, 60, depth, size=1000)[0]) - exact.item
        ).max()
        for depth in (1, 2, 4, 6)
    ]
    assert exact.converged
    assert np.all(np.diff(errors) < 0)
    assert errors[2] < 2e-2
    assert errors[3] < 5e-3


def test_counts_and_likelihood_equal_those_of_the_graph():
    pairs = sparse_pairs(5, n_pairs=150, annotators=True, weighted=True)
    S = np.stack([S2, S2, S2])
    log_phi = log_potentials(4, pairs.n_items, 2)
    graph = PairGraph.from_pairs(pairs, annotators=True)
    exact = propagate(graph, log_phi, S, tol=1e-12, max_iter=500)
    past = stream_beliefs(pairs, log_phi, S, 80, depth=40, size=1000)
    before = sweep(InMemory(pairs), log_phi, past[1:], S)
    done = sweep(InMemory(pairs), log_phi, past, S)
    same, different = expected_counts(graph, exact, S)
    np.testing.assert_allclose(done.same, same, atol=1e-4)
    np.testing.assert_allclose(done.different, different, atol=1e-4)
    # Factors in the graph are scaled, weights included; the stream's are not.
    value = before.log_scale + done.log_edges
    assert value == pytest.approx(bethe_log_likelihood(graph, exact, S), abs=1e-4)


def loop(e_step, model, noise, guess, family="given", **options):
    """The loop of EM, over whatever the E-step reads."""
    answers, spec = AnswerModel(noise, family, 2), Spec(2, model.name, family)
    return run_em(spec, "guess", e_step, model, answers, guess, **options)


def test_known_classes_stay_known():
    pairs = sparse_pairs(6)
    e_step = StreamEStep(InMemory(pairs), clamp={0: 1, 5: 0})
    even = np.full((pairs.n_items, 2), 0.5)
    found = e_step(even, even, PairingNoise(0.2, 0.2).same_probability())
    assert found.beliefs.item[[0, 5]].tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert np.isfinite(found.log_likelihood)


def test_a_start_at_the_end_still_goes_as_deep_as_asked():
    """Beliefs that no longer move are no reason to stop before the echoes are taken out."""
    pairs = sparse_pairs(8)
    certain = np.tile([0.999, 0.001], (pairs.n_items, 1))
    all_same = Pairs(pairs.left, pairs.right, np.ones(pairs.n_pairs, bool), pairs.n_items)
    e_step = StreamEStep(InMemory(all_same), depth=4)
    found = e_step(certain, certain, PairingNoise(0.2, 0.2).same_probability())
    assert found.complete
    assert found.passes >= 3
    assert np.isfinite(found.log_likelihood)


def test_too_few_sweeps_are_refused():
    with pytest.raises(ValueError, match="at least 2 sweeps"):
        StreamEStep(InMemory(sparse_pairs(9)), sweeps=1)


def test_the_loop_finds_what_the_loop_in_memory_finds():
    X, y = datasets.gaussians(400, prior=0.4, random_state=0)
    X = X / 3 + np.random.default_rng(1).normal(size=X.shape)
    pairs = sample_pairs(y, 4000, PairingNoise(0.3, 0.2), random_state=0)
    guess = LogisticRegression().fit(X[:60], y[:60]).predict_proba(X)
    half = np.arange(400) % 2 == 0
    folds = [
        (np.flatnonzero(half), np.flatnonzero(~half)),
        (np.flatnonzero(~half), np.flatnonzero(half)),
    ]
    stream, spec = InMemory(pairs), Spec(2, "logistic", "pairing")
    found = []
    for e_step in (GraphEStep(PairGraph.from_pairs(pairs)), TableEStep(stream, 1, None)):
        model = EstimatorModel(LogisticRegression(), X, folds, np.ones(400))
        answers = AnswerModel(PairingNoise(0.2, 0.2), "pairing", 2)
        found.append(run_em(spec, "guess", e_step, model, answers, guess, tolerance=5e-3))
    memory, streamed = found
    assert streamed.converged
    assert stream.passes > 0
    assert ((streamed.item_proba[:, 1] > 0.5) == (memory.item_proba[:, 1] > 0.5)).mean() > 0.99
    for name in ("similar_flip", "dissimilar_flip"):
        one, two = (getattr(fit.answers.table, name) for fit in found)
        assert one == pytest.approx(two, abs=0.02)
    assert streamed.log_likelihood == pytest.approx(memory.log_likelihood, rel=0.01)


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_a_round_is_its_sweeps_one_by_one(damping):
    """Damping keeps that share of the old beliefs; the likelihood is that of one state of them."""
    pairs = sparse_pairs(0, weighted=True)
    log_phi, guess = (log_potentials(seed, pairs.n_items, 2) for seed in (1, 2))
    guess = np.log(np.clip(np.exp(guess), CERTAIN, None))
    e_step = StreamEStep(InMemory(pairs), sweeps=2, depth=2, damping=damping, tol=1e-9)
    found = e_step(np.exp(log_phi), np.exp(guess), S2)
    past, sweeps = [guess], []
    for _ in range(2):
        sweeps.append(sweep(InMemory(pairs), log_phi, past, S2))
        mixed = (1 - damping) * sweeps[-1].log_item + damping * past[0]
        past = [mixed - np.log(np.exp(mixed).sum(axis=1, keepdims=True)), past[0]]
    np.testing.assert_allclose(found.beliefs.log_item, past[0], atol=1e-10)
    first, second = sweeps
    assert found.log_likelihood == pytest.approx(first.log_scale + second.log_edges)


def test_of_equally_suspect_answers_the_first_items_are_kept_whatever_the_order():
    unknown, S = np.full((6, 2), 0.5), np.array([[0.9, 0.3], [0.3, 0.9]])
    pairs = Pairs([4, 2, 0], [5, 3, 1], [True, True, True])
    for order in ([0, 1, 2], [2, 1, 0]):
        stream = InMemory(pairs.select(order))
        assert streaming.most_suspect(stream, unknown, S, 2, size=1).left.tolist() == [0, 2]


@pytest.mark.parametrize("S", [S2, S3])
def test_an_answer_does_not_confirm_itself(S):
    """On a tree the messages behind converged beliefs come back, and with them P(wrong)."""
    left, right = np.array([0, 0, 1, 1, 2]), np.array([1, 2, 3, 4, 5])
    pairs = Pairs(left, right, [True, False, True, True, False])
    graph, log_phi = PairGraph.from_pairs(pairs), log_potentials(0, 6, len(S))
    beliefs = propagate(graph, log_phi, S, tol=1e-12)
    wrong = np.sort(answer_wrong_probability(graph, beliefs, S))[::-1]
    found = streaming.most_suspect(InMemory(pairs), beliefs.item, S, 5, depth=60)
    np.testing.assert_allclose(found.wrong, wrong, atol=1e-6)
