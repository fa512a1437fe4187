"""The classes behind the answers: what leaving somebody out changes, against enumeration."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from noisypairs.annotators.classes import InferredClasses
from noisypairs.graph.propagation import PairGraph, expected_counts, propagate


def by_level(S: np.ndarray) -> np.ndarray:
    """Return the response table (R, 2, K, K) of P("same") (R, K, K)."""
    return np.stack([1 - S, S], axis=1)


def test_drop_effect_counts_changed_items_as_enumeration_does():
    # A path 0-1-2-3, item 0 known; annotator 1 alone says that 2 differs from 1.
    left, right, same = [0, 1, 2], [1, 2, 3], np.array([True, False, True])
    S = np.array([[[0.9, 0.2], [0.2, 0.9]], [[0.7, 0.1], [0.1, 0.7]]])
    log_phi = np.log(np.array([[0.5, 0.5], [0.6, 0.4], [0.57, 0.43], [0.55, 0.45]]))
    graph = PairGraph.from_answers(left, right, same, group=[0, 1, 0], n_groups=2)
    beliefs = propagate(graph, log_phi, S, clamp={0: 0})
    inferred = InferredClasses(graph, graph, log_phi, by_level(S), beliefs, {0: 0})

    def marginals(without: int | None) -> np.ndarray:
        weights = np.zeros((4, 2))
        for y in np.ndindex(1, 2, 2, 2):
            weight = np.exp(log_phi[range(4), y].sum())
            for i, j, answer, group in zip(left, right, same, [0, 1, 0], strict=True):
                if group != without:
                    chance = S[group, y[i], y[j]]
                    weight *= chance if answer else 1 - chance
            weights[range(4), y] += weight
        return weights / weights.sum(axis=1, keepdims=True)

    np.testing.assert_allclose(beliefs.item, marginals(None), atol=1e-6)
    for group in (0, 1):
        changed = marginals(group).argmax(axis=1) != marginals(None).argmax(axis=1)
        assert inferred.drop_effect(group) == changed.sum()
    assert inferred.drop_effect(1) == 2


def test_rates_of_a_later_step_change_no_item_for_somebody_without_influence():
    # Beliefs from answers read as truthful, S as reversed: only S moves item 1, not annotator 1.
    graph = PairGraph.from_answers([0, 0], [1, 2], np.array([True, True]), group=[0, 1], n_groups=2)
    log_phi = np.log(np.array([[0.9, 0.1], [0.5, 0.5], [0.9, 0.1]]))
    truthful, coin = np.array([[0.9, 0.2], [0.2, 0.9]]), np.full((2, 2), 0.5)
    beliefs = propagate(graph, log_phi, np.stack([truthful, coin]))
    reversed_now = np.stack([truthful[::-1], coin])
    inferred = InferredClasses(graph, graph, log_phi, by_level(reversed_now), beliefs, None)
    assert propagate(graph, log_phi, reversed_now).item[1].argmax() != beliefs.item[1].argmax()
    assert inferred.drop_effect(1) == 0


def test_counts_are_those_of_the_answers_as_given_and_beliefs_those_of_their_weights():
    left, right, same = [0, 0, 1], [1, 1, 2], np.array([True, True, False])
    given = PairGraph.from_answers(left, right, same, group=[0, 1, 0], n_groups=2)
    half = replace(given, answer_weight=given.answer_weight / 2)
    S = np.array([[[0.9, 0.2], [0.2, 0.9]], [[0.7, 0.1], [0.1, 0.7]]])
    log_phi = np.log(np.full((3, 2), 0.5))
    beliefs = propagate(half, log_phi, S)
    found = InferredClasses(half, given, log_phi, by_level(S), beliefs, None)
    counts, halved = found.counts(), expected_counts(half, beliefs, S)
    for mine, other in zip(counts, halved, strict=True):
        np.testing.assert_allclose(mine, 2 * other, atol=1e-12)
    assert [one.sum() for one in counts] == [2.0, 1.0]
