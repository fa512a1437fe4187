from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from noisypairs import (
    CleanPairs,
    LabelingNoise,
    MatrixNoise,
    NotIdentifiable,
    PairingNoise,
    Pairs,
    sample_pairs,
)
from noisypairs.metrics import (
    accuracy_up_to_names,
    contingency,
    corrected_pair_agreement,
    estimate_accuracy,
    pair_agreement,
    pair_log_likelihood,
)

NOTHING = MatrixNoise([[0.5, 0.5], [0.5, 0.5]])
RUNS = 200
#: A 95 % interval that keeps its word covers this often, but for one chance in a thousand.
COVERED = stats.binom.interval(0.999, RUNS, 0.95)


@pytest.fixture
def weighted_pairs():
    """12 items, 60 weighted pairs, some of an item with itself."""
    rng = np.random.default_rng(0)
    left, right = rng.integers(12, size=(2, 60))
    assert (left == right).any()
    return Pairs(left, right, rng.random(60) < 0.4, 12, weight=rng.integers(1, 9, size=60) / 4)


# --- accuracy up to names -------------------------------------------------------------------------


@pytest.mark.parametrize("n_true", [1, 2, 4])
@pytest.mark.parametrize("n_predicted", [1, 3, 4])
def test_the_best_matching_of_names_by_trying_all(n_true, n_predicted):
    rng = np.random.default_rng(10 * n_true + n_predicted)
    y = rng.integers(n_true, size=60)
    predicted = np.where(rng.random(60) < 0.4, y % n_predicted, rng.integers(n_predicted, size=60))
    names = range(max(n_true, n_predicted))
    best = max(
        np.mean([renamed[p] == t for t, p in zip(y, predicted, strict=True)])
        for renamed in permutations(names)
    )
    assert accuracy_up_to_names(y, predicted) == pytest.approx(best, abs=1e-15)
    words = np.array(["w", "a", "k", "e"])[predicted]
    assert accuracy_up_to_names(y, words) == pytest.approx(best, abs=1e-15)


@pytest.mark.parametrize("shapes", [((3,), (4,)), ((2, 2), (2, 2)), ((0,), (0,))])
def test_accuracy_needs_two_vectors_of_one_length(shapes):
    with pytest.raises(ValueError, match=r"y_true has shape \(.* expected two vectors"):
        accuracy_up_to_names(np.zeros(shapes[0]), np.zeros(shapes[1]))


def test_the_contingency_table_by_loop():
    rng = np.random.default_rng(0)
    first, second = rng.choice(["b", "a", "c"], size=50), rng.integers(5, 9, size=50)
    expected = [[sum((first == r) & (second == c)) for c in range(5, 9)] for r in "abc"]
    np.testing.assert_array_equal(contingency(first, second), expected)


# --- likelihood and plain agreement ---------------------------------------------------------------


def answers(pairs):
    """Yield (left, right, same, weight) of every pair of two distinct items."""
    weight = pairs.weight.astype(float)
    for i, j, same, w in zip(pairs.left, pairs.right, pairs.same, weight, strict=True):
        if i != j:
            yield i, j, same, w


@pytest.mark.parametrize(
    "noise",
    [PairingNoise(0.1, 0.2), LabelingNoise(flip=[[0.8, 0.1, 0.1], [0, 1, 0], [0.2, 0.2, 0.6]])],
    ids=["pairing", "labeling"],
)
def test_the_likelihood_of_the_answers_by_loop(weighted_pairs, noise):
    eta = np.random.default_rng(1).dirichlet(np.ones(3), size=12)
    S = noise.same_probability(3)
    log_chance, total = 0.0, 0.0
    for i, j, same, w in answers(weighted_pairs):
        chance = sum(eta[i, a] * S[a, b] * eta[j, b] for a in range(3) for b in range(3))
        log_chance += w * np.log(chance if same else 1 - chance)
        total += w
    found = pair_log_likelihood(weighted_pairs, eta, noise)
    assert found == pytest.approx(log_chance / total, abs=1e-12)


def test_an_impossible_answer_is_very_unlikely_but_finite():
    """One sure contradiction must not make a whole candidate −inf."""
    certain = pair_log_likelihood(Pairs([0], [1], [False]), [[1, 0], [1, 0]], CleanPairs())
    assert certain == pytest.approx(np.log(1e-12))


