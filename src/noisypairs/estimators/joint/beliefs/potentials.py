"""What turns item beliefs into P(class | x): a fast closed form, and any classifier out of fold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import softmax
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from noisypairs import reduction
from noisypairs.algebra import Array
from noisypairs.estimators.inner.front import PreparedItems, joined
from noisypairs.estimators.inner.ridge import CUT, widening

#: Beyond so many classes the starts need a `discriminant`.
MANY_CLASSES = 6
#: What is added to each variance within classes, as a share of their mean.
STEADIER = 0.01

Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


class RidgePotential:
    """Ridge regression of the beliefs on fixed features, out of fold, factorised once.

    Only the right-hand side Zᵀ B changes from round to round, so a round costs two products with
    Z, shape (n_items, m). ``weight`` (n_items,) is 1 for items in pairs and 0 for the others.
    """

    def __init__(self, Z: Array, folds: Sequence[Fold], weight: Array, penalty: float = 1.0):
        tests = [test for _, test in folds]
        self.order, self.weight = np.concatenate(tests), weight[:, None]
        ends = np.cumsum([test.size for test in tests])
        self.folds = [slice(end - test.size, end) for test, end in zip(tests, ends, strict=True)]
        # Fold by fold, so that the rows of each lie together.
        self.Z = np.column_stack([Z[self.order], np.ones(self.order.size)])
        grams = [self._gram(fold) for fold in self.folds]
        ridge = penalty * np.eye(self.Z.shape[1])
        ridge[-1, -1] = 1e-6
        #: Zᵀ Z of what every fold is learnt from, with a constant as the last column.
        self.moments = [sum(grams) - gram for gram in grams]
        self.factors = [cho_factor(own + ridge) for own in self.moments]

    def _gram(self, fold: slice) -> Array:
        part: Array = self.Z[fold].T @ (self.Z[fold] * self.weight[self.order[fold]])
        return part

    def __call__(self, beliefs: Array) -> Array:
        """Return out-of-fold P(class | x), shape (n_items, K), cut as `RidgeClasses` does.

        Of many classes a regression gives each so small a share that it hardly tells them apart;
        there it serves as the columns of a `discriminant`.
        """
        weighted = (beliefs * self.weight)[self.order]
        sums = [self.Z[fold].T @ weighted[fold] for fold in self.folds]
        phi = np.empty_like(beliefs)
        for fold, factor, own in zip(self.folds, self.factors, sums, strict=True):
            phi[self.order[fold]] = self.Z[fold] @ cho_solve(factor, sum(sums) - own)
        if beliefs.shape[1] > MANY_CLASSES:
            return discriminant(phi, beliefs, self.weight[:, 0])
        # Left alone, shrinking would flatten φ round after round where answers are weak, and S
        # would come out too certain to make up for it.
        centre, width = widening(phi, beliefs, self.weight[:, 0])
        cut: Array = np.clip(centre + width * (phi - centre), CUT, 1 - CUT)
        return cut


def discriminant(fit: Array, wanted: Array, weight: Array) -> Array:
    """Return P(class | fit), (n, K), if fits (n, K) of a class are normal with one covariance.

    ``wanted`` (n, K) says how far items belong to each class, ``weight`` (n,) how much they count.

        P(k | f) ∝ π_k exp(fᵀ W⁻¹ μ_k − μ_kᵀ W⁻¹ μ_k / 2)

    >>> fit = np.array([[0.1, 0.0], [0.0, 0.1], [0.12, 0.01], [0.02, 0.11]])
    >>> wanted = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    >>> discriminant(fit, wanted, np.ones(4)).round(3)[:2].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    share = weight / weight.sum()
    member = wanted * share[:, None]
    prior = np.maximum(member.sum(axis=0), 1e-12)
    spread = fit - share @ fit
    means = member.T @ spread / prior[:, None]
    within = (spread * share[:, None]).T @ spread - (means * prior[:, None]).T @ means
    # Shares sum to one, so that one direction has no variance of its own.
    within[np.diag_indices_from(within)] += STEADIER * np.trace(within) / len(within) + 1e-12
    slope = cho_solve(cho_factor(within), means.T)
    scores = spread @ slope - (means.T * slope).sum(axis=0) / 2 + np.log(prior)
    return np.asarray(softmax(scores, axis=1))


