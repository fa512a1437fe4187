"""Simulated data have the moments, rates and shares that their parameters state."""

import numpy as np
import pytest
from scipy.stats import norm

from noisypairs import datasets


def test_gaussians_have_the_moments_of_the_paper():
    n = 20_000
    X, y = datasets.gaussians(n, prior=0.2, random_state=1)
    # Five standard errors each: a false alarm in about one of a million runs.
    assert y.mean() == pytest.approx(0.2, abs=5 * np.sqrt(0.16 / n))
    for label, centre in ((0, -2.0), (1, 2.0)):
        part = X[y == label]
        error = 5 / np.sqrt(len(part))
        np.testing.assert_allclose(part.mean(axis=0), centre, atol=error)
        np.testing.assert_allclose(np.cov(part.T), np.eye(2), atol=error * np.sqrt(2))


def test_gaussians_are_as_hard_as_the_bayes_rule_says():
    n, prior = 200_000, 0.2
    X, y = datasets.gaussians(n, prior, random_state=2)
    cut = np.log((1 - prior) / prior) / 4
    scale = np.sqrt(2)  # standard deviation of x0 + x1; its mean is ±4
    error = prior * norm.cdf((cut - 4) / scale) + (1 - prior) * norm.sf((cut + 4) / scale)
    assert error == pytest.approx(0.002, abs=5e-4)
    wrong = np.mean((X.sum(axis=1) > cut) != y)
    assert wrong == pytest.approx(error, abs=5 * np.sqrt(error / n))


def test_load_passes_parameters_on_and_seeds_repeat():
    X, y = datasets.load("gaussians", n_samples=50, prior=0.7, random_state=3)
    X2, y2 = datasets.gaussians(50, 0.7, random_state=3)
    np.testing.assert_array_equal(X, X2)
    np.testing.assert_array_equal(y, y2)
    bunch = datasets.load("gaussians", return_X_y=False, n_samples=5, prior=0.7)
    assert (bunch.prior, bunch.source) == (0.7, "simulated")


def test_a_legacy_random_state_is_used_and_advanced():
    state = np.random.RandomState(0)
    first, second = (datasets.gaussians(10, random_state=state)[0] for _ in range(2))
    again = datasets.gaussians(10, random_state=np.random.RandomState(0))[0]
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 0}, "n_samples=0: expected a whole number of at least 1"),
        ({"n_samples": 2.5}, "n_samples=2.5"),
        ({"prior": 1.0}, "prior=1.0: expected P"),
        ({"prior": float("nan")}, "prior=nan"),
    ],
)
def test_gaussians_refuse(parameters, message):
    with pytest.raises(ValueError, match=message):
        datasets.gaussians(**parameters)
