"""Learning curves of a fit, and the laws fitted to them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import JointPairClassifier, NotIdentifiable, Pairs, metrics, sample_pairs
from noisypairs.app import learning_curve as curve
from noisypairs.app.learning_curve import NEW, THESE, LearningCurve, forecast, learning_curves
from noisypairs.estimation import Interval
from tests.assess.plan_problems import NOISE, items, law_points

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


@pytest.mark.parametrize(
    ("name", "target", "truth"),
    [
        (NEW, 0.91, (4.0 / 0.01) ** (1 / 0.8)),
        (THESE, 0.96, np.log(0.25 / 0.04) / 0.6 * 1000),
    ],
)
def test_need_is_within_a_factor_two_and_covered(name: str, target: float, truth: float) -> None:
    needs = [forecast(law_points(name, seed, 0.003), 1000).need(target).total for seed in range(30)]
    middle = np.median([one.estimate for one in needs])
    assert truth / 2 < middle < truth * 2
    covered = np.mean([truth in one for one in needs])
    assert covered >= 0.75  # 90 % intervals, 30 curves: below .75 once in a hundred


def test_ceiling_is_covered_and_never_above_one() -> None:
    found = [forecast(law_points(NEW, seed, 0.005), 1000).ceiling_interval for seed in range(30)]
    assert np.mean([0.92 in one for one in found]) >= 0.75
    assert max(one.high for one in found) <= 1.0


@pytest.mark.parametrize("name", [NEW, THESE])
@pytest.mark.parametrize(("shared", "first", "last"), [(0.97, 0.025, 0.03), (0.9, 0.03, 0.02)])
def test_the_curve_passes_through_points_that_share_most_of_their_error(
    name: str, shared: float, first: float, last: float
) -> None:
    exact, error = law_points(name, 0, 0.0), np.linspace(first, last, 5)
    covariance = np.outer(error, error) * (shared + (1 - shared) * np.eye(5)) + 1e-5 * np.eye(5)
    root = np.linalg.cholesky(covariance)
    misses, covered = [], []
    for seed in range(40):
        moved = exact.accuracy + root @ np.random.default_rng(seed).standard_normal(5)
        law = forecast(LearningCurve(name, exact.sizes, moved, covariance), 1000)
        fitted = law.band(exact.sizes.astype(float))[0]
        misses.append(np.abs(fitted - moved) / np.sqrt(np.diag(covariance)))
        assert law.miss == pytest.approx(misses[-1].max())
        truth = 0.92 - 4.0 / 2500**0.8 if name == NEW else 1 - 0.25 * np.exp(-0.6 * 2.5)
        covered.append(truth in law.accuracy(2500))
    assert np.max(misses) < 1.0
    assert np.mean(covered) >= 0.75  # 90 % intervals, 40 curves: below .75 once in 300


def test_the_seed_decides_the_draws() -> None:
    sizes = np.array([250, 500, 1000, 2000, 4000])
    measured = LearningCurve(NEW, sizes, 0.9 - 3.0 / sizes, np.eye(5) * 1e-4)
    one, again, other = (forecast(measured, 500, seed=seed).ceiling_interval for seed in (1, 1, 2))
    assert one == again
    assert one.low != other.low


def test_no_ceiling_lies_above_one_however_steep_the_curve() -> None:
    sizes = np.array([250, 500, 1000, 2000, 4000])
    steep = LearningCurve(NEW, sizes, 1.05 - 4.0 / sizes**0.5, np.eye(5) * 1e-5)
    found = forecast(steep, 500)
    assert found.ceiling.max() <= 1.0
