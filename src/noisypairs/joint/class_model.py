"""Class models: from beliefs about the items to P(class | x) of each, learnt from the others.

A class model gives out-of-fold scores s (n_items, K): what the features of an item say about its
class, learnt from the beliefs about all items but those of its own group. Scores of a flexible
model are too certain, and those of a penalised one too flat. So every round of EM calibrates them
against what the answers say about the items, the evidence m (n_items, K):

    φ_ik ∝ exp(e^t s_ik + w_k),     (t, w) maximise Σ_i log Σ_k φ_ik m_ik

with a weak normal prior on t and w. Beliefs are b ∝ φ m, so the beliefs themselves would confirm
whatever φ says; the evidence does not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.optimize import minimize
from scipy.sparse import issparse
from scipy.special import softmax
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing

from noisypairs import reduction
from noisypairs.algebra import Array
from noisypairs.estimators.inner.classifiers import GaussianClasses, LogisticClasses
from noisypairs.estimators.inner.features import PreparedItems, joined
from noisypairs.joint.choices import (
    CALIBRATION_ITEMS,
    CALIBRATION_VARIANCE,
    CERTAIN,
    RIDGE_PENALTY,
    WITHIN_SMOOTHING,
)

#: The least chance of what scores and labels exclude together.
TINY = 1e-300

Positions = NDArray[np.intp]
Fold = tuple[Positions, Positions]


class Calibration(NamedTuple):
    """The line through which scores become probabilities: log-slope t and class weights w (K,)."""

    log_slope: float
    weight: Array

    @classmethod
    def none(cls, n_classes: int) -> Calibration:
        """Return the line that leaves scores as they are."""
        return cls(0.0, np.zeros(n_classes))

    def __call__(self, scores: Array) -> Array:
        """Return P(class | x), (n, K), no class below `CERTAIN`."""
        phi = softmax(np.exp(self.log_slope) * scores + self.weight, axis=1)
        phi = np.clip(phi, CERTAIN, None)
        return np.asarray(phi / phi.sum(axis=1, keepdims=True))

    def permuted(self, order: Positions) -> Calibration:
        """Return the line of the classes in another order."""
        return Calibration(self.log_slope, self.weight[order])


def calibrate(scores: Array, evidence: Array, start: Calibration | None = None) -> Calibration:
    """Return the line under which scores (n, K) predict the evidence (n, K) best.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=2000)
    >>> flat = 0.1 * np.eye(2)[y]  # right, and far too careful
    >>> evidence = np.where(np.eye(2)[y] > 0, 0.8, 0.2)
    >>> bool(calibrate(flat, evidence)(flat)[np.arange(2000), y].mean() > 0.95)
    True
    """
    first = start or Calibration.none(scores.shape[1])
    precision = 1.0 / CALIBRATION_VARIANCE
    scores, evidence = scores[:CALIBRATION_ITEMS], evidence[:CALIBRATION_ITEMS]

    def loss(line: Array) -> tuple[float, Array]:
        slope = np.exp(line[0])
        share = softmax(slope * scores + line[1:], axis=1)
        explained = share * evidence
        total = np.maximum(explained.sum(axis=1, keepdims=True), TINY)
        change = share - explained / total
        gradient = np.r_[slope * (change * scores).sum(), change.sum(axis=0)]
        value = precision / 2 * float(line @ line) - float(np.log(total).sum())
        return value, gradient + precision * line

    begin = np.r_[first.log_slope, first.weight]
    bounds: Any = [(-4.0, 4.0)] + [(None, None)] * scores.shape[1]
    how: Any = {"maxiter": 20, "ftol": 1e-8}
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options=how).x
    return Calibration(float(found[0]), found[1:])


class ClassModel(ABC):
    """Out-of-fold scores from beliefs, and a fitted classifier for new items.

    ``weight`` (n_items,) is 1 for items to learn from and 0 for others, such as items in no pair.
    """

    name: str
    weight: Array
    calibrated = True

    @abstractmethod
    def scores(self, beliefs: Array) -> Array:
        """Return log-scores of the classes, (n_items, K), each item left out with its group."""

    @abstractmethod
    def fitted(self, beliefs: Array, line: Calibration) -> tuple[Any, Calibration]:
        """Return a classifier fitted to all beliefs, and the line that its log P goes through."""

    def weighted(self, weight: Array) -> Self:
        """Return the model that learns from other items, by ``weight`` (n_items,)."""
        other = copy(self)
        other.weight = weight
        return other

    def proba(
        self, beliefs: Array, evidence: Array, line: Calibration | None
    ) -> tuple[Array, Calibration]:
        """Return out-of-fold P(class | x), (n_items, K), and its calibration."""
        scores = self.scores(beliefs)
        if self.calibrated:
            on = self.weight > 0
            line = calibrate(scores[on], evidence[on], line)
        else:
            line = Calibration.none(beliefs.shape[1])
        return line(scores), line


class SharesModel(ClassModel):
    """Items without features: every item has the class shares of all."""

    name, calibrated = "shares", False

    def __init__(self, weight: Array) -> None:
        self.weight = weight

    def scores(self, beliefs: Array) -> Array:
        """Return the logarithms of the class shares, the same for every item."""
        shares = np.average(beliefs, axis=0, weights=self.weight)
        return np.tile(np.log(np.maximum(shares, 1e-12)), (len(beliefs), 1))

    def fitted(self, beliefs: Array, line: Calibration) -> tuple[Any, Calibration]:
        """Refuse: there is nothing to classify new items by."""
        del beliefs, line
        raise ValueError("without features there is no classifier for new items")


class GaussianModel(ClassModel):
    """One normal density per class, of one diagonal covariance: the simplest model of features.

    It is not calibrated: as a model of the features themselves it trusts their clusters.
    """

    name, calibrated = "gaussian", False

    def __init__(
        self, front: Any, X: Array, groups: Positions, weight: Array, folds: Sequence[Fold]
    ) -> None:
        self.front, self.X, self.weight = front, X, weight
        single = len(np.unique(groups)) == len(groups)
        self.by_fold = None if single else EstimatorModel(GaussianClasses(), X, folds, weight)

    def scores(self, beliefs: Array) -> Array:
        """Return log P(class | x), leaving out each item; by folds where groups have several."""
        if self.by_fold is not None:
            return self.by_fold.scores(beliefs)
        left_out = GaussianClasses().leave_one_out(self.X, beliefs, self.weight)
        return np.asarray(np.log(np.maximum(left_out, 1e-12)))

    def fitted(self, beliefs: Array, line: Calibration) -> tuple[Any, Calibration]:
        """Return Gaussian classes fitted to the items to learn from."""
        on = self.weight > 0
        model = GaussianClasses().fit_beliefs(self.X[on], beliefs[on])
        return joined(self.front, None, model), line


class RidgeModel(ClassModel):
    """Ridge regression of the beliefs on fixed columns, then a linear discriminant on its fits.

    The regression is factorised once, so a round costs two products with Z (n_items, m), and its
    residuals without an item's own group follow in closed form:

        fits without g = (I − H W)⁻¹ (f_g − H W b_g),   H = Z_g (ZᵀWZ + λ)⁻¹ Z_gᵀ.

    Regression gives each of many classes a share too small to tell them apart. The discriminant,
    fits f of a class being normal about μ_k with one covariance W, turns them into scores:

        fᵀ W⁻¹ μ_k − μ_kᵀ W⁻¹ μ_k / 2 + log π_k.
    """

    name = "ridge"

    def __init__(self, front: Any, Z: Array, groups: Positions, weight: Array) -> None:
        self.front, self.weight, self.groups = front, weight, groups
        self.Z = np.column_stack([Z, np.ones(len(Z))])
        penalty = np.full(self.Z.shape[1], RIDGE_PENALTY)
        penalty[-1] = 1e-6  # the constant is free
        normal = (self.Z * weight[:, None]).T @ self.Z + np.diag(penalty)
        self.factor = cho_factor(normal, lower=True)
        half = solve_triangular(self.factor[0], self.Z.T, lower=True)
        self.leverage = np.minimum(np.einsum("mn,mn->n", half, half) * weight, 1.0 - 1e-6)
        #: Of groups of several items, by size s: items (n, s), H W and (I − H W)⁻¹, (n, s, s) each.
        self.several = list(self._groups_of_several(half, groups))

    def weighted(self, weight: Array) -> Self:
        """Return the model that learns from other items, factorised anew."""
        return type(self)(self.front, self.Z[:, :-1], self.groups, weight)

    def _groups_of_several(
        self, half: Array, groups: Positions
    ) -> Iterator[tuple[Positions, Array, Array]]:
        _, code, size = np.unique(groups, return_inverse=True, return_counts=True)
        order, start = np.argsort(code, kind="stable"), np.cumsum(size) - size
        for s in np.unique(size[size > 1]).tolist():
            items = order[start[size == s][:, None] + np.arange(s)]
            columns = half[:, items]  # (m, n, s)
            HW = np.einsum("mns,mnt->nst", columns, columns) * self.weight[items][:, None]
            yield items, HW, np.linalg.inv((1.0 + 1e-9) * np.eye(s) - HW)

    def _left_out(self, beliefs: Array) -> Array:
        """Return fits of the beliefs, (n_items, K), each item left out with its group."""
        learnt = self.weight[:, None] * beliefs
        target = self.Z.T @ learnt
        fit = self.Z @ cho_solve(self.factor, target)
        h = self.leverage[:, None]
        found = np.where(self.weight[:, None] > 0, (fit - h * beliefs) / (1.0 - h), fit)
        for items, HW, inverse in self.several:
            found[items] = inverse @ (fit[items] - HW @ beliefs[items])
        return found

    def scores(self, beliefs: Array) -> Array:
        """Return the discriminant's scores of the fits, with the logarithms of the shares."""
        fit = self._left_out(beliefs)
        slope, constant = discriminant(fit, beliefs, self.weight)
        return np.asarray(fit @ slope + constant)

    def fitted(self, beliefs: Array, line: Calibration) -> tuple[Any, Calibration]:
        """Return the regression and its discriminant as one linear model, calibrated already."""
        slope, constant = discriminant(self._left_out(beliefs), beliefs, self.weight)
        coefficients = cho_solve(self.factor, self.Z.T @ (self.weight[:, None] * beliefs))
        steep = np.exp(line.log_slope)
        scores = steep * coefficients @ slope
        scores[-1] += steep * constant + line.weight
        model = LogisticClasses.of_scores(scores[:-1], scores[-1])
        return joined(self.front, None, model), Calibration.none(beliefs.shape[1])


