"""Items that nobody recognises: one state more, whose answers do not follow the classes.

The share h of such hard items is learnt. With S of the classes, r₁ = P("same") about a hard and a
clear item and r₂ about two hard ones, the matrix of the K + 1 states is [[S, r₁], [r₁, r₂]], and so
for every level of a scale. What class a hard item has, only its features tell.
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
    """A share of the items is hard: ``levels`` (2, L) are P(level) with one and two hard items."""

    name = "clarity"
    n_states = 1

    hard_share: float
    levels: tuple[tuple[float, ...], tuple[float, ...]]

    @classmethod
    def begin(cls, pairs: Pairs, X: Any, seen: Expectation | None = None) -> Self | None:
        """Return the share of items whose answers are likelier without any class, by EM.

        With L_i the likelihood of the answers about item i given what is believed of the others,
        and H_i = Π_l r_l^{n_il} for n_il answers of level l about it, share h and shares r maximise
        Σ log((1−h) L_i + h H_i). It is shrunk by its error, and one below an item is none.
        """
        del X
        if seen is None or seen.graph is None:
            return None
        clear, times = _answer_likelihoods(seen)
        some = times.sum(axis=1) > 0
        clear, times = clear[some], times[some]
        shares = start = times.sum(axis=0) / times.sum()
        share = FIRST_SHARE
        for _ in range(ROUNDS):
            hard = times @ np.log(np.maximum(shares, 1e-12))
            odds = np.clip(hard - clear, -700, 700)
            member = share / (share + (1.0 - share) * np.exp(-odds))
            share = _shrunk(member, share)
            said = member @ times + PSEUDO_ANSWERS * start
            shares = said / said.sum()
            if share * len(member) < 1.0:
                return None
        found = tuple(shares.tolist())
        return cls(share * len(member) / pairs.n_items, (found, found))

    @property
    def strength(self) -> float:
        """The share of hard items."""
        return self.hard_share

    def expand_response(self, response: Array) -> Array:
        """Return [[S, r₁], [r₁, r₂]] of every level."""
        L, K = response.shape[:2]
        one, both = map(np.array, self.levels)
        full = np.broadcast_to(one[:, None, None], (L, K + 1, K + 1)).copy()
        full[:, :K, :K], full[:, K, K] = response, both
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
        K = table.shape[-1]
        share = _shrunk(seen.beliefs.item[:, K], self.hard_share)
        counts = seen.counts.sum(axis=0)
        levels = _shares(2 * counts[:, :K, K].sum(axis=1)), _shares(counts[:, K, K])
        some = share * len(seen.beliefs.item) >= 1.0
        return replace(self, hard_share=share if some else 0.0, levels=levels)

    def class_response(self, response: Array) -> Array:
        """Return the mean over clear and hard items."""
        h = self.hard_share
        one, both = (np.array(levels)[:, None, None] for levels in self.levels)
        mean: Array = (1 - h) ** 2 * response + 2 * h * (1 - h) * one + h**2 * both
        return mean


def _shrunk(member: Array, share: float) -> float:
    """Return the mean of P(hard), (n,), shrunk by its error: h · max(1 − 1/(h² I), 0).

    ``share`` is the h that P(hard) was found with, and I = Σ (p_i/h − (1 − p_i)/(1 − h))² the
    information in the items about it. Without it a share of chance size would stay in half of all
    plain problems, since a share cannot be negative.
    """
    slope = member / share - (1.0 - member) / (1.0 - share)
    found = float(member.mean())
    return found * max(1.0 - 1.0 / max(found**2 * float(slope @ slope), 1e-12), 0.0)


def _shares(counts: Array) -> tuple[float, ...]:
    """Return the share of every level, (L,), with a weak prior at equal shares."""
    share = (counts + PSEUDO_ANSWERS / len(counts)) / (counts.sum() + PSEUDO_ANSWERS)
    share = np.clip(share, MARGIN, 1.0 - MARGIN)
    return tuple((share / share.sum()).tolist())


def _answer_likelihoods(seen: Expectation) -> tuple[Array, Array]:
    """Return log L_i, (n_items,), and the weight of every level about each item, (n_items, L)."""
    from noisypairs.graph.propagation import cavities

    graph, n_items = seen.graph, len(seen.phi)
    assert graph is not None  # answers in memory
    K = seen.phi.shape[1]
    log_chance = np.log(seen.phi)
    times = np.zeros((n_items, graph.n_levels))
    edge = np.repeat(np.arange(graph.n_edges), np.diff(graph.answer_start))
    ends = graph.left, graph.right
    everybody = len(seen.responses) == 1  # one table for all
    kind = graph.answer_level if everybody else graph.answer_kind
    order = np.argsort(kind, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(kind[order])) + 1):
        if not rows.size:
            continue
        who, level = divmod(int(kind[rows[0]]), graph.n_levels)
        table = seen.responses[who, level, :K, :K]
        weight = graph.answer_weight[rows].astype(float)
        items = [end[edge[rows]] for end in ends]
        for here, other in zip(items, cavities(graph, seen.beliefs, edge[rows])[::-1], strict=True):
            chance = other[:, :K] @ table
            logs = weight[:, None] * np.log(np.maximum(chance, 1e-12))
            for k in range(K):
                log_chance[:, k] += np.bincount(here, logs[:, k], n_items)
            times[:, level] += np.bincount(here, weight, n_items)
    top = log_chance.max(axis=1)
    return top + np.log(np.exp(log_chance - top[:, None]).sum(axis=1)), times
