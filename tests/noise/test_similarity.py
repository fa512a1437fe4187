"""Answers that follow looks: likeness by hand, the slope by search, and on simulated answers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit, logit

from noisypairs import JointPairClassifier, PairingNoise, Pairs
from noisypairs.noise import AnswerModel, Similarity
from noisypairs.noise.answers import chance_of_same
from noisypairs.noise.similarity import PRECISION


def crowd(slope, n=3000, seed=0):
    """Answers about 200 items whose log-odds follow the class and, by a slope, the cosine."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 200)
    X = 2.0 * np.eye(2)[y] + rng.normal(size=(200, 2))
    left = rng.integers(0, 200, n)
    right = (left + rng.integers(1, 200, n)) % 200
    likeness = Similarity.begin(Pairs(left, right, np.ones(n), 200), X).likeness(X, left, right)
    same = y[left] == y[right]
    said = rng.random(n) < expit(np.where(same, 1.5, -1.5) + slope * likeness)
    return X, y, Pairs(left, right, said, 200), likeness, same


def test_likeness_is_the_cosine_of_centred_features():
    X, _, pairs, likeness, _ = crowd(1.0)
    centred = X - X.mean(axis=0)
    a, b = centred[pairs.left], centred[pairs.right]
    cosine = (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert_allclose(likeness, cosine - cosine.mean())


@pytest.mark.parametrize(
    "X", [None, np.ones((200, 2)), np.array([["a"]] * 200, dtype=object), csr_array(np.eye(200))]
)
def test_similarity_needs_numbers_that_differ(X):
    assert Similarity.begin(crowd(0.0)[2], X) is None


def fitted(slope, seed=0):
    X, _, pairs, likeness, same = crowd(slope, seed=seed)
    mass = np.where(same, 0.1, 0.9), np.where(same, 0.9, 0.1)
    odds = np.full(3000, -1.0), np.full(3000, 1.0)
    part = Similarity.begin(pairs, X).fitted_to(mass, odds, pairs.same, likeness)
    return part, mass, odds, pairs.same, likeness


def test_slope_and_shifts_explain_the_answers_best_but_for_the_shrinking():
    """A search that knows no gradient; the slope's error from a numerical second derivative."""
    part, mass, odds, same, likeness = fitted(1.5)

    def unlikely(numbers):
        chance = sum(
            m * expit(o + d + numbers[0] * likeness)
            for m, o, d in zip(mass, odds, numbers[1:], strict=True)
        )
        said = np.where(same, chance, 1 - chance)
        return PRECISION / 2 * numbers @ numbers - np.log(said).sum()

    options = {"xatol": 1e-6, "fatol": 1e-8, "maxiter": 4000}
    best = minimize(unlikely, np.zeros(3), method="Nelder-Mead", options=options).x
    step = 1e-3 * np.eye(3)
    hessian = [
        [
            (
                unlikely(best + a + b)
                - unlikely(best + a - b)
                - unlikely(best - a + b)
                + unlikely(best - a - b)
            )
            / 4e-6
            for b in step
        ]
        for a in step
    ]
    kept = 1 - np.linalg.inv(hessian)[0, 0] / best[0] ** 2
    assert_allclose([part.slope, *part.shift], kept * best, atol=0.01)


def test_the_slope_comes_back_and_is_nothing_where_answers_do_not_follow_looks():
    """Over 20 seeds the slope spreads by .12; where |z| < 1, two of three times, none is kept."""
    X, y, pairs, likeness, same = crowd(1.5)
    certain = (~same).astype(float), same.astype(float)
    rates = pairs.same[~same].mean(), pairs.same[same].mean()
    odds = tuple(np.full(3000, logit(rate)) for rate in rates)
    part = Similarity.begin(pairs, X).fitted_to(certain, odds, pairs.same, likeness)
    assert part.slope == pytest.approx(1.5, abs=0.45)
    noise = PairingNoise(1 - rates[1], rates[0])
    model, plain = (AnswerModel(noise, "pairing", 2).with_parts(p) for p in (part, None))
    chances = [chance_of_same(m, np.eye(2)[y], pairs, None, X) for m in (model, plain)]
    right, flat = (np.log(np.where(pairs.same, c, 1 - c)).sum() for c in chances)
    assert right > flat + 20
    strengths = [fitted_plain(seed) for seed in range(12)]
    # Eight are expected; fewer than four come about in 3 of 1,000 cases.
    assert sum(strength == 0.0 for strength in strengths) >= 4
    assert max(strengths) < 0.6


def fitted_plain(seed):
    X, _, pairs, likeness, same = crowd(0.0, seed=seed)
    certain = (~same).astype(float), same.astype(float)
    odds = np.full(3000, -1.5), np.full(3000, 1.5)
    return Similarity.begin(pairs, X).fitted_to(certain, odds, pairs.same, likeness).strength


def test_a_learner_finds_it_and_leaves_it_out_when_asked():
    X, _, pairs, _, _ = crowd(2.0)
    settings = {"class_order": "falling", "random_state": 0, "n_classes": 2}
    parts = ["people", "pair error"]
    model = JointPairClassifier(**settings, answer_model=[*parts, "similarity"]).fit(X, pairs)
    assert "similarity" in model.parts_
    assert model.answer_model_.part("similarity").slope > 0.8
    without = JointPairClassifier(**settings, answer_model=parts).fit(X, pairs)
    assert "similarity" not in without.parts_
    assert_allclose(model.item_proba_, without.item_proba_)  # it moves no class
