"""Answers to one pair that agree more than the noise allows: the score, the warning, intervals."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import CopiedAnswersWarning, JointPairClassifier, PairingNoise, Pairs
from noisypairs.graph.propagation import PairGraph, propagate
from noisypairs.noise import PairError
from noisypairs.noise.answers import Expectation
from noisypairs.noise.pair_error import pair_products
from noisypairs.pairs.groups import single_answers
from noisypairs.pairs.pairs import keys_of
from noisypairs.sampling import random_pairs

# Answers that copy each other also look like a class of their own, which is not the subject here.
pytestmark = pytest.mark.filterwarnings("ignore::noisypairs.ClassNumberWarning")

RATES = np.array([0.25, 0.15])
NOISE = PairingNoise(*RATES)
S = NOISE.same_probability()
TABLE, NONE = np.stack([1 - S, S])[None], np.zeros((1, 2, 2, 2))


def expected(graph, prior):
    phi = np.tile([1 - prior, prior], (graph.n_items, 1))
    beliefs = propagate(graph, np.log(phi), S)
    return Expectation(graph, beliefs, TABLE, phi, NONE)


def test_score_has_mean_zero_and_the_size_of_its_variance_by_enumeration():
    """Over all classes and answers of one pair asked three times, weighted by their probability."""
    prior, mean, agreed, size = 0.3, 0.0, 0.0, 0.0
    for answers in itertools.product([False, True], repeat=3):
        graph = PairGraph.from_answers([0] * 3, [1] * 3, np.array(answers))
        chance = 0.0
        for y, z in itertools.product([0, 1], repeat=2):
            given = np.where(answers, S[y, z], 1 - S[y, z])
            chance += [1 - prior, prior][y] * [1 - prior, prior][z] * given.prod()
        product, spread = (value[0] for value in pair_products(expected(graph, prior)))
        mean += chance * product
        size += chance * spread
    assert mean == pytest.approx(0, abs=1e-9)
    for y, z in itertools.product([0, 1], repeat=2):
        agreed += [1 - prior, prior][y] * [1 - prior, prior][z] * 3 * S[y, z] * (1 - S[y, z])
    assert size == pytest.approx(agreed)


def problem(seed, rho, n_items=150, times=3, n_pairs=300):
    rng = np.random.default_rng(seed)
    y = (rng.random(n_items) < 0.4).astype(int)
    X = rng.normal(size=(n_items, 2)) + np.outer(2 * y - 1, [1.0, 1.0])
    ends = random_pairs(n_items, n_pairs, rng)
    own = np.array([NOISE.corrupt(y, *ends, random_state=rng) for _ in range(times)])
    shared = NOISE.corrupt(y, *ends, random_state=rng)
    same = np.where(rng.random(own.shape) < np.sqrt(rho), shared, own)
    return X, Pairs(np.tile(ends[0], times), np.tile(ends[1], times), same.ravel(), n_items)


def fitted(X, pairs, **settings):
    settings = {"n_classes": 2, "class_order": "falling", "random_state": 0} | settings
    return JointPairClassifier(LogisticRegression(), **settings).fit(X, pairs)


@pytest.mark.parametrize("seed", range(3))
def test_independent_repeats_are_not_complained_of(seed):
    assert fitted(*problem(seed, 0.0)).repeat_correlation_ < 0.1  # and no warning


@pytest.mark.parametrize("rho", [0.5, 0.8])
def test_people_who_follow_each_other_are_found_and_widen_the_intervals(rho):
    X, pairs = problem(0, rho)
    with pytest.warns(CopiedAnswersWarning, match="agree more than the estimated noise allows"):
        # hard items explain part of it, too
        model = fitted(X, pairs, answer_model=["people", "similarity", "pair error"])
    assert model.repeat_correlation_ == pytest.approx(rho, abs=0.2)
    allowed = model.intervals(X, pairs, n_bootstrap=100)
    model.answer_model_ = model.answer_model_.without("pair error")
    ignored = model.intervals(X, pairs, n_bootstrap=100)
    for name, truth in zip(("similar_flip", "dissimilar_flip"), RATES, strict=True):
        assert truth in allowed[name]
        wide, narrow = (one[name].high - one[name].low for one in (allowed, ignored))
        assert wide > 1.2 * narrow


def test_answers_to_one_pair_weigh_what_the_design_effect_leaves():
    graph = PairGraph.from_answers([0, 0, 0, 1], [1, 1, 1, 2], np.array([1, 0, 1, 1], dtype=bool))
    weight = PairError(0.25).reweighted(graph).answer_weight
    assert sorted(weight.tolist()) == pytest.approx([1 / 1.5] * 3 + [1.0])


def test_correlation_is_found_where_it_is_and_nothing_is_kept_by_chance():
    """Classes nearly known, 300 pairs of three answers; over ten seeds ρ = .5 spreads by .09.

    The first estimate is too low, as its beliefs count every answer in full: rounds of the M-step
    make up for that.
    """
    found = {0.0: [], 0.5: []}
    for rho, seed in itertools.product(found, range(10)):
        X, pairs = problem(seed, rho)
        right = (X.sum(axis=1) > 0).astype(int)
        phi = np.where(np.eye(2, dtype=bool)[right], 0.9, 0.1)
        whole = PairGraph.from_pairs(pairs)
        part = PairError(0.0)
        for _ in range(6):
            graph = part.reweighted(whole)
            seen = Expectation(graph, propagate(graph, np.log(phi), S), TABLE, phi, NONE)
            part = PairError.begin(pairs, None, seen)
        found[rho].append(part.strength)
    assert np.mean(found[0.5]) == pytest.approx(0.5, abs=0.12)
    assert sum(strength == 0.0 for strength in found[0.0]) >= 6
    assert max(found[0.0]) < 0.15
    assert PairError.begin(pairs.reweighted(np.full(900, 2.0)), None, seen) is None
    assert PairError.begin(pairs.select(np.arange(300)), None, seen) is None  # asked once


def test_every_answer_three_times_is_warned_of_and_still_covered():
    """Issue: 90 % intervals covered 0 to 1 of 7. Seven seeds, two rates: at least 10 of 14.

    Intervals that cover 90 % do worse than that in 9 of 1,000 cases.
    """
    covered = 0
    for seed in range(7):
        X, pairs = problem(seed, 0.0, times=1, n_pairs=500)
        copied = pairs.select(np.tile(np.arange(pairs.n_pairs), 3))
        with pytest.warns(CopiedAnswersWarning) as said:
            model = fitted(X, copied)
        assert any("the answers look copied" in str(one.message) for one in said)
        limits = model.intervals(X, copied, n_bootstrap=30)
        covered += (RATES[0] in limits["similar_flip"]) + (RATES[1] in limits["dissimilar_flip"])
    assert covered >= 10


def test_votes_are_the_single_answers_that_they_count():
    X, pairs = problem(1, 0.0)
    yes = pairs.same.reshape(3, -1).sum(axis=0)
    ends = pairs.left[: yes.size], pairs.right[: yes.size]
    votes = Pairs.from_votes(*ends, yes, 3 - yes, pairs.n_items)
    single = single_answers(votes)
    assert single.weight is None
    assert single.n_pairs == pairs.n_pairs
    assert np.bincount(keys_of(single), single.same).tolist() == (
        np.bincount(keys_of(pairs), pairs.same).tolist()
    )
    assert single_answers(pairs) is pairs
    weighted = pairs.reweighted(np.tile([1.0, 2.0], pairs.n_pairs // 2))
    assert single_answers(weighted) is weighted  # agreeing answers stand side by side
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        apart, together = fitted(X, pairs), fitted(X, votes)
    of_votes = together.intervals(X, votes, n_bootstrap=30)["similar_flip"]
    of_answers = apart.intervals(X, pairs, n_bootstrap=30)["similar_flip"]
    widths = of_votes.high - of_votes.low, of_answers.high - of_answers.low
    assert widths[0] == pytest.approx(widths[1], rel=0.4)  # not two to three times as wide
