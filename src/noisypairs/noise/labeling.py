"""Labeling noise: each item reports a class, perhaps a wrong one, and reports are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize
from scipy.special import softmax

from noisypairs import algebra
from noisypairs.algebra import Array
from noisypairs.noise import printed
from noisypairs.noise.model import (
    PSEUDO_ANSWERS,
    PSEUDO_RATE,
    NoiseModel,
    RandomState,
    check_rates,
)


@dataclass(frozen=True)
class LabelingNoise(NoiseModel, family="labeling", auto=True):
    """Items report a wrong class, then the reports are compared without error: S = F Fᵀ.

    ``F[y, ỹ] = P(reported ỹ | class y)``; for two classes it is given by ρ₊ = P(−|+),
    ``positive_flip``, and ρ₋ = P(+|−), ``negative_flip``; for K classes by ``flip=F``.

    ``per="occurrence"`` draws a new report for every pair an item is in (the paper's model).
    ``per="item"`` draws one report per item and uses it in all its pairs. S is the same, but the
    answers then depend on each other, and the graph alone can at best recover the reports.

    Parameters
    ----------
    positive_flip, negative_flip : ρ₊ and ρ₋, for two classes.
    flip : F, shape (K, K), rows sum to one; in the place of the two rates.
    per : ``"occurrence"`` or ``"item"``.

    Examples
    --------
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
            check_rates(positive_flip=self.positive_flip, negative_flip=self.negative_flip)

    @property
    def class_number(self) -> int:
        """How many classes the reports name."""
        return len(self.flip) if self.flip else 2

    def flip_matrix(self, n_classes: int = 2) -> Array:
        """Return F, shape (K, K), rows sum to one: F[y, ỹ] = P(reported ỹ | class y)."""
        if self.flip is None:
            up, down = float(self.negative_flip or 0.0), float(self.positive_flip or 0.0)
            F = np.array([[1.0 - up, up], [down, 1.0 - down]])
        else:
            F = np.array(self.flip)
        if len(F) != n_classes:
            raise ValueError(
                f"this labeling noise describes {len(F)} classes, but {n_classes} are needed: "
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
        K = self.class_number
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
        F = self.flip_matrix(n_classes or self.class_number)
        draws = np.random.default_rng(random_state).random(len(classes))
        reported = (draws[:, None] > np.cumsum(F, axis=1)[classes, :-1]).sum(axis=1)
        answers: NDArray[np.bool_] = reported[np.asarray(left)] == reported[np.asarray(right)]
        return answers

    @classmethod
    def fit(cls, same_counts: Array, different_counts: Array) -> LabelingNoise:
        """Fit the flip matrix F, rows P(reported | class), by maximum likelihood of S = F Fᵀ.

        Log-likelihood Σ N_same log S + N_different log(1−S), gradient 2 G F in F with
        G = N_same/S − N_different/(1−S); rows of F are softmax of free numbers.

        >>> S = LabelingNoise(0.1, 0.2).same_probability()
        >>> LabelingNoise.fit(1e6 * S, 1e6 * (1 - S)).flip_matrix().round(2)
        array([[0.8, 0.2],
               [0.1, 0.9]])
        """
        same, different, K = same_counts, different_counts, len(same_counts)
        prior = np.eye(K) * (1 - PSEUDO_RATE) + (1 - np.eye(K)) * PSEUDO_RATE

        def loss(free: Array) -> tuple[float, Array]:
            F = softmax(free.reshape(K, K), axis=1)
            S = np.clip(F @ F.T, 1e-9, 1 - 1e-9)
            value = (same * np.log(S) + different * np.log1p(-S)).sum()
            value += PSEUDO_ANSWERS * (prior * np.log(np.clip(F, 1e-12, None))).sum()
            slope = 2 * (same / S - different / (1 - S)) @ F
            slope += PSEUDO_ANSWERS * prior / np.clip(F, 1e-12, None)
            gradient = F * (slope - (F * slope).sum(axis=1, keepdims=True))
            scale = same.sum() + different.sum() + 1.0
            return -float(value) / scale, -gradient.ravel() / scale

        found = optimize.minimize(
            loss, np.log(prior).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 200}
        )
        F = softmax(found.x.reshape(K, K), axis=1)
        return LabelingNoise(flip=tuple(map(tuple, (F / F.sum(axis=1, keepdims=True)).tolist())))

    @classmethod
    def from_rates(cls, first: float, second: float) -> LabelingNoise:
        """Build the model from ρ₊ and ρ₋."""
        return LabelingNoise(first, second)

    @classmethod
    def n_parameters(cls, n_classes: int) -> int:
        """Return K (K − 1): each row of F sums to one."""
        return n_classes * (n_classes - 1)

    def permuted(self, order: ArrayLike) -> LabelingNoise:
        """Return the noise with rows and columns of F in another order."""
        order = np.asarray(order, dtype=np.intp)
        F = self.flip_matrix(len(order))[np.ix_(order, order)]
        return LabelingNoise(flip=tuple(map(tuple, F.tolist())), per=self.per)

    def printed_transition(self, prior: float | ArrayLike) -> Array:
        """Return T of eq. (pos2) as printed; with ``flip`` given, which the paper has not, T."""
        if self.flip is not None:
            return super().printed_transition(prior)
        return printed.labeling_transition(*self._printed_arguments(prior))

    def printed_threshold(self, prior: float | ArrayLike) -> float:
        """Return the threshold of Lemma 2 as printed, or with ``flip`` given as derived."""
        if self.flip is not None:
            return super().printed_threshold(prior)
        algebra.require_signal(algebra.signal(self.same_probability(), prior))
        return printed.labeling_threshold(*self._printed_arguments(prior))

    def _printed_arguments(self, prior: float | ArrayLike) -> tuple[float, float, float]:
        """Return (ρ₊, ρ₋, π) as the functions of `printed` take them."""
        rates = float(self.positive_flip or 0.0), float(self.negative_flip or 0.0)
        return *rates, float(algebra.class_prior(prior)[1])


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
