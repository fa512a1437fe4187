"""One fit of the joint learner as a problem: graph, groups, folds, features, known classes."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_random_state

from noisypairs.algebra import Array
from noisypairs.estimation.heldout import check_groups, dealt, items_by_fold
from noisypairs.estimators.base import known_classes, label_names
from noisypairs.estimators.inner.features import (
    FiniteNumbers,
    KernelColumns,
    PreparedItems,
    TailScaler,
    as_rows,
    finite_numbers,
)
from noisypairs.graph.propagation import Labels, PairGraph
from noisypairs.joint.class_model import (
    ClassModel,
    Fold,
    GaussianModel,
    Positions,
    RidgeModel,
    SharesModel,
)
from noisypairs.joint.starts import Alignment
from noisypairs.noise.model import SLIPS
from noisypairs.pairs import Answers, Pairs
from noisypairs.pairs.pairs import drawn_at_random


class Features:
    """The items and what is made of them without any answer, each when it is first asked for."""

    def __init__(self, X: Any, given: Any, seed: int) -> None:
        self.X, self.given, self.seed = X, given, seed

    @cached_property
    def items(self) -> PreparedItems:
        """The items, with what needs no labels made once."""
        return PreparedItems(self.X)

    @cached_property
    def items_as_given(self) -> PreparedItems:
        """The items as an estimator of the user's sees them, such as images."""
        return self.items if self.X is self.given else PreparedItems(self.given)

    @cached_property
    def scaled(self) -> tuple[Any, Any]:
        """The fitted scale, and the features as scaled numbers without gaps.

        None without any, or where none differs between the items: then only answers tell classes.
        """
        found = None if self.X is None else finite_numbers(self.X)
        if found is None or not _differ(found):
            return None, None
        if issparse(found):
            return None, found
        front = [("numbers", FiniteNumbers()), ("scaler", TailScaler())]
        return self.items.through(Pipeline(front))

    @cached_property
    def columns(self) -> tuple[Pipeline, Array] | None:
        """The fitted map to fixed columns, and these, (n_items, m); None without numbers."""
        if self.scaled[1] is None:
            return None
        columns: list[tuple[str, Any]] = [("columns", KernelColumns(random_state=self.seed))]
        if not issparse(self.scaled[1]):
            columns = [("numbers", FiniteNumbers()), *columns]
        front, Z = self.items.through(Pipeline(columns))
        return front, np.asarray(Z)

    def of(self, rows: NDArray[np.intp]) -> Features:
        """Return the features of some items; what was made of all of them is not made again."""
        some = Features(None if self.X is None else _safe_indexing(self.X, rows), None, self.seed)
        for name in {"scaled", "columns"} & vars(self).keys():
            front, numbers = getattr(self, name) or (None, None)
            if numbers is not None:
                vars(some)[name] = front, numbers[rows]
        return some


def _differ(numbers: Any) -> bool:
    """Return whether any number differs between the items; entries of sparse ones do."""
    if issparse(numbers):
        sparse: Any = numbers
        return bool(sparse.nnz)
    return bool(np.ptp(numbers, axis=0).any())


