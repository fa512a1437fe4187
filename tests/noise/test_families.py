"""Fits of the noise: exact counts give the parameters back; groups are shrunk as by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize

from noisypairs import LabelingNoise, PairingNoise
from noisypairs.noise import MatrixNoise, families

FLIPS = {
    2: ((0.9, 0.1), (0.25, 0.75)),
    3: ((0.8, 0.15, 0.05), (0.1, 0.7, 0.2), (0.05, 0.05, 0.9)),
}


def exact_counts(S, total=1e8, seed=0):
    """The counts that S promises when classes (y, y') come in unequal numbers."""
    share = np.random.default_rng(seed).dirichlet(np.ones(len(S)) * 5)
    asked = total * np.outer(share, share)
    return asked * S, asked * (1 - S)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rates", [(0.1, 0.2), (0.35, 0.05), (0.45, 0.45)])
def test_pairing_rates_come_back(n_classes, rates):
    noise = PairingNoise(*rates)
    found = families.fit_pairing(*exact_counts(noise.same_probability(n_classes)))
    assert_allclose((found.similar_flip, found.dissimilar_flip), rates, rtol=0, atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labeling_matrix_comes_back(n_classes):
    S = LabelingNoise(flip=FLIPS[n_classes]).same_probability(n_classes)
    found = families.fit_labeling(*exact_counts(S))
    assert_allclose(found.same_probability(n_classes), S, rtol=0, atol=1e-3)
    if n_classes == 2:
        assert_allclose(found.flip_matrix(), FLIPS[2], rtol=0, atol=1e-3)


def test_three_classes_leave_the_flip_matrix_open():
    """S = F Fᵀ = (F Q)(F Q)ᵀ for every rotation Q about (1, 1, 1): answers cannot tell them apart.

    For two classes the only such Q exchange the names; for three there is a circle of them, so S
    can be learnt and F cannot.
    """
    F, angle = np.array(FLIPS[3]), 0.05
    axis = np.ones(3) / np.sqrt(3)
    cross = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]) / np.sqrt(3)
    Q = np.eye(3) * np.cos(angle) + np.sin(angle) * cross
    Q += (1 - np.cos(angle)) * np.outer(axis, axis)
    one, other = (LabelingNoise(flip=tuple(map(tuple, M.tolist()))) for M in (F, F @ Q))
    assert_allclose(one.same_probability(3), other.same_probability(3), rtol=0, atol=1e-12)
    assert np.abs(one.flip_matrix(3) - other.flip_matrix(3)).max() > 0.01


@pytest.mark.parametrize("n_classes", [2, 3])
def test_free_matrix_comes_back(n_classes):
    S = np.random.default_rng(1).uniform(0.05, 0.95, (n_classes, n_classes))
    S = (S + S.T) / 2
    found = families.fit_free(*exact_counts(S))
    assert_allclose(found.same_probability(n_classes), S, rtol=0, atol=1e-3)


