"""What classifiers see of the items, learnt without any label: scaled, as a kernel map, in bins."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples, check_array, check_is_fitted, validate_data

from noisypairs.algebra import Array

#: Columns of a kernel map for 250,000 items or fewer, and the least for more: the map must fit.
N_COMPONENTS, LEAST_COMPONENTS = 200, 50
#: Scaled columns are cut at this many deviations.
FARTHEST = 10.0
#: What the columns themselves weigh beside their kernel map.
LINEAR = 0.5


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


def beside_kernel(scaled: Any, *more: Array, share: float = LINEAR) -> Array:
    """Return standardised columns (n, d) beside their kernel map, and more if given, (n, d + …).

    The columns are divided by √d, so that both halves would weigh alike, multiplied by their
    ``share``, and cut at 10 deviations.
    """
    linear = scaled.toarray() if hasattr(scaled, "toarray") else scaled
    return np.column_stack([np.clip(linear, -10, 10) * (share / np.sqrt(linear.shape[1])), *more])


class ItemTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that looks at the items only, and never at their classes."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what `fit_transform` learns."""
        self.fit_transform(X, y)
        return self


class FiniteNumbers(ItemTransformer):
    """A table of numbers as an array, with the column's mean where they are missing or infinite.

    Infinite numbers of new items are refused.

    >>> FiniteNumbers().fit_transform([[1.0], [np.nan], [3.0]]).ravel().tolist()
    [1.0, 2.0, 3.0]
    """

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the mean of every column, zero where nothing is known, and return the numbers."""
        del y  # scikit-learn hands it to every step
        numbers = np.asarray(X, dtype=np.float64)
        known = np.isfinite(numbers)
        total = np.where(known, numbers, 0.0).sum(axis=0)
        self.mean_ = total / np.maximum(known.sum(axis=0), 1)
        return self._filled(numbers)

    def transform(self, X: Any) -> Array:
        """Return the numbers of new items, shape (n, d)."""
        check_is_fitted(self)
        return self._filled(check_array(X, dtype=np.float64, ensure_all_finite="allow-nan"))

    def _filled(self, numbers: Array) -> Array:
        return np.where(np.isfinite(numbers), numbers, self.mean_)


class TailScaler(ItemTransformer):
    """Standardise columns, with long tails drawn in: linear about the median, logarithmic beyond.

        z = 3 asinh((x − median) / 3s),   s the interquartile range of a normal with deviation 1,

    then centred, divided by its deviation, and cut at `FARTHEST`. A column of few distinct values
    may have no such range: s is then its deviation.

    >>> TailScaler().fit_transform(np.array([[1.0], [2.0], [3.0], [1e6]])).round(1).ravel().tolist()
    [-0.6, -0.6, -0.6, 1.7]
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find median, range, mean and deviation of every column."""
        del y  # scikit-learn hands it to every step
        X = validate_data(self, X, dtype=np.float64)
        self.centre_ = np.median(X, axis=0)
        spread = np.subtract(*np.percentile(X, [75, 25], axis=0)) / 1.349
        deviation = X.std(axis=0)
        spread = np.where(spread > 1e-3 * deviation, spread, deviation)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        drawn_in = self._drawn_in(X)
        self.mean_, self.deviation_ = drawn_in.mean(axis=0), drawn_in.std(axis=0)
        self.deviation_[self.deviation_ == 0] = 1.0
        return self

    def _drawn_in(self, X: Array) -> Array:
        return np.asarray(3.0 * np.arcsinh((X - self.centre_) / (3.0 * self.scale_)))

    def transform(self, X: Any) -> Array:
        """Return the scaled columns, shape (n, d)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        scaled = (self._drawn_in(X) - self.mean_) / self.deviation_
        return np.asarray(np.clip(scaled, -FARTHEST, FARTHEST))


