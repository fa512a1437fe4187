from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from noisypairs import (
    CleanPairs,
    ComposedNoise,
    LabelingNoise,
    MatrixNoise,
    NotIdentifiable,
    PairingNoise,
)
from noisypairs.noise import LevelNoise, families, family
from noisypairs.noise.model import (
    MARGIN,
    PSEUDO_ANSWERS,
    fit_table,
    group_errors,
    level_prior,
    same_view,
    strength,
)
from noisypairs.pairs.levels import PLAIN, Scale

MODELS = [
    CleanPairs(),
    PairingNoise(0.1, 0.3),
    LabelingNoise(0.1, 0.3),
    LabelingNoise(0.1, 0.3, per="item"),
    MatrixNoise([[0.9, 0.25], [0.25, 0.6]]),
    LabelingNoise(0.2, 0.05).then(PairingNoise(0.1, 0.2)),
]


@pytest.mark.parametrize("noise", MODELS, ids=repr)
def test_corrupted_answers_follow_the_matrix(noise):
    """Monte Carlo, 40,000 pairs of disjoint items per cell: 5 standard errors are .0125."""
    n = 40_000
    rng = np.random.default_rng(1)
    S = noise.same_probability()
    for y in (0, 1):
        for z in (0, 1):
            classes = np.r_[np.full(n, y), np.full(n, z)]
            answers = noise.corrupt(classes, np.arange(n), n + np.arange(n), 2, rng)
            assert abs(answers.mean() - S[y, z]) < 0.0125


def test_the_same_seed_gives_the_same_answers():
    y, left, right = [0, 1, 1, 0], [0, 1, 2, 3], [1, 2, 3, 0]
    for noise in MODELS:
        first = noise.corrupt(y, left, right, random_state=3)
        np.testing.assert_array_equal(first, noise.corrupt(y, left, right, random_state=3))


def test_noise_models_are_values():
    for noise in MODELS:
        assert pickle.loads(pickle.dumps(noise)) == noise
        assert hash(noise) == hash(pickle.loads(pickle.dumps(noise)))
    assert repr(CleanPairs()) == "CleanPairs()"


@pytest.mark.parametrize("model", [PairingNoise, LabelingNoise])
def test_rates_that_sum_to_one_say_nothing(model):
    with pytest.raises(NotIdentifiable, match="at least 1"):
        model(0.6, 0.4)


def test_classes_must_match_the_matrix():
    with pytest.raises(ValueError, match="describes 2 classes, but 3 are needed"):
        LabelingNoise(0.1, 0.1).same_probability(3)
    with pytest.raises(ValueError, match="given for 2 classes"):
        MatrixNoise(np.eye(2)).same_probability(3)


def test_families_are_found_by_name_the_simplest_first():
    assert list(families(auto=True)) == ["pairing", "labeling", "free"]
    assert family("labeling") is LabelingNoise
    sizes = {
        name: [one.n_parameters(K) for K in (2, 4)] for name, one in families(auto=True).items()
    }
    assert sizes == {"pairing": [2, 2], "labeling": [2, 12], "free": [3, 10]}


def test_misspelt_names_and_missing_abilities():
    with pytest.raises(ValueError, match=r"noise='labelling': .*labeling"):
        family("labelling")
    with pytest.raises(ValueError, match=r"noise='Auto': .*auto"):
        family("Auto", also=["auto"])
    with pytest.raises(ValueError, match="MatrixNoise is not given by two rates"):
        family("free", needs="from_rates")


@pytest.mark.parametrize("noise", MODELS, ids=repr)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_permuted_noise_has_the_permuted_matrix(noise, order):
    expected = noise.same_probability()[np.ix_(order, order)]
    found = noise.permuted(order).same_probability()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


# ---------------------------------------------------------------- any matrix S


