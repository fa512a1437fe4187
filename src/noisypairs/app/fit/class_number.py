"""How many classes the answers of a file show: chosen once, before methods are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noisypairs.errors import ClassNamesWarning, NotIdentifiable, collected_warnings
from noisypairs.estimators import JointPairClassifier
from noisypairs.estimators.joint.parts.hard_items import fewer_classes
from noisypairs.estimators.joint.parts.parts import PartChoice, wanted_parts
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.estimators.joint.search.class_number import AUTOMATIC
from noisypairs.pairs import Pairs

#: The number of classes is chosen on so many pairs at most.
MOST_PAIRS = 100_000


@dataclass(frozen=True)
class ClassNumber:
    """The number of classes chosen, and the score of every number that was tried.

    A score is the log-likelihood of all answers, in nats, less what the noise model's numbers cost.
    ``hard_items`` says that a larger number had the best score until items that nobody recognises
    were allowed for.
    """

    chosen: int
    scores: Mapping[str, float]
    hard_items: bool = False

    @property
    def text(self) -> str:
        """What was chosen, from what, and by how much.

        >>> ClassNumber(3, {"2": -90.0, "3": -50.0, "4": -49.0}).text
        '3 classes, chosen from 2 to 4: they explain the answers 40 nats better than 2; 4 classes
        gain 1 nat, too little'
        """
        numbers = [int(number) for number in self.scores]
        said = f"{self.chosen} classes, chosen from {min(numbers)} to {max(numbers)}"
        if self.hard_items:
            return f"{said}: with items that nobody recognises, more classes explain no more"
        reasons = []
        if self.chosen > min(numbers):
            gain = self.scores[str(self.chosen)] - self.scores[str(self.chosen - 1)]
            reasons.append(f"they explain the answers {_nats(gain)} better than {self.chosen - 1}")
        if self.chosen < max(numbers):
            gain = self.scores[str(self.chosen + 1)] - self.scores[str(self.chosen)]
            does = f"gain {_nats(gain)}, too little" if gain > 0 else "explain them worse"
            reasons.append(f"{self.chosen + 1} classes {does}")
        return f"{said}: {'; '.join(reasons)}" if reasons else said


def _nats(gain: float) -> str:
    return f"{gain:,.0f} nat{'s' * (round(gain) != 1)}"


def numbers_in_question(asked: int | Sequence[int] | None, named: int) -> int | tuple[int, ...]:
    """Return how many classes there may be: what is asked for, else what labels name, else 2 to 6.

    ``named`` is how many classes the known labels name. Of several numbers those stay that leave
    room for every name.

    >>> numbers_in_question(None, 0), numbers_in_question(None, 3), numbers_in_question((2, 3), 3)
    ((2, 3, 4, 5, 6), 3, (3,))
    """
    if isinstance(asked, int):
        if named and asked != named:
            raise ValueError(
                f"the known labels name {named} classes, but {asked} were asked for: label at "
                "least one item of every class, ask for that many classes, or give a range"
            )
        return asked
    if asked is None and named > 1:
        return named
    room = tuple(number for number in asked or AUTOMATIC if number >= named)
    if not room:
        raise ValueError(
            f"the known labels name {named} classes, but at most {max(asked or AUTOMATIC)} were "
            "asked for: ask for more"
        )
    return room


def choose_class_number(
    X: Any, pairs: Pairs, numbers: Sequence[int], noise_model: str = "auto", seed: int = 0
) -> ClassNumber:
    """Choose among several numbers of classes as the joint learner does, on encoded features."""
    require_both_answers(pairs)
    some = pairs.sample(MOST_PAIRS)
    learner = JointPairClassifier(n_classes=numbers, noise_model=noise_model, random_state=seed)
    with collected_warnings(ClassNamesWarning):
        search = learner.search(JointProblem(X, some, list(numbers), learner.cv, seed))
        found = search.choose_classes(numbers)
        search.require_evidence(found)
        wanted = wanted_parts(learner, some)
        parts = PartChoice(search, search.choose_family(found), wanted)
        chosen = fewer_classes(search, parts, parts.choose(), wanted)[0].n_classes
    scores = {str(number): tried.score for number, tried in sorted(search.tried.items())}
    return ClassNumber(chosen, scores, chosen < search.n_classes)


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
