"""Learning curves, against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import JointPairClassifier, NotIdentifiable, Pairs, metrics, sample_pairs
from noisypairs.app.plan import curve
from noisypairs.app.plan.curve import learning_curves
from noisypairs.app.plan.forecast import forecast
from noisypairs.estimation import Interval
from tests.app.plan.plan_problems import NOISE, items

STATED = {"accuracy": Interval(0.9, 0.87, 0.93, 0.9), "items": Interval(0.95, 0.93, 0.97, 0.9)}


def fitted(X: np.ndarray, pairs: Pairs) -> JointPairClassifier:
    return JointPairClassifier(LogisticRegression(), 2, class_order="rising", random_state=0).fit(
        X, pairs
    )


@pytest.fixture(scope="module")
def simulated() -> tuple[np.ndarray, np.ndarray, Pairs, JointPairClassifier]:
    X, y = items(300, 0)
    pairs = sample_pairs(y, 700, NOISE, random_state=1)
    return X, y, pairs, fitted(X, pairs)


def test_needed_pairs_are_within_a_factor_two_of_a_simulation(
    simulated: tuple[np.ndarray, np.ndarray, Pairs, JointPairClassifier],
) -> None:
    X, y, pairs, model = simulated
    stated = model.intervals(X, pairs)
    new, these = learning_curves(X, pairs, model, stated, n_sizes=4, n_orders=2)
    truth = LogisticRegression().fit(X, y).score(X, y)
    assert truth in forecast(new, 300, level=0.99).ceiling_interval
    target = 0.97
    need = forecast(these, 300).need(target).total.estimate

    def simulate(n: float) -> float:
        proba = fitted(X, sample_pairs(y, int(n), NOISE, random_state=1)).item_proba_
        return metrics.accuracy_up_to_names(y, proba.argmax(axis=1))

    assert simulate(need / 2) < target < simulate(need * 2)


def test_the_last_points_are_all_answers_as_the_verdict_states_them(
    simulated: tuple[np.ndarray, np.ndarray, Pairs, JointPairClassifier],
) -> None:
    X, _, pairs, model = simulated
    verdict = model.verdict()
    new, these = learning_curves(X, pairs, model, verdict.intervals, n_sizes=3, n_orders=2)
    assert new.sizes[-1] == these.sizes[-1] == pairs.n_pairs
    assert new.accuracy[-1] == verdict.estimated.estimate
    assert these.accuracy[-1] == verdict.intervals["items"].estimate


def test_a_curve_needs_two_sizes_of_parts_in_which_classes_are_seen(
    simulated: tuple[np.ndarray, np.ndarray, Pairs, JointPairClassifier],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, _, pairs, model = simulated
    fits: list[int] = []

    def sizes_seen(refused: int) -> list[int]:
        """Return the sizes of the curve where the smallest ones are refused in the first order."""

        def stated(_: object, part: Pairs, *__: object) -> dict[str, Interval]:
            fits.append(part.n_pairs)
            if len(fits) <= refused:
                raise NotIdentifiable("too few answers")
            return STATED

        fits.clear()
        monkeypatch.setattr(curve, "_stated", stated)
        return learning_curves(X, pairs, model, STATED, n_sizes=4, n_orders=2)[0].sizes.tolist()

    every = sizes_seen(0)
    assert every[:-1] == fits[:3] == fits[3:]
    assert sizes_seen(1) == every[1:]
    with pytest.raises(NotIdentifiable, match="cannot be identified from these pairs"):
        sizes_seen(2)


def test_points_share_the_stated_error_and_have_the_spread_of_the_orders_besides(
    simulated: tuple[np.ndarray, np.ndarray, Pairs, JointPairClassifier],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, _, pairs, model = simulated
    values = iter([0.8, 0.85, 0.82, 0.87])  # two sizes in each of two orders

    def stated(*_: object) -> dict[str, Interval]:
        one = next(values)
        return dict.fromkeys(STATED, Interval(one, one, one, 0.9))

    monkeypatch.setattr(curve, "_stated", stated)
    new, _ = learning_curves(X, pairs, model, STATED, n_sizes=3, n_orders=2)
    np.testing.assert_allclose(new.accuracy, [0.81, 0.86, 0.9])
    shared, own = (0.03 / 1.6449) ** 2, 0.0002  # the variance of .80 and .82, and of .85 and .87
    expected = shared + np.diag([own / 2, own / 2, own])
    np.testing.assert_allclose(new.covariance, expected, rtol=1e-3)
