"""Claims of the paper's text that do not hold, or hold under a condition only: slips 15 to 24.

`docs/errata.md` lists them with their proofs.
"""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from noisypairs import (
    JointPairClassifier,
    LabelingNoise,
    PairingNoise,
    algebra,
    datasets,
    sample_pairs,
    theory,
)
from noisypairs.experiments.paper import ROWS
from noisypairs.noise import printed
from tests import enumeration as brute


def labeling_table(plus: float, minus: float) -> np.ndarray:
    """Return P(answer | y, y') by enumeration of both reports, index 0 is "same"."""
    return brute.table(brute.labeling_outcomes(np.array([[1 - minus, minus], [plus, 1 - plus]])), 2)


def distribution_of_pairs(table: np.ndarray, mass: np.ndarray, eta: np.ndarray) -> np.ndarray:
    """Return P(x, x', answer), shape (n, n, 2): all that a method can ever see."""
    joint = mass[:, None] * np.stack([1 - eta, eta], axis=1)
    return np.einsum("xy,zw,qyw->xzq", joint, joint, table)


#: Rates (ρ₊, ρ₋) and the prior of three worlds with one reported prior, π̃ = .4.
WORLDS = (((0.1, 0.1), 0.375), ((0.2, 0.0), 0.5), ((0.0, 0.2), 0.25))


