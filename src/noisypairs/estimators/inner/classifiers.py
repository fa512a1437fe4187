"""The estimators used when none is given, chosen by measurement (docs/pointwise.md).

`default_candidates` says which. Below them stand those that scikit-learn does not have: logistic
regression on beliefs, Gaussian classes, boosted trees and a network that learn in stages, and the
mean of several classifiers.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from inspect import signature
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    clone,
    is_classifier,
    is_clusterer,
    is_outlier_detector,
    is_regressor,
)
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
    validate_data,
)

from noisypairs import reduction
from noisypairs.algebra import Array
from noisypairs.estimators.inner.features import (
    FiniteNumbers,
    KernelColumns,
    QuantileBins,
    TailScaler,
    kernel_map,
)

#: Up to so many classes trees and a network are among the candidates.
MANY_CLASSES = 10
#: From so many items on a network is among them: with fewer it is a slower kernel map.
NETWORK_ITEMS = 2_000


def default_regressor(X: Any, random_state: int | None = None) -> Pipeline:
    """Return ridge regression on an RBF kernel map of standardised features."""
    return make_pipeline(*kernel_map(X, random_state), Ridge())


def default_classifier(X: Any, random_state: int | None = None) -> Pipeline:
    """Return logistic regression on an RBF kernel map of standardised features."""
    return make_pipeline(*kernel_map(X, random_state), LogisticRegression())


def default_candidates(
    X: Any, random_state: int | None = None, n_classes: int = 2
) -> dict[str, Any]:
    """Return what the joint method chooses from beside the class model of its search.

    Linear, kernel (with a strong and a weak penalty), boosted trees (small and large) and a small
    network, the simplest first; the last three for dense tables of at most `MANY_CLASSES` classes,
    since they learn from one row per item and class.
    """
    numbers = [] if issparse(X) else [FiniteNumbers()]  # as in the search, which shares the work
    columns = [*numbers, KernelColumns(random_state=random_state)]
    scale = [StandardScaler(with_mean=False)] if issparse(X) else [*numbers, TailScaler()]
    candidates: dict[str, Any] = {}
    candidates["linear"] = make_pipeline(*scale, LogisticClasses(C=0.15))
    candidates["kernel, C=1"] = make_pipeline(*columns, LogisticClasses(C=1.0))
    candidates["kernel, C=15"] = make_pipeline(*map(clone, columns), LogisticClasses(C=15.0))
    if issparse(X) or n_classes > MANY_CLASSES:
        return candidates
    fixed = {"early_stopping": False, "max_bins": 128, "random_state": random_state}
    small = BoostedTrees(max_leaf_nodes=6, learning_rate=0.2, max_iter=TREES[-1], **fixed)
    large = BoostedTrees(max_leaf_nodes=31, learning_rate=0.2, max_iter=TREES[-2], **fixed)
    candidates["small trees"] = make_pipeline(QuantileBins(), small)
    candidates["trees"] = make_pipeline(QuantileBins(), large)
    if _num_samples(X) >= NETWORK_ITEMS:
        rate = 0.004 if n_classes == 2 else 0.001
        network = SmallNetwork(
            max_iter=EPOCHS[-1], alpha=0.01, learning_rate_init=rate, random_state=random_state
        )
        candidates["network"] = make_pipeline(*map(clone, scale), network)
    return candidates


def candidates_of(estimator: Any, X: Any, seed: int, n_classes: int = 2) -> dict[str, Any]:
    """Return the classifiers to choose from, by name, after checking what they can do.

    ``estimator`` is a classifier, a list of them, or None for `default_candidates`.
    """
    if estimator is None:
        return default_candidates(X, seed, n_classes)
    chosen = list(estimator) if isinstance(estimator, list | tuple) else [estimator]
    if not chosen:
        raise ValueError("estimator is an empty list: expected classifiers, or None")
    return {f"{i}: {type(one).__name__}": weighable(one, seed) for i, one in enumerate(chosen)}


def weighable(estimator: Any, seed: int | None = None) -> Any:
    """Return a classifier that takes ``sample_weight`` and gives probabilities, this one if it can.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> weighable(LogisticRegression()), weighable(KNeighborsClassifier(), 0)
    (LogisticRegression(), DrawnRows(estimator=KNeighborsClassifier(), random_state=0))
    """
    name = type(estimator).__name__
    if isinstance(estimator, type) or not hasattr(estimator, "fit"):
        what = f"the class {estimator.__name__}" if isinstance(estimator, type) else name
        raise TypeError(f"estimator is {what}: expected a classifier such as LogisticRegression()")
    other_kind = any(ask(estimator) for ask in (is_regressor, is_clusterer, is_outlier_detector))
    able = is_classifier(estimator) or hasattr(estimator, "predict_proba")
    if other_kind or not (able or hasattr(estimator, "predict")):
        raise TypeError(
            f"{name} is no classifier, and item beliefs are about classes: give a classifier such "
            "as LogisticRegression(); LossCorrectionClassifier takes any regressor"
        )
    if "pairs" in signature(estimator.fit).parameters:
        raise TypeError(
            f"{name} learns from pairs itself: expected a classifier that learns from classes, "
            "such as LogisticRegression()"
        )
    if hasattr(estimator, "fit_beliefs"):
        return estimator
    ready = hasattr(estimator, "predict_proba") and reduction.accepts_weights(estimator)
    return estimator if ready else DrawnRows(estimator, random_state=seed)


class DrawnRows(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier without ``sample_weight``: it learns from rows drawn by their weights.

    A row of weight w is drawn w times on average, ⌊w⌋ or ⌈w⌉ times. Where an item has a row for
    each class, weighted by beliefs, that draws its class. What ``n_draws`` classifiers predict is
    averaged: their probabilities, else the sigmoid of their decision function, else their votes.

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> model = DrawnRows(KNeighborsClassifier(1), random_state=0)
    >>> model.fit([[0.0], [0.0], [1.0]], [0, 1, 1], sample_weight=[0.6, 0.4, 1.0]).predict([[0.9]])
    array([1])
    """

    def __init__(self, estimator: Any, n_draws: int = 5, random_state: int | None = None) -> None:
        self.estimator = estimator
        self.n_draws = n_draws
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit a clone to each draw; draws of a single class are left out."""
        names, code = np.unique(np.asarray(y), return_inverse=True)
        self.classes_ = names
        weight = np.ones(len(code)) if sample_weight is None else np.asarray(sample_weight, float)
        rng = np.random.default_rng(self.random_state)
        drawn: dict[bytes, NDArray[np.intp]] = {}
        for _ in range(self.n_draws):
            order = rng.permutation(len(code))
            ends = np.floor(np.cumsum(weight[order]) + rng.random())
            times = np.diff(ends, prepend=0.0).astype(np.intp)
            rows = np.sort(np.repeat(order, times))
            if np.unique(code[rows]).size > 1 or len(names) == 1:
                drawn[rows.tobytes()] = rows
        if not drawn:
            raise ValueError(
                f"{type(self.estimator).__name__} was to learn from items that are nearly all of "
                f"class {names[np.bincount(code, weight).argmax()]}: there is nothing to tell "
                "apart. Collect more answers, or leave estimator out"
            )
        self.estimators_ = [
            clone(self.estimator).fit(_safe_indexing(X, rows), names[code[rows]])
            for rows in drawn.values()
        ]
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the mean over the draws, (n, K)."""
        found = np.zeros((_num_samples(X), len(self.classes_)))
        for one in self.estimators_:
            found[:, np.searchsorted(self.classes_, one.classes_)] += _shares(one, X)
        return np.asarray(found / len(self.estimators_))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def _shares(model: Any, X: Any) -> NDArray[np.float64]:
    """Return P(class | x), (n, K), of any fitted classifier, or what comes nearest to it."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=float)
    if hasattr(model, "decision_function"):
        margin = np.asarray(model.decision_function(X), dtype=float)
        if margin.ndim == 1:
            return np.column_stack([expit(-margin), expit(margin)])
        return np.asarray(softmax(margin, axis=1))
    return np.asarray(np.asarray(model.predict(X))[:, None] == model.classes_, dtype=float)


#: Up to so many columns their second moments are worth factorising: steps are then few.
MOST_FACTORISED = 1000


class BeliefClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that learns from P(class | item) as it does from labels.

    Subclasses define `_learn` and `predict_proba`. ``_sparse`` says which sparse tables they take.
    """

    _sparse: str | bool = False

    @abstractmethod
    def _learn(self, X: Any, member: Array) -> Self:
        """Fit to a weight of every item and class, (n, K)."""

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to hard labels."""
        X, y = validate_data(self, X, y, dtype=np.float64, accept_sparse=self._sparse)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        return self._learn(X, np.eye(len(self.classes_))[codes] * weight[:, None])

    def fit_beliefs(self, X: Any, beliefs: Array) -> Self:
        """Fit to P(class | item), shape (n, K), one row per item; the classes are 0 to K − 1."""
        X = validate_data(self, X, dtype=np.float64, accept_sparse=self._sparse)
        self.classes_ = np.arange(beliefs.shape[1])
        return self._learn(X, beliefs)

    def _seen(self, X: Any) -> Any:
        """Return new items after checking them."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, accept_sparse=self._sparse, reset=False)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the likeliest class, shape (n,)."""
        likeliest = self.predict_proba(X).argmax(axis=1)  # first, for it says if fit is missing
        return np.asarray(self.classes_[likeliest])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._sparse)
        return tags


