"""Items that nobody recognises: one state more, whose answers do not follow the classes.

The share h of such hard items is learnt. With S of the classes, r₁ = P("same") about a hard and a
clear item and r₂ about two hard ones, the matrix of the K + 1 states is [[S, r₁], [r₁, r₂]]. What
class a hard item has, only its features tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from noisypairs.algebra import Array
from noisypairs.noise.answers import Expectation, Part
from noisypairs.noise.model import MARGIN, PSEUDO_ANSWERS
from noisypairs.pairs import Pairs

#: Share of hard items to start from, and rounds to learn it.
FIRST_SHARE, ROUNDS = 0.05, 200


@dataclass(frozen=True)
class Clarity(Part):
    """A share of the items is hard: ``rates`` are P("same") with one and with two hard items."""

    name = "clarity"
    n_states = 1

    hard_share: float
    rates: tuple[float, float]

    @classmethod
    def begin(cls, pairs: Pairs, X: Any, seen: Expectation | None = None) -> Self | None:
        """Return the share of items whose answers are likelier without any class, by EM.

        With L_i the likelihood of the answers about item i given what is believed of the others,
        and H_i = Π r^same (1 − r)^different, share h and rate r maximise Σ log((1−h) L_i + h H_i).
        A share below one item is none.
        """
        del X
        if seen is None or seen.graph is None:
            return None
        clear, same, total = _answer_likelihoods(seen)
        some = total > 0
        clear, same, total = clear[some], same[some], total[some]
        rate = start = float(same.sum() / total.sum())
        share = FIRST_SHARE
        for _ in range(ROUNDS):
            hard = same * np.log(rate) + (total - same) * np.log1p(-rate)
            odds = np.clip(hard - clear, -700, 700)
            member = share / (share + (1.0 - share) * np.exp(-odds))
            share = float(member.mean())
            said, asked = float(member @ same), float(member @ total)
            rate = (said + PSEUDO_ANSWERS * start) / (asked + PSEUDO_ANSWERS)
            if share * len(member) < 1.0:
                return None
        return cls(share * len(member) / pairs.n_items, (rate, rate))

    @property
    def strength(self) -> float:
        """The share of hard items."""
        return self.hard_share

    def expand_matrix(self, S: Array) -> Array:
        """Return [[S, r₁], [r₁, r₂]]."""
        K, (one, both) = len(S), self.rates
        full = np.full((K + 1, K + 1), one)
        full[:K, :K], full[K, K] = S, both
        return full

    def expand_proba(self, phi: Array) -> Array:
        """Return P(class and clear) and, last, P(hard)."""
        h = self.hard_share
        return np.column_stack([(1.0 - h) * phi, np.full(len(phi), h)])

    def collapse(self, states: Array, phi: Array) -> Array:
        """Return P(class): hard items have the class that their features show."""
        classes: Array = states[:, :-1] + states[:, -1:] * phi
        return classes

    def fit(self, seen: Expectation, table: Array) -> Self:
        """Return share and rates by counting; a share below one item is none."""
        K = len(table)
        hard = float(seen.beliefs.item[:, K].sum())
        same, different = seen.same.sum(axis=0), seen.different.sum(axis=0)
        one = _rate(2 * same[:K, K].sum(), 2 * different[:K, K].sum())
        both = _rate(same[K, K], different[K, K])
        n_items = len(seen.beliefs.item)
        return replace(self, hard_share=hard / n_items if hard >= 1.0 else 0.0, rates=(one, both))

    def class_matrix(self, S: Array) -> Array:
        """Return the mean of S over clear and hard items."""
        h, (one, both) = self.hard_share, self.rates
        mean: Array = (1 - h) ** 2 * S + 2 * h * (1 - h) * one + h**2 * both
        return mean


def _rate(same: float, different: float) -> float:
    """Return the share of "same", with a weak prior at one half."""
    rate = (same + PSEUDO_ANSWERS / 2) / (same + different + PSEUDO_ANSWERS)
    return float(np.clip(rate, MARGIN, 1.0 - MARGIN))


def _answer_likelihoods(seen: Expectation) -> tuple[Array, Array, Array]:
    """Return log L_i, the weight of "same" and of all answers about every item, (n_items,) each."""
    from noisypairs.inference.propagation import cavities

    graph, n_items = seen.graph, len(seen.phi)
    assert graph is not None  # answers in memory
    K = seen.phi.shape[1]
    matrices = seen.matrices.reshape(-1, *seen.matrices.shape[-2:])[:, :K, :K]
    log_chance = np.log(seen.phi)
    same, total = np.zeros(n_items), np.zeros(n_items)
    edge = np.repeat(np.arange(graph.n_edges), np.diff(graph.answer_start))
    ends = graph.left, graph.right
    order = np.argsort(graph.answer_kind // 2, kind="stable")
    person = (graph.answer_kind // 2)[order]
    for rows in np.split(order, np.flatnonzero(np.diff(person)) + 1):
        who = graph.answer_kind[rows[0]] // 2 if len(matrices) > 1 else 0  # or one S for all
        S, said = matrices[who], graph.answer_kind[rows] % 2
        weight = graph.answer_weight[rows].astype(float)
        items = [end[edge[rows]] for end in ends]
        for here, other in zip(items, cavities(graph, seen.beliefs, edge[rows])[::-1], strict=True):
            chance = other[:, :K] @ S
            chance = np.where(
                said[:, None] == 1, chance, other[:, :K].sum(axis=1)[:, None] - chance
            )
            logs = weight[:, None] * np.log(np.maximum(chance, 1e-12))
            for k in range(K):
                log_chance[:, k] += np.bincount(here, logs[:, k], n_items)
            total += np.bincount(here, weight, n_items)
            same += np.bincount(here, weight * said, n_items)
    top = log_chance.max(axis=1)
    return top + np.log(np.exp(log_chance - top[:, None]).sum(axis=1)), same, total