def test_slip_15_alpha_is_not_in_single_pairs_under_labeling_noise() -> None:
    """Three worlds with one distribution of items and answers, and three weights and rules."""
    mass = np.array([0.3, 0.3, 0.2, 0.2])
    reported = np.array([0.2, 0.35, 0.45, 0.725])  # η̃(x); its mean is .4
    seen, alphas, rules = [], [], []
    for (plus, minus), prior in WORLDS:
        eta = (reported - minus) / (1 - plus - minus)
        assert ((eta >= 0) & (eta <= 1)).all()
        assert mass @ eta == pytest.approx(prior)
        seen.append(distribution_of_pairs(labeling_table(plus, minus), mass, eta))
        noise = LabelingNoise(plus, minus)
        alphas.append(algebra.alpha(noise.same_probability(), prior))
        rules.append(theory.bayes_rule(eta).tolist())
    np.testing.assert_allclose(seen[1], seen[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(seen[2], seen[0], rtol=0, atol=1e-12)
    assert alphas == pytest.approx([0.5, 0.52, 0.48])
    assert rules[0] != rules[1]  # nor is the best classifier


def test_slip_15_alpha_is_in_items_that_are_compared_three_times() -> None:
    """The number of "same" among three answers is a mixture of Bin(3, a) and Bin(3, b)."""
    seen = []
    for (plus, minus), prior in WORLDS:
        different, same = (labeling_table(plus, minus) @ np.array([1 - prior, prior]))[::-1]
        # P(i of 3 answers are "same"), by enumeration of the class and of all three answers
        chance = np.zeros(4)
        for answers in np.ndindex(2, 2, 2):
            given = np.prod([same if q else different for q in answers], axis=0)
            chance[sum(answers)] += np.array([1 - prior, prior]) @ given
        # its first three factorial moments are those of a and b, which are roots of z² − sz + t
        m1, m2, m3 = (sum(chance[i] * comb(i, k) / comb(3, k) for i in range(4)) for k in (1, 2, 3))
        s, t = np.linalg.solve([[m1, -1.0], [m2, -m1]], [m2, m3])
        alpha = algebra.alpha(LabelingNoise(plus, minus).same_probability(), prior)
        assert s / 2 == pytest.approx(alpha)
        assert np.roots([1, -s, t]) == pytest.approx(sorted(same, reverse=True))
        seen.append(chance)
    assert np.abs(seen[1] - seen[0]).max() > 1e-4


def test_slip_15_the_joint_learner_finds_alpha_under_labeling_noise() -> None:
    """Ten answers per item; rates (.4, 0) at prior .6, where equal rates would say ½."""
    alphas = []
    for seed in range(3):
        X, y = datasets.load("gaussians", n_samples=3000, prior=0.6, random_state=seed)
        X = X + np.random.default_rng(seed).normal(scale=2.0, size=X.shape)
        pairs = sample_pairs(y, 15_000, LabelingNoise(0.4, 0.0), random_state=seed)
        clf = JointPairClassifier(n_classes=2, noise="labeling", class_order=[0, 1])
        clf.fit(X, pairs)
        alphas.append(algebra.alpha(clf.noise_.same_probability(), clf.prior_))
    true = algebra.alpha(LabelingNoise(0.4, 0.0).same_probability(), 0.6)
    assert true == pytest.approx(0.556)
    # Single draws have a standard deviation of about .002: .01 is more than five errors.
    assert np.mean(alphas) == pytest.approx(true, abs=0.01)


def test_slip_15_alpha_is_in_the_data_under_pairing_noise() -> None:
    """The counterpart: p − 1/c of the distribution is α, at any rates and prior."""
    mass, eta = np.array([0.3, 0.3, 0.4]), np.array([0.1, 0.4, 0.8])
    for rates in ((0.1, 0.3), (0.2, 0.2), (0.3, 0.05)):
        table = brute.table(brute.pairing_outcomes(2, *rates), 2)
        same = distribution_of_pairs(table, mass, eta)[..., 0]
        p = same.sum()
        u = same.sum(axis=1) / mass - p
        bilinear = same / np.outer(mass, mass) - p - u[:, None] - u[None, :]
        c = bilinear[0, 0] / u[0] ** 2
        np.testing.assert_allclose(bilinear, c * np.outer(u, u), rtol=0, atol=1e-12)
        assert p - 1 / c == pytest.approx((1 - rates[0] + rates[1]) / 2)


@pytest.mark.parametrize(
    ("noise", "table", "prior", "other"),
    [
        (PairingNoise(0.1, 0.2), brute.table(brute.pairing_outcomes(2, 0.1, 0.2), 2), 0.35, 0.65),
        (LabelingNoise(0.1, 0.2), labeling_table(0.1, 0.2), 0.35, 0.355 / 0.7),
    ],
)
def test_slip_16_two_priors_explain_the_same_share(noise, table, prior, other) -> None:
    shares = [np.array([1 - p, p]) @ table[0] @ np.array([1 - p, p]) for p in (prior, other)]
    assert shares[0] == pytest.approx(shares[1], abs=1e-12)
    S = noise.same_probability()
    assert algebra.prior_roots(S, shares[0]) == pytest.approx((prior, other))
    assert algebra.gain(S, prior) * algebra.gain(S, other) < 0  # one of them turns the rule around


@pytest.mark.parametrize("kind", [PairingNoise, LabelingNoise])
def test_slip_17_below_half_the_gain_increases_with_the_noise(kind) -> None:
    def gains(prior: float) -> np.ndarray:
        rates = np.linspace(0.0, 0.45, 10)
        return np.array([algebra.gain(kind(r, r).same_probability(), prior) for r in rates])

    assert (np.diff(gains(0.8)) < 0).all()  # as printed
    assert (np.diff(gains(0.2)) > 0).all()
    assert (np.diff(np.abs(gains(0.2))) < 0).all()


def pairing_of(rates: tuple[float, float]) -> np.ndarray:
    return brute.table(brute.pairing_outcomes(2, *rates), 2)[0]


def test_slip_18_labeling_noise_is_no_pairing_noise_of_its_rates() -> None:
    for plus, minus in ((0.1, 0.2), (0.3, 0.05), (0.2, 0.2)):
        S = labeling_table(plus, minus)[0]
        assert np.abs(S - pairing_of((plus, minus))).max() > 0.05
        # As printed: flipped labels, then the same rates again on the comparison.
        assert np.abs(printed_mimicry(plus, minus) - S).max() > 0.05
        if plus == minus:
            rate = 2 * plus * (1 - plus)
            np.testing.assert_allclose(S, pairing_of((rate, rate)), rtol=0, atol=1e-12)
            assert S[1, 1] == pytest.approx(0.68)
        else:  # no pairing noise has unequal diagonal entries
            assert abs(S[0, 0] - S[1, 1]) > 0.05


def printed_mimicry(plus: float, minus: float) -> np.ndarray:
    flip = np.array([[1 - minus, minus], [plus, 1 - plus]])
    return brute.table(brute.composed_outcomes(flip, plus, minus), 2)[0]


@settings(deadline=None)
@given(st.floats(0.0, 0.99), st.floats(0.0, 0.99))
def test_slip_18_only_equal_rates_give_equal_diagonals(plus: float, minus: float) -> None:
    assume(plus + minus < 0.99)
    assume(abs(plus - minus) > 0.01)
    S = labeling_table(plus, minus)[0]
    assert abs(S[0, 0] - S[1, 1]) > 1e-6


def interval_holds(plus: float, minus: float, share: float, above_half: bool) -> bool:
    """Return whether the ratio lies in the first interval (``above_half``) or in the second."""
    ends = ((1 - share) / share, share / (1 - share))
    low, high = ends if above_half else ends[::-1]
    return low <= (1 - 2 * plus) / (1 - 2 * minus) <= high


def test_slip_19_the_reported_prior_decides_the_interval() -> None:
    plus, minus, prior = 0.4, 0.1, 0.6
    share = printed.flipped_prior(plus, minus, prior)
    assert share == pytest.approx(0.4)
    assert (1 - share) / share > share / (1 - share)  # the first interval is empty, though π > ½
    # Symmetric noise above ½: the sign condition holds; by π it would not.
    plus = minus = 0.6
    share = printed.flipped_prior(plus, minus, 0.7)
    assert printed.convexity_condition(printed.labeling_transition(plus, minus, 0.7))
    assert interval_holds(plus, minus, share, above_half=share > 0.5)
    assert not interval_holds(plus, minus, share, above_half=True)


@settings(deadline=None)
@given(st.floats(0.01, 0.99), st.floats(0.0, 1.0), st.floats(0.01, 0.99))
def test_slip_19_has_no_consequence_for_small_rates(sum_of_rates, part, crossing) -> None:
    plus, minus = part * sum_of_rates, (1 - part) * sum_of_rates
    # π with π̃ = ½; between it and ½ the two priors lie on different sides of ½.
    flat = (0.5 - minus) / (1.0 - plus - minus)
    prior = 0.5 + crossing * (min(max(flat, 0.0), 1.0) - 0.5)
    share = printed.flipped_prior(plus, minus, prior)
    assume((share - 0.5) * (prior - 0.5) < -1e-6)
    assert not printed.convexity_condition(printed.labeling_transition(plus, minus, prior))


def test_slip_20_the_papers_own_tables() -> None:
    """The published numbers are checked against the paper's source in tests/experiments."""
    below = [
        (row.dataset, row.rates)
        for row in ROWS
        if row.published["t-loss"] < row.published["sd-loss"]
    ]
    assert below == [
        ("diabetes", (0.1, 0.2)),
        ("spambase", (0.1, 0.2)),
        ("magic", (0.2, 0.2)),
        ("magic", (0.2, 0.1)),
    ]
    leads = [
        max(row.published[m] for m in ("t-loss", "weighted"))
        - max(row.published[m] for m in ("sd-loss", "unweighted", "km", "km-cop"))
        for row in ROWS
    ]
    assert (sum(lead > 0 for lead in leads), sum(lead == 0 for lead in leads)) == (14, 4)
    equal = [row for row in ROWS if row.rates[0] == row.rates[1]]
    assert all(row.published["weighted"] == row.published["unweighted"] for row in equal)


@settings(deadline=None)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.02, 0.98))
def test_slip_21_the_open_interval_is_the_sign_condition(similar, dissimilar, prior) -> None:
    """For rates above ½ too: the division by 1 − 2ρ_D turns both inequalities or none."""
    ratio_of = (1 - 2 * similar, 1 - 2 * dissimilar)
    low, high = sorted([(1 - prior) / prior, prior / (1 - prior)])
    T = pairing_transition(similar, dissimilar, prior)
    margins = np.array([T[0, 0] - 0.5, T[1, 1] - 0.5, ratio_of[1]])
    assume(np.abs(margins).min() > 1e-6)
    assert (low < ratio_of[0] / ratio_of[1] < high) == printed.convexity_condition(T)