class KernelColumns(ItemTransformer):
    """Standardised columns beside their RBF kernel map; the map alone where columns are far more.

    >>> KernelColumns(n_components=3).fit_transform(np.eye(8)[:, :2]).shape
    (8, 5)
    """

    def __init__(self, n_components: int = N_COMPONENTS, random_state: int | None = None) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit scale and kernel map, and return the columns, shape (n, m)."""
        del y  # scikit-learn hands it to every step
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr")
        scaler, self.kernel_ = kernel_map(X, self.random_state, self.n_components)
        self.scaler_ = scaler if issparse(X) else TailScaler()
        scaled = self.scaler_.fit_transform(X)
        return self._beside(scaled, np.asarray(self.kernel_.fit_transform(scaled)))

    def transform(self, X: Any) -> Array:
        """Return the columns, shape (n, m)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, accept_sparse="csr", reset=False)
        scaled = self.scaler_.transform(X)
        return self._beside(scaled, np.asarray(self.kernel_.transform(scaled)))

    def _beside(self, scaled: Any, kernel: Array) -> Array:
        return kernel if scaled.shape[1] > 4 * self.n_components else beside_kernel(scaled, kernel)


class QuantileBins(ItemTransformer):
    """Every column as the number of its quantile bin: all that boosted trees look at.

    Trees find bins by themselves, but for every fit anew, and slowly where items have weights.
    Missing values stay missing. Neighbouring columns of two values, of which no item has two at
    once, such as one-hot columns, become one at the end: the number of the column that is on, from
    1, or 0. Trees see as much in it, and take a fraction of the time.

    >>> QuantileBins().fit_transform([[1.0], [2.0], [30.0], [np.nan]])[:, 0]
    array([ 0.,  1.,  2., nan])
    >>> QuantileBins().fit_transform([[1, 0, 7], [0, 1, 8], [0, 0, 9]]).tolist()
    [[0.0, 1.0], [1.0, 2.0], [2.0, 0.0]]
    """

    def __init__(self, n_bins: int = 128) -> None:
        self.n_bins = n_bins

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the edges of the bins of every column, and return the bins, as `transform` does."""
        del y  # scikit-learn hands it to every step
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        if self.n_bins < 4:
            raise ValueError(f"n_bins={self.n_bins!r}: expected at least 4")
        self.edges_ = [_edges(column[~np.isnan(column)], self.n_bins) for column in X.T]
        binned = self._binned(X)
        self.bundles_ = _exclusive(binned, self.edges_, self.n_bins)
        return self._bundled(binned)

    def transform(self, X: Any) -> Array:
        """Return the bins as floats, (n, d) where no columns become one."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        return self._bundled(self._binned(X))

    def _bundled(self, binned: Array) -> Array:
        """Return the bins with every bundle as one column, at the end."""
        if not self.bundles_:
            return binned
        ones = [np.zeros(len(binned)) for _ in self.bundles_]
        for bundle, one in zip(self.bundles_, ones, strict=True):
            for number, j in reversed(list(enumerate(bundle, start=1))):
                one[binned[:, j] == 1] = number
        return np.column_stack([np.delete(binned, np.concatenate(self.bundles_), axis=1), *ones])

    def _binned(self, X: Array) -> Array:
        binned = np.empty(X.shape)
        for j, edges in enumerate(self.edges_):
            binned[:, j] = np.searchsorted(edges, X[:, j], side="right")
        binned[np.isnan(X)] = np.nan
        return binned


def _exclusive(binned: Array, edges: Sequence[Array], n_bins: int) -> list[list[int]]:
    """Return runs of columns of two values, numbered 0 and 1, of which each item has one at most.

    Columns with missing values are left alone, and so is a run of one.
    """
    runs: list[list[int]] = [[]]
    taken = np.zeros(len(binned), dtype=bool)
    for j, column in enumerate(binned.T):
        two = len(edges[j]) == 1 and not np.isnan(column).any()
        on = column == 1
        if not two or (taken & on).any() or len(runs[-1]) == n_bins - 1:
            runs.append([])
            taken = np.zeros(len(binned), dtype=bool)
        if two:
            runs[-1].append(j)
            taken |= on
    return [run for run in runs if len(run) > 1]


