"""The k-means baselines: `PairKMeans` ignores the answers, `COPKMeans` obeys them.

Items are put into K groups around centres, and new items go to the nearest centre.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import softmax
from sklearn.cluster import KMeans, kmeans_plusplus
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
from noisypairs.estimators.constraints import (
    TIE,
    Constraints,
    Labelling,
    better_parts,
    descend,
    fewest_violations,
    swap_chains,
)
from noisypairs.noise import CleanPairs, RandomState
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of

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

    _former = ("positive",)
    _of_items = ("labels_",)

    def __init__(
        self,
        n_classes: int = 2,
        class_order: ClassOrder = None,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: RandomState = None,
        **former: Any,
    ) -> None:
        self.n_classes = n_classes
        self.class_order = class_order
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self._take_former(former)

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
        self.item_weight = item_weight
        super().__init__(n_classes, class_order, n_init, max_iter, random_state, **former)

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


#: Starts in a row that lead to the best known value, after which no more are tried.
AGREEING_STARTS = 3


class COPKMeans(CentreClassifier):
    """k-means of all items under the answers as constraints (Wagstaff et al., 2001), made robust.

    "Same" is a must-link, "different" a cannot-link; repeated answers on two items are settled by
    the majority of their weight. The aim is lexicographic: break the fewest answers, and among
    those labellings find the least inertia Σ_i |x_i − c_{y_i}|². Answers no labelling can keep
    together (noise) do not stop it; ``violated_`` says which ones were broken.

    - Two classes, a connected group of answers that agree: it has exactly two labellings; both
      keep every answer, and the cheaper is taken. The assignment step is then exact, where
      Wagstaff's greedy one depends on the order of the items and can fail.
    - More classes: must-link blocks are coloured by search; chains of two classes are exchanged
      as long as the inertia falls, which breaks nothing. Whether K ≥ 3 classes can satisfy all
      answers is NP-complete: the search finds it in practice, but cannot promise to.
    - Contradictory answers: the fewest violations are NP-hard to find (max-cut). Annealing gives a
      start; then items move while that lowers (violations, inertia). The result is a local
      optimum: no move of a single item breaks fewer answers.

    Every item counts once, in a pair or not. A group that loses all its items keeps its last
    centre.

    Parameters
    ----------
    n_classes, class_order, max_iter, random_state : as in `PairKMeans`.
    n_init : the largest number of starts: three in a row that lead to the best known value end the
        search.

    Attributes
    ----------
    labels_ : the constrained assignment, shape (n_items,); ``predict`` on the same items goes by
        the nearest centre alone. Further attributes as in `PairKMeans`.
    violated_ : which answers were broken, shape (n_pairs,).
    n_violations_, violation_weight_ : their number and weight.
    n_contradictory_pairs_ : pairs of items answered both ways.
    n_frustrated_items_ : items whose connected group of majority answers could not be kept whole.

    References
    ----------
    Wagstaff, K., Cardie, C., Rogers, S. and Schrödl, S. (2001). Constrained K-means Clustering with
    Background Knowledge. ICML 2001.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [4.9], [5.0], [2.0]])
    >>> pairs = Pairs([0, 3, 0], [1, 4, 3], [True, True, False])
    >>> model = COPKMeans(class_order="rising", random_state=0).fit(X, pairs)
    >>> model.labels_, model.n_violations_, model.predict([[2.0]])
    (array([0, 0, 1, 1, 1]), 0, array([0]))
    """

    _of_answers = ("violated_",)

    def _cluster(self, X: Any, pairs: Pairs, rng: np.random.Generator) -> Clusters:
        check_enough(X.shape[0], self.n_classes, "items")
        rules = Constraints.from_pairs(pairs)
        # Distances come from norms and inner products: near the origin they lose no digits.
        middle = 0.0 if issparse(X) else X.mean(axis=0)
        X = X if issparse(X) else X - middle
        labels, odd = rules.coloured
        if odd.any():
            labels = fewest_violations(rules, self.n_classes, rng, self._guess(X, rng))
        problem = _ConstrainedKMeans(X, rules, labels, self.n_classes)
        best, agreed = problem.run(labels, self.max_iter, rng), 0
        for _ in range(self.n_init - 1):
            # Moves under other centres can only have lowered the violations: go on from there.
            other = problem.run(best.labels, self.max_iter, rng)
            agreed = agreed + 1 if problem.equal(other, best) else 0
            if problem.better(other, best):
                best = other
            if agreed == AGREEING_STARTS:
                break
        self.violated_ = (best.labels[pairs.left] == best.labels[pairs.right]) != pairs.same
        self.n_violations_ = int(np.count_nonzero(self.violated_))
        self.violation_weight_ = float(weights_of(pairs)[self.violated_].sum())
        self.n_contradictory_pairs_ = rules.n_contradictory
        frustrated = rules.in_components_of(rules.broken(best.labels))
        self.n_frustrated_items_ = int(np.count_nonzero(frustrated))
        return Clusters(best.labels, best.centres + middle, best.weight, best.inertia, best.n_iter)

    def _guess(self, X: Any, rng: np.random.Generator) -> Labelling:
        """Return the groups of plain k-means, where the search for fewest violations starts."""
        seed = int(rng.integers(LARGEST_SEED))
        model = KMeans(self.n_classes, n_init=1, max_iter=self.max_iter, random_state=seed)
        return np.asarray(model.fit_predict(X), dtype=np.intp)


class _ConstrainedKMeans:
    """Lloyd's algorithm whose assignment step never breaks more answers than before.

    It moves units: the must-link blocks if ``labels`` breaks nothing, else single items. A unit u
    of n_u items with sum s_u costs n_u |c|² − 2 s_u·c + Σ|x|² in the group of centre c.
    """

    def __init__(self, X: Any, rules: Constraints, labels: Labelling, n_classes: int) -> None:
        self.X, self.n_classes = X, n_classes
        whole = not rules.broken(labels).any()
        self.unit = rules.blocks if whole else np.arange(X.shape[0])
        self.rules = rules.between(self.unit) if whole else rules
        self.first = np.unique(self.unit, return_index=True)[1]
        self.size = np.bincount(self.unit).astype(float)
        self.norms = np.bincount(self.unit, row_norms(X, squared=True))
        place = self.unit, np.arange(self.unit.size)
        self.sums: Any = csr_array((np.ones(self.unit.size), place)) @ X
        self.tie = TIE * float(np.abs(rules.strength).max(initial=0.0))
        self.units = np.arange(self.size.size)

    def run(self, labels: Labelling, max_iter: int, rng: np.random.Generator) -> Clusters:
        """Return the clustering that k-means++ centres and these labels lead to."""
        seed = int(rng.integers(LARGEST_SEED))
        centres = np.asarray(kmeans_plusplus(self.X, self.n_classes, random_state=seed)[0])
        y = self._start(labels[self.first], self._cost(centres.astype(float)))
        for n_iter in range(1, max_iter + 1):
            centres = self._means(y, centres)
            cost = self._cost(centres)
            moved = self._assign(y, cost) if n_iter < max_iter else y
            if np.array_equal(moved, y):
                break
            y = moved
        inertia, violation = float(cost[self.units, y].sum()), self.rules.violation(y)
        item_weight = np.ones(self.unit.size)
        return Clusters(y[self.unit], centres, item_weight, inertia, n_iter, violation)

    def better(self, one: Clusters, other: Clusters) -> bool:
        """Return whether ``one`` breaks less, or as much at lower inertia."""
        if abs(one.violation - other.violation) > self.tie:
            return one.violation < other.violation
        return one.inertia < other.inertia

    def equal(self, one: Clusters, other: Clusters) -> bool:
        """Return whether the two are one clustering as far as their values can tell."""
        close = abs(one.inertia - other.inertia) <= 1e-9 * other.inertia
        return close and abs(one.violation - other.violation) <= self.tie

    def _start(self, y: Labelling, cost: Array) -> Labelling:
        """Return y adapted to the centres or the nearest centres mended, whichever is better."""
        known = swap_chains(self.rules, y, cost, max_rounds=self.n_classes)
        if self.n_classes == 2 or self.rules.broken(known).any():
            return known  # two classes leave no choice; for few violations a restart costs too much
        mended = descend(self.rules.matrix, cost.argmin(axis=1), cost)
        return better_parts(self.rules, known, mended, cost)

    def _assign(self, y: Labelling, cost: Array) -> Labelling:
        """Return labels no worse in (violations, cost): exchange chains, then move units."""
        moved = swap_chains(self.rules, y, cost)
        if self.n_classes == 2 and not self.rules.broken(moved).any():
            return moved  # already the optimum
        return descend(self.rules.matrix, moved, cost)

    def _cost(self, centres: Array) -> Array:
        """Return the cost of each unit in each group, shape (n_units, K)."""
        inner = np.asarray(self.sums @ centres.T, dtype=float)
        length = (centres**2).sum(axis=1)
        cost: Array = self.norms[:, None] - 2.0 * inner + self.size[:, None] * length
        return np.maximum(cost, 0.0)

    def _means(self, y: Labelling, centres: Array) -> Array:
        """Return the mean of each group, its last centre if it is empty, shape (K, d)."""
        total = np.asarray(np.eye(self.n_classes)[y].T @ self.sums)
        size = np.bincount(y, self.size, self.n_classes)[:, None]
        return np.where(size > 0, total / np.maximum(size, 1.0), centres)
