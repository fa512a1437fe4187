"""The paper's weighted classification: "same" against "different", weighed by 1−α and α."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if

from noisypairs import algebra, model_selection, reduction
from noisypairs.algebra import Array
from noisypairs.estimators.base import ClassOrder, NoiseName
from noisypairs.estimators.inner.classifiers import default_classifier, weighable
from noisypairs.estimators.pointwise import HeldOut, PointwiseClassifier
from noisypairs.noise import NoiseModel
from noisypairs.pairs import ItemCounts


class WeightedRule(NamedTuple):
    """A fitted same/different classifier with the α and A that turn it into a class rule."""

    model: Any
    alpha: float
    gain: float

    def margin(self, X: Any) -> Array:
        """Return how far x lies on the side of class 1, shape (n,)."""
        turn = 1.0 if self.gain > 0 else -1.0
        if hasattr(self.model, "predict_proba"):
            return turn * (np.asarray(self.model.predict_proba(X)[:, 1], dtype=float) - 0.5)
        return turn * np.asarray(self.model.decision_function(X), dtype=float)

    def positive_proba(self, X: Any) -> Array:
        """Return P(class 1 | x), shape (n,), from the weighted probability g of "same".

        Undo the weights, m = αg / (αg + (1−α)(1−g)), then m = α + A(2η − 1) for η.
        """
        g = np.asarray(self.model.predict_proba(X)[:, 1], dtype=float)
        m = self.alpha * g / (self.alpha * g + (1.0 - self.alpha) * (1.0 - g))
        positive: Array = np.clip(0.5 + (m - self.alpha) / (2.0 * self.gain), 0.0, 1.0)
        return positive


def _has_proba(self: WeightedPairClassifier) -> bool:
    inner = getattr(self, "estimator_", self.estimator)
    return inner is None or hasattr(inner, "predict_proba")


class WeightedPairClassifier(PointwiseClassifier):
    """Classify occurrences as "same" or "different" with weights 1−α and α (Theorem 3).

    R_α,noisy(f) = A·R(f) + const, so the weighted rule is the clean Bayes rule, turned over where
    A < 0. Training has one row per item and answer, whatever the number of pairs.

    Parameters
    ----------
    estimator : any classifier; one without ``sample_weight`` learns from rows drawn by weight.
    noise, prior : as for `LossCorrectionClassifier`; they give α, A and the probabilities.
    alpha : ``"noise"``, (a+b)/2 of noise and prior; ``"cv"``, chosen on held-out answers, right
        for pairing noise at any two rates; or a number. ``alpha=0.5`` is the unweighted baseline.
    class_order, cv, random_state, n_jobs : as for `LossCorrectionClassifier`.

    Attributes
    ----------
    classes_, noise_, prior_ : class names, and the noise and P(classes_[1]) that were used.
    alpha_, gain_ : the weight α, and A, which turns the rule over where it is negative.
    estimator_ : the inner classifier, fitted on one row per item and answer.

    References
    ----------
    Dan, S., Bao, H. and Sugiyama, M. (2021). Learning from Noisy Similar and Dissimilar Data. ECML
    PKDD 2021, doi:10.1007/978-3-030-86520-7_15.

    Examples
    --------
    >>> from noisypairs import PairingNoise, WeightedPairClassifier, datasets, sample_pairs
    >>> X, y = datasets.load("gaussians", n_samples=2000, random_state=0)
    >>> noise = PairingNoise(0.2, 0.1)
    >>> pairs = sample_pairs(y, 20_000, noise, random_state=0)
    >>> clf = WeightedPairClassifier(noise=noise, class_order="falling").fit(X, pairs)
    >>> bool(clf.score(X, y) > 0.99)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        noise: NoiseModel | NoiseName | str = "pairing",
        prior: float | Literal["estimate"] = "estimate",
        alpha: float | Literal["noise", "cv"] = "noise",
        class_order: ClassOrder = None,
        cv: int = 5,
        random_state: int | None = None,
        n_jobs: int | None = None,
        **former: Any,
    ) -> None:
        self.estimator = estimator
        self.noise = noise
        self.prior = prior
        self.alpha = alpha
        self.class_order = class_order
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self._take_former(former)

    def _fit_candidate(
        self,
        model: Any,
        X: Any,
        counts: ItemCounts,
        noise: NoiseModel,
        prior: float,
        held_out: HeldOut,
    ) -> WeightedRule:
        alpha = self._chosen_alpha(held_out, noise, prior)
        rows, label, weight = reduction.weighted_rows(counts, alpha)
        if len(np.unique(label)) < 2:
            raise ValueError("all answers are equal: there is nothing to tell apart")
        reduction.fit_weighted(model, _safe_indexing(X, rows), label, weight)
        return WeightedRule(model, alpha, algebra.gain(noise.same_probability(), prior))

    def _keep(self, model: WeightedRule) -> None:
        self.estimator_, self.alpha_, self.gain_ = model

    @available_if(_has_proba)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Return P(class | x), shape (n_items, 2), columns in the order of ``classes_``."""
        return super().predict_proba(X)

    def decision_function(self, X: Any) -> Array:
        """Return the weighted classifier's margin, turned over where A < 0, shape (n,)."""
        X = self._check_items(X)
        return self._fitted_rule().margin(X)

    def _inner_estimator(self, X: Any) -> Any:
        if self.estimator is None:
            return default_classifier(X, self.random_state)
        name = type(self.estimator).__name__
        if is_regressor(self.estimator):
            raise TypeError(
                f"WeightedPairClassifier needs a classifier, and {name} is a regressor. Use "
                "LossCorrectionClassifier, which takes any regressor"
            )
        if not reduction.accepts_weights(self.estimator):
            return weighable(self.estimator, self.random_state)
        tuned = isinstance(self.noise, str) or self.alpha == "cv"
        if tuned and not hasattr(self.estimator, "predict_proba"):
            return weighable(self.estimator, self.random_state)
        return self.estimator

    def _chosen_alpha(self, held_out: HeldOut, noise: NoiseModel, prior: float) -> float:
        if self.alpha == "noise":
            return algebra.alpha(noise.same_probability(), prior)
        if self.alpha == "cv":
            return model_selection.choose_alpha(held_out())
        if isinstance(self.alpha, str) or not 0 < self.alpha < 1:
            raise ValueError(f"alpha={self.alpha!r}: expected 'noise', 'cv' or a number in (0, 1)")
        return float(self.alpha)

    def _fitted_rule(self) -> WeightedRule:
        return WeightedRule(self.estimator_, self.alpha_, self.gain_)

    def _positive_proba(self, model: WeightedRule, X: Any) -> Array:
        if hasattr(model.model, "predict_proba"):
            return model.positive_proba(X)
        return (model.margin(X) > 0).astype(float)  # enough for labels to choose between rules
