"""The interval of the accuracy holds at its level, however few pairs are left."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from noisypairs.app.judge.statement import interval_of_rest
from noisypairs.assess.labels import exact_interval


def covered(intervals, n, n_left, wrong):
    """Return how often the intervals, one for each number of right ones, hold the share left."""
    right = np.arange(n + 1)
    true = 1.0 - (wrong - (n - right)) / n_left
    inside = [
        low - 1e-9 <= t <= high + 1e-9 for (low, high), t in zip(intervals, true, strict=True)
    ]
    return float(hypergeom.pmf(n - right, n + n_left, wrong, n) @ inside)


@pytest.mark.parametrize(("n", "n_left"), [(20, 20), (40, 8), (60, 300)])
def test_the_interval_of_the_rest_holds_for_every_number_of_errors(n, n_left):
    """Over all samples by their exact law, where the usual interval fails."""
    own, usual = (
        [(one.low, one.high) for one in map(interval, range(n + 1))]
        for interval in (
            lambda right: interval_of_rest(right, n, n_left),
            lambda right: exact_interval(right, n, 0.9),
        )
    )
    errors = range(0, n + n_left + 1, 4)
    assert min(covered(own, n, n_left, wrong) for wrong in errors) >= 0.9 - 1e-9
    assert min(covered(usual, n, n_left, wrong) for wrong in errors) < 0.9


def test_of_many_others_it_is_the_usual_interval():
    found, usual = interval_of_rest(95, 100, 10**8), exact_interval(95, 100, 0.9)
    assert (found.low, found.high) == pytest.approx((usual.low, usual.high), abs=1e-4)
    assert interval_of_rest(95, 100, 0) == usual
