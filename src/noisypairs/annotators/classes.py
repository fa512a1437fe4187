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
from noisypairs.errors import ClassNamesWarning, NotIdentifiable
from noisypairs.estimators import JointPairClassifier
from noisypairs.estimators.base import known_classes, label_names
from noisypairs.estimators.joint.problem import JointProblem
from noisypairs.estimators.joint.search.evidence import clear_gain
from noisypairs.estimators.joint.search.selection import Search
from noisypairs.inference import em, progress, streaming
from noisypairs.inference.graph import PairGraph
from noisypairs.inference.posteriors import edge_posterior, expected_counts
from noisypairs.inference.propagation import Beliefs, propagate
from noisypairs.noise import PairingNoise
from noisypairs.pairs import Pairs

#: Random guesses of the classes to start from, besides those from the answers.
N_RANDOM = 3
#: Rounds of every start, and of those in a hurry, which starts from no random guess.
ROUNDS, FEW_ROUNDS = 30, 10


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
        weight = np.where(self.graph.answer_kind // 2 == group, 0, self.graph.answer_weight)
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
    model, S = _fit_joint(pairs, X, numbers, estimator, random, hurry)
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
    model = JointPairClassifier(
        estimator,
        numbers[0] if len(numbers) == 1 else list(numbers),
        annotators=pairs.annotator_names is not None,
        clarity=False if hurry else "auto",
        similarity=False,
        noise_model="pairing",
        random_state=random,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClassNamesWarning)  # no class is named in the table
        model.fit(X, pairs)
    n_classes = len(model.classes_)
    if model.annotator_noise_ is None:
        return model, model.noise_.same_probability(n_classes)[None]
    similar, dissimilar = np.asarray(model.annotator_noise_).T[:, :, None, None]
    S: Array = np.where(np.eye(n_classes, dtype=bool), 1.0 - similar, dissimilar)
    return model, S


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
        beliefs, potential = model.item_proba_, model.oof_proba_
    else:
        start, clamp = _explained(some, numbers, random)
        e_step = streaming.StreamEStep(table, n_groups=len(table.annotator_names), clamp=clamp)
        guess = start.item_proba, start.noise, PairingNoise.fit
        found = em.infer(e_step, em.class_shares, *guess, max_iter=20, tol=e_step.tol)
        beliefs, potential, S = found.item_proba, found.potential, found.matrices
    tiny = np.finfo(float).tiny
    log_phi, log_item = (np.log(np.maximum(one, tiny)) for one in (potential, beliefs))
    counted = streaming.sweep(table, log_phi, [log_item] * 3, S)
    who = table.annotator_counts
    return who.names, who.n_answers, counted.same, counted.different, beliefs


@progress.stage("classes", {"candidate number of classes": 2.0, "start": 3.0, "round": 2.0})
def classes_from_answers(
    pairs: Pairs, numbers: Sequence[int], random: np.random.RandomState, hurry: bool = False
) -> InferredClasses:
    """Infer the classes, one of these numbers, from the answers alone.

    First with one noise for all, then with one for each. In a ``hurry`` there are fewer starts and
    rounds, which still serves to compare.
    """
    found, clamp = _explained(pairs, numbers, random, hurry)
    graph = _graph(pairs)
    n_classes = found.beliefs.item.shape[1]
    start, fit = found.beliefs, PairingNoise.fit  # edges are the same with and without groups
    e_step = em.GraphEStep(graph, clamp=clamp, messages=start.sent)
    first = start.item, found.noise, fit
    found = em.infer(
        e_step, em.class_shares, *first, max_iter=FEW_ROUNDS if hurry else 60, tol=5e-3
    )
    if not (found.converged or hurry):
        change = f"{found.history[-1]['noise_change']:.3f} in round {len(found.history)}"
        advice = f"the annotators' rates still changed by {change}: rely on them less, or give X"
        warnings.warn(advice, ConvergenceWarning, stacklevel=4)
    S = found.matrices.reshape(-1, n_classes, n_classes)  # one group comes without its axis
    return InferredClasses(graph, np.log(found.potential), S, found.beliefs, clamp)


def _explained(
    pairs: Pairs, numbers: Sequence[int], random: np.random.RandomState, hurry: bool = False
) -> tuple[em.Inference, dict[int, int] | None]:
    """Return classes and one noise for the whole crowd from the answers alone, and known classes.

    The best of all starts, as the joint learner finds it for a problem without features. Which of
    several numbers of classes there are is found in a hurry first.
    """
    if len(numbers) > 1 and not hurry:
        numbers = [_explained(pairs, numbers, random, hurry=True)[0].beliefs.item.shape[1]]
    if len(numbers) == 1:
        label_names(pairs, numbers[0])  # gold must know every class
    problem = JointProblem(None, pairs, list(numbers), 0, random)
    rounds, n_random = (FEW_ROUNDS, 0) if hurry else (ROUNDS, N_RANDOM)
    settings: dict[str, Any] = {"rounds": rounds, "every_start": True, "guess_sweeps": 5}
    search = Search(problem, None, "pairing", ("answers", "spectral"), n_random, **settings)
    found = search.choose_classes(numbers)
    gain, needed = problem.gain(found), clear_gain(problem, 3)
    if problem.clamp is None and gain < needed:  # known classes are evidence by themselves
        raise NotIdentifiable(
            f"classes explain the answers {gain:.1f} nats better than saying 'same' with "
            f"probability {problem.share:.2f} every time, and chance alone may reach {needed:.1f}: "
            "nobody can be judged by them. Ask for more answers per item, or give features X or "
            "gold"
        )
    return found, problem.clamp
