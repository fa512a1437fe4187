"""Goals and plans: states, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import (
    ClassNumberWarning,
    JointPairClassifier,
    NotIdentifiable,
    Pairs,
    sample_pairs,
)
from noisypairs.app import plan
from noisypairs.app.plan.curve import NEW, LearningCurve
from noisypairs.app.plan.forecast import forecast
from noisypairs.app.plan.goal import reach
from noisypairs.app.plan.statement import as_dict
from tests.app.plan.plan_problems import NOISE, items, law_points


def test_a_flat_curve_has_its_level_as_ceiling_and_a_higher_target_is_unreachable() -> None:
    flat = LearningCurve(NEW, np.array([100, 200, 400]), np.full(3, 0.8), np.eye(3) * 1e-6)
    goal = reach(forecast(flat, 100), 0.95, 500)
    assert goal.state == "unreachable"
    assert goal.needed is None
    assert goal.ceiling.estimate == pytest.approx(0.8, abs=0.005)


def test_states_of_a_goal() -> None:
    law = forecast(law_points(NEW, 0, 0.002), 1000)
    assert reach(law, 0.85, 2500).state == "reached"
    more = reach(law, 0.912, 2500)
    assert more.state == "more"
    assert more.needed is not None
    assert more.needed.low <= more.needed.estimate <= more.needed.high
    doubted = reach(law, 0.85, 2500, doubtful=True)
    assert (doubted.state, doubted.now) == ("doubtful", reach(law, 0.85, 2500).now)
    assert law.accuracy(2500 + more.needed.estimate).estimate == pytest.approx(0.912, abs=1e-3)
    vague = forecast(law_points(NEW, 0, 0.05), 1000)
    assert reach(vague, 0.99, 2500).state in ("open", "more")


@pytest.mark.parametrize(("target", "K"), [(0.5, 2), (1.0, 2), (0.33, 3), (float("nan"), 2)])
def test_targets_at_chance_or_certainty_are_refused(target: float, K: int) -> None:
    X, y = items(60, 0)
    with pytest.raises(ValueError, match="expected an accuracy above"):
        plan.plan(X, sample_pairs(y, 100, random_state=0), target, n_classes=K)


def test_too_few_answers_are_refused() -> None:
    X, y = items(30, 0)
    with pytest.raises(ValueError, match="20 answers are too few"):
        plan.plan(X, sample_pairs(y, 20, random_state=0), 0.9)


def test_random_answers_are_not_identifiable() -> None:
    X, y = items(40, 0)
    pairs = sample_pairs(y, 100, random_state=0)
    coins = Pairs(pairs.left, pairs.right, np.random.default_rng(1).random(100) < 0.5, n_items=40)
    with pytest.raises(NotIdentifiable, match="say nothing about classes"):
        plan.plan(X, coins, 0.9, estimator=LogisticRegression())


def test_a_target_is_not_reached_while_the_number_of_classes_is_doubted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = items(60, 0, 3.0)
    whole = JointPairClassifier.fit

    def fit(self: JointPairClassifier, X: np.ndarray, pairs: Pairs) -> JointPairClassifier:
        warnings.warn("three classes explain more", ClassNumberWarning, stacklevel=2)
        return whole(self, X, pairs)

    monkeypatch.setattr(JointPairClassifier, "fit", fit)
    pairs = sample_pairs(y, 300, NOISE, random_state=0)
    found = plan.plan(X, pairs, 0.6, estimator=LogisticRegression(), n_folds=2)
    assert found.doubts == ("three classes explain more",)
    assert (found.new_items.state, found.these_items.state) == ("doubtful", "doubtful")
    told = as_dict(found, None, [str(k) for k in range(60)], None)
    assert told["warnings"] == ["three classes explain more"]
    assert "is reached" not in str(told)


def test_too_few_random_pairs_cannot_judge() -> None:
    X, y = items(100, 0)
    pairs = sample_pairs(y, 400, NOISE, random_state=0)
    marked = Pairs(pairs.left, pairs.right, pairs.same, chosen=np.arange(400) >= 50)
    with pytest.raises(ValueError, match="only 50 of 400 answers are about pairs drawn at random"):
        plan.plan(X, marked, 0.9)
