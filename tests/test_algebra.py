from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noisypairs import LabelingNoise, NotIdentifiable, PairingNoise, algebra
from tests import enumeration as brute

EXACT = {"rtol": 0, "atol": 1e-12}
rates = st.tuples(st.floats(0, 0.49), st.floats(0, 0.49))
classes = st.integers(2, 4)
seeds = st.integers(0, 2**32 - 1)


def random_prior(K, rng):
    pi = rng.dirichlet(np.full(K, 3.0)) + 0.01
    return pi / pi.sum()


def problems(draw_rates, K, seed):
    """Every noise model at K classes beside its brute-force table P(answer | y, y')."""
    rng = np.random.default_rng(seed)
    F = brute.random_flip(K, rng)
    similar, dissimilar = draw_rates
    pairing, labeling = PairingNoise(similar, dissimilar), LabelingNoise(flip=F)
    yield pairing, brute.table(brute.pairing_outcomes(K, similar, dissimilar), K)
    yield labeling, brute.table(brute.labeling_outcomes(F), K)
    yield (
        labeling.then(pairing),
        brute.table(brute.composed_outcomes(F, similar, dissimilar), K),
    )


@given(rates, classes, seeds)
def test_derived_quantities_agree_with_enumeration(draw_rates, K, seed):
    pi = random_prior(K, np.random.default_rng(seed))
    for noise, P in problems(draw_rates, K, seed):
        S = noise.same_probability(K)
        np.testing.assert_allclose(S, P[0], **EXACT)
        joint = P * np.outer(pi, pi)  # P(answer, y, y')
        np.testing.assert_allclose(algebra.same_rate(S, pi), joint[0].sum(), **EXACT)
        np.testing.assert_allclose(
            algebra.same_given_class(S, pi), joint[0].sum(axis=1) / pi, **EXACT
        )
        given_answer = joint / joint.sum(axis=(1, 2), keepdims=True)
        np.testing.assert_allclose(algebra.pair_density_weights(S, pi), given_answer, **EXACT)
        np.testing.assert_allclose(
            algebra.density_weights(S, pi), given_answer.sum(axis=2), **EXACT
        )


@given(rates, st.floats(0.02, 0.98), seeds)
def test_binary_quantities_agree_with_enumeration(draw_rates, prior, seed):
    pi = np.array([1 - prior, prior])
    for noise, P in problems(draw_rates, 2, seed):
        S = noise.same_probability()
        b, a = (P[0] * pi).sum(axis=1)
        T = algebra.transition(S, prior)
        np.testing.assert_allclose(T, [[a, b], [1 - a, 1 - b]], **EXACT)
        np.testing.assert_allclose(T.sum(axis=0), 1.0, **EXACT)
        np.testing.assert_allclose(algebra.alpha(S, prior), (a + b) / 2, **EXACT)
        np.testing.assert_allclose(algebra.gain(S, prior), (a - b) / 2, **EXACT)
        if abs(a - b) > 1e-3:
            t = algebra.threshold(S, prior)
            np.testing.assert_allclose(t * a + (1 - t) * b, 0.5, rtol=0, atol=1e-10)


@given(rates, st.floats(0.02, 0.98), seeds, st.floats(-5, 5))
def test_corrected_loss_is_unbiased_for_every_rate(draw_rates, prior, seed, t):
    """E[l̃(t, Q) | y] = l(t, y) for any loss values l(t, ±1), by enumeration of Q."""
    losses = np.log1p(np.exp([-t, t]))  # logistic l(t, +1), l(t, −1)
    for noise, P in problems(draw_rates, 2, seed):
        S = noise.same_probability()
        if abs(algebra.signal(S, prior)) < 0.01:
            continue
        corrected = algebra.corrected_coefficients(S, prior) @ losses  # by answer
        answer_given_class = (P * np.array([1 - prior, prior])).sum(axis=2)  # (answer, y)
        mean = answer_given_class.T @ corrected  # by class 0, 1
        np.testing.assert_allclose(mean, losses[::-1], rtol=0, atol=1e-10)


@given(rates, st.floats(0.02, 0.98), seeds)
def test_theorem_3_links_noisy_and_clean_risk(draw_rates, prior, seed):
    """R_α,noisy(f) − A·R(f) is the same for every classifier f on a small discrete X."""
    rng = np.random.default_rng(seed)
    p_x, eta = rng.dirichlet(np.ones(4)), rng.random(4)
    eta *= prior / (p_x @ eta) if p_x @ eta > prior else 1.0
    prior = float(p_x @ eta)
    for noise, _ in problems(draw_rates, 2, seed):
        S = noise.same_probability()
        b, a = algebra.same_given_class(S, prior)
        says_same = b + (a - b) * eta
        weight, gain = algebra.alpha(S, prior), algebra.gain(S, prior)
        constants = []
        for f in np.ndindex(2, 2, 2, 2):
            positive = np.array(f, dtype=bool)
            noisy = np.where(positive, weight * (1 - says_same), (1 - weight) * says_same)
            clean = np.where(positive, 1 - eta, eta)
            constants.append(p_x @ noisy - gain * (p_x @ clean))
        np.testing.assert_allclose(constants, constants[0], rtol=0, atol=1e-12)