@pytest.mark.parametrize("n_classes", [2, 3])
def test_free_matrix_comes_back(exact_counts, n_classes):
    S = np.random.default_rng(1).uniform(0.05, 0.95, (n_classes, n_classes))
    S = (S + S.T) / 2
    found = MatrixNoise.fit(*exact_counts(S))
    assert_allclose(found.same_probability(n_classes), S, rtol=0, atol=1e-3)


def test_weak_prior_by_hand():
    same, different = np.array([[6.0, 3.0], [3.0, 4.0]]), np.array([[1.0, 7.0], [7.0, 9.0]])
    found = MatrixNoise.fit(same, different).same_probability()
    assert_allclose(found, [[14 / 17, 5 / 20], [5 / 20, 12 / 23]])
    nothing = MatrixNoise.fit(np.zeros((2, 2)), np.zeros((2, 2)))
    assert_allclose(nothing.same_probability(), [[0.8, 0.2], [0.2, 0.8]])


def test_clean_answers_stay_just_short_of_certainty(exact_counts):
    found = MatrixNoise.fit(*exact_counts(np.eye(2)))
    assert_allclose(found.same_probability(), [[0.999, 0.001], [0.001, 0.999]])


def test_permuted_entries_follow_their_classes():
    S = [[0.9, 0.1, 0.2], [0.1, 0.8, 0.3], [0.2, 0.3, 0.7]]
    found = MatrixNoise(S).permuted([2, 0, 1])
    assert found == MatrixNoise([[0.7, 0.2, 0.3], [0.2, 0.9, 0.1], [0.3, 0.1, 0.8]])


def group_counts(rates, answers, n_classes=3):
    """Counts of groups with rates (ρ_S, ρ_D), as many answers on same as on different pairs."""
    diagonal = np.eye(n_classes, dtype=bool)
    asked = np.where(diagonal, 1 / n_classes, 1 / (n_classes * (n_classes - 1)))
    S = np.array([np.where(diagonal, 1 - similar, flip) for similar, flip in rates])
    asked = asked * np.asarray(answers, dtype=float)[:, None, None]
    return asked * S, asked * (1 - S)


def test_group_errors_by_hand():
    same, different = group_counts([(0.1, 0.4), (0.5, 0.5)], [50, 8])
    wrong, total = group_errors(same, different)
    assert_allclose(wrong, [[5, 4], [20, 4]])
    assert_allclose(total, [[50, 8], [50, 8]])


def test_strength_by_hand():
    wrong, total, mean = np.array([6.0, 1.0, 4.0]), np.array([10.0, 10.0, 20.0]), 0.3
    spread = sum(
        (w - mean * t) ** 2 - mean * (1 - mean) * t for w, t in zip(wrong, total, strict=True)
    )
    variance = spread / sum(t * (t - 1) for t in total)
    expected = mean * (1 - mean) / variance - 1
    assert 2 < expected < 200
    assert strength(wrong, total, mean) == pytest.approx(expected)
    assert strength(np.array([0.0, 100.0]), np.array([100.0, 100.0]), 0.5) == 2
    assert strength(np.zeros(3), np.zeros(3), 0.2) == 200  # no answers at all


@pytest.mark.parametrize("expected", [5.0, 20.0, 80.0])
def test_strength_of_a_beta_crowd_comes_back(expected):
    """4,000 annotators, 60 answers each, rates Beta(m s, (1−m) s): s within a fifth."""
    rng, mean = np.random.default_rng(0), 0.3
    total = np.full(4000, 60.0)
    wrong = rng.binomial(60, rng.beta(mean * expected, (1 - mean) * expected, 4000))
    assert strength(wrong.astype(float), total, mean) == pytest.approx(expected, rel=0.2)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rates", [(0.1, 0.2), (0.35, 0.05), (0.45, 0.45)])
def test_pairing_rates_come_back(exact_counts, n_classes, rates):
    noise = PairingNoise(*rates)
    found = PairingNoise.fit(*exact_counts(noise.same_probability(n_classes)))
    assert_allclose((found.similar_flip, found.dissimilar_flip), rates, rtol=0, atol=1e-3)


