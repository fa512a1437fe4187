"""Everything that follows from a noise matrix and a class prior. Exact in, exact out.

Two objects define a problem with K classes:

* ``same`` — the noise matrix S, shape (K, K), symmetric:
  ``S[y, y'] = P(the answer is "same" | classes y, y')``;
* ``prior`` — the class prior π, shape (K,), or for K = 2 a float, P(class 1).

Class 1 is the positive class "+" of the paper, class 0 its negative class "−". No function here
clips, renormalises, seeds or prints; a quantity that does not exist raises `NotIdentifiable`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.errors import NotIdentifiable, did_you_mean

Array = NDArray[np.float64]
Formula = Literal["unbiased", "printed"]

#: Below this |a − b| floating point cannot tell the two classes apart.
NO_SIGNAL = 1e-12

#: A difference below this share of its terms is taken for their rounding error.
ROUNDING = 1e-12


def class_prior(prior: float | ArrayLike, n_classes: int = 2) -> Array:
    """Return π as a vector of shape (K,); a float is P(class 1) of two classes.

    >>> class_prior(0.25)
    array([0.75, 0.25])
    """
    given = np.asarray(prior, dtype=float)
    if given.ndim == 0 and n_classes == 2:
        given = np.array([1.0 - float(given), float(given)])
    if given.shape != (n_classes,):
        raise ValueError(
            f"prior has shape {np.shape(prior)}, but {n_classes} classes need "
            f"{'a float in (0, 1) or ' if n_classes == 2 else ''}{n_classes} probabilities"
        )
    if not (np.isfinite(given).all() and (given > 0).all() and abs(given.sum() - 1) < 1e-9):
        raise ValueError(
            f"prior={prior!r} is not a prior: every class needs a probability strictly between "
            "0 and 1, and they must sum to one. With a prior of 0 or 1 there is only one class "
            "and nothing to learn"
        )
    return given


def noise_matrix(same: ArrayLike) -> Array:
    """Return S as a float array after checking that it is one: square, symmetric, in [0, 1].

    >>> noise_matrix([[0.9, 0.2], [0.2, 0.9]]).shape
    (2, 2)
    """
    S = np.asarray(same, dtype=float)
    if S.ndim != 2 or S.shape[0] != S.shape[1] or S.shape[0] < 2:
        raise ValueError(f"a noise matrix is K×K with K ≥ 2, got shape {S.shape}")
    if not ((S >= 0) & (S <= 1)).all():
        raise ValueError(f"a noise matrix holds probabilities in [0, 1], got {S.tolist()}")
    if not np.allclose(S, S.T, rtol=0, atol=1e-12):
        raise ValueError("a noise matrix is symmetric: a pair has no first and second item")
    return S


def compose(same: ArrayLike, similar_flip: float, dissimilar_flip: float) -> Array:
    """Return the matrix of "first this noise, then pairing noise": S' = (1−ρ_S) S + ρ_D (1−S).

    >>> compose([[1.0, 0.0], [0.0, 1.0]], 0.1, 0.2)
    array([[0.9, 0.2],
           [0.2, 0.9]])
    """
    S = noise_matrix(same)
    return (1.0 - similar_flip) * S + dissimilar_flip * (1.0 - S)


def same_given_class(same: ArrayLike, prior: float | ArrayLike) -> Array:
    """Return s = S π, shape (K,): P(the answer is "same" | one item has class y).

    In the binary case ``s[1]`` is the paper's α₁ (our a), ``s[0]`` its α₂ (our b), eq. (pos1-2).

    >>> same_given_class([[0.9, 0.2], [0.2, 0.9]], 0.3)
    array([0.69, 0.41])
    """
    S = noise_matrix(same)
    s: Array = S @ class_prior(prior, len(S))
    return s


def same_rate(same: ArrayLike, prior: float | ArrayLike) -> float:
    """Return P(the answer is "same") = πᵀ S π for a pair drawn at random.

    >>> round(same_rate([[1.0, 0.0], [0.0, 1.0]], 0.2), 12)
    0.68
    """
    S = noise_matrix(same)
    return float(class_prior(prior, len(S)) @ same_given_class(S, prior))


def signal(same: ArrayLike, prior: float | ArrayLike) -> float:
    """Return a − b, by how much "same" is likelier for a positive than for a negative item.

    Pairing noise: (1−ρ_S−ρ_D)(2π−1); labeling noise: (1−ρ₊−ρ₋)(2π̃−1). The point-wise methods see
    nothing else; at zero they see nothing, below zero they see the classes exchanged.

    >>> round(signal([[0.9, 0.2], [0.2, 0.9]], 0.3), 12)
    -0.28
    """
    b, a = _binary(same_given_class(same, prior))
    return a - b


def mean_rates(same: ArrayLike, prior: float | ArrayLike) -> tuple[float, float]:
    """Return (ρ_S, ρ_D), the mean flip rates over all pairs drawn at random, whatever the noise.

    ρ_S = 1 − Σ_k π_k² S_kk / Σ_k π_k², and ρ_D is the mean of S off the diagonal by π_k π_l. Unlike
    elsewhere π may be the shares of a sample, in which a class may be missing.

    >>> [round(rate, 12) for rate in mean_rates([[0.5, 0.5], [0.5, 1.0]], 0.5)]
    [0.25, 0.5]
    """
    S = noise_matrix(same)
    pi = class_prior(prior) if np.ndim(prior) == 0 else np.asarray(prior, dtype=float)
    together, diagonal = np.outer(pi, pi), np.eye(len(S), dtype=bool)
    similar = 1.0 - np.average(S[diagonal], weights=together[diagonal])
    return float(similar), float(np.average(S[~diagonal], weights=together[~diagonal]))


def transition(same: ArrayLike, prior: float | ArrayLike) -> Array:
    """Return the paper's T = [[a, b], [1−a, 1−b]], shape (2, 2), columns sum to one.

    Rows are the answers (same, different), columns the classes (+, −): P(Q | x) = T P(Y | x).

    >>> transition([[1.0, 0.0], [0.0, 1.0]], 0.2)
    array([[0.2, 0.8],
           [0.8, 0.2]])
    """
    b, a = _binary(same_given_class(same, prior))
    return np.array([[a, b], [1.0 - a, 1.0 - b]])


def corrected_coefficients(
    same: ArrayLike, prior: float | ArrayLike, formula: Formula = "unbiased"
) -> Array:
    """Return C, shape (2, 2), with l̃(t, Q) = C[Q, +] l(t, +1) + C[Q, −] l(t, −1).

    Rows are the answers (same, different), columns the classes (+, −). ``"unbiased"`` is
    C = T⁻ᵀ = [[1−b, a−1], [−b, a]] / (a−b): E[l̃(t, Q) | y] = l(t, y). ``"printed"`` is the
    paper's T⁻¹, which agrees only when T is symmetric.

    >>> C = corrected_coefficients([[0.9, 0.2], [0.2, 0.9]], 0.3)
    >>> C.sum(axis=1)
    array([1., 1.])
    """
    return invert_transition(transition(same, prior), formula)


def invert_transition(T: ArrayLike, formula: Formula = "unbiased") -> Array:
    """Return T⁻ᵀ ("unbiased") or T⁻¹ ("printed") of a transition matrix, as in the paper's T.

    >>> invert_transition([[0.2, 0.8], [0.8, 0.2]]).round(12)
    array([[-0.33333333,  1.33333333],
           [ 1.33333333, -0.33333333]])
    """
    (a, b), _ = np.asarray(T, dtype=float)
    require_signal(a - b)
    inverse: Array = np.array([[1.0 - b, -b], [a - 1.0, a]]) / (a - b)
    if formula == "unbiased":
        return inverse.T
    if formula == "printed":
        return inverse
    raise ValueError(
        f"unknown formula {formula!r}: {did_you_mean(str(formula), ['unbiased', 'printed'])}"
    )


def alpha(same: ArrayLike, prior: float | ArrayLike) -> float:
    """Return the weight α = (a + b)/2 of Theorem 3, where P(same | x) = α exactly if η(x) = ½.

    >>> round(alpha([[0.9, 0.2], [0.2, 0.9]], 0.3), 12)  # (1 − ρ_S + ρ_D)/2, whatever the prior
    0.55
    """
    b, a = _binary(same_given_class(same, prior))
    return (a + b) / 2.0


def gain(same: ArrayLike, prior: float | ArrayLike) -> float:
    """Return the gain A = (a − b)/2 of Theorem 3: R_α,noisy(f) = A·R(f) + const.

    Negative when "same" points to the negative class: the α-weighted rule is then turned over.

    >>> round(gain([[0.9, 0.2], [0.2, 0.9]], 0.3), 12)
    -0.14
    """
    return signal(same, prior) / 2.0


def threshold(same: ArrayLike, prior: float | ArrayLike) -> float:
    """Return (½ − b)/(a − b), the η at which the noisy Bayes rule changes its mind (Lemma 2).

    >>> round(threshold([[0.8, 0.2], [0.2, 0.8]], 0.3), 12)  # equal rates: the clean Bayes rule
    0.5
    """
    b, a = _binary(same_given_class(same, prior))
    require_signal(a - b)
    return (0.5 - b) / (a - b)


def prior_roots(same: ArrayLike, rate: float) -> tuple[float, ...]:
    """Return every π in [0, 1] with P(same) = rate, in rising order: two, one or none.

    πᵀ S π is a quadratic in π = P(class 1):
    (S₁₁ − 2S₀₁ + S₀₀) π² + 2(S₀₁ − S₀₀) π + S₀₀ = rate.
    Under pairing noise the roots are π and 1−π; under labeling noise π̃ and 1−π̃, so the two π
    are unrelated, and one may fall outside [0, 1].

    >>> [round(root, 12) for root in prior_roots([[0.9, 0.2], [0.2, 0.9]], 0.606)]
    [0.3, 0.7]
    """
    low, high = prior_branches(same, rate)
    inside = {root for root in (low, high) if -1e-12 <= root <= 1 + 1e-12}
    return tuple(sorted(min(max(root, 0.0), 1.0) for root in inside))


def prior_branches(same: ArrayLike, rate: float) -> tuple[float, float]:
    """Return both roots of `prior_roots` as real numbers, also outside [0, 1]; NaN if complex.

    A discriminant below zero by no more than rounding is zero: both roots are then the vertex.

    >>> prior_branches([[1.0, 0.0], [0.0, 1.0]], 0.4)
    (nan, nan)
    """
    square, linear, constant = _quadratic(same)
    discriminant = linear**2 - square * (constant - rate)
    # The sizes of the terms before they cancel, which is what their rounding errors go by.
    scale = linear**2 + square * (constant + rate)
    if discriminant < -ROUNDING * scale:
        return (float("nan"), float("nan"))
    vertex, half = -linear / square, float(np.sqrt(max(discriminant, 0.0))) / square
    return (vertex - half, vertex + half)


def flattest_prior(same: ArrayLike) -> tuple[float, float]:
    """Return (π, P(same)) at the vertex of the prior equation, where "same" is rarest.

    π = ½ for pairing noise, the π with π̃ = ½ for labeling noise: exactly where a − b = 0.

    >>> flattest_prior([[1.0, 0.0], [0.0, 1.0]])
    (0.5, 0.5)
    """
    square, linear, constant = _quadratic(same)
    return (-linear / square, constant - linear**2 / square)


def pair_posterior(same: ArrayLike, left: ArrayLike, right: ArrayLike) -> Array:
    """Return P(same | x, x') = η(x)ᵀ S η(x') for rows of η, shapes (n, K), (n, K) → (n,).

    >>> pair_posterior([[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5]], [[0.1, 0.9]])
    array([0.5])
    """
    S = noise_matrix(same)
    posterior: Array = np.einsum(
        "nk,nk->n", np.asarray(left, dtype=float) @ S, np.asarray(right, dtype=float)
    )
    return posterior


def density_weights(same: ArrayLike, prior: float | ArrayLike) -> Array:
    """Return P(class | answer), shape (2, K): rows (same, different), each sums to one.

    They are the weights of the class densities P_y(x) in the point-wise densities P_S(x) and
    P_D(x) of an item taken from a "same" or a "different" pair; S = I gives the clean densities
    of the paper, any other S the noisy ones.

    >>> density_weights([[1.0, 0.0], [0.0, 1.0]], 0.2).round(4)
    array([[0.9412, 0.0588],
           [0.5   , 0.5   ]])
    """
    weights: Array = pair_density_weights(same, prior).sum(axis=2)
    return weights


def pair_density_weights(same: ArrayLike, prior: float | ArrayLike) -> Array:
    """Return P(y, y' | answer), shape (2, K, K): the weights of P_y(x) P_y'(x') in P_S, P_D.

    >>> pair_density_weights([[1.0, 0.0], [0.0, 1.0]], 0.5)[1]
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    S = noise_matrix(same)
    pi = class_prior(prior, len(S))
    joint = np.stack([S, 1.0 - S]) * np.outer(pi, pi)
    mass = joint.sum(axis=(1, 2), keepdims=True)
    if not (mass > 0).all():
        raise NotIdentifiable(
            "one of the two answers never occurs under this noise and prior, so the density of "
            "its items does not exist"
        )
    weights: Array = joint / mass
    return weights


def require_signal(difference: float) -> None:
    """Raise `NotIdentifiable` when a − b is zero: no point-wise method can exist.

    >>> require_signal(0.1)
    """
    if abs(difference) < NO_SIGNAL:
        raise NotIdentifiable(
            "a − b = 0: positive and negative items are in 'same' pairs equally often (the prior "
            "is ½, or under labeling noise the flipped prior is). A point-wise method cannot learn "
            "from such pairs: use JointPairClassifier, which looks at all pairs together"
        )


def _binary(values: Array) -> tuple[float, float]:
    if len(values) != 2:
        raise ValueError(
            f"this quantity is defined for two classes, the noise matrix has {len(values)}"
        )
    return float(values[0]), float(values[1])


def _quadratic(same: ArrayLike) -> tuple[float, float, float]:
    """Return (c₂, c₁, c₀) of πᵀ S π = c₂ π² + 2 c₁ π + c₀."""
    S = noise_matrix(same)
    if len(S) != 2:
        raise ValueError(f"the prior equation has a closed form for two classes, not {len(S)}")
    square = float(S[1, 1] - 2 * S[0, 1] + S[0, 0])
    if square < NO_SIGNAL:
        raise NotIdentifiable(
            "under this noise 'same' is not more frequent within a class than between classes: "
            "S₁₁ − 2S₀₁ + S₀₀ ≤ 0, so the share of 'same' says nothing about the prior"
        )
    return square, float(S[0, 1] - S[0, 0]), float(S[0, 0])
