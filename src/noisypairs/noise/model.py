"""How answers go wrong: each noise model gives its matrix S and can corrupt true classes.

``S[y, y'] = P("same" | classes y, y')`` is all that the rest of the package asks for, so a new
noise model is a new way to fill one matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs import algebra
from noisypairs.algebra import Array, Formula
from noisypairs.errors import NotIdentifiable
from noisypairs.noise import printed

RandomState = int | np.random.Generator | np.random.RandomState | None


class NoiseModel(ABC):
    """A way for answers to go wrong, known by its matrix S."""

    @abstractmethod
    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S, shape (K, K): P("same" | classes y, y')."""

    def corrupt(
        self,
        y: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        n_classes: int | None = None,
        random_state: RandomState = None,
    ) -> NDArray[np.bool_]:
        """Draw an answer for every pair of items, given the true classes ``y`` in 0..K−1.

        Answers are independent given the classes: "same" with probability S[y_left, y_right].
        """
        classes = np.asarray(y, dtype=np.intp)
        K = max(2, int(classes.max(initial=0)) + 1) if n_classes is None else n_classes
        chance = self.same_probability(K)[classes[np.asarray(left)], classes[np.asarray(right)]]
        answers: NDArray[np.bool_] = (
            np.random.default_rng(random_state).random(chance.shape) < chance
        )
        return answers

    def __str__(self) -> str:
        """Return the parameters that were given, to three digits: for sentences.

        >>> str(LabelingNoise(flip=((0.71359, 0.28641), (0.17962, 0.82038))))
        'LabelingNoise(flip=((0.714, 0.286), (0.18, 0.82)))'
        """
        if not is_dataclass(self):  # somebody's own
            return repr(self)
        given = [
            f"{one.name}={_rounded(value)}"
            for one in fields(self)
            if (value := getattr(self, one.name)) is not one.default and one.repr
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def corrected_coefficients(
        self, prior: float | ArrayLike, formula: Formula = "unbiased"
    ) -> Array:
        """Return the (2, 2) coefficients of the corrected loss, see `algebra`."""
        return algebra.corrected_coefficients(self.same_probability(), prior, formula)

    def then(self, second: PairingNoise) -> ComposedNoise:
        """Return the noise of this one followed by pairing noise on its answers."""
        return ComposedNoise(self, second)


@dataclass(frozen=True)
class PairingNoise(NoiseModel):
    """The annotator errs on the pair: P("different" | same) = ρ_S, P("same" | different) = ρ_D.

    S = 1 − ρ_S on the diagonal, ρ_D off it.

    >>> PairingNoise(0.1, 0.2).same_probability()
    array([[0.9, 0.2],
           [0.2, 0.9]])
    """

    similar_flip: float
    dissimilar_flip: float

    def __post_init__(self) -> None:
        _check_rates(similar_flip=self.similar_flip, dissimilar_flip=self.dissimilar_flip)

    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S, shape (K, K): 1 − ρ_S on the diagonal, ρ_D off it."""
        return algebra.compose(np.eye(n_classes), self.similar_flip, self.dissimilar_flip)


@dataclass(frozen=True)
class CleanPairs(PairingNoise):
    """Every answer is true: S = I.

    >>> CleanPairs().same_probability(3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    similar_flip: float = field(default=0.0, init=False, repr=False)
    dissimilar_flip: float = field(default=0.0, init=False, repr=False)


@dataclass(frozen=True)
class LabelingNoise(NoiseModel):
    """Items report a wrong class, then the reports are compared without error: S = F Fᵀ.

    ``F[y, ỹ] = P(reported ỹ | class y)``; for two classes it is given by ρ₊ = P(−|+),
    ``positive_flip``, and ρ₋ = P(+|−), ``negative_flip``; for K classes by ``flip=F``.

    ``per="occurrence"`` draws a new report for every pair an item is in (the paper's model).
    ``per="item"`` draws it once: who lies does so in all their pairs. S is the same, but the
    answers then depend on each other, and the graph alone can at best recover the reports.

    >>> LabelingNoise(0.1, 0.2).same_probability().round(12)
    array([[0.68, 0.26],
           [0.26, 0.82]])
    """

    positive_flip: float | None = None
    negative_flip: float | None = None
    flip: tuple[tuple[float, ...], ...] | None = None
    per: Literal["occurrence", "item"] = "occurrence"

    def __post_init__(self) -> None:
        if self.per not in ("occurrence", "item"):
            raise ValueError(f"per={self.per!r}: expected 'occurrence' or 'item'")
        if self.flip is not None:
            if self.positive_flip is not None or self.negative_flip is not None:
                raise ValueError("give either positive_flip and negative_flip, or flip, not both")
            object.__setattr__(self, "flip", _stochastic_rows(self.flip))
        elif self.positive_flip is None or self.negative_flip is None:
            raise ValueError(
                "LabelingNoise needs positive_flip and negative_flip, or flip=K×K with rows "
                "P(reported | class)"
            )
        else:
            _check_rates(positive_flip=self.positive_flip, negative_flip=self.negative_flip)

    def flip_matrix(self, n_classes: int = 2) -> Array:
        """Return F, shape (K, K), rows sum to one: F[y, ỹ] = P(reported ỹ | class y)."""
        if self.flip is None:
            up, down = float(self.negative_flip or 0.0), float(self.positive_flip or 0.0)
            F = np.array([[1.0 - up, up], [down, 1.0 - down]])
        else:
            F = np.array(self.flip)
        if len(F) != n_classes:
            raise ValueError(
                f"this labeling noise describes {len(F)} classes, asked for {n_classes}: "
                "give flip= as a matrix with one row per class"
            )
        return F

    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S = F Fᵀ, shape (K, K)."""
        F = self.flip_matrix(n_classes)
        S: Array = F @ F.T
        return S

    def flipped_prior(self, prior: float | ArrayLike) -> Array:
        """Return π̃ = Fᵀ π, shape (K,): how often each class is reported."""
        K = len(self.flip) if self.flip else 2
        flipped: Array = algebra.class_prior(prior, K) @ self.flip_matrix(K)
        return flipped

    def corrupt(
        self,
        y: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        n_classes: int | None = None,
        random_state: RandomState = None,
    ) -> NDArray[np.bool_]:
        """Draw answers as `NoiseModel.corrupt`; with ``per="item"`` from one report per item."""
        if self.per == "occurrence":
            return super().corrupt(y, left, right, n_classes, random_state)
        classes = np.asarray(y, dtype=np.intp)
        F = self.flip_matrix(n_classes or (len(self.flip) if self.flip else 2))
        draws = np.random.default_rng(random_state).random(len(classes))
        reported = (draws[:, None] > np.cumsum(F, axis=1)[classes, :-1]).sum(axis=1)
        answers: NDArray[np.bool_] = reported[np.asarray(left)] == reported[np.asarray(right)]
        return answers

    def corrected_coefficients(
        self, prior: float | ArrayLike, formula: Formula = "unbiased"
    ) -> Array:
        """Return the corrected loss's coefficients; ``"printed"`` uses the printed posterior."""
        if formula == "printed" and self.flip is None:
            T = printed.labeling_transition(
                float(self.positive_flip or 0.0),
                float(self.negative_flip or 0.0),
                float(algebra.class_prior(prior)[1]),
            )
            return algebra.invert_transition(T, "printed")
        return super().corrected_coefficients(prior, formula)


@dataclass(frozen=True)
class MatrixNoise(NoiseModel):
    """Any symmetric S, given whole: what is left when no simpler story fits the answers.

    >>> MatrixNoise([[0.9, 0.3], [0.3, 0.6]]).same_probability()
    array([[0.9, 0.3],
           [0.3, 0.6]])
    """

    same: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        S = algebra.noise_matrix(self.same)
        object.__setattr__(self, "same", tuple(tuple(map(float, row)) for row in S))

    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S as it was given."""
        if len(self.same) != n_classes:
            raise ValueError(f"S is given for {len(self.same)} classes, asked for {n_classes}")
        return np.array(self.same)


@dataclass(frozen=True)
class ComposedNoise(NoiseModel):
    """One noise, then pairing noise on its answers: S' = (1−ρ_S) S + ρ_D (1−S).

    >>> LabelingNoise(0.1, 0.2).then(PairingNoise(0.1, 0.0)).same_probability().round(3)
    array([[0.612, 0.234],
           [0.234, 0.738]])
    """

    first: NoiseModel
    second: PairingNoise

    def __post_init__(self) -> None:
        if not isinstance(self.second, PairingNoise):
            raise TypeError(
                f"{type(self.second).__name__} cannot come second: labels are reported before they "
                "are compared, so only pairing noise can follow another noise"
            )

    def same_probability(self, n_classes: int = 2) -> Array:
        """Return S', shape (K, K)."""
        return algebra.compose(
            self.first.same_probability(n_classes),
            self.second.similar_flip,
            self.second.dissimilar_flip,
        )

    def corrupt(
        self,
        y: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        n_classes: int | None = None,
        random_state: RandomState = None,
    ) -> NDArray[np.bool_]:
        """Draw the first model's answers, then flip them as the second says."""
        rng = np.random.default_rng(random_state)
        answers = self.first.corrupt(y, left, right, n_classes, rng)
        keep = np.where(answers, 1.0 - self.second.similar_flip, self.second.dissimilar_flip)
        flipped: NDArray[np.bool_] = rng.random(keep.shape) < keep
        return flipped


def _rounded(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_rounded, value))})"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _check_rates(**rates: float) -> None:
    for name, rate in rates.items():
        if not 0.0 <= rate < 1.0:
            raise ValueError(f"{name}={rate!r} is not a flip rate: expected a number in [0, 1)")
    if sum(rates.values()) >= 1.0:
        given = " + ".join(f"{name}={rate:g}" for name, rate in rates.items())
        raise NotIdentifiable(
            f"{given} is at least 1: such answers say nothing (at 1) or the opposite (above 1) of "
            "the truth. If they are reversed, exchange 'same' and 'different' first"
        )


def _stochastic_rows(flip: ArrayLike) -> tuple[tuple[float, ...], ...]:
    F = np.asarray(flip, dtype=float)
    if F.ndim != 2 or F.shape[0] != F.shape[1] or F.shape[0] < 2:
        raise ValueError(f"flip must be K×K with K ≥ 2, got shape {F.shape}")
    if not ((F >= 0).all() and np.allclose(F.sum(axis=1), 1.0, rtol=0, atol=1e-9)):
        raise ValueError(
            "flip must hold P(reported | class) with rows that sum to one, got row sums "
            f"{F.sum(axis=1).tolist()}"
        )
    return tuple(tuple(map(float, row)) for row in F)
