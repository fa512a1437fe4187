"""Every way in which an answer comes about: Figure 1 of the paper as a list.

The two noise models differ in where the noise enters. Pairing noise: both items report their true
class, and the comparison goes wrong. Labeling noise: the items report wrong classes, and the
comparison of the reports is right.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from noisypairs.algebra import class_prior

Rates = tuple[float, float]


class Outcome(NamedTuple):
    """True classes and reported classes of both items (0 or 1), the answer, and its probability.

    >>> Outcome((0, 1), (0, 0), same=True, probability=0.1).wrong
    True
    """

    classes: tuple[int, int]
    reports: tuple[int, int]
    same: bool
    probability: float

    @property
    def wrong(self) -> bool:
        """Return whether the answer contradicts the true classes."""
        return self.same != (self.classes[0] == self.classes[1])


def outcomes(
    prior: float, pairing: Rates = (0.0, 0.0), labeling: Rates = (0.0, 0.0)
) -> Iterator[Outcome]:
    """Yield every outcome of positive probability of a pair drawn at random.

    ``pairing`` is (ρ_S, ρ_D), the chances that the comparison of two reports goes wrong where they
    agree and where they differ. ``labeling`` is (ρ₊, ρ₋), the chances that an item of class 1, or
    of class 0, reports the other class. The probabilities sum to one.

    >>> for outcome in outcomes(0.25, pairing=(0.0, 0.5)):
    ...     if outcome.wrong:
    ...         print(outcome.classes, outcome.same, outcome.probability)
    (0, 1) True 0.09375
    (1, 0) True 0.09375
    """
    share = class_prior(prior)
    for first, second, one, other in product((0, 1), repeat=4):
        reported = _report(first, one, labeling) * _report(second, other, labeling)
        flip = pairing[0] if one == other else pairing[1]
        for same in (True, False):
            said = 1.0 - flip if same == (one == other) else flip
            chance = float(share[first] * share[second]) * reported * said
            if chance > 0.0:
                yield Outcome((first, second), (one, other), same, chance)


def _report(true: int, reported: int, labeling: Rates) -> float:
    flip = labeling[0] if true == 1 else labeling[1]
    return 1.0 - flip if reported == true else flip