class LogisticClasses(BeliefClassifier):
    """Multinomial logistic regression with a ridge penalty, fitted to labels or to beliefs.

    scikit-learn's takes hard labels, so beliefs need a row per item and class there. Here
    `fit_beliefs` minimises −Σ_i Σ_k b_ik log p_k(x_i) + |W|²/2C directly, by L-BFGS in coordinates
    where the curvature is nearly that of the unit matrix: (¼ XᵀX + 1/C) bounds it from above. With
    ``warm_start`` it begins at the coefficients of the last fit, if they are of the same shape.

    >>> model = LogisticClasses().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> model.predict([[0.4], [4.1]])
    array([0, 1])
    >>> beliefs = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> LogisticClasses(C=1e6).fit_beliefs([[0.0], [1.0]], beliefs).predict_proba([[1.0]]).round(2)
    array([[0.2, 0.8]])
    """

    _sparse = "csr"

    def __init__(
        self, C: float = 1.0, tol: float = 1e-6, max_iter: int = 200, warm_start: bool = False
    ) -> None:
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    @classmethod
    def of_scores(cls, slope: Array, constant: Array) -> Self:
        """Return the model with these scores of K classes, xᵀ slope + constant, (d, K) and (K,).

        >>> model = LogisticClasses.of_scores(np.array([[0.0, 1.0]]), np.zeros(2))
        >>> model.predict_proba([[0.0], [9.0]]).round(2).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
        """
        model = cls()
        model.classes_, model.n_features_in_ = np.arange(len(constant)), len(slope)
        if len(constant) == 2:  # one score, the log-odds of the second class
            slope, constant = slope[:, 1:] - slope[:, :1], constant[1:] - constant[:1]
        model.coef_, model.intercept_, model.n_iter_ = slope, constant, 0
        return model

    def _learn(self, X: Any, wanted: Array) -> Self:
        (n_rows, n_columns), K = X.shape, wanted.shape[1]
        if issparse(X) and n_rows < min(n_columns, MOST_FACTORISED):
            return self._minimise_by_rows(X, wanted)
        # Between two classes the second coefficients are the first with the other sign.
        wanted, pair = (wanted, False) if K > 2 else (wanted[:, ::-1], True)
        weight = wanted.sum(axis=1, keepdims=True)
        root = self._curvature_root(X, weight)

        def coefficients(v: Array) -> Array:
            W = v.reshape(n_columns + 1, -1)
            return W if root is None else solve_triangular(root, W, trans=1, lower=True)

        def objective(v: Array) -> tuple[float, Array]:
            W = coefficients(v)
            value, residual = _loss(X @ W[:-1] + W[-1], wanted, weight)
            slope = np.vstack([X.T @ residual + W[:-1] / penalised, residual.sum(axis=0)])
            if root is not None:
                slope = solve_triangular(root, slope, lower=True)
            return value + float((W[:-1] ** 2).sum()) / (2 * penalised), slope.ravel()

        penalised = 2 * self.C if pair else self.C
        start = self._first_coefficients(n_columns, 1 if pair else K)
        found = minimize(
            objective,
            (start if root is None else root.T @ start).ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iter, "ftol": self.tol, "gtol": 1e-8},
        )
        W = coefficients(found.x)
        self.coef_, self.intercept_, self.n_iter_ = W[:-1], W[-1], int(found.nit)
        return self

    def _minimise_by_rows(self, X: Any, wanted: Array) -> Self:
        """Minimise with fewer rows than columns: W = Xᵀ R⁻ᵀ V, where R Rᵀ = X Xᵀ.

        X W = R V and |W| = |V|, so the rows of R, (n, n), stand for those of X.
        """
        gram = (X @ X.T).toarray()
        gram[np.diag_indices_from(gram)] += 1e-10 * max(np.trace(gram) / len(gram), 1e-300)
        R = cholesky(gram, lower=True)
        inner = LogisticClasses(self.C, self.tol, self.max_iter, self.warm_start)
        last = self._first_coefficients(X.shape[1], 1 if wanted.shape[1] == 2 else wanted.shape[1])
        inner.coef_, inner.intercept_ = solve_triangular(R, X @ last[:-1], lower=True), last[-1]
        inner._learn(R, wanted)
        self.coef_ = X.T @ solve_triangular(R, inner.coef_, trans=1, lower=True)
        self.intercept_, self.n_iter_ = inner.intercept_, inner.n_iter_
        return self

    def _first_coefficients(self, n_columns: int, n_scores: int) -> Array:
        """Return where to begin, (n_columns + 1, n_scores): at zero, or at the last fit."""
        last = getattr(self, "coef_", None) if self.warm_start else None
        if last is None or last.shape != (n_columns, n_scores):
            return np.zeros((n_columns + 1, n_scores))
        return np.vstack([last, self.intercept_])

    def _curvature_root(self, X: Any, weight: Array) -> Array | None:
        """Return the lower Cholesky factor of ¼ XᵀX + 1/C with a constant column, or None.

        None where it would cost too much.
        """
        if issparse(X) or X.shape[1] > MOST_FACTORISED:
            return None
        beside = np.column_stack([X, np.ones(len(X))])
        bound: Array = 0.25 * ((beside * weight).T @ beside)
        bound[np.diag_indices_from(bound)] += np.r_[np.full(X.shape[1], 1.0 / self.C), 1e-6]
        root: Array = cholesky(bound, lower=True)
        return root

    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x), shape (n, K)."""
        scores = self._seen(X) @ self.coef_ + self.intercept_
        if len(self.classes_) != 2:
            return np.asarray(softmax(scores, axis=1))
        second = expit(scores)
        return np.column_stack([1.0 - second[:, 0], second[:, 0]])


def _loss(scores: Array, wanted: Array, weight: Array) -> tuple[float, Array]:
    """Return −Σ b log p and its derivative with respect to the scores, (n, 1) for two classes.

    The one score of two classes is the log-odds of the first column of ``wanted``.
    """
    if scores.shape[1] == 1:
        value = weight * np.logaddexp(0.0, scores) - wanted[:, :1] * scores
        return float(value.sum()), weight * expit(scores) - wanted[:, :1]
    shifted = scores - scores.max(axis=1, keepdims=True)
    exponential = np.exp(shifted)
    total = exponential.sum(axis=1, keepdims=True)
    value = weight * np.log(total) - (wanted * shifted).sum(axis=1, keepdims=True)
    return float(value.sum()), weight * (exponential / total) - wanted


#: A class of fewer other items than this is taken to have so many.
FEWEST_OTHERS = 0.3


class GaussianClasses(BeliefClassifier):
    """P(x | y) = N(μ_y, diag(v)), the same v for all classes; takes ``sample_weight``.

    P(y | x) ∝ π_y exp(−Σ_j (x_j − μ_yj)² / 2v_j). Where features cluster by class it trusts the
    clusters more than any discriminative model would, which is what answers that err on the same
    hard items again and again call for. (scikit-learn's naive Bayes has a covariance per class, its
    discriminant analysis takes no weights.)

    >>> model = GaussianClasses().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> model.predict([[0.4], [4.1]])
    array([0, 1])
    """

    def __init__(self, smoothing: float = 1e-6) -> None:
        self.smoothing = smoothing

    def _learn(self, X: Array, member: Array) -> Self:
        total = np.maximum(member.sum(axis=0), 1e-12)
        self.class_prior_ = total / total.sum()
        centre = X.mean(axis=0)  # about which squares are summed: far from it they would cancel
        means = member.T @ (X - centre) / total[:, None]
        squares = member.sum(axis=1) @ (X - centre) ** 2 - total @ means**2
        within = np.maximum(squares, 0.0) / total.sum()
        self.means_ = centre + means
        self.variance_ = within + self.smoothing * max(float(X.var(axis=0).max()), 1e-12)
        return self

    def leave_one_out(self, X: Any, beliefs: Array, weight: Array) -> Array:
        """Return P(class | x) of every item, (n, K), learnt from the beliefs of all others.

        Without item i the mean of class k is (n_k μ_k − b_ik x_i)/(n_k − b_ik), so x_i lies
        n_k/(n_k − b_ik) times as far from it; and it is the mean of so few items that x scatters
        by 1 + 1/(n_k − b_ik) times the variance about it. In folds a class of five items would lose
        one of them for every fold. ``weight`` (n,) is 1 for items to learn from and 0 for others.
        """
        X = validate_data(self, X, dtype=np.float64)
        member = beliefs * weight[:, None]
        self.classes_ = np.arange(beliefs.shape[1])
        self._learn(X[weight > 0], member[weight > 0])
        scale, total = np.sqrt(self.variance_), member.sum(axis=0)
        seen, means = (X - X.mean(axis=0)) / scale, (self.means_ - X.mean(axis=0)) / scale
        squares = (seen**2).sum(axis=1)[:, None] - 2.0 * seen @ means.T + (means**2).sum(axis=1)
        others = np.maximum(total - member, FEWEST_OTHERS)
        far = squares * (total / others).clip(1.0) ** 2
        wider = 1.0 + 1.0 / others
        log_chance = np.log(others) - far / (2.0 * wider) - X.shape[1] / 2.0 * np.log(wider)
        return np.asarray(softmax(log_chance, axis=1))

    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x), shape (n, K)."""
        X = self._seen(X) / np.sqrt(self.variance_)
        means = self.means_ / np.sqrt(self.variance_)
        # |x − μ|² less the |x|² that all classes share
        distance = (means**2).sum(axis=1) - 2.0 * X @ means.T
        proba: Array = softmax(np.log(self.class_prior_) - distance / 2.0, axis=1)
        return proba


