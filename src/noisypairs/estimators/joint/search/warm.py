"""A fit that goes on from the last one: `JointPairClassifier(warm_start=True)`.

Answers come in batches, and most of what a fit chooses stays as it was: where to begin, the noise
family, the classifier. A warm fit begins at the beliefs and the noise of the last one, looks
whether a class should be cut in two or two be merged where their number is open (`splits`), and
keeps the rest. That could keep an early mistake for ever. So while the answers are not explained
plainly, and again once there are half as many as at the last search, everything is searched anew,
and whichever explains the answers better is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.utils import _safe_indexing

from noisypairs.algebra import Array
from noisypairs.estimators.base import match_labels
from noisypairs.estimators.joint.problem import JointProblem, reordered
from noisypairs.estimators.joint.search.evidence import is_plain
from noisypairs.estimators.joint.search.selection import Search
from noisypairs.estimators.joint.search.splits import MOST_CLASSES, Moves, two_rates
from noisypairs.inference import em
from noisypairs.noise import NoiseModel, PairingNoise

if TYPE_CHECKING:
    from noisypairs.estimators.joint.classifier import JointPairClassifier
    from noisypairs.estimators.order import GivenOrder

#: Search anew once there are so many times the answers of the last search.
GROWN = 1.5
#: Rounds from the last beliefs, with the new answers.
ROUNDS = 15


@dataclass(frozen=True)
class LastFit:
    """What a warm fit goes on from: beliefs (n_items, K) in the order given, noise, choices."""

    item_proba: Array
    noise: NoiseModel
    family: str
    members: Mapping[str, Any]
    n_searched: int
    parts: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: JointPairClassifier, X: Any) -> LastFit | None:
        """Return the last fit of a learner, or None where a fit with X cannot go on from it.

        Items may have been added behind those of the last fit: they begin at what the model
        predicts for them.
        """
        known = getattr(model, "item_proba_", None)
        if not model.warm_start or known is None or model.n_kinds is not None:
            return None
        n_items = X.shape[0] if hasattr(X, "shape") else len(X)
        if len(known) > n_items:
            return None
        if len(known) < n_items:
            more = model.predict_proba(_safe_indexing(X, np.arange(len(known), n_items)))
            known = np.concatenate([known, more])
        found = model.noise_, model.noise_model_, model.members_, model.n_searched_, model.parts_
        return cls(known, *found)

    def ordered(self, given: GivenOrder) -> LastFit:
        """Return the last fit with its items in the order in which the fit has them."""
        return replace(self, item_proba=given.reordered_items(self.item_proba))

    def stale(self, problem: JointProblem, found: em.Inference) -> bool:
        """Return whether all is to be searched anew, the last beliefs having led to ``found``."""
        return not is_plain(problem, found) or problem.all_pairs.n_pairs > GROWN * self.n_searched

    def numbers_apply(self, search: Search) -> bool:
        """Return whether the classes of a new search can have the numbers of the last ones."""
        named = search.problem.names is not None or search.given is not None
        return not named and search.n_classes == self.item_proba.shape[1]

    def as_numbered(self, found: em.Inference) -> em.Inference:
        """Return what was found with every class numbered as the last one that it is most like."""
        shared = self.item_proba.T @ found.beliefs.item
        return reordered(found, linear_sum_assignment(shared, maximize=True)[1])

    def go_on(self, search: Search, numbers: Sequence[int], grows: bool) -> em.Inference | None:
        """Return where the last beliefs lead with all answers, and note it in the search.

        ``numbers`` of classes are in question; if it ``grows``, larger ones too. None where the
        last number of classes is not among them.
        """
        least, most = min(numbers), MOST_CLASSES if grows else max(numbers)
        beliefs, noise = self.item_proba, self.noise
        K = beliefs.shape[1]
        if not least <= K <= most:
            return None
        family = self.family if search.noise_model == "auto" else search.noise_model
        if search.given is not None:
            family = "given"
        elif family == "given":  # it no longer is
            family = "pairing"
        if search.problem.names is not None:
            order = match_labels(beliefs, search.problem.pairs, search.problem.names)
            beliefs, noise = beliefs[:, order], noise.permuted(order)
        moves = Moves(search, least, most)
        start = noise if search.given is None else search.given
        movable = least < most and (search.given is None or isinstance(start, PairingNoise))
        if movable or family == "pairing":
            found = moves.rounds(beliefs, two_rates(start, beliefs), ROUNDS)
            found = moves.explore(found) if movable else found
            if family not in ("pairing", "given"):
                found = search.go_on_with(search.problem, family, found)
        else:
            e_step = em.GraphEStep(search.problem.graph, clamp=search.problem.clamp)
            begin = search.problem.fast_potential, beliefs, start
            found = em.infer(e_step, *begin, search.fit_noise(family), max_iter=ROUNDS)
        _note(search, family, found)
        return found


class Begun(NamedTuple):
    """Where the last rounds of a fit begin: a search, what it chose, and what it goes on from.

    ``warm`` says that the beliefs go on from those of the last fit, ``numbered`` that the classes
    have the numbers that they had there; ``members`` are the classifiers to keep, None where they
    are chosen anew. ``anew`` is the search from the beginning with what it chose, if there was one.
    """

    search: Search
    chosen: em.Inference
    warm: bool
    numbered: bool
    members: Mapping[str, Any] | None
    n_searched: int
    anew: tuple[Search, em.Inference] | None


def begin(
    model: JointPairClassifier, problem: JointProblem, numbers: list[int], last: LastFit | None
) -> Begun:
    """Choose start, number of classes and noise family: from the last fit, anew, or both."""
    grows, n_pairs = model.n_classes == "auto", problem.all_pairs.n_pairs
    again, warm = model.search(problem), None
    if last is not None:
        warm = last.go_on(again, numbers, grows)
        if warm is not None and not last.stale(problem, warm):
            return Begun(again, warm, True, True, last.members, last.n_searched, None)
    search = model.search(problem)
    found = search.choose_classes(numbers)
    search.require_evidence(found)
    if grows and search.n_classes == max(numbers):
        found = Moves(search, max(numbers)).explore(found)
        search.n_classes = found.beliefs.item.shape[1]
    chosen = search.choose_family(found)
    score = search.score(chosen, search.family)
    if warm is not None and again.score(warm, again.family) > score:
        return Begun(again, warm, True, True, None, n_pairs, (search, chosen))
    numbered = last is not None and last.numbers_apply(search)
    if last is not None and numbered:
        chosen = last.as_numbered(chosen)
    return Begun(search, chosen, False, numbered, None, n_pairs, (search, chosen))


def _note(search: Search, family: str, run: em.Inference) -> None:
    """Let the search say that the run of one noise family was chosen."""
    K = run.beliefs.item.shape[1]
    search.start, search.n_classes, search.family = "last fit", K, family
    search.tried[K] = search.explanation(K, search.start, run, family)
    search.starts[f"{search.start}, {K} classes"] = run.log_likelihood
    search.noise_models = {family: run.log_likelihood}
    search.history += [{"stage": "start", **row} for row in run.history]