def discriminant(fit: Array, beliefs: Array, weight: Array) -> tuple[Array, Array]:
    """Return slope (m, K) and constant (K,) of log P(class | fit) if fits of a class are normal.

    ``beliefs`` (n, K) say how far items belong to each class, ``weight`` (n,) how much they count.

    >>> fit = np.array([[0.1, 0.0], [0.0, 0.1], [0.12, 0.01], [0.02, 0.11]])
    >>> slope, constant = discriminant(fit, np.eye(2)[[0, 1, 0, 1]], np.ones(4))
    >>> (fit @ slope + constant).argmax(axis=1).tolist()
    [0, 1, 0, 1]
    """
    share = weight / weight.sum()
    member = beliefs * share[:, None]
    prior = np.maximum(member.sum(axis=0), 1e-12)
    centre = share @ fit
    spread = fit - centre
    means = member.T @ spread / prior[:, None]
    within = (spread * share[:, None]).T @ spread - (means * prior[:, None]).T @ means
    # Shares sum to one, so that one direction has no variance of its own.
    within[np.diag_indices_from(within)] += (
        WITHIN_SMOOTHING * np.trace(within) / len(within) + 1e-12
    )
    slope: Array = cho_solve(cho_factor(within), means.T)
    constant = np.log(prior) - (means.T * slope).sum(axis=0) / 2 - centre @ slope
    return slope, constant


