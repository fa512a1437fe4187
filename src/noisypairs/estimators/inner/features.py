"""An RBF kernel map of standardised columns, alone or beside the columns themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import _num_samples

from noisypairs.algebra import Array

#: Columns of a kernel map for 250,000 items or fewer, and the least for more: the map must fit.
N_COMPONENTS, LEAST_COMPONENTS = 200, 50


def kernel_columns(n_items: int, wanted: int = N_COMPONENTS) -> int:
    """Return how many columns a kernel map of so many items gets.

    Never more than half the items, so that folds have enough rows to draw them from; and beyond
    250,000 items fewer, so that the map takes 400 MB at a million of them.

    >>> [kernel_columns(n) for n in (100, 10_000, 500_000, 2_000_000)]
    [50, 200, 100, 50]
    """
    fitting = max(LEAST_COMPONENTS, 50_000_000 // max(n_items, 1))
    return max(1, min(wanted, n_items // 2, fitting))


def kernel_map(
    X: Any, random_state: int | None = None, n_components: int = N_COMPONENTS
) -> tuple[StandardScaler, Nystroem]:
    """Return two steps, not yet fitted: scale each column, then Nyström features of the RBF kernel.

    The kernel's width is 1/n_features, as suits columns of variance one; more columns than 200 cost
    time and did not gain accuracy (`kernel_columns` says when there are fewer).
    """
    components = kernel_columns(_num_samples(X), n_components)
    return (
        StandardScaler(with_mean=not issparse(X)),
        Nystroem(n_components=components, random_state=random_state),
    )


def beside_kernel(scaled: Any, *more: Array) -> Array:
    """Return standardised columns (n, d) beside their kernel map, and more if given, (n, d + …).

    The columns are divided by √d, so that both halves weigh alike, and cut at 10 deviations.
    """
    linear = scaled.toarray() if hasattr(scaled, "toarray") else scaled
    return np.column_stack([np.clip(linear, -10, 10) / np.sqrt(linear.shape[1]), *more])


def numeric_features(X: Any, n_components: int, seed: int) -> Array | None:
    """Return columns beside their kernel map, shape (n, m), or None where X is not numbers.

    Missing values become the column's mean: these features only serve to find a start. Where there
    are far more columns than kernel features, the kernel map is returned alone.
    """
    try:
        numbers = X if issparse(X) else np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        return None
    if not issparse(numbers):
        numbers = SimpleImputer(keep_empty_features=True).fit_transform(
            np.where(np.isinf(numbers), np.nan, numbers)
        )
    scale, expand = kernel_map(numbers, seed, n_components)
    scaled = scale.fit_transform(numbers)
    kernel = np.asarray(expand.fit_transform(scaled))
    return kernel if scaled.shape[1] > 4 * n_components else beside_kernel(scaled, kernel)
