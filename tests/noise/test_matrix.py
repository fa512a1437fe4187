from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from noisypairs import MatrixNoise


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
