"""The answers as constraints: what can be kept, and what two classes can obey."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisypairs.estimators.constraints import (
    Constraints,
    closure,
    descend,
    fewest_violations,
    mend,
    swap_chains,
    two_colouring,
)
from noisypairs.pairs import Pairs
from tests.estimators.planted import count_broken, labellings, planted


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_two_colouring_knows_what_two_classes_can_keep(seed):
    rng = np.random.default_rng(seed)
    left = rng.integers(7, size=7)
    right = (left + rng.integers(1, 7, size=7)) % 7
    pairs = Pairs(left, right, rng.random(7) < 0.5, 7)
    rules = Constraints.from_pairs(pairs)
    y, odd = two_colouring(rules)
    assert not rules.broken(y)[~odd[rules.left]].any()
    # Pairs answered both ways cost one answer for certain; ties leave it open which.
    unavoidable = count_broken(y, pairs) - rules.violation(y)
    possible = count_broken(labellings(7, 2), pairs).min() == unavoidable
    assert possible == (not odd.any())


def test_violation_is_the_weight_lost_beyond_what_contradictions_cost_anyway():
    _, y, pairs = planted(30, 300, 2, noise=0.3)
    rules = Constraints.from_pairs(pairs)
    other = np.random.default_rng(1).integers(2, size=30)
    assert rules.violation(y) - rules.violation(other) == (
        count_broken(y, pairs) - count_broken(other, pairs)
    )


def test_closure_joins_must_links_and_gives_up_where_they_are_contradicted():
    pairs = Pairs.from_constraints([(0, 1), (1, 2), (4, 5), (5, 6)], [(2, 3), (4, 6)])
    block = closure(Constraints.from_pairs(pairs))
    assert len(set(block[:3])) == 1
    assert len(set(block[[0, 3, 4, 5, 6]])) == 5


@given(st.integers(0, 10_000), st.integers(2, 3))
@settings(max_examples=15, deadline=None)
def test_fewest_violations_equals_enumeration_on_small_graphs(seed, n_classes):
    rng = np.random.default_rng(seed)
    n, n_pairs = 6, int(rng.integers(1, 16))
    left = rng.integers(n, size=n_pairs)
    right = (left + rng.integers(1, n, size=n_pairs)) % n
    pairs = Pairs(left, right, rng.random(n_pairs) < 0.5, n, weight=rng.integers(1, 4, n_pairs))
    rules = Constraints.from_pairs(pairs)
    y = fewest_violations(rules, n_classes, np.random.default_rng(0))
    assert count_broken(y, pairs) == count_broken(labellings(n, n_classes), pairs).min()


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_exchanged_chains_break_the_same_answers_at_lower_cost(n_classes, noise):
    for seed in range(5):
        _, y, pairs = planted(60, 70, n_classes, noise, seed)
        rules = Constraints.from_pairs(pairs)
        cost = np.random.default_rng(seed).random((60, n_classes))
        swapped = swap_chains(rules, y, cost)
        assert np.array_equal(rules.broken(swapped), rules.broken(y))
        before, after = cost[np.arange(60), y].sum(), cost[np.arange(60), swapped].sum()
        assert after < before


@pytest.mark.parametrize("n_classes", [2, 4])
def test_after_descent_no_single_move_is_better(n_classes):
    rng = np.random.default_rng(3)
    _, _, pairs = planted(40, 120, n_classes, noise=0.3)
    rules, cost = Constraints.from_pairs(pairs), rng.random((40, n_classes))
    start = rng.integers(n_classes, size=40)
    y = descend(rules.matrix, start, cost)
    value = (rules.violation(y), cost[np.arange(40), y].sum())
    assert value < (rules.violation(start), cost[np.arange(40), start].sum())
    for item, label in itertools.product(range(40), range(n_classes)):
        z = y.copy()
        z[item] = label
        assert (rules.violation(z), cost[np.arange(40), z].sum() + 1e-12) >= value


@pytest.mark.parametrize("seed", range(12))
def test_two_classes_assignment_is_the_best_feasible_one_for_fixed_centres(seed):
    X, _, pairs = planted(9, 5, 2, seed=seed)
    rules = Constraints.from_pairs(pairs)
    centres = np.random.default_rng(seed).normal(size=(2, 3))
    cost = ((X[:, None, :] - centres) ** 2).sum(axis=2)
    y = swap_chains(rules, two_colouring(rules)[0], cost)
    every = labellings(9, 2)
    feasible = every[count_broken(every, pairs) == 0]
    least = cost[np.arange(9), feasible].sum(axis=1).min()
    assert cost[np.arange(9), y].sum() == pytest.approx(least)
    assert count_broken(y, pairs) == 0


@pytest.mark.parametrize("seed", range(5))
def test_mending_repairs_a_spoilt_colouring_and_never_breaks_more(seed):
    _, y, pairs = planted(150, 300, 3, seed=seed)
    rules = Constraints.from_pairs(pairs.select(~pairs.same))
    spoilt = y.copy()
    spoilt[:8] = (y[:8] + 1) % 3
    mended = mend(rules, spoilt, 3, np.random.default_rng(0))
    assert rules.violation(spoilt) > 0
    assert rules.violation(mended) == 0
    crowded = planted(20, 90, 3, noise=0.3, seed=seed)[2]
    rules, start = Constraints.from_pairs(crowded), np.arange(20) % 3
    assert rules.violation(mend(rules, start, 3, np.random.default_rng(0))) <= rules.violation(
        start
    )
