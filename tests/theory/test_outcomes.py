"""Every way to an answer, against the noise models and a simulation."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs import algebra, sample_pairs, theory
from noisypairs.noise import CleanPairs, LabelingNoise, NoiseModel, PairingNoise

PRIOR = 0.35
MODELS = [
    ({}, CleanPairs()),
    ({"pairing": (0.1, 0.2)}, PairingNoise(0.1, 0.2)),
    ({"labeling": (0.1, 0.2)}, LabelingNoise(0.1, 0.2)),
    (
        {"labeling": (0.1, 0.2), "pairing": (0.05, 0.3)},
        LabelingNoise(0.1, 0.2).then(PairingNoise(0.05, 0.3)),
    ),
]


@pytest.mark.parametrize(("rates", "noise"), MODELS)
def test_outcomes_sum_to_the_noise_matrix(rates: dict, noise: NoiseModel) -> None:
    found = np.zeros((2, 2, 2))
    for outcome in theory.outcomes(PRIOR, **rates):
        found[int(outcome.same), *outcome.classes] += outcome.probability
    pi = np.array([1 - PRIOR, PRIOR])
    np.testing.assert_allclose(found.sum(axis=0), np.outer(pi, pi), rtol=0, atol=1e-12)
    S = noise.same_probability()
    np.testing.assert_allclose(found[1] / np.outer(pi, pi), S, rtol=0, atol=1e-12)


def test_the_noise_enters_where_the_model_says() -> None:
    assert all(o.reports == o.classes for o in theory.outcomes(PRIOR, pairing=(0.1, 0.2)))
    for outcome in theory.outcomes(PRIOR, labeling=(0.1, 0.2)):
        assert outcome.same == (outcome.reports[0] == outcome.reports[1])
    both_lie = [o for o in theory.outcomes(PRIOR, labeling=(0.1, 0.2)) if o.reports == (1, 0)]
    assert any(o.classes == (0, 1) and not o.wrong for o in both_lie)  # two lies give the truth


def test_the_share_of_wrong_answers_is_that_of_a_simulation() -> None:
    noise = LabelingNoise(0.1, 0.2)
    y = (np.arange(2000) < 700).astype(int)
    pairs = sample_pairs(y, 200_000, noise, random_state=0)
    wrong = np.mean((y[pairs.left] == y[pairs.right]) != pairs.same)
    expected = sum(o.probability for o in theory.outcomes(PRIOR, labeling=(0.1, 0.2)) if o.wrong)
    assert abs(wrong - expected) < 5 * np.sqrt(0.25 / 200_000)
    same = sum(o.probability for o in theory.outcomes(PRIOR, labeling=(0.1, 0.2)) if o.same)
    assert same == pytest.approx(algebra.same_rate(noise.same_probability(), PRIOR), abs=1e-12)
