"""The classes behind the answers of a crowd: from the answers alone, or with features.

The joint learner infers them, as a problem with features or without; every annotator then has a
matrix of their own. Of several numbers of classes the joint learner chooses one.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from noisypairs.algebra import Array
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import ClassNamesWarning, NotIdentifiable, RepeatedItemsWarning
from noisypairs.estimators.base import known_classes, label_names
from noisypairs.graph import progress
from noisypairs.graph.propagation import (
    Beliefs,
    PairGraph,
    edge_posterior,
    expected_counts,
    propagate,
)
from noisypairs.joint.choices import CLEARLY_DETECTED, DETECTED, PartName
from noisypairs.joint.class_model import SharesModel
from noisypairs.joint.em import Fit, TableEStep, run_em
from noisypairs.joint.problem import Problem
from noisypairs.joint.search import Search, beyond_chance
from noisypairs.noise import People
from noisypairs.pairs import Pairs
from noisypairs.tables.propagation import settled

#: Rounds over a table, and the change at which they have converged.
ROUNDS, TOLERANCE = 20, 5e-3


@dataclass(frozen=True)
class InferredClasses:
    """The classes as inferred, with S (R, K, K) and log φ (n_items, K)."""

    graph: PairGraph
    log_potential: Array
    S: Array
    beliefs: Beliefs
    clamp: dict[int, int] | None

    @property
    def item_proba(self) -> Array:
        """P(class | everything) of the items, (n_items, K)."""
        return self.beliefs.item

    @property
    def same_proba(self) -> Array:
        """P(same class | everything) of every distinct pair, shape (n_edges,)."""
        joint = edge_posterior(self.graph, self.beliefs, self.S)
        return np.asarray(np.einsum("ekk->e", joint))

    def counts(self) -> tuple[Array, Array]:
        """Return the classes behind the answers "same" and "different", (R, K, K) each."""
        return expected_counts(self.graph, self.beliefs, self.S)

    @cached_property
    def _settled(self) -> Beliefs:
        """The beliefs under S, which was fitted to the last ones: what dropping is compared with.

        Without this, items that change with the last step of S would count for everybody.
        """
        return self._propagated(self.graph, self.beliefs)

    def _propagated(self, graph: PairGraph, start: Beliefs) -> Beliefs:
        settings: dict[str, Any] = {"tol": 1e-3, "clamp": self.clamp}
        return propagate(graph, self.log_potential, self.S, start.sent, **settings)

    def drop_effect(self, group: int) -> int:
        """Count the items whose most probable class changes without the answers of one group."""
        weight = np.where(self.graph.answer_group == group, 0, self.graph.answer_weight)
        rest = replace(self.graph, answer_weight=weight.astype(np.float32))
        found = self._propagated(rest, self._settled)
        return int((found.item.argmax(axis=1) != self._settled.item.argmax(axis=1)).sum())


@progress.stage("classes")
def classes_from_features(
    pairs: Pairs,
    X: Any,
    numbers: Sequence[int],
    estimator: Any,
    random: np.random.RandomState,
    hurry: bool = False,
) -> InferredClasses:
    """Infer the classes, one of these numbers, from features and answers together.

    In a ``hurry``, as for a comparison, without asking whether some items are hard.
    """
    return classes_of_fit(*_fit_joint(pairs, X, numbers, estimator, random, hurry), pairs)


def classes_of_fit(model: JointPairClassifier, S: Array, pairs: Pairs) -> InferredClasses:
    """Return the classes of a joint learner fitted to these answers, S by annotator (R, K, K)."""
    graph, log_phi = _graph(pairs), np.log(model.oof_proba_)
    names = label_names(pairs, S.shape[1])
    clamp = None if names is None else known_classes(pairs, names)
    beliefs = propagate(graph, log_phi, S, tol=1e-4, clamp=clamp)
    return InferredClasses(graph, log_phi, S, beliefs, clamp)


def _graph(pairs: Pairs) -> PairGraph:
    return PairGraph.from_pairs(pairs, annotators=pairs.annotator is not None)


def _fit_joint(
    pairs: Pairs,
    X: Any,
    numbers: Sequence[int],
    estimator: Any,
    random: np.random.RandomState,
    hurry: bool = False,
) -> tuple[JointPairClassifier, Array]:
    """Return the joint learner fitted to the pairs, and S by annotator, (R, K, K)."""
    # Pairing noise: each annotator is given two rates whatever the family of the crowd's noise. No
    # similarity: it moves no class, and the rates do not have it.
    parts: list[PartName] = ["people"] if pairs.annotator_names is not None else []
    parts += ["pair error"] if hurry else ["clarity", "pair error"]
    model = JointPairClassifier(
        estimator,
        numbers[0] if len(numbers) == 1 else list(numbers),
        noise="pairing",
        answer_model=parts,
        random_state=random,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClassNamesWarning)  # no class is named in the table
        warnings.simplefilter("ignore", RepeatedItemsWarning)  # nor is any accuracy
        model.fit(X, pairs)
    return model, noise_of_people(model)


def noise_of_people(model: JointPairClassifier) -> Array:
    """Return S of everybody by a fitted joint learner: two rates each, (R, K, K)."""
    n_classes = len(model.classes_)
    if model.annotator_noise_ is None:
        return model.noise_.same_probability(n_classes)[None]
    similar, dissimilar = np.asarray(model.annotator_noise_).T[:, :, None, None]
    S: Array = np.where(np.eye(n_classes, dtype=bool), 1.0 - similar, dissimilar)
    return S


def streamed_counts(
    table: Any,
    some: Pairs,
    X: Any,
    numbers: Sequence[int],
    estimator: Any,
    random: np.random.RandomState,
) -> tuple[NDArray[Any], NDArray[Any], Array, Array, Array]:
    """Return names, answers, counts of "same" and "different", beliefs: all of a table's pairs.

    As `classes_from_features` or `classes_from_answers`, from a start on ``some`` of the pairs.
    """
    if X is not None:
        model, S = _fit_joint(table, X, numbers, estimator, random)
        beliefs = model.item_proba_
    else:
        start, problem = _explained(some, numbers, random)
        people = People.begin(table, None)
        e_step = TableEStep(table, True, problem.clamp)
        shares = SharesModel((table.degrees() > 0).astype(float))
        answers = start.answers.with_parts(people)
        guess = e_step, shares, answers, start.item_proba
        found = run_em(start.spec, start.start, *guess, rounds=ROUNDS, tolerance=TOLERANCE)
        beliefs, S = found.item_proba, found.answers.matrices()
    return counts_of_table(table, S, beliefs)


def counts_of_table(
    table: Any, S: Array, beliefs: Array
) -> tuple[NDArray[Any], NDArray[Any], Array, Array, Array]:
    """Return names, answers, counts of "same" and "different", beliefs: all of a table's pairs."""
    counts = settled(table, beliefs, S).counts
    who = table.annotator_counts
    return who.names, who.n_answers, counts[:, 1], counts[:, 0], beliefs


