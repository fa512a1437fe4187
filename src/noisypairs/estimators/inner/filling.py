"""Missing numbers filled in where no estimator of the user's would see them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.impute import SimpleImputer

from noisypairs.algebra import Array


def filler_of(X: Any) -> SimpleImputer | None:
    """Return what fills gaps as the commands do; None for items that are not a table of numbers.

    A gap becomes the median of its column, and each column with gaps gets another that says where
    they were.

    >>> filler_of(np.array([[1.0, 5.0], [3.0, np.nan], [8.0, 7.0]])).statistics_
    array([3., 6.])
    """
    numbers = _numbers(X)
    if numbers is None or np.isinf(numbers).any():
        return None
    filler = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    return filler.fit(numbers)


def filled(filler: SimpleImputer | None, X: Any) -> Any:
    """Return X, shape (n, d), without gaps: X itself where neither it nor training items had any.

    >>> X = np.array([[1.0, 5.0], [3.0, np.nan], [8.0, 7.0]])
    >>> filled(filler_of(X), X)
    array([[1., 5., 0.],
           [3., 6., 1.],
           [8., 7., 0.]])
    """
    if filler is None:
        return X
    numbers = _numbers(X)
    whole = not filler.indicator_.features_.size
    if numbers is None or (whole and not np.isnan(numbers).any()):
        return X
    return filler.transform(numbers)


def _numbers(X: Any) -> Array | None:
    """Return a table of numbers as an array; None where it is none, or sparse."""
    if issparse(X):
        return None
    try:
        numbers: Array = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 2 and numbers.size else None
