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
    MethodChoice,
    ModelSummary,
    NoiseSummary,
    ReliabilityBin,
)
from noisypairs.app.suspects import MOST_SHOWN, Suspects
from noisypairs.assess.verdict import (
    CLEAR,
    LEVEL,
    N_REDRAWN,
    Check,
    Verdict,
    judged,
    of_warnings,
)
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import CollectedWarnings, NotIdentifiable, collected_warnings
from noisypairs.estimation import Interval, wilson
from noisypairs.estimators.base import PairClassifier
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Pairs

if TYPE_CHECKING:
    from noisypairs.app.files import Dataset

#: Bins of the reliability table.
N_BINS = 10


def stated(
    model: PairClassifier,
    choice: MethodChoice,
    held_out: HeldOutAnswers,
    tested: HeldOutResult,
    warned: CollectedWarnings,
) -> Verdict:
    """Return the verdict on a model: its own where it has one, and what the comparison showed."""
    checks = [_predicts_new_items(choice), *of_warnings(warned.caught)]
    if isinstance(model, JointPairClassifier):
        return model.verdict().with_checks(checks)
    accuracy, how = _pointwise_accuracy(model, held_out, tested)
    if accuracy is None:
        checks.append(Check("accuracy", False, f"no accuracy could be estimated: {how}"))
    share = shares(model)
    return judged(checks, accuracy, None, float(share.max()), len(share))


def _predicts_new_items(choice: MethodChoice) -> Check:
    """Return whether the chosen method predicts answers about new items, by the comparison."""
    (majority,) = (one for one in choice.candidates if one.name == "majority")
    if majority.behind is None or majority.behind_error is None:
        text = "the model could not be tested on answers about items that it had not seen"
        return Check("held-out items", False, text)
    if majority.behind <= CLEAR * majority.behind_error:
        text = (
            "do not rely on this model yet: it predicts answers about items that it had not seen "
            "no better than always giving the more frequent answer"
        )
        return Check("held-out items", False, text, "problem")
    text = "answers about items that the model had not seen are predicted"
    return Check("held-out items", True, text)


def summarise_model(
    model: PairClassifier,
    pairs: Pairs,
    held_out: HeldOutAnswers | None,
    tested: HeldOutResult | None,
    verdict: Verdict,
    classes: tuple[ClassSummary, ...] = (),
) -> ModelSummary:
    """Return noise and accuracy with intervals beside the classes, as the method offers them."""
    if isinstance(model, JointPairClassifier):
        limits = verdict.intervals
        rates = limits["similar_flip"], limits["dissimilar_flip"]
        prior = limits["prior"] if len(model.classes_) == 2 else None
        how = (
            "mean belief in the class that features alone predict for an item left out, "
            f"{N_REDRAWN} times with classes and answers drawn again ({LEVEL:.0%} interval); it "
            "assumes that the model is correct"
        )
    else:
        similar, dissimilar = mean_rates(model.noise_, shares(model))
        rates = _exactly(similar), _exactly(dissimilar)
        prior = _prior(model)
        assert held_out is not None
        assert tested is not None
        _, how = _pointwise_accuracy(model, held_out, tested)
    found = verdict.measured
    if found is not None and found.accuracy is not None:
        how = (
            f"share of {found.n_items:,} labelled items that models learnt without them get right "
            f"({LEVEL:.0%} interval, exact); items are taken to be labelled at random"
        )
    return ModelSummary(
        classes=classes,
        names_known=bool(pairs.labels),
        prior=prior,
        noise=_noise_summary(model, *rates),
        accuracy=verdict.accuracy,
        accuracy_how=how,
        majority_share=verdict.baseline,
    )


def gather_evidence(
    model: PairClassifier,
    X: Any,
    dataset: Dataset,
    held_out: HeldOutAnswers | None,
    tested: HeldOutResult | None,
    asked: Request,
    found: Suspects,
) -> Evidence:
    """Return the learning curve if asked for, calibration, annotators and the worst suspects."""
    curve: tuple[CurvePoint, ...] = ()
    chance = None if tested is None else tested.chance
    if asked.curve and held_out is not None and tested is not None and chance is not None:
        curve = held_out.curve(learner(tested.row.name, asked), chance)
    return Evidence(
        curve=curve,
        reliability=() if held_out is None else _reliability(held_out, chance),
        annotators=_annotators(model, X, dataset.pairs, asked.seed) if asked.annotators else None,
        suspects=tuple(found.first(MOST_SHOWN)),
        n_suspects=found.n_wrong,
        n_hard=found.n_hard,
        calibration=None if held_out is None else check_calibration(held_out.pairs, chance),
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
    S = model.noise_.same_probability(len(model.classes_))
    return NoiseSummary(
        family=str(getattr(model, "noise_model_", model.noise)),
        text=str(model.noise_),
        similar_flip=similar,
        dissimilar_flip=dissimilar,
        has_interval=similar.high > similar.low,
        same_probability=tuple(tuple(map(float, row)) for row in S),
        repeat_correlation=float(getattr(model, "repeat_correlation_", 0.0)),
    )


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
    own = isinstance(model, JointPairClassifier) and X is not None
    inner = clone(model.estimator_) if own else None
    with collected_warnings():
        try:
            return annotator_table(
                pairs, X, n_classes=len(model.classes_), estimator=inner, random_state=seed
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
