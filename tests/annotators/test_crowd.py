"""The crowd as a whole: agreement, gold, and the answers without somebody."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from noisypairs import NotIdentifiable, Pairs, datasets
from noisypairs.annotators import crowd

#: People of small crowds answer a pair again.
COPIES = pytest.mark.filterwarnings("ignore::noisypairs.errors.CopiedAnswersWarning")

RATES = {"similar_flip": 0.1, "dissimilar_flip": 0.1}


def repeated(seed: int, n: int = 300) -> Pairs:
    """Two annotators answer the same n pairs, the second in the other orientation."""
    rng = np.random.default_rng(seed)
    left, right = rng.integers(50, size=n), 50 + rng.integers(50, size=n)
    keep = np.unique(left * 100 + right)
    left, right = keep // 100, keep % 100
    truth = rng.random(len(keep)) < 0.4
    first, second = truth ^ (rng.random((2, len(keep))) < 0.2)
    return Pairs(
        np.append(left, right),
        np.append(right, left),
        np.append(first, second),
        annotator=["ann"] * len(keep) + ["bob"] * len(keep),
    )


def test_agreement_of_two_is_cohens_kappa() -> None:
    pairs = repeated(0)
    m = pairs.n_pairs // 2
    ann, bob = crowd.agreement(pairs)
    first, second = pairs.same[:m], pairs.same[m:]
    assert ann.n == bob.n == m
    assert ann.share is not None
    assert ann.kappa is not None
    assert ann.share.estimate == pytest.approx((first == second).mean())
    assert ann.kappa.estimate == pytest.approx(cohen_kappa_score(first, second))
    assert ann.kappa.low < ann.kappa.estimate < ann.kappa.high


def test_alpha_is_one_for_equal_answers_zero_for_coins_and_none_without_repeats() -> None:
    rng = np.random.default_rng(0)
    left = np.repeat(np.arange(0, 4000, 2), 2)
    coins = Pairs(left, left + 1, rng.random(4000) < 0.3)
    assert crowd.krippendorff_alpha(coins) == pytest.approx(0.0, abs=0.07)
    equal = Pairs(left, left + 1, np.repeat(rng.random(2000) < 0.3, 2))
    assert crowd.krippendorff_alpha(equal) == pytest.approx(1.0)
    assert crowd.krippendorff_alpha(Pairs([0, 1], [1, 2], [1, 0])) is None


def test_own_repeats_and_self_pairs_are_no_agreement() -> None:
    pairs = Pairs([0, 1, 2], [1, 0, 2], [1, 1, 1], annotator=["ann", "ann", "bob"])
    assert [one.n for one in crowd.agreement(pairs)] == [0, 0]
    assert all(one.share is None and one.kappa is None for one in crowd.agreement(pairs))


def test_gold_rates_count_errors() -> None:
    simulated = datasets.simulated_crowd(60, 2, 5, 40, **RATES, random_state=1)
    pairs, y = simulated.pairs, simulated.target
    labels = {k: str(y[k]) for k in range(40)}
    truth = crowd.truth_from_labels(pairs, labels)
    for r, found in enumerate(crowd.gold_rates(pairs, truth)):
        mine = (pairs.annotator == r) & (pairs.left < 40) & (pairs.right < 40)
        alike = y[pairs.left] == y[pairs.right]
        assert found.n_same == (mine & alike).sum()
        assert found.similar_flip is not None
        assert found.similar_flip.estimate == pytest.approx((~pairs.same[mine & alike]).mean())
        assert found.dissimilar_flip is not None
        assert found.dissimilar_flip.estimate == pytest.approx(pairs.same[mine & ~alike].mean())


def test_gold_answers_are_matched_by_id_in_either_order() -> None:
    pairs = Pairs([0, 1, 2, 2], [1, 0, 0, 2], [1, 0, 1, 1])
    gold = Pairs([0, 1], [1, 2], [True, False])
    truth = crowd.truth_from_answers(pairs, ["a", "b", "c"], gold, ["b", "a", "c"])
    assert truth.tolist() == [1, 1, 0, -1]
    both = Pairs([0, 1], [1, 0], [True, False])
    with pytest.raises(ValueError, match="both same and different"):
        crowd.truth_from_answers(pairs, ["a", "b", "c"], both, ["a", "b"])
    with pytest.raises(ValueError, match="no pair of the gold file"):
        crowd.truth_from_answers(pairs, ["a", "b", "c"], gold, ["x", "y", "z"])


@pytest.mark.parametrize("heaviest", [1.0, 5.0])
@COPIES
def test_rest_accuracy_is_the_mean_over_the_others_by_weight(heaviest) -> None:
    pairs = datasets.simulated_crowd(60, 2, 5, 40, **RATES, random_state=1).pairs
    weight = np.random.default_rng(0).uniform(1.0, heaviest, 5)[pairs.annotator]
    found = crowd.judge_crowd(pairs.reweighted(weight))
    given = np.bincount(pairs.annotator, weight)
    np.testing.assert_allclose(found.table.answer_weight, given, rtol=1e-6)
    right = np.array([row.accuracy for row in found.table])
    others = [np.average(np.delete(right, r), weights=np.delete(given, r)) for r in range(5)]
    np.testing.assert_allclose(found.rest_accuracy, others, rtol=1e-6)


@COPIES
def test_nobody_is_left_without_the_only_annotator() -> None:
    pairs = datasets.simulated_crowd(60, 2, 1, 400, **RATES, random_state=1).pairs
    assert crowd.judge_crowd(pairs).rest_accuracy == [None]


def test_leaving_out_the_suspects_makes_the_crowd_better() -> None:
    simulated = datasets.simulated_crowd(100, 2, 20, 30, spammer_share=0.3, **RATES, random_state=2)
    found = crowd.judge_crowd(simulated.pairs)
    assert set(found.table.suspects) <= set(np.flatnonzero(simulated.annotator_kind != "honest"))
    assert found.without_suspects is not None
    before, after = found.table.crowd.informativeness, found.without_suspects.informativeness
    assert after.low > before.high


def test_coins_are_refused_as_such() -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(30, size=300)
    right = (left + rng.integers(1, 30, size=300)) % 30
    who = rng.integers(4, size=300)
    pairs = Pairs(left, right, rng.random(300) < 0.5, annotator=who)
    with pytest.raises(NotIdentifiable, match="all annotators answered without looking"):
        crowd.judge_crowd(pairs)


def test_errors_by_feature_find_the_hard_level() -> None:
    rng = np.random.default_rng(0)
    n = 4000
    y, hard = rng.integers(2, size=200), np.arange(200) < 50
    left = rng.integers(200, size=n)
    right = (left + rng.integers(1, 200, size=n)) % 200
    rate = np.where(hard[left] | hard[right], 0.4, 0.05)
    same = (y[left] == y[right]) ^ (rng.random(n) < rate)
    features = pd.DataFrame({"size": rng.random(200), "kind": np.where(hard, "blurred", "sharp")})
    pairs = Pairs(left, right, same, annotator=rng.integers(5, size=n))
    rows = crowd.errors_by_feature(pairs, (same ^ (y[left] == y[right])).astype(float), features)
    assert (rows[0].feature, {row.level for row in rows[:2]}) == ("kind", {"blurred", "sharp"})
    blurred = next(row for row in rows if row.level == "blurred")
    assert 0.4 in blurred.wrong
    assert len([row for row in rows if row.feature == "size"]) == 4


def test_without_annotators_the_error_says_what_to_do() -> None:
    with pytest.raises(ValueError, match="--annotator"):
        crowd.agreement(Pairs([0], [1], [True]))


def test_known_pairs_that_answers_contradict_are_found():
    pairs = Pairs(
        [0] * 5 + [2] * 5 + [4] * 2,
        [1] * 5 + [3] * 5 + [5] * 2,
        [True] * 5 + [False] * 4 + [True] + [False] * 2,
        annotator=[*"abcde", *"abcde", *"ab"],
    )
    truth = np.array([0] * 5 + [1] * 5 + [1] * 2, np.int8)
    found = crowd.contradictions(pairs, truth)
    assert [tuple(one) for one in found] == [(0, 1, False, 5, 5), (2, 3, True, 5, 4)]
    assert crowd.contradictions(pairs, np.full(12, -1, np.int8)) == []
