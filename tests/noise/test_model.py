from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from noisypairs import CleanPairs, LabelingNoise, MatrixNoise, NotIdentifiable, PairingNoise
from noisypairs.noise import families, family, fixed

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


def test_fixed_noise_ignores_the_counts(exact_counts):
    noise = MatrixNoise([[0.9, 0.3], [0.3, 0.6]])
    fit = fixed(noise)
    assert fit(np.zeros((2, 2)), np.ones((2, 2))) is noise
    assert fit(*exact_counts(np.eye(2))) is noise


def test_families_are_found_by_name_the_simplest_first():
    assert list(families(auto=True)) == ["pairing", "labeling", "free"]
    assert family("labeling") is LabelingNoise
    sizes = {
        name: [one.n_parameters(K) for K in (2, 4)] for name, one in families(auto=True).items()
    }
    assert sizes == {"pairing": [2, 2], "labeling": [2, 12], "free": [3, 10]}


def test_misspelt_names_and_missing_abilities():
    with pytest.raises(ValueError, match=r"noise_model='labelling': .*labeling"):
        family("labelling")
    with pytest.raises(ValueError, match=r"noise_model='Auto': .*auto"):
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
