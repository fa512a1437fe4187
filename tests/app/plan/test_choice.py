"""Pairs to ask next, and what an answer is worth."""

from __future__ import annotations

import numpy as np
import pytest
from noisypairs.app.plan.information import independent_laws, pair_information

from noisypairs import PairingNoise, sample_pairs
from noisypairs.app import plan
from noisypairs.app.plan.choice import FAIR_SHARES
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.propagation import propagate
from tests.app.plan.plan_problems import NOISE, items, mutual_information


def test_chosen_pairs_teach_more_than_random_ones() -> None:
    gains = []
    S = NOISE.same_probability()
    for seed in range(8):
        X, y = items(300, seed, 0.7)
        eta = 1 / (1 + np.exp(-2 * 0.7 * X[:, 0] - np.log(0.4 / 0.6)))
        potential = np.log(np.column_stack([1 - eta, eta]))
        pairs = sample_pairs(y, 600, NOISE, random_state=seed)
        graph = PairGraph.from_pairs(pairs)
        beliefs = propagate(graph, potential, S)
        chosen = plan.candidates(graph, beliefs, S, seed).best(300, 300)
        random = sample_pairs(y, 300, random_state=100 + seed)
        right = []
        for left, other in ((chosen.left, chosen.right), (random.left, random.right)):
            answers = NOISE.corrupt(y, left, other, 2, 1000 + seed)
            both = (np.append(pairs.left, left), np.append(pairs.right, other))
            more = PairGraph.from_answers(*both, np.append(pairs.same, answers), n_items=300)
            belief = propagate(more, potential, S).item
            right.append(belief[np.arange(300), y].mean())
        gains.append(right[0] - right[1])
    error = np.std(gains, ddof=1) / np.sqrt(len(gains))
    assert np.mean(gains) > 2 * error


def test_candidates_are_new_or_old_spread_and_scored() -> None:
    X, y = items(150, 4)
    pairs = sample_pairs(y, 300, NOISE, random_state=4)
    graph = PairGraph.from_pairs(pairs)
    S = NOISE.same_probability()
    beliefs = propagate(graph, np.column_stack([-X[:, 0], X[:, 0]]), S)
    found = plan.candidates(graph, beliefs, S, 0)
    old = set(zip(graph.left.tolist(), graph.right.tolist(), strict=True))
    ends = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert [end in old for end in ends] == found.again.tolist()
    assert len(set(ends)) == len(ends) == 150 * 149 // 2  # few items: every pair is looked at
    law = independent_laws(beliefs.item[found.left[-1:]], beliefs.item[found.right[-1:]])
    assert found.information[-1] == pytest.approx(mutual_information(law[0], S))
    best = found.best(60, 150)
    used = np.bincount(np.concatenate([best.left, best.right]))
    assert len(best) == 60
    assert used.max() <= np.ceil(FAIR_SHARES * 2 * 60 / 150)
    # The same as going through all candidates one by one.
    room, chosen = [2] * 150, []
    for k in np.argsort(-found.information, kind="stable").tolist():
        left, right = ends[k]
        if min(room[left], room[right]) > 0:
            room[left], room[right] = room[left] - 1, room[right] - 1
            chosen.append(ends[k])
    assert list(zip(best.left.tolist(), best.right.tolist(), strict=True)) == chosen[:60]
    assert (np.diff(best.information) <= 1e-12).all()


def test_asking_for_more_pairs_than_there_are_gives_all() -> None:
    graph = PairGraph.from_answers([0], [1], [True], n_items=4)
    S = NOISE.same_probability()
    found = plan.candidates(graph, propagate(graph, np.zeros((4, 2)), S), S, 0)
    assert len(found.best(100, 4)) == 6


def test_many_items_are_sampled_without_old_pairs() -> None:
    y = items(400, 5)[1]
    pairs = sample_pairs(y, 3000, NOISE, random_state=5)
    graph = PairGraph.from_pairs(pairs)
    beliefs = propagate(graph, np.zeros((400, 2)), NOISE.same_probability(), clamp={0: 1})
    found = plan.candidates(graph, beliefs, NOISE.same_probability(), 5)
    new = found[~found.again]
    key = new.left * 400 + new.right
    assert len(np.unique(key)) == len(key) <= 40_000
    assert not np.isin(key, graph.left.astype(int) * 400 + graph.right).any()
    assert (new.left < new.right).all()


def test_a_repeated_answer_is_worth_less_where_the_first_was_sure() -> None:
    sure = PairingNoise(0.01, 0.01)
    y = items(100, 6)[1]
    pairs = sample_pairs(y, 40, sure, random_state=6)
    graph, S = PairGraph.from_pairs(pairs), sure.same_probability()
    worth = plan.worth_of_answers(graph, propagate(graph, np.zeros((100, 2)), S), S, random_state=0)
    assert worth.fresh.low > worth.repeated.high
    assert worth.best_repeated >= worth.repeated.estimate
    assert worth.fresh.estimate == pytest.approx(pair_information(np.full((1, 2, 2), 0.25), S)[0])
