"""The answers as constraints: what can be kept, and what two classes can obey."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from noisypairs.estimators.kmeans.constraints import Constraints, closure, two_colouring
from noisypairs.pairs import Pairs
from tests.estimators.kmeans.planted import count_broken, labellings, planted


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
