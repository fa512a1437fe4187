"""Learning curves, against simulation."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import LabelingNoise, NotIdentifiable, PairingNoise, Pairs, metrics, sample_pairs
from noisypairs.app.plan import curve
from noisypairs.app.plan.curve import LearningCurve, fit_joint, learning_curves
from noisypairs.app.plan.forecast import forecast
from noisypairs.app.plan.score import Score
from tests.app.plan.plan_problems import NOISE, items


@pytest.fixture(scope="module")
def simulated() -> tuple[np.ndarray, np.ndarray, Pairs]:
    X, y = items(300, 0)
    return X, y, sample_pairs(y, 700, NOISE, random_state=1)


def test_needed_pairs_are_within_a_factor_two_of_a_simulation(
    simulated: tuple[np.ndarray, np.ndarray, Pairs],
) -> None:
    X, y, pairs = simulated
    linear = LogisticRegression()
    model = fit_joint(X, pairs, linear, 2, 0)
    new, these = learning_curves(X, pairs, model.noise_, linear, n_folds=2, n_sizes=4, seed=0)
    truth = LogisticRegression().fit(X, y).score(X, y)
    assert truth in forecast(new, 300, level=0.99).ceiling_interval
    target = 0.97
    need = forecast(these, 300).need(target).total.estimate

    def simulate(n: float) -> float:
        answers = sample_pairs(y, int(n), NOISE, random_state=1)
        proba = fit_joint(X, answers, linear, 2, 0).item_proba_
        return metrics.accuracy_up_to_names(y, proba.argmax(axis=1))

    assert simulate(need / 2) < target < simulate(need * 2)


def test_noise_that_treats_classes_differently_is_judged_by_its_own_matrix() -> None:
    """Under labeling noise every part's classes are matched with those that S is given in."""
    noise = LabelingNoise(0.25, 0.02)
    X, y = items(300, 3, 2.0)
    pairs = sample_pairs(y, 1500, noise, random_state=3)
    linear = LogisticRegression()
    model = fit_joint(X, pairs, linear, 2, 0, "labeling")
    new, _ = learning_curves(
        X,
        pairs,
        model.noise_,
        linear,
        n_folds=2,
        n_sizes=3,
        noise_model="labeling",
        beliefs=model.item_proba_,
        seed=0,
    )
    truth = metrics.accuracy_up_to_names(y, model.oof_proba_.argmax(axis=1))
    assert truth > 0.95
    np.testing.assert_array_less(np.abs(new.accuracy - truth), 3 * new.error + 0.01)
    assert new.error.max() < 0.04


def test_a_curve_needs_three_sizes_in_which_classes_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = items(60, 0)
    pairs = sample_pairs(y, 400, NOISE, random_state=0)
    found = SimpleNamespace(item_proba_=np.eye(2)[y], oof_proba_=np.eye(2)[y])
    fitted: list[int] = []

    def sizes_seen(refused: int) -> list[int]:
        """Return the sizes of the curve where the smallest ones are refused in the first fold."""

        def fit(X: np.ndarray, part: Pairs, *settings: object) -> SimpleNamespace:
            fitted.append(part.n_pairs)
            if len(fitted) <= refused:
                raise NotIdentifiable("too few answers")
            return found

        fitted.clear()
        monkeypatch.setattr(curve, "fit_joint", fit)
        new, _ = learning_curves(X, pairs, NOISE, LogisticRegression(), n_folds=2, n_sizes=4)
        return new.sizes.tolist()

    every = sizes_seen(0)
    assert every == fitted[:4] == fitted[4:]
    assert sizes_seen(1) == every[1:]
    with pytest.raises(NotIdentifiable, match="cannot be identified from these pairs"):
        sizes_seen(2)


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


def test_only_random_pairs_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = items(120, 1)
    pairs = sample_pairs(y, 400, NOISE, random_state=0)
    mark = np.arange(400) % 3 == 0
    marked = Pairs(pairs.left, pairs.right, pairs.same, n_items=120, chosen=mark)
    judged, learnt = [], []

    def score(left_out: Pairs, *_: object) -> Score:
        judged.append(left_out)
        return Score(0.8, np.zeros(left_out.n_pairs))

    def fit(_: object, part: Pairs, *__: object) -> SimpleNamespace:
        learnt.append(part)
        return SimpleNamespace(
            item_proba_=np.full((120, 2), 0.5), oof_proba_=np.full((120, 2), 0.5)
        )

    monkeypatch.setattr(curve, "score_predictions", score)
    monkeypatch.setattr(curve, "fit_joint", fit)
    learning_curves(X, marked, NOISE, LogisticRegression(), n_folds=2, n_sizes=3)
    assert all(not part.chosen.any() for part in judged if part.chosen is not None)
    assert any(part.chosen is not None and part.chosen.any() for part in learnt)


def test_the_covariance_is_that_of_sums_over_answers_that_share_items(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two loops over all answers; sizes whose errors go against each other have a negative one."""
    pairs, steep = repeated_pairs(), np.array([1.0, -1.0, 0.5, 2.0, -0.7])
    lean = np.random.default_rng(1).normal(size=80)
    turn = itertools.cycle(np.repeat(steep, 2))  # five sizes, two kinds, in each fold

    def score(left_out: Pairs, *_: object) -> Score:
        return Score(0.7, float(next(turn)) * (lean[left_out.left] + lean[left_out.right]))

    monkeypatch.setattr(curve, "fit_joint", lambda _, part, *__: Guess(part.n_items))
    monkeypatch.setattr(curve, "score_predictions", score)
    influence = lean[pairs.left] + lean[pairs.right]
    residual = influence - influence.mean()
    total = 0.0
    for e, one in enumerate(zip(pairs.left, pairs.right, strict=True)):
        for f, other in enumerate(zip(pairs.left, pairs.right, strict=True)):
            total += float(residual[e] * residual[f]) if {*one} & {*other} else 0.0
    expected = total / pairs.n_pairs**2 * np.outer(steep, steep)
    assert expected[0, 1] < 0 < expected[0, 2]
    for found in curves_of(pairs):
        np.testing.assert_allclose(found.covariance, expected, atol=1e-7)
