from __future__ import annotations

import pickle

import numpy as np
import pytest

from noisypairs import CleanPairs, LabelingNoise, MatrixNoise, NotIdentifiable, PairingNoise

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


def test_lies_that_stick_to_the_item_are_consistent():
    """With one report per item no triangle can hold exactly two "same" answers."""
    y = np.random.default_rng(0).integers(2, size=300)
    i, j, k = np.random.default_rng(1).permuted(np.tile(np.arange(300), (3, 1)), axis=1)
    ends = (np.r_[i, j, k], np.r_[j, k, i])
    for per, contradicts in (("item", False), ("occurrence", True)):
        noise = LabelingNoise(0.3, 0.2, per=per)
        answers = noise.corrupt(y, *ends, 2, random_state=5).reshape(3, 300)
        assert (answers.sum(axis=0) == 2).any() == contradicts


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


def test_binary_rates_and_flip_matrix_say_the_same():
    by_rates, by_matrix = LabelingNoise(0.1, 0.3), LabelingNoise(flip=[[0.7, 0.3], [0.1, 0.9]])
    np.testing.assert_allclose(
        by_rates.same_probability(), by_matrix.same_probability(), rtol=0, atol=1e-15
    )
    np.testing.assert_allclose(by_rates.flipped_prior(0.4), [0.46, 0.54], rtol=0, atol=1e-15)


@pytest.mark.parametrize("rate", [-0.1, 1.0, 1.5, float("nan")])
def test_rates_outside_the_unit_interval(rate):
    with pytest.raises(ValueError, match=r"similar_flip=.* expected a number in \[0, 1\)"):
        PairingNoise(rate, 0.0)
    with pytest.raises(ValueError, match="negative_flip"):
        LabelingNoise(0.0, rate)


@pytest.mark.parametrize("model", [PairingNoise, LabelingNoise])
def test_rates_that_sum_to_one_say_nothing(model):
    with pytest.raises(NotIdentifiable, match="at least 1"):
        model(0.6, 0.4)


def test_incomplete_or_double_labeling_noise():
    with pytest.raises(ValueError, match="needs positive_flip and negative_flip"):
        LabelingNoise(0.1)
    with pytest.raises(ValueError, match="not both"):
        LabelingNoise(0.1, 0.1, flip=np.eye(2))
    with pytest.raises(ValueError, match="row sums"):
        LabelingNoise(flip=[[0.5, 0.4], [0.0, 1.0]])
    with pytest.raises(ValueError, match="K×K"):
        LabelingNoise(flip=[[1.0]])
    with pytest.raises(ValueError, match="'occurrence' or 'item'"):
        LabelingNoise(0.1, 0.1, per="pair")


def test_classes_must_match_the_matrix():
    with pytest.raises(ValueError, match="describes 2 classes, asked for 3"):
        LabelingNoise(0.1, 0.1).same_probability(3)
    with pytest.raises(ValueError, match="given for 2 classes"):
        MatrixNoise(np.eye(2)).same_probability(3)


def test_labels_are_reported_before_they_are_compared():
    with pytest.raises(TypeError, match="cannot come second"):
        PairingNoise(0.1, 0.1).then(LabelingNoise(0.1, 0.1))
