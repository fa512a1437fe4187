"""The classes behind the answers of a crowd: from the answers alone, or with features.

The joint learner infers them, with a noise for everybody; of several numbers of classes it chooses
one. Answers of several levels count as such.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import ClassNamesWarning, RepeatedItemsWarning
from noisypairs.estimators.base import known_classes, label_names
from noisypairs.graph import progress
from noisypairs.graph.propagation import (
    Beliefs,
    PairGraph,
    cavities,
    edge_posterior,
    edge_posteriors,
    propagate,
)
from noisypairs.joint.choices import PartName
from noisypairs.noise.model import same_view
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import pair_keys
from noisypairs.pairs.pairs import keys_of
from noisypairs.tables.propagation import settled

#: What the joint learner adds to the classes that no table of rates has: states, and looks.
NOT_RATES = ("clarity", "similarity")


@dataclass(frozen=True)
class InferredClasses:
    """The classes as inferred: the response table (R, L, K, K) and log φ (n_items, K).

    ``graph`` has the answers with the weights under which beliefs were inferred: less than one
    where people err together. ``answered`` has them as they were given, and as they are counted.
    """

    graph: PairGraph
    answered: PairGraph
    log_potential: Array
    responses: Array
    beliefs: Beliefs
    clamp: dict[int, int] | None

    @property
    def item_proba(self) -> Array:
        """P(class | everything) of the items, (n_items, K)."""
        return self.beliefs.item

    @property
    def S(self) -> Array:
        """P("same" | classes) of everybody, (R, K, K)."""
        return same_view(self.responses, self.graph.scale)

    @property
    def same_proba(self) -> Array:
        """P(same class | everything) of every distinct pair, shape (n_edges,)."""
        joint = edge_posterior(self.graph, self.beliefs, self.responses)
        return np.asarray(np.einsum("ekk->e", joint))

    def same_chance(self, pairs: Pairs) -> Array:
        """Return P(same class | all but the answers to it) of every answer's pair, (n_pairs,)."""
        keys = pair_keys(self.graph.left, self.graph.right, self.graph.n_items)
        ends = cavities(self.graph, self.beliefs, np.arange(self.graph.n_edges))
        chance: Array = np.einsum("ek,ek->e", *ends)
        return chance[np.searchsorted(keys, keys_of(pairs))]

    def counts(self) -> tuple[Array, Array]:
        """Return the classes behind the answers "same" and "different", (R, K, K) each."""
        K, graph = self.item_proba.shape[1], self.answered
        counts = np.zeros((graph.n_groups * graph.n_levels, K * K))
        for block, joint in edge_posteriors(self.graph, self.beliefs, self.responses):
            counts += graph.evidence(block).T @ joint.reshape(-1, K * K)
        by_level = counts.reshape(graph.n_groups, graph.n_levels, K, K)
        by_level = (by_level + by_level.swapaxes(2, 3)) / 2
        return (
            by_level[:, graph.scale.same_levels].sum(axis=1),
            by_level[:, graph.scale.different_levels].sum(axis=1),
        )

    @cached_property
    def _settled(self) -> Beliefs:
        """The beliefs under S, which was fitted to the last ones: what dropping is compared with.

        Without this, items that change with the last step of S would count for everybody.
        """
        return self._propagated(self.graph, self.beliefs)

    def _propagated(self, graph: PairGraph, start: Beliefs) -> Beliefs:
        settings: dict[str, Any] = {"tol": 1e-3, "clamp": self.clamp}
        return propagate(graph, self.log_potential, self.responses, start.sent, **settings)

    def drop_effect(self, group: int) -> int:
        """Count the items whose most probable class changes without the answers of one group."""
        weight = np.where(self.graph.answer_group == group, 0, self.graph.answer_weight)
        rest = replace(self.graph, answer_weight=weight.astype(np.float32))
        found = self._propagated(rest, self._settled)
        return int((found.item.argmax(axis=1) != self._settled.item.argmax(axis=1)).sum())


@progress.stage("classes")
def infer_classes(
    pairs: Pairs,
    X: Any,
    numbers: Sequence[int],
    estimator: Any,
    random: np.random.RandomState,
    quick: bool = False,
) -> InferredClasses:
    """Infer the classes, one of these numbers, from the answers and features, if there are any.

    ``quick``, as for a comparison: without asking whether some items are hard.
    """
    return classes_of_fit(_fit_joint(pairs, X, numbers, estimator, random, quick), pairs)


def classes_of_fit(model: JointPairClassifier, pairs: Pairs) -> InferredClasses:
    """Return the classes of a joint learner fitted to these answers."""
    answered = PairGraph.from_pairs(pairs, annotators=pairs.annotator is not None)
    answers = model.answer_model_.without(*NOT_RATES)
    responses, K = answers.responses(), len(model.classes_)
    responses = np.broadcast_to(responses, (answered.n_groups, *responses.shape[1:]))
    log_phi, names = np.log(model.oof_proba_), label_names(pairs, K)
    clamp = None if names is None else known_classes(pairs, names)
    graph = answers.reweighted(answered)
    beliefs = propagate(graph, log_phi, responses, tol=1e-4, clamp=clamp)
    return InferredClasses(graph, answered, log_phi, responses, beliefs, clamp)


def _fit_joint(
    pairs: Any,
    X: Any,
    numbers: Sequence[int],
    estimator: Any,
    random: np.random.RandomState,
    quick: bool = False,
) -> JointPairClassifier:
    """Return the joint learner fitted to the pairs."""
    # Pairing noise: each annotator is given two rates whatever the family of the crowd's noise. No
    # similarity: it moves no class, and the rates do not have it.
    parts: list[PartName] = ["people"] if pairs.annotator_names is not None else []
    parts += ["pair error"] if quick else ["clarity", "pair error"]
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
        return model.fit(X, pairs)


def counts_of_table(
    table: Any, model: JointPairClassifier
) -> tuple[NDArray[Any], NDArray[Any], Array, Array, Array]:
    """Return names, answers, counts of "same" and "different", beliefs: all of a table's pairs."""
    S = same_view(model.answer_model_.without(*NOT_RATES).responses(), model.noise_.scale)
    counts = settled(table, model.item_proba_, S).counts
    who = table.annotator_counts
    return who.names, who.n_answers, counts[:, 1], counts[:, 0], model.item_proba_


def streamed_counts(
    table: Any, X: Any, numbers: Sequence[int], estimator: Any, random: np.random.RandomState
) -> tuple[NDArray[Any], NDArray[Any], Array, Array, Array]:
    """Return what `counts_of_table` does, of a joint learner that is fitted here."""
    return counts_of_table(table, _fit_joint(table, X, numbers, estimator, random))
