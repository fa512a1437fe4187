"""Pairs to ask next: new, teaching more than random ones, and partly at random."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from noisypairs import (
    JointPairClassifier,
    LabelingNoise,
    PairingNoise,
    Pairs,
    estimation,
    first_pairs,
)
from noisypairs.assess import choose_pairs, next_pairs
from noisypairs.assess.next_pairs import MOST_BELIEFS, Gains
from noisypairs.graph.propagation import PairGraph, propagate
from noisypairs.sampling import sample_pairs
from tests.assess.plan_problems import NOISE, items, mutual_information
from tests.joint.builders import data, joint

S = NOISE.same_probability()


def keys(left, right, n):
    return set((np.minimum(left, right) * n + np.maximum(left, right)).tolist())


def test_chosen_pairs_teach_more_than_random_ones():
    gains = []
    for seed in range(8):
        X, y = items(300, seed, 0.7)
        eta = 1 / (1 + np.exp(-2 * 0.7 * X[:, 0] - np.log(0.4 / 0.6)))
        potential = np.log(np.column_stack([1 - eta, eta]))
        pairs = sample_pairs(y, 600, NOISE, random_state=seed)
        belief = propagate(PairGraph.from_pairs(pairs), potential, S).item
        asked = pairs.left, pairs.right
        right = []
        for share in (0.2, 1.0):
            ask = choose_pairs(belief, S, 300, asked=asked, random_share=share, random_state=seed)
            answers = NOISE.corrupt(y, ask.left, ask.right, 2, 1000 + seed)
            more = PairGraph.from_pairs(pairs.with_answers(ask.left, ask.right, answers))
            after = propagate(more, potential, S).item
            right.append(after[np.arange(300), y].mean())
        gains.append(right[0] - right[1])
    error = np.std(gains, ddof=1) / np.sqrt(len(gains))
    assert np.mean(gains) > 3 * error


def test_pairs_are_new_distinct_and_marked():
    rng = np.random.default_rng(0)
    belief = rng.dirichlet(np.ones(3), size=60)
    matrix = NOISE.same_probability(3)
    asked = rng.integers(60, size=(2, 400))  # self pairs and repeats among them
    found = choose_pairs(belief, matrix, 50, asked=asked, random_state=1)
    assert len(found) == 50
    assert len(keys(found.left, found.right, 60)) == 50
    assert not keys(found.left, found.right, 60) & keys(*asked, 60)
    assert found.chosen.sum() == 40
    assert found.chosen.reshape(5, 10).sum(axis=1).tolist() == [8] * 5  # any part has its share
    law = np.outer(belief[found.left[7]], belief[found.right[7]])
    assert found.information[7] == pytest.approx(mutual_information(law, matrix))


def test_a_batch_is_spread_where_single_pairs_are_not():
    belief = np.full((40, 2), [0.99, 0.01])
    belief[:6] = [0.5, 0.5]
    found = choose_pairs(belief, S, 12, random_share=0.0, random_state=0)
    used = np.bincount(np.concatenate([found.left, found.right]), minlength=40)[:6]
    assert used.min() >= 2  # the best pair alone, again and again, would leave some out
    assert used.sum() >= 12


def test_no_item_is_asked_about_again_and_again():
    belief = np.full((60, 2), [0.98, 0.02])
    belief[:30] = [0.5, 0.5]
    belief[59] = [1.0, 0.0]  # the best partner of all
    asked = np.array([np.zeros(25, dtype=int), np.arange(30, 55)])
    found = choose_pairs(belief, S, 40, asked=asked, random_share=0.0, random_state=0)
    used = np.bincount(np.concatenate([found.left, found.right]), minlength=60)
    assert used[0] == 0  # 25 times the mean already
    assert 1 < used[59] <= used.max() <= np.ceil(next_pairs.FAIR_SHARES * 2 * 40 / 60)


def test_of_many_classes_likely_same_pairs_are_asked():
    rng = np.random.default_rng(0)
    belief = rng.dirichlet(np.full(20, 0.05), size=200)
    found = choose_pairs(belief, NOISE.same_probability(20), 100, random_state=0)
    same = np.einsum("nk,nk->n", belief[found.left], belief[found.right])
    assert same[found.chosen].mean() > 0.3
    assert same[~found.chosen].mean() < 0.15


def test_all_pairs_come_back_where_fewer_are_left():
    belief = np.array([[0.5, 0.5], [0.2, 0.8], [0.9, 0.1], [0.4, 0.6]])
    found = choose_pairs(belief, S, 100, asked=([0], [1]), random_state=0)
    assert keys(found.left, found.right, 4) == {2, 3, 6, 7, 11}
    everything = np.triu_indices(4, 1)
    assert len(choose_pairs(belief, S, 5, asked=everything)) == 0


def test_of_many_items_a_sample_is_weighed(monkeypatch):
    monkeypatch.setattr(next_pairs, "FEW_ITEMS", 50)
    rng = np.random.default_rng(0)
    belief = np.full((400, 2), [0.99, 0.01])
    belief[::10] = [0.5, 0.5]
    asked = rng.integers(400, size=(2, 3000))
    found = choose_pairs(belief, S, 30, asked=asked, random_state=0)
    assert len(keys(found.left, found.right, 400)) == 30
    assert not keys(found.left, found.right, 400) & keys(*asked, 400)
    doubtful = (found.left % 10 == 0) | (found.right % 10 == 0)
    assert doubtful[found.chosen].all()


@pytest.mark.parametrize(
    ("n", "share", "message"), [(0, 0.2, "at least one pair"), (5, 1.5, "a number in")]
)
def test_wrong_numbers_are_refused(n, share, message):
    with pytest.raises(ValueError, match=message):
        choose_pairs(np.full((4, 2), 0.5), S, n, random_share=share)


def test_beliefs_and_noise_must_be_of_as_many_classes():
    with pytest.raises(ValueError, match=r"belief has shape \(4, 3\), expected \(n_items, 2\)"):
        choose_pairs(np.full((4, 3), 1 / 3), S, 1)


def test_a_learner_never_asks_the_same_pair_twice():
    X, _, pairs = data(n_items=60, n_pairs=300)
    with pytest.raises(NotFittedError):
        JointPairClassifier(n_classes=2).next_pairs(1)
    model = joint().fit(X, pairs)
    ask = model.next_pairs(40, random_state=0)
    assert len(ask) == 40
    assert not keys(ask.left, ask.right, 60) & keys(pairs.left, pairs.right, 60)
    again = model.next_pairs(40, random_state=0)
    assert ask.left.tolist() == again.left.tolist()
    assert model.next_pairs(5, random_share=1.0).chosen.sum() == 0


def test_only_the_random_share_of_a_batch_shows_the_prior():
    X, y, pairs = data(prior=0.3, n_items=400, n_pairs=800)
    ask = joint().fit(X, pairs).next_pairs(3000, random_share=0.5, random_state=0)
    answers = NOISE.corrupt(y, ask.left, ask.right, 2, 5)
    batch = Pairs(ask.left, ask.right, answers, n_items=400, chosen=ask.chosen)
    truth = (0.3**2 + 0.7**2) * 0.9 + 0.42 * 0.2
    share = estimation.same_share(batch, level=0.999)
    assert share.low < truth < share.high
    assert share.estimate == answers[~ask.chosen].mean()


def test_first_pairs_are_near_or_random():
    X, _, _ = data(n_items=200, n_pairs=10)
    found = first_pairs(X, 300, random_state=0)
    assert len(keys(found.left, found.right, 200)) == 300
    assert found.chosen.sum() == 150
    distance = np.linalg.norm(X[found.left] - X[found.right], axis=1)
    assert distance[found.chosen].mean() < distance[~found.chosen].mean() / 3
    more = first_pairs(X, 300, asked=(found.left, found.right), random_state=0)
    assert not keys(more.left, more.right, 200) & keys(found.left, found.right, 200)
    words = first_pairs(pd.DataFrame({"text": ["a", "b", "c", "d"]}), 3, random_state=0)
    assert len(words) == 3
    assert not words.chosen.any()


def test_equal_items_are_near_each_other_and_not_themselves():
    found = first_pairs(np.zeros((30, 2)), 40, near_share=1.0, random_state=0)
    assert (found.left != found.right).all()
    assert len(keys(found.left, found.right, 30)) == len(found) == 40


NOISES = [
    PairingNoise(0.1, 0.2).same_probability(3),
    LabelingNoise(flip=[[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.0, 0.1, 0.9]]).same_probability(3),
]


def information(joint: np.ndarray) -> float:
    """Return I(row; column) in bits of a table of probabilities, by its definition."""
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    cells = itertools.product(range(joint.shape[0]), range(joint.shape[1]))
    return sum(
        joint[i, j] * np.log2(joint[i, j] / (rows[i] * columns[j]))
        for i, j in cells
        if joint[i, j] > 0
    )


def gain(one: np.ndarray, two: np.ndarray, S: np.ndarray) -> float:
    law = np.outer(one, two)
    table = np.stack([law * S, law * (1 - S)], axis=-1)  # (y, y', answer)
    together = information(table.reshape(-1, 2))
    return (together + information(table.sum(axis=1)) + information(table.sum(axis=0))) / 2


@pytest.mark.parametrize("S", NOISES, ids=["pairing", "labeling"])
def test_gains_are_enumerated_mutual_information(S):
    belief = np.random.default_rng(0).dirichlet(np.ones(3), size=5)
    values = Gains(belief, S).values
    assert (np.diag(values) == -np.inf).all()
    for i, j in itertools.permutations(range(5), 2):
        assert values[i, j] == pytest.approx(gain(belief[i], belief[j], S), abs=1e-12)


@pytest.mark.parametrize("S", NOISES, ids=["pairing", "labeling"])
def test_what_is_left_is_the_mean_over_the_answers_counted_on(S):
    belief = np.random.default_rng(1).dirichlet(np.ones(3), size=4)
    gains = Gains(belief, S)
    before = gains.values.copy()
    gains.take(0, 1, np.random.default_rng(0))
    expected = 0.0
    for says in (S, 1 - S):
        after = belief[0] * (says @ belief[1])
        expected += after.sum() * gain(after / after.sum(), belief[2], S)
    assert gains.values[0, 2] == pytest.approx(min(expected, before[0, 2]), abs=1e-12)
    assert gains.values[2, 0] == gains.values[0, 2]
    assert gains.values[0, 1] == -np.inf
    assert gains.values[2, 3] == before[2, 3]  # items of neither


def test_possible_beliefs_stay_few():
    belief = np.full((12, 2), 0.5)
    belief[1:] = [0.9, 0.1]
    gains = Gains(belief, PairingNoise(0.2, 0.2).same_probability())
    rng = np.random.default_rng(0)
    left = []
    for other in range(1, 9):
        left.append(gains.values[0, 11])
        gains.take(0, other, rng)
    chance, possible = gains.possible[0]
    assert len(chance) == len(possible) == MOST_BELIEFS
    assert chance.sum() == pytest.approx(1)
    assert (np.diff(left) <= 0).all()
    assert left[-1] < 0.6 * left[0]


def test_possible_beliefs_keep_their_mean_exactly_until_they_are_too_many():
    belief = np.random.default_rng(2).dirichlet(np.ones(2), size=5)
    gains, rng = Gains(belief, S), np.random.default_rng(0)
    for other in (1, 2, 3):
        gains.take(0, other, rng)
        chance, possible = gains.possible[0]
        assert len(chance) == 2**other
        np.testing.assert_allclose(chance @ possible, belief[0], rtol=1e-12)


def test_no_item_gets_more_than_three_fair_shares_of_the_batch_and_of_all():
    """Counted by hand: 40 pairs of 60 items are 4/3 for each, and 60 asked before 2 more."""
    belief = np.full((60, 2), 0.5)
    ring = np.array([np.arange(60), (np.arange(60) + 1) % 60])
    for times, most in ((0, 4), (7, 3), (9, 1), (10, 0)):
        # Item 59 has been asked `times` times; all others make up the 60 pairs of before.
        own = np.array([np.full(times, 59), np.arange(times)])
        others = ring[:, (ring != 59).all(axis=0)][:, : 60 - times]
        if len(others[0]) + times < 60:
            more = np.array([np.arange(20), np.arange(20) + 30])[:, : 60 - times - len(others[0])]
            others = np.concatenate([others, more], axis=1)
        asked = np.concatenate([own, others], axis=1)
        assert asked.shape == (2, 60)
        sure = belief.copy()
        sure[59] = [1.0, 0.0]  # the best partner of everybody
        found = choose_pairs(sure, S, 40, asked=asked, random_share=0.0, random_state=0)
        used = np.bincount(np.concatenate([found.left, found.right]), minlength=60)
        assert used[59] <= most
        assert used.max() == 4
        assert used[59] == most or times == 0


def test_of_a_small_batch_no_item_gets_more_than_two_pairs():
    """Ten pairs of 60 items are 1/3 for each, of which three times is one; two are let."""
    sure = np.full((60, 2), 0.5)
    sure[59] = [1.0, 0.0]  # the best partner of everybody, and never asked yet
    far = np.arange(59)
    asked = np.concatenate([[far, (far + 1) % 59], [far, (far + 2) % 59]], axis=1)
    found = choose_pairs(sure, S, 10, asked=asked, random_share=0.0, random_state=0)
    assert np.bincount(np.concatenate([found.left, found.right]), minlength=60)[59] == 2
