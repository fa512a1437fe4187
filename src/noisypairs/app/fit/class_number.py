"""How many classes the answers of a file show: chosen once, before methods are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import ClassNamesWarning, NotIdentifiable, collected_warnings
from noisypairs.pairs import Pairs

#: The number of classes is chosen on this many pairs at most.
MOST_PAIRS = 100_000


@dataclass(frozen=True)
class ClassNumber:
    """The number of classes chosen, and how well every number that was tried predicts.

    A score is the mean log-likelihood of an answer that was held out.
    """

    chosen: int
    scores: Mapping[str, float]

    @property
    def text(self) -> str:
        """What was chosen, and why.

        >>> ClassNumber(3, {"2": -0.6, "3": -0.5, "4": -0.499}).text
        '3 classes: fewer predict held-out answers worse, and a fourth is not supported by them'
        """
        numbers = sorted(int(number) for number in self.scores)
        fewer = "fewer predict held-out answers worse"
        more = f"a {_ordinal(self.chosen + 1)} is not supported by them"
        if self.chosen == min(numbers):
            return f"{self.chosen} classes: {more.replace('them', 'held-out answers')}"
        return f"{self.chosen} classes: {fewer}, and {more}"


def _ordinal(number: int) -> str:
    """Return "third", "21st".

    >>> _ordinal(3), _ordinal(21), _ordinal(12)
    ('third', '21st', '12th')
    """
    words = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
    if 3 <= number <= 10:
        return words[number - 3]
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def numbers_in_question(
    asked: int | Sequence[int] | None, named: int
) -> int | tuple[int, ...] | Literal["auto"]:
    """Return how many classes there may be: what is asked for, else what labels name, else any.

    ``named`` is how many classes the known labels name. Of several numbers those stay that leave
    room for every name.

    >>> numbers_in_question(None, 0), numbers_in_question(None, 3), numbers_in_question((2, 3), 3)
    ('auto', 3, (3,))
    """
    if isinstance(asked, int):
        if named and asked != named:
            raise ValueError(
                f"the known labels name {named} classes, but {asked} were asked for: label at "
                "least one item of every class, ask for that many classes, or give a range"
            )
        return asked
    if asked is None:
        return named if named > 1 else "auto"
    room = tuple(number for number in asked if number >= named)
    if not room:
        raise ValueError(
            f"the known labels name {named} classes, but at most {max(asked)} were asked for: ask "
            "for more"
        )
    return room


def choose_class_number(
    X: Any,
    pairs: Pairs,
    numbers: Sequence[int] | Literal["auto"],
    noise_model: str = "auto",
    seed: int = 0,
) -> ClassNumber:
    """Choose the number of classes as the joint learner does, on encoded features."""
    require_both_answers(pairs)
    learner = JointPairClassifier(n_classes=numbers, noise=noise_model, random_state=seed)
    with collected_warnings(ClassNamesWarning):
        chosen, scores = learner.choose_number(X, pairs.sample(MOST_PAIRS))
    return ClassNumber(chosen, {str(number): score for number, score in scores.items()})


def require_both_answers(pairs: Pairs) -> None:
    """Refuse where nothing was answered, or everything alike."""
    n_proper = pairs.without_self_pairs().n_pairs
    if n_proper == 0:
        raise ValueError("there is no answer about two distinct items: nothing to learn from")
    said = pairs.pooled_answers().same
    if said.all() or not said.any():
        word = "same" if said[0] else "different"
        raise NotIdentifiable(
            f"all {n_proper:,} answers are {word!r}: one class only, or answers that say "
            "nothing. Both kinds of answers are needed to separate classes"
        )
