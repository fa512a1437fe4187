"""What every pair classifier shares: input checks, class names, predictions on items and pairs."""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from noisypairs import metrics
from noisypairs.algebra import Array
from noisypairs.errors import ClassNamesWarning
from noisypairs.estimators.calls import said_before
from noisypairs.estimators.copies import warn_of_copies
from noisypairs.estimators.inner.filling import filled, filler_of
from noisypairs.estimators.order import GivenOrder, in_order
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Answers, Pairs

#: Log-odds go no further than those of this probability.
CERTAIN = 1e-6

Positive = Literal["minority", "majority"] | None


def one_thread() -> AbstractContextManager[Any]:
    """Limit OpenMP and BLAS to one thread for a while: every `fit` runs in it.

    Sums over several threads round differently. In one they are the same on any machine, and small
    matrices are faster.

    >>> from threadpoolctl import threadpool_info
    >>> with one_thread():
    ...     max(pool["num_threads"] for pool in threadpool_info())
    1
    """
    limit: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1)
    return limit


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:  # noqa: ARG001 -- a new module, a new look
    """Return the libraries with threads that are loaded: finding them takes milliseconds."""
    return ThreadpoolController()


class PairClassifier(ClassifierMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of items that learns from pairs.

    Fitted attributes: ``classes_`` (K,), ``noise_`` (the noise model used), ``prior_``
    (float for two classes, P(classes_[1]); else (K,)), ``n_features_in_``, ``feature_names_in_``.
    Without an ``estimator``, missing numbers are filled in with the column's median, ``filler_``,
    and the default one sees beside them which were missing. Subclasses define `fit` and
    `_class_proba`. As a transformer it turns items into their log-odds, so that it can stand in the
    middle of a pipeline.
    """

    classes_: NDArray[Any]
    noise_: NoiseModel
    prior_: Any

    def __sklearn_tags__(self) -> Tags:
        """Say what scikit-learn asks: items may be sparse; two classes unless told otherwise."""
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = getattr(self, "n_classes", 2) != 2
        return tags

    @abstractmethod
    def fit(self, X: Any, pairs: Pairs) -> Self:
        """Learn from items ``X``, shape (n_items, n_features), and pairs of them."""

    @abstractmethod
    def _class_proba(self, X: Any) -> Array:
        """Return P(class | x), shape (n, K), columns as in ``classes_``."""

    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x), shape (n_items, K), columns in the order of ``classes_``."""
        return self._class_proba(self._check_items(X))

    def decision_function(self, X: Any) -> Array:
        """Return P(classes_[1] | x) − ½ for two classes, shape (n,); else P(class | x), (n, K)."""
        proba = self.predict_proba(X)
        margin: Array = proba[:, 1] - 0.5 if proba.shape[1] == 2 else proba
        return margin

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of each item, shape (n_items,)."""
        score = self.decision_function(X)
        winner = (score > 0).astype(np.intp) if score.ndim == 1 else score.argmax(axis=1)
        names: NDArray[Any] = self.classes_[winner]
        return names

    def transform(self, X: Any) -> Array:
        """Return the log-odds of the classes, log P(class | x)/(1 − P(class | x)).

        Of two classes those of ``classes_[1]``, shape (n, 1); else one column for each, (n, K).
        Probabilities nearer to 0 or 1 than `CERTAIN` count as that, so that none is infinite.
        """
        proba = np.clip(self.predict_proba(X), CERTAIN, 1.0 - CERTAIN)
        odds: Array = np.log(proba) - np.log1p(-proba)
        return odds[:, 1:] if proba.shape[1] == 2 else odds

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """Return the names of the columns of `transform`: ``log_odds_`` and the class."""
        check_is_fitted(self)
        named = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        return np.array([f"log_odds_{name}" for name in named], dtype=object)

    def same_proba(self, X: Any, pairs: Pairs | ArrayLike) -> Array:
        """Return P(both items are of one class) for each pair, shape (n_pairs,).

        ``pairs`` is a `Pairs` (its answers are not looked at) or positions of shape (n_pairs, 2).
        """
        eta = self.predict_proba(X)
        left, right = _ends(pairs, len(eta))
        same: Array = np.einsum("nk,nk->n", eta[left], eta[right])
        return same

    def predict_same(self, X: Any, pairs: Pairs | ArrayLike) -> NDArray[np.bool_]:
        """Return whether the two items of each pair are predicted to be of one class."""
        predicted = self.predict(X)
        left, right = _ends(pairs, len(predicted))
        same: NDArray[np.bool_] = predicted[left] == predicted[right]
        return same

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy if ``y`` holds classes; the pair log-likelihood if it is `Pairs`.

        The latter is the mean of log P(answer | x, x') under the fitted noise: it needs no clean
        label and can be compared across rates, weights and estimators on held-out items.
        """
        if isinstance(y, Answers):
            return metrics.pair_log_likelihood(y.to_pairs(), self.predict_proba(X), self.noise_)
        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    #: Fitted attributes with one entry per item or per answer.
    _of_items: tuple[str, ...] = ()
    _of_answers: tuple[str, ...] = ()

    def _check_training(self, X: Any, pairs: Any) -> tuple[Any, Pairs, GivenOrder]:
        """Return what `_check_together` does, and warn of copied answers."""
        checked = self._check_together(X, pairs)
        warn_of_copies(checked[1], stacklevel=4)
        return checked

    def _check_together(self, X: Any, pairs: Any) -> tuple[Any, Pairs, GivenOrder]:
        """Return X and pairs in an order of their own, and the order given: see `_restore_order`.

        They are checked first, as `_check_input` does.
        """
        return in_order(*self._check_input(X, pairs))

    def _check_input(self, X: Any, pairs: Any) -> tuple[Any, Pairs]:
        """Return X, without missing values if need be, and pairs, if they belong together."""
        if not isinstance(pairs, Answers):
            raise TypeError(
                f"{type(self).__name__} learns from noisypairs.Pairs, got "
                f"{type(pairs).__name__}: build them with Pairs(left, right, same, "
                "n_items=len(X)), Pairs.from_frame or Pairs.from_tuples"
            )
        if not self._leaves_in_place(pairs):
            pairs = pairs.to_pairs()
        X = _table(X)
        if _num_samples(X) != pairs.n_items:
            raise ValueError(
                f"X has {_num_samples(X)} rows, but the pairs are about {pairs.n_items} items: "
                "row i of X must be item i. Give Pairs n_items=len(X) if the last items are in no "
                "pair"
            )
        if pairs.without_self_pairs().n_pairs == 0:
            raise ValueError(
                f"there is no pair of two distinct items (n_samples={pairs.n_items}): nothing to "
                "learn from"
            )
        X = validate_data(self, X, skip_check_array=True)
        if hasattr(self, "estimator"):  # one given by the user sees X as it is
            self.filler_ = filler_of(X) if self.estimator is None else None
            X = filled(self.filler_, X)
        # Not all kinds of sparse arrays take rows.
        return X.tocsr() if hasattr(X, "tocsr") else X, pairs

    def _leaves_in_place(self, pairs: Answers) -> bool:  # noqa: ARG002 -- subclasses need it
        """Whether a `PairTable` is only counted, sampled or streamed; else it is loaded."""
        return False

    def _restore_order(self, given: GivenOrder) -> None:
        """Put what was fitted for each item and for each answer into the order given."""
        for name in self._of_items:
            setattr(self, name, given.of_items(getattr(self, name)))
        for name in self._of_answers:
            setattr(self, name, given.of_answers(getattr(self, name)))

    def _check_items(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, _table(X), skip_check_array=True, reset=False)
        return filled(getattr(self, "filler_", None), X)


def label_names(pairs: Pairs, n_classes: int, every: bool = True) -> NDArray[Any] | None:
    """Return the sorted class names in ``pairs.labels``, or None where no item is labelled.

    ``every`` class must have a label, unless their number is open.
    """
    if not pairs.labels:
        return None
    names = np.unique(np.array(list(pairs.labels.values())))
    if len(names) > n_classes or (every and len(names) < n_classes):
        raise ValueError(
            f"the labelled items name {class_count(len(names))} "
            f"({', '.join(map(str, names[:10]))}), but the model has {n_classes}: give at least "
            "one label of every class, or none"
        )
    return names


def class_count(number: int) -> str:
    """Return "1 class" or "2 classes".

    >>> class_count(1), class_count(3)
    ('1 class', '3 classes')
    """
    return f"{number} class{'es' * (number != 1)}"


def all_names(names: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return the names with one for every class that no label names: numbers go on, words count.

    >>> all_names(np.array([3, 7]), 3), all_names(np.array(["cat", "dog"]), 3)
    (array([3, 7, 8]), array(['cat', 'dog', 'unnamed 1'], dtype='<U9'))
    """
    more = range(1, n_classes - len(names) + 1)
    if not more:
        return names
    if np.issubdtype(names.dtype, np.integer):
        return np.concatenate([names, names[-1] + np.array(more)])
    return np.concatenate([names.astype(str), [f"unnamed {k}" for k in more]])


def known_classes(pairs: Pairs, names: NDArray[Any]) -> dict[int, int]:
    """Return {item: position of its label in the sorted ``names``} for the labelled items."""
    codes = np.searchsorted(names, np.array(list(pairs.labels.values())))
    return dict(zip(pairs.labels, codes.tolist(), strict=True))


def match_labels(proba: Array, pairs: Pairs, names: NDArray[Any]) -> NDArray[np.intp]:
    """Return, for each name, the column of ``proba`` that fits the labelled items best.

    Columns that fit no name follow in their own order.
    """
    known = known_classes(pairs, names)
    evidence = np.zeros((len(names), proba.shape[1]))
    np.add.at(evidence, list(known.values()), np.log(np.clip(proba[list(known)], 1e-6, None)))
    named = linear_sum_assignment(evidence, maximize=True)[1]
    others = np.setdiff1d(np.arange(proba.shape[1]), named)
    return np.concatenate([named, others]).astype(np.intp)


def order_by_size(prior: ArrayLike, positive: Positive) -> NDArray[np.intp]:
    """Return the groups in the order of their new names 0, 1, …: rising size, or as asked.

    ``positive="minority"`` makes the smaller of two groups class 1, ``"majority"`` the larger;
    None does the latter and says so in a `ClassNamesWarning`.
    """
    order = np.argsort(np.asarray(prior), kind="stable").astype(np.intp)
    if positive is None:
        warn_names(len(order))
    elif positive not in ("minority", "majority"):
        raise ValueError(f"positive={positive!r}: expected None, 'minority' or 'majority'")
    elif len(order) > 2:
        raise ValueError("positive= names one of two classes; for more give labels to Pairs")
    return order[::-1] if positive == "minority" else order


def warn_unnamed(names: NDArray[Any]) -> None:
    """Say that some groups have no labelled item, and what they are called; once per call."""
    if said_before("unnamed"):
        return
    warnings.warn(
        f"no labelled item is in {class_count(len(names))} that the answers show: called "
        f"{', '.join(map(str, names))}. Label an item of each to name them",
        ClassNamesWarning,
        stacklevel=4,
    )


def warn_names(n_classes: int) -> None:
    """Say that pairs cannot name classes and how the names were chosen; once per call."""
    if said_before("names"):
        return
    largest = "1 is the larger group" if n_classes == 2 else "in rising order of size"
    warnings.warn(
        f"pairs cannot tell which group is which class: the classes are called 0 to "
        f"{n_classes - 1}, {largest}. Give Pairs a label per class (labels={{item: class}}), or "
        "positive='minority' or 'majority', to name them",
        ClassNamesWarning,
        stacklevel=4,
    )


def _table(X: Any) -> Any:
    """Return items as something with a shape; one row of features is not a table of items."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    if len(X.shape) == 1:
        raise ValueError(
            f"expected a table of items, shape (n_items, n_features), got shape {X.shape}. Reshape "
            "your data: X.reshape(1, -1) is one item, X.reshape(-1, 1) one feature"
        )
    return X


def _ends(pairs: Pairs | ArrayLike, n_items: int) -> tuple[NDArray[Any], NDArray[Any]]:
    if isinstance(pairs, Answers):
        pairs = pairs.to_pairs()
        if pairs.n_items != n_items:
            raise ValueError(f"X has {n_items} rows, but the pairs are about {pairs.n_items} items")
        return pairs.left, pairs.right
    positions = np.asarray(pairs)
    if positions.ndim != 2 or positions.shape[1] != 2:
        raise ValueError(f"pairs has shape {positions.shape}, expected Pairs or (n_pairs, 2)")
    return positions[:, 0], positions[:, 1]
