"""Planning: information, accuracy without labels, learning curves, forecasts and choices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from noisypairs import LabelingNoise, NotIdentifiable, PairingNoise, Pairs, metrics, sample_pairs
from noisypairs.app import plan
from noisypairs.app.plan.choice import FAIR_SHARES
from noisypairs.app.plan.curve import NEW, THESE, LearningCurve, _seen, fit_joint, learning_curves
from noisypairs.app.plan.forecast import forecast
from noisypairs.app.plan.goal import reach
from noisypairs.app.plan.information import independent_laws, pair_information
from noisypairs.app.plan.score import confusion, score_predictions
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.propagation import propagate

NOISE = PairingNoise(0.1, 0.2)


def items(n: int, seed: int, separation: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return np.outer(2 * y - 1, [separation, 0.0, 0.0]) + rng.standard_normal((n, 3)), y


# Information


def mutual_information(joint: np.ndarray, S: np.ndarray) -> float:
    """Enumerate P(y, y', answer) and sum P log P / (P P)."""
    K, total = len(S), 0.0
    for y, z, q in itertools.product(range(K), range(K), (0, 1)):
        chance = joint[y, z] * (S[y, z] if q else 1 - S[y, z])
        of_answer = (joint * (S if q else 1 - S)).sum()
        if chance > 0:
            total += chance * np.log2(chance / (joint[y, z] * of_answer))
    return total


@pytest.mark.parametrize("K", [2, 3])
def test_information_is_the_enumerated_mutual_information(K: int) -> None:
    rng = np.random.default_rng(K)
    S = NOISE.same_probability(K)
    laws = rng.dirichlet(np.full(K * K, 0.5), size=20).reshape(-1, K, K)
    expected = [mutual_information(law, S) for law in laws]
    np.testing.assert_allclose(pair_information(laws, S), expected, atol=1e-12)


def test_information_of_certain_pairs_and_coins_is_zero() -> None:
    certain = np.zeros((1, 2, 2))
    certain[0, 1, 0] = 1.0
    assert pair_information(certain, NOISE.same_probability())[0] == pytest.approx(0, abs=1e-12)
    coin = np.full((2, 2), 0.5)
    assert pair_information(np.full((1, 2, 2), 0.25), coin)[0] == pytest.approx(0, abs=1e-12)


def test_information_refuses_laws_of_another_size() -> None:
    with pytest.raises(ValueError, match=r"expected \(m, 2, 2\)"):
        pair_information(np.zeros((1, 3, 3)), np.eye(2))


# Accuracy from noisy answers


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


def test_influence_foretells_the_spread_of_the_score() -> None:
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
    foretold = np.mean([one.influence.std() / np.sqrt(3000) for one in scores])
    assert np.mean(scores[0].influence) == pytest.approx(0.0, abs=0.05)
    assert 0.7 < spread / foretold < 1.4  # a spread from 40 draws is known to 11 %


# The law and the forecast


def law_points(name: str, seed: int, error: float) -> LearningCurve:
    sizes = np.array([300, 480, 760, 1200, 1900])
    exact = 0.92 - 4.0 / sizes**0.8 if name == NEW else 1 - 0.25 * np.exp(-0.6 * sizes / 1000)
    noise = error * np.random.default_rng(seed).standard_normal(5)
    return LearningCurve(name, sizes, exact + noise, np.eye(5) * error**2)


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
    assert law.accuracy(2500 + more.needed.estimate).estimate == pytest.approx(0.912, abs=1e-3)
    vague = forecast(law_points(NEW, 0, 0.05), 1000)
    assert reach(vague, 0.99, 2500).state in ("open", "more")


# The curve and the plan on simulated answers


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
        found = []
        for seed in (1, 2):
            answers = sample_pairs(y, int(n), NOISE, random_state=seed)
            proba = fit_joint(X, answers, linear, 2, 0).item_proba_
            found.append(metrics.accuracy_up_to_names(y, proba.argmax(axis=1)))
        return float(np.mean(found))

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


def test_a_curve_needs_three_sizes_in_which_classes_are_seen() -> None:
    accuracy = np.full((4, 2, 3), 0.8)
    accuracy[0, :, 1] = np.nan
    assert _seen(accuracy).tolist() == [False, True, True, True]
    accuracy[1] = np.nan
    with pytest.raises(NotIdentifiable, match="cannot be identified from these pairs"):
        _seen(accuracy)


def test_chosen_pairs_teach_more_than_random_ones() -> None:
    gains = []
    S = NOISE.same_probability()
    for seed in range(8):
        X, y = items(300, seed, 0.7)
        eta = 1 / (1 + np.exp(-2 * 0.7 * X[:, 0] - np.log(0.4 / 0.6)))
        potential = np.log(np.column_stack([1 - eta, eta]))
        pairs = sample_pairs(y, 600, NOISE, random_state=seed)
        graph = PairGraph.from_pairs(pairs)
        beliefs = propagate(graph, potential, S)
        chosen = plan.candidates(graph, beliefs, S, seed).best(300, 300)
        random = sample_pairs(y, 300, random_state=100 + seed)
        right = []
        for left, other in ((chosen.left, chosen.right), (random.left, random.right)):
            answers = NOISE.corrupt(y, left, other, 2, 1000 + seed)
            both = (np.append(pairs.left, left), np.append(pairs.right, other))
            more = PairGraph.from_answers(*both, np.append(pairs.same, answers), n_items=300)
            belief = propagate(more, potential, S).item
            right.append(belief[np.arange(300), y].mean())
        gains.append(right[0] - right[1])
    error = np.std(gains, ddof=1) / np.sqrt(len(gains))
    assert np.mean(gains) > 2 * error


def test_candidates_are_new_or_old_spread_and_scored() -> None:
    X, y = items(150, 4)
    pairs = sample_pairs(y, 300, NOISE, random_state=4)
    graph = PairGraph.from_pairs(pairs)
    S = NOISE.same_probability()
    beliefs = propagate(graph, np.column_stack([-X[:, 0], X[:, 0]]), S)
    found = plan.candidates(graph, beliefs, S, 0)
    old = set(zip(graph.left.tolist(), graph.right.tolist(), strict=True))
    ends = list(zip(found.left.tolist(), found.right.tolist(), strict=True))
    assert [end in old for end in ends] == found.again.tolist()
    assert len(set(ends)) == len(ends) == 150 * 149 // 2  # few items: every pair is looked at
    law = independent_laws(beliefs.item[found.left[-1:]], beliefs.item[found.right[-1:]])
    assert found.information[-1] == pytest.approx(mutual_information(law[0], S))
    best = found.best(60, 150)
    used = np.bincount(np.concatenate([best.left, best.right]))
    assert len(best) == 60
    assert used.max() <= np.ceil(FAIR_SHARES * 2 * 60 / 150)
    # The same as going through all candidates one by one.
    room, chosen = [2] * 150, []
    for k in np.argsort(-found.information, kind="stable").tolist():
        left, right = ends[k]
        if min(room[left], room[right]) > 0:
            room[left], room[right] = room[left] - 1, room[right] - 1
            chosen.append(ends[k])
    assert list(zip(best.left.tolist(), best.right.tolist(), strict=True)) == chosen[:60]
    assert (np.diff(best.information) <= 1e-12).all()


def test_asking_for_more_pairs_than_there_are_gives_all() -> None:
    graph = PairGraph.from_answers([0], [1], [True], n_items=4)
    S = NOISE.same_probability()
    found = plan.candidates(graph, propagate(graph, np.zeros((4, 2)), S), S, 0)
    assert len(found.best(100, 4)) == 6


def test_many_items_are_sampled_without_old_pairs() -> None:
    y = items(400, 5)[1]
    pairs = sample_pairs(y, 3000, NOISE, random_state=5)
    graph = PairGraph.from_pairs(pairs)
    beliefs = propagate(graph, np.zeros((400, 2)), NOISE.same_probability(), clamp={0: 1})
    found = plan.candidates(graph, beliefs, NOISE.same_probability(), 5)
    new = found[~found.again]
    key = new.left * 400 + new.right
    assert len(np.unique(key)) == len(key) <= 40_000
    assert not np.isin(key, graph.left.astype(int) * 400 + graph.right).any()
    assert (new.left < new.right).all()


def test_a_repeated_answer_is_worth_less_where_the_first_was_sure() -> None:
    sure = PairingNoise(0.01, 0.01)
    y = items(100, 6)[1]
    pairs = sample_pairs(y, 40, sure, random_state=6)
    graph, S = PairGraph.from_pairs(pairs), sure.same_probability()
    worth = plan.worth_of_answers(graph, propagate(graph, np.zeros((100, 2)), S), S, random_state=0)
    assert worth.fresh.low > worth.repeated.high
    assert worth.best_repeated >= worth.repeated.estimate
    assert worth.fresh.estimate == pytest.approx(pair_information(np.full((1, 2, 2), 0.25), S)[0])


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
