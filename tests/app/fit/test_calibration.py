"""One test at 5 %: right probabilities are rarely doubted, wrong ones are caught."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from noisypairs import PairingNoise, Pairs, sample_pairs
from noisypairs.app.fit.calibration import FEWEST_ANSWERS, check_calibration

NOISE = PairingNoise(0.2, 0.1)
N_RUNS = 300

Array = NDArray[np.float64]


def simulated(
    seed: int, n_items: int, n_pairs: int, predicted: Callable[[Array], Array] = np.asarray
) -> tuple[Pairs, Array]:
    """Draw P(class 1 | x), classes, answers; return them with P("same") as a model predicts it."""
    rng = np.random.default_rng(seed)
    eta = rng.beta(0.5, 0.8, n_items)
    y = (rng.random(n_items) < eta).astype(int)
    pairs = sample_pairs(y, n_pairs, NOISE, random_state=seed)
    shown = predicted(eta)
    both = np.column_stack([1.0 - shown, shown])
    left, right = both[pairs.left], both[pairs.right]
    return pairs, np.einsum("nk,kl,nl->n", left, NOISE.same_probability(), right)


def doubted(n_items: int, n_pairs: int) -> int:
    runs = (check_calibration(*simulated(seed, n_items, n_pairs)) for seed in range(N_RUNS))
    return sum(not found.holds for found in runs if found is not None)


@pytest.mark.parametrize(("n_items", "n_pairs"), [(90, 240), (300, 2000), (1000, 1500)])
def test_right_probabilities_are_doubted_in_about_one_of_twenty_cases(
    n_items: int, n_pairs: int
) -> None:
    # At a true level of 5 % fewer than 3 or more than 29 of 300 come once in a thousand times.
    # (When ten 90 % intervals all had to agree, about 195 of 300 were doubted.)
    low, high = stats.binom.ppf([0.0005, 0.9995], N_RUNS, 0.05)
    assert low <= doubted(n_items, n_pairs) <= high


def overconfident(eta: Array) -> Array:
    odds = (np.clip(eta, 1e-6, 1 - 1e-6) / np.clip(1 - eta, 1e-6, None)) ** 3
    return np.asarray(odds / (1 + odds))


@pytest.mark.parametrize(
    "wrong",
    [
        overconfident,
        lambda eta: 0.5 + 0.4 * (eta - 0.5),  # too unsure
        lambda eta: eta**0.3,  # class 1 too often
    ],
)
def test_wrong_probabilities_are_caught(wrong: Callable[[Array], Array]) -> None:
    found = [check_calibration(*simulated(seed, 400, 3000, wrong)) for seed in range(20)]
    assert sum(not one.holds for one in found if one is not None) >= 18


def test_answers_that_share_an_item_are_not_counted_as_independent() -> None:
    """Ten items in 2,000 answers are evidence about ten items: the naive test is misled."""
    naive = shared = 0
    for seed in range(100):
        pairs, chance = simulated(seed, 12, 2000)
        residual = pairs.same - chance
        z = residual.sum() / np.sqrt((chance * (1 - chance)).sum())
        naive += abs(z) > stats.norm.ppf(0.975)
        found = check_calibration(pairs, chance)
        shared += found is not None and not found.holds
    assert naive > 50
    assert shared <= 15


def test_few_answers_and_exact_ones_are_not_tested_and_a_constant_is_tested_on_the_whole() -> None:
    pairs, chance = simulated(0, 60, 200)
    assert check_calibration(pairs, None) is None
    few = pairs.select(np.arange(FEWEST_ANSWERS - 1))
    assert check_calibration(few, chance[: FEWEST_ANSWERS - 1]) is None
    assert check_calibration(pairs, pairs.same.astype(float)) is None
    share = check_calibration(pairs, np.full(200, pairs.same.mean()))
    assert share is not None
    assert (share.degrees, round(share.p_value, 6)) == (1, 1.0)
