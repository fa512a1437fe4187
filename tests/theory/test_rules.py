"""Ways to an answer, Bayes rules and weighted risks against independent computations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from noisypairs import algebra, sample_pairs, theory
from noisypairs.errors import NotIdentifiable
from noisypairs.noise import CleanPairs, LabelingNoise, NoiseModel, PairingNoise, printed
from tests import enumeration as brute
from tests.theory.theory_problems import MARGIN_LOSSES, problems

PRIOR = 0.35
MODELS = [
    ({}, CleanPairs()),
    ({"pairing": (0.1, 0.2)}, PairingNoise(0.1, 0.2)),
    ({"labeling": (0.1, 0.2)}, LabelingNoise(0.1, 0.2)),
    (
        {"labeling": (0.1, 0.2), "pairing": (0.05, 0.3)},
        LabelingNoise(0.1, 0.2).then(PairingNoise(0.05, 0.3)),
    ),
]


@pytest.mark.parametrize(("rates", "noise"), MODELS)
def test_outcomes_sum_to_the_noise_matrix(rates: dict, noise: NoiseModel) -> None:
    found = np.zeros((2, 2, 2))
    for outcome in theory.outcomes(PRIOR, **rates):
        found[int(outcome.same), *outcome.classes] += outcome.probability
    pi = np.array([1 - PRIOR, PRIOR])
    np.testing.assert_allclose(found.sum(axis=0), np.outer(pi, pi), rtol=0, atol=1e-12)
    S = noise.same_probability()
    np.testing.assert_allclose(found[1] / np.outer(pi, pi), S, rtol=0, atol=1e-12)


def test_the_noise_enters_where_the_model_says() -> None:
    assert all(o.reports == o.classes for o in theory.outcomes(PRIOR, pairing=(0.1, 0.2)))
    for outcome in theory.outcomes(PRIOR, labeling=(0.1, 0.2)):
        assert outcome.same == (outcome.reports[0] == outcome.reports[1])
    both_lie = [o for o in theory.outcomes(PRIOR, labeling=(0.1, 0.2)) if o.reports == (1, 0)]
    assert any(o.classes == (0, 1) and not o.wrong for o in both_lie)  # two lies give the truth


def test_the_share_of_wrong_answers_is_that_of_a_simulation() -> None:
    noise = LabelingNoise(0.1, 0.2)
    y = (np.arange(2000) < 700).astype(int)
    pairs = sample_pairs(y, 200_000, noise, random_state=0)
    wrong = np.mean((y[pairs.left] == y[pairs.right]) != pairs.same)
    expected = sum(o.probability for o in theory.outcomes(PRIOR, labeling=(0.1, 0.2)) if o.wrong)
    assert abs(wrong - expected) < 5 * np.sqrt(0.25 / 200_000)
    same = sum(o.probability for o in theory.outcomes(PRIOR, labeling=(0.1, 0.2)) if o.same)
    assert same == pytest.approx(algebra.same_rate(noise.same_probability(), PRIOR), abs=1e-12)


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
def test_bad_risks_are_named(compute, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compute()
