"""Each slip of the paper: the printed form is wrong, ours agrees with enumeration.

`docs/errata.md` lists the same slips with a one-line proof each and names the test of each.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from noisypairs import (
    CleanPairs,
    LabelingNoise,
    LossCorrectionClassifier,
    PairingNoise,
    algebra,
    metrics,
    reduction,
    sample_pairs,
    theory,
)
from noisypairs.noise import printed
from noisypairs.pairs import ItemCounts
from tests import enumeration as brute
from tests.theory.theory_problems import problems, tail_of_one_classifier

ROOT = Path(__file__).parents[2]

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
    """An item with η = ½ must be drawn to both sides alike; the printed weights do not do that."""
    S, prior = PairingNoise(0.1, 0.3).same_probability(), 0.7
    same = brute.table(brute.pairing_outcomes(2, 0.1, 0.3), 2)[0]
    says_same = np.array([0.5, 0.5]) @ same @ np.array([1 - prior, prior])  # at η(x) = ½
    weight = algebra.alpha(S, prior)
    counts = ItemCounts(np.array([says_same]), np.array([1 - says_same]))
    _, label, ours = reduction.weighted_rows(counts, weight)
    assert label.tolist() == [1, 0]
    assert ours[0] == pytest.approx(ours[1], abs=1e-12)
    # As printed, (1−α) l(t) is paid by Q = −1 and α l(−t) by Q = +1.
    for_plus, for_minus = (1 - weight) * (1 - says_same), weight * says_same
    assert abs(for_plus - for_minus) > 0.05


def printed_accuracy(predicted, y):
    """Return the performance metric of the paper's section 2, as printed."""
    return int((predicted != y).sum())


def test_slip_8_accuracy_counts_the_right_answers():
    """Classes ten apart are learnt without error: accuracy is 1, the printed sum 0."""
    rng = np.random.default_rng(0)
    y = (np.arange(200) < 40).astype(int)
    X = 10.0 * y[:, None] + rng.normal(size=(200, 1))
    pairs = sample_pairs(y, 4000, random_state=0)
    model = LossCorrectionClassifier(noise=CleanPairs(), prior=0.2, random_state=0).fit(X, pairs)
    predicted = model.predict(X)
    assert printed_accuracy(predicted, y) == 0
    assert model.score(X, y) == 1.0
    assert metrics.accuracy_up_to_names(y, 1 - predicted) == 1.0
    one_wrong = np.where(np.arange(200) == 0, 1 - y, y)  # more errors: a larger sum, a lower score
    assert printed_accuracy(predicted, one_wrong) == 1
    assert model.score(X, one_wrong) == pytest.approx(199 / 200)


@pytest.mark.parametrize("delta", [0.75, 0.9])
def test_slip_10_the_absolute_value_has_two_sides(delta):
    """One clean pair, one classifier: even with the right range log(1/δ) is too small."""
    noise, prior, n = CleanPairs(), 0.3, 1
    width = theory.corrected_range(noise.corrected_coefficients(prior))
    one_sided = width * math.sqrt(math.log(1 / delta) / (2 * n))
    assert tail_of_one_classifier(noise, prior, n, one_sided) > delta
    two_sided = theory.uniform_deviation(1.0, 0.0, n, delta, width)
    assert tail_of_one_classifier(noise, prior, n, two_sided) <= delta


def absolute_complexity(noise, prior, n):
    """Return E|(1/n) Σ σᵢ l̃ᵢ| of one classifier with l(+1) = 1, l(−1) = 0, by enumeration."""
    C = noise.corrected_coefficients(prior)[:, 0]
    same = algebra.same_rate(noise.same_probability(), prior)
    total = 0.0
    for answers in itertools.product([0, 1], repeat=n):
        chance = math.prod(same if q == 0 else 1 - same for q in answers)
        signs = np.array(list(itertools.product([-1.0, 1.0], repeat=n)))
        total += chance * np.abs(signs @ C[list(answers)]).mean() / n
    return total


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("delta", [0.9, 0.75, 0.3, 0.05])
def test_slip_10_one_side_suffices_for_an_absolute_complexity(n, delta):
    """Where the printed log(1/δ) fails without the absolute value, it holds with it."""
    for noise, prior in ((CleanPairs(), 0.3), (PairingNoise(0.1, 0.2), 0.7)):
        width = theory.corrected_range(noise.corrected_coefficients(prior))
        bound = 2 * absolute_complexity(noise, prior, n)
        bound += width * math.sqrt(math.log(1 / delta) / (2 * n))
        assert tail_of_one_classifier(noise, prior, n, bound) <= delta


