"""Belief propagation against enumeration of all class assignments."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisypairs.inference import graph as graph_module
from noisypairs.inference import propagation
from noisypairs.inference.factors import Factors
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.posteriors import (
    answer_wrong_probability,
    bethe_log_likelihood,
    edge_posterior,
    expected_counts,
)
from noisypairs.inference.propagation import propagate
from tests.inference.graph_problems import (
    FloatArray,
    enumerate_classes,
    joint,
    loopy_problem,
    planted,
    random_tree_problem,
)

S2 = np.array([[0.9, 0.2], [0.2, 0.9]])
EXACT = {"tol": 1e-13, "max_iter": 500, "damping": 0.0}
LOOPY_ITEM_ERROR = 0.12  # triangles everywhere, weak potentials: the worst case; seen: 0.09

sizes = st.tuples(st.integers(2, 4), st.integers(2, 8)).filter(lambda s: s[0] ** s[1] <= 5_000)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**31), size=sizes, extra=st.integers(0, 4))
def test_everything_is_exact_on_trees(seed: int, size: tuple[int, int], extra: int) -> None:
    k, n_items = size
    p = random_tree_problem(seed, n_items, k, extra)
    truth, graph = enumerate_classes(p), p.graph()
    beliefs = propagate(graph, p.log_phi, p.S, clamp=p.clamp, **EXACT)

    assert beliefs.converged
    assert beliefs.n_iter <= n_items + 1
    np.testing.assert_allclose(beliefs.item, truth.item, atol=1e-10)
    assert bethe_log_likelihood(graph, beliefs, p.S) == pytest.approx(
        truth.log_likelihood, abs=1e-10
    )
    edges = edge_posterior(graph, beliefs, p.S)
    assert graph.n_edges == n_items - 1
    for e, (i, j) in enumerate(zip(graph.left, graph.right, strict=True)):
        np.testing.assert_allclose(edges[e], joint(truth, i, j, k), atol=1e-10)

    counts = {True: np.zeros((3, k, k)), False: np.zeros((3, k, k))}
    wrong = []
    for i, j, q, w, r in zip(p.left, p.right, p.same, p.weight, p.group, strict=True):
        table = joint(truth, i, j, k)
        counts[bool(q)][r] += float(w) * (table + table.T) / 2
        wrong.append(1 - np.trace(table) if q else np.trace(table))
    n_same, n_different = expected_counts(graph, beliefs, p.S)
    np.testing.assert_allclose(n_same, counts[True], atol=1e-10)
    np.testing.assert_allclose(n_different, counts[False], atol=1e-10)
    np.testing.assert_allclose(answer_wrong_probability(graph, beliefs, p.S), wrong, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_dense_loopy_graph_comes_near_enumeration(n_classes: int) -> None:
    p = loopy_problem(n_items=8, n_classes=n_classes)
    truth, graph = enumerate_classes(p), p.graph()
    beliefs = propagate(graph, p.log_phi, p.S)
    assert beliefs.converged
    error = np.abs(beliefs.item - truth.item)
    assert error.max() < LOOPY_ITEM_ERROR
    assert abs(bethe_log_likelihood(graph, beliefs, p.S) - truth.log_likelihood) < 0.2
    # A graph that hid all answers would be much further away.
    alone = np.exp(p.log_phi) / np.exp(p.log_phi).sum(axis=1, keepdims=True)
    assert error.mean() < 0.5 * np.abs(alone - truth.item).mean()


def test_two_classes_equal_three_of_which_one_is_ruled_out() -> None:
    """K = 2 has formulas of its own; those for any K must agree."""
    p = random_tree_problem(seed=1, n_items=12, n_classes=2, extra=9)
    p.left[:6], p.right[:6] = np.arange(6), np.arange(6) + 5  # loops too
    graph = p.graph()
    S = np.pad(p.S, ((0, 0), (0, 1), (0, 1)), constant_values=0.5)
    log_phi = np.pad(p.log_phi, ((0, 0), (0, 1)), constant_values=-np.inf)
    two = propagate(graph, p.log_phi, p.S, clamp=p.clamp, tol=0, max_iter=7)
    three = propagate(graph, log_phi, S, clamp=p.clamp, tol=0, max_iter=7)
    assert np.abs(two.messages).max() > 0.1
    np.testing.assert_allclose(two.messages[:, 0], three.messages[:, 0], atol=1e-12)
    np.testing.assert_allclose(two.item, three.item[:, :2], atol=1e-12)
    posterior = edge_posterior(graph, three, S)[:, :2, :2]
    np.testing.assert_allclose(edge_posterior(graph, two, p.S), posterior, atol=1e-12)
    expected = bethe_log_likelihood(graph, three, S)
    assert bethe_log_likelihood(graph, two, p.S) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_single_precision_agrees_where_edges_are_many(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = random_tree_problem(seed=3, n_items=40, n_classes=n_classes, extra=30)
    graph, asked = p.graph(), {"clamp": p.clamp, "tol": propagation.COARSE}
    exact = propagate(graph, p.log_phi, p.S, **asked)
    monkeypatch.setattr(propagation, "FEW_EDGES", 0)
    coarse = propagate(graph, p.log_phi, p.S, **asked)
    assert (exact.messages.dtype, coarse.messages.dtype) == (np.float64, np.float32)
    assert propagate(graph, p.log_phi, p.S, tol=1e-6).messages.dtype == np.float64
    np.testing.assert_allclose(coarse.messages, exact.messages, atol=1e-5)
    np.testing.assert_allclose(coarse.item, exact.item, atol=1e-5)
    for one, other in zip(
        expected_counts(graph, coarse, p.S), expected_counts(graph, exact, p.S), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-4)
    difference = bethe_log_likelihood(graph, coarse, p.S) - bethe_log_likelihood(graph, exact, p.S)
    assert abs(difference) < 1e-4


@pytest.mark.parametrize("n_classes", [2, 3])
def test_certain_answers_stay_finite_in_single_precision(
    n_classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(propagation, "FEW_EDGES", 0)
    # Hundreds of certain answers on each pair, the last of which contradict a known class.
    left, right = np.repeat([0, 1, 0], 300), np.repeat([1, 2, 2], 300)
    graph = PairGraph.from_answers(left, right, np.repeat([True, True, False], 300))
    S = np.eye(n_classes)
    beliefs = propagate(
        graph, np.zeros((3, n_classes)), S, clamp={0: 1}, tol=1e-3, max_iter=20, damping=0.5
    )
    assert beliefs.messages.dtype == np.float32
    assert np.isfinite(beliefs.messages).all()
    assert np.isfinite(bethe_log_likelihood(graph, beliefs, S))
    assert np.isfinite(expected_counts(graph, beliefs, S)).all()
    np.testing.assert_allclose(beliefs.item.sum(axis=1), 1)


def test_a_group_without_answers_changes_nothing() -> None:
    """Up to K kinds of answers messages are products by kind, with more of them by edge."""
    p = random_tree_problem(seed=2, n_items=30, n_classes=4, extra=20)
    p.weight[:40] = 1  # plain and merged edges side by side
    p.group %= 2
    by_edge = everything(p.graph(), p.log_phi, p.S)
    p.S = p.S[:2]
    graph = p.graph()
    assert 0 < graph.compound_edges.size < graph.n_edges
    for kind, edge in zip(everything(graph, p.log_phi, p.S), by_edge, strict=True):
        np.testing.assert_allclose(kind, edge[: len(kind)], rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_groups", [1, 3])
def test_two_levels_are_a_short_cut_of_any_matrix(n_groups: int) -> None:
    """A matrix a hair away from pairing noise goes the long way and says the same."""
    p = random_tree_problem(seed=3, n_items=30, n_classes=4, extra=20)
    p.weight[:40] = 1
    p.group %= n_groups
    p.left[:6], p.right[:6] = np.arange(6), np.arange(6) + 5  # loops too
    off, on = np.array([0.2, 0.3, 0.35])[:n_groups], np.array([0.9, 0.6, 0.8])[:n_groups]
    p.S = np.where(np.eye(4, dtype=bool), on[:, None, None], off[:, None, None])
    graph = p.graph()
    short = everything(graph, p.log_phi, p.S)
    p.S[:, 0, 0] += 1e-14
    for one, other in zip(short, everything(graph, p.log_phi, p.S), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)


def test_certain_answers_of_two_levels_keep_messages_finite() -> None:
    """Float32 rounds 1 − 1e-12 to one: what is left of a class must not become zero."""
    graph = PairGraph.from_answers([0, 0, 1], [1, 2, 2], [False, False, True], n_items=3)
    for dtype in (np.float32, np.float64):
        factors = Factors(graph, np.eye(3), 3, dtype)
        certain = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], dtype=dtype)
        carried = factors.carried(slice(0, 3), [certain])[0]
        assert (carried > 0).all()
        assert np.log(carried[0, :2]) == pytest.approx(np.log(1e-12), abs=0.01)


def everything(graph: PairGraph, log_phi: FloatArray, S: FloatArray) -> tuple[FloatArray, ...]:
    """Return all that propagation says, after a fixed number of sweeps."""
    b = propagate(graph, log_phi, S, tol=0, max_iter=7)
    value = np.array([bethe_log_likelihood(graph, b, S)])
    wrong = answer_wrong_probability(graph, b, S)
    return b.messages, b.item, *expected_counts(graph, b, S), value, wrong


@pytest.mark.parametrize("n_classes", [2, 3])
def test_small_blocks_change_nothing(n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    p = random_tree_problem(seed=4, n_items=6, n_classes=n_classes, extra=5)
    p.left, p.right = np.append(p.left, [0, 1, 2]), np.append(p.right, [5, 4, 5])
    p.same, p.group = np.append(p.same, [True] * 3), np.append(p.group, [0, 1, 2])
    p.weight = np.append(p.weight, np.float32([1, 1, 0.5]))
    graph = p.graph()

    def results() -> tuple[FloatArray, ...]:
        b = propagate(graph, p.log_phi, p.S)
        value = np.array([bethe_log_likelihood(graph, b, p.S)])
        wrong = answer_wrong_probability(graph, b, p.S)
        return b.item, edge_posterior(graph, b, p.S), *expected_counts(graph, b, p.S), value, wrong

    whole = results()
    monkeypatch.setattr(graph_module, "_BLOCK", 2)
    assert len(list(graph.blocks())) > 2
    for expected, found in zip(whole, results(), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_order_and_orientation_of_pairs_do_not_matter() -> None:
    p, rng = loopy_problem(), np.random.default_rng(0)
    first = propagate(p.graph(), p.log_phi, p.S, tol=1e-12, max_iter=2000)
    order, swap = rng.permutation(p.left.size), rng.random(p.left.size) < 0.5
    p.left, p.right = np.where(swap, p.right, p.left), np.where(swap, p.left, p.right)
    p.left, p.right, p.same = p.left[order], p.right[order], p.same[order]
    shuffled = p.graph()
    second = propagate(shuffled, p.log_phi, p.S, tol=1e-12, max_iter=2000)
    np.testing.assert_allclose(second.item, first.item, atol=1e-12)
    np.testing.assert_array_equal(
        shuffled.left[shuffled.edge_of_answer], np.minimum(p.left, p.right)
    )


def test_weight_two_is_the_same_as_two_answers() -> None:
    log_phi = np.random.default_rng(5).normal(size=(3, 2))
    S = np.array([[0.8, 0.3], [0.3, 0.6]])
    twice = PairGraph.from_answers([0, 1, 1], [1, 0, 2], [True, True, False])
    weighted = PairGraph.from_answers([0, 1], [1, 2], [True, False], weight=[2.0, 1.0])
    a, b = propagate(twice, log_phi, S), propagate(weighted, log_phi, S)
    np.testing.assert_allclose(a.item, b.item, atol=1e-12)
    np.testing.assert_allclose(expected_counts(twice, a, S), expected_counts(weighted, b, S))


def test_damping_does_not_move_the_fixed_point() -> None:
    p = loopy_problem()
    graph = p.graph()
    found = [
        propagate(graph, p.log_phi, p.S, damping=d, tol=1e-12, max_iter=5000)
        for d in (0.1, 0.5, 0.9)
    ]
    assert all(b.converged for b in found)
    assert found[0].n_iter < found[2].n_iter
    for b in found[1:]:
        np.testing.assert_allclose(b.item, found[0].item, atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_warm_start_is_at_once_where_it_was(n_classes: int) -> None:
    p = loopy_problem(n_classes=n_classes)
    graph = p.graph()
    cold = propagate(graph, p.log_phi, p.S)
    kept = cold.messages.copy()
    warm = propagate(graph, p.log_phi, p.S, cold.messages)
    assert cold.n_iter > 5
    assert warm.n_iter <= 2
    assert warm.converged
    np.testing.assert_array_equal(cold.messages, kept)
    np.testing.assert_allclose(warm.item, cold.item, atol=1e-5)


def test_an_unfinished_run_says_so() -> None:
    p = loopy_problem()
    beliefs = propagate(p.graph(), p.log_phi, p.S, max_iter=2)
    assert not beliefs.converged
    assert beliefs.n_iter == 2
    assert beliefs.max_change > 1e-6


def test_messages_that_cancel_at_an_item_still_travel_on() -> None:
    # Items 0 and 2 tell item 1 opposite things: no belief moves in the first sweep.
    log_phi = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    graph = PairGraph.from_answers([0, 1], [1, 2], [True, True])
    S = np.array([[0.8, 0.2], [0.2, 0.8]])
    beliefs = propagate(graph, log_phi, S, **EXACT)
    alone = np.exp(log_phi[0]) / np.exp(log_phi[0]).sum()
    assert beliefs.item[0, 1] < alone[1] - 0.01
    np.testing.assert_allclose(beliefs.item[1], 0.5, atol=1e-12)


def test_isolated_items_keep_their_potential() -> None:
    log_phi = np.log([[0.2, 0.6, 0.2], [0.5, 0.25, 0.25], [2.0, 1.0, 1.0]])
    graph = PairGraph.from_answers([0], [0], [False], n_items=3)  # a self pair is no edge
    beliefs = propagate(graph, log_phi, np.full((3, 3), 0.4))
    assert graph.n_edges == 0
    assert beliefs.converged
    np.testing.assert_allclose(
        beliefs.item, [[0.2, 0.6, 0.2], [0.5, 0.25, 0.25], [0.5, 0.25, 0.25]]
    )
    assert bethe_log_likelihood(graph, beliefs, np.full((3, 3), 0.4)) == pytest.approx(0)
    assert edge_posterior(graph, beliefs, np.full((3, 3), 0.4)).shape == (0, 3, 3)


def test_clamp_takes_a_mapping_or_arrays_and_beats_any_evidence() -> None:
    S = np.array([[0.99, 0.01], [0.01, 0.99]])
    left, right = np.zeros(300, dtype=int), np.tile([1, 2, 3], 100)
    graph = PairGraph.from_answers(left, right, np.ones(300, dtype=bool))
    known = {1: 0, 2: 0, 3: 0, 0: 1}
    beliefs = propagate(graph, np.zeros((4, 2)), S, clamp=known)
    np.testing.assert_array_equal(beliefs.item, [[0, 1], [1, 0], [1, 0], [1, 0]])
    arrays = propagate(graph, np.zeros((4, 2)), S, clamp=(list(known), list(known.values())))
    np.testing.assert_array_equal(arrays.item, beliefs.item)
    assert np.isfinite(bethe_log_likelihood(graph, beliefs, S))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_noiseless_answers_spread_a_known_class(n_classes: int) -> None:
    S = np.eye(n_classes)
    graph = PairGraph.from_answers([0, 1, 2], [1, 2, 3], [True, True, False])
    beliefs = propagate(graph, np.zeros((4, n_classes)), S, clamp={0: 1}, **EXACT)
    np.testing.assert_allclose(beliefs.item[:3], np.eye(n_classes)[[1, 1, 1]], atol=1e-10)
    np.testing.assert_allclose(np.delete(beliefs.item[3], 1), 1 / (n_classes - 1), atol=1e-10)


@pytest.mark.parametrize("times", [1, 40])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contradictory_noiseless_answers_stay_finite(n_classes: int, times: int) -> None:
    # Two clamped items of different class, both "certainly the same" as item 1; then triangles.
    left, right = [0, 1, 0, 0, 3, 4] * times, [1, 2, 2, 3, 4, 0] * times
    same = [True, True, True, True, True, False] * times
    graph = PairGraph.from_answers(left, right, same)
    beliefs = propagate(graph, np.zeros((5, n_classes)), np.eye(n_classes), clamp={0: 0, 2: 1})
    np.testing.assert_allclose(beliefs.item[1, :2], 0.5, atol=1e-6)
    assert np.all(np.isfinite(beliefs.messages))
    np.testing.assert_allclose(beliefs.item.sum(axis=1), 1)
    assert np.isfinite(bethe_log_likelihood(graph, beliefs, np.eye(n_classes)))
    np.testing.assert_allclose(
        edge_posterior(graph, beliefs, np.eye(n_classes)).sum(axis=(1, 2)), 1
    )


def test_memory_is_at_most_64_bytes_per_pair() -> None:
    n_pairs, n_items = 200_000, 20_000
    graph, _ = planted(n_items, n_pairs, 0.5, seed=0)
    tracemalloc.start()
    beliefs = propagate(graph, np.zeros((n_items, 2)), S2, max_iter=3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (graph.nbytes + beliefs.messages.nbytes) / n_pairs <= 42
    assert (graph.nbytes + peak) / n_pairs <= 64


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"S": np.eye(3)}, r"S must be \(2, 2\) or \(1, 2, 2\), got shape \(3, 3\)"),
        ({"S": S2 + 0.2}, "outside"),
        ({"S": np.array([[0.9, np.nan], [np.nan, 0.9]])}, "outside"),
        ({"S": np.array([[0.9, 0.1], [0.3, 0.9]])}, "symmetric"),
        ({"log_potential": np.zeros((4, 2))}, "n_items=3"),
        ({"log_potential": np.full((3, 2), np.nan)}, "NaN"),
        ({"log_potential": np.full((3, 2), -np.inf)}, "finite entry"),
        ({"messages": np.zeros((2, 5, 1))}, "same graph"),
        ({"clamp": {3: 0}}, "clamped items"),
        ({"clamp": {0: 2}}, "clamped classes"),
        ({"damping": 1.0}, "damping"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_propagate_refuses_bad_input(kwargs: dict[str, object], message: str) -> None:
    graph = PairGraph.from_answers([0, 1], [1, 2], [True, False])
    arguments = {"log_potential": np.zeros((3, 2)), "S": S2} | kwargs
    with pytest.raises(ValueError, match=message):
        propagate(graph, **arguments)  # type: ignore[arg-type]