@given(rates, st.floats(0.02, 0.98), seeds)
def test_prior_roots_invert_the_same_rate(draw_rates, prior, seed):
    for noise, _ in problems(draw_rates, 2, seed):
        S = noise.same_probability()
        if S[1, 1] - 2 * S[0, 1] + S[0, 0] < 0.01:
            continue
        roots = algebra.prior_roots(S, algebra.same_rate(S, prior))
        assert min(abs(root - prior) for root in roots) < 1e-6
        for root in roots:
            if 0 < root < 1:
                np.testing.assert_allclose(
                    algebra.same_rate(S, root), algebra.same_rate(S, prior), rtol=0, atol=1e-9
                )


def test_pair_posterior_is_the_bilinear_form():
    rng = np.random.default_rng(0)
    S = LabelingNoise(flip=brute.random_flip(3, rng)).same_probability(3)
    left, right = rng.dirichlet(np.ones(3), 5), rng.dirichlet(np.ones(3), 5)
    expected = [
        sum(p[y] * q[z] * S[y, z] for y in range(3) for z in range(3))
        for p, q in zip(left, right, strict=True)
    ]
    np.testing.assert_allclose(algebra.pair_posterior(S, left, right), expected, **EXACT)


def test_no_root_and_one_root():
    clean = np.eye(2)
    assert algebra.prior_roots(clean, 0.4) == ()
    assert algebra.prior_roots(clean, 0.5) == (0.5,)
    one_sided = LabelingNoise(0.0, 0.3).same_probability()  # π̃ ≥ .3 always
    assert len(algebra.prior_roots(one_sided, 0.68)) == 1


@given(rates, seeds)
def test_the_rate_at_the_vertex_has_the_vertex_as_its_root(draw_rates, seed):
    """Where "same" is rarest the discriminant is zero, give or take its rounding."""
    for noise, _ in problems(draw_rates, 2, seed):
        S = noise.same_probability()
        if S[1, 1] - 2 * S[0, 1] + S[0, 0] < 0.01:
            continue
        vertex, rarest = algebra.flattest_prior(S)
        np.testing.assert_allclose(algebra.prior_branches(S, rarest), vertex, rtol=0, atol=1e-6)
        assert np.isnan(algebra.prior_branches(S, rarest - 1e-9)).all()


def test_rounding_does_not_lose_the_root_at_prior_one_half():
    S = LabelingNoise(0.1, 0.1).same_probability()
    branches = algebra.prior_branches(S, algebra.same_rate(S, 0.5))
    np.testing.assert_allclose(branches, 0.5, rtol=0, atol=1e-6)
    just_below = 0.5 - 2**-52  # the discriminant is −2⁻⁵¹, exactly
    assert algebra.prior_branches(np.eye(2), just_below) == (0.5, 0.5)
    assert algebra.prior_roots(np.eye(2), just_below) == (0.5,)


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.1, 1.1, float("nan"), [0.5, 0.6], [1.0, 0.0]])
def test_a_prior_must_leave_two_classes(prior):
    with pytest.raises(ValueError, match="not a prior"):
        algebra.class_prior(prior)


def test_a_prior_needs_one_entry_per_class():
    with pytest.raises(ValueError, match="3 classes need 3 probabilities"):
        algebra.class_prior(0.3, n_classes=3)


@pytest.mark.parametrize("function", [algebra.threshold, algebra.corrected_coefficients])
def test_prior_one_half_is_refused_where_it_matters(function):
    with pytest.raises(NotIdentifiable, match="a − b = 0"):
        function(PairingNoise(0.1, 0.2).same_probability(), 0.5)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 0.0]], "K×K"),
        ([[1.0, 0.3], [0.2, 1.0]], "symmetric"),
        ([[1.2, 0.0], [0.0, 1.0]], "probabilities"),
        ([[float("nan"), 0.0], [0.0, 1.0]], "probabilities"),
    ],
)
def test_a_noise_matrix_is_checked(matrix, message):
    with pytest.raises(ValueError, match=message):
        algebra.noise_matrix(matrix)


def test_binary_quantities_refuse_three_classes():
    with pytest.raises(ValueError, match="two classes"):
        algebra.alpha(np.eye(3), np.full(3, 1 / 3))


def test_unknown_formula_offers_the_known_ones():
    with pytest.raises(ValueError, match="did you mean 'printed'"):
        algebra.corrected_coefficients(np.eye(2), 0.3, "print")


def test_uninformative_noise_has_no_prior_equation():
    with pytest.raises(NotIdentifiable, match="says nothing about the prior"):
        algebra.prior_roots(np.full((2, 2), 0.5), 0.5)


@given(classes, seeds)
def test_mean_rates_count_wrong_answers_of_random_pairs(K, seed):
    rng = np.random.default_rng(seed)
    F, prior = brute.random_flip(K, rng), random_prior(K, rng)
    wrong, total = np.zeros(2), np.zeros(2)  # on pairs of one class, of two classes
    for y, z, answer, chance in brute.labeling_outcomes(F):
        share = prior[y] * prior[z] * chance
        total[int(y != z)] += share
        wrong[int(y != z)] += share * (answer != (y == z))
    np.testing.assert_allclose(algebra.mean_rates(F @ F.T, prior), wrong / total, **EXACT)


def test_mean_rates_of_a_sample_without_one_class():
    S = [[0.9, 0.1, 0.2], [0.1, 0.8, 0.3], [0.2, 0.3, 0.7]]
    assert algebra.mean_rates(S, [0.5, 0.5, 0.0]) == pytest.approx((0.15, 0.1))
    assert algebra.mean_rates([[0.8, 0.1], [0.1, 0.6]], 0.25) == pytest.approx((0.22, 0.1))
