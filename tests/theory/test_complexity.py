"""Rademacher complexities against all signs, and the losses against a fine grid."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from noisypairs import theory
from noisypairs.theory import ModelClass
from tests.theory.theory_problems import MARGIN_LOSSES


@pytest.mark.parametrize("loss", sorted(MARGIN_LOSSES))
@pytest.mark.parametrize("reach", [0.3, 1.0, 4.0])
def test_constants_of_the_losses_are_those_of_a_fine_grid(loss: str, reach: float) -> None:
    t = np.linspace(-reach, reach, 20_001)
    values = MARGIN_LOSSES[loss](t)
    model = ModelClass(reach=reach, loss=loss)
    assert model.loss_bound == pytest.approx(values.max())
    assert model.lipschitz == pytest.approx(np.abs(np.diff(values) / np.diff(t)).max(), rel=1e-3)


def all_signs(n: int) -> np.ndarray:
    return np.array(list(itertools.product([-1.0, 1.0], repeat=n)))


@pytest.mark.parametrize("n", [1, 4, 10])
def test_empirical_rademacher_matches_all_signs_and_obeys_the_closed_bound(n: int) -> None:
    X = np.random.default_rng(n).normal(size=(n, 3))
    exact = 2.0 * np.linalg.norm(all_signs(n) @ X, axis=1).mean() / n
    estimate = theory.empirical_rademacher(X, norm=2.0, n_draws=20_000, random_state=0)
    # Five standard errors: a false alarm once in a million seeds, and the seed is fixed.
    assert abs(estimate.value - exact) <= 5 * estimate.standard_error + 1e-12
    assert estimate.standard_error <= 0.01 * exact
    radius = float(np.linalg.norm(X, axis=1).max())
    assert exact <= theory.linear_rademacher(2.0, radius, n) * (1 + 1e-12)


def test_empirical_rademacher_is_reproducible_and_works_in_blocks() -> None:
    X = np.random.default_rng(0).normal(size=(400_000, 1))
    first = theory.empirical_rademacher(X, n_draws=5, random_state=3)  # three blocks of draws
    assert first == theory.empirical_rademacher(X, n_draws=5, random_state=3)
    assert first != theory.empirical_rademacher(X, n_draws=5, random_state=4)
    assert first.value == pytest.approx(math.sqrt(2 / math.pi / len(X)), rel=1.5)


@pytest.mark.parametrize("seed", range(3))
def test_network_bound_holds_for_all_signs_and_directions(seed: int) -> None:
    # The best network puts its whole path norm on one hidden unit: search over its direction.
    X = np.random.default_rng(seed).normal(size=(8, 2))
    angle = np.linspace(0, 2 * np.pi, 721)
    hidden = np.maximum(0.0, X @ np.stack([np.cos(angle), np.sin(angle)]))
    exact = 3.0 * np.abs(all_signs(8) @ hidden / 8).max(axis=1).mean()
    bound = theory.network_rademacher(3.0, float(np.linalg.norm(X, axis=1).max()), 8)
    assert 0.1 * bound < exact <= bound


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda: ModelClass(loss="logstic"), "did you mean 'logistic'"),
        (lambda: ModelClass.linear(norm=-1.0), "norm=-1.0"),
        (lambda: theory.empirical_rademacher([1.0, 2.0]), "shape"),
        (lambda: theory.empirical_rademacher([[np.nan]]), "finite"),
        (lambda: theory.empirical_rademacher([[1.0]], n_draws=1), "n_draws=1"),
    ],
)
def test_bad_values_are_named(compute, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute()