def test_slip_21_the_sign_condition_fails_at_the_ends_of_the_interval() -> None:
    """(1−2ρ_S)/(1−2ρ_D) = (1−π)/π: one sign is 0, and the loss is convex, though not strictly."""
    similar, dissimilar, prior = 0.25, 0.125, 0.6
    assert (1 - 2 * similar) / (1 - 2 * dissimilar) == pytest.approx((1 - prior) / prior)
    T = pairing_transition(similar, dissimilar, prior)
    assert T[0, 0] == pytest.approx(0.5)
    T[:, 0] = 0.5  # the end itself, without rounding
    assert not printed.convexity_condition(T)
    row_sums = np.linalg.inv(T).sum(axis=1)
    assert row_sums.min() == pytest.approx(0.0, abs=1e-12)
    assert row_sums.max() > 1


def pairing_transition(similar: float, dissimilar: float, prior: float) -> np.ndarray:
    """Return T with columns (+, −), by enumeration of the answers."""
    table = brute.table(brute.pairing_outcomes(2, similar, dissimilar), 2)
    return (table @ np.array([1 - prior, prior]))[:, ::-1]


def test_slip_22_the_best_rule_of_a_class_need_not_be_the_rule_of_the_threshold() -> None:
    """Lemma 2 with F = constants: the minimum over F is a constant, the printed rule is not."""
    eta, mass = np.array([0.1, 0.9]), np.array([0.5, 0.5])
    noise, prior = PairingNoise(0.1, 0.2), 0.7
    answered = theory.noisy_posterior(noise, prior, eta)  # P("same" | x)
    risk = {sign: float(mass @ (1 - answered if sign > 0 else answered)) for sign in (-1, 1)}
    rule = theory.noisy_bayes_rule(noise, prior, eta)
    risk_of_rule = float(mass @ np.where(rule == 1, 1 - answered, answered))
    assert len(set(rule.tolist())) == 2
    assert min(risk.values()) > risk_of_rule + 0.05


