"""What a fitted pair classifier found out: classes, noise, accuracy, evidence, suspect answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from noisypairs import algebra, metrics
from noisypairs.algebra import Array, class_prior
from noisypairs.annotators import AnnotatorTable, annotator_table
from noisypairs.app.fit.calibration import check_calibration
from noisypairs.app.fit.comparison import HeldOutAnswers, HeldOutResult, learner
from noisypairs.app.fit.request import Request
from noisypairs.app.fit.result import (
    ClassSummary,
    CurvePoint,
    Evidence,
    ModelSummary,
    NoiseSummary,
    ReliabilityBin,
)
from noisypairs.app.suspects import MOST_SHOWN, Suspects
from noisypairs.errors import NotIdentifiable, collected_warnings
from noisypairs.estimation import Interval, wilson
from noisypairs.estimators.base import PairClassifier
from noisypairs.joint import JointPairClassifier
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Pairs

if TYPE_CHECKING:
    from noisypairs.app.files import Dataset

#: Level of every interval; bins of the reliability table; redrawn answers.
LEVEL, N_BINS, N_REDRAWN = 0.9, 10, 40


def summarise_model(
    model: PairClassifier, X: Any, pairs: Pairs, held_out: HeldOutAnswers, tested: HeldOutResult
) -> ModelSummary:
    """Return classes, noise and accuracy with intervals, by the means that the method offers."""
    if isinstance(model, JointPairClassifier):
        limits = model.intervals(X, pairs, LEVEL, N_REDRAWN)
        rates = limits["similar_flip"], limits["dissimilar_flip"]
        prior = limits["prior"] if len(model.classes_) == 2 else None
        accuracy: Interval | None = limits["accuracy"]
        how = (
            "mean belief in the class that features alone predict for an item left out, "
            f"{N_REDRAWN} times with classes and answers drawn again ({LEVEL:.0%} interval); it "
            "assumes that the model is correct"
        )
    else:
        similar, dissimilar = mean_rates(model.noise_, shares(model))
        rates = _exactly(similar), _exactly(dissimilar)
        prior = _prior(model)
        accuracy, how = _pointwise_accuracy(model, held_out, tested)
    return ModelSummary(
        classes=_classes(model, X),
        names_known=bool(pairs.labels) and not _unnamed(model),
        prior=prior,
        noise=_noise_summary(model, *rates),
        accuracy=accuracy,
        accuracy_how=how,
        majority_share=float(shares(model).max()),
    )


def gather_evidence(
    model: PairClassifier,
    X: Any,
    dataset: Dataset,
    held_out: HeldOutAnswers,
    tested: HeldOutResult,
    asked: Request,
    found: Suspects,
) -> Evidence:
    """Return the learning curve if asked for, calibration, annotators and the worst suspects."""
    curve: tuple[CurvePoint, ...] = ()
    if asked.curve and tested.chance is not None:
        curve = held_out.curve(learner(tested.row.name, asked), tested.chance)
    return Evidence(
        curve=curve,
        reliability=_reliability(held_out, tested.chance),
        annotators=_annotators(model, X, dataset.pairs, asked.seed) if asked.annotators else None,
        suspects=tuple(found.first(MOST_SHOWN)),
        n_suspects=found.n_wrong,
        n_hard=found.n_hard,
        calibration=check_calibration(held_out.pairs, tested.chance),
    )


def _exactly(value: float) -> Interval:
    return Interval(value, value, value, LEVEL)


def _prior(model: Any) -> Interval | None:
    """Return the root of the prior equation that the model took."""
    roots = model.prior_estimate_.roots
    return min(roots, key=lambda root: abs(root.estimate - model.prior_))  # type: ignore[no-any-return]


def _pointwise_accuracy(
    model: PairClassifier, held_out: HeldOutAnswers, tested: HeldOutResult
) -> tuple[Interval | None, str]:
    if tested.classes is None:
        return None, f"not estimated: {tested.row.refusal}"
    how = (
        "from the noisy answers about items left out, corrected for the noise as estimated "
        f"({LEVEL:.0%} interval, which leaves out the uncertainty of the noise)"
    )
    return metrics.estimate_accuracy(held_out.pairs, tested.classes, model.noise_, LEVEL), how


def _noise_summary(model: Any, similar: Interval, dissimilar: Interval) -> NoiseSummary:
    """Return the noise of a fitted model with these intervals of its mean rates."""
    S = model.noise_.same_probability(_n_groups(model))
    return NoiseSummary(
        family=str(getattr(model, "noise_model_", model.noise_model)),
        text=str(model.noise_),
        similar_flip=similar,
        dissimilar_flip=dissimilar,
        has_interval=similar.high > similar.low,
        same_probability=tuple(tuple(map(float, row)) for row in S),
        repeat_correlation=float(getattr(model, "repeat_correlation_", 0.0)),
    )


def _n_groups(model: Any) -> int:
    """Return how many classes the noise is about, or kinds where there are any."""
    return int(getattr(model, "n_classes_", len(model.classes_)))


def _unnamed(model: Any) -> bool:
    """Return whether there are kinds without a name."""
    if getattr(model, "kind_class_", None) is None:
        return False
    return len(model.kind_names_) < len(model.kind_class_)


def shares(model: PairClassifier) -> Array:
    """Return P(class), shape (K,), in the order of ``classes_``."""
    return class_prior(model.prior_, len(model.classes_))


def mean_rates(noise: NoiseModel, prior: Array) -> tuple[float, float]:
    """Return (ρ_S, ρ_D) over all pairs drawn at random, whatever the family of the noise.

    ρ_S = 1 − Σ_k π_k² S_kk / Σ_k π_k² and ρ_D the mean of S off the diagonal by π_k π_l.

    >>> from noisypairs import LabelingNoise
    >>> [round(rate, 6) for rate in mean_rates(LabelingNoise(0.0, 0.5), np.array([0.5, 0.5]))]
    [0.25, 0.5]
    """
    return algebra.mean_rates(noise.same_probability(len(prior)), prior)


def _classes(model: PairClassifier, X: Any) -> tuple[ClassSummary, ...]:
    """Return name, share and number of predicted items of every class."""
    winner = model.predict(X)
    return tuple(
        ClassSummary(str(name), float(share), int((winner == name).sum()))
        for name, share in zip(model.classes_, shares(model), strict=True)
    )


def _reliability(held_out: HeldOutAnswers, chance: Array | None) -> tuple[ReliabilityBin, ...]:
    """Return bins of about equally many held-out answers, by predicted P("same")."""
    if chance is None or not chance.size:
        return ()
    order = np.argsort(chance, kind="stable")
    bins = np.array_split(order, min(N_BINS, max(1, chance.size // 10)))
    return tuple(
        ReliabilityBin(
            float(chance[rows].mean()),
            wilson(float(held_out.pairs.same[rows].sum()), len(rows), LEVEL),
            len(rows),
        )
        for rows in bins
    )


def _annotators(model: PairClassifier, X: Any, pairs: Pairs, seed: int) -> AnnotatorTable | None:
    """Return the table of annotators, or None where the answers do not distinguish them."""
    inner = clone(model.estimator_) if isinstance(model, JointPairClassifier) else None
    with collected_warnings():
        try:
            return annotator_table(
                pairs, X, n_classes=_n_groups(model), estimator=inner, random_state=seed
            )
        except NotIdentifiable:
            return None


def estimator_title(model: Any) -> str:
    """Return what learnt inside: the candidate that was kept, or the last step's type."""
    if getattr(model, "candidates_", None):
        return str(model.candidate_)
    inner = model.estimator_
    while isinstance(inner, Pipeline):
        inner = inner.steps[-1][1]
    return type(inner).__name__
