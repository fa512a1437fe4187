"""Directions along which answers follow the features: few for classes, all for records."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import Pairs
from noisypairs.algebra import Array
from noisypairs.estimators.joint.beliefs import alignment
from noisypairs.estimators.joint.beliefs.alignment import Alignment

N, D = 600, 40


def asked(rng: np.random.Generator, n_pairs: int = 1200) -> tuple[Array, Array]:
    left, step = rng.integers(N, size=n_pairs), rng.integers(1, N, size=n_pairs)
    return left, (left + step) % N


def of_classes(n_classes: int, seed: int) -> Alignment:
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=N)
    Z = 2.0 * rng.standard_normal((n_classes, D))[y] + rng.standard_normal((N, D))
    left, right = asked(rng)
    same = (y[left] == y[right]) ^ (rng.random(len(left)) < 0.2)
    return Alignment(Z, Pairs(left, right, same, n_items=N))


def of_records(seed: int) -> Alignment:
    rng = np.random.default_rng(seed)
    looks = np.tile(rng.standard_normal((N // 2, D)), (2, 1))
    matches = np.arange(N // 2), np.arange(N // 2) + N // 2
    left, right = (np.concatenate(both) for both in zip(matches, asked(rng), strict=True))
    same = (left % (N // 2) == right % (N // 2)) ^ (rng.random(len(left)) < 0.2)
    return Alignment(looks + 0.5 * rng.standard_normal((N, D)), Pairs(left, right, same, n_items=N))


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_answers_on_classes_follow_one_direction_less_than_there_are_classes(
    n_classes: int,
) -> None:
    """The others are noise: below zero on average, for the leading ones have the best of it."""
    found = [of_classes(n_classes, seed) for seed in range(10)]
    assert np.mean([one.beyond(0) for one in found]) > 2.5
    others = [one.beyond(n_classes - 1) for one in found]
    assert np.mean(others) < 0.0
    assert max(others) < 2.5


def test_answers_on_records_follow_more_directions_than_twenty() -> None:
    assert min(of_records(seed).beyond(20) for seed in range(10)) > 2.5


def test_what_chance_does_is_that_of_permuted_answers() -> None:
    """The standard deviation of 400 permutations is known to 4 %, and their mean to 5 % of it."""
    one, rng = of_records(0), np.random.default_rng(0)
    left, right, same = one.pairs.left, one.pairs.right, one.pairs.same
    permuted = (Pairs(left, right, rng.permutation(same), n_items=N) for _ in range(400))
    traces = [np.trace(Alignment(one.Z, pairs).form) for pairs in permuted]
    chance = np.trace(one.form) / one.beyond(0)
    assert np.std(traces) == pytest.approx(chance, rel=0.15)
    assert abs(np.mean(traces)) < 0.2 * chance


def test_the_variance_of_likeness_needs_only_some_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    one = of_records(0)
    whole = one.beyond(5)
    monkeypatch.setattr(alignment, "ENOUGH_PAIRS", 500)
    assert len(one.likeness()) == 500
    assert one.beyond(5) == pytest.approx(whole, rel=0.2)
