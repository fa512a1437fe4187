"""Accuracy from noisy answers, and its spread."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import PairingNoise, metrics, sample_pairs
from noisypairs.app.plan.score import confusion, score_predictions
from tests.app.plan.plan_problems import NOISE


def test_accuracy_is_exact_on_expected_counts() -> None:
    S = NOISE.same_probability(3)
    C = np.array([[0.9, 0.06, 0.04], [0.1, 0.8, 0.1], [0.0, 0.15, 0.85]])
    share = np.array([0.5, 0.3, 0.2])
    yes = C @ S @ C.T
    table = np.stack([1 - yes, yes], axis=-1) * np.outer(share, share)[:, :, None]
    # Under pairing noise C Cᵀ is all that three classes show, so C is known up to a small rotation.
    found = confusion(table[None], S)[0]
    np.testing.assert_allclose(found @ found.T, C @ C.T, atol=1e-3)
    assert share @ np.diag(found) == pytest.approx(share @ np.diag(C), abs=1e-3)


@pytest.mark.parametrize("wrong_share", [0.05, 0.2])
def test_score_agrees_with_truth_and_with_the_closed_form(wrong_share: float) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(1500) < 0.35).astype(int)
    predicted = np.where(rng.random(1500) < wrong_share, 1 - y, y)
    pairs = sample_pairs(y, 30_000, NOISE, random_state=1)
    score = score_predictions(pairs, predicted, NOISE.same_probability())
    closed = metrics.estimate_accuracy(pairs, predicted, NOISE)
    assert score.accuracy == pytest.approx((predicted == y).mean(), abs=0.01)
    assert score.accuracy == pytest.approx(closed.estimate, abs=0.005)


def test_influence_predicts_the_spread_of_the_score() -> None:
    # Items and predictions stay, answers and pairs are drawn anew: pairs are then independent.
    rng = np.random.default_rng(3)
    y = rng.integers(3, size=400)
    predicted = np.where(rng.random(400) < 0.15, (y + 1) % 3, y)
    S, noise = PairingNoise(0.2, 0.1).same_probability(3), PairingNoise(0.2, 0.1)
    scores = [
        score_predictions(sample_pairs(y, 3000, noise, random_state=s), predicted, S)
        for s in range(40)
    ]
    spread = np.std([one.accuracy for one in scores], ddof=1)
    predicted_spread = np.mean([one.influence.std() / np.sqrt(3000) for one in scores])
    assert np.mean(scores[0].influence) == pytest.approx(0.0, abs=0.05)
    assert 0.7 < spread / predicted_spread < 1.4  # a spread from 40 draws is known to 11 %


def test_a_weighted_answer_scores_as_a_repeated_one() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    pairs = sample_pairs(y, 800, NOISE, random_state=0)
    S, predicted = NOISE.same_probability(), np.where(rng.random(200) < 0.2, 1 - y, y)
    agrees = (predicted[pairs.left] == predicted[pairs.right]) == pairs.same
    times = np.where(agrees, 3, 1)
    accuracy = [
        score_predictions(one, predicted, S).accuracy
        for one in (pairs.reweighted(times), pairs.select(np.repeat(np.arange(800), times)))
    ]
    assert accuracy[0] == pytest.approx(accuracy[1], abs=0.01)  # shares of classes are by answers
    assert accuracy[0] > score_predictions(pairs, predicted, S).accuracy + 0.05
