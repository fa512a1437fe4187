"""The joint learner stage by stage, so that a script can change one of them.

`begin` goes as far as the best start and its noise family, `rounds` runs those with the classifier,
`final` fits it once more. What is to be tried stands between them. No problem is refused here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from noisypairs import JointPairClassifier
from noisypairs.app.experiments.problem import Problem
from noisypairs.estimators.inner.defaults import default_candidates
from noisypairs.estimators.joint.choice import Choice
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.estimators.joint.search.families import WORTH_IT
from noisypairs.estimators.joint.search.selection import Search
from noisypairs.inference import em
from noisypairs.metrics import accuracy_up_to_names


@dataclass(frozen=True, eq=False)
class Begun:
    """A search that has chosen start and noise family, and what it found."""

    data: Problem
    problem: JointProblem
    search: Search
    found: em.Inference

    @property
    def nats_per_item(self) -> float:
        """How much better than blindly the answers are explained."""
        return self.problem.gain(self.found) / len(self.data.X)

    def chosen(self, members: Mapping[str, int | None] | None = None) -> Choice:
        """Return the choice among the default candidates, as it is made, or of these members."""
        candidates = default_candidates(self.data.X, self.problem.seed)
        choice = Choice(self.problem, self.found, candidates, averaged=True)
        choice.choose() if members is None else choice.take(members)
        return choice


def begin(data: Problem, seed: int) -> Begun:
    """Search start and noise family with ridge regression, as the joint learner does."""
    problem = JointProblem(data.X, data.pairs, [2], "auto", seed)
    search = JointPairClassifier(random_state=seed).search(problem)
    return Begun(data, problem, search, search.choose_family(search.choose_classes([2])))


def rounds(
    begun: Begun,
    choice: Choice,
    potential: em.Potential | None = None,
    found: em.Inference | None = None,
) -> em.Inference:
    """Run the rounds with the classifier, from what was found, as the joint learner does."""
    problem, settings = begun.problem, JointPairClassifier()
    found = begun.found if found is None else found
    return em.infer(
        em.GraphEStep(problem.graph),
        potential or choice.potential(problem.in_pairs, None),
        found.beliefs.item,
        found.noise,
        begun.search.fit_noise(begun.search.family),
        max_iter=settings.max_iter,
        tol=settings.tol,
        or_best=True,
        worth=-np.inf if choice.quick else WORTH_IT,
    )


def final(begun: Begun, choice: Choice, beliefs: np.ndarray) -> Any:
    """Return what was chosen, fitted to the beliefs of the items in pairs."""
    return choice.fit(beliefs, np.flatnonzero(begun.problem.in_pairs))


def finish(begun: Begun, choice: Choice, potential: em.Potential | None = None) -> float:
    """Return the accuracy on new items after the rounds and the final fit."""
    last = rounds(begun, choice, potential)
    return accuracy(begun, final(begun, choice, last.item_proba).predict(begun.data.X_test))


def accuracy(begun: Begun, predicted: np.ndarray) -> float:
    """Return the accuracy on new items after the better matching of class names."""
    return accuracy_up_to_names(begun.data.y_test, predicted)
