"""Bounds against exact tail probabilities."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from noisypairs import algebra, theory
from noisypairs.errors import NotIdentifiable
from noisypairs.noise import CleanPairs, LabelingNoise, NoiseModel, PairingNoise
from noisypairs.theory import ModelClass
from tests.theory.theory_problems import MARGIN_LOSSES, problems, tail_of_one_classifier

# ---------------------------------------------------------------- the corrected loss


@settings(deadline=None)
@given(problems())
def test_one_number_is_slope_range_and_inflation(problem: tuple[NoiseModel, float]) -> None:
    noise, prior = problem
    S, C = noise.same_probability(), noise.corrected_coefficients(prior)
    weight = algebra.alpha(S, prior)
    expected = max(weight, 1 - weight) / abs(algebra.gain(S, prior))
    # l(t, ±1) may be any two numbers of [0, 1], so the extremes are at the corners.
    corners = C @ np.array(list(itertools.product([0.0, 1.0], repeat=2))).T
    # The steepest loss allowed: l(t, y) = −y t, with slopes −1 and +1.
    slope = np.abs(C @ [-1.0, 1.0]).max()
    assert theory.noise_inflation(noise, prior) == pytest.approx(expected, rel=1e-9)
    assert theory.corrected_range(C) == pytest.approx(corners.max() - corners.min(), rel=1e-9)
    assert theory.corrected_range(C, 3.0) == pytest.approx(3.0 * expected, rel=1e-9)
    assert theory.corrected_lipschitz(C, 2.0) == pytest.approx(2.0 * slope, rel=1e-9)


@pytest.mark.parametrize("prior", [0.1, 0.35, 0.8])
def test_clean_pairs_have_the_papers_lipschitz_constant(prior: float) -> None:
    assert theory.noise_inflation(CleanPairs(), prior) == pytest.approx(1 / abs(2 * prior - 1))


# ---------------------------------------------------------------- bounds hold, printed ones do not


@pytest.mark.parametrize(
    ("noise", "prior"),
    [
        (CleanPairs(), 0.3),
        (CleanPairs(), 0.52),
        (PairingNoise(0.2, 0.1), 0.35),
        (PairingNoise(0.0, 0.4), 0.7),
        (LabelingNoise(0.3, 0.1), 0.2),
    ],
)
@pytest.mark.parametrize("n", [10, 1000])
@pytest.mark.parametrize("delta", [0.3, 0.05, 0.001])
def test_lemma_1_holds_with_the_range_and_fails_as_printed(
    noise: NoiseModel, prior: float, n: int, delta: float
) -> None:
    # A single classifier has Rademacher complexity 0: only the deviation term is left.
    width = theory.corrected_range(noise.corrected_coefficients(prior))
    bound = theory.uniform_deviation(1.0, 0.0, n, delta, width)
    assert tail_of_one_classifier(noise, prior, n, bound) <= delta
    as_printed = theory.printed_deviation(1.0, 0.0, n, delta)
    assert tail_of_one_classifier(noise, prior, n, as_printed) > delta


def test_occurrences_are_not_independent_so_n_counts_pairs() -> None:
    noise, prior, n, delta = CleanPairs(), 0.55, 1000, 0.01
    width = theory.corrected_range(noise.corrected_coefficients(prior))
    as_if_independent = theory.uniform_deviation(1.0, 0.0, 2 * n, delta, width)
    assert tail_of_one_classifier(noise, prior, n, as_if_independent) > delta


def test_theorem_1_fails_as_printed_where_the_derived_bound_holds() -> None:
    # F = {always +, always −}, l(t, y) = (1 − ty)/2. The minimiser is wrong exactly when fewer
    # than half of the answers are "same", and its excess risk is then 2π − 1.
    prior, n, delta = 0.525, 570_000, 0.01
    excess = 2 * prior - 1
    same = algebra.same_rate(CleanPairs().same_probability(), prior)
    chance = float(binom.cdf(n // 2 - 1, n, same))
    lipschitz = theory.corrected_lipschitz(CleanPairs().corrected_coefficients(prior), 0.5)
    rademacher = float(binom.pmf(n // 2, n, 0.5))  # E|mean of n signs|, n even
    assert 2 * theory.printed_deviation(lipschitz, rademacher, n, delta) < excess
    assert chance > 2 * delta
    width = theory.corrected_range(CleanPairs().corrected_coefficients(prior))
    assert theory.excess_risk(lipschitz, rademacher, n, delta, width) >= excess


def test_printed_bounds_are_the_papers() -> None:
    noise, prior, n, delta = PairingNoise(0.1, 0.2), 0.3, 500, 0.1
    C = np.linalg.inv(algebra.transition(noise.same_probability(), prior))
    slope = np.abs(C).sum(axis=1).max() * ModelClass().lipschitz
    lemma = 2 * slope / math.sqrt(n) + math.sqrt(math.log(1 / delta) / (2 * n))
    assert theory.uniform_deviation_bound(
        noise, prior, n, delta, formula="printed"
    ) == pytest.approx(lemma)
    assert theory.excess_risk_bound(noise, prior, n, delta, formula="printed") == pytest.approx(
        2 * lemma
    )
    clean = 4 * ModelClass().lipschitz / 0.4 / math.sqrt(n) + 2 * math.sqrt(
        math.log(1 / delta) / (2 * n)
    )
    assert theory.clean_bound(prior, n, delta, formula="printed") == pytest.approx(clean)


@settings(deadline=None)
@given(problems())
def test_the_bound_is_inflation_times_that_of_clean_labels(
    problem: tuple[NoiseModel, float],
) -> None:
    noise, prior = problem
    model = ModelClass.network(3.0, loss="squared")
    labels = theory.excess_risk(model.lipschitz, model.rademacher(400), 400, 0.1, model.loss_bound)
    pairs = theory.excess_risk_bound(noise, prior, 400, 0.1, model)
    assert pairs == pytest.approx(theory.noise_inflation(noise, prior) * labels, rel=1e-9)


@settings(deadline=None)
@given(problems(), st.floats(0.01, 2.0))
def test_sample_size_is_the_least_that_suffices(
    problem: tuple[NoiseModel, float], epsilon: float
) -> None:
    noise, prior = problem
    n = theory.sample_size(noise, prior, epsilon, 0.1)
    assert theory.excess_risk_bound(noise, prior, n, 0.1) <= epsilon * (1 + 1e-9)
    if n > 1:
        assert theory.excess_risk_bound(noise, prior, n - 1, 0.1) > epsilon * (1 - 1e-9)


# ---------------------------------------------------------------- the weighted bound


def surrogate_minimum(loss: str, p: np.ndarray) -> np.ndarray:
    """Return inf_t p l(t) + (1−p) l(−t) by a fine grid that holds every minimiser."""
    t = np.linspace(-12, 12, 24_001)[:, None]
    return (p * MARGIN_LOSSES[loss](t) + (1 - p) * MARGIN_LOSSES[loss](-t)).min(axis=0)


@pytest.mark.parametrize("loss", sorted(MARGIN_LOSSES))
def test_calibration_bounds_the_weighted_regret_of_any_classifier(loss: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(100):
        alpha, mass, q = rng.uniform(0.1, 0.9), rng.dirichlet(np.ones(5)), rng.uniform(size=5)
        scores = rng.normal(scale=rng.choice([0.01, 1.0]), size=5)
        plus, minus = (1 - alpha) * q, alpha * (1 - q)
        surrogate = plus * MARGIN_LOSSES[loss](scores) + minus * MARGIN_LOSSES[loss](-scores)
        w = plus + minus
        regret = mass @ (surrogate - w * surrogate_minimum(loss, plus / w))
        wrong = mass @ (np.where(scores > 0, minus, plus) - np.minimum(plus, minus))
        assert wrong <= theory.calibrated_regret(regret, alpha, float(mass @ q), loss) + 1e-6


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_calibration_is_tight_at_a_score_of_zero(loss: str) -> None:
    # One x with q > α: the score 0 is counted as −, and no classifier has less surrogate regret.
    alpha, q = 0.4, 0.7
    w = (1 - alpha) * q + alpha * (1 - q)
    regret = w * (1.0 - surrogate_minimum(loss, np.array([(1 - alpha) * q / w]))[0])
    assert theory.calibrated_regret(regret, alpha, q, loss) == pytest.approx(q - alpha, rel=1e-5)


def test_weighted_bound_is_assembled_as_stated_and_survives_swapped_answers() -> None:
    noise, n, delta = PairingNoise(0.3, 0.1), 10_000, 0.05
    model = ModelClass(loss="hinge")  # L = 1, B = 2, ξ(ε) = ε; α = 0.4
    inner = 0.01 + 0.6 * (2 / 100 + 2 * 2 * math.sqrt(math.log(20) / (2 * n)))
    for prior in (0.7, 0.3):
        bound = theory.weighted_bound(noise, prior, n, delta, model, approximation=0.01)
        assert bound == pytest.approx(inner / (0.6 * 0.4 / 2))
    # A⁻¹ as printed is negative for the smaller prior: no bound at all.
    assert theory.weighted_bound(noise, 0.7, n, delta, model, formula="printed") > 0
    assert theory.weighted_bound(noise, 0.3, n, delta, model, formula="printed") < 0


# ---------------------------------------------------------------- wrong use


def test_no_signal_is_an_error_with_its_reason() -> None:
    for compute in (
        lambda: theory.noise_inflation(CleanPairs(), 0.5),
        lambda: theory.weighted_bound(CleanPairs(), 0.5, 100),
    ):
        with pytest.raises(NotIdentifiable, match="a − b = 0"):
            compute()


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda: theory.excess_risk(1.0, 0.1, 0, 0.1), "n=0"),
        (lambda: theory.excess_risk(1.0, 0.1, 10, 1.0), "delta=1.0"),
        (lambda: theory.sample_size(CleanPairs(), 0.3, 0.0), "epsilon=0.0"),
        (lambda: theory.weighted_bound(CleanPairs(), 0.3, 10, approximation=-1.0), "approximation"),
        (
            lambda: theory.weighted_bound(CleanPairs(), 0.3, 10, formula="prnted"),
            "did you mean 'printed'",
        ),
    ],
)
def test_bad_values_are_named(compute, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute()


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
def test_bad_models_and_losses_are_named(compute, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute()
