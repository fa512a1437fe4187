"""Plans: what a target takes, in numbers and words, and which pairs to ask."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import (
    ClassNamesWarning,
    ClassNumberWarning,
    JointPairClassifier,
    NotIdentifiable,
    PairingNoise,
    Pairs,
    sample_pairs,
)
from noisypairs.app import plan
from noisypairs.app.learning_curve import NEW, LearningCurve, forecast
from noisypairs.app.plan import as_dict, outlook, pairs_csv, reach, statement
from noisypairs.assess import NextPairs
from noisypairs.estimation import Interval
from noisypairs.graph.information import pair_information
from noisypairs.graph.propagation import PairGraph, edge_posterior, propagate
from tests.assess.plan_problems import NOISE, items, law_points, mutual_information


def test_a_flat_curve_has_its_level_as_ceiling_and_a_higher_target_is_unreachable() -> None:
    flat = LearningCurve(NEW, np.array([100, 200, 400]), np.full(3, 0.8), np.eye(3) * 1e-6)
    goal = reach(forecast(flat, 100), Interval(0.8, 0.78, 0.82), 0.95)
    assert goal.state == "unreachable"
    assert goal.needed is None
    assert goal.ceiling.estimate == pytest.approx(0.8, abs=0.005)


def test_states_of_a_goal() -> None:
    law = forecast(law_points(NEW, 0, 0.0005), 1000)
    now = Interval(0.91, 0.9, 0.92)
    assert reach(law, now, 0.85).state == "reached"
    more = reach(law, now, 0.912)
    assert more.state == "more"
    assert more.needed is not None
    assert more.needed.low <= more.needed.estimate <= more.needed.high
    behind = reach(law, Interval(0.8, 0.78, 0.82), 0.85)  # where the law has been long ago
    assert behind.needed == Interval(1.0, 0.0, 1.0, law.level)
    doubted = reach(law, now, 0.85, doubtful=True)
    assert (doubted.state, doubted.now) == ("doubtful", now)
    assert law.accuracy(1900 + more.needed.estimate).estimate == pytest.approx(0.912, abs=1e-3)


def test_a_number_of_answers_without_an_upper_limit_is_not_stated() -> None:
    vague = forecast(law_points(NEW, 0, 0.05), 1000)
    goal = reach(vague, Interval(0.8, 0.7, 0.9), 0.95)
    assert vague.need(0.95).total.high == np.inf
    assert (goal.state, goal.needed) == ("open", None)
    assert "cannot be estimated from these" in statement(goal, 0.95)


@pytest.mark.parametrize(
    ("last", "error", "said"),
    [
        (0.9, 1e-3, "would help: twice as many add"),
        (0.8, 1e-3, "would help little"),
        (0.83, 0.03, "may or may not help"),
    ],
)
def test_the_sentence_about_the_curve_follows_its_slope(
    last: float, error: float, said: str
) -> None:
    sizes = np.array([300, 480, 760, 1200, 1900])
    rising = last - (last - 0.8) * (1900 / sizes - 1) / (1900 / 300 - 1)
    law = forecast(LearningCurve(NEW, sizes, rising, np.eye(5) * error**2), 1000)
    assert said in outlook(law)


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
    found = plan.plan(X, pairs, 0.6, estimator=LogisticRegression(), n_orders=2)
    assert "three classes explain more" in found.doubts
    assert (found.new_items.state, found.these_items.state) == ("doubtful", "doubtful")
    told = as_dict(found, None, [str(k) for k in range(60)], None)
    assert "three classes explain more" in told["warnings"]
    assert "is reached" not in str(told)


def test_a_plan_states_the_accuracy_that_the_verdict_states() -> None:
    """Measured where labels do so."""
    X, y = items(80, 2, 2.0)
    pairs = sample_pairs(y, 400, NOISE, random_state=0)
    labelled = pairs.with_labels({k: int(y[k]) for k in range(20)})
    for some in (pairs, labelled):
        model = JointPairClassifier(LogisticRegression(), 2, class_order=None, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClassNamesWarning)
            verdict = model.fit(X, some).verdict()
        found = plan.plan(X, some, 0.9, estimator=LogisticRegression(), n_orders=2)
        assert verdict.is_measured == (some is labelled)
        assert found.new_items.now == verdict.accuracy
        assert found.these_items.now == verdict.intervals["items"]


def test_old_pairs_are_ranked_by_the_posterior_of_their_edge() -> None:
    X, y = items(60, 4)
    pairs = sample_pairs(y, 200, NOISE, random_state=4)
    graph, S = PairGraph.from_pairs(pairs), NOISE.same_probability()
    beliefs = propagate(graph, np.column_stack([-X[:, 0], X[:, 0]]), S)
    found = plan.old_pairs(graph, beliefs, S)
    assert len(found) == graph.n_edges
    assert (np.diff(found.information) <= 0).all()
    laws = dict(
        zip(
            zip(graph.left.tolist(), graph.right.tolist(), strict=True),
            edge_posterior(graph, beliefs, S),
            strict=True,
        )
    )
    for k in (0, 7, -1):
        law = laws[int(found.left[k]), int(found.right[k])]
        assert found.information[k] == pytest.approx(mutual_information(law, S))


def test_a_repeated_answer_is_worth_less_where_the_first_was_sure() -> None:
    sure = PairingNoise(0.01, 0.01)
    y = items(100, 6)[1]
    pairs = sample_pairs(y, 40, sure, random_state=6)
    graph, S = PairGraph.from_pairs(pairs), sure.same_probability()
    worth = plan.worth_of_answers(graph, propagate(graph, np.zeros((100, 2)), S), S, random_state=0)
    assert worth.fresh.low > worth.repeated.high
    assert worth.best_repeated >= worth.repeated.estimate
    assert worth.fresh.estimate == pytest.approx(pair_information(np.full((1, 2, 2), 0.25), S)[0])


@pytest.mark.parametrize(("raw", "left"), [(False, "'=1+1"), (True, "=1+1")])
def test_ids_are_no_formulas_unless_asked_for(raw, left):
    chosen = NextPairs(np.array([0]), np.array([1]), np.array([True]), np.array([0.25]))
    text = pairs_csv(chosen, ["=1+1", "-5"], raw)
    assert text == f"left,right,chosen,expected_bits\n{left},-5,yes,0.25\n"
