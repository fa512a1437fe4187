"""The pair graph against direct computations on the answers."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs.inference.graph import PairGraph, signed_embedding
from noisypairs.pairs import Pairs
from tests.inference.graph_problems import planted


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
