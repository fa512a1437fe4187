"""Why a model may be trusted: accuracy, learning curve, calibration, other methods."""

from __future__ import annotations

import math
from collections.abc import Sequence

from noisypairs.app.fit.result import (
    Candidate,
    CurvePoint,
    Evidence,
    MethodChoice,
    ModelSummary,
    ReliabilityBin,
)
from noisypairs.app.report import charts
from noisypairs.app.report.page import Block, bullets, callout, figure, paragraph, table
from noisypairs.assess.verdict import CLEAR
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


def learning(curve: Sequence[CurvePoint]) -> list[Block]:
    """Show how good the model would be with fewer answers, and so what more might bring."""
    if len(curve) < 2:
        return [
            paragraph(
                "No learning curve was asked for. The command “noisypairs plan” draws one and says "
                "how many answers a given accuracy still takes."
            )
        ]
    scores = [point.log_likelihood for point in curve]
    errors = [CLEAR * point.standard_error for point in curve]
    ends = (
        [s - e for s, e in zip(scores, errors, strict=True)],
        [s + e for s, e in zip(scores, errors, strict=True)],
    )
    picture = charts.learning_curve(
        [point.n_pairs for point in curve],
        scores,
        ends,
        y_label="held-out log-likelihood\nper answer (higher is better)",
        percent=False,
    )
    caption = (
        "How well held-out answers are predicted by models that learnt from part of the answers; "
        "bars span two standard errors to each side."
    )
    last, before = curve[-1], curve[-2]
    gain = last.log_likelihood - before.log_likelihood
    rising = gain > last.standard_error
    words = (
        "The curve still rises at its end: more answers would help."
        if rising
        else "At its end the curve does not rise by more than its error bars: more answers of this "
        "kind would probably bring little."
    )
    return [paragraph(words), figure(picture, caption)]


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
        "The probabilities hold: the answers give no reason to doubt them"
        if test.holds
        else "The probabilities do not hold. Where predicted and observed shares of “same” differ "
        f"most, they are {percent(_largest(bins))} apart"
    )
    how = (
        f"One test decides (p = {_p_value(test.p_value)}; {test.degrees} degrees of freedom): are "
        "the predictions right on average, and neither too sure nor too unsure? Answers that share "
        f"an item are not independent, and are not treated so. At its level, {percent(test.level)},"
        f" {percent(test.level)} of models with right probabilities are doubted."
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


def methods(choice: MethodChoice) -> list[Block]:
    """Show every method and baseline on the same held-out answers, and why one was chosen."""
    candidates = choice.candidates
    blocks: list[Block] = [paragraph(sentence(choice.why))]
    if not candidates:
        return blocks
    if any(one.log_likelihood is not None for one in candidates):
        blocks.append(figure(_picture(choice), _PICTURE_CAPTION))
    caption = (
        f"On {count(choice.n_held_out, 'held-out answer')}; log-likelihoods in nats per answer, "
        "± one standard error."
    )
    headings = ("method", "log-likelihood", "behind the chosen one", "chance given", "predicted")
    rows = [_cells(one, one.name == choice.method) for one in candidates]
    chosen = [i for i, one in enumerate(candidates) if one.name == choice.method]
    blocks.append(table(headings, rows, caption, numeric=(1, 2, 3, 4), bold=chosen))
    said = [f"{one.title} refuses: {one.refusal}" for one in candidates if one.refusal]
    said += [f"{one.title}: {text}" for one in candidates for text in one.warnings]
    unsaid = [sentence(text) for text in said if text.split(": ", 1)[1] not in choice.why]
    return blocks + [bullets(unsaid)] * bool(unsaid)


_PICTURE_CAPTION = (
    "The chance that each method gave to the answers that came (geometric mean over held-out "
    "answers, with 95% intervals; 50% is a coin). Baselines are grey."
)


def _picture(choice: MethodChoice) -> str:
    low, middle, high = (
        [_chance(one, errors) for one in choice.candidates] for errors in (-1.96, 0.0, 1.96)
    )
    lowest = min(end for end in low if end is not None)
    highest = max(end for end in high if end is not None)
    return charts.bars(
        [one.title for one in choice.candidates],
        middle,
        (low, high),
        baseline=[one.is_baseline for one in choice.candidates],
        stressed=[one.name == choice.method for one in choice.candidates],
        x_label="chance given to the answer",
        start=0.5 if lowest >= 0.5 else 0.0,
        stop=min(1.0, math.ceil(10.0 * highest) / 10.0),
    )


def _chance(one: Candidate, errors: float) -> float | None:
    """Return exp(log-likelihood + errors · s.e.), the geometric mean of the chances given."""
    if one.log_likelihood is None:
        return None
    return math.exp(min(one.log_likelihood + errors * (one.standard_error or 0.0), 0.0))


def _cells(one: Candidate, chosen: bool) -> tuple[str | None, ...]:
    if one.log_likelihood is None:
        return one.title, "refuses", None, None, None
    error = "" if one.standard_error is None else f" ± {one.standard_error:.3f}"
    behind = None
    if one.behind is not None and one.behind_error is not None:
        behind = f"{one.behind:.3f} ± {one.behind_error:.3f}"
    agreed = None if one.agreement is None else percent(one.agreement, 1)
    given = percent(math.exp(one.log_likelihood), 1)
    likelihood = f"{one.log_likelihood:.3f}{error}"
    return one.title, likelihood, "chosen" if chosen else behind, given, agreed
