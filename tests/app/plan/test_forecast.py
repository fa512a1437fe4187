"""Forecasts from points of a law that is known."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs.app.plan.curve import NEW, THESE
from noisypairs.app.plan.forecast import forecast
from tests.app.plan.plan_problems import law_points


@pytest.mark.parametrize(
    ("name", "target", "truth"),
    [
        (NEW, 0.91, (4.0 / 0.01) ** (1 / 0.8)),
        (THESE, 0.96, np.log(0.25 / 0.04) / 0.6 * 1000),
    ],
)
def test_need_is_within_a_factor_two_and_covered(name: str, target: float, truth: float) -> None:
    needs = [forecast(law_points(name, seed, 0.003), 1000).need(target).total for seed in range(30)]
    middle = np.median([one.estimate for one in needs])
    assert truth / 2 < middle < truth * 2
    covered = np.mean([truth in one for one in needs])
    assert covered >= 0.75  # 90 % intervals, 30 curves: below .75 once in a hundred


def test_ceiling_is_covered_and_never_above_one() -> None:
    found = [forecast(law_points(NEW, seed, 0.005), 1000).ceiling_interval for seed in range(30)]
    assert np.mean([0.92 in one for one in found]) >= 0.75
    assert max(one.high for one in found) <= 1.0
