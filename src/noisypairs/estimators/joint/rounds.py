"""The last rounds of a joint fit, with the classifier that was chosen: in memory or streamed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.estimators.joint.answers.repeats import repeat_correlation, single_answers
from noisypairs.estimators.joint.answers.states import clear_or_hard
from noisypairs.estimators.joint.choice import Choice
from noisypairs.estimators.joint.parts.parts import PartChoice
from noisypairs.estimators.joint.search.families import MANY_CLASSES, WORTH_IT, going_on
from noisypairs.estimators.joint.search.selection import Search
from noisypairs.inference import em, streaming
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.posteriors import answer_wrong_probability
from noisypairs.noise.clarity import fit_clarity
from noisypairs.pairs import Pairs

if TYPE_CHECKING:
    from noisypairs.tables import PairTable


class Ended(NamedTuple):
    """Where the rounds ended, which items are in pairs, and what that says about the answers."""

    found: em.Inference
    in_pairs: NDArray[np.bool_]
    wrong_proba: Array | None = None
    repeat_correlation: float = 0.0


@dataclass
class LastRounds:
    """The rounds from ``found`` on: at most ``max_iter``, until changes are below ``tol``."""

    search: Search
    parts: PartChoice
    choice: Choice
    found: em.Inference
    max_iter: int
    tol: float
    n_jobs: int | None

    def run(self, pairs: Pairs | PairTable) -> Ended:
        """Run the rounds with all of these answers."""
        return self._on_graph(pairs) if isinstance(pairs, Pairs) else self._on_stream(pairs)

    def _on_graph(self, pairs: Pairs) -> Ended:
        """Run them in memory.

        Gaussian classes that led here and explain more than another classifier are gone back to.
        """
        problem, kept = self.choice.problem, self.parts.kept
        graph, in_pairs = problem.graph, problem.in_pairs
        if "people" in kept or pairs is not problem.all_pairs:
            graph = PairGraph.from_pairs(pairs, annotators="people" in kept)
            in_pairs = pairs.item_counts().total > 0
        potential = self.choice.potential(in_pairs, self.n_jobs)
        fit_noise, clamp = self.search.fit_noise(self.search.family), problem.clamp
        if "clarity" in kept:
            potential = clear_or_hard(potential, problem.clamp)
            fit_noise, clamp = fit_clarity(fit_noise, self.search.n_classes), None
        same, many = pairs is problem.all_pairs, self.search.n_classes > MANY_CLASSES
        e_step = em.GraphEStep(
            graph, clamp=clamp, **(going_on(self.found) if same and many else {})
        )
        doubted = self.choice.doubted and same
        at_least = self.found.log_likelihood - WORTH_IT if doubted else -np.inf
        how = {"matrices": self.found.matrices, "at_least": at_least}
        last = self._infer(e_step, potential, fit_noise, **how)
        if last.log_likelihood < at_least:
            self.choice.take({"gaussian": None})
            return self._on_graph(pairs)
        alike = last.noise.same_class(last.beliefs.item.shape[1])
        wrong = answer_wrong_probability(graph, last.beliefs, last.matrices, alike)
        if (single := single_answers(pairs)) is not pairs:
            graph = PairGraph.from_pairs(single)  # the same edges, votes one by one
        return Ended(last, in_pairs, wrong, repeat_correlation(graph, last))

    def _on_stream(self, pairs: PairTable) -> Ended:
        """Run them over a table, batch by batch."""
        in_pairs = pairs.degrees() > 0
        names = pairs.annotator_names if "people" in self.parts.kept else None
        e_step = streaming.StreamEStep(
            pairs,
            n_groups=1 if names is None else len(names),
            clamp=self.choice.problem.clamp,
            tol=self.tol,
        )
        potential = self.choice.potential(in_pairs, self.n_jobs)
        fit_noise = self.search.fit_noise(self.search.family)
        return Ended(self._infer(e_step, potential, fit_noise), in_pairs)

    def _infer(
        self, e_step: em.EStep, potential: em.Potential, fit_noise: Any, **how: Any
    ) -> em.Inference:
        """Run the loop; where rounds take time, no longer than they are worth it."""
        worth = -np.inf if self.choice.quick else WORTH_IT
        how |= {"max_iter": self.max_iter, "tol": self.tol, "worth": worth, "or_best": True}
        start = self.found.beliefs.item, self.found.noise
        return em.infer(e_step, potential, *start, fit_noise, **how)