@settings(deadline=None)
@given(problems(), st.floats(0.01, 0.5), st.sampled_from(["hinge", "squared", "logistic"]))
def test_slip_11_the_printed_weighted_bound_holds_under_its_conditions(problem, reach, loss):
    """For A > 0 and M_α ≤ 1 it is at least the derived bound; for A < 0 it is negative."""
    noise, prior = problem
    S = noise.same_probability()
    alpha, gain = algebra.alpha(S, prior), algebra.gain(S, prior)
    model = theory.ModelClass(complexity=reach, reach=reach, loss=loss)
    derived = theory.weighted_bound(noise, prior, 1000, 0.05, model)
    as_printed = theory.weighted_bound(noise, prior, 1000, 0.05, model, formula="printed")
    if gain < 0:
        assert as_printed < 0 < derived
    elif max(alpha, 1 - alpha) * model.loss_bound <= 1:
        assert as_printed >= derived


def test_slip_11_the_printed_regret_fails_for_a_wide_loss():
    """F = {+10, −10}, hinge: the chance that the wrong one is learnt exceeds δ."""
    reach, prior, n = 10.0, 0.8, 450
    same = algebra.same_rate(CleanPairs().same_probability(), prior)
    rademacher = reach * float(binom.pmf(n // 2, n, 0.5))  # E|mean of n signs|, n even
    regret = 0.5 * (1 + reach) * (2 * same - 1)  # of −10 against +10, with α = ½
    chance = float(binom.cdf(n // 2 - 1, n, same))  # more "different" than "same" answers
    delta = chance / 2
    assert regret > 2 * theory.printed_deviation(1.0, rademacher, n, delta)
    assert regret <= theory.excess_risk(0.5, rademacher, n, delta, 0.5 * (1 + reach))


def test_slip_14_labeling_interval_comes_from_the_printed_posterior():
    """With the true T even the printed inverse is convex here, where the printed interval fails."""
    plus, minus, prior = 0.1, 0.4, 0.5
    share = printed.flipped_prior(plus, minus, prior)
    low, high = sorted([(1 - share) / share, share / (1 - share)])
    ratio = (1 - 2 * plus) / (1 - 2 * minus)
    assert not low <= ratio <= high
    flip = np.array([[1 - minus, minus], [plus, 1 - plus]])
    table = brute.table(brute.labeling_outcomes(flip), 2)
    T = (table * [1 - prior, prior]).sum(axis=2)[:, ::-1]  # columns (+, −)
    assert (np.linalg.inv(T).sum(axis=1) > 0).all()
    assert theory.is_convex(LabelingNoise(plus, minus), prior)


@settings(deadline=None)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.05, 0.95))
def test_slip_14_rates_on_one_side_of_half_are_convex(plus, minus, prior):
    """The printed T⁻¹ of the true posterior: also for ρ₊ + ρ₋ > 1."""
    flip = np.array([[1 - minus, minus], [plus, 1 - plus]])
    table = brute.table(brute.labeling_outcomes(flip), 2)
    T = (table * [1 - prior, prior]).sum(axis=2)[:, ::-1]
    assume(abs(np.linalg.det(T)) > 1e-3)
    product = (1 - 2 * plus) * (1 - 2 * minus)
    assume(abs(product) > 1e-6)
    convex = bool((np.linalg.inv(T).sum(axis=1) >= 0).all())
    assert convex == (product > 0)
    if plus + minus < 1:
        assert convex == (max(plus, minus) < 0.5)


def test_alpha_of_theorem_3_is_printed_right():
    S = LabelingNoise(PLUS, MINUS).same_probability()
    assert printed.labeling_alpha(PLUS, MINUS, PRIOR) == pytest.approx(
        algebra.alpha(S, PRIOR), abs=1e-12
    )


NAMED = sorted(set(re.findall(r"(tests/[\w/]+\.py)::(\w+)", (ROOT / "docs/errata.md").read_text())))


def test_every_slip_of_the_list_names_its_test():
    sections = (ROOT / "docs/errata.md").read_text().split("\n### ")[1:]
    assert len(sections) == 24
    assert [section.splitlines()[0] for section in sections if "::test_" not in section] == []


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_the_list_names_tests_that_exist(file, name):
    tree = ast.parse((ROOT / file).read_text())
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