def test_weak_prior_of_rates_by_hand():
    same, different = np.array([[6.0, 3.0], [3.0, 4.0]]), np.array([[1.0, 7.0], [7.0, 9.0]])
    found = PairingNoise.fit(same, different)
    assert found.similar_flip == pytest.approx((10 + 2) / (20 + 10))
    assert found.dissimilar_flip == pytest.approx((6 + 2) / (20 + 10))
    assert PairingNoise.fit(np.zeros((2, 2)), np.zeros((2, 2))) == PairingNoise(0.2, 0.2)


def test_reversed_answers_stay_just_short_of_no_information(exact_counts):
    S = 1 - PairingNoise(0.1, 0.2).same_probability()
    found = PairingNoise.fit(*exact_counts(S))
    assert found.similar_flip + found.dissimilar_flip == pytest.approx(1 - 2 * MARGIN)
    assert found.similar_flip / found.dissimilar_flip == pytest.approx(0.9 / 0.8, rel=1e-4)


def test_classes_are_exchangeable():
    for noise in (PairingNoise(0.1, 0.3), CleanPairs()):
        assert noise.permuted([2, 0, 1]) is noise


@pytest.mark.parametrize("rate", [-0.1, 1.0, 1.5, float("nan")])
def test_rates_outside_the_unit_interval(rate):
    with pytest.raises(ValueError, match=r"similar_flip=.* expected a number in \[0, 1\)"):
        PairingNoise(rate, 0.0)


@pytest.mark.parametrize("rate", ["a", None, [0.1, 0.2]])
def test_rates_that_are_no_numbers(rate):
    with pytest.raises(TypeError, match=r"similar_flip=.* is not a flip rate: expected a number"):
        PairingNoise(rate, 0.6)


@pytest.mark.parametrize(
    ("noise", "number"),
    [
        (PairingNoise(0.1, 0.2), None),
        (LabelingNoise(0.1, 0.2), 2),
        (LabelingNoise(flip=np.eye(3)), 3),
        (MatrixNoise(np.eye(4)), 4),
        (LabelingNoise(0.1, 0.2).then(PairingNoise(0.1, 0.2)), 2),
        (PairingNoise(0.1, 0.2).then(PairingNoise(0.1, 0.2)), None),
        (LevelNoise(np.stack([1 - np.eye(3), np.eye(3)])), 3),
    ],
    ids=repr,
)
def test_how_many_classes_a_noise_is_about(noise, number):
    assert noise.class_number == number
    assert len(noise.same_probability(number or 5)) == (number or 5)


# ---------------------------------------------------------------- after another noise


def test_labels_are_reported_before_they_are_compared():
    with pytest.raises(TypeError, match="cannot come second"):
        PairingNoise(0.1, 0.1).then(LabelingNoise(0.1, 0.1))
    with pytest.raises(TypeError, match="cannot come second"):
        ComposedNoise(PairingNoise(0.1, 0.1), LabelingNoise(0.1, 0.1))


def test_permuted_composition_keeps_both_noises():
    noise = LabelingNoise(0.1, 0.3, per="item").then(PairingNoise(0.05, 0.1))
    found = noise.permuted([1, 0])
    assert found.second == noise.second
    assert found.first.per == "item"
    swapped = noise.same_probability()[::-1, ::-1]
    assert_allclose(found.same_probability(), swapped, rtol=0, atol=1e-15)


SCALE = Scale(("1", "2", "3", "4"), "0", 2)
ONE, TWO = np.array([0.05, 0.1, 0.25, 0.55, 0.05]), np.array([0.5, 0.25, 0.1, 0.05, 0.1])
GRADES = np.where(np.eye(3), ONE[:, None, None], TWO[:, None, None])