class EstimatorModel(ClassModel):
    """Any probabilistic classifier, refitted on the beliefs of the other folds each round.

    In-sample probabilities of a flexible classifier would confirm its own errors; out-of-fold ones
    cannot. ``X`` are items or `PreparedItems`.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        folds: Sequence[Fold],
        weight: Array,
        n_jobs: int | None = None,
        name: str = "",
    ) -> None:
        items = X if isinstance(X, PreparedItems) else PreparedItems(X)
        self.name, self.estimator, self.n_jobs = name, estimator, n_jobs
        self.front, self.learner, self.seen = items.split(estimator)
        self.folds, self.weight = folds, weight

    def scores(self, beliefs: Array) -> Array:
        """Return out-of-fold log P(class | x)."""
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(fold_proba)(
                self.learner, self.seen, beliefs, train[self.weight[train] > 0], test
            )
            for train, test in self.folds
        )
        phi = np.full_like(beliefs, 1.0 / beliefs.shape[1])
        for (_, test), values in zip(self.folds, found, strict=True):
            phi[test] = values
        return np.log(np.maximum(phi, CERTAIN / 10))

    def fitted(self, beliefs: Array, line: Calibration) -> tuple[Any, Calibration]:
        """Return the classifier fitted to the items to learn from."""
        on = np.flatnonzero(self.weight > 0)
        model = fit_beliefs(self.learner, _safe_indexing(self.seen, on), beliefs[on])
        return joined(self.front, self.estimator, model), line


def fold_proba(learner: Any, seen: Any, beliefs: Array, train: Positions, test: Positions) -> Array:
    """Return P(class | x) of the test items, learnt from the beliefs of the training items.

    Where there are none, as where few items were asked about, every class is as probable.
    """
    if not (len(train) and len(test)):
        return np.full((len(test), beliefs.shape[1]), 1.0 / beliefs.shape[1])
    known, new = _safe_indexing(seen, train), _safe_indexing(seen, test)
    if issparse(seen) and hasattr(learner, "sparsify"):
        # Linear: a column without entries has the coefficient 0, and costs as much as any other.
        entered = np.unique(known.nonzero()[1])
        known, new = (one[:, entered] if entered.size else one for one in (known, new))
    return class_proba(fit_beliefs(learner, known, beliefs[train]), new, beliefs.shape[1])


def fit_beliefs(learner: Any, X: Any, beliefs: Array) -> Any:
    """Return a clone fitted to beliefs (n, K): directly, or to rows of items and classes.

    Where all items are of one class, as few items may be, it is that class: most classifiers would
    refuse to learn from one class alone.
    """
    if hasattr(learner, "fit_beliefs"):
        return clone(learner).fit_beliefs(X, beliefs)
    rows, label, weight = reduction.soft_rows(beliefs)
    if len(np.unique(label)) == 1:
        return DummyClassifier().fit(_safe_indexing(X, rows), label)
    model = clone(learner)
    return reduction.fit_weighted(model, _safe_indexing(X, rows), label, weight, rescale=False)


def class_proba(model: Any, X: Any, n_classes: int) -> Array:
    """Return P(class | x), (n, K), also where the model never saw some class."""
    proba = model.predict_proba(X)
    full = np.zeros((len(proba), n_classes))
    full[:, np.asarray(model.classes_, dtype=np.intp)] = proba
    return full
