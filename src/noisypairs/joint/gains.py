"""What an answer is worth before it is given, in bits, and what is left of it within a batch.

The answer a about items i and j, believed to be of classes y and y' with P(y) P(y'), brings

    gain(i, j) = ½ I(a; y, y') + ½ (I(a; y) + I(a; y')).

The first half counts what it says about the two classes together: two unknown items that are tied
become known at once when one of them does. The second half counts what it says about each of them
now. Both are largest where "same" and "different" are about equally likely, so that among many
classes the pairs asked about are those that are likely to be the same.

Answers in one batch repeat each other where they share an item. So for each item of a pair that is
taken, the beliefs that it may have once the answer is there are kept, with their chances, and all
of its other pairs are weighed by the mean over these.
"""

from __future__ import annotations

import numpy as np

from noisypairs.algebra import Array, noise_matrix
from noisypairs.inference.information import binary_entropy

#: Possible beliefs kept for an item at most; of more, so many are drawn by their chances.
MOST_BELIEFS = 8


class Gains:
    """Expected gains of all pairs of m items, ``values`` (m, m), −inf where a pair is closed.

    ``belief`` (m, K), ``same`` is S, shape (K, K).

    >>> S = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> gains = Gains(np.array([[0.5, 0.5], [1.0, 0.0], [1.0, 0.0]]), S)
    >>> gains.values.round(3).tolist()  # of an unknown and a known item: 1 − h(.1), and nothing
    [[-inf, 0.531, 0.531], [0.531, -inf, 0.0], [0.531, 0.0, -inf]]
    >>> gains.take(0, 1, np.random.default_rng(0))
    >>> gains.values.round(3).tolist()[0]  # less is left to be said about item 0
    [-inf, -inf, 0.211]
    """

    def __init__(self, belief: Array, same: Array) -> None:
        self.belief, self.same = belief, noise_matrix(same)
        self.yes: Array = belief @ self.same  # P("same" | class of the other item), (m, K)
        self.doubt = binary_entropy(self.yes)
        self.noise: Array = belief @ binary_entropy(self.same)
        self.possible = [(np.ones(1), row[None, :]) for row in belief]
        self.values = self._gain(belief)
        np.fill_diagonal(self.values, -np.inf)

    def _gain(self, belief: Array) -> Array:
        """Return the gains of pairs of such beliefs, (s, K), with all items, shape (s, m)."""
        chance = np.clip(belief @ self.yes.T, 0.0, 1.0)
        entropy = binary_entropy(chance)
        together = entropy - belief @ self.noise.T
        own = entropy - belief @ self.doubt.T
        other = entropy - binary_entropy(belief @ self.same) @ self.belief.T
        gain: Array = (together + own + other) / 2
        return gain

    def close(self, left: Array, right: Array) -> None:
        """Never take these pairs."""
        self.values[left, right] = self.values[right, left] = -np.inf

    def take(self, i: int, j: int, rng: np.random.Generator) -> None:
        """Count on an answer about items i and j: close the pair, weigh their others again."""
        self.values[i, j] = self.values[j, i] = -np.inf
        for item, other in ((i, j), (j, i)):
            chance, belief = self.possible[item]
            after = np.concatenate([belief * self.yes[other], belief * (1.0 - self.yes[other])])
            total = after.sum(axis=1)
            kept = np.flatnonzero(total > 0)
            chance = (np.tile(chance, 2) * total)[kept]
            after = after[kept] / total[kept, None]
            if len(after) > MOST_BELIEFS:
                after = after[rng.choice(len(after), MOST_BELIEFS, p=chance / chance.sum())]
                chance = np.full(MOST_BELIEFS, 1.0 / MOST_BELIEFS)
            self.possible[item] = chance, after
            # The pair is worth no more than what either of its items leaves of it.
            row = np.minimum(self.values[item], chance @ self._gain(after))
            self.values[item], self.values[:, item] = row, row
