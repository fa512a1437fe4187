"""The pair graph against enumeration of all class assignments."""

from __future__ import annotations

import itertools
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from noisypairs import graph as graph_module
from noisypairs.graph import (
    PROBABILITY_FLOOR,
    PairGraph,
    answer_wrong_probability,
    bethe_log_likelihood,
    edge_posterior,
    expected_counts,
    propagate,
    signed_embedding,
)

FloatArray = NDArray[np.float64]
S2 = np.array([[0.9, 0.2], [0.2, 0.9]])
EXACT = {"tol": 1e-13, "max_iter": 500, "damping": 0.0}
LOOPY_ITEM_ERROR = 0.12  # triangles everywhere, weak potentials: the worst case; seen: 0.09


@dataclass
class Problem:
    """Answers, potentials and S, as plain arrays."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    same: NDArray[np.bool_]
    weight: NDArray[np.float32]
    group: NDArray[np.int64]
    log_phi: FloatArray
    S: FloatArray
    clamp: dict[int, int]

    @property
    def n_items(self) -> int:
        return len(self.log_phi)

    @property
    def n_classes(self) -> int:
        return self.log_phi.shape[1]

    def graph(self) -> PairGraph:
        return PairGraph.from_answers(
            self.left,
            self.right,
            self.same,
            n_items=self.n_items,
            weight=self.weight,
            group=self.group,
            n_groups=len(self.S),
        )


def random_tree_problem(seed: int, n_items: int, n_classes: int, extra: int) -> Problem:
    """A random tree, with ``extra`` answers that repeat or contradict answers on its edges."""
    rng = np.random.default_rng(seed)
    child = np.arange(1, n_items)
    parent = np.array([rng.integers(0, c) for c in child], dtype=int)
    again = rng.integers(0, n_items - 1, extra)
    left, right = np.append(child, child[again]), np.append(parent, parent[again])
    swap = rng.random(left.size) < 0.5
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    S = rng.uniform(0.02, 0.98, (3, n_classes, n_classes))
    n = left.size
    return Problem(
        left=left,
        right=right,
        same=rng.random(n) < 0.5,
        weight=rng.choice([0.25, 0.5, 1.0, 1.0, 2.0], n).astype(np.float32),
        group=rng.integers(0, 3, n),
        log_phi=rng.normal(size=(n_items, n_classes)),
        S=(S + S.swapaxes(1, 2)) / 2,
        clamp={int(rng.integers(n_items)): int(rng.integers(n_classes))} if seed % 2 else {},
    )


@dataclass
class Truth:
    """What enumeration of all K^n assignments gives."""

    assignments: NDArray[np.int64]
    probability: FloatArray
    log_likelihood: float
    item: FloatArray


def enumerate_classes(p: Problem) -> Truth:
    k = p.n_classes
    phi = np.exp(p.log_phi)
    for item, known in p.clamp.items():
        phi[item] = np.eye(k)[known]
    phi /= phi.sum(axis=1, keepdims=True)
    every = np.array(list(itertools.product(range(k), repeat=p.n_items)))
    product = np.prod([phi[i, every[:, i]] for i in range(p.n_items)], axis=0)
    for i, j, q, w, r in zip(p.left, p.right, p.same, p.weight, p.group, strict=True):
        says_same = np.clip(p.S[r], PROBABILITY_FLOOR, 1)[every[:, i], every[:, j]]
        says_not = np.clip(1 - p.S[r], PROBABILITY_FLOOR, 1)[every[:, i], every[:, j]]
        product = product * (says_same if q else says_not) ** float(w)
    probability = product / product.sum()
    item = np.array(
        [[probability[every[:, i] == y].sum() for y in range(k)] for i in range(p.n_items)]
    )
    return Truth(every, probability, float(np.log(product.sum())), item)


def joint(truth: Truth, i: int, j: int, k: int) -> FloatArray:
    table = np.zeros((k, k))
    np.add.at(table, (truth.assignments[:, i], truth.assignments[:, j]), truth.probability)
    return table


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


def loopy_problem(n_items: int = 9, n_classes: int = 2, seed: int = 3) -> Problem:
    """Every pair of items answered once by its planted classes with 30 % noise, weak potentials."""
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(n_items, 1)
    y = np.arange(n_items) % n_classes
    S = np.where(np.eye(n_classes, dtype=bool), 0.7, 0.3)[None]
    return Problem(
        left=left,
        right=right,
        same=rng.random(left.size) < S[0][y[left], y[right]],
        weight=np.ones(left.size, dtype=np.float32),
        group=np.zeros(left.size, dtype=int),
        log_phi=0.7 * np.eye(n_classes)[y] + 0.3 * rng.normal(size=(n_items, n_classes)),
        S=S,
        clamp={},
    )


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


def test_binary_sweep_equals_the_general_one(monkeypatch: pytest.MonkeyPatch) -> None:
    p = random_tree_problem(seed=1, n_items=12, n_classes=2, extra=9)
    p.left[:6], p.right[:6] = np.arange(6), np.arange(6) + 5  # loops too
    graph = p.graph()
    special = propagate(graph, p.log_phi, p.S, clamp=p.clamp, tol=0, max_iter=7)
    monkeypatch.setattr(graph_module, "_sweep_two", graph_module._sweep_any)
    general = propagate(graph, p.log_phi, p.S, clamp=p.clamp, tol=0, max_iter=7)
    assert np.abs(special.messages).max() > 0.1
    np.testing.assert_allclose(special.messages, general.messages, atol=1e-12)
    np.testing.assert_allclose(special.item, general.item, atol=1e-12)


def test_products_by_kind_equal_products_by_edge() -> None:
    p = random_tree_problem(seed=2, n_items=30, n_classes=4, extra=20)
    p.weight[:40] = 1  # plain and merged edges side by side
    graph = p.graph()
    factors = graph_module.Factors(graph, p.S, 4)
    cavity = np.random.default_rng(0).random((2, graph.n_edges, 4))
    block = slice(0, graph.n_edges)
    assert 0 < factors.compound(block)[0].size < graph.n_edges
    np.testing.assert_allclose(
        graph_module._carry_by_kind(factors, block, cavity),
        graph_module._carry_by_edge(factors, block, cavity),
        rtol=1e-12,
    )


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


def test_news_that_cancels_at_an_item_still_travels_on() -> None:
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


def test_self_pairs_are_dropped_and_judged_for_certain() -> None:
    S = np.array([[0.9, 0.2], [0.2, 0.9]])
    graph = PairGraph.from_answers([0, 1, 1, 0], [0, 1, 0, 1], [True, False, True, True])
    assert graph.edge_of_answer.tolist() == [-1, -1, 0, 0]
    wrong = answer_wrong_probability(graph, propagate(graph, np.zeros((2, 2)), S), S)
    np.testing.assert_allclose(
        wrong, [0, 1, 0.2**2 / (0.2**2 + 0.9**2), 0.2**2 / (0.2**2 + 0.9**2)]
    )


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


def planted(
    n_items: int, n_pairs: int, prior: float, seed: int
) -> tuple[PairGraph, NDArray[np.bool_]]:
    """Two planted classes; pairing noise of 20 %."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_items) < prior
    left = rng.integers(0, n_items, n_pairs)
    right = (left + rng.integers(1, n_items, n_pairs)) % n_items
    same = (y[left] == y[right]) ^ (rng.random(n_pairs) < 0.2)
    return PairGraph.from_answers(left, right, same, n_items=n_items), y


def test_memory_is_at_most_64_bytes_per_pair() -> None:
    n_pairs, n_items = 200_000, 20_000
    graph, _ = planted(n_items, n_pairs, 0.5, seed=0)
    tracemalloc.start()
    beliefs = propagate(graph, np.zeros((n_items, 2)), S2, max_iter=3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (graph.nbytes + beliefs.messages.nbytes) / n_pairs <= 42
    assert (graph.nbytes + peak) / n_pairs <= 64


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
