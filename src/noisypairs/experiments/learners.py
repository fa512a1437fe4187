"""How each column of the tables learns, and what its method is given.

All point-wise methods of one problem share one tuning on the noisy pairs: rates by
cross-validation, the prior from the share of "same" at these rates, the weight α by
cross-validation. The paper tunes the same way, but names no priors; ours are `WEAK_PRIORS`, or flat
ones where the spec says so. So columns differ by their correction and by nothing else:

- **T-Loss** and **T-Loss as printed** get the tuned rates and prior.
- **SD-Loss** assumes that there is no noise: its prior is what the share of "same" would give
  without any. (Its rule is "P(same | x) above ½" at every prior, which is only a scale.)
- **Weighted** gets the tuned α. Under labeling noise the pairs show α only through the rates
  (`noisypairs.model_selection`), so there α is (a+b)/2 of the tuned rates and prior.
- **Unweighted** is α = ½. It, **KM**, **KM-COP** and **Joint** are given nothing but the pairs.
- **clean S-D** is SD-Loss on the answers before noise, given the share of class 1. **best P-N** is
  the same network on the true classes.

Pairs cannot name classes, so every accuracy, best P-N's too, is taken up to a swap of the names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from noisypairs import (
    CleanPairs,
    COPKMeans,
    JointPairClassifier,
    LabelingNoise,
    LossCorrectionClassifier,
    NoiseModel,
    PairKMeans,
    WeightedPairClassifier,
    algebra,
    metrics,
    model_selection,
    reduction,
)
from noisypairs.algebra import Array
from noisypairs.errors import NotIdentifiable
from noisypairs.estimators import LinearRiskClassifier
from noisypairs.estimators.inner.classifiers import default_classifier, default_regressor
from noisypairs.experiments.problem import Problem
from noisypairs.experiments.spec import COLUMNS, Spec

#: Gradient steps of a network fit: 200 epochs of batches of 32, within these limits. The paper
#: names neither epochs nor batches; ``benchmarks/one_fit.py`` shows what more steps would change.
FEWEST_STEPS, MOST_STEPS, EPOCHS, BATCH = 5_000, 10_000, 200, 32
FOLDS = 5
#: The weak priors of the tuning: density ∝ (1−ρ)² for each rate, and α ~ N(½, .15²).
WEAK_PRIORS = (2.0, 0.15)

Predict = Callable[[Array], Any]


def epochs(n_rows: int) -> int:
    """Return the epochs of a network fit on so many rows.

    >>> [(n, epochs(n), epochs(n) * math.ceil(n / BATCH)) for n in (263, 1100, 36631)]
    [(263, 556, 5004), (1100, 200, 7000), (36631, 9, 10305)]
    """
    steps = math.ceil(n_rows / BATCH)
    return max(1, round(min(max(EPOCHS * steps, FEWEST_STEPS), MOST_STEPS) / steps))


@dataclass(frozen=True)
class Tuned:
    """What the point-wise methods of one problem use: noise, P(class 1) and α."""

    noise: NoiseModel
    prior: float
    alpha: float

    def as_dict(self) -> dict[str, Any]:
        """Return what a record keeps of it."""
        S = self.noise.same_probability()
        signal = algebra.signal(S, self.prior)
        found = {"noise": str(self.noise), "prior": self.prior, "alpha": self.alpha}
        return {**found, "signal": signal}


class Learners:
    """The methods on one problem; what they share is computed once, and only when needed."""

    def __init__(self, spec: Spec, problem: Problem) -> None:
        self.spec, self.problem, self.seed = spec, problem, spec.seed

    def fit(self, method: str) -> tuple[Predict, dict[str, Any]]:
        """Return (predict, details) of a method; `NotIdentifiable` where it refuses."""
        return METHODS[method](self)

    @cached_property
    def tuned(self) -> Tuned:
        """Return noise, prior and weight: given, or tuned on the noisy pairs alone."""
        if self.spec.told:
            noise, prior = self.problem.noise, self.problem.prior
            return Tuned(noise, prior, algebra.alpha(noise.same_probability(), prior))
        family = "labeling" if isinstance(self.problem.noise, LabelingNoise) else "pairing"
        held_out = self._held_out
        if isinstance(held_out, NotIdentifiable):
            raise held_out
        exponent, deviation = (0.0, math.inf) if self.spec.flat_priors else WEAK_PRIORS
        noise = model_selection.choose_rates(held_out, family, exponent=exponent).noise
        prior = best_prior(held_out, noise)
        if family == "pairing":
            return Tuned(noise, prior, model_selection.choose_alpha(held_out, deviation))
        return Tuned(noise, prior, algebra.alpha(noise.same_probability(), prior))

    @cached_property
    def _held_out(self) -> model_selection.HeldOutShare | NotIdentifiable:
        """Return the out-of-fold shares of "same", or why they carry no signal."""
        try:
            return model_selection.out_of_fold_share(
                self._regressor(),
                self.problem.X,
                self.problem.pairs,
                cv=FOLDS,
                random_state=self.seed,
            )
        except NotIdentifiable as error:
            return error

    def _regressor(self) -> Any:
        """Return what learns P(same | x)."""
        if self.spec.model == "network":
            from noisypairs.torch import TorchRegressor

            return TorchRegressor(**self._training(len(self.problem.y)))
        return default_regressor(self.problem.X, self.seed)

    def _classifier(self, rows_per_item: int = 1) -> Any:
        """Return what learns classes, or "same" against "different"."""
        if self.spec.model == "network":
            from noisypairs.torch import TorchClassifier

            return TorchClassifier(**self._training(rows_per_item * len(self.problem.y)))
        if self.spec.model == "logistic":
            return LinearRiskClassifier("brier", penalty=1e-2)
        return default_classifier(self.problem.X, self.seed)

    def _training(self, n_rows: int) -> dict[str, Any]:
        settings = {"max_epochs": epochs(n_rows), "batch_size": BATCH}
        return {**settings, "n_threads": 1, "random_state": self.seed}

    def true_labels(self) -> tuple[Predict, dict[str, Any]]:
        """Fit the model on the true classes."""
        return self._classifier().fit(self.problem.X, self.problem.y).predict, {}

    def _corrected(self, noise: NoiseModel, prior: float, formula: Any = "unbiased") -> Predict:
        """Fit the corrected squared loss with what the spec's model offers for it."""
        settings: dict[str, Any] = {"noise": noise, "prior": prior, "formula": formula}
        if self.spec.model == "kernel":
            model = LossCorrectionClassifier(self._regressor(), **settings)
        else:  # signed weights on a bounded output: has a minimum also where the loss is concave
            model = LossCorrectionClassifier(self._classifier(), loss="brier", **settings)
        fitted = model.fit(self.problem.X, self.problem.pairs)
        self.fitted = fitted
        return fitted.predict

    def clean_pairs(self) -> tuple[Predict, dict[str, Any]]:
        """Fit the uncorrected loss on answers without noise, given the share of class 1."""
        return self._corrected(CleanPairs(), self.problem.prior), {}

    def t_loss(self) -> tuple[Predict, dict[str, Any]]:
        """Fit the unbiased corrected loss."""
        predict = self._corrected(self.tuned.noise, self.tuned.prior)
        return predict, self.tuned.as_dict() | self._line()

    def t_loss_printed(self) -> tuple[Predict, dict[str, Any]]:
        """Fit the corrected loss as printed; where it has no minimum it counts as refused."""
        tuned = self.tuned
        try:
            predict = self._corrected(tuned.noise, tuned.prior, "printed")
        except ValueError as error:
            if "not convex" not in str(error):
                raise
            raise NotIdentifiable(str(error)) from error
        return predict, tuned.as_dict() | self._line()

    def sd_loss(self) -> tuple[Predict, dict[str, Any]]:
        """Fit the uncorrected loss on the noisy answers as if they were clean."""
        counts = self.problem.pairs.item_counts()
        share = float(counts.same.sum() / counts.total.sum())
        roots = algebra.prior_roots(CleanPairs().same_probability(), share)
        if not roots:
            raise NotIdentifiable(
                f"{share:.1%} of the answers are 'same': two classes without noise give "
                "half or more"
            )
        return self._corrected(CleanPairs(), roots[0]), {"prior": roots[0]}

    def weighted(self) -> tuple[Predict, dict[str, Any]]:
        """Fit "same" against "different", weighted by 1 − α and α."""
        tuned = self.tuned
        model = WeightedPairClassifier(
            self._classifier(2), noise=tuned.noise, prior=tuned.prior, alpha=tuned.alpha
        )
        self.fitted = model.fit(self.problem.X, self.problem.pairs)
        return model.predict, tuned.as_dict() | self._line()

    def unweighted(self) -> tuple[Predict, dict[str, Any]]:
        """Fit "same" against "different"; which class is which does not matter here."""
        counts = self.problem.pairs.item_counts()
        rows, label, weight = reduction.weighted_rows(counts, 0.5)
        model = reduction.fit_weighted(self._classifier(2), self.problem.X[rows], label, weight)
        return model.predict, {}

    def clusters(self, learner: Any) -> tuple[Predict, dict[str, Any]]:
        """Fit one of the two kinds of k-means."""
        model = learner(random_state=self.seed, class_order="rising")
        model.fit(self.problem.X, self.problem.pairs)
        broken = {"violations": model.n_violations_} if learner is COPKMeans else {}
        return model.predict, broken

    def joint(self) -> tuple[Predict, dict[str, Any]]:
        """Fit the joint learner with its defaults; ``true_labels`` is its estimator's accuracy."""
        K = np.unique(self.problem.y).size
        model = JointPairClassifier(n_classes=K, random_state=self.seed, class_order="rising")
        model.fit(self.problem.X, self.problem.pairs)
        same = clone(model.estimator_).fit(self.problem.X, self.problem.y)
        found = {
            "noise": str(model.noise_),
            "noise_model": model.noise_model_,
            "prior": np.asarray(model.prior_).tolist(),
            "true_labels": float(same.score(self.problem.X_test, self.problem.y_test)),
        }
        return model.predict, found

    def _line(self) -> dict[str, Any]:
        """Return slope and intercept of a linear rule, for pictures; nothing for other models."""
        inner = self.fitted.estimator_
        if not isinstance(inner, LinearRiskClassifier):
            return {}
        return {"line": [*np.ravel(inner.coef_).tolist(), float(np.ravel(inner.intercept_)[0])]}


