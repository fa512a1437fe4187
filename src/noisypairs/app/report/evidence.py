"""Why a model may be believed: accuracy, learning curve, calibration, what it was up against."""

from __future__ import annotations

import math

from noisypairs.app.fit.fitting import Candidate, FitResult
from noisypairs.app.report import charts
from noisypairs.app.report.page import Block, bullets, callout, figure, paragraph, table
from noisypairs.app.report.words import confidence, count, percent, sentence

#: A difference counts from so many standard errors on.
CLEAR = 2.0


def is_level(candidate: Candidate) -> bool:
    """Whether a candidate keeps up with the chosen one, to within two standard errors."""
    if candidate.behind is None or candidate.behind_error is None:
        return False
    return candidate.behind <= CLEAR * candidate.behind_error


def accuracy(result: FitResult) -> list[Block]:
    """Say how many new items are put in the right class, and what that rests on."""
    found = result.accuracy
    if found is None:
        return [callout(f"No estimate: {sentence(result.accuracy_how)}", "caution")]
    picture = charts.bars(
        ["this model", "always the largest class"],
        [found.estimate, result.majority_share],
        ([found.low, result.majority_share], [found.high, result.majority_share]),
        baseline=[False, True],
        stressed=[True, False],
        x_label="share of new items in the right class (estimated)",
    )
    caption = (
        f"Estimated accuracy {percent(found.estimate, 1)} ({confidence(found)}), against "
        f"{percent(result.majority_share, 1)} for calling every item by the largest class."
    )
    names = (
        "Class names come from the items of known class."
        if result.names_known
        else "Which group bears which name does not matter for this number."
    )
    return [figure(picture, caption), paragraph(f"{sentence(result.accuracy_how)} {names}")]


def learning(result: FitResult) -> list[Block]:
    """Show what the model would be worth with fewer answers, and so what more might bring."""
    curve = result.curve
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
        "How well held-out answers are foretold by models that learnt from part of the answers; "
        "bars span two standard errors either way."
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


def calibration(result: FitResult) -> list[Block]:
    """Show whether "70% sure that it will be called same" comes true in 70 of 100 cases."""
    bins = result.reliability
    if not bins:
        return [paragraph("There were too few held-out answers to tell.")]
    observed = [one.observed for one in bins]
    picture = charts.reliability(
        [one.predicted for one in bins],
        [one.estimate for one in observed],
        [one.n_answers for one in bins],
        ([one.low for one in observed], [one.high for one in observed]),
    )
    off = [one for one in bins if one.predicted not in one.observed]
    words = (
        "The probabilities hold: wherever the model foretold a share of “same”, the share seen "
        "agrees with it within its interval."
        if not off
        else f"In {len(off)} of {len(bins)} groups of answers the share of “same” seen does not "
        "agree with the one foretold: take the probabilities there with a grain of salt."
    )
    caption = (
        f"{count(sum(one.n_answers for one in bins), 'held-out answer')}, grouped by the foretold "
        "chance of “same”. Dots on the dashed line are right; large dots stand for many answers."
    )
    return [paragraph(words), figure(picture, caption)]


def methods(result: FitResult) -> list[Block]:
    """Show every method and baseline on the same held-out answers, and why one was chosen."""
    candidates = result.candidates
    blocks: list[Block] = [paragraph(sentence(result.why))]
    if any(one.log_likelihood is not None for one in candidates):
        blocks.append(figure(_picture(result), _PICTURE_CAPTION))
    caption = (
        f"On {count(result.n_held_out, 'held-out answer')}; log-likelihoods in nats per answer, "
        "± one standard error."
    )
    headings = ("method", "log-likelihood", "behind the chosen one", "chance given", "foretold")
    rows = [_cells(one, one.name == result.method) for one in candidates]
    chosen = [i for i, one in enumerate(candidates) if one.name == result.method]
    blocks.append(table(headings, rows, caption, numeric=(1, 2, 3, 4), bold=chosen))
    said = [f"{one.title} refuses: {one.refusal}" for one in candidates if one.refusal]
    said += [f"{one.title}: {text}" for one in candidates for text in one.warnings]
    unsaid = [sentence(text) for text in said if text.split(": ", 1)[1] not in result.why]
    return blocks + [bullets(unsaid)] * bool(unsaid)


_PICTURE_CAPTION = (
    "The chance that each method gave to the answers that came (geometric mean over held-out "
    "answers, with 95% intervals; 50% is a coin). Baselines are grey."
)


def _picture(result: FitResult) -> str:
    low, middle, high = (
        [_chance(one, errors) for one in result.candidates] for errors in (-1.96, 0.0, 1.96)
    )
    lowest = min(end for end in low if end is not None)
    highest = max(end for end in high if end is not None)
    return charts.bars(
        [one.title for one in result.candidates],
        middle,
        (low, high),
        baseline=[one.is_baseline for one in result.candidates],
        stressed=[one.name == result.method for one in result.candidates],
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
    told = None if one.agreement is None else percent(one.agreement, 1)
    given = percent(math.exp(one.log_likelihood), 1)
    likelihood = f"{one.log_likelihood:.3f}{error}"
    return one.title, likelihood, "chosen" if chosen else behind, given, told
