"""Whether all people answer one question, and with how many independent voices.

People who look at another attribute of the items than most do agree with each other and not with
the classes: they look like people who guess. So those whose held-out answers the classes hardly
predict are fitted on their own. Where that predicts their held-out answers better than the classes
of everybody do, they answer another question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.joint.em import Fit
from noisypairs.joint.search import Search
from noisypairs.pairs import Pairs

#: People whose gain per answer is below this share of a good person's may answer another question.
HARDLY = 1.0 / 3.0
#: They must be this many, with this many answers, and fit better by this many standard errors.
FEWEST_PEOPLE, FEWEST_ANSWERS, CLEAR = 2, 60, 2.0
#: Fewer independent voices cannot show errors that repeat; two people seldom err quite apart.
TWO_VOICES = 1.5
#: What one voice cannot show.
ONE_VOICE = (
    "All answers come from one voice: one annotator, or several who err alike. Errors that repeat "
    "cannot be seen; ten labelled items, or a second, independent annotator, would show them."
)


@dataclass(frozen=True)
class OtherQuestion:
    """Names of the people who answer another question, and how many others there are."""

    people: tuple[Any, ...]
    n_others: int

    @property
    def n_people(self) -> int:
        """How many answer it."""
        return len(self.people)


def other_question(search: Search, fit: Fit, predicted: Array) -> OtherQuestion | None:
    """Return who answers another question than the classes of a fit, None where nobody does.

    ``predicted`` (n_pairs,) is log P of held-out answers under the classes, NaN of others.
    """
    pairs = search.problem.pairs
    if pairs.annotator is None or pairs.annotator_names is None:
        return None
    astray = _astray(pairs, predicted)
    theirs = astray[pairs.annotator]
    if astray.sum() < FEWEST_PEOPLE or theirs.sum() < FEWEST_ANSWERS:
        return None
    if len(np.unique(pairs.same[theirs])) < 2:
        return None  # they give one answer only
    problem = search.problem.with_pairs(pairs.select(theirs))
    problem.clamp = problem.names = None
    own = Search(problem, search.families, search.given)
    numbers = sorted({2, 3, fit.n_classes})
    spec = own.choose(numbers)
    found = own.log_chance[spec]
    better = own.held.gain(found, predicted[theirs])
    of_their_own = own.held.gain(found, own.blind)
    if not (better.exceeds(CLEAR) and of_their_own.exceeds(CLEAR)):
        return None
    names: NDArray[Any] = np.asarray(pairs.annotator_names)
    answered = np.bincount(pairs.annotator, minlength=len(names)) > 0
    return OtherQuestion(tuple(names[astray].tolist()), int((answered & ~astray).sum()))


def _astray(pairs: Pairs, predicted: Array) -> NDArray[np.bool_]:
    """Return which people's held-out answers the classes hardly predict, (R,).

    By the gain per answer over each person's own share of "same".
    """
    known = np.isfinite(predicted)
    who, same = np.asarray(pairs.annotator), pairs.same.astype(float)
    R = len(np.asarray(pairs.annotator_names))
    share = np.clip((np.bincount(who, same, R) + 0.5) / (np.bincount(who, minlength=R) + 1), 0, 1)
    blind = np.log(np.where(pairs.same, share[who], 1.0 - share[who]))
    n = np.bincount(who[known], minlength=R)
    gain = np.bincount(who[known], (predicted - blind)[known], R) / np.maximum(n, 1)
    good = gain[n > 0]
    reference = float(good[good >= good.mean()].mean()) if good.size else 0.0
    return np.asarray((n > 0) & (gain < HARDLY * reference))


def n_voices(pairs: Pairs, fit: Fit) -> float | None:
    """Return how many independent voices answer, None where nobody is named.

    Errors of m people that correlate by ρ say as much as m / (1 + (m − 1) ρ) independent ones.
    """
    if pairs.annotator is None:
        return None
    m = len(np.unique(pairs.annotator))
    part = fit.answers.part("pair error")
    rho = 0.0 if part is None else float(part.rho)
    return m / (1.0 + (m - 1) * rho)