def best_prior(held_out: model_selection.HeldOutShare, noise: NoiseModel) -> float:
    """Return the root of the prior equation under which held-out answers are likeliest.

    Under pairing noise the two roots are mirror images, and the answers as likely under both; under
    labeling noise with unequal rates they are not.
    """
    S = noise.same_probability()
    scores: dict[float, float] = {}
    for prior in algebra.prior_roots(S, held_out.rate):
        signal = algebra.signal(S, prior)
        if 0 < prior < 1 and abs(signal) > algebra.NO_SIGNAL:
            b = float(algebra.same_given_class(S, prior)[0])
            eta = np.clip((held_out.rate + held_out.centred - b) / signal, 0.0, 1.0)
            proba = np.column_stack([1.0 - eta, eta])
            scores[prior] = metrics.pair_log_likelihood(held_out.pairs, proba, noise)
    if not scores:
        raise NotIdentifiable(
            f"no prior explains that {held_out.rate:.1%} of the answers are 'same' under {noise}"
        )
    return max(scores, key=lambda prior: scores[prior])


Method = Callable[[Learners], tuple[Predict, dict[str, Any]]]

METHODS: dict[str, Method] = {
    "pn": Learners.true_labels,
    "sd-clean": Learners.clean_pairs,
    "t-loss": Learners.t_loss,
    "t-loss-printed": Learners.t_loss_printed,
    "sd-loss": Learners.sd_loss,
    "weighted": Learners.weighted,
    "unweighted": Learners.unweighted,
    "km": lambda learners: learners.clusters(PairKMeans),
    "km-cop": lambda learners: learners.clusters(COPKMeans),
    "joint": Learners.joint,
}


#: Methods of the package, which nobody replaces.
OURS = frozenset(METHODS)


def register(name: str, heading: str, method: Method) -> None:
    """Add a method to the comparison, as one more column of the tables.

    ``method`` is given the `Learners` of a problem, and returns what predicts and what a record
    keeps of it; it raises `NotIdentifiable` where it refuses. Registered again, it replaces the one
    before; records that a folder has of it are kept.
    """
    if name in OURS:
        raise ValueError(f"{name!r} is a method of the package: choose another name")
    COLUMNS[name], METHODS[name] = heading, method


def registered() -> dict[str, tuple[str, Method]]:
    """Return heading and function of the methods that were registered, for other processes."""
    return {name: (COLUMNS[name], how) for name, how in METHODS.items() if name not in OURS}