class Problem:
    """What every stage of one fit needs. Items are in canonical order; ``groups`` (n_items,).

    Without features, ``X=None``, the answers alone tell the classes.
    """

    def __init__(
        self,
        X: Any,
        pairs: Pairs,
        n_classes: int = 2,
        cv: int | Literal["auto"] = "auto",
        random_state: Any = None,
        groups: NDArray[np.intp] | None = None,
        annotators: bool = True,
        names: NDArray[Any] | None = None,
    ) -> None:
        self.X = as_rows(X)
        self.n_folds = n_folds(pairs.n_items) if cv == "auto" else int(cv)
        if pairs.groups is not None:
            check_groups(len(np.unique(pairs.groups)), self.n_folds)
        self.seed = int(check_random_state(random_state).randint(2**31 - 1))
        self.features = Features(self.X, X, self.seed)
        self.groups = np.arange(pairs.n_items) if groups is None else groups
        self.annotators = annotators and pairs.annotator_names is not None
        #: Items to learn from, also where some of their answers are held out.
        self.in_pairs: NDArray[np.bool_] = pairs.item_counts().total > 0
        self.in_pairs[list(pairs.labels)] = True  # a label says as much as answers
        self._models: dict[str, ClassModel] = {}
        self.clamp: Labels | None = None
        self.name_classes(
            label_names(pairs, n_classes, every=False) if names is None else names, pairs
        )
        self._take(pairs)

    def name_classes(self, names: NDArray[Any] | None, pairs: Pairs) -> None:
        """Set the names of classes, in the order of their columns."""
        self.names = names
        noise = SLIPS[0] / sum(SLIPS) if self.clamp is None else self.clamp.noise
        self.clamp = None if names is None else Labels(known_classes(pairs, names), noise)

    def _take(self, pairs: Pairs) -> None:
        """Set what depends on the pairs."""
        self.all_pairs, self.pairs = pairs, pairs.without_self_pairs()
        self.graph = PairGraph.from_pairs(pairs, annotators=self.annotators)
        self.sampled = sampled_items(pairs, self.in_pairs)

    def with_pairs(self, pairs: Pairs) -> Problem:
        """Return the problem with other pairs of the same items: features and folds are kept."""
        other = copy(self)
        vars(other).pop("alignment", None)
        other._take(pairs)
        return other

    @property
    def items(self) -> PreparedItems:
        """The items as rows of numbers, with what needs no labels made once."""
        return self.features.items

    @property
    def items_as_given(self) -> PreparedItems:
        """The items as an estimator of the user's sees them, such as images."""
        return self.features.items_as_given

    @property
    def numbers(self) -> Any:
        """The features as numbers without gaps, scaled; None where there are none."""
        return self.features.scaled[1]

    @property
    def columns(self) -> tuple[Pipeline, Array] | None:
        """The fitted map to fixed columns, and these, (n_items, m); None without numbers."""
        return self.features.columns

    @property
    def has_features(self) -> bool:
        """Whether any number of the items differs between them: else only answers tell classes."""
        return self.numbers is not None

    @property
    def Z(self) -> Array | None:
        """The fixed columns, (n_items, m)."""
        return None if self.columns is None else self.columns[1]

    @cached_property
    def alignment(self) -> Alignment:
        """How far the answers follow the features, made once for every number of classes."""
        assert self.Z is not None
        return Alignment(self.Z, self.pairs)

    @cached_property
    def folds(self) -> list[Fold]:
        """Folds of the items, groups kept together."""
        return items_by_fold(dealt(self.groups, self.n_folds, self.seed), self.n_folds)

    @property
    def class_models(self) -> list[str]:
        """Names of the class models to search with, the simplest first."""
        if self.numbers is None:
            return ["shares"]
        return ["ridge"] if issparse(self.numbers) else ["gaussian", "ridge"]

    def class_model(self, name: str) -> ClassModel:
        """Return the class model of this name; what it factorises is kept."""
        if name not in self._models:
            learning = self.in_pairs.astype(float)
            self._models[name] = _class_model(
                name, self.features, self.groups, learning, self.folds
            )
        return self._models[name]

    def scores_of_others(self, name: str, beliefs: Array, train: Positions, test: Positions) -> Any:
        """Return log-scores of the test items, learnt by a class model from the beliefs of others.

        ``beliefs`` (n_items, K). Only these items are looked at, however many there are.
        """
        rows = np.concatenate([train, test])
        learning = (np.arange(len(rows)) < len(train)).astype(float)
        fold = np.flatnonzero(learning), np.flatnonzero(learning == 0)
        some = self.features.of(rows)
        model = _class_model(name, some, self.groups[rows], learning, [fold])
        return model.scores(beliefs[rows])[len(train) :]

    @property
    def share(self) -> float:
        """The share of "same" among the answers."""
        return float(np.average(self.pairs.same, weights=self.pairs.weight))

    @property
    def blind_log_likelihood(self) -> float:
        """Log-likelihood of the answers when nothing is known but the share of "same"."""
        weight = self.pairs.weight
        total = self.pairs.n_pairs if weight is None else float(weight.sum())
        p = min(max(self.share, 1e-12), 1 - 1e-12)
        return total * float(p * np.log(p) + (1 - p) * np.log1p(-p))


def _class_model(
    name: str, features: Features, groups: Positions, weight: Array, folds: Sequence[Fold]
) -> ClassModel:
    """Return the class model of this name that learns from items of weight one, (n_items,)."""
    if name == "shares":
        return SharesModel(weight)
    if name == "gaussian":
        return GaussianModel(*features.scaled, groups, weight, folds)
    assert features.columns is not None  # else only shares are in question
    return RidgeModel(*features.columns, groups, weight)


def n_folds(n_items: int) -> int:
    """Return how many folds leave enough items to learn from: the fewer, the more items there are.

    >>> [n_folds(n) for n in (500, 5_000, 50_000)]
    [5, 3, 2]
    """
    return 5 if n_items < 2_000 else 3 if n_items < 20_000 else 2


def sampled_items(pairs: Answers, in_pairs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which items stand for all of them: those in pairs, (n_items,), drawn at random.

    Chosen pairs are about doubtful items, which show the classes' shares no more than their share
    of "same" does. Where no pair was drawn at random, all items must do.
    """
    if not isinstance(pairs, Pairs) or pairs.chosen is None:
        return in_pairs
    sampled: NDArray[np.bool_] = drawn_at_random(pairs).item_counts().total > 0
    return sampled if sampled.any() else np.ones_like(sampled)
