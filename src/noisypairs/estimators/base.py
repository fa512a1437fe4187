"""What every pair classifier shares: input checks, class names, predictions on items and pairs.

*One order of items and answers, whatever order they were given in.* Learners draw at random: folds,
starts, permutations of the answers. Draws go by position, so the same data in another order would
give another model. Here the data alone decide the order (`in_order`). Items are ranked by a fixed
random projection of their rows, and the ranks are permuted, always in the same way. Ranks survive
rounding: a scaler that added up the same items in another order, or with more threads, leaves them
as they are. A hash would not survive it.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import lru_cache
from inspect import signature
from types import FrameType
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from noisypairs import metrics
from noisypairs.algebra import Array
from noisypairs.errors import (
    ClassNamesWarning,
    CopiedAnswersWarning,
    WeakEstimatorWarning,
    did_you_mean,
    warn_user,
)
from noisypairs.estimation.heldout import Gain
from noisypairs.estimators.inner.features import as_rows, filled, filler_of
from noisypairs.noise import NoiseModel, family
from noisypairs.noise.model import Ability
from noisypairs.pairs import Answers, Pairs
from noisypairs.pairs.counts import some_pairs
from noisypairs.pairs.groups import Hashes, look_copied, mixed
from noisypairs.pairs.ids import order_by_ids
from noisypairs.pairs.pairs import check_couples, check_n_items, in_memory, keys_of, sorted_answers

#: Numbers in features are smaller: the squares of larger ones, and sums of them, are not finite.
LARGEST = 1e100
#: Log-odds go no further than those of this probability.
CERTAIN = 1e-6

#: The families of the package; `noisypairs.noise.families` has those of users too.
NoiseName = Literal["auto", "pairing", "labeling", "free"]
ClassOrder = Literal["rising", "falling"] | Sequence[Hashable] | None


@contextmanager
def undisturbed() -> Iterator[None]:
    """Use one thread of OpenMP and BLAS, and record no inner fit: every `fit` runs in it.

    Sums over several threads round differently. In one they are the same on any machine, and small
    matrices are faster. MLflow's autologging would take every inner estimator for a result.

    >>> from threadpoolctl import threadpool_info
    >>> with undisturbed():
    ...     max(pool["num_threads"] for pool in threadpool_info())
    1
    """
    with ExitStack() as stack:
        stack.enter_context(_libraries(len(sys.modules)).limit(limits=1))
        mlflow = sys.modules.get("mlflow.utils.autologging_utils")
        if mlflow is not None and not _UNRECORDED.get():  # its switch is not for nested use
            stack.enter_context(mlflow.disable_autologging())
            stack.callback(_UNRECORDED.reset, _UNRECORDED.set(True))
        yield


#: Whether autologging is off already, by a fit that this one is inside of.
_UNRECORDED: ContextVar[bool] = ContextVar("_UNRECORDED", default=False)


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
    names_known_: bool = True

    #: Former names of parameters, which work for one version.
    _former: tuple[str, ...] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        """Leave former names out of the signature, which scikit-learn reads."""
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            whole = signature(cls.__init__)
            kept = [one for one in whole.parameters.values() if one.kind != one.VAR_KEYWORD]
            cls.__init__.__signature__ = whole.replace(parameters=kept)  # type: ignore[attr-defined]

    def _take_former(self, given: Mapping[str, Any]) -> None:
        """Set parameters that were given by a former name, with a `FutureWarning`."""
        for name, value in given.items():
            if name not in self._former:
                known = self.get_params(deep=False)
                raise TypeError(
                    f"{type(self).__name__} has no parameter {name!r}: {did_you_mean(name, known)}"
                )
            now = self._now_called(name, value)
            instead = ", ".join(f"{key}={one!r}" for key, one in now.items())
            warn_user(
                f"{type(self).__name__}({name}=...) goes away in the next version: "
                + (f"write {instead}" if now else "leave it out"),
                FutureWarning,
            )
            super().set_params(**now)

    def _now_called(self, name: str, value: Any) -> dict[str, Any]:
        """Return the parameters that a former one, ``name``, has become."""
        if name == "positive":
            orders = {"majority": "rising", "minority": "falling"}
            return {"class_order": orders.get(value, value)}
        if name == "noise_model":
            given = isinstance(getattr(self, "noise", None), NoiseModel)
            return {} if given else {"noise": value}
        raise NotImplementedError(name)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, by their names or, for one version, their former ones."""
        former = {name: params.pop(name) for name in list(params) if name in self._former}
        super().set_params(**params)
        self._take_former(former)
        return self

    def _check_noise(self, also: Sequence[str] = (), needs: Ability = "fit") -> None:
        """Refuse a noise that is no model and no family of models."""
        noise = getattr(self, "noise")  # noqa: B009 -- k-means has none
        if noise == "estimate":
            warn_user(
                "noise='estimate' goes away in the next version: leave it out, or write a family, "
                "noise='pairing'",
                FutureWarning,
            )
        elif not isinstance(noise, NoiseModel) and noise not in also:
            family(noise, needs, also)

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
        left, right = _ends(X, pairs, len(eta))
        same: Array = np.einsum("nk,nk->n", eta[left], eta[right])
        return same

    def predict_same(self, X: Any, pairs: Pairs | ArrayLike) -> NDArray[np.bool_]:
        """Return whether the two items of each pair are predicted to be of one class."""
        predicted = self.predict(X)
        left, right = _ends(X, pairs, len(predicted))
        same: NDArray[np.bool_] = predicted[left] == predicted[right]
        return same

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy if ``y`` holds classes; the pair log-likelihood if it is `Pairs`.

        Where nothing named the classes (``names_known_`` is False) it is the accuracy up to class
        names, and a `ClassNamesWarning` says so where that differs.

        The latter is the mean of log P(answer | x, x') under the fitted noise: it needs no clean
        label and can be compared across rates, weights and estimators on held-out items.
        """
        if isinstance(y, Answers):
            y = aligned(X, y)
            return metrics.pair_log_likelihood(in_memory(y), self.predict_proba(X), self.noise_)
        predicted = self.predict(X)
        if self.names_known_:
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        exact = float(np.average(np.asarray(y) == predicted, weights=weight))
        matched = metrics.accuracy_up_to_names(y, predicted, sample_weight)
        if matched > exact:
            warn_user(
                "nothing named the classes, so the score is the accuracy up to class names "
                f"({matched:.3f}; {exact:.3f} with the names as they are)",
                ClassNamesWarning,
            )
        return matched

    #: Whether answers of several levels count as such; others see them as yes or no.
    _takes_levels = False
    #: Fitted attributes with one entry per item or per answer.
    _of_items: tuple[str, ...] = ()
    _of_answers: tuple[str, ...] = ()

    def _check_training(self, X: Any, pairs: Any) -> tuple[Any, Pairs, GivenOrder]:
        """Return what `_check_together` does, and warn of copied answers."""
        checked = self._check_together(X, pairs)
        warn_of_copies(checked[1])
        return checked

    def _check_together(self, X: Any, pairs: Any) -> tuple[Any, Pairs, GivenOrder]:
        """Return X and pairs in an order of their own, and the order given: see `_restore_order`.

        They are checked first, as `_check_input` does.
        """
        return in_order(*self._check_input(X, pairs))

    def _check_input(self, X: Any, pairs: Any) -> tuple[Any, Pairs]:
        """Return X, without missing values if need be, and pairs, if they belong together."""
        X, pairs = self._table_and_answers(X, pairs)
        if not self._leaves_in_place(pairs):
            pairs = in_memory(pairs)
        if isinstance(pairs, Pairs) and not self._takes_levels:
            pairs = pairs.yes_or_no()
        self.id_column_ = id_column(X, pairs.item_ids)
        X = without_column(X, self.id_column_)
        _require_rows(X, pairs)
        named = isinstance(getattr(self, "prior", ""), float | int)
        self.names_known_ = bool(
            pairs.labels or named or getattr(self, "class_order", None) is not None
        )
        if pairs.without_self_pairs().n_pairs == 0:
            pairs = self._without_answers(pairs)
        X = validate_data(self, X, skip_check_array=True)
        require_moderate(X)
        if getattr(self, "estimator", None) is None:
            require_numbers(X)
            X = as_rows(X)
        if hasattr(self, "estimator"):  # one given by the user sees X as it is
            self.filler_ = filler_of(X) if self.estimator is None else None
            X = filled(self.filler_, X)
        # Not all kinds of sparse arrays take rows.
        return X.tocsr() if hasattr(X, "tocsr") else X, pairs

    def _without_answers(self, pairs: Answers) -> Answers:
        """Return what to learn from where no two items were compared, or refuse."""
        raise ValueError(
            f"there is no pair of two distinct items (n_samples={pairs.n_items}): nothing to "
            "learn from"
        )

    def _table_and_answers(self, X: Any, pairs: Any) -> tuple[Any, Any]:
        """Return X as a table and the pairs with the items in its order; refuse anything else."""
        if isinstance(X, Answers) and not isinstance(pairs, Answers):
            raise TypeError("X and pairs are swapped: expected the items first, fit(X, pairs)")
        if isinstance(pairs, type) or not isinstance(pairs, Answers):
            given = (
                f"the class {pairs.__name__}" if isinstance(pairs, type) else type(pairs).__name__
            )
            raise TypeError(
                f"{type(self).__name__} learns from noisypairs.Pairs, got {given}: build them with "
                "Pairs(left, right, same, n_items=len(X)), Pairs.from_frame or Pairs.from_tuples"
            )
        X = _table(X)
        return X, aligned(X, pairs)

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
        X = without_column(_table(X), getattr(self, "id_column_", None))
        X = validate_data(self, X, skip_check_array=True, reset=False)
        require_moderate(X)
        X = as_rows(X) if getattr(self, "estimator", None) is None else X
        return filled(getattr(self, "filler_", None), X)


def require_moderate(X: Any) -> None:
    """Refuse numbers so large that their squares, as in any variance, are not finite.

    >>> require_moderate(np.array([[1.0, 1e300]]))
    Traceback (most recent call last):
    ValueError: column 1 of X holds 1e+300: expected numbers within ±1e+100. Divide the column...
    """
    numbers = X.tocoo().data if hasattr(X, "tocoo") else X if isinstance(X, np.ndarray) else None
    if hasattr(X, "select_dtypes"):
        numbers = X.select_dtypes("number").to_numpy(dtype=np.float64, na_value=np.nan)
    floats = numbers is not None and np.issubdtype(numbers.dtype, np.floating)
    if numbers is None or not floats or float(np.finfo(numbers.dtype).max) < LARGEST:
        return
    large = np.isfinite(numbers) & (np.abs(numbers) > LARGEST)
    if large.any():
        place = f"column {np.argwhere(large)[0][-1]} of X" if numbers.ndim == 2 else "X"
        raise ValueError(
            f"{place} holds {numbers[large][0]:g}: expected numbers within ±{LARGEST:g}. Divide "
            "the column by a constant, or leave it out"
        )


def require_numbers(X: Any) -> None:
    """Refuse a table that the default estimators cannot read: no columns, or text in one.

    >>> require_numbers(np.array([["red"], ["blue"]]))
    Traceback (most recent call last):
    ValueError: column 0 of X holds str values such as 'red': expected numbers. Encode it before...
    """
    if X.shape[1] == 0:
        raise ValueError(
            f"0 feature(s) (shape={X.shape}) while a minimum of 1 is required: give a column, or "
            "X=None to JointPairClassifier, which then learns from the answers alone"
        )
    if hasattr(X, "tocsr") or getattr(getattr(X, "dtype", None), "kind", "O") in "biuf":
        return
    for name, column in _columns(X):
        try:
            if column.dtype.kind in "mM":
                raise TypeError
            column.astype(float)
        except (TypeError, ValueError) as error:
            text = next(one for one in column.tolist() if not isinstance(one, int | float | None))
            what = f"column {name!r} of X holds {type(text).__name__} values such as {text!r}: "
            if isinstance(error, TypeError) and column.dtype.kind not in "mM":
                raise TypeError(f"{what}argument must be a string or a number") from error
            raise ValueError(
                f"{what}expected numbers. Encode it before, such as by make_pipeline("
                "skrub.TableVectorizer(), learner), or give an estimator that reads it"
            ) from error


def label_names(
    pairs: Pairs, n_classes: int, class_order: ClassOrder = None, every: bool = True
) -> NDArray[Any] | None:
    """Return the sorted names of all classes, or None where no item is labelled.

    ``class_order`` or `all_names` have those that no label names; without ``every``, for a number
    of classes that is open, they stay out.
    """
    if not pairs.class_names:
        return None
    names = np.unique(np.array(pairs.class_names))
    if len(names) > n_classes:
        raise ValueError(
            f"the labelled items name {class_count(len(names))} "
            f"({', '.join(map(str, names[:10]))}), but n_classes={n_classes}: give "
            f"n_classes={len(names)}, or correct the labels"
        )
    if not every:
        return names
    if class_order is None or isinstance(class_order, str):
        return np.sort(all_names(names, n_classes))
    named = np.unique(np.array(list(class_order)))
    if len(named) != n_classes or not np.isin(names, named).all():
        raise ValueError(
            f"class_order={class_order!r} and labels ({', '.join(map(str, names[:10]))}) do not "
            f"name the same {class_count(n_classes)}: give both the same names"
        )
    return named


def class_count(number: int) -> str:
    """Return "1 class" or "2 classes".

    >>> class_count(1), class_count(3)
    ('1 class', '3 classes')
    """
    return f"{number} class{'es' * (number != 1)}"


def all_names(names: NDArray[Any], n_classes: int) -> NDArray[Any]:
    """Return the names with one for every class that no label names: numbers go on, words count.

    >>> all_names(np.array([1]), 2), all_names(np.array([3, 7]), 3)
    (array([1, 0]), array([3, 7, 8]))
    >>> all_names(np.array(["cat", "dog"]), 3)
    array(['cat', 'dog', 'unnamed 1'], dtype='<U9')
    """
    more = range(1, n_classes - len(names) + 1)
    if not more:
        return names
    for usual in (np.arange(n_classes), np.array([False, True])):
        if names.dtype.kind == usual.dtype.kind and np.isin(names, usual).all():
            return np.concatenate([names, np.setdiff1d(usual, names)])
    if np.issubdtype(names.dtype, np.integer):
        return np.concatenate([names, names[-1] + np.array(more)])
    return np.concatenate([names.astype(str), [f"unnamed {k}" for k in more]])


def known_classes(pairs: Pairs, names: NDArray[Any]) -> dict[int, int]:
    """Return {item: position of its label in ``names``} for the labelled items."""
    place = {name: k for k, name in enumerate(names.tolist())}
    given = np.array(list(pairs.labels.values())).astype(names.dtype).tolist()
    return {item: place[name] for item, name in zip(pairs.labels, given, strict=True)}


def match_labels(proba: Array, pairs: Pairs, names: NDArray[Any]) -> NDArray[np.intp]:
    """Return, for each name, the column of ``proba`` that fits the labelled items best.

    Names of no labelled item get the other columns in rising order of size; columns beyond the
    names follow in their own order.
    """
    known = known_classes(pairs, names)
    evidence = np.zeros((len(names), proba.shape[1]))
    np.add.at(evidence, list(known.values()), np.log(np.clip(proba[list(known)], 1e-6, None)))
    labelled = np.unique(list(known.values())).astype(np.intp)
    order = np.full(len(names), -1, dtype=np.intp)
    order[labelled] = linear_sum_assignment(evidence[labelled], maximize=True)[1]
    others = np.setdiff1d(np.arange(proba.shape[1]), order)
    n_unnamed = len(names) - len(labelled)
    by_size = others[np.argsort(proba.sum(axis=0)[others], kind="stable")][:n_unnamed]
    order[order < 0] = by_size
    return np.concatenate([order, np.setdiff1d(others, by_size)])


def check_class_order(class_order: ClassOrder) -> None:
    """Refuse what is no order of classes."""
    if class_order is None or str(class_order) in ("rising", "falling"):
        return
    listed = isinstance(class_order, Sequence | np.ndarray) and not isinstance(class_order, str)
    if not listed or len(set(class_order)) < len(class_order):
        raise ValueError(
            f"class_order={class_order!r}: expected 'rising' or 'falling' by size, or the names of "
            "all classes, the smallest class first"
        )


def order_by_size(
    prior: ArrayLike, class_order: ClassOrder
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the groups in the order of their names, and these names, sorted.

    None is "rising" with a `ClassNamesWarning`.

    >>> order_by_size([0.3, 0.7], "falling"), order_by_size([0.3, 0.7], ["rare", "common"])
    ((array([1, 0]), array([0, 1])), (array([1, 0]), array(['common', 'rare'], dtype='<U6')))
    """
    check_class_order(class_order)
    order = np.argsort(np.asarray(prior), kind="stable").astype(np.intp)
    if class_order is None:
        warn_names(len(order))
    elif in_folds := _in_folds():
        warn_user(f"no item is labelled{in_folds}", ClassNamesWarning)
    if class_order is None or isinstance(class_order, str):
        return order[::-1] if class_order == "falling" else order, np.arange(len(order))
    if len(class_order) != len(order):
        raise ValueError(
            f"class_order names {class_count(len(class_order))}, and the model has {len(order)}: "
            "name each of them, the smallest class first"
        )
    names = np.array(list(class_order))
    by_name = np.argsort(names, kind="stable")
    return order[by_name], names[by_name]


def warn_unnamed(names: NDArray[Any]) -> None:
    """Say that some groups have no labelled item, and what they are called."""
    warn_user(
        f"no item is labelled in {class_count(len(names))} that the answers show: "
        f"{', '.join(map(str, names))}, in rising order of size. Label an item of each to name "
        f"them{_in_folds()}",
        ClassNamesWarning,
    )


def warn_names(n_classes: int) -> None:
    """Say that pairs cannot name classes and how the names were chosen."""
    numbers = "0 and 1" if n_classes == 2 else f"0 to {n_classes - 1}"
    warn_user(
        f"pairs cannot name the classes: they are {numbers}, in rising order of size. To name "
        "them, label an item of each, pairs.with_labels({item: class}), or give "
        f"class_order='rising', 'falling' or a list of names{_in_folds()}",
        ClassNamesWarning,
    )


def _in_folds() -> str:
    """Return what to do where folds are joined whose classes may have other names."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "cross_val_predict" and _of_sklearn(frame):
            return (
                ". Every fold names its classes by itself: "
                "noisypairs.model_selection.cross_val_predict matches them"
            )
        frame = frame.f_back
    return ""


def _of_sklearn(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("sklearn.model_selection.")


#: What a column of ids is called where ids are numbers, as features are; whatever the case.
ID_NAMES = frozenset({"id", "item", "item_id", "itemid", "item id"})


def aligned(X: Any, pairs: Any) -> Any:
    """Return pairs with the items in the order of X, where its index or a column holds their ids.

    An index that counts rows says nothing about ids, and a part of one no more.
    """
    ids = None if pairs.item_ids is None else _ids_of_rows(X, pairs.item_ids)
    order = None if ids is None else order_by_ids(pairs.item_ids, ids)
    return pairs if order is None else pairs[order]


def _ids_of_rows(X: Any, item_ids: NDArray[Any]) -> NDArray[Any] | None:
    name = id_column(X, item_ids)
    if name is not None:
        return np.asarray(X[name])
    index = getattr(X, "index", None)
    if index is None or not hasattr(index, "nlevels") or index.nlevels > 1:
        return None
    counts = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    ids = np.asarray(index)
    numbers = ids.dtype.kind in "iu"
    if counts or numbers != (item_ids.dtype.kind in "iu"):
        return None
    return None if numbers and not np.isin(ids, item_ids).any() else ids


def id_column(X: Any, item_ids: NDArray[Any] | None) -> Any:
    """Return the name of the column of a table that holds these ids, None where none does.

    Ids that are text are recognised by what a column holds; numbers also by its name.
    """
    if item_ids is None or not hasattr(X, "columns"):
        return None
    numbers = item_ids.dtype.kind in "iu"
    for name in X.columns:
        named = str(name).strip().casefold() in ID_NAMES
        if numbers and not named:
            continue
        values = np.asarray(X[name])
        if values.ndim != 1 or (values.dtype.kind in "iu") != numbers or values.dtype.kind in "fb":
            continue
        if named or np.isin(values[values != None].astype(str), item_ids.astype(str)).any():  # noqa: E711
            return name
    return None


def without_column(X: Any, name: Any) -> Any:
    """Return a table without this column, where it has one: ids are no feature."""
    if name is None or name not in getattr(X, "columns", ()):
        return X
    return X.drop(columns=name) if hasattr(X, "iloc") else X.drop(name)


def _require_rows(X: Any, pairs: Any) -> None:
    """Refuse X of another length than the pairs: each way that comes about has its sentence."""
    rows = _num_samples(X)
    if rows == pairs.n_items:
        return
    facts = f"X has {rows} rows, but the pairs are about {pairs.n_items} items"
    if rows > pairs.n_items:
        raise ValueError(
            f"{facts}: row i of X must be item i. If the last rows of X are in no pair, use "
            "Pairs(..., n_items=len(X))"
        )
    some = in_memory(pairs, 1_000_000)
    if rows == pairs.n_items - 1 and min(some.left.min(), some.right.min()) == 1:
        raise ValueError(
            f"Pairs refer to row {rows}; X has {rows} rows, 0 to {rows - 1}. No pair refers to row "
            "0, so the positions seem to start at 1: subtract 1"
        )
    raise ValueError(
        f"{facts}, up to row {pairs.n_items - 1}: row i of X must be item i. Give all rows of X, "
        "or take the pairs of these items, pairs[rows]"
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


def _ends(X: Any, pairs: Pairs | ArrayLike, n_items: int) -> tuple[NDArray[Any], NDArray[Any]]:
    if isinstance(pairs, Answers):
        known = aligned(X, in_memory(pairs))
        if known.n_items != n_items:
            raise ValueError(f"X has {n_items} rows, but the pairs are about {known.n_items} items")
        return known.left, known.right
    left, right = check_couples(pairs, "pairs").T
    check_n_items(left, right, n_items)
    return left, right


#: Much worse is an estimator with this many fewer items right than the default one, if that is
#: also more than this many standard errors.
MUCH_WORSE, BY_ERRORS = 0.05, 3.0


def warn_if_weak(lead: Gain, name: str) -> None:
    """Warn where the default estimator is clearly ahead of the one given, in items right."""
    if lead.mean >= MUCH_WORSE and lead.exceeds(BY_ERRORS):
        warn_user(
            f"{name} gets about {lead.mean:.0%} (± {lead.mean_error:.0%}) fewer items right than "
            "the default estimator, measured on held-out answers. It may overfit single answers "
            "(use larger leaves, more neighbours or a stronger penalty) or be too simple; "
            "estimator=None is the default",
            WeakEstimatorWarning,
        )


#: Copies below this share of the answers change no interval by more than a few per cent.
COPIES_WORTH_SAYING = 0.05
#: Of more answers, those about some of the pairs are looked at.
ANSWERS_LOOKED_AT = 20_000


def warn_of_copies(pairs: Any) -> None:
    """Warn where answers in memory are copies, or look like copies where nobody is named.

    With annotators a copy is the same pair, annotator, answer and weight; without them
    `look_copied` judges. A `PairTable` is not looked at: its audit counts copies.
    """
    if not isinstance(pairs, Pairs) or (pairs.weight is not None and pairs.annotator is None):
        return  # weights without annotators are scores or votes: one answer per pair and kind
    some = pairs.select(some_pairs(pairs.left, pairs.right, ANSWERS_LOOKED_AT))
    if pairs.annotator is None:
        if not look_copied(keys_of(some), some.same):
            return
        what = (
            "nearly every pair has several answers, all equal: the answers look copied. If they "
            "are, use pairs.without_copies()"
        )
    else:
        share = 1.0 - some.without_copies().n_pairs / max(some.n_pairs, 1)
        if share < COPIES_WORTH_SAYING:
            return
        what = (
            f"{share:.0%} of the answers are copies (same pair, annotator and answer): use "
            "pairs.without_copies()"
        )
    warn_user(f"{what}. Copies make rates too small and intervals too narrow", CopiedAnswersWarning)


Positions = NDArray[np.intp]

#: Rounds in which identical items are told apart by the items that they were compared with.
TELLING_ROUNDS = 30
#: Numbers of a table that are worked on at once.
BLOCK = 1 << 16
#: What missing and infinite values count in a projection; arsinh of the largest double is 710.
MISSING, INFINITE = 1.618, 1000.0


class GivenOrder(NamedTuple):
    """The order given: item k of the new order was item ``items[k]``, and answers likewise.

    None stands for an order that was left as it is.
    """

    items: Positions | None = None
    answers: Positions | None = None

    def of_items(self, values: Any) -> Any:
        """Return values in the new order of the items, (n_items, …), in the order given."""
        return _put_back(values, self.items)

    def of_answers(self, values: Any) -> Any:
        """Return values in the new order of the answers, (n_pairs, …), in the order given."""
        return _put_back(values, self.answers)

    def reordered_items(self, values: Any) -> Any:
        """Return values in the order given, (n_items, …), in the new order of the items."""
        return values if self.items is None else values[self.items]


def in_order(X: Any, pairs: Answers) -> tuple[Any, Any, GivenOrder]:
    """Return items and pairs in the order that their contents decide, and the order given.

    ``X`` is a table of n_items rows (array, sparse matrix, data frame), or None where only answers
    are known. A `PairTable` keeps its positions in the engine: it and its items are left as they
    are.

    >>> X, pairs = np.array([[3.0], [1.0], [2.0]]), Pairs([2, 1], [1, 0], [True, False])
    >>> one, other = in_order(X, pairs), in_order(X[[1, 2, 0]], Pairs([2, 1], [0, 0], [0, 1]))
    >>> np.array_equal(one[0], other[0]), one[1] == other[1]
    (True, True)
    >>> one[2].of_items(one[0]).ravel()
    array([3., 1., 2.])
    """
    if not isinstance(pairs, Pairs):
        return X, pairs, GivenOrder()
    X = X.tocsr() if hasattr(X, "tocsr") else X  # which can be indexed
    items = item_order(X, pairs)
    ordered, answers = sorted_answers(pairs[items])
    return None if X is None else _safe_indexing(X, items), ordered, GivenOrder(items, answers)


def item_order(X: Any, pairs: Pairs) -> Positions:
    """Return the items, shape (n_items,), in an order that does not depend on the one given.

    Identical rows are told apart by the answers about them, then by the items at the other ends of
    these answers, and so on. Items that are alike after `TELLING_ROUNDS` keep the order given:
    with few exceptions (long chains without features) they can take each other's place.
    """
    keys = np.zeros(pairs.n_items) if X is None else _row_sums(X, _projection_term)
    if _n_distinct(keys) == pairs.n_items:
        return _permuted(keys)
    return _permuted(_told_apart(keys, pairs), keys)


def row_order(X: Any, *ties: NDArray[Any]) -> Positions:
    """Return the rows, shape (n,), in an order that does not depend on the one given.

    Identical rows come in rising order of ``ties``, shape (n,) each; the last counts most.

    >>> X = np.array([[3.0], [1.0], [2.0]])
    >>> np.array_equal(X[row_order(X)], X[::-1][row_order(X[::-1])])
    True
    """
    return _permuted(*ties, _row_sums(X, _projection_term))


def _projection_term(values: Array, columns: Hashes) -> Array:
    """Return w_j arsinh(x) with a fixed random w_j in (½, 1½) for column j: no column dominates."""
    size = np.nan_to_num(np.arcsinh(values), nan=MISSING, posinf=INFINITE, neginf=-INFINITE)
    return size * (0.5 + mixed(columns) / 2.0**64)


def _row_sums(X: Any, term: Callable[[Array, Hashes], NDArray[Any]]) -> NDArray[Any]:
    """Return Σ_j term(x_ij, j) of each row, shape (n,); zeros must add nothing.

    Row by row, never by a matrix product: that may round identical rows differently.
    """
    if hasattr(X, "tocsr"):
        table = X.tocsr(copy=True)
        table.sum_duplicates()
        entries = table.tocoo()
        terms = term(entries.data.astype(np.float64), entries.col.astype(np.uint64))
        sums = np.zeros(table.shape[0], dtype=terms.dtype)
        np.add.at(sums, entries.row, terms)
        return sums
    table = _numbers(X)
    columns = np.arange(table.shape[1], dtype=np.uint64)
    step = max(1, BLOCK // max(columns.size, 1))
    parts = [
        term(np.array(table[start : start + step], np.float64, order="C"), columns).sum(axis=1)
        for start in range(0, max(len(table), 1), step)
    ]
    return np.concatenate(parts)


def _numbers(X: Any) -> NDArray[Any]:
    """Return a table of numbers, (n, d): texts become their place in the alphabet."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return X.reshape(len(X), int(np.prod(X.shape[1:])))
    return np.column_stack([_column_numbers(column) for _, column in _columns(X)])


def _columns(X: Any) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Yield the name and the values of each column of a table, or of what is as long as one."""
    if hasattr(X, "columns"):  # pandas, polars
        names = list(X.columns)
        get = X.iloc.__getitem__ if hasattr(X, "iloc") else None
        for j, name in enumerate(names):
            yield name, np.asarray(X[name] if get is None else get((slice(None), j)))
        return
    table = np.asarray(X)
    yield from enumerate(table.reshape(len(table), int(np.prod(table.shape[1:]))).T)


def _column_numbers(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind in "biuf":
        return values
    texts = [str(value) for value in values.tolist()]
    place = {text: k for k, text in enumerate(sorted(set(texts)))}
    return np.array([place[text] for text in texts])


def _told_apart(keys: Array, pairs: Pairs) -> Hashes:
    """Return a hash per item, (n_items,), by its key, its known class, its group and its answers.

    Rounds of Weisfeiler and Lehman: h_i ← mix(h_i + Σ mix(answer + h_j)) over the answers about
    items i and j, modulo 2⁶⁴ and so exact in any order, until they tell no further items apart.
    """
    names = {name: k for k, name in enumerate(sorted(set(map(str, pairs.labels.values()))), 1)}
    known = np.zeros(pairs.n_items, dtype=np.uint64)
    for item, name in pairs.labels.items():
        known[item] = names[str(name)]
    # By rank, not by value: a scaler may have rounded the keys.
    rank = np.unique(keys, return_inverse=True)[1].astype(np.uint64)
    hashes = mixed(mixed(rank) + known)
    if pairs.groups is not None and pairs.group_names is not None:
        # By name; groups without a name come last, and count alike.
        n_named = sum(name is not None for name in pairs.group_names)
        hashes = mixed(hashes + np.minimum(pairs.groups, n_named).astype(np.uint64))
    pairs = pairs.without_self_pairs()
    answer = mixed(pairs.same.astype(np.uint64))
    if pairs.annotator is not None:
        answer = mixed(answer + pairs.annotator.astype(np.uint64))
    if pairs.weight is not None:
        answer = mixed(answer + pairs.weight.view(np.uint32))
    for _ in range(TELLING_ROUNDS):
        sums = np.zeros(pairs.n_items, dtype=np.uint64)
        for here, there in ((pairs.left, pairs.right), (pairs.right, pairs.left)):
            np.add.at(sums, here, mixed(answer + hashes[there]))
        before, hashes = hashes, mixed(hashes + sums)
        if _n_distinct(hashes) in (_n_distinct(before), pairs.n_items):
            break
    return hashes


def _n_distinct(values: NDArray[Any]) -> int:
    return np.unique(values).size


def _permuted(*keys: NDArray[Any]) -> Positions:
    """Sort by the last key, then the one before, and permute the places: always in one way.

    An order that follows the features would make folds that are not shuffled unfair.
    """
    rising = np.lexsort(keys)
    order: Positions = rising[np.random.default_rng(0).permutation(rising.size)]
    return order


def _put_back(values: Any, order: Positions | None) -> Any:
    if order is None or values is None:
        return values
    given = np.empty_like(values)
    given[order] = values
    return given
