"""What beliefs say about answers; test_propagation.py compares it with enumeration."""

from __future__ import annotations

import numpy as np

from noisypairs.inference.graph import PairGraph
from noisypairs.inference.posteriors import answer_wrong_probability, cavities
from noisypairs.inference.propagation import propagate


def test_self_pairs_are_dropped_and_judged_for_certain() -> None:
    S = np.array([[0.9, 0.2], [0.2, 0.9]])
    graph = PairGraph.from_answers([0, 1, 1, 0], [0, 1, 0, 1], [True, False, True, True])
    assert graph.edge_of_answer.tolist() == [-1, -1, 0, 0]
    wrong = answer_wrong_probability(graph, propagate(graph, np.zeros((2, 2)), S), S)
    np.testing.assert_allclose(
        wrong, [0, 1, 0.2**2 / (0.2**2 + 0.9**2), 0.2**2 / (0.2**2 + 0.9**2)]
    )


def test_cavities_are_the_beliefs_without_the_answers_on_the_pair() -> None:
    """On a tree: whatever was answered on a pair, twice for one of them, is left out."""
    rng = np.random.default_rng(0)
    S = np.array([[0.9, 0.2, 0.3], [0.2, 0.8, 0.1], [0.3, 0.1, 0.7]])
    left, right = np.array([0, 1, 1, 3, 1]), np.array([1, 2, 3, 4, 2])
    same, log_phi = np.array([True, True, False, False, False]), rng.standard_normal((5, 3))
    graph = PairGraph.from_answers(left, right, same, n_items=5)
    found = cavities(graph, propagate(graph, log_phi, S, tol=1e-10), np.array([3, 1]))
    for k, edge in enumerate([3, 1]):
        ends = graph.left[edge], graph.right[edge]
        rest = (left != ends[0]) | (right != ends[1])
        without = PairGraph.from_answers(left[rest], right[rest], same[rest], n_items=5)
        item = propagate(without, log_phi, S, tol=1e-10).item
        np.testing.assert_allclose(np.array(found)[:, k], item[list(ends)], atol=1e-8)