def _edges(values: Array, n_bins: int) -> Array:
    """Return the edges of at most so many bins; few values have one between any two of them.

    Half of the edges are quantiles of the items, half of the distinct values: where one value is
    that of most items, the first alone would all fall on it.
    """
    distinct = np.unique(values)
    if len(distinct) <= n_bins:
        return np.asarray((distinct[1:] + distinct[:-1]) / 2)
    inner = np.linspace(0, 1, n_bins // 2 + 1)[1:-1]
    return np.union1d(np.quantile(values, inner), np.quantile(distinct, inner))


def as_rows(X: Any) -> Any:
    """Return items of any shape, such as images (n, 8, 8), as rows of numbers, (n, 64).

    >>> as_rows(np.zeros((5, 8, 8))).shape
    (5, 64)
    """
    return X.reshape(len(X), -1) if len(getattr(X, "shape", ())) > 2 else X


def finite_numbers(X: Any) -> Any:
    """Return X, if it holds numbers, with the column's mean where they are missing; or None.

    Where nothing is missing, X itself is returned. Items of another shape, such as images, become
    rows of numbers.
    """
    if issparse(X):
        return X
    numbers = as_rows(_floats(X))
    if numbers is None or np.isfinite(numbers).all():
        return numbers
    return FiniteNumbers().fit_transform(numbers)


def numeric_features(X: Any, n_components: int, seed: int) -> Array | None:
    """Return `KernelColumns` of X, shape (n, m), or None where X is not numbers.

    Missing values become the column's mean: these features only serve to find a start.
    """
    numbers = finite_numbers(X)
    return None if numbers is None else KernelColumns(n_components, seed).fit_transform(numbers)


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


def _floats(X: Any) -> Array | None:
    """Return X as an array of numbers; None where it holds others, or is sparse."""
    try:
        return None if issparse(X) else np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        return None


def _numbers(X: Any) -> Array | None:
    """Return a table of numbers as an array; None where it is none, or sparse."""
    numbers = _floats(X)
    return numbers if numbers is not None and numbers.ndim == 2 and numbers.size else None


#: Where scikit-learn keeps transformers that look at the items only.
LABEL_FREE = (
    "sklearn.preprocessing",
    "sklearn.impute",
    "sklearn.decomposition",
    "sklearn.kernel_approximation",
    "sklearn.random_projection",
)


class PreparedItems:
    """Items as the classifiers see them: what needs no labels is made once and shared.

    A scale or a kernel map of all items does not know the beliefs of any, so probabilities stay
    out of fold; and every fold, round and candidate can use the same.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> items = PreparedItems([[1.0], [3.0]])
    >>> front, learner, seen = items.split(make_pipeline(StandardScaler(), LogisticRegression()))
    >>> learner, seen.tolist()
    (LogisticRegression(), [[-1.0], [1.0]])
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self._made: dict[str, tuple[Pipeline, Any]] = {}

    def split(self, estimator: Any) -> tuple[Pipeline | None, Any, Any]:
        """Return the fitted front of an estimator or None, the rest, and the items it sees."""
        steps = estimator.steps if isinstance(estimator, Pipeline) else []
        number = 0
        while number < len(steps) - 1 and _label_free(steps[number][1]):
            number += 1
        if not number:
            return None, estimator, self.X
        front = Pipeline(steps[:number])
        rest = steps[number][1] if number == len(steps) - 1 else Pipeline(steps[number:])
        fitted, seen = self.through(front)
        return fitted, rest, seen

    def through(self, front: Pipeline) -> tuple[Pipeline, Any]:
        """Return a front, fitted, and the items after it."""
        # In full: NumPy leaves out the middle of long arrays, and digits.
        with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
            key = repr([step.get_params() | {"": type(step)} for _, step in front.steps])
        if key not in self._made:
            fitted = Pipeline([(name, clone(step)) for name, step in front.steps])
            seen = fitted.fit_transform(self.X)
            self._made[key] = fitted, seen
        return self._made[key]


def joined(front: Pipeline | None, estimator: Any, model: Any) -> Any:
    """Return the whole of a fitted front and the fitted rest of an estimator."""
    if front is None:
        return model
    last = "classes" if estimator is None else estimator.steps[-1][0]
    rest = model.steps if isinstance(model, Pipeline) else [(last, model)]
    return Pipeline([*front.steps, *rest])


def _label_free(step: Any) -> bool:
    if isinstance(step, ItemTransformer):
        return True
    module = type(step).__module__.startswith(LABEL_FREE)
    return module and not get_tags(step).target_tags.required
