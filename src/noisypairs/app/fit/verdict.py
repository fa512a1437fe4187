"""Whether a fitted model may be trusted, against what, and on what that is based."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from noisypairs.app.fit.result import Candidate, FitResult
from noisypairs.app.words import between, confidence, count, listed, percent, sentence

#: A difference counts from so many standard errors on.
CLEAR = 2.0
#: What a verdict is called.
TITLES = {"good": "Good", "caution": "Caution", "bad": "Problem"}

#: Whether a model may be trusted, and why.
Verdict = tuple[Literal["good", "caution", "bad"], str]


def is_level(candidate: Candidate) -> bool:
    """Whether a candidate keeps up with the chosen one, to within two standard errors."""
    if candidate.behind is None or candidate.behind_error is None:
        return False
    return candidate.behind <= CLEAR * candidate.behind_error


def verdict(result: FitResult) -> Verdict:
    """Return whether the model may be trusted, with every reason there is for or against it.

    It is never "good" while a warning of the fit stands, see `errors.DOUBTS`.
    """
    level = [one for one in result.choice.candidates if one.is_baseline and is_level(one)]
    cautions = list(_cautions(result))
    if any(one.name == "majority" for one in level):
        bad = (
            "Do not rely on this model yet: it predicts answers about items that it had not seen "
            "no better than always giving the more frequent answer."
        )
        return "bad", " ".join([bad, *map(sentence, result.run.warnings)])
    if cautions:
        return "caution", " ".join(cautions)
    as_well = listed(f"“{one.title}”" for one in level) if level else ""
    also = f" Those answers are predicted as well by {as_well}." if level else ""
    return "good", f"{_evidence(result)}{also}{_calibration(result)}"


def _cautions(result: FitResult) -> Iterator[str]:
    """Yield the reasons for doubt, the most serious first."""
    found, run = result.model, result.run
    if run.doubts:
        yield f"Doubtful, whatever the estimates say. {' '.join(map(sentence, run.doubts))}"
    if found.accuracy is None:
        yield f"No accuracy could be estimated: {sentence(found.accuracy_how)}"
    elif found.accuracy.low <= found.majority_share:
        yield (
            "Use with care: the model may be no better than calling every item by the largest "
            f"class, which gets {percent(found.majority_share)}, because its own accuracy is only "
            f"known to be {between(found.accuracy)}. More answers would narrow that down."
        )
    tested = (one.behind for one in result.choice.candidates if one.name == "majority")
    if next(tested, None) is None:
        yield "Use with care: the model could not be tested on held-out answers."
    if others := [text for text in run.warnings if text not in run.doubts]:
        yield f"Use with care. {' '.join(map(sentence, others))}"


def _evidence(result: FitResult) -> str:
    """Say against what a good model is good, and on what that is based."""
    found, choice = result.model, result.choice
    if found.accuracy is None:
        raise ValueError("a model without an estimated accuracy is not called good")
    (majority,) = (one for one in choice.candidates if one.name == "majority")
    baseline = percent(found.majority_share)
    return (
        f"The model may be trusted as far as its accuracy goes: an estimated "
        f"{percent(found.accuracy.estimate)} of new items in the right class "
        f"({confidence(found.accuracy)}), against {baseline} by calling every item by the largest "
        f"class. Even the lower end, {percent(found.accuracy.low)}, is above the {baseline}. It "
        f"predicts {count(choice.n_held_out, 'held-out answer')} better than always giving the "
        f"more frequent answer, by {majority.behind:.3f} ± {majority.behind_error:.3f} nats per "
        "answer. All of this is based on the answers alone, not on true classes."
    )


def _calibration(result: FitResult) -> str:
    test = result.evidence.calibration
    if test is None or test.holds:
        return ""
    return (
        " Its probabilities do not quite hold (see “Do its probabilities hold?”): trust the "
        "classes more than the probabilities."
    )
