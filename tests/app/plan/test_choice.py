"""What an answer is worth on new pairs, and on old ones asked again."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import PairingNoise, sample_pairs
from noisypairs.app import plan
from noisypairs.graph.information import pair_information
from noisypairs.graph.propagation import PairGraph, edge_posterior, propagate
from tests.app.plan.plan_problems import NOISE, items, mutual_information


def test_old_pairs_are_ranked_by_the_posterior_of_their_edge() -> None:
    X, y = items(60, 4)
    pairs = sample_pairs(y, 200, NOISE, random_state=4)
    graph, S = PairGraph.from_pairs(pairs), NOISE.same_probability()
    beliefs = propagate(graph, np.column_stack([-X[:, 0], X[:, 0]]), S)
    found = plan.old_pairs(graph, beliefs, S)
    assert len(found) == graph.n_edges
    assert (np.diff(found.information) <= 0).all()
    laws = dict(
        zip(
            zip(graph.left.tolist(), graph.right.tolist(), strict=True),
            edge_posterior(graph, beliefs, S),
            strict=True,
        )
    )
    for k in (0, 7, -1):
        law = laws[int(found.left[k]), int(found.right[k])]
        assert found.information[k] == pytest.approx(mutual_information(law, S))


def test_a_repeated_answer_is_worth_less_where_the_first_was_sure() -> None:
    sure = PairingNoise(0.01, 0.01)
    y = items(100, 6)[1]
    pairs = sample_pairs(y, 40, sure, random_state=6)
    graph, S = PairGraph.from_pairs(pairs), sure.same_probability()
    worth = plan.worth_of_answers(graph, propagate(graph, np.zeros((100, 2)), S), S, random_state=0)
    assert worth.fresh.low > worth.repeated.high
    assert worth.best_repeated >= worth.repeated.estimate
    assert worth.fresh.estimate == pytest.approx(pair_information(np.full((1, 2, 2), 0.25), S)[0])
