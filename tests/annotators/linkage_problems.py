"""Records to link: thousands of groups of one to three items, and people who compare them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisypairs import Pairs


@dataclass(frozen=True)
class Records:
    """Answers about records, the group of each, and what every annotator's answers are worth."""

    pairs: Pairs
    group: NDArray[np.intp]
    worth: NDArray[np.float64]

    def looks(self, seed: int = 0, n_columns: int = 30) -> NDArray[np.float64]:
        """Return features of the records: those of one group look alike, other groups do not."""
        rng = np.random.default_rng(seed)
        of_group = rng.standard_normal((self.group.max() + 1, n_columns))
        return of_group[self.group] + 0.5 * rng.standard_normal((len(self.group), n_columns))


def records(n_groups: int = 1500, n_annotators: int = 60, seed: int = 0) -> Records:
    """Draw groups, all pairs inside and 1.5 times as many across, each answered by three people.

    Rates come from Beta(2, 8), those of 15 % of the annotators from .3 to .6.
    """
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), rng.choice(3, n_groups, p=[0.4, 0.4, 0.2]) + 1)
    inside = np.array([(i, i + d) for d in (1, 2) for i in range(len(group) - d)])
    inside = inside[group[inside[:, 0]] == group[inside[:, 1]]]
    across = rng.integers(len(group), size=(3 * len(inside), 2))
    across = across[group[across[:, 0]] != group[across[:, 1]]][: round(1.5 * len(inside))]
    left, right = np.repeat(np.concatenate([inside, across]), 3, axis=0).T
    who = np.argsort(rng.random((len(left) // 3, n_annotators)), axis=1)[:, :3].ravel()
    rates = rng.beta(2, 8, (n_annotators, 2))
    weak = rng.random(n_annotators) < 0.15
    rates[weak] = rng.uniform(0.3, 0.6, (int(weak.sum()), 2))
    truth = group[left] == group[right]
    chance = np.where(truth, 1 - rates[who, 0], rates[who, 1])
    same = rng.random(len(left)) < chance
    pairs = Pairs(left, right, same, n_items=len(group), annotator=who)
    return Records(pairs, group, 1 - rates.sum(axis=1))
