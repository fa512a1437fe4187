"""Each pair judged by itself: the model of Dawid and Skene, without classes behind the pairs.

Every distinct pair e of items has a truth of its own, same with probability π, and annotator r says

    P("different" | same) = ρ_S,r,     P("same" | different) = ρ_D,r.

EM alternates between P(same | answers) of every pair and the rates, which are shrunk as those of
classes are (`people.fit_people`). Nothing follows from one pair for another, not even that
a = b and b = c give a = c. Records to link need no more: their groups are many and tiny, and no
small number of classes holds them.

The answers identify the rates only where pairs are answered more than once: by several annotators,
or, where nobody is named and all share two rates, at least three times.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, logit

from noisypairs.algebra import Array
from noisypairs.inference.graph import PairGraph
from noisypairs.noise import PairingNoise
from noisypairs.noise.people import fit_people
from noisypairs.pairs import Pairs

#: Rounds of EM at most, and the change of the P(same) at which they have converged.
MOST_ROUNDS, CONVERGED = 1000, 1e-5
#: Groups are tiny if the largest holds at most so many items, or such a share of all compared.
TINY_GROUP, TINY_SHARE = 3, 0.05


@dataclass(frozen=True)
class Groups:
    """Items joined by pairs that are more likely same than not: how many groups, how large.

    Classes that the answers alone can show join a good part of their items. Tiny groups are what
    records to link look like.
    """

    n_items: int
    n_groups: int
    largest: int

    @property
    def are_tiny(self) -> bool:
        """Whether even the largest group is small, beside all items that were compared."""
        return self.largest <= max(TINY_GROUP, TINY_SHARE * self.n_items)

    def __str__(self) -> str:
        return (
            f"pairs that are probably the same join {self.n_items:,} items into {self.n_groups:,} "
            f"groups, the largest of {self.largest:,}"
        )


@dataclass(frozen=True)
class PairTruth:
    """What was inferred: P(same) of every distinct pair, and the rates of everybody.

    ``S`` (R, 2, 2) has 1 − ρ_S on the diagonal and ρ_D beside it, as classes have. ``same_proba``
    (n_edges,) follows the edges of ``graph``, ``share`` is π, and ``log_likelihood`` that of all
    answers.
    """

    graph: PairGraph
    S: Array
    same_proba: Array
    share: float
    log_likelihood: float
    converged: bool

    @property
    def item_proba(self) -> Array:
        """No classes, so no beliefs: shape (n_items, 0)."""
        return np.zeros((self.graph.n_items, 0))

    @property
    def wrong_proba(self) -> Array:
        """Return P(wrong) of each answer, in the order given; of a self pair 0 or 1."""
        same = np.append(self.same_proba, 1.0)[self.graph.edge_of_answer]
        wrong: Array = np.where(self.graph.same, 1.0 - same, same)
        return wrong

    def counts(self) -> tuple[Array, Array]:
        """Return answers "same" and "different", (R, 2, 2): on the diagonal of same pairs."""
        return _counts(_evidence(self.graph), self.same_proba)

    def drop_effect(self, group: int) -> int:
        """Count the pairs whose more probable truth changes without one group, rates kept."""
        weight = np.where(self.graph.answer_kind // 2 == group, 0, self.graph.answer_weight)
        rest = replace(self.graph, answer_weight=weight.astype(np.float32))
        left = _log_odds(_evidence(rest), self.S, self.share)
        return int(((left > 0) != (self.same_proba > 0.5)).sum())

    def groups(self) -> Groups:
        """Return the groups of items that pairs called same join."""
        graph, joined = self.graph, self.same_proba > 0.5
        ends = graph.left[joined], graph.right[joined]
        shape = (graph.n_items, graph.n_items)
        links = csr_array((np.ones(len(ends[0]), dtype=bool), ends), shape=shape)
        compared = np.union1d(graph.left, graph.right)
        size = np.bincount(connected_components(links, directed=False)[1][compared])
        return Groups(len(compared), int((size > 0).sum()), int(size.max(initial=0)))


def infer_pair_truth(pairs: Pairs) -> PairTruth:
    """Infer the truth of every pair and two rates per annotator, or for all if nobody is named.

    >>> pairs = Pairs([0, 0, 0, 2, 2, 2], [1, 1, 1, 3, 3, 3], [1, 1, 0, 0, 0, 0])
    >>> infer_pair_truth(pairs).same_proba.round(1)
    array([0.8, 0. ])
    """
    graph = PairGraph.from_pairs(pairs, annotators=pairs.annotator is not None)
    evidence = _evidence(graph)
    said = evidence @ np.tile([[0.0, 1.0], [1.0, 1.0]], graph.n_groups).T  # "same", and all
    same_proba = (said[:, 0] + 0.5) / (said[:, 1] + 1.0)
    converged, rounds = False, 0
    while not converged and rounds < MOST_ROUNDS:
        S, share = _rates(*_counts(evidence, same_proba)), _share(same_proba)
        new = expit(_log_odds(evidence, S, share))
        converged = bool(np.abs(new - same_proba).max(initial=0.0) < CONVERGED)
        same_proba, rounds = new, rounds + 1
    value = _log_likelihood(evidence, S, share)
    return PairTruth(graph, S, same_proba, share, value, converged)


def _evidence(graph: PairGraph) -> csr_array:
    return graph.evidence(slice(0, graph.n_edges)).astype(np.float64)


def _share(same_proba: Array) -> float:
    return float((same_proba.sum() + 1.0) / (len(same_proba) + 2.0))


def _counts(evidence: csr_array, same_proba: Array) -> tuple[Array, Array]:
    """Return the expected counts of "same" and "different", (R, 2, 2), by truth of the pair."""
    by_truth = evidence.T @ np.column_stack([same_proba, 1.0 - same_proba])
    of_same, of_different = by_truth.reshape(-1, 2, 2).transpose(2, 0, 1)  # (R, answer) each
    both = np.stack([np.stack([of_same, of_different], 2), np.stack([of_different, of_same], 2)], 3)
    return both[:, 1] / 2, both[:, 0] / 2


def _rates(same: Array, different: Array) -> Array:
    """Return S (R, 2, 2): everybody's rates, shrunk towards those of all."""
    crowd = PairingNoise.fit(same.sum(axis=0), different.sum(axis=0)).same_probability()
    if len(same) == 1:
        return crowd[None]
    return fit_people(same, different, crowd, steps=8).matrices(crowd, np.eye(2))


def _log_chance(S: Array) -> NDArray[np.float64]:
    """Return log P(answer | truth) by kind of answer, (2 R, 2): if the pair is same, different."""
    same = S[:, 0, :]  # (R, truth): P("same")
    return np.log(np.stack([1.0 - same, same], axis=1)).reshape(-1, 2)


def _log_odds(evidence: csr_array, S: Array, share: float) -> Array:
    log_chance = _log_chance(S)
    odds: Array = logit(share) + evidence @ (log_chance[:, 0] - log_chance[:, 1])
    return odds


def _log_likelihood(evidence: csr_array, S: Array, share: float) -> float:
    both = evidence @ _log_chance(S) + np.log([share, 1.0 - share])
    return float(np.logaddexp(both[:, 0], both[:, 1]).sum())
