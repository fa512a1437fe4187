"""Why an answer is suspect: each reason is one object, which looks at the clues about an answer.

To add a reason, add a field to `Clue` if none has what it takes, and the object to `REASONS`.
Reports, files and filters then have it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from noisypairs.assess.words import chance, count, percent

#: A pair is hard from this chance on that somebody of the crowd errs. At .4 two of five do, and an
#: answer is worth 0.03 bits: it says next to nothing about the pair, nor about who gave it.
HARD = 0.4


@dataclass(frozen=True)
class Clue:
    """What is known about one answer; None where it cannot be known.

    Numbers of answers are sums of weights, where answers have weights.
    """

    same: bool  # what was answered
    others_same: float | None  # other answers to the same two items
    others_different: float | None
    links_same: int | None  # items compared with both, and called the same as both …
    links_different: int | None  # … or as one of them only
    features_same: float | None  # P(one class) of the two items by their features alone
    annotator: str | None
    annotator_answers: float | None
    annotator_wrong: float | None  # share of that annotator's answers that are probably wrong
    expected_error: float | None = None  # how probably somebody of the crowd errs on the pair

    @property
    def is_hard(self) -> bool:
        """Whether so many people err on the pair that a wrong answer blames nobody."""
        return self.expected_error is not None and self.expected_error >= HARD

    @property
    def verdict(self) -> str:
        """What a suspect answer is called: "hard" where the pair is, else "wrong"."""
        return "hard" if self.is_hard else "wrong"

    @property
    def opposite(self) -> str:
        """What was not answered."""
        return "different" if self.same else "same"


class Reason(NamedTuple):
    """A reason to doubt an answer.

    ``name`` stands in filters and files. ``says`` gives a sentence wherever there is something to
    say, for or against the answer; ``doubts`` whether it speaks against it.
    """

    name: str
    says: Callable[[Clue], str | None]
    doubts: Callable[[Clue], bool]


def _against(clue: Clue, same: float | None, different: float | None) -> tuple[float, float]:
    """Return how much contradicts the answer, and how much there is in all."""
    said = (same or 0.0), (different or 0.0)
    return said[1 if clue.same else 0], sum(said)


def _others(clue: Clue) -> tuple[float, float]:
    return _against(clue, clue.others_same, clue.others_different)


def _links(clue: Clue) -> tuple[float, float]:
    return _against(clue, clue.links_same, clue.links_different)


def _others_say(clue: Clue) -> str | None:
    against, total = _others(clue)
    if not total:
        return None
    if total == 1:
        agrees = "says" if against else "does not say"
        return f"The only other answer to this pair {agrees} {clue.opposite}."
    return f"{against:g} of {total:g} other answers to this pair say {clue.opposite}."


def _links_say(clue: Clue) -> str | None:
    against, total = _links(clue)
    if not total:
        return None
    items = count(int(total), "item")
    points = "points" if against == 1 else "point"
    return f"{against:g} of {items} compared with both {points} to {clue.opposite}."


def _features_say(clue: Clue) -> str | None:
    if clue.features_same is None:
        return None
    return f"By their features alone, the two are of one class with {chance(clue.features_same)}."


def _features_doubt(clue: Clue) -> bool:
    share = clue.features_same
    return share is not None and (share < 0.5 if clue.same else share > 0.5)


def _hard_says(clue: Clue) -> str | None:
    if not clue.is_hard or clue.expected_error is None:
        return None
    share = percent(clue.expected_error)
    return f"The pair is hard: by the model, {share} of all answers to it would be wrong."


def _annotator_says(clue: Clue) -> str | None:
    if clue.annotator_wrong is None or not clue.annotator_answers:
        return None
    share = percent(clue.annotator_wrong)
    return f"Of the {clue.annotator_answers:g} answers of {clue.annotator}, {share} look wrong."


def _annotator_doubts(clue: Clue) -> bool:
    return clue.annotator_wrong is not None and clue.annotator_wrong > 0.4


#: Reasons in the order in which they are told.
REASONS = (
    Reason("hard pair", _hard_says, lambda clue: clue.is_hard),
    Reason("others disagree", _others_say, lambda clue: _others(clue)[0] > _others(clue)[1] / 2),
    Reason("links disagree", _links_say, lambda clue: _links(clue)[0] > _links(clue)[1] / 2),
    Reason("features disagree", _features_say, _features_doubt),
    Reason("annotator often wrong", _annotator_says, _annotator_doubts),
)
#: What is said where no reason of its own speaks against an answer.
NO_SINGLE = "No single clue speaks against it; all answers together do."


def explained(clue: Clue) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the reasons that doubt an answer, and all sentences, doubts first.

    >>> clue = Clue(True, 1, 2, 0, 0, 0.02, "p7", 40, 0.1)
    >>> names, sentences = explained(clue)
    >>> names, sentences[0]
    (('others disagree', 'features disagree'), '2 of 3 other answers to this pair say different.')
    """
    doubting = [reason for reason in REASONS if reason.doubts(clue)]
    rest = [reason for reason in REASONS if reason not in doubting]
    said = [reason.says(clue) for reason in (*doubting, *rest)]
    sentences = tuple(one for one in said if one is not None)
    first = () if doubting else (NO_SINGLE,)
    return tuple(reason.name for reason in doubting), (*first, *sentences)
