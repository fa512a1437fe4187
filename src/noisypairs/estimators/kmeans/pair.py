"""k-means on the items of the pairs, which does not look at the answers, and what it shares.

Items are put into K groups around centres, and new items go to the nearest centre.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import softmax
from sklearn.cluster import KMeans
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_array

from noisypairs.algebra import Array
from noisypairs.estimators.base import (
    ClassOrder,
    PairClassifier,
    check_class_order,
    label_names,
    match_labels,
    order_by_size,
    undisturbed,
)
from noisypairs.noise import CleanPairs, RandomState
from noisypairs.pairs import Pairs

Labelling = NDArray[np.intp]
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Clusters:
    """A clustering before its groups have names: groups are 0..K−1 in no order."""

    labels: Labelling  # (n_items,)
    centres: Array  # (K, n_features)
    weight: Array  # (n_items,), how much each item counted
    inertia: float
    n_iter: int
    violation: float = 0.0


class CentreClassifier(PairClassifier):
    """Groups around centres, named as the pairs allow. Subclasses define `_cluster`."""

    n_classes: int
    class_order: ClassOrder
    _former = ("positive",)
    n_init: int
    max_iter: int
    random_state: RandomState
    _of_items = ("labels_",)

    @abstractmethod
    def _cluster(self, X: Any, pairs: Pairs, rng: np.random.Generator) -> Clusters:
        """Group the items; ``X`` is checked, dense or CSR."""

    def fit(self, X: Any, pairs: Pairs) -> Self:
        """Group the items ``X``, shape (n_items, n_features), and name the groups."""
        with undisturbed():
            X, pairs, given = self._check_training(X, pairs)
            for name, least in (("n_classes", 2), ("n_init", 1), ("max_iter", 1)):
                _check_count(name, getattr(self, name), least)
            check_class_order(self.class_order)
            names = label_names(pairs, self.n_classes, self.class_order)
            X = self._numbers(X)
            found = self._cluster(X, pairs, np.random.default_rng(self.random_state))
            share = np.bincount(found.labels, found.weight, self.n_classes) / found.weight.sum()
            if names is None:
                order, self.classes_ = order_by_size(share, self.class_order)
            else:
                self.classes_ = names
                order = match_labels(np.eye(self.n_classes)[found.labels], pairs, names)
            self.labels_ = self.classes_[np.argsort(order)[found.labels]]
            self.cluster_centers_ = found.centres[order]
            self.inertia_ = found.inertia
            self.n_iter_ = found.n_iter
            self.prior_ = float(share[order[1]]) if self.n_classes == 2 else share[order]
            self.noise_ = CleanPairs()
            # Where all items lie on their centres there is no spread: the nearest centre wins.
            floor = float(np.finfo(float).eps * found.centres.var() + np.finfo(float).tiny)
            self.variance_ = max(found.inertia / (found.weight.sum() * X.shape[1]), floor)
            self._restore_order(given)
            return self

    def _class_proba(self, X: Any) -> Array:
        """Return softmax(−|x − c_k|² / 2s²), shape (n, K); s² is the variance within groups.

        That is the posterior of Gaussian classes of one spherical covariance and equal priors, so
        that the likeliest class is always the nearest centre.
        """
        X, centres = self._numbers(X), self.cluster_centers_
        if not issparse(X):
            X, centres = X - centres.mean(axis=0), centres - centres.mean(axis=0)
        # |x − c|² = |x|² − 2x·c + |c|²
        inner = np.asarray(X @ centres.T, dtype=float)
        distance = row_norms(X, squared=True)[:, None] - 2.0 * inner + (centres**2).sum(axis=1)
        distance = np.maximum(distance, 0.0)
        distance -= distance.min(axis=1, keepdims=True)
        return np.asarray(softmax(-distance / (2.0 * self.variance_), axis=1))

    def _numbers(self, X: Any) -> Any:
        return check_array(
            X, accept_sparse="csr", dtype=[np.float64, np.float32], estimator=self, input_name="X"
        )


class PairKMeans(CentreClassifier):
    """k-means on the items that occur in pairs; the answers are not used.

    Parameters
    ----------
    n_classes : number of groups K
    class_order : how classes are numbered where no item is labelled: ``"rising"`` or ``"falling"``
        by size, or their names, the smallest class first
    n_init, max_iter : as in `sklearn.cluster.KMeans`
    random_state : int, numpy Generator or RandomState, or None
    item_weight : "occurrences" or "equal"
        An item counts as often as it occurs in pairs (k-means on the pooled points of all pairs,
        as in the paper), or once. Items in no pair never move a centre.

    Attributes
    ----------
    labels_ : class of each item, shape (n_items,).
    cluster_centers_ : shape (K, n_features), in the order of ``classes_``.
    inertia_, n_iter_, variance_ : as in `sklearn.cluster.KMeans`; the last within groups, per
        feature.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])
    >>> pairs = Pairs([0, 1, 3], [1, 2, 4], [True, True, True])
    >>> model = PairKMeans(class_order="falling", random_state=0).fit(X, pairs)
    >>> model.labels_, model.predict([[4.0]])
    (array([0, 0, 0, 1, 1]), array([1]))
    """

    def __init__(
        self,
        n_classes: int = 2,
        class_order: ClassOrder = None,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: RandomState = None,
        item_weight: Literal["occurrences", "equal"] = "occurrences",
        **former: Any,
    ) -> None:
        self.n_classes = n_classes
        self.class_order = class_order
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.item_weight = item_weight
        self._take_former(former)

    def _cluster(self, X: Any, pairs: Pairs, rng: np.random.Generator) -> Clusters:
        if self.item_weight not in ("occurrences", "equal"):
            raise ValueError(f"item_weight={self.item_weight!r}: expected 'occurrences' or 'equal'")
        weight = pairs.item_counts().total
        if self.item_weight == "equal":
            weight = (weight > 0).astype(float)
        paired = np.flatnonzero(weight)
        check_enough(paired.size, self.n_classes, "items that occur in pairs")
        model = KMeans(
            self.n_classes,
            n_init=self.n_init,
            max_iter=self.max_iter,
            random_state=int(rng.integers(LARGEST_SEED)),
        ).fit(X[paired], sample_weight=weight[paired])
        labels = np.asarray(model.predict(X), dtype=np.intp)
        return Clusters(
            labels, model.cluster_centers_, weight, float(model.inertia_), int(model.n_iter_)
        )


def check_enough(n_items: int, n_classes: int, what: str) -> None:
    """Refuse fewer items than classes."""
    if n_items < n_classes:
        raise ValueError(
            f"there are {n_items} {what} for n_classes={n_classes}: give at least one item per "
            "class, or ask for fewer classes"
        )


def _check_count(name: str, value: Any, least: int) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r}: expected an integer of at least {least}")
