from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize

from noisypairs import LabelingNoise
from noisypairs.noise import labeling

FLIPS = {
    2: ((0.9, 0.1), (0.25, 0.75)),
    3: ((0.8, 0.15, 0.05), (0.1, 0.7, 0.2), (0.05, 0.05, 0.9)),
}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_labeling_matrix_comes_back(exact_counts, n_classes):
    S = LabelingNoise(flip=FLIPS[n_classes]).same_probability(n_classes)
    found = LabelingNoise.fit(*exact_counts(S))
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


def penalised(free, same, different):
    """The aim of `LabelingNoise.fit` written out entry by entry, softmax and prior included."""
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

    monkeypatch.setattr(labeling.optimize, "minimize", spy)
    found = LabelingNoise.fit(same, different)
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
    found = LabelingNoise.fit(np.zeros((2, 2)), np.zeros((2, 2)))
    assert_allclose(found.flip_matrix(), [[0.8, 0.2], [0.2, 0.8]], atol=1e-4)


@pytest.mark.parametrize("order", [(1, 2, 0), (0, 2, 1)])
def test_permuted_matrix_reports_permuted_classes(order):
    noise = LabelingNoise(flip=FLIPS[3], per="item")
    found = noise.permuted(order)
    assert found.per == "item"
    for k, old in enumerate(order):
        for reported, old_reported in enumerate(order):
            assert found.flip[k][reported] == FLIPS[3][old][old_reported]


def test_permuted_rates_exchange():
    found = LabelingNoise(0.1, 0.3).permuted([1, 0])
    assert_allclose(found.flip_matrix(), LabelingNoise(0.3, 0.1).flip_matrix(), rtol=0, atol=1e-15)


def test_one_report_per_item_gives_consistent_answers():
    """With one report per item no triangle can hold exactly two "same" answers."""
    y = np.random.default_rng(0).integers(2, size=300)
    i, j, k = np.random.default_rng(1).permuted(np.tile(np.arange(300), (3, 1)), axis=1)
    ends = (np.r_[i, j, k], np.r_[j, k, i])
    for per, contradicts in (("item", False), ("occurrence", True)):
        noise = LabelingNoise(0.3, 0.2, per=per)
        answers = noise.corrupt(y, *ends, 2, random_state=5).reshape(3, 300)
        assert (answers.sum(axis=0) == 2).any() == contradicts


def test_binary_rates_and_flip_matrix_say_the_same():
    by_rates, by_matrix = LabelingNoise(0.1, 0.3), LabelingNoise(flip=[[0.7, 0.3], [0.1, 0.9]])
    np.testing.assert_allclose(
        by_rates.same_probability(), by_matrix.same_probability(), rtol=0, atol=1e-15
    )
    np.testing.assert_allclose(by_rates.flipped_prior(0.4), [0.46, 0.54], rtol=0, atol=1e-15)


def test_incomplete_or_double_labeling_noise():
    with pytest.raises(ValueError, match="needs positive_flip and negative_flip"):
        LabelingNoise(0.1)
    with pytest.raises(ValueError, match="not both"):
        LabelingNoise(0.1, 0.1, flip=np.eye(2))
    with pytest.raises(ValueError, match="row sums"):
        LabelingNoise(flip=[[0.5, 0.4], [0.0, 1.0]])
    with pytest.raises(ValueError, match="K×K"):
        LabelingNoise(flip=[[1.0]])
    with pytest.raises(ValueError, match="'occurrence' or 'item'"):
        LabelingNoise(0.1, 0.1, per="pair")
    with pytest.raises(ValueError, match="negative_flip"):
        LabelingNoise(0.0, -0.1)


def test_one_report_per_item_follows_the_row_of_its_class():
    """Two classes report themselves; how often the third agrees with them is its row of F."""
    noise = LabelingNoise(flip=((1.0, 0.0, 0.0), (0.2, 0.5, 0.3), (0.0, 0.0, 1.0)), per="item")
    n = 4000
    y = np.append(np.ones(n, dtype=int), [0, 2])
    for sure, rate in ((n, 0.2), (n + 1, 0.3)):
        answers = noise.corrupt(y, np.arange(n), np.full(n, sure), 3, random_state=0)
        assert answers.mean() == pytest.approx(rate, abs=4 * np.sqrt(rate * (1 - rate) / n))
