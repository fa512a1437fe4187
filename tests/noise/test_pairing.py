from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from noisypairs import CleanPairs, ComposedNoise, LabelingNoise, PairingNoise
from noisypairs.noise.model import MARGIN


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rates", [(0.1, 0.2), (0.35, 0.05), (0.45, 0.45)])
def test_pairing_rates_come_back(exact_counts, n_classes, rates):
    noise = PairingNoise(*rates)
    found = PairingNoise.fit(*exact_counts(noise.same_probability(n_classes)))
    assert_allclose((found.similar_flip, found.dissimilar_flip), rates, rtol=0, atol=1e-3)


def test_weak_prior_by_hand():
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