def test_two_levels_are_the_families_of_yes_and_no():
    counts = np.random.default_rng(0).uniform(5, 90, (2, 3, 3))
    counts = counts + counts.swapaxes(1, 2)
    assert fit_table("pairing", counts, PLAIN) == PairingNoise.fit(counts[1], counts[0])
    assert fit_table("free", counts, PLAIN) == MatrixNoise.fit(counts[1], counts[0])
    assert_allclose(level_prior(PLAIN, one_class=True), [0.2, 0.8])
    assert_allclose(level_prior(PLAIN, one_class=False), [0.8, 0.2])


@pytest.mark.parametrize("name", ["pairing", "free"])
def test_a_table_comes_back_from_its_counts(name):
    found = fit_table(name, 1e7 * GRADES, SCALE).response(3)
    assert_allclose(found, GRADES, atol=1e-4)


def test_a_shared_row_is_a_count_with_a_weak_prior():
    counts = np.random.default_rng(1).integers(0, 50, (5, 2, 2)).astype(float)
    counts = counts + counts.swapaxes(1, 2)
    found = fit_table("pairing", counts, SCALE).response(2)
    said = counts[:, 0, 0] + counts[:, 1, 1]
    share = said + PSEUDO_ANSWERS * level_prior(SCALE, one_class=True)
    assert_allclose(found[:, 0, 0], share / share.sum(), atol=1e-9)


def test_couples_that_differ_keep_their_own_row_and_others_share_one():
    table = GRADES.copy()
    table[:, 0, 1] = table[:, 1, 0] = ONE  # people confuse these two
    free = fit_table("free", 1e4 * table, SCALE).response(3)
    assert_allclose(free, table, atol=0.02)
    few = np.random.default_rng(2).multinomial(8, TWO, (3, 3)).transpose(2, 0, 1).astype(float)
    few = few + few.swapaxes(1, 2)
    apart = fit_table("free", few, SCALE).response(3)
    raw = few / few.sum(axis=0)
    spread = [np.ptp(one[0][np.triu_indices(3, 1)]) for one in (apart, raw)]
    assert spread[0] < spread[1] / 3


def test_the_view_and_another_order():
    noise = LevelNoise(GRADES, SCALE)
    S = noise.same_probability(3)
    assert S[0, 0] == pytest.approx(0.8 / 0.95)
    assert S[0, 1] == pytest.approx(0.15 / 0.9)
    assert_allclose(same_view(GRADES, SCALE), S)
    table = GRADES.copy()
    table[:, 0, 0] = [0.1, 0.1, 0.1, 0.6, 0.1]
    turned = LevelNoise(table, SCALE).permuted([2, 1, 0]).response(3)
    assert_allclose(turned[:, 2, 2], table[:, 0, 0])


def test_drawn_levels_have_their_shares():
    y = np.repeat([0, 1, 2], 2)
    left, right = np.zeros(40_000, int), np.repeat([1, 2], 20_000)
    level = LevelNoise(GRADES, SCALE).draw_levels(y, left, right, random_state=0)
    for part, share in zip(np.split(level, 2), (ONE, TWO), strict=True):
        assert_allclose(np.bincount(part, minlength=5) / 20_000, share, atol=0.015)


@pytest.mark.parametrize(
    ("table", "scale", "message"),
    [
        (np.ones((2, 2)), PLAIN, r"shape \(2, 2\), expected \(L, K, K\)"),
        (np.full((3, 2, 2), 1 / 3), PLAIN, "levels has 3 tables, but the scale is"),
        (np.full((2, 2, 2), 0.4), PLAIN, "sum to one"),
        (np.array([[[0.5, 0.1], [0.5, 0.5]], [[0.5, 0.9], [0.5, 0.5]]]), PLAIN, "symmetric"),
    ],
)
def test_tables_that_are_refused(table, scale, message):
    with pytest.raises(ValueError, match=message):
        LevelNoise(table, scale)


def test_another_number_of_classes_is_refused():
    with pytest.raises(ValueError, match="given for 3 classes, but 2 are needed"):
        LevelNoise(GRADES, SCALE).response(2)