#: Trees, or epochs, after which a stage is looked at.
TREES, EPOCHS = (10, 20, 30, 50, 80), (3, 6, 12, 24, 40)


@runtime_checkable
class Staged(Protocol):
    """A classifier whose number of stages is best chosen by items it was not fitted to."""

    def stages(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, X_new: Any
    ) -> Iterator[tuple[int, Array]]:
        """Fit, and yield after how many ``max_iter`` P(class | x_new) is what, shape (m, K)."""
        ...


class BoostedTrees(HistGradientBoostingClassifier):  # type: ignore[misc]
    """scikit-learn's boosted trees, of as many rounds as held-out items call for."""

    def stages(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, X_new: Any
    ) -> Iterator[tuple[int, Array]]:
        """Grow 10, 20, … trees, each time only so many more, and yield what they predict."""
        most = self.max_iter
        self.set_params(warm_start=True)
        for number in sorted({*(few for few in TREES if few < most), most}):
            self.set_params(max_iter=number).fit(X, y, sample_weight=sample_weight)
            yield number, self.predict_proba(X_new)


class SmallNetwork(MLPClassifier):  # type: ignore[misc]
    """scikit-learn's network, of as many epochs as held-out items call for."""

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit for ``max_iter`` epochs: where to end was chosen before, so it is no failure."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            super().fit(X, y, sample_weight)
        return self

    def stages(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, X_new: Any
    ) -> Iterator[tuple[int, Array]]:
        """Go through the items epoch by epoch, and yield what the network then predicts."""
        classes = np.unique(y)
        for epoch in range(1, self.max_iter + 1):
            known = {"classes": classes} if epoch == 1 else {}
            self.partial_fit(X, y, sample_weight=sample_weight, **known)
            if epoch in EPOCHS or epoch == self.max_iter:
                yield epoch, self.predict_proba(X_new)
