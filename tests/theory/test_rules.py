"""Convexity and Bayes rules against enumeration and finite differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from noisypairs import algebra, theory
from noisypairs.errors import NotIdentifiable
from noisypairs.noise import CleanPairs, LabelingNoise, NoiseModel, PairingNoise, printed
from tests.theory.theory_problems import MARGIN_LOSSES, problems

# ---------------------------------------------------------------- convexity


def second_differences(C: np.ndarray, loss: str) -> np.ndarray:
    t = np.linspace(-3, 3, 301)
    l = np.stack([MARGIN_LOSSES[loss](t), MARGIN_LOSSES[loss](-t)])  # noqa: E741
    return np.diff(C @ l, n=2, axis=1)


@settings(deadline=None)
@given(problems())
def test_convexity_agrees_with_second_differences(problem: tuple[NoiseModel, float]) -> None:
    noise, prior = problem
    for formula in ("unbiased", "printed"):
        C = noise.corrected_coefficients(prior, formula)
        assume(np.abs(C.sum(axis=1)).min() > 1e-4)  # a zero row sum is linear: either answer
        for loss in ("logistic", "squared"):
            curved_up = bool((second_differences(C, loss) > -1e-12 * np.abs(C).max()).all())
            assert theory.is_convex(noise, prior, formula) == curved_up
    assert theory.is_convex(noise, prior)


@settings(deadline=None)
@given(problems())
def test_printed_convexity_is_the_sign_and_the_interval_condition(
    problem: tuple[NoiseModel, float],
) -> None:
    noise, prior = problem
    S = noise.same_probability()
    if isinstance(noise, LabelingNoise):
        rates = (noise.positive_flip or 0.0, noise.negative_flip or 0.0)
        T = printed.labeling_transition(*rates, prior)
        share = printed.flipped_prior(*rates, prior)
    else:
        assert isinstance(noise, PairingNoise)
        rates = (noise.similar_flip, noise.dissimilar_flip)
        T, share = algebra.transition(S, prior), prior
    assume(np.abs(T - 0.5).min() > 1e-6)
    assume(abs(rates[1] - 0.5) > 1e-6)
    convex = theory.is_convex(noise, prior, "printed")
    assert convex == printed.convexity_condition(T)
    low, high = sorted([(1 - share) / share, share / (1 - share)])
    ratio = (1 - 2 * rates[0]) / (1 - 2 * rates[1])
    assume(min(abs(ratio - low), abs(ratio - high)) > 1e-6)
    assert convex == (low <= ratio <= high)


@settings(deadline=None)
@given(st.floats(0.0, 0.95), st.floats(0.0, 0.95), st.floats(0.02, 0.98))
def test_true_inverse_under_labeling_noise_is_convex_for_rates_below_half(
    positive_flip: float, negative_flip: float, prior: float
) -> None:
    # The printed interval comes from the printed posterior: with the true one no prior enters.
    assume(positive_flip + negative_flip < 0.95)
    assume(min(abs(positive_flip - 0.5), abs(negative_flip - 0.5)) > 1e-6)
    S = LabelingNoise(positive_flip, negative_flip).same_probability()
    assume(abs(algebra.signal(S, prior)) > 1e-3)
    sums = np.linalg.inv(algebra.transition(S, prior)).sum(axis=1)
    assert bool((sums >= 0).all()) == (max(positive_flip, negative_flip) < 0.5)


def test_almost_everywhere_is_too_weak_the_corrected_hinge_is_not_convex() -> None:
    noise, prior = CleanPairs(), 0.2
    assert theory.is_convex(noise, prior, "printed")
    assert printed.convexity_condition(algebra.transition(noise.same_probability(), prior))
    assert second_differences(noise.corrected_coefficients(prior), "hinge").min() < -1e-3


# ---------------------------------------------------------------- Bayes rules


@settings(deadline=None)
@given(problems(), st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20))
def test_bayes_rules(problem: tuple[NoiseModel, float], values: list[float]) -> None:
    noise, prior = problem
    S = noise.same_probability()
    cut = algebra.threshold(S, prior)
    eta = np.array([v for v in values if abs(v - 0.5) > 1e-6 and abs(v - cut) > 1e-6])
    clean, rising = eta > 0.5, algebra.signal(S, prior) > 0
    np.testing.assert_array_equal(theory.bayes_rule(eta), clean)
    np.testing.assert_array_equal(theory.weighted_bayes_rule(noise, prior, eta), clean)
    as_printed = theory.weighted_bayes_rule(noise, prior, eta, turn=False)
    np.testing.assert_array_equal(as_printed, clean == rising)
    above = eta > cut
    np.testing.assert_array_equal(theory.noisy_bayes_rule(noise, prior, eta), above == rising)


@pytest.mark.parametrize("kind", [PairingNoise, LabelingNoise])
@pytest.mark.parametrize("rate", [0.0, 0.1, 0.4])
def test_remark_3_needs_a_prior_above_half(kind: type[NoiseModel], rate: float) -> None:
    equal_rates = kind(rate, rate)
    assert theory.compare_bayes_rules(equal_rates, 0.8) == "equal"
    assert theory.compare_bayes_rules(equal_rates, 0.2) == "opposite"
    assert theory.compare_bayes_rules(kind(rate, rate + 0.1), 0.8) == "different"
    eta = np.array([0.1, 0.4, 0.6, 0.9])
    rule = theory.bayes_rule(eta)
    np.testing.assert_array_equal(theory.noisy_bayes_rule(equal_rates, 0.8, eta), rule)
    np.testing.assert_array_equal(theory.noisy_bayes_rule(equal_rates, 0.2, eta), 1 - rule)


@pytest.mark.parametrize("eta", [(0.9, 0.6, 0.3, 0.05), (0.4, 0.2, 0.8, 0.95)])  # A < 0, A > 0
@pytest.mark.parametrize("noise", [PairingNoise(0.3, 0.1), LabelingNoise(0.1, 0.2)])
def test_theorem_3_by_enumeration(noise: NoiseModel, eta: tuple[float, ...]) -> None:
    mass, posterior = np.array([0.1, 0.2, 0.3, 0.4]), np.array(eta)
    prior = float(mass @ posterior)
    S = noise.same_probability()
    joint = mass[:, None] * np.stack([1 - posterior, posterior], axis=1)  # P(x, y)
    same = np.einsum("xy,zw,yw->x", joint, joint, S)  # P(x, same), over the partner too
    different = mass - same
    alpha, gain = algebra.alpha(S, prior), algebra.gain(S, prior)
    constants = []
    for rule in itertools.product([False, True], repeat=4):
        positive = np.array(rule)
        weighted = (1 - alpha) * same[~positive].sum() + alpha * different[positive].sum()
        risk = joint[~positive, 1].sum() + joint[positive, 0].sum()
        constants.append(weighted - gain * risk)
    assert np.ptp(constants) < 1e-12
    np.testing.assert_allclose(
        theory.noisy_posterior(noise, prior, eta), same / mass, rtol=0, atol=1e-12
    )


# ---------------------------------------------------------------- wrong use


def test_no_signal_is_an_error_with_its_reason() -> None:
    for compute in (
        lambda: theory.weighted_bayes_rule(CleanPairs(), 0.5, [0.3]),
        lambda: theory.compare_bayes_rules(CleanPairs(), 0.5),
    ):
        with pytest.raises(NotIdentifiable, match="a − b = 0"):
            compute()


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda: theory.bayes_rule([0.2, 1.2]), "eta"),
        (lambda: theory.is_convex(CleanPairs(), 1.0), "prior"),
        (lambda: theory.is_convex(CleanPairs(), 0.3, "prnted"), "did you mean 'printed'"),
    ],
)
def test_bad_values_are_named(compute, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute()
