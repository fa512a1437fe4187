"""Two levels and many classes: against enumeration, and against the way that any S takes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from noisypairs.inference import levels
from noisypairs.inference.factors import Factors
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.posteriors import (
    answer_wrong_probability,
    bethe_log_likelihood,
    expected_counts,
)
from noisypairs.inference.propagation import propagate

K = levels.FEWEST_CLASSES


def two_levels(on, off, n_classes=K):
    return np.where(np.eye(n_classes, dtype=bool), on, off)


def problem(n_items=60, n_answers=150, weights=False, seed=0):
    rng = np.random.default_rng(seed)
    left, right = rng.integers(n_items, size=(2, n_answers))
    weight = rng.uniform(0.2, 2.0, n_answers) if weights else None
    same = rng.random(n_answers) < 0.4
    graph = PairGraph.from_answers(left, right, same, n_items=n_items, weight=weight)
    return graph, np.log(rng.dirichlet(np.full(K, 0.5), n_items) + 1e-6)


def everything(graph, log_phi, S, **how):
    beliefs = propagate(graph, log_phi, S, **how)
    values = [beliefs.item, beliefs.messages, *expected_counts(graph, beliefs, S)]
    values.append(answer_wrong_probability(graph, beliefs, S))
    return [*values, bethe_log_likelihood(graph, beliefs, S)]


@pytest.mark.parametrize("rates", [(0.8, 0.1), (0.3, 0.6), (1.0, 0.0)])
def test_marginals_of_a_chain_are_those_of_all_its_labellings(rates):
    S = two_levels(*rates)
    graph = PairGraph.from_answers([0, 1], [1, 2], [True, False])
    log_phi = np.log(np.random.default_rng(0).dirichlet(np.ones(K), 3))
    found = propagate(graph, log_phi, S, tol=1e-12)
    assert Factors(graph, S, K).by_row
    phi, exact = np.exp(log_phi), np.zeros((3, K))
    for y in product(range(K), repeat=3):
        chance = phi[[0, 1, 2], y].prod() * S[y[0], y[1]] * (1 - S[y[1], y[2]])
        exact[[0, 1, 2], y] += chance
    assert_allclose(found.item, exact / exact.sum(axis=1, keepdims=True), atol=1e-9)
    value = bethe_log_likelihood(graph, found, S)
    assert_allclose(value, np.log(exact[0].sum()), atol=1e-9)


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("rates", [(0.8, 0.1), (0.2, 0.5)])
def test_all_results_are_those_of_the_way_for_any_matrix(monkeypatch, rates, weights):
    S = two_levels(*rates)
    how = {"tol": 1e-11, "max_iter": 1000, "clamp": {0: 1, 3: 2}}
    found = everything(*problem(weights=weights), S, **how)
    monkeypatch.setattr(levels, "FEWEST_CLASSES", K + 1)
    for value, expected in zip(found, everything(*problem(weights=weights), S, **how), strict=True):
        assert_allclose(value, expected, atol=1e-7)


def test_answers_that_leave_no_doubt_count_as_often_as_they_were_given():
    graph, log_phi = problem(weights=True)
    S = two_levels(1.0, 0.0)
    with np.errstate(all="raise", under="ignore"):
        beliefs = propagate(graph, log_phi, S, tol=1e-3, max_iter=30)
        same, different = expected_counts(graph, beliefs, S)
    said = graph.answer_kind % 2 == 1
    assert_allclose(same.sum(), graph.answer_weight[said].sum(), rtol=1e-6)
    assert_allclose(different.sum(), graph.answer_weight[~said].sum(), rtol=1e-6)


def test_many_edges_take_half_the_precision_and_reach_nearly_the_same(monkeypatch):
    graph, log_phi = problem(n_items=2000, n_answers=9000)
    S = two_levels(0.8, 0.1)
    found = everything(graph, log_phi, S, tol=1e-4)
    assert found[1].dtype == np.float32
    monkeypatch.setattr(levels, "FEWEST_CLASSES", K + 1)
    for value, expected in zip(found, everything(graph, log_phi, S, tol=1e-4), strict=True):
        assert_allclose(value, expected, rtol=1e-5, atol=3e-3)


def test_messages_go_on_where_they_stopped():
    graph, log_phi = problem()
    S = two_levels(0.8, 0.1)
    first = propagate(graph, log_phi, S, max_iter=5)
    both = propagate(graph, log_phi, S, first.messages, max_iter=5)
    assert_allclose(both.item, propagate(graph, log_phi, S, max_iter=10).item, atol=1e-12)


def test_messages_are_kept_as_they_are_and_those_given_stay_unchanged():
    graph, log_phi = problem()
    S = two_levels(0.8, 0.1)
    first = propagate(graph, log_phi, S, max_iter=5)
    assert isinstance(first.sent, levels.RowMessages)
    kept = [end.copy() for end in first.sent.ends]
    goes_on = propagate(graph, log_phi, two_levels(0.7, 0.2), first.sent, max_iter=5)
    by_logs = propagate(graph, log_phi, two_levels(0.7, 0.2), first.messages, max_iter=5)
    assert_allclose(goes_on.item, by_logs.item, atol=1e-12)
    for end, before in zip(first.sent.ends, kept, strict=True):
        assert np.array_equal(end, before)


def test_messages_go_on_under_any_matrix_and_back():
    graph, log_phi = problem()
    even, S = two_levels(0.8, 0.1), two_levels(0.8, 0.1)
    S[0, 1] = S[1, 0] = 0.3
    to_any = propagate(graph, log_phi, S, propagate(graph, log_phi, even).sent, tol=1e-10)
    assert_allclose(to_any.item, propagate(graph, log_phi, S, tol=1e-10).item, atol=1e-7)
    back = propagate(graph, log_phi, even, to_any.sent, tol=1e-10)
    assert_allclose(back.item, propagate(graph, log_phi, even, tol=1e-10).item, atol=1e-7)
    # Two levels after messages that were renewed under any matrix: the same counts either way.
    for value, other in zip(
        expected_counts(graph, to_any, even),
        expected_counts(graph, to_any, even + 1e-13 * (S - even)),
        strict=True,
    ):
        assert_allclose(value, other, atol=1e-6)


def test_messages_on_some_edges_and_in_another_order_are_those_of_all(monkeypatch):
    graph, log_phi = problem()
    S, edges, order = two_levels(0.8, 0.1), np.array([3, 7, 8]), np.roll(np.arange(K), 2)
    found = propagate(graph, log_phi, S, tol=1e-10)
    assert_allclose(found.on_edges(edges).messages, found.messages[..., edges])
    turned = found.reordered(order)
    assert_allclose(turned.messages, propagate(graph, log_phi[:, order], S, tol=1e-10).messages)
    monkeypatch.setattr(levels, "FEWEST_CLASSES", K + 1)
    plain = propagate(graph, log_phi, S, tol=1e-10)
    assert isinstance(plain.sent, np.ndarray)
    assert_allclose(plain.reordered(order).messages, turned.messages, atol=1e-7)
    assert_allclose(plain.on_edges(edges).messages, found.messages[..., edges], atol=1e-7)


def test_messages_that_say_nothing_sum_to_what_new_ones_do():
    graph, _ = problem(weights=True)
    factors = Factors(graph, two_levels(0.8, 0.1), K)
    on, off = factors(slice(0, graph.n_edges))[0]
    for end in levels.RowMessages.silent(factors).ends:
        assert_allclose(end.sum(axis=1), K - 1 + on / off)
        assert np.ptp(end, axis=1).max() == 0


def test_scaled_messages_sum_to_what_new_ones_do():
    graph, log_phi = problem(weights=True)
    S = two_levels(0.8, 0.1)
    factors = Factors(graph, S, K)
    sent = propagate(graph, log_phi, S, max_iter=3).sent
    on, off = factors(slice(0, graph.n_edges))[0]
    for end in sent.scaled_for(factors).ends:
        assert_allclose(end.sum(axis=1), K - 1 + on / off)


def test_messages_of_another_graph_are_refused():
    graph, log_phi = problem()
    sent = propagate(graph, log_phi, two_levels(0.8, 0.1), max_iter=1).sent
    other, log_other = problem(n_answers=100)
    with pytest.raises(ValueError, match="same graph"):
        propagate(other, log_other, two_levels(0.8, 0.1), sent)
