"""What beliefs say about answers; test_propagation.py compares it with enumeration."""

from __future__ import annotations

import numpy as np

from noisypairs.inference.graph import PairGraph
from noisypairs.inference.posteriors import answer_wrong_probability
from noisypairs.inference.propagation import propagate


def test_self_pairs_are_dropped_and_judged_for_certain() -> None:
    S = np.array([[0.9, 0.2], [0.2, 0.9]])
    graph = PairGraph.from_answers([0, 1, 1, 0], [0, 1, 0, 1], [True, False, True, True])
    assert graph.edge_of_answer.tolist() == [-1, -1, 0, 0]
    wrong = answer_wrong_probability(graph, propagate(graph, np.zeros((2, 2)), S), S)
    np.testing.assert_allclose(
        wrong, [0, 1, 0.2**2 / (0.2**2 + 0.9**2), 0.2**2 / (0.2**2 + 0.9**2)]
    )
