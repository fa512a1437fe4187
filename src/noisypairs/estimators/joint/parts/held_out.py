"""Answers held out, by item or by person, and what the rest predicts of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils import _safe_indexing

from noisypairs.algebra import Array
from noisypairs.estimators.inner.gaussian import GaussianClasses
from noisypairs.estimators.inner.ridge import RidgeClasses
from noisypairs.estimators.joint.answers.model import AnswerModel
from noisypairs.estimators.joint.answers.states import folded
from noisypairs.estimators.joint.beliefs.potentials import class_proba, fit_beliefs
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.inference import em
from noisypairs.noise.people import People
from noisypairs.pairs import Pairs

#: Nodes at which bias and skill of an unknown person are taken.
NODES = 7

Part = Literal["people", "clarity", "similarity"]
Parts = frozenset[Part]
#: From a problem and an inference without parts to one with these parts.
Run = Callable[[JointProblem, em.Inference, Parts], em.Inference]


class Fold:
    """What was inferred without the answers held out: once without parts, and once with each set.

    ``begin`` starts on the rest as a problem of its own, ``run`` goes on with parts.
    """

    def __init__(
        self, rest: JointProblem, begin: Callable[[JointProblem], em.Inference], run: Run
    ) -> None:
        self.rest, self._run, self.begun = rest, run, begin(rest)
        self.runs: dict[Parts, em.Inference] = {frozenset(): self.begun}

    @property
    def n_classes(self) -> int:
        """K."""
        return int(self.begun.beliefs.item.shape[1])

    def found(self, parts: Parts) -> em.Inference:
        """Return the inference with these parts; similarity moves no class."""
        moving: Parts = parts - {"similarity"}
        if moving not in self.runs:
            self.runs[moving] = self._run(self.rest, self.begun, moving)
        return self.runs[moving]


class ItemFold(Fold):
    """Answers about held-out items; classes are inferred from the pairs among the others."""

    def __init__(
        self,
        whole: JointProblem,
        out: NDArray[np.bool_],
        begin: Callable[[JointProblem], em.Inference],
        run: Run,
        gaussian: bool,
    ) -> None:
        self.whole, self.gaussian = whole, gaussian
        self.items, self.others = np.flatnonzero(~out), np.flatnonzero(out)
        self.rows = np.flatnonzero(out[whole.pairs.left] | out[whole.pairs.right])
        self.answers = whole.pairs.select(self.rows)
        X = _safe_indexing(whole.X, self.items)
        rest = JointProblem(X, whole.pairs[self.items], whole.n_classes, whole.cv, whole.seed)
        super().__init__(rest, begin, run)

    def log_chance(self, parts: Parts) -> Array:
        """Return log P of every answer held out, shape (n,)."""
        found, out = self.found(parts), self.answers
        model = AnswerModel.of(found, self.rest.pairs.annotator_names, self.n_classes)
        states = np.empty((self.whole.pairs.n_items, model.n_states))
        states[self.items] = found.beliefs.item
        states[self.others] = model.states(self._predicted(found))
        if "similarity" not in parts:
            return model.log_chance(states, out)
        model = model.with_similarity(found.beliefs.item, self.rest.pairs, self.rest.X)
        if model.similarity is None:
            return model.log_chance(states, out)
        likeness = model.similarity.likeness(self.whole.X, out.left, out.right)
        return model.log_chance(states, out, likeness)

    def _predicted(self, found: em.Inference) -> Array:
        """Return P(class | x) of items that were not seen, by what learnt the start."""
        beliefs = folded(found).beliefs.item
        learner = GaussianClasses() if self.gaussian else RidgeClasses(random_state=self.rest.seed)
        seen, new = (
            one.X if one.numbers is None else one.numbers for one in (self.rest, self.whole)
        )
        model = fit_beliefs(learner, seen, beliefs, np.flatnonzero(self.rest.in_pairs))
        phi = class_proba(model, _safe_indexing(new, self.others), beliefs.shape[1])
        phi = np.clip(phi, em.CERTAIN, None)
        shares: Array = phi / phi.sum(axis=1, keepdims=True)
        return shares


class PeopleFold(Fold):
    """All answers of held-out people; classes are inferred from those of the others."""

    def __init__(
        self,
        whole: JointProblem,
        out: NDArray[np.bool_],
        begin: Callable[[JointProblem], em.Inference],
        run: Run,
    ) -> None:
        who = np.asarray(whole.pairs.annotator)
        self.answers = whole.pairs.select(out[who])
        self.who, self.people = np.searchsorted(np.flatnonzero(out), who[out[who]]), int(out.sum())
        super().__init__(whole.with_pairs(whole.pairs.select(~out[who])), begin, run)

    def log_chance(self, parts: Parts) -> Array:
        """Return log P of all answers of each person held out, shape (n_people,).

        Bias and skill of somebody new are drawn from the crowd: the chance is a mean over it.
        """
        found, out = self.found(parts), self.answers
        model, states = AnswerModel.of(found, None, self.n_classes), found.beliefs.item
        weights, people = crowd_nodes(found.people or NOBODY)
        S = model.noise.same_probability(model.n_states)
        by_node = np.empty((len(weights), self.people))
        for number, matrix in enumerate(people.matrices(S, model.noise.same_class(model.n_states))):
            chance = _chance(states, out, matrix)
            by_node[number] = np.bincount(self.who, chance, minlength=self.people)
        return np.asarray(logsumexp(by_node + np.log(weights)[:, None], axis=0))


#: A crowd of which nobody differs from the others.
NOBODY = replace(People.unknown(1), bias_spread=0.0, skill_spread=0.0)


def _chance(states: Array, answers: Pairs, S: Array) -> Array:
    same = np.einsum("ns,st,nt->n", states[answers.left], S, states[answers.right])
    same = np.clip(same, 1e-9, 1.0 - 1e-9)
    return np.asarray(np.log(np.where(answers.same, same, 1.0 - same)))


def crowd_nodes(people: People) -> tuple[Array, People]:
    """Return weights and people that stand for the whole crowd: Gauss and Hermite's nodes.

    >>> weights, people = crowd_nodes(People.unknown(3))
    >>> weights.sum().round(6), (weights @ people.bias**2).round(6)
    (np.float64(1.0), np.float64(0.25))
    """
    if people.bias_spread == people.skill_spread == 0.0:
        return np.ones(1), replace(people, bias=np.zeros(1), skill=np.zeros(1))
    nodes, weight = np.polynomial.hermite_e.hermegauss(NODES)
    bias, skill = (grid.ravel() for grid in np.meshgrid(nodes, nodes))
    both = np.outer(weight, weight).ravel() / weight.sum() ** 2
    return both, replace(people, bias=bias * people.bias_spread, skill=skill * people.skill_spread)
