"""The pair graph against direct computations, propagation against enumeration of all classes."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisypairs.graph import propagation
from noisypairs.graph.propagation import (
    PairGraph,
    answer_wrong_probability,
    bethe_log_likelihood,
    cavities,
    edge_posterior,
    edge_statistics,
    expected_counts,
    propagate,
    signed_embedding,
)
from noisypairs.pairs import Pairs
from tests.graph.graph_problems import (
    FloatArray,
    enumerate_classes,
    joint,
    loopy_problem,
    planted,
    random_tree_problem,
    sparse_problem,
)

S2 = np.array([[0.9, 0.2], [0.2, 0.9]])
EXACT = {"tol": 1e-13, "max_iter": 500, "damping": 0.0}
LOOPY_ITEM_ERROR = 0.12  # triangles everywhere, weak potentials: the worst case; seen: 0.09

sizes = st.tuples(st.integers(2, 4), st.integers(2, 8)).filter(lambda s: s[0] ** s[1] <= 5_000)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    size=sizes,
    extra=st.integers(0, 4),
    n_groups=st.sampled_from([1, 3]),
    weighted=st.booleans(),
)
def test_everything_is_exact_on_trees(
    seed: int, size: tuple[int, int], extra: int, n_groups: int, weighted: bool
) -> None:
    k, n_items = size
    p = random_tree_problem(seed, n_items, k, extra)
    p.group, p.S = p.group % n_groups, p.S[:n_groups]
    if not weighted:
        p.weight[:] = 1
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

    counts = {q: np.zeros((n_groups, k, k)) for q in (True, False)}
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
    p = random_tree_problem(seed=1, n_items=12, n_classes=2, extra=9)
    p.left[:6], p.right[:6] = np.arange(6), np.arange(6) + 5  # loops too
    graph = p.graph()
    S = np.pad(p.S, ((0, 0), (0, 1), (0, 1)), constant_values=0.5)
    log_phi = np.pad(p.log_phi, ((0, 0), (0, 1)), constant_values=-np.inf)
    two = propagate(graph, p.log_phi, p.S, clamp=p.clamp, tol=0, max_iter=7)
    three = propagate(graph, log_phi, S, clamp=p.clamp, tol=0, max_iter=7)
    assert np.abs(two.sent).max() > 0.1
    np.testing.assert_allclose(two.sent[:, 0], three.sent[:, 0], atol=1e-12)
    np.testing.assert_allclose(two.item, three.item[:, :2], atol=1e-12)
    posterior = edge_posterior(graph, three, S)[:, :2, :2]
    np.testing.assert_allclose(edge_posterior(graph, two, p.S), posterior, atol=1e-12)
    expected = bethe_log_likelihood(graph, three, S)
    assert bethe_log_likelihood(graph, two, p.S) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("n_groups", [1, 3])
@pytest.mark.parametrize(("n_classes", "even"), [(2, False), (3, False), (7, True)])
def test_single_precision_agrees_where_edges_are_many(
    n_classes: int, even: bool, n_groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    p = random_tree_problem(seed=3, n_items=40, n_classes=n_classes, extra=30)
    p.group, p.S = p.group % n_groups, p.S[:n_groups]
    if even:
        p.S = np.where(np.eye(n_classes, dtype=bool), p.S[:, :1, :1], p.S[:, :1, 1:2])
    graph, asked = p.graph(), {"clamp": p.clamp, "tol": propagation.COARSE}
    exact = propagate(graph, p.log_phi, p.S, **asked)
    monkeypatch.setattr(propagation, "FEW_EDGES", 0)
    coarse = propagate(graph, p.log_phi, p.S, **asked)
    assert (exact.sent.dtype, coarse.sent.dtype) == (np.float64, np.float32)
    assert propagate(graph, p.log_phi, p.S, tol=1e-6).sent.dtype == np.float64
    np.testing.assert_allclose(coarse.sent, exact.sent, atol=1e-5)
    np.testing.assert_allclose(coarse.item, exact.item, atol=1e-5)
    for one, other in zip(
        expected_counts(graph, coarse, p.S), expected_counts(graph, exact, p.S), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-4)
    difference = bethe_log_likelihood(graph, coarse, p.S) - bethe_log_likelihood(graph, exact, p.S)
    assert abs(difference) < 1e-4


@pytest.mark.parametrize("times", [1, 300])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_certain_answers_stay_finite_where_edges_are_many(
    n_classes: int, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(propagation, "FEW_EDGES", 0)
    # Certain answers on each pair, the last of which contradict a known class.
    left, right = np.repeat([0, 1, 0], times), np.repeat([1, 2, 2], times)
    graph = PairGraph.from_answers(left, right, np.repeat([True, True, False], times))
    S = np.eye(n_classes)
    beliefs = propagate(
        graph, np.zeros((3, n_classes)), S, clamp={0: 1}, tol=1e-3, max_iter=20, damping=0.5
    )
    assert beliefs.sent.dtype == (np.float32 if times == 1 else np.float64)
    assert np.isfinite(beliefs.sent).all()
    assert np.isfinite(bethe_log_likelihood(graph, beliefs, S))
    assert np.isfinite(expected_counts(graph, beliefs, S)).all()
    np.testing.assert_allclose(beliefs.item.sum(axis=1), 1)


def test_of_two_pairs_that_are_nearly_certain_the_one_with_more_answers_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Float32 cannot hold so many nats on an edge: it is not used then."""
    monkeypatch.setattr(propagation, "FEW_EDGES", 0)
    left, right = np.repeat([0, 1], [25, 20]), np.full(45, 2)
    graph = PairGraph.from_answers(left, right, np.ones(45, dtype=bool))
    S = np.array([[0.9, 0.1], [0.1, 0.9]])
    found = propagate(graph, np.zeros((3, 2)), S, clamp={0: 0, 1: 1}, tol=1e-3)
    expected = 5 * np.log(9)  # nats by which 25 answers outweigh 20
    assert found.log_item[2, 0] - found.log_item[2, 1] == pytest.approx(expected)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_certain_answer_rules_a_class_out_in_either_precision(
    n_classes: int, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Float32 rounds 1 − 1e-12 to one: what is left of a class must not become zero."""
    monkeypatch.setattr(propagation, "FEW_EDGES", 0 if dtype is np.float32 else 10)
    graph = PairGraph.from_answers([0], [1], [False])
    potential, known = np.zeros((2, n_classes)), {"clamp": {0: 0}, "tol": 1e-3}
    found = propagate(graph, potential, np.eye(n_classes), damping=0, max_iter=1, **known)
    assert found.sent.dtype == dtype
    np.testing.assert_allclose(found.sent[0], -np.log(1e-12), rtol=1e-6)
    np.testing.assert_allclose(found.sent[1], 0, atol=1e-6)


@pytest.mark.parametrize("extra", [2, 20])
@pytest.mark.parametrize("n_groups", [1, 2])
def test_a_group_without_answers_changes_nothing(n_groups: int, extra: int) -> None:
    p = random_tree_problem(seed=2, n_items=30, n_classes=4, extra=extra)
    p.weight[:40] = 1  # plain and merged edges side by side
    p.group %= n_groups
    p.S = p.S[: n_groups + 1]
    one_more = everything(p.graph(), p.log_phi, p.S)
    p.S = p.S[:n_groups]
    graph = p.graph()
    assert 0 < graph.compound_edges.size < graph.n_edges
    for found, other in zip(everything(graph, p.log_phi, p.S), one_more, strict=True):
        np.testing.assert_allclose(found, other[: len(found)], rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_classes", [4, 7])
@pytest.mark.parametrize("n_groups", [1, 3])
def test_two_levels_are_a_short_cut_of_any_matrix(n_groups: int, n_classes: int) -> None:
    """A matrix a hair away from pairing noise goes the long way and says the same."""
    p = random_tree_problem(seed=3, n_items=30, n_classes=n_classes, extra=20)
    p.weight[:40] = 1
    p.group %= n_groups
    p.left[:6], p.right[:6] = np.arange(6), np.arange(6) + 5  # loops too
    off, on = np.array([0.2, 0.3, 0.35])[:n_groups], np.array([0.9, 0.1, 0.8])[:n_groups]
    p.S = np.where(np.eye(n_classes, dtype=bool), on[:, None, None], off[:, None, None])
    graph = p.graph()
    short = everything(graph, p.log_phi, p.S)
    p.S[:, 0, 0] += 1e-14
    for one, other in zip(short, everything(graph, p.log_phi, p.S), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-10)


@pytest.mark.parametrize("rates", [(0.8, 0.1), (0.3, 0.6), (1.0, 0.0)])
def test_marginals_of_seven_classes_are_those_of_all_labellings(rates: tuple[float, float]) -> None:
    S = np.where(np.eye(7, dtype=bool), *rates)
    graph = PairGraph.from_answers([0, 1], [1, 2], [True, False])
    log_phi = np.log(np.random.default_rng(0).dirichlet(np.ones(7), 3))
    found = propagate(graph, log_phi, S, tol=1e-12)
    phi, exact = np.exp(log_phi), np.zeros((3, 7))
    for y in product(range(7), repeat=3):
        chance = phi[[0, 1, 2], y].prod() * S[y[0], y[1]] * (1 - S[y[1], y[2]])
        exact[[0, 1, 2], y] += chance
    np.testing.assert_allclose(found.item, exact / exact.sum(axis=1, keepdims=True), atol=1e-9)
    value = bethe_log_likelihood(graph, found, S)
    np.testing.assert_allclose(value, np.log(exact[0].sum()), atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 7])
def test_answers_that_leave_no_doubt_count_as_often_as_they_were_given(n_classes: int) -> None:
    graph, log_phi = sparse_problem(n_classes, weights=True)
    S = np.eye(n_classes)
    with np.errstate(all="raise", under="ignore"):
        beliefs = propagate(graph, log_phi, S, tol=1e-3, max_iter=30)
        same, different = expected_counts(graph, beliefs, S)
    said = graph.answer_kind % 2 == 1
    np.testing.assert_allclose(same.sum(), graph.answer_weight[said].sum(), rtol=1e-6)
    np.testing.assert_allclose(different.sum(), graph.answer_weight[~said].sum(), rtol=1e-6)


def everything(graph: PairGraph, log_phi: FloatArray, S: FloatArray) -> tuple[FloatArray, ...]:
    """Return all that propagation says, after a fixed number of sweeps."""
    b = propagate(graph, log_phi, S, tol=0, max_iter=7)
    *counts, log_edges = edge_statistics(graph, b, S)
    value, wrong = bethe_log_likelihood(graph, b, S), answer_wrong_probability(graph, b, S)
    assert b.log_scale + log_edges == pytest.approx(value, abs=1e-12)
    return b.sent, b.item, edge_posterior(graph, b, S), *counts, np.array([value]), wrong


@pytest.mark.parametrize("n_classes", [2, 3])
def test_small_blocks_change_nothing(n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    p = random_tree_problem(seed=4, n_items=6, n_classes=n_classes, extra=5)
    p.left, p.right = np.append(p.left, [0, 1, 2]), np.append(p.right, [5, 4, 5])
    p.same, p.group = np.append(p.same, [True] * 3), np.append(p.group, [0, 1, 2])
    p.weight = np.append(p.weight, np.float32([1, 1, 0.5]))
    graph = p.graph()

    whole = everything(graph, p.log_phi, p.S)
    monkeypatch.setattr(propagation, "_BLOCK", 2)
    monkeypatch.setattr(propagation, "KEPT_BYTES", 0)
    assert len(list(graph.blocks())) > 2
    for expected, found in zip(whole, everything(graph, p.log_phi, p.S), strict=True):
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
    kept = cold.sent.copy()
    warm = propagate(graph, p.log_phi, p.S, cold.sent)
    assert cold.n_iter > 5
    assert warm.n_iter <= 2
    assert warm.converged
    np.testing.assert_array_equal(cold.sent, kept)
    np.testing.assert_allclose(warm.item, cold.item, atol=1e-5)


def test_messages_go_on_where_they_stopped() -> None:
    graph, log_phi = sparse_problem(7)
    S = np.where(np.eye(7, dtype=bool), 0.8, 0.1)
    first = propagate(graph, log_phi, S, max_iter=5)
    both = propagate(graph, log_phi, S, first.sent, max_iter=5)
    ten = propagate(graph, log_phi, S, max_iter=10)
    np.testing.assert_allclose(both.item, ten.item, atol=1e-12)


def test_messages_go_on_under_another_matrix_and_back() -> None:
    graph, log_phi = sparse_problem(7)
    even = np.where(np.eye(7, dtype=bool), 0.8, 0.1)
    free = even.copy()
    free[0, 1] = free[1, 0] = 0.3
    there = propagate(graph, log_phi, free, propagate(graph, log_phi, even).sent, tol=1e-10)
    alone = propagate(graph, log_phi, free, tol=1e-10)
    np.testing.assert_allclose(there.item, alone.item, atol=1e-7)
    back = propagate(graph, log_phi, even, there.sent, tol=1e-10)
    np.testing.assert_allclose(
        back.item, propagate(graph, log_phi, even, tol=1e-10).item, atol=1e-7
    )


def test_messages_on_some_edges_and_in_another_order_are_those_of_all() -> None:
    graph, log_phi = sparse_problem(7)
    S, edges, order = np.where(np.eye(7, dtype=bool), 0.8, 0.1), [3, 7, 8], np.roll(np.arange(7), 2)
    found = propagate(graph, log_phi, S, tol=1e-10)
    np.testing.assert_array_equal(found.on_edges(np.array(edges)).sent, found.sent[..., edges])
    turned, again = found.reordered(order), propagate(graph, log_phi[:, order], S, tol=1e-10)
    np.testing.assert_allclose(turned.sent, again.sent, atol=1e-9)
    np.testing.assert_allclose(turned.item, again.item, atol=1e-9)
    assert propagate(graph, log_phi[:, order], S, turned.sent).n_iter <= 2


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


def test_a_label_that_may_be_wrong_multiplies_the_odds() -> None:
    graph = PairGraph.from_answers([0], [1], [True], n_items=2)
    log_phi = np.log([[0.2, 0.3, 0.5], [0.1, 0.6, 0.3]])
    labels = propagation.Labels({0: 1}, noise=0.1)
    S = np.full((3, 3), 0.2) + 0.7 * np.eye(3)
    chance = np.exp(log_phi)
    chance[0] *= [0.05, 0.9, 0.05]
    expected = chance[0] * (S @ chance[1])
    found = propagate(graph, log_phi, S, clamp=labels, **EXACT).item[0]
    np.testing.assert_allclose(found, expected / expected.sum())
    assert labels.without([0]) == {}


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
    assert np.all(np.isfinite(beliefs.sent))
    np.testing.assert_allclose(beliefs.item.sum(axis=1), 1)
    assert np.isfinite(bethe_log_likelihood(graph, beliefs, np.eye(n_classes)))
    np.testing.assert_allclose(
        edge_posterior(graph, beliefs, np.eye(n_classes)).sum(axis=(1, 2)), 1
    )


def test_memory_is_at_most_64_bytes_per_pair() -> None:
    n_pairs, n_items = 600_000, 60_000
    graph, _ = planted(n_items, n_pairs, 0.5, seed=0)
    tracemalloc.start()
    beliefs = propagate(graph, np.zeros((n_items, 2)), S2, max_iter=3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (graph.nbytes + beliefs.sent.nbytes) / n_pairs <= 42
    assert (graph.nbytes + peak) / n_pairs <= 64


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"S": np.eye(3)}, r"S must be \(2, 2\) or .* or \(1, 2, 2, 2\), got shape \(3, 3\)"),
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


def test_self_pairs_are_dropped_and_judged_for_certain() -> None:
    graph = PairGraph.from_answers([0, 1, 1, 0], [0, 1, 0, 1], [True, False, True, True])
    assert graph.edge_of_answer.tolist() == [-1, -1, 0, 0]
    wrong = answer_wrong_probability(graph, propagate(graph, np.zeros((2, 2)), S2), S2)
    both_wrong = 0.2**2 / (0.2**2 + 0.9**2)
    np.testing.assert_allclose(wrong, [0, 1, both_wrong, both_wrong])


def test_cavities_are_the_beliefs_without_the_answers_on_the_pair() -> None:
    """On a tree: what was answered on a pair, twice for one of them, is left out."""
    S = np.array([[0.9, 0.2, 0.3], [0.2, 0.8, 0.1], [0.3, 0.1, 0.7]])
    left, right = np.array([0, 1, 1, 3, 1]), np.array([1, 2, 3, 4, 2])
    same = np.array([True, True, False, False, False])
    log_phi = np.random.default_rng(0).standard_normal((5, 3))
    graph = PairGraph.from_answers(left, right, same, n_items=5)
    found = cavities(graph, propagate(graph, log_phi, S, tol=1e-10), np.array([3, 1]))
    for k, edge in enumerate([3, 1]):
        ends = graph.left[edge], graph.right[edge]
        rest = (left != ends[0]) | (right != ends[1])
        without = PairGraph.from_answers(left[rest], right[rest], same[rest], n_items=5)
        item = propagate(without, log_phi, S, tol=1e-10).item
        np.testing.assert_allclose(np.array(found)[:, k], item[list(ends)], atol=1e-8)


def test_a_graph_of_pairs_holds_their_answers_weights_and_annotators() -> None:
    rng = np.random.default_rng(0)
    left, right, who = rng.integers(0, 6, (3, 40))
    pairs = Pairs(left, right, rng.random(40) < 0.5, 8, who, rng.uniform(0.5, 2, 40))
    assert pairs.weight is not None
    graph = PairGraph.from_pairs(pairs, annotators=True)
    assert (graph.n_items, graph.n_groups) == (8, np.unique(who).size)
    total = np.zeros((8, 8, graph.n_groups, 2))
    for i, j, r, q, w in zip(left, right, pairs.annotator, pairs.same, pairs.weight, strict=True):
        if i != j:
            total[min(i, j), max(i, j), r, int(q)] += w
    expected = total[graph.left, graph.right].reshape(graph.n_edges, -1)
    np.testing.assert_allclose(graph.evidence(slice(0, graph.n_edges)).toarray(), expected)
    assert np.count_nonzero(total.sum(axis=(2, 3))) == graph.n_edges

    alone = PairGraph.from_pairs(pairs)
    crowd = expected.reshape(graph.n_edges, graph.n_groups, 2).sum(axis=1)
    assert alone.n_groups == 1
    np.testing.assert_allclose(alone.evidence(slice(0, alone.n_edges)).toarray(), crowd)


def test_groups_of_a_part_are_those_of_the_whole() -> None:
    pairs = Pairs([0, 1, 2], [1, 2, 3], [True, False, True], annotator=["a", "b", "c"])
    part = PairGraph.from_pairs(pairs[[2, 3]], annotators=True)
    assert (part.n_groups, part.answer_kind.tolist()) == (3, [2 * 2 + 1])


def test_pairs_that_name_no_annotators_have_none() -> None:
    with pytest.raises(ValueError, match="do not say who answered"):
        PairGraph.from_pairs(Pairs([0], [1], [True]), annotators=True)


@pytest.mark.parametrize("prior", [0.5, 0.25])
def test_signed_embedding_separates_planted_groups(prior: float) -> None:
    graph, y = planted(600, 6_000, prior, seed=1)
    embedding = signed_embedding(graph, 2)
    assert embedding.shape == (600, 2)
    middle = (embedding[y, 0].mean() + embedding[~y, 0].mean()) / 2
    agreement = np.mean((embedding[:, 0] > middle) == y)
    assert max(agreement, 1 - agreement) > 0.95


def test_signed_embedding_does_not_depend_on_the_start_vector() -> None:
    graph, _ = planted(600, 6_000, 0.5, seed=2)
    first = signed_embedding(graph, 2)
    np.testing.assert_array_equal(first, signed_embedding(graph, 2))
    for source in (7, np.random.default_rng(3), np.random.RandomState(3)):
        np.testing.assert_allclose(signed_embedding(graph, 2, source)[:, 0], first[:, 0], atol=1e-5)


def test_signed_embedding_equals_a_dense_eigensolver() -> None:
    graph, _ = planted(80, 400, 0.4, seed=3)
    dense = np.zeros((80, 80))
    share = graph.same.mean()
    for e, q in zip(graph.edge_of_answer, graph.same, strict=True):
        i, j = graph.left[e], graph.right[e]
        dense[i, j] += q - share
        dense[j, i] += q - share
    degree = np.bincount(graph.left[graph.edge_of_answer], minlength=80) + np.bincount(
        graph.right[graph.edge_of_answer], minlength=80
    )
    scale = 1 / np.sqrt(degree + degree.mean())
    values, vectors = np.linalg.eigh(scale[:, None] * dense * scale)
    expected = np.abs(vectors[:, :-4:-1] * values[:-4:-1])
    np.testing.assert_allclose(np.abs(signed_embedding(graph, 3)), expected, atol=1e-6)


def test_signed_embedding_of_answers_all_alike_is_the_origin() -> None:
    graph = PairGraph.from_answers([0, 1], [1, 2], [True, True], n_items=5_000)
    assert not signed_embedding(graph, 2).any()
    assert not signed_embedding(PairGraph.from_answers([0], [0], [True]), 3).any()


@pytest.mark.parametrize(
    ("kwargs", "error", "message"),
    [
        ({"same": [1, -1]}, TypeError, "boolean"),
        ({"left": [0.5, 1.0]}, TypeError, "integer"),
        ({"left": [-1, 0]}, ValueError, "left must lie in"),
        ({"right": [1, 3]}, ValueError, "right must lie in 0..2, got 1..3"),
        ({"left": [0]}, ValueError, "one length"),
        ({"weight": [1.0, -1.0]}, ValueError, "negative"),
        ({"weight": [1.0, np.inf]}, ValueError, "finite"),
        ({"group": [0, 2], "n_groups": 2}, ValueError, "group must lie in"),
    ],
)
def test_graph_refuses_bad_input(
    kwargs: dict[str, object], error: type[Exception], message: str
) -> None:
    arguments = {"left": [0, 1], "right": [1, 2], "same": [True, False], "n_items": 3} | kwargs
    with pytest.raises(error, match=message):
        PairGraph.from_answers(**arguments)  # type: ignore[arg-type]


def test_the_graph_of_some_edges_has_their_answers_alone():
    left, right = [0, 0, 1, 0, 2], [1, 2, 2, 1, 3]
    graph = PairGraph.from_answers(left, right, [True, False, True, False, True], n_items=5)
    some = graph.with_edges(np.array([0, 3]))  # of (0, 1), (0, 2), (1, 2), (2, 3)
    alone = PairGraph.from_answers([0, 0, 2], [1, 1, 3], [True, False, True], n_items=5)
    for name in ("left", "right", "answer_start", "answer_kind", "answer_weight"):
        np.testing.assert_array_equal(getattr(some, name), getattr(alone, name))
    assert some.edge_of_answer.tolist() == [0, 0, 1]
    np.testing.assert_array_equal(some.same, some.answer_kind % 2 == 1)


def test_signed_embedding_of_contradictions_is_the_origin() -> None:
    """Its matrix has no entry, in which an iterative solver cannot even begin."""
    left, right = np.arange(400), np.arange(1, 401)
    both = [True] * 400 + [False] * 400
    graph = PairGraph.from_answers(np.tile(left, 2), np.tile(right, 2), both)
    assert not signed_embedding(graph, 2).any()