@progress.stage("classes", {"candidate number of classes": 2.0, "start": 3.0, "round": 2.0})
def classes_from_answers(
    pairs: Pairs, numbers: Sequence[int], random: np.random.RandomState
) -> InferredClasses:
    """Infer the classes, one of these numbers, from the answers alone, with a noise for each."""
    found, problem = _explained(pairs, numbers, random)
    graph, K = problem.graph, found.n_classes
    if not found.converged:
        change = f"{found.history[-1]['belief_change']:.3f} in round {len(found.history)}"
        advice = f"the rates still changed by {change}: rely on them less, or give X"
        warnings.warn(advice, ConvergenceWarning, stacklevel=4)
    S = np.broadcast_to(found.answers.matrices(), (graph.n_groups, K, K))
    return InferredClasses(graph, np.log(found.phi), S, found.beliefs, problem.clamp)


def _explained(
    pairs: Pairs, numbers: Sequence[int], random: np.random.RandomState
) -> tuple[Fit, Problem]:
    """Return classes and how everybody answers, from the answers alone, and the problem.

    As the joint learner finds it for a problem without features.
    """
    if len(numbers) == 1:
        label_names(pairs, numbers[0])  # gold must know every class
    least = max(min(numbers), len(set(pairs.labels.values())))
    problem = Problem(None, pairs, least, random_state=random)
    search = Search(problem, ("pairing",))
    spec = search.choose(list(numbers), least)
    gain = search.gain
    # With few people the error is large: permuted answers may still show that there are classes.
    if (
        problem.clamp is None
        and gain is not None
        and not gain.exceeds(DETECTED)
        and max(beyond_chance(problem).values()) < CLEARLY_DETECTED
    ):
        raise NotIdentifiable(
            f"classes predict held-out answers {gain.nats / gain.n_answers:.3f} ± "
            f"{gain.error / gain.n_answers:.3f} nats better than saying 'same' with probability "
            f"{problem.share:.2f} every time: nobody can be judged by them. Ask for more answers "
            "per item, or give features X or gold"
        )
    return search.final(spec), problem
