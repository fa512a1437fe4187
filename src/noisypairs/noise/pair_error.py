"""An error that everybody makes on a pair: why ten answers to it are not ten.

Given the classes y, y' of a pair, its answers x_a (1 for "same", 0 for "different", and levels
between) should be independent, E[(x_a − S)(x_b − S)] = 0. With q_e = P(y, y' | everything), the
products summed over all couples of
answers to a pair, over what they would be if the answers were equal, estimate their correlation:

    T_e = Σ_yy' q_e Σ_{a<b} (x_a − S_a)(x_b − S_b),
    D_e = Σ_yy' q_e Σ_{a<b} √(S_a(1 − S_a) S_b(1 − S_b)),
    ρ = max(Σ_e T_e / Σ_e D_e, 0) · max(1 − Σ_e T_e² / (Σ_e T_e)², 0),

the second factor being what its error leaves of the estimate.

m answers to one pair are then worth m / (1 + (m − 1) ρ), the design effect.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from noisypairs.algebra import Array
from noisypairs.errors import CopiedAnswersWarning
from noisypairs.noise.answers import Expectation, Part
from noisypairs.pairs import Pairs
from noisypairs.pairs.pairs import keys_of

if TYPE_CHECKING:
    from noisypairs.graph.propagation import PairGraph

#: Independent answers exceed this z about once in a thousand times.
CLEAR = 3.1
#: A weaker correlation makes no interval longer by more than a few per cent.
LEAST = 0.03
#: Fewer pairs with several answers do not show a correlation.
FEWEST_PAIRS = 20


@dataclass(frozen=True)
class PairError(Part):
    """Answers to one pair correlate by ``rho`` beyond what its classes explain."""

    name = "pair error"

    rho: float

    @classmethod
    def begin(cls, pairs: Pairs, X: Any, seen: Expectation | None = None) -> Self | None:
        """Return the correlation that is seen; None where pairs were hardly ever asked again."""
        del X
        if pairs.weight is not None:
            return None  # votes and scores: one row may stand for several answers
        keys = np.sort(keys_of(pairs.without_self_pairs()))
        repeated = np.count_nonzero((np.diff(keys, prepend=-1) != 0)[:-1] & (np.diff(keys) == 0))
        if repeated < FEWEST_PAIRS or seen is None:
            return None
        return cls(0.0).fit(seen, seen.responses)

    @property
    def strength(self) -> float:
        """The correlation."""
        return self.rho

    def fit(self, seen: Expectation, table: Array) -> Self:
        """Return the correlation that the answers show."""
        del table
        if seen.graph is None:
            return replace(self, rho=0.0)  # streamed answers are not sorted by pair
        return replace(self, rho=correlation(*pair_products(seen)) or 0.0)

    def reweighted(self, graph: PairGraph) -> PairGraph:
        """Return the graph with m answers to a pair counted as m / (1 + (m − 1) ρ)."""
        times = np.diff(graph.answer_start)
        effect = np.repeat(1.0 + (times - 1) * self.rho, times)
        return replace(graph, answer_weight=(graph.answer_weight / effect).astype(np.float32))


def correlation(products: Array, sizes: Array) -> float | None:
    """Return ρ from T_e and D_e of every edge; None where no pair has two answers."""
    total, agreed = float(sizes.sum()), float(products.sum())
    if total <= 1e-9:
        return None
    kept = max(1.0 - float(products @ products) / agreed**2, 0.0) if agreed > 0 else 0.0
    return min(kept * agreed / total, 1.0)


def warn_if_clear(seen: Expectation, rho: float) -> None:
    """Warn where answers to one pair agree clearly more than the estimated noise allows."""
    products, _ = pair_products(seen)
    n_pairs = int(np.count_nonzero(products))
    z = float(products.sum() / max(np.sqrt((products**2).sum()), 1e-12))
    if z < CLEAR or rho < LEAST:
        return
    warnings.warn(
        f"answers to the same pair agree more than the estimated noise allows: on {n_pairs:,} "
        f"pairs asked again they correlate by {rho:.2f} (z = {z:.1f}; chance alone stays below "
        f"{CLEAR:g} in 999 of 1,000 cases). Answers were copied, people followed each other, or "
        "some pairs mislead everybody. Such answers are down-weighted",
        CopiedAnswersWarning,
        stacklevel=4,
    )


def pair_products(seen: Expectation) -> tuple[Array, Array]:
    """Return T_e and D_e of every edge, shape (n_edges,) each; zero where it has one answer."""
    from noisypairs.graph.propagation import edge_posteriors

    graph = seen.graph
    assert graph is not None  # streamed answers have no edges to compare
    score = graph.scale.scores
    score = np.where(np.isfinite(score), score, 0.5)  # unsure is in the middle
    mean = np.einsum("l,rlyz->ryz", score, seen.responses)
    spreads = np.sqrt(np.maximum(np.einsum("l,rlyz->ryz", score**2, seen.responses) - mean**2, 0.0))
    products, sizes = np.zeros(graph.n_edges), np.zeros(graph.n_edges)
    edges = np.flatnonzero(np.diff(graph.answer_start) > 1)
    again = graph.with_edges(edges)  # the others say nothing, and each would cost Q × Q numbers
    for block, posterior in edge_posteriors(again, seen.beliefs.on_edges(edges), seen.responses):
        start = again.answer_start[block.start : block.stop + 1]
        kind = again.answer_kind[start[0] : start[-1]]
        who, level = np.divmod(kind, graph.n_levels)
        who = who if len(mean) > 1 else 0 * who  # one table for all groups
        residual = score[level][:, None, None] - mean[who]
        spread = spreads[who]
        for value, into in ((residual, products), (spread, sizes)):
            total = np.add.reduceat(value, start[:-1] - start[0])
            squares = np.add.reduceat(value**2, start[:-1] - start[0])
            into[edges[block]] = (posterior * (total**2 - squares) / 2).sum(axis=(1, 2))
    return products, sizes
