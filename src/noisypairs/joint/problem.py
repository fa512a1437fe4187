"""One fit of the joint learner as a problem: graph, groups, folds, features, known classes."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state

from noisypairs.algebra import Array
from noisypairs.estimators.base import known_classes, label_names
from noisypairs.estimators.inner.features import (
    FiniteNumbers,
    KernelColumns,
    TailScaler,
    finite_numbers,
)
from noisypairs.estimators.inner.front import PreparedItems
from noisypairs.inference.graph import PairGraph
from noisypairs.joint.class_model import (
    ClassModel,
    Fold,
    GaussianModel,
    RidgeModel,
    SharesModel,
)
from noisypairs.joint.starts import Alignment
from noisypairs.pairs import Answers, Pairs


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
    ) -> None:
        self.X, self.n_folds = X, n_folds(pairs.n_items) if cv == "auto" else int(cv)
        self.seed = int(check_random_state(random_state).randint(2**31 - 1))
        self.groups = np.arange(pairs.n_items) if groups is None else groups
        self.annotators = annotators and pairs.annotator_names is not None
        self.names = label_names(pairs, n_classes, every=False)
        self.clamp = None if self.names is None else known_classes(pairs, self.names)
        self._take(pairs)

    def _take(self, pairs: Pairs) -> None:
        """Set what depends on the pairs."""
        self.all_pairs, self.pairs = pairs, pairs.without_self_pairs()
        self.graph = PairGraph.from_pairs(pairs, annotators=self.annotators)
        self.in_pairs: NDArray[np.bool_] = pairs.item_counts().total > 0
        self.sampled = sampled_items(pairs, self.in_pairs)
        self._models: dict[str, ClassModel] = {}

    def with_pairs(self, pairs: Pairs) -> Problem:
        """Return the problem with other pairs of the same items: features and folds are kept."""
        _ = self.columns  # made once, and shared
        other = copy(self)
        vars(other).pop("alignment", None)
        other._take(pairs)
        return other

    @cached_property
    def items(self) -> PreparedItems:
        """The items, with what needs no labels made once."""
        return PreparedItems(self.X)

    @cached_property
    def numbers(self) -> Any:
        """The features as numbers without gaps, scaled; None where there are none."""
        return self._scaled[1]

    @cached_property
    def _scaled(self) -> tuple[Any, Any]:
        found = None if self.X is None else finite_numbers(self.X)
        if found is None:
            return None, None
        if issparse(found):
            return None, found
        front = [("numbers", FiniteNumbers()), ("scaler", TailScaler())]
        return self.items.through(Pipeline(front))

    @cached_property
    def columns(self) -> tuple[Pipeline, Array] | None:
        """The fitted map to fixed columns, and these, (n_items, m); None without numbers."""
        if self.numbers is None:
            return None
        columns: list[tuple[str, Any]] = [("columns", KernelColumns(random_state=self.seed))]
        if not issparse(self.numbers):
            columns = [("numbers", FiniteNumbers()), *columns]
        front, Z = self.items.through(Pipeline(columns))
        return front, np.asarray(Z)

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
        _, code = np.unique(self.groups, return_inverse=True)
        number = (
            np.random.default_rng(self.seed).permutation(code.max(initial=0) + 1) % self.n_folds
        )
        return [
            (np.flatnonzero(number[code] != k), np.flatnonzero(number[code] == k))
            for k in range(self.n_folds)
        ]

    @property
    def class_models(self) -> list[str]:
        """Names of the class models to search with, the simplest first."""
        if self.columns is None:
            return ["shares"]
        return ["ridge"] if issparse(self.numbers) else ["gaussian", "ridge"]

    def class_model(self, name: str) -> ClassModel:
        """Return the class model of this name; what it factorises is kept."""
        if name not in self._models:
            self._models[name] = self.new_class_model(name, self.in_pairs.astype(float))
        return self._models[name]

    def new_class_model(self, name: str, weight: Array) -> ClassModel:
        """Return the class model of this name that learns from items of weight one, (n_items,)."""
        if name == "shares":
            return SharesModel(weight)
        if name == "gaussian":
            return GaussianModel(*self._scaled, self.groups, weight, self.folds)
        assert self.columns is not None  # else only shares are in question
        return RidgeModel(*self.columns, self.groups, weight)

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
    sampled: NDArray[np.bool_] = pairs.drawn_at_random().item_counts().total > 0
    return sampled if sampled.any() else np.ones_like(sampled)
