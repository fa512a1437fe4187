"""Whether all people answer one question, and with how many independent voices.

People who look at another attribute of the items than most do agree with each other and not with
the classes: they look like people who guess. So those whose answers the classes hardly predict get
classes of their own. Where these predict their held-out answers better than the classes of
everybody do, with whatever responses these people give to them, they answer another question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.estimation.heldout import CLEAR, HeldOut
from noisypairs.joint.em import Fit
from noisypairs.joint.problem import Problem
from noisypairs.joint.search import Search
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of

#: People whose gain per answer is below this share of a good person's may answer another question.
HARDLY = 1.0 / 3.0
#: They must have this many answers.
FEWEST_ANSWERS = 60
#: Fewer independent voices cannot show errors that repeat; two people seldom err quite apart.
TWO_VOICES = 1.5
#: What one voice cannot show.
ONE_VOICE = (
    "All answers come from one source: one annotator, or several who err alike. Errors that repeat "
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
    another = answer_another(search.problem, _astray(pairs, predicted), fit.item_proba)
    if not another.any():
        return None
    names: NDArray[Any] = np.asarray(pairs.annotator_names)
    answered = np.bincount(pairs.annotator, minlength=len(names)) > 0
    return OtherQuestion(tuple(names[another].tolist()), int((answered & ~another).sum()))


def answer_another(problem: Problem, some: NDArray[np.bool_], beliefs: Array) -> NDArray[np.bool_]:
    """Return who of ``some`` people, (R,), answers another question than that of these classes.

    ``beliefs`` (n_items, K) are about the classes of everybody.
    """
    nobody = np.zeros_like(some)
    pairs = problem.pairs.select(some[np.asarray(problem.pairs.annotator)])
    if some.sum() < 2 or pairs.n_pairs < FEWEST_ANSWERS or len(np.unique(pairs.same)) < 2:
        return nobody
    theirs = problem.with_pairs(pairs)
    theirs.clamp = theirs.names = None
    # People who guess, or see the classes dimly, show no two classes of their own: a quick look.
    for numbers, errors in (([2], CLEAR / 2), (sorted({2, 3, beliefs.shape[1]}), CLEAR)):
        own = Search(theirs)
        found = own.log_chance[own.choose(numbers)]
        gains = (own.held.gain(found, one) for one in (_responses(own.held, beliefs), own.blind))
        if not all(gain.exceeds(errors) for gain in gains):
            return nobody
    return some & ~_astray(theirs.pairs, found)


def _responses(held: HeldOut, beliefs: Array) -> Array:
    """Return log P of held-out answers where people respond to these classes in their own way.

    The table S, (K, K), is counted on the other answers, with one more like all of them in a cell.
    """
    pairs, found = held.pairs, np.full(held.pairs.n_pairs, np.nan)
    left, right, weight = beliefs[pairs.left], beliefs[pairs.right], weights_of(pairs)[:, None]
    share = float(np.average(pairs.same, weights=weights_of(pairs)))
    for train, out in held.masks():
        ends = (weight * left)[train], right[train]
        asked, said = ends[0].T @ ends[1], (ends[0] * pairs.same[train, None]).T @ ends[1]
        S = (said + said.T + share) / (asked + asked.T + 1.0)
        chance = np.einsum("mk,kl,ml->m", left[out], S, right[out])
        found[out] = np.log(np.where(pairs.same[out], chance, 1.0 - chance))
    return found


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
