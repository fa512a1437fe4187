"""Each pair by itself: against enumeration of all truths, and on records to link."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from noisypairs import Pairs
from noisypairs.annotators import annotator_table
from noisypairs.annotators.pair_truth import infer_pair_truth, likeness_of
from noisypairs.pairs.counts import weights_of
from tests.annotators.linkage_problems import records


@pytest.fixture(scope="module")
def small() -> Pairs:
    rng = np.random.default_rng(0)
    edge = np.repeat(np.arange(6), 4)
    same = rng.random(24) < np.where(edge < 3, 0.8, 0.2)
    pairs = Pairs(edge, edge + 6, same, 12, annotator=np.tile(np.arange(4), 6))
    return pairs.reweighted(rng.choice([0.0, 1.0, 2.0], 24, p=[0.1, 0.7, 0.2]))


def test_truths_likelihood_and_counts_are_those_of_enumeration(small: Pairs) -> None:
    found = infer_pair_truth(small)
    assert found.converged
    chances = np.zeros(2**6)
    truths = np.array(list(product([False, True], repeat=6)))
    for k, truth in enumerate(truths):
        said_same = found.S[small.annotator, 0, np.where(truth[small.left], 0, 1)]
        likely = np.where(small.same, said_same, 1 - said_same) ** weights_of(small)
        prior = np.where(truth, found.share, 1 - found.share)
        chances[k] = likely.prod() * prior.prod()
    assert found.log_likelihood == pytest.approx(np.log(chances.sum()), abs=1e-6)
    same = chances @ truths / chances.sum()
    np.testing.assert_allclose(found.same_proba, same, atol=1e-4)
    wrong = np.where(small.same, 1 - same[small.left], same[small.left])
    np.testing.assert_allclose(found.wrong_proba, wrong, atol=1e-4)
    counted, told_apart = found.counts()
    for r in range(4):
        mine = (small.annotator == r) * weights_of(small)
        assert counted[r, [0, 1], [0, 1]].sum() == pytest.approx(
            (mine * small.same) @ same[small.left], abs=1e-3
        )
        assert told_apart[r, [0, 1], [1, 0]].sum() == pytest.approx(
            (mine * ~small.same) @ (1 - same[small.left]), abs=1e-3
        )


def test_an_item_beside_itself_is_the_same() -> None:
    pairs = Pairs([0, 0, 1, 1, 2, 2], [1, 1, 2, 2, 2, 2], [1, 0, 1, 1, 1, 0], 3)
    assert infer_pair_truth(pairs).wrong_proba[4:].tolist() == [0.0, 1.0]


def test_weight_two_is_two_answers(small: Pairs) -> None:
    ones = small.reweighted(np.ones(small.n_pairs))
    twice = infer_pair_truth(ones.select(np.tile(np.arange(small.n_pairs), 2)))
    heavy = infer_pair_truth(small.reweighted(np.full(small.n_pairs, 2.0)))
    np.testing.assert_allclose(heavy.same_proba, twice.same_proba, atol=1e-6)


def test_leaving_somebody_out_changes_what_inference_without_them_says() -> None:
    one, other = 8 * [True], 8 * [False]
    # Pair 0: the first annotator alone says "same" against a weaker one; the others agree.
    pairs = Pairs(
        np.r_[np.arange(16), np.arange(16)],
        np.r_[np.arange(16), np.arange(16)] + 16,
        np.r_[one, other, [False], one[1:], other],
        annotator=np.repeat([0, 1], 16),
    )
    found = infer_pair_truth(pairs)
    for r in (0, 1):
        rest = pairs.annotator != r
        odds = np.where(
            pairs.same[rest],
            np.log(found.S[1 - r, 0, 0] / found.S[1 - r, 0, 1]),
            np.log((1 - found.S[1 - r, 0, 0]) / (1 - found.S[1 - r, 0, 1])),
        ) + np.log(found.share / (1 - found.share))
        assert found.drop_effect(r) == ((odds > 0) != (found.same_proba > 0.5)).sum()


def test_without_annotators_three_answers_give_two_common_rates() -> None:
    """Rates of 15 % and 10 % on 3,000 answers: five standard errors are below .05."""
    rng = np.random.default_rng(0)
    truth = np.repeat(rng.random(1000) < 0.4, 3)
    same = rng.random(3000) < np.where(truth, 0.85, 0.1)
    left = np.repeat(np.arange(1000), 3)
    found = infer_pair_truth(Pairs(left, left + 1000, same))
    np.testing.assert_allclose(found.S[0, 0], [0.85, 0.1], atol=0.05)
    assert found.share == pytest.approx(0.4, abs=0.05)


def test_groups_of_records_are_tiny_and_classes_are_not() -> None:
    drawn = records(400)
    groups = infer_pair_truth(drawn.pairs).groups()
    assert groups.are_tiny
    assert groups.n_groups > 100
    rng = np.random.default_rng(0)
    y, left = rng.integers(4, size=60), rng.integers(60, size=600)
    right = (left + rng.integers(1, 60, size=600)) % 60
    assert not infer_pair_truth(Pairs(left, right, y[left] == y[right])).groups().are_tiny


def judges(n_pairs=400, n_judges=12, shared=0.15, seed=0):
    """Judges who see one misleading version of some pairs; truth, and who answered what."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n_pairs) < 0.3
    seen = truth ^ (rng.random(n_pairs) < shared)
    own = rng.uniform(0.02, 0.12, n_judges)
    said = seen[:, None] ^ (rng.random((n_pairs, n_judges)) < own)
    left = np.repeat(np.arange(n_pairs), n_judges)
    names = [f"model{k // 4}/{k % 4}" for k in range(n_judges)]
    pairs = Pairs(left, left + n_pairs, said.ravel(), annotator=np.tile(names, n_pairs))
    return pairs, truth, np.repeat(truth, n_judges)