def penalised(free, same, different):
    """The aim of `fit_labeling` written out entry by entry, softmax and prior included."""
    K = len(same)
    F = np.exp(free.reshape(K, K))
    F /= F.sum(axis=1, keepdims=True)
    value = 0.0
    for y in range(K):
        for z in range(K):
            s = sum(F[y, r] * F[z, r] for r in range(K))
            value += same[y, z] * np.log(s) + different[y, z] * np.log(1 - s)
            value += 10.0 * (0.8 if y == z else 0.2) * np.log(F[y, z])
    return -value / (same.sum() + different.sum() + 1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labeling_gradient_against_finite_differences(monkeypatch, n_classes):
    rng = np.random.default_rng(n_classes)
    same, different = (rng.uniform(5, 50, (n_classes, n_classes)) for _ in range(2))
    same, different = same + same.T, different + different.T
    seen, minimize = {}, optimize.minimize

    def spy(loss, start, **options):
        seen["loss"] = loss
        return minimize(loss, start, **options)

    monkeypatch.setattr(families.optimize, "minimize", spy)
    found = families.fit_labeling(same, different)
    for _ in range(5):
        at = rng.normal(size=n_classes**2)
        value, gradient = seen["loss"](at)
        assert value == pytest.approx(penalised(at, same, different), rel=1e-10)
        numeric = optimize.approx_fprime(at, penalised, 1e-6, same, different)
        assert_allclose(gradient, numeric, rtol=0, atol=1e-5)
    best = penalised(np.log(found.flip_matrix(n_classes)).ravel(), same, different)
    for _ in range(50):  # no better point nearby
        step = 0.02 * rng.normal(size=n_classes**2)
        moved = np.log(found.flip_matrix(n_classes)).ravel() + step
        assert penalised(moved, same, different) > best - 1e-7


def test_no_answers_leave_the_weak_prior():
    nothing = np.zeros((2, 2))
    prior = np.array([[0.8, 0.2], [0.2, 0.8]])
    assert families.fit_pairing(nothing, nothing) == PairingNoise(0.2, 0.2)
    assert_allclose(families.fit_free(nothing, nothing).same_probability(), prior)
    assert_allclose(families.fit_labeling(nothing, nothing).flip_matrix(), prior, atol=1e-4)


def test_weak_prior_by_hand():
    same, different = np.array([[6.0, 3.0], [3.0, 4.0]]), np.array([[1.0, 7.0], [7.0, 9.0]])
    found = families.fit_pairing(same, different)
    assert found.similar_flip == pytest.approx((10 + 2) / (20 + 10))
    assert found.dissimilar_flip == pytest.approx((6 + 2) / (20 + 10))
    free = families.fit_free(same, different).same_probability()
    assert_allclose(free, [[14 / 17, 5 / 20], [5 / 20, 12 / 23]])


def test_reversed_answers_stay_just_short_of_saying_nothing():
    S = 1 - PairingNoise(0.1, 0.2).same_probability()
    found = families.fit_pairing(*exact_counts(S))
    assert found.similar_flip + found.dissimilar_flip == pytest.approx(1 - 2 * families.MARGIN)
    assert found.similar_flip / found.dissimilar_flip == pytest.approx(0.9 / 0.8, rel=1e-4)
    clean = families.fit_free(*exact_counts(np.eye(2)))
    assert_allclose(clean.same_probability(), [[0.999, 0.001], [0.001, 0.999]])


def test_names_and_misspelt_names():
    assert list(families.FAMILIES) == ["pairing", "labeling", "free"]
    assert families.family("labeling") is families.fit_labeling
    with pytest.raises(ValueError, match=r"noise_model='labelling': .*labeling"):
        families.family("labelling")
    with pytest.raises(ValueError, match=r"noise_model='Auto': .*auto"):
        families.family("Auto")


def test_fixed_noise_ignores_the_counts():
    noise = MatrixNoise([[0.9, 0.3], [0.3, 0.6]])
    fit = families.fixed(noise)
    assert fit(np.zeros((2, 2)), np.ones((2, 2))) is noise
    assert fit(*exact_counts(np.eye(2))) is noise


# --- groups --------------------------------------------------------------------------------------

CROWD = np.array([[0.7, 0.3, 0.3], [0.3, 0.7, 0.3], [0.3, 0.3, 0.7]])


def group_counts(rates, answers, n_classes=3):
    """Counts of groups with rates (ρ_S, ρ_D), as many answers on same as on different pairs."""
    diagonal = np.eye(n_classes, dtype=bool)
    asked = np.where(diagonal, 1 / n_classes, 1 / (n_classes * (n_classes - 1)))
    S = np.array([np.where(diagonal, 1 - similar, flip) for similar, flip in rates])
    asked = asked * np.asarray(answers, dtype=float)[:, None, None]
    return asked * S, asked * (1 - S)


def test_group_errors_by_hand():
    same, different = group_counts([(0.1, 0.4), (0.5, 0.5)], [50, 8])
    wrong, total = families.group_errors(same, different)
    assert_allclose(wrong, [[5, 4], [20, 4]])
    assert_allclose(total, [[50, 8], [50, 8]])


def test_strength_by_hand():
    wrong, total, mean = np.array([6.0, 1.0, 4.0]), np.array([10.0, 10.0, 20.0]), 0.3
    spread = sum(
        (w - mean * t) ** 2 - mean * (1 - mean) * t for w, t in zip(wrong, total, strict=True)
    )
    variance = spread / sum(t * (t - 1) for t in total)
    expected = mean * (1 - mean) / variance - 1
    assert 2 < expected < 200
    assert families.shrinkage(wrong, total, mean) == pytest.approx(expected)
    assert families.shrinkage(np.array([0.0, 100.0]), np.array([100.0, 100.0]), 0.5) == 2
    assert families.shrinkage(np.zeros(3), np.zeros(3), 0.2) == 200  # no answers at all


@pytest.mark.parametrize("strength", [5.0, 20.0, 80.0])
def test_strength_of_a_beta_crowd_comes_back(strength):
    """4,000 annotators, 60 answers each, rates Beta(m s, (1−m) s): s within a fifth."""
    rng, mean = np.random.default_rng(0), 0.3
    total = np.full(4000, 60.0)
    wrong = rng.binomial(60, rng.beta(mean * strength, (1 - mean) * strength, 4000))
    assert families.shrinkage(wrong.astype(float), total, mean) == pytest.approx(strength, rel=0.2)


def test_group_matrices_by_hand():
    rates, answers = [(0.05, 0.1), (0.5, 0.5), (0.3, 0.35)], [100, 40, 3]
    same, different = group_counts(rates, answers)
    found = families.group_matrices(same, different, CROWD)
    assert found.shape == (3, 3, 3)
    for kind in (0, 1):
        wrong = np.array([r[kind] * n for r, n in zip(rates, answers, strict=True)])
        m = families.shrinkage(wrong, np.array(answers, dtype=float), 0.3)
        assert 2 < m < 200
        by_hand = (wrong + 0.3 * m) / (np.array(answers) + m)
        entry = 1 - found[:, 0, 0] if kind == 0 else found[:, 0, 1]
        assert_allclose(entry, by_hand)
    for S in found:  # two rates each
        assert_allclose(S, PairingNoise(1 - S[0, 0], S[0, 1]).same_probability(3))


def test_groups_with_many_answers_keep_their_own_rates():
    rates = [(0.02, 0.03), (0.5, 0.5), (0.95, 0.9)]  # good, a coin, reversed
    found = families.group_matrices(*group_counts(rates, [1e6] * 3), CROWD)
    assert_allclose(np.c_[1 - found[:, 0, 0], found[:, 0, 1]], rates, atol=1e-3)
    silent = families.group_matrices(*group_counts([(0, 0)] * 2, [0, 0]), CROWD)
    assert_allclose(silent, [CROWD, CROWD])  # who never answered is like the crowd