def test_slip_23_the_sign_of_a_sigmoid_is_always_positive() -> None:
    """(t − y)² with y = ±1: the best t in (0, 1) is 2η − 1 cut at 0, so all η ≤ ½ look alike."""
    t = np.linspace(0.001, 0.999, 999)
    best = []
    for eta in (0.05, 0.3, 0.49, 0.7):
        risk = eta * (t - 1) ** 2 + (1 - eta) * (t + 1) ** 2
        best.append(t[risk.argmin()])
    assert (np.sign(best) == 1).all()
    assert best[:3] == [t[0]] * 3
    assert best[3] == pytest.approx(0.4)
    # With y in {0, 1} and the threshold ½ every class is predicted.
    coded = [t[(eta * (t - 1) ** 2 + (1 - eta) * t**2).argmin()] for eta in (0.05, 0.3, 0.49, 0.7)]
    assert [one > 0.5 for one in coded] == [False, False, False, True]


def test_slip_24_clean_pairs_do_not_match_true_classes_everywhere() -> None:
    gaps = {row.dataset: row.published["pn"] - row.published["sd-clean"] for row in ROWS}
    assert gaps["spambase"] == pytest.approx(2.09)
    assert gaps["magic"] == pytest.approx(0.72)
    assert max(gap for name, gap in gaps.items() if name not in ("spambase", "magic")) < 0.07