def test_known_pairs_show_what_everybody_gets_wrong() -> None:
    """Half of a second look at 15 % misled pairs: without known pairs rates are far too low."""
    pairs, truth, of_answers = judges()
    rng = np.random.default_rng(1)
    some = np.repeat(rng.random(len(truth)) < 0.4, 12)
    known = np.where(some, of_answers, -1).astype(np.int8)
    missed = np.array(
        [(~pairs.same[(pairs.annotator == r) & of_answers]).mean() for r in range(12)]
    )
    blind, told = infer_pair_truth(pairs), infer_pair_truth(pairs, known)
    errors = [np.abs(1 - found.S[:, 0, 0] - missed).mean() for found in (blind, told)]
    assert errors[1] < errors[0] / 2
    assert told.together.effective < 4
    assert told.together.n_known == known[::12].tolist().count(0) + known[::12].tolist().count(1)
    assert set(told.together.within) == {"model0", "model1", "model2"}
    np.testing.assert_array_equal(told.same_proba[told.known == 1], 1.0)
    assert told.same_proba[told.known < 0].max() < 0.97  # twelve copies make nothing certain


def test_intervals_of_known_pairs_cover_the_rates() -> None:
    inside = []
    for seed in range(4):
        pairs, truth, of_answers = judges(seed=seed)
        some = np.repeat(np.random.default_rng(100 + seed).random(len(truth)) < 0.35, 12)
        known = np.where(some, of_answers, -1).astype(np.int8)
        table = annotator_table(pairs, known=known, model="pairs", n_drop=0, random_state=0)
        for r, row in enumerate(table.rows):
            mine = pairs.annotator == r
            missed = (~pairs.same[mine & of_answers]).mean()
            mixed = pairs.same[mine & ~of_answers].mean()
            for value, one in ((missed, row.similar_flip), (mixed, row.dissimilar_flip)):
                inside.append(one.low <= value <= one.high)
    assert np.mean(inside) >= 0.85


def test_independent_people_share_nothing() -> None:
    drawn = records()
    found = infer_pair_truth(drawn.pairs)
    assert found.shared is None
    assert found.together is None


def test_rates_of_people_are_covered_where_truths_are_in_doubt() -> None:
    """Two crowds of 60, three answers a pair: 95 % intervals of J cover 85 to 100 %."""
    inside = []
    for seed in (0, 1):
        drawn = records(seed=seed)
        table = annotator_table(drawn.pairs, model="pairs", n_drop=0, random_state=0)
        for row, worth in zip(table.rows, drawn.worth, strict=True):
            inside.append(row.informativeness.low <= worth <= row.informativeness.high)
    assert np.mean(inside) >= 0.85


def test_known_truths_of_the_wrong_length_are_refused() -> None:
    pairs = Pairs([0, 1], [1, 2], [1, 0], annotator=["a", "b"])
    with pytest.raises(ValueError, match="known has 3 entries but there are 2 answers"):
        annotator_table(pairs, known=[1, 0, 1])


def test_without_known_pairs_rates_of_judges_who_err_together_are_open() -> None:
    pairs, truth, of_answers = judges()  # of three families, as their names say
    open_ = annotator_table(pairs, model="pairs", n_drop=0, random_state=0)
    assert open_.together is not None
    assert open_.together.is_open
    assert "the truth of 100 pairs" in str(open_.together)
    for row in (*open_, open_.crowd):
        assert (row.similar_flip.low, row.similar_flip.high) == (0.0, 1.0)
        assert (row.informativeness.low, row.informativeness.high) == (-1.0, 1.0)
    wrong = float((pairs.same != of_answers).mean())
    assert 0 < open_.together.least_wrong < wrong  # what they contradict each other in, at least
    known = np.where(np.repeat(np.arange(len(truth)) < 100, 12), of_answers, -1)
    told = annotator_table(pairs, known=known, model="pairs", n_drop=0, random_state=0)
    assert not told.together.is_open
    assert max(row.similar_flip.high for row in told) < 1.0


def test_likeness_by_hand() -> None:
    X = [[0.0, 0.0], [0.0, 0.1], [4.0, 9.0], [np.nan, 9.0]]
    found = likeness_of(Pairs([0, 0, 2], [1, 2, 3], [1, 0, 1]), X)
    assert found[0] > 0.9
    assert found[1] < -0.9
    assert likeness_of(Pairs([0], [1], [1]), None) is None
    assert likeness_of(Pairs([0], [1], [1]), [["a"], ["b"]]) is None
