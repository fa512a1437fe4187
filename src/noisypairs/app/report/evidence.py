"""Why a model may be trusted: accuracy and calibration."""

from __future__ import annotations

from collections.abc import Sequence

from noisypairs.app.fit.result import (
    Evidence,
    ModelSummary,
    ReliabilityBin,
)
from noisypairs.app.report import charts
from noisypairs.app.report.page import Block, callout, figure, paragraph
from noisypairs.assess.words import confidence, count, percent, sentence


def accuracy(found: ModelSummary) -> list[Block]:
    """Say how many new items are put in the right class, and what that rests on."""
    sure = found.accuracy
    if sure is None:
        return [callout(f"No estimate: {sentence(found.accuracy_how)}", "caution")]
    picture = charts.bars(
        ["this model", "always the largest class"],
        [sure.estimate, found.majority_share],
        ([sure.low, found.majority_share], [sure.high, found.majority_share]),
        baseline=[False, True],
        stressed=[True, False],
        x_label="share of new items in the right class (estimated)",
    )
    caption = (
        f"Estimated accuracy {percent(sure.estimate, 1)} ({confidence(sure)}), against "
        f"{percent(found.majority_share, 1)} for calling every item by the largest class."
    )
    names = (
        "Class names come from the items of known class."
        if found.names_known
        else "This number does not depend on which group has which name."
    )
    return [figure(picture, caption), paragraph(f"{sentence(found.accuracy_how)} {names}")]


def calibration(found: Evidence) -> list[Block]:
    """Say whether "70% sure that it will be called same" comes true in 70 of 100 cases."""
    bins, test = found.reliability, found.calibration
    if not bins or test is None:
        return [paragraph("There were too few held-out answers for this.")]
    observed = [one.observed for one in bins]
    picture = charts.reliability(
        [one.predicted for one in bins],
        [one.estimate for one in observed],
        [one.n_answers for one in bins],
        ([one.low for one in observed], [one.high for one in observed]),
    )
    words = (
        "No sign of miscalibration"
        if test.holds
        else "The probabilities do not hold. Where predicted and observed shares of “same” differ "
        f"most, they are {percent(_largest(bins))} apart"
    )
    how = (
        f"One test decides (p = {_p_value(test.p_value)}; {test.degrees} degrees of freedom): are "
        "the predictions right on average, and neither too sure nor too unsure? It accounts for "
        f"shared items and raises a false alarm in at most {percent(test.level)} of cases."
    )
    caption = (
        f"{count(sum(one.n_answers for one in bins), 'held-out answer')}, grouped by the predicted "
        "chance of “same”. Dots on the dashed line are right; large dots stand for many answers. "
        f"Bars are {percent(observed[0].level)} intervals of each group alone: some miss the "
        "line by chance."
    )
    return [paragraph(f"{words}. {how}"), figure(picture, caption)]


def _p_value(p: float) -> str:
    return "below 0.001" if p < 0.001 else f"{p:.3f}"


def _largest(bins: Sequence[ReliabilityBin]) -> float:
    return max(abs(one.predicted - one.observed.estimate) for one in bins)
