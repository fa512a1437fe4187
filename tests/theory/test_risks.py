"""The weighted risk against enumeration, and the slopes of the gain against finite differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noisypairs import algebra, theory
from noisypairs.noise import LabelingNoise, NoiseModel, PairingNoise
from tests import enumeration as brute

MASS = np.array([0.1, 0.2, 0.3, 0.4])
ETAS = [(0.9, 0.6, 0.3, 0.05), (0.4, 0.2, 0.8, 0.95)]  # A < 0, A > 0
NOISES = [
    (PairingNoise(0.3, 0.1), brute.table(brute.pairing_outcomes(2, 0.3, 0.1), 2)),
    (
        LabelingNoise(0.1, 0.2),
        brute.table(brute.labeling_outcomes(np.array([[0.8, 0.2], [0.1, 0.9]])), 2),
    ),
]


def answers_of_items(table: np.ndarray, eta: tuple[float, ...]) -> np.ndarray:
    """Return P(x, answer), shape (2, 4): the partner and both classes are summed out."""
    joint = MASS[:, None] * np.stack([1 - np.array(eta), np.array(eta)], axis=1)
    return np.einsum("xy,zw,qyw->qx", joint, joint, table)


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize(("noise", "table"), NOISES)
def test_theorem_3_holds_at_every_item_and_for_every_rule(
    noise: NoiseModel, table: np.ndarray, eta: tuple[float, ...]
) -> None:
    prior = float(MASS @ eta)
    S = noise.same_probability()
    alpha, gain = algebra.alpha(S, prior), algebra.gain(S, prior)
    same, different = answers_of_items(table, eta)
    offset = theory.risk_offset(noise, prior, eta)
    for rule in itertools.product([-1.0, 1.0], repeat=4):
        scores = np.array(rule)
        # U_α of the definition, summed over all answers about an item.
        lost = same * theory.weighted_loss(scores, np.full(4, True), alpha)
        lost = lost + different * theory.weighted_loss(scores, np.full(4, False), alpha)
        risk = theory.weighted_risk(noise, prior, eta, scores > 0)
        np.testing.assert_allclose(MASS * risk, lost, rtol=0, atol=1e-12)
        wrong = np.where(scores > 0, 1 - np.array(eta), eta)
        np.testing.assert_allclose(risk, gain * wrong + offset, rtol=0, atol=1e-12)


@pytest.mark.parametrize("eta", ETAS)
@pytest.mark.parametrize("alpha", [0.2, 0.45, 0.7])
def test_lemma_3_no_rule_beats_the_posterior_cut_at_alpha(
    alpha: float, eta: tuple[float, ...]
) -> None:
    noise, prior = NOISES[0][0], float(MASS @ eta)
    q = theory.noisy_posterior(noise, prior, eta)
    best = MASS @ theory.weighted_risk(noise, prior, eta, q > alpha, alpha)
    every = [
        MASS @ theory.weighted_risk(noise, prior, eta, np.array(rule), alpha)
        for rule in itertools.product([False, True], repeat=4)
    ]
    assert best == pytest.approx(min(every), abs=1e-12)


def test_the_loss_of_a_score_of_zero_is_that_of_the_negative_class() -> None:
    np.testing.assert_array_equal(theory.weighted_loss([0.0, 0.0], [True, False], 0.25), [0.75, 0])


rates = st.floats(0.01, 0.45)


@settings(deadline=None)
@given(rates, rates, st.floats(0.05, 0.95))
def test_slopes_of_the_gain_are_finite_differences(
    first: float, second: float, prior: float
) -> None:
    def gain(kind: type[NoiseModel], one: float, other: float) -> float:
        return algebra.gain(kind(one, other).same_probability(), prior)

    step = 1e-4  # A is at most quadratic in a rate: central differences are exact up to rounding
    for kind, slopes in (
        (PairingNoise, (theory.pairing_gain_slope(prior),) * 2),
        (LabelingNoise, theory.labeling_gain_slopes(first, second, prior)),
    ):
        found = (
            (gain(kind, first + step, second) - gain(kind, first - step, second)) / (2 * step),
            (gain(kind, first, second + step) - gain(kind, first, second - step)) / (2 * step),
        )
        assert slopes == pytest.approx(found, abs=1e-9)


def test_noise_of_one_class_can_raise_the_gain() -> None:
    """Remark 2 calls labeling noise "more complicated": reports of a fair prior carry no signal."""
    assert theory.labeling_gain_slopes(0.0, 0.0, 0.6)[1] > 0
    clean, noisy = (
        algebra.gain(LabelingNoise(0.0, rate).same_probability(), 0.6) for rate in (0.0, 0.2)
    )
    assert noisy > clean > 0


@pytest.mark.parametrize("prior", [0.2, 0.8])
def test_remark_2_symmetric_noise_weakens_the_bound(prior: float) -> None:
    """A = (1−2ρ)²(2π−1)/2, and the bound grows as |A| falls."""
    bounds = []
    for rate in (0.0, 0.1, 0.2, 0.3, 0.4):
        noise = LabelingNoise(rate, rate)
        gain = algebra.gain(noise.same_probability(), prior)
        assert gain == pytest.approx((1 - 2 * rate) ** 2 * (2 * prior - 1) / 2, abs=1e-12)
        both = sum(theory.labeling_gain_slopes(rate, rate, prior))
        assert both == pytest.approx(-2 * (1 - 2 * rate) * (2 * prior - 1), abs=1e-12)
        bounds.append(theory.weighted_bound(noise, prior, 10_000))
    assert bounds == sorted(bounds)


@pytest.mark.parametrize(
    ("compute", "message"),
    [
        (lambda: theory.weighted_loss([1.0], [True], 1.5), "alpha=1.5"),
        (lambda: theory.risk_offset(PairingNoise(0.1, 0.2), 0.3, [1.2]), "eta"),
    ],
)
def test_bad_values_are_named(compute, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute()