def test_the_true_noise_is_likelier_than_others():
    y = np.random.default_rng(0).integers(2, size=500)
    pairs = sample_pairs(y, 5000, PairingNoise(0.1, 0.3), random_state=1)
    eta = np.eye(2)[y]
    right, none, swapped = (
        pair_log_likelihood(pairs, eta, noise)
        for noise in (PairingNoise(0.1, 0.3), CleanPairs(), PairingNoise(0.3, 0.1))
    )
    assert right > swapped > none


def test_agreement_by_loop(weighted_pairs):
    predicted = np.random.default_rng(1).choice(["a", "b", "c"], size=12)
    agree = total = 0.0
    for i, j, same, w in answers(weighted_pairs):
        agree += w * ((predicted[i] == predicted[j]) == same)
        total += w
    expected = agree / total
    assert pair_agreement(weighted_pairs, predicted) == pytest.approx(expected, abs=1e-12)
    clean = corrected_pair_agreement(weighted_pairs, predicted, CleanPairs())
    assert clean.estimate == pytest.approx(expected, abs=1e-12)  # nothing to correct


# --- what noisy pairs say about the truth ---------------------------------------------------------


def simulate(noise, flips, seed, n_items=1500, n_pairs=15_000, prior=0.3):
    """Draw items anew, predict with error rates ``flips`` per class, and ask noisy pairs."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_items) < prior).astype(int)
    predicted = y ^ (rng.random(n_items) < np.asarray(flips)[y])
    return sample_pairs(y, n_pairs, noise, random_state=rng), predicted, y


@pytest.mark.parametrize("flips", [(0.1, 0.1), (0.05, 0.3)], ids=str)
@pytest.mark.parametrize("noise", [PairingNoise(0.1, 0.3), LabelingNoise(0.1, 0.2)], ids=repr)
def test_the_accuracy_estimate_is_unbiased_and_its_interval_covers(noise, flips):
    """Population accuracy, items drawn anew. Bias: below .004, its standard error about .0006."""
    truth = 1 - (0.7 * flips[0] + 0.3 * flips[1])
    found = [estimate_accuracy(*simulate(noise, flips, seed)[:2], noise) for seed in range(RUNS)]
    assert abs(np.mean([each.estimate for each in found]) - truth) < 0.004
    assert COVERED[0] <= sum(truth in each for each in found) <= COVERED[1]


@pytest.mark.parametrize("noise", [PairingNoise(0.2, 0.2), PairingNoise(0.05, 0.3)], ids=repr)
def test_the_corrected_agreement_is_unbiased_and_its_interval_covers(noise):
    """With one error rate e, a pair is judged right when both or none err: (1−e)² + e²."""
    truth = 0.9**2 + 0.1**2
    found, plain = [], []
    for seed in range(RUNS):
        pairs, predicted, _ = simulate(noise, (0.1, 0.1), seed)
        found.append(corrected_pair_agreement(pairs, predicted, noise))
        plain.append(pair_agreement(pairs, predicted))
    assert abs(np.mean([each.estimate for each in found]) - truth) < 0.006
    assert COVERED[0] <= sum(truth in each for each in found) <= COVERED[1]
    assert abs(np.mean(plain) - truth) > 0.05  # the correction is needed


def test_expected_answers_give_the_accuracy_exactly():
    """All ordered pairs, each answer weighed by its chance: only the O(1/n) of self pairs is left.

    The moment identity holds for the law of two independent items, self pairs included; 400 items
    leave an error below 1/400.
    """
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [280, 120])
    predicted = y ^ (rng.random(400) < 0.15)
    left, right = (index.ravel() for index in np.indices((400, 400)))
    left, right = left[left != right], right[left != right]
    for noise in (PairingNoise(0.1, 0.3), LabelingNoise(0.3, 0.1), LabelingNoise(0.0, 0.2)):
        chance = noise.same_probability()[y[left], y[right]]
        pairs = Pairs(
            np.r_[left, left],
            np.r_[right, right],
            np.repeat([True, False], len(left)),
            weight=np.maximum(np.r_[chance, 1 - chance], 1e-9),
        )
        found = estimate_accuracy(pairs, predicted, noise).estimate
        assert found == pytest.approx((predicted == y).mean(), abs=1 / 400)


def test_accuracy_takes_the_larger_root():
    """Pairs cannot tell a prediction from its opposite; the better of the two is meant."""
    noise = PairingNoise(0.1, 0.2)
    pairs, predicted, y = simulate(noise, (0.1, 0.1), seed=1)
    right = estimate_accuracy(pairs, predicted, noise)
    opposite = estimate_accuracy(pairs, 1 - predicted, noise)
    assert right.estimate == pytest.approx(opposite.estimate, abs=1e-12)
    assert (predicted == y).mean() in right


def test_accuracy_of_a_useless_prediction_is_one_half():
    noise = PairingNoise(0.2, 0.2)
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    pairs = sample_pairs(y, 20_000, noise, random_state=rng)
    found = estimate_accuracy(pairs, rng.integers(2, size=3000), noise)
    assert found.low <= 0.5 + 1e-12
    assert found.estimate < 0.6


def test_accuracy_stays_a_share():
    pairs = Pairs([0, 0, 1], [1, 2, 2], [True, False, False])
    found = estimate_accuracy(pairs, [1, 1, 0], PairingNoise(0.3, 0.3))
    assert (found.estimate, found.high) == (1.0, 1.0)


# --- errors ---------------------------------------------------------------------------------------


def test_noise_that_differs_between_classes_has_no_one_agreement():
    pairs = Pairs([0, 1], [1, 2], [True, False])
    with pytest.raises(ValueError, match=r"LabelingNoise\(.* Use estimate_accuracy"):
        corrected_pair_agreement(pairs, [0, 1, 1], LabelingNoise(0.1, 0.2))
    equal = LabelingNoise(0.1, 0.1)  # errs alike in both classes, so this is pairing noise
    assert np.isfinite(corrected_pair_agreement(pairs, [0, 1, 1], equal).estimate)


@pytest.mark.parametrize("metric", [corrected_pair_agreement, estimate_accuracy])
def test_answers_that_depend_on_nothing_say_nothing(metric):
    with pytest.raises(NotIdentifiable, match="do not depend on the classes"):
        metric(Pairs([0, 1], [1, 2], [True, False]), [0, 1, 1], NOTHING)


def test_the_accuracy_estimate_is_for_two_classes():
    with pytest.raises(ValueError, match="for two classes, predictions have 3"):
        estimate_accuracy(Pairs([0, 1], [1, 2], [True, False]), [0, 1, 2], CleanPairs())


@pytest.mark.parametrize("y_pred", [[0, 1], [0, 1, 1, 0], [[0], [1], [1]]])
def test_one_prediction_per_item(y_pred):
    pairs = Pairs([0, 1], [1, 2], [True, False])
    for metric in (
        pair_agreement,
        lambda *given: corrected_pair_agreement(*given, CleanPairs()),
        lambda *given: estimate_accuracy(*given, CleanPairs()),
    ):
        with pytest.raises(
            ValueError, match=r"y_pred has shape \(.*expected \(3,\): one class per"
        ):
            metric(pairs, y_pred)


@pytest.mark.parametrize("shape", [(2, 2), (3,), (3, 2, 1)])
def test_one_row_of_probabilities_per_item(shape):
    with pytest.raises(ValueError, match=r"item_proba has shape \(.*expected \(3, n_classes\)"):
        pair_log_likelihood(Pairs([0, 1], [1, 2], [True, False]), np.ones(shape), CleanPairs())


def test_no_pairs_no_judgement():
    """A test fold may hold no pair at all: an error, never a NaN score."""
    empty = Pairs([0], [0], [True], n_items=3)
    for judge in (
        lambda: pair_log_likelihood(empty, np.full((3, 2), 0.5), CleanPairs()),
        lambda: pair_agreement(empty, [0, 1, 1]),
        lambda: corrected_pair_agreement(empty, [0, 1, 1], CleanPairs()),
        lambda: estimate_accuracy(empty, [0, 1, 1], CleanPairs()),
    ):
        with pytest.raises(ValueError, match="no pairs of two distinct items to judge by"):
            judge()
