"""How people answer, as one fit found it: the noise, its parts, and the chance of every answer.

    P("same" by r | i, j) = Σ_ss' b_i(s) b_j(s') σ( logit S_r[s, s'] + γ sim(x_i, x_j) + δ[y = y'] )

States s are classes, or classes with a hidden bit, clear or hard (`noise.clarity`); S_r is the
crowd's matrix, or that of a person (`noise.people`). Similarity (`Similarity`) only predicts
answers. It never moves a class: features say what class an item is of, and classes that were free
to leave that to similarity would explain something else. Items of one class are more alike, so S
has part of the slope γ in it; the two shifts δ take it out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from noisypairs.algebra import Array
from noisypairs.estimators.inner.features import finite_numbers
from noisypairs.inference.em import Inference
from noisypairs.noise import NoiseModel
from noisypairs.noise.clarity import ClarityNoise, with_clarity
from noisypairs.noise.people import People
from noisypairs.pairs import Pairs

#: Answers worked on at once: each needs a number for every pair of states.
BLOCK = 20_000
#: So many cells of pairs of states are made as such, of more every pair of states is one.
FEW_CELLS = 8
#: Precision of the normal prior on slope and shifts of similarity, which keeps them finite.
PRECISION = 0.1


@dataclass(frozen=True, eq=False)
class Similarity:
    """Cosine of two items' centred features, less its mean over the answers, times a slope.

    ``shift`` has δ for different and for same classes.
    """

    centre: Array
    mean: float
    slope: float = 0.0
    shift: tuple[float, float] = (0.0, 0.0)

    @classmethod
    def of_pairs(cls, X: Any, pairs: Pairs) -> Similarity | None:
        """Return similarity with slope zero; None where features are not numbers or all alike."""
        numbers = finite_numbers(X)
        if numbers is None or hasattr(numbers, "toarray") or not np.ptp(numbers, axis=0).any():
            return None
        start = cls(np.asarray(numbers, dtype=np.float64).mean(axis=0), 0.0)
        return replace(start, mean=float(start.likeness(X, pairs.left, pairs.right).mean()))

    def likeness(self, X: Any, left: NDArray[Any], right: NDArray[Any]) -> Array:
        """Return the cosines of pairs of items less their mean, shape (n,)."""
        centred = np.asarray(finite_numbers(X), dtype=np.float64) - self.centre
        centred /= np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
        cosine = np.empty(len(left))
        for rows in _blocks(len(left)):
            cosine[rows] = np.einsum("nd,nd->n", centred[left[rows]], centred[right[rows]])
        return cosine - self.mean


@dataclass(frozen=True, eq=False)
class Cells:
    """What the two items of some answers may be: C cells of pairs of states.

    ``mass`` (n, C) is the chance of each, ``same`` (n, C) or (1, C) P("same") there, and ``alike``
    (C,) says where both are of one class.
    """

    rows: slice
    mass: Array
    same: Array
    alike: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class AnswerModel:
    """The chance of every answer, given P(state) of its two items.

    ``names`` (R,) are those whom ``people`` describes; for everybody else the crowd's S holds.
    """

    noise: NoiseModel
    n_classes: int
    people: People | None = None
    names: NDArray[Any] | None = None
    similarity: Similarity | None = None

    @classmethod
    def of(cls, found: Inference, names: NDArray[Any] | None, n_classes: int) -> AnswerModel:
        """Return the answer model of an inference, without similarity."""
        return cls(found.noise, n_classes, found.people, names if found.people else None)

    @property
    def n_states(self) -> int:
        """K, or 2K where items are clear or hard."""
        return self.n_classes * (2 if isinstance(self.noise, ClarityNoise) else 1)

    def states(self, proba: Array) -> Array:
        """Return P(state) of items that nobody was asked about, from P(class), shape (n, K)."""
        if isinstance(self.noise, ClarityNoise):
            return with_clarity(proba, self.noise.hard_share)
        return proba

    def who(self, pairs: Pairs) -> NDArray[np.intp]:
        """Return the position of each answer's person among `names`, and R for everybody else."""
        n_people = 0 if self.names is None else len(self.names)
        unknown = np.full(pairs.n_pairs, n_people, dtype=np.intp)
        if self.names is None or pairs.annotator is None or pairs.annotator_names is None:
            return unknown
        position = {name: k for k, name in enumerate(self.names.tolist())}
        known = [position.get(name, n_people) for name in pairs.annotator_names.tolist()]
        return np.asarray(known, dtype=np.intp)[pairs.annotator]

    @property
    def same_probability(self) -> Array:
        """S of everybody, and last of people who are not known, shape (R + 1, Q, Q)."""
        crowd = self.noise.same_probability(self.n_states)
        if self.people is None:
            return crowd[None]
        alike = self.noise.same_class(self.n_states)
        return np.concatenate([self.people.matrices(crowd, alike), crowd[None]])

    @property
    def class_matrices(self) -> Array:
        """S of the K classes of everybody whom ``people`` describes, shape (R, K, K)."""
        S, K = self.same_probability, self.n_classes
        S = S[: -1 if self.people else None]
        if not isinstance(self.noise, ClarityNoise):
            return S
        share = np.repeat([1.0 - self.noise.hard_share, self.noise.hard_share], K)
        blocks = (S * np.outer(share, share)).reshape(-1, 2, K, 2, K)
        mean: Array = blocks.sum(axis=(1, 3))
        return mean

    def chance(self, states: Array, pairs: Pairs, likeness: Array | None = None) -> Array:
        """Return P("same") of every answer, shape (n_pairs,), from P(state), (n_items, Q).

        ``likeness`` is what `Similarity.likeness` gives, where there is similarity.
        """
        chance = np.empty(pairs.n_pairs)
        for cells in self._cells(states, pairs, self.who(pairs), likeness):
            chance[cells.rows] = (cells.mass * cells.same).sum(axis=1)
        return np.clip(chance, 1e-9, 1.0 - 1e-9)

    def log_chance(self, states: Array, pairs: Pairs, likeness: Array | None = None) -> Array:
        """Return log P(answer) of every answer, shape (n_pairs,)."""
        chance = self.chance(states, pairs, likeness)
        return np.asarray(np.log(np.where(pairs.same, chance, 1.0 - chance)))

    def expected_error(self, states: Array, pairs: Pairs, likeness: Array | None = None) -> Array:
        """Return how probably somebody of the crowd errs on each pair, shape (n_pairs,).

        A pair is hard where this comes near one half, whatever was answered.
        """
        nobody = np.full(pairs.n_pairs, len(self.same_probability) - 1)
        error = np.empty(pairs.n_pairs)
        for cells in self._cells(states, pairs, nobody, likeness):
            wrong = np.where(cells.alike, 1.0 - cells.same, cells.same)
            error[cells.rows] = (cells.mass * wrong).sum(axis=1)
        return error

    def _cells(
        self, states: Array, pairs: Pairs, who: NDArray[np.intp], likeness: Array | None
    ) -> Iterator[Cells]:
        """Yield what two items may be, and P("same") then, block by block.

        Pairs of states that S does not tell apart are one cell: two rates make two of them,
        whatever the number of classes.
        """
        S, alike = self.same_probability, self.noise.same_class(self.n_states)
        odds = None
        if likeness is not None and self.similarity is not None:
            odds = logit(S) + np.where(alike, *self.similarity.shift[::-1])
        one_matrix = len(S) == 1 or bool((who == len(S) - 1).all())
        both = np.stack([alike, S[-1]]).reshape(2, -1)
        _, first, cell = np.unique(both, axis=1, return_index=True, return_inverse=True)
        few = one_matrix and len(first) <= FEW_CELLS
        kept = first if few else np.arange(alike.size)
        for rows in _blocks(pairs.n_pairs):
            left, right = states[pairs.left[rows]], states[pairs.right[rows]]
            if few:
                members = ((cell == k).reshape(alike.shape) for k in range(len(first)))
                mass = np.stack([((left @ one) * right).sum(axis=1) for one in members], axis=1)
            else:
                mass = (left[:, :, None] * right[:, None]).reshape(len(left), -1)
            chosen = slice(-1, None) if one_matrix else who[rows]
            same = (S if odds is None else odds)[chosen].reshape(-1, alike.size)[:, kept]
            if odds is not None and likeness is not None and self.similarity is not None:
                same = expit(same + self.similarity.slope * likeness[rows][:, None])
            yield Cells(rows, mass, same, alike.ravel()[kept])

    def with_similarity(self, states: Array, pairs: Pairs, X: Any) -> AnswerModel:
        """Return the model with the slope and shifts that explain these answers best."""
        similarity = Similarity.of_pairs(X, pairs)
        if similarity is None:
            return self
        likeness = similarity.likeness(X, pairs.left, pairs.right)

        def unlikely(numbers: Array) -> tuple[float, Array]:
            slope, *shift = map(float, numbers)
            model = replace(
                self, similarity=replace(similarity, slope=slope, shift=(shift[0], shift[1]))
            )
            value, gradient = model._log_likelihood(states, pairs, likeness)
            return PRECISION / 2 * float(numbers @ numbers) - value, PRECISION * numbers - gradient

        found = minimize(unlikely, np.zeros(3), jac=True, method="L-BFGS-B", tol=1e-6)
        slope, different, same = map(float, found.x)
        return replace(self, similarity=replace(similarity, slope=slope, shift=(different, same)))

    def _log_likelihood(self, states: Array, pairs: Pairs, likeness: Array) -> tuple[float, Array]:
        """Return log P of all answers, and its gradient for slope and both shifts."""
        value, gradient = 0.0, np.zeros(3)
        for cells in self._cells(states, pairs, self.who(pairs), likeness):
            chance = np.clip((cells.mass * cells.same).sum(axis=1), 1e-9, 1.0 - 1e-9)
            said = pairs.same[cells.rows]
            value += float(np.log(np.where(said, chance, 1.0 - chance)).sum())
            slope = cells.mass * cells.same * (1.0 - cells.same)  # d chance / d log-odds
            slope *= (np.where(said, 1.0, -1.0) / np.where(said, chance, 1.0 - chance))[:, None]
            by_cell = slope.sum(axis=0)
            gradient += (
                slope.sum(axis=1) @ likeness[cells.rows],
                by_cell[~cells.alike].sum(),
                by_cell[cells.alike].sum(),
            )
        return value, gradient


def _blocks(n: int) -> Iterator[slice]:
    """Yield the rows of n answers, `BLOCK` at once."""
    return (slice(first, first + BLOCK) for first in range(0, n, BLOCK))
