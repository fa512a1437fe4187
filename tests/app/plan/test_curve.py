"""Learning curves with a learner that only says what it was given."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import PairingNoise, Pairs
from noisypairs.app.plan import curve
from noisypairs.app.plan.curve import LearningCurve, learning_curves
from noisypairs.app.plan.score import Score


class Guess:
    """A fitted learner that knows nothing."""

    def __init__(self, n_items: int) -> None:
        self.item_proba_ = self.oof_proba_ = np.full((n_items, 2), 0.5)


def repeated_pairs() -> Pairs:
    rng = np.random.default_rng(0)
    once = rng.integers(40, size=(2, 60)) + np.array([[0], [40]])
    left, right = np.tile(once, 3)
    swapped = rng.random(180) < 0.5  # a pair has no first item
    return Pairs(
        np.where(swapped, right, left), np.where(swapped, left, right), rng.random(180) < 0.5
    )


def curves_of(pairs: Pairs) -> tuple[LearningCurve, LearningCurve]:
    return learning_curves(np.zeros((80, 1)), pairs, PairingNoise(0.1, 0.2), LogisticRegression())


def test_no_part_holds_a_pair_that_it_is_judged_by(monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[Pairs] = []

    def fit(X: object, part: Pairs, *_: object) -> Guess:
        parts.append(part)
        return Guess(part.n_items)

    def score(left_out: Pairs, *_: object) -> Score:
        assert not np.isin(parts[-1].pair_keys, left_out.pair_keys).any()
        return Score(0.7, np.zeros(left_out.n_pairs))

    monkeypatch.setattr(curve, "fit_joint", fit)
    monkeypatch.setattr(curve, "score_predictions", score)
    curves_of(repeated_pairs())
    assert len(parts) == 20


def test_the_spread_between_folds_is_part_of_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that all judge alike leave the spread of four folds: variance / 4."""
    accuracy = itertools.cycle(np.repeat([0.6, 0.7, 0.7, 0.8], 10))  # five sizes, two kinds

    def score(left_out: Pairs, *_: object) -> Score:
        return Score(float(next(accuracy)), np.zeros(left_out.n_pairs))

    monkeypatch.setattr(curve, "fit_joint", lambda _, part, *__: Guess(part.n_items))
    monkeypatch.setattr(curve, "score_predictions", score)
    for found in curves_of(repeated_pairs()):
        expected = np.var([0.6, 0.7, 0.7, 0.8], ddof=1) / 4
        np.testing.assert_allclose(found.error**2, expected, rtol=1e-4)
