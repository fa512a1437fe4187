"""Gaps filled in, against computations by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from noisypairs.estimators.inner.filling import filled, filler_of

HOLES = np.array([[1.0, np.nan, 5.0], [3.0, np.nan, np.nan], [8.0, np.nan, 7.0]])


def test_medians_and_where_the_gaps_were():
    expected = [[1, 0, 5, 1, 0], [3, 0, 6, 1, 1], [8, 0, 7, 1, 0]]  # an empty column is all zeros
    for X in (HOLES, pd.DataFrame(HOLES), HOLES.astype(np.float32)):
        np.testing.assert_array_equal(filled(filler_of(X), X), expected)


def test_items_without_gaps_stay_the_same_object():
    X = np.eye(3)
    assert filled(filler_of(X), X) is X
    np.testing.assert_array_equal(filled(filler_of(X), HOLES), np.nan_to_num(HOLES, nan=0.0))


@pytest.mark.parametrize("X", [csr_array(np.eye(2)), np.array([["red"]]), np.full((2, 2), np.inf)])
def test_what_is_no_table_of_finite_numbers_is_left_to_the_estimator(X):
    assert filler_of(X) is None
    assert filled(None, X) is X
