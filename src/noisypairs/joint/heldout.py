"""Holding answers out, and the one comparison of two models: a gain with its standard error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import pair_keys

Mask = NDArray[np.bool_]


class Gain(NamedTuple):
    """By how many nats one model predicts held-out answers better than another, in total."""

    nats: float
    error: float
    n_answers: int

    def exceeds(self, errors: float) -> bool:
        """Whether the gain is more than this number of standard errors."""
        return self.nats > errors * self.error


@dataclass(frozen=True)
class HeldOut:
    """Answers dealt into folds: by pair, by item group or by person.

    ``fold`` (n_pairs,) is the number of the fold in which an answer is held out. Answers on one
    pair are always in one fold when held out by pair.
    """

    pairs: Pairs
    fold: NDArray[np.intp]
    n_folds: int
    groups: NDArray[np.intp]

    @classmethod
    def by_pair(
        cls, pairs: Pairs, n_folds: int, seed: int, groups: NDArray[np.intp] | None = None
    ) -> HeldOut:
        """Hold out all answers on a part of the pairs; pairs between the same groups go together.

        >>> held = HeldOut.by_pair(Pairs([0, 1, 1], [1, 0, 2], [1, 0, 1]), 2, 0)
        >>> bool(held.fold[0] == held.fold[1])
        True
        """
        groups = np.arange(pairs.n_items) if groups is None else groups
        keys = pair_keys(groups[pairs.left], groups[pairs.right], int(groups.max(initial=0)) + 1)
        return cls(pairs, _dealt(keys, n_folds, seed), n_folds, groups)

    @classmethod
    def by_person(cls, pairs: Pairs, n_folds: int, seed: int) -> HeldOut:
        """Hold out all answers of a part of the people."""
        if pairs.annotator is None:
            raise ValueError("the pairs do not say who answered: give Pairs(..., annotator=...)")
        everybody = np.arange(pairs.n_items)
        return cls(pairs, _dealt(pairs.annotator, n_folds, seed), n_folds, everybody)

    def masks(self, enough: float = np.inf) -> Iterator[tuple[Mask, Mask]]:
        """Yield (training, held out), (n_pairs,) each, until enough answers were held out."""
        done = 0
        for k in range(self.n_folds):
            if done >= enough:
                return
            out = self.fold == k
            done += int(out.sum())
            yield ~out, out

    def gain(self, better: Array, worse: Array) -> Gain:
        """Compare log P of the answers under two models, (n_pairs,), NaN where not held out.

        Answers that share an item group depend on each other, and so do those of one person: the
        variance sums products of residuals over both, (Σ_g r_g² − Σ_p r_p²) + Σ_r r_r² − Σ r².
        """
        known = np.isfinite(better) & np.isfinite(worse)
        some, difference = self.pairs.select(known), (better - worse)[known] * self._weight(known)
        return Gain(
            float(difference.sum()), _error(some, difference, self.groups), int(known.sum())
        )

    def _weight(self, known: Mask) -> Any:
        return 1.0 if self.pairs.weight is None else self.pairs.weight[known]


def _dealt(unit: NDArray[Any], n_folds: int, seed: int) -> NDArray[np.intp]:
    """Return the fold of every answer, units drawn at random."""
    _, code = np.unique(unit, return_inverse=True)
    order = np.random.default_rng(seed).permutation(int(code.max(initial=-1)) + 1)
    fold: NDArray[np.intp] = (order % n_folds)[code]
    return fold


def _error(pairs: Pairs, values: Array, groups: NDArray[np.intp]) -> float:
    """Return the standard error of a sum over answers that share item groups and people."""
    residual = values - values.mean() if len(values) else values
    left, right = groups[pairs.left], groups[pairs.right]
    size = int(groups.max(initial=0)) + 1
    by_group = np.bincount(left, residual, size)
    by_group += np.bincount(right, np.where(left == right, 0.0, residual), size)
    keys = np.unique(pair_keys(left, right, size), return_inverse=True)[1]
    by_pair = np.bincount(keys, residual, minlength=1)
    within = float(by_pair @ by_pair)
    variance = max(float(by_group @ by_group) - within, within)
    if pairs.annotator is not None:
        by_person = np.bincount(pairs.annotator, residual)
        variance += max(float(by_person @ by_person) - float(residual @ residual), 0.0)
    return float(np.sqrt(variance))
