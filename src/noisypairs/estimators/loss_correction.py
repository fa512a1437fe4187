"""The paper's T-Loss: train on noisy pairs with a loss whose mean is the clean loss."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing

from noisypairs import reduction
from noisypairs.algebra import Array, Formula
from noisypairs.errors import did_you_mean
from noisypairs.estimators.base import ClassOrder, NoiseName
from noisypairs.estimators.inner.classifiers import default_regressor
from noisypairs.estimators.linear import LOSSES, LinearRiskClassifier, LossName
from noisypairs.estimators.pointwise import HeldOut, PointwiseClassifier
from noisypairs.noise import NoiseModel
from noisypairs.pairs import ItemCounts


class LossCorrectionClassifier(PointwiseClassifier):
    """Minimise the unbiased corrected risk of the noisy pairs, pooled to one row per item.

    l̃(t, Q) = C[Q, +] l(t, +1) + C[Q, −] l(t, −1) with C = T⁻ᵀ has E[l̃(t, Q) | y] = l(t, y), so the
    risk of the pairs is Σ_i u_i l(f(x_i), +1) + v_i l(f(x_i), −1). For the squared loss that is
    weighted regression on u_i/(u_i+v_i), exactly, and any regressor serves.

    Parameters
    ----------
    estimator : what learns. ``loss="squared"``: any regressor (without ``sample_weight`` support
        every item counts once: the targets stay unbiased, only efficiency is lost). Other losses:
        None for a linear model, or an estimator with ``fit_risk(X, u, v)`` such as
        `noisypairs.torch.TorchClassifier`, whose own loss is then used.
    noise : a noise model, or a family, ``"pairing"`` (also ``"auto"``) or ``"labeling"``, whose
        rates are then chosen on held-out answers.
    prior : P(class 1), or ``"estimate"`` from the share of "same" (pairs drawn at random).
    loss : ``"squared"``, ``"logistic"``, ``"brier"`` (the squared loss of a logistic model's
        probabilities, as in the paper), ``"squared_hinge"`` or ``"sigmoid"``.
    formula : ``"unbiased"``, or ``"printed"`` for the paper's T⁻¹ and printed posterior.
    non_negative : keep each class's part of the risk from going below zero, which is over-fitting
        (squared loss with a regressor: targets are cut to [0, 1], the same for each item).
    class_order : how the two classes are numbered when the prior is estimated and no item is
        labelled: ``"rising"`` or ``"falling"`` by size, or their names, the smaller one first.
    cv, random_state, n_jobs : folds by item when noise is estimated.

    Attributes
    ----------
    classes_, noise_, prior_ : class names, and the noise and P(classes_[1]) that were used.
    estimator_ : the inner estimator, fitted on one row per item.

    References
    ----------
    Dan, S., Bao, H. and Sugiyama, M. (2021). Learning from Noisy Similar and Dissimilar Data. ECML
    PKDD 2021, doi:10.1007/978-3-030-86520-7_15.

    Examples
    --------
    >>> from noisypairs import LossCorrectionClassifier, PairingNoise, datasets, sample_pairs
    >>> X, y = datasets.load("gaussians", n_samples=2000, random_state=0)
    >>> noise = PairingNoise(0.2, 0.1)
    >>> pairs = sample_pairs(y, 20_000, noise, random_state=0)
    >>> clf = LossCorrectionClassifier(noise=noise, class_order="falling").fit(X, pairs)
    >>> bool(clf.score(X, y) > 0.99)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        noise: NoiseModel | NoiseName | str = "pairing",
        prior: float | Literal["estimate"] = "estimate",
        loss: LossName = "squared",
        formula: Formula = "unbiased",
        non_negative: bool = False,
        class_order: ClassOrder = None,
        cv: int = 5,
        random_state: int | None = None,
        n_jobs: int | None = None,
        **former: Any,
    ) -> None:
        self.estimator = estimator
        self.noise = noise
        self.prior = prior
        self.loss = loss
        self.formula = formula
        self.non_negative = non_negative
        self.class_order = class_order
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self._take_former(former)

    def _inner_estimator(self, X: Any) -> Any:
        if self.loss == "squared":
            if self.estimator is None:
                return default_regressor(X, self.random_state)
            if is_classifier(self.estimator):
                raise TypeError(
                    f"loss='squared' hands real-valued targets to a regressor, and "
                    f"{type(self.estimator).__name__} is a classifier. Give a regressor, or use "
                    "WeightedPairClassifier, which takes any classifier"
                )
            return self.estimator
        if self.loss not in LOSSES:
            raise ValueError(f"loss={self.loss!r}: {did_you_mean(str(self.loss), LOSSES)}")
        if self.estimator is None:
            return LinearRiskClassifier(loss=self.loss)
        if not hasattr(self.estimator, "fit_risk"):
            raise TypeError(
                f"loss={self.loss!r} gives items weights of both signs, which "
                f"{type(self.estimator).__name__} cannot take. Use loss='squared' with any "
                "regressor, estimator=None for a linear model, or noisypairs.torch.TorchClassifier"
            )
        return self.estimator

    def _fit_candidate(
        self,
        model: Any,
        X: Any,
        counts: ItemCounts,
        noise: NoiseModel,
        prior: float,
        held_out: HeldOut,  # noqa: ARG002 -- the weighted learner needs it
    ) -> Any:
        u, v = reduction.risk_weights(counts, noise.corrected_coefficients(prior, self.formula))
        if self.loss != "squared":
            rows = np.flatnonzero((u != 0) | (v != 0))
            return model.fit_risk(
                _safe_indexing(X, rows), u[rows], v[rows], non_negative=self.non_negative
            )
        rows, target, weight = reduction.squared_loss_rows(u, v)
        if self.non_negative:
            target = np.clip(target, 0.0, 1.0)
        if reduction.accepts_weights(model):
            return reduction.fit_weighted(model, _safe_indexing(X, rows), target, weight)
        return model.fit(_safe_indexing(X, rows), target)

    def _keep(self, model: Any) -> None:
        self.estimator_ = model

    def _positive_proba(self, model: Any, X: Any) -> Array:
        if self.loss == "squared":
            target: Array = np.asarray(model.predict(X), dtype=float)
            return target.clip(0.0, 1.0)
        return np.asarray(model.predict_proba(X)[:, 1], dtype=float)