class EstimatorPotential:
    """Any probabilistic classifier, refitted on the beliefs of the other folds each round.

    In-sample probabilities of a flexible classifier would confirm its own errors; out-of-fold
    ones cannot. Items in no pair are predicted but never trained on. ``known`` holds what is
    already known for one array of beliefs: it and {number of a fold: its probabilities}. A learner
    that can leave out each item by itself (``leave_one_out``) needs no folds. One of beliefs with
    ``warm_start`` begins at its last round. ``moments`` of the training items of every fold, where
    known, are as `fit_fold` takes them.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        folds: Sequence[Fold],
        in_pairs: NDArray[np.bool_],
        n_jobs: int | None = None,
        known: tuple[Array, Mapping[int, Array]] | None = None,
        moments: Sequence[Array | None] = (),
    ) -> None:
        items = X if isinstance(X, PreparedItems) else PreparedItems(X)
        _, self.learner, self.seen = items.split(estimator)
        self.folds, self.in_pairs, self.n_jobs, self.known = folds, in_pairs, n_jobs, known
        self.moments = moments or [None] * len(folds)
        self.last: dict[int, Any] = {}  # number of a fold: what was fitted to the others

    def __call__(self, beliefs: Array) -> Array:
        """Return out-of-fold P(class | x), shape (n_items, K)."""
        if hasattr(self.learner, "leave_one_out"):
            weight = self.in_pairs.astype(float)
            return np.asarray(clone(self.learner).leave_one_out(self.seen, beliefs, weight))
        phi = np.empty_like(beliefs)
        known = self.known[1] if self.known and self.known[0] is beliefs else {}
        unknown = [number for number in range(len(self.folds)) if number not in known]
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_fold)(
                self.learner,
                self.seen,
                beliefs,
                self.folds[number][0][self.in_pairs[self.folds[number][0]]],
                self.folds[number][1],
                self.moments[number],
                self.last.get(number),
            )
            for number in unknown
        )
        for number, values in known.items():
            phi[self.folds[number][1]] = values
        for number, (model, values) in zip(unknown, found, strict=True):
            phi[self.folds[number][1]] = values
            if _goes_on(model):
                self.last[number] = model.set_params(warm_start=True)
        return phi


def fit_fold(
    learner: Any,
    seen: Any,
    beliefs: Array,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    moments: Array | None = None,
    last: Any = None,
) -> tuple[Any, Array]:
    """Return the learner fitted to beliefs of training items, and P(class | x) of the test items.

    ``moments`` are those of the training items, for a learner that would compute them otherwise,
    and ``last`` is what it was in the last round.
    """
    model = _fit(learner, seen, beliefs, train, moments, last)
    return model, class_proba(model, _safe_indexing(seen, test), beliefs.shape[1])


def _goes_on(learner: Any) -> bool:
    """Return whether a learner of beliefs can begin where its last fit ended."""
    return hasattr(learner, "fit_beliefs") and hasattr(learner, "warm_start")


def fit_beliefs(estimator: Any, X: Any, beliefs: Array, items: NDArray[np.intp]) -> Any:
    """Fit a clone of the classifier to the beliefs of some items; what needs no labels, to all."""
    prepared = X if isinstance(X, PreparedItems) else PreparedItems(X)
    front, learner, seen = prepared.split(estimator)
    return joined(front, estimator, _fit(learner, seen, beliefs, items))


def _fit(
    learner: Any,
    seen: Any,
    beliefs: Array,
    items: NDArray[np.intp],
    moments: Array | None = None,
    last: Any = None,
) -> Any:
    """Fit to beliefs where the learner takes them, and else to rows of items.

    ``last`` is what the learner was in the last round, to go on from.
    """
    if hasattr(learner, "fit_beliefs"):
        model = clone(learner) if last is None else last
        known = {} if moments is None else {"moments": moments}
        return model.fit_beliefs(_safe_indexing(seen, items), beliefs[items], **known)
    seen, label, weight = _rows(learner, seen, beliefs, items)
    if weight is None:
        return clone(learner).fit(seen, label)
    return reduction.fit_weighted(clone(learner), seen, label, weight, rescale=False)


def _rows(
    learner: Any, seen: Any, beliefs: Array, items: NDArray[np.intp]
) -> tuple[Any, NDArray[Any], Array | None]:
    """Return what a learner is fitted to: X, y and weights, a row per item and class.

    One that takes shares of class 1 for y needs only one row per item, and no weights.
    """
    if beliefs.shape[1] == 2 and getattr(learner, "takes_shares", False):
        return _safe_indexing(seen, items), beliefs[items, 1], None
    rows, label, weight = reduction.soft_rows(beliefs[items])
    return _safe_indexing(seen, items[rows]), label, weight


def class_proba(model: Any, X: Any, n_classes: int) -> Array:
    """Return P(class | x), shape (n, K), also where the model never saw some class."""
    return all_classes(model.predict_proba(X), model.classes_, n_classes)


def all_classes(proba: Array, classes: NDArray[Any], n_classes: int) -> Array:
    """Return P(class | x) with a column for every class, (n, K), from those of some."""
    full = np.zeros((len(proba), n_classes))
    full[:, np.asarray(classes, dtype=np.intp)] = proba
    return full


def fit_stages(
    learner: Any,
    seen: Any,
    beliefs: Array,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    first: int = 1,
) -> Iterator[tuple[int, Array]]:
    """Yield (stage, P(class | x) of the test items) of a `Staged` learner, from a stage on."""
    X, label, weight = _rows(learner, seen, beliefs, train)
    K = beliefs.shape[1]
    classes = np.unique(label) if weight is not None else np.arange(K)
    for stage, proba in clone(learner).stages(X, label, weight, _safe_indexing(seen, test), first):
        yield stage, all_classes(proba, classes, K)
