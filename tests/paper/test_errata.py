"""Each slip of the paper: the printed form is wrong, ours agrees with enumeration.

`docs/errata.md` lists the same slips with a one-line proof each.
"""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import LabelingNoise, PairingNoise, algebra, printed
from tests import enumeration as brute

PRIOR, PLUS, MINUS = 0.35, 0.1, 0.3
F = np.array([[1 - MINUS, MINUS], [PLUS, 1 - PLUS]])
LABELING = brute.table(brute.labeling_outcomes(F), 2)
PAIRING = brute.table(brute.pairing_outcomes(2, 0.1, 0.2), 2)
PI = np.array([1 - PRIOR, PRIOR])


def mean_corrected_loss(table, coefficients, losses):
    """Return E[l̃(t, Q) | y] for y = 0, 1, by enumeration; losses are l(t, +1), l(t, −1)."""
    answer_given_class = (table * PI).sum(axis=2)
    return answer_given_class.T @ (coefficients @ losses)


def test_slip_1_corrected_loss_needs_the_transpose():
    losses = np.array([0.3, 1.7])
    S = PairingNoise(0.1, 0.2).same_probability()
    unbiased = mean_corrected_loss(PAIRING, algebra.corrected_coefficients(S, PRIOR), losses)
    biased = mean_corrected_loss(
        PAIRING, algebra.corrected_coefficients(S, PRIOR, "printed"), losses
    )
    np.testing.assert_allclose(unbiased, losses[::-1], rtol=0, atol=1e-12)
    assert np.abs(biased - losses[::-1]).max() > 0.1


def test_slip_1_does_not_show_when_T_is_symmetric():
    S = PairingNoise(0.2, 0.2).same_probability()
    np.testing.assert_allclose(
        algebra.corrected_coefficients(S, PRIOR),
        algebra.corrected_coefficients(S, PRIOR, "printed"),
        rtol=0,
        atol=1e-12,
    )


def test_slip_2_the_unbiased_loss_is_convex_without_a_condition():
    """Second derivative of l̃(·, Q) is l'' times the row sum of the coefficients."""
    S = PairingNoise(0.05, 0.45).same_probability()
    T = algebra.transition(S, 0.45)
    assert not printed.convexity_condition(T)
    np.testing.assert_allclose(algebra.invert_transition(T).sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert algebra.invert_transition(T, "printed").sum(axis=1).min() < 0


def test_slip_3_posterior_under_labeling_noise():
    b, a = (LABELING[0] * PI).sum(axis=1)
    ours = algebra.transition(LabelingNoise(PLUS, MINUS).same_probability(), PRIOR)
    np.testing.assert_allclose(ours[0], [a, b], rtol=0, atol=1e-12)
    assert np.abs(printed.labeling_transition(PLUS, MINUS, PRIOR)[0] - [a, b]).max() > 0.05


@pytest.mark.parametrize(("plus", "minus"), [(PLUS, MINUS), (0.2, 0.2)])
def test_slip_4_threshold_under_labeling_noise(plus, minus):
    flip = np.array([[1 - minus, minus], [plus, 1 - plus]])
    table = brute.table(brute.labeling_outcomes(flip), 2)
    b, a = (table[0] * PI).sum(axis=1)
    truth = (0.5 - b) / (a - b)
    ours = algebra.threshold(LabelingNoise(plus, minus).same_probability(), PRIOR)
    assert ours == pytest.approx(truth, abs=1e-12)
    assert abs(printed.labeling_threshold(plus, minus, PRIOR) - truth) > 0.05


def test_slip_5_prior_equation_under_labeling_noise():
    same = (LABELING[0] * np.outer(PI, PI)).sum()
    reported = printed.flipped_prior(PLUS, MINUS, PRIOR)
    assert same == pytest.approx(reported**2 + (1 - reported) ** 2, abs=1e-12)
    assert algebra.same_rate(LabelingNoise(PLUS, MINUS).same_probability(), PRIOR) == pytest.approx(
        same, abs=1e-12
    )
    assert abs(printed.labeling_same_odds(PLUS, MINUS, PRIOR) - same / (1 - same)) > 0.05


def test_slip_6_noisy_density_under_pairing_noise():
    joint = PAIRING[0] * np.outer(PI, PI)
    truth = joint.sum(axis=1) / joint.sum()
    ours = algebra.density_weights(PairingNoise(0.1, 0.2).same_probability(), PRIOR)[0]
    np.testing.assert_allclose(ours, truth, rtol=0, atol=1e-12)
    as_printed = printed.pairing_similar_density(0.1, 0.2, PRIOR)
    assert abs(as_printed.sum() - 1) > 0.05
    assert np.abs(as_printed / as_printed.sum() - truth).max() > 0.005


def test_slip_7_weights_of_the_surrogate():
    """Only (1−α) on Q = +1 and α on Q = −1 turns the answer at η = ½; the printed form does not."""
    S = PairingNoise(0.1, 0.3).same_probability()
    weight = algebra.alpha(S, 0.7)
    b, a = algebra.same_given_class(S, 0.7)
    says_same = (a + b) / 2  # at η = ½
    for_plus, for_minus = (1 - weight) * says_same, weight * (1 - says_same)
    assert for_plus == pytest.approx(for_minus, abs=1e-12)
    printed_plus, printed_minus = (1 - weight) * (1 - says_same), weight * says_same
    assert abs(printed_plus - printed_minus) > 0.05


def test_slip_8_accuracy_counts_the_right_answers():
    """The paper's "accuracy" Σ 1[predicted ≠ y] of a perfect classifier is zero."""
    y = np.array([1, -1, 1])
    assert (y != y).sum() == 0
    assert (y == y).mean() == 1.0


def test_alpha_of_theorem_3_is_printed_right():
    S = LabelingNoise(PLUS, MINUS).same_probability()
    assert printed.labeling_alpha(PLUS, MINUS, PRIOR) == pytest.approx(
        algebra.alpha(S, PRIOR), abs=1e-12
    )
