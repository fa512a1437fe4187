"""Directions of the features along which answers agree: the weakest signal that can be detected."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.sparse import csr_array

from noisypairs.algebra import Array
from noisypairs.pairs import Pairs

#: The penalty is the number of items over this: it leaves the strong directions of the features.
STRENGTH = 30.0
#: How many permutations of the answers show what chance can do.
N_PERMUTATIONS = 20
#: How likeness varies is seen on so many pairs.
ENOUGH_PAIRS = 20_000


class Alignment:
    """How far the answers follow products of features, in the directions where they do most.

    With weak signal P(same | x, x') ≈ p + c r(x) r(x'), and the log-likelihood of the answers is,
    to second order in r = Zw, the quadratic form Σ_pairs (same − p) r(x) r(x') = wᵀ Mw / 2 with
    M = Zᵀ(A + Aᵀ)Z, where A holds the centred answers. So the leading eigenvectors of M in the
    metric ZᵀZ + λI maximise the likelihood there, in closed form: no start, no local optimum. On
    sparse graphs with many wrong answers it detects classes that no eigenvector of the graph shows.

    ``Z`` has shape (n_items, m).

    >>> rng = np.random.default_rng(0)
    >>> x = rng.choice([-1.0, 1.0], 200)
    >>> Z = np.column_stack([x + rng.normal(size=200) / 4, rng.normal(size=(200, 5))])
    >>> left, right = rng.integers(200, size=(2, 600))
    >>> same = (x[left] == x[right]) ^ (rng.random(600) < 0.3)
    >>> found = Alignment(Z, Pairs(left, right, same, n_items=200))
    >>> bool(abs(np.corrcoef(found.directions(1)[:, 0], x)[0, 1]) > 0.9)
    True
    >>> bool(found.excess(rng) > 5)
    True
    """

    def __init__(self, Z: Array, pairs: Pairs) -> None:
        self.Z = Z - Z.mean(axis=0)
        weight = pairs.weights
        self.pairs = pairs
        self.answers: Array = weight * (pairs.same - np.average(pairs.same, weights=weight))
        penalty = max(len(Z) / STRENGTH, 1e-9) * np.eye(Z.shape[1])
        self.root = cholesky(self.Z.T @ self.Z + penalty, lower=True)

    def _form(self, answers: Array) -> Array:
        """Return M in coordinates where the metric is the identity, shape (m, m)."""
        n = self.pairs.n_items
        A = csr_array((answers, (self.pairs.left, self.pairs.right)), shape=(n, n))
        M = self.Z.T @ (A @ self.Z)
        half = solve_triangular(self.root, M + M.T, lower=True)
        return np.asarray(solve_triangular(self.root, half.T, lower=True))

    @cached_property
    def form(self) -> Array:
        """M of the answers as they are, (m, m), for any number of directions."""
        return self._form(self.answers)

    def directions(self, number: int) -> Array:
        """Return the items along the leading directions, largest first, shape (n, number)."""
        _, vectors = _leading(self.form, number)
        return np.asarray(self.Z @ solve_triangular(self.root.T, vectors, lower=False))

    def beyond(self, number: int) -> float:
        """Return by how many standard deviations all directions exceed the ``number`` leading ones.

        All together they are how far answers follow likeness, with l_e = 2 zᵀ (ZᵀZ + λI)⁻¹ z' of
        the two items of a pair:

            tr M = Σ_e a_e l_e,     Var tr M ≈ Σ_e a_e² · mean (l_e − l̄)² by chance.

        Answers that follow K classes do so along K − 1 directions, so that the others add up to
        nothing. Those on records follow likeness along every direction.
        """
        others = eigh(self.form, eigvals_only=True)[: max(len(self.form) - number, 0)]
        by_chance = float((self.answers**2).sum()) * float(np.var(self.likeness()))
        return float(others.sum()) / max(float(np.sqrt(by_chance)), 1e-12)

    def likeness(self) -> Array:
        """Return l of the pairs, or of enough of them to know its variance."""
        some = slice(None, None, -(-self.pairs.n_pairs // ENOUGH_PAIRS))
        scaled = solve_triangular(self.root, self.Z.T, lower=True).T
        left, right = self.pairs.left[some], self.pairs.right[some]
        return np.asarray(2.0 * np.einsum("em,em->e", scaled[left], scaled[right]))

    def excess(self, random_state: np.random.Generator | np.random.RandomState) -> float:
        """Return by how many standard deviations the largest eigenvalue exceeds chance.

        Chance: the same answers permuted among the pairs, `N_PERMUTATIONS` times.
        """
        seen = _leading(self.form, 1)[0][0]
        by_chance = [
            _leading(self._form(random_state.permutation(self.answers)), 1)[0][0]
            for _ in range(N_PERMUTATIONS)
        ]
        spread = max(float(np.std(by_chance, ddof=1)), 1e-12)
        return float((seen - np.mean(by_chance)) / spread)


def _leading(M: Array, number: int) -> tuple[Array, NDArray[np.float64]]:
    number = min(number, len(M))
    values, vectors = eigh(M, subset_by_index=[len(M) - number, len(M) - 1])
    return values[::-1], vectors[:, ::-1]
