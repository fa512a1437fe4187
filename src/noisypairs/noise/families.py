"""Families of noise and how each is fitted to counted answers: the M-step for S.

A family turns expected counts, N_same and N_different of shape (K, K) (how many answers of each
kind were given to classes y, y'), into a noise model. All fits carry a weak prior of
`PSEUDO_ANSWERS` answers at the rate `PSEUDO_RATE`, which matters only where data are very few.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import optimize
from scipy.special import softmax

from noisypairs.algebra import Array
from noisypairs.errors import did_you_mean
from noisypairs.noise import LabelingNoise, MatrixNoise, NoiseModel, PairingNoise

PSEUDO_ANSWERS = 10.0
PSEUDO_RATE = 0.2
#: Rates stay this far from telling nothing (ρ_S + ρ_D = 1) and from certainty.
MARGIN = 1e-3

Fit = Callable[[Array, Array], NoiseModel]


def fit_pairing(same: Array, different: Array) -> PairingNoise:
    """Fit ρ_S to the diagonal and ρ_D to the rest: shares of wrong answers.

    >>> fit_pairing(np.array([[800.0, 0.0], [0.0, 80.0]]), np.array([[80.0, 1e3], [1e3, 30.0]]))
    PairingNoise(similar_flip=0.112, dissimilar_flip=0.001)
    """
    diagonal = np.eye(len(same), dtype=bool)
    similar = _rate(different[diagonal].sum(), same[diagonal].sum())
    dissimilar = _rate(same[~diagonal].sum(), different[~diagonal].sum())
    similar, dissimilar = max(similar, MARGIN), max(dissimilar, MARGIN)
    shrink = min(1.0, (1.0 - 2 * MARGIN) / (similar + dissimilar))
    return PairingNoise(float(similar * shrink), float(dissimilar * shrink))


def fit_labeling(same: Array, different: Array) -> LabelingNoise:
    """Fit the flip matrix F, rows P(reported | class), by maximum likelihood of S = F Fᵀ.

    Log-likelihood Σ N_same log S + N_different log(1−S), gradient 2 G F in F with
    G = N_same/S − N_different/(1−S); rows of F are softmax of free numbers.

    >>> noise = LabelingNoise(0.1, 0.2)
    >>> S = noise.same_probability()
    >>> fit_labeling(1e6 * S, 1e6 * (1 - S)).flip_matrix().round(2)
    array([[0.8, 0.2],
           [0.1, 0.9]])
    """
    K = len(same)
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


def fit_free(same: Array, different: Array) -> MatrixNoise:
    """Fit every entry of the symmetric S by its own share of "same" answers.

    >>> fit_free(np.array([[90.0, 20.0], [20.0, 60.0]]), np.array([[10.0, 80.0], [80.0, 40.0]]))
    MatrixNoise(same=((0.89..., 0.2), (0.2, 0.61...)))
    """
    K = len(same)
    prior = np.where(np.eye(K, dtype=bool), 1.0 - PSEUDO_RATE, PSEUDO_RATE)
    S = (same + PSEUDO_ANSWERS * prior) / (same + different + PSEUDO_ANSWERS)
    S = np.clip((S + S.T) / 2, MARGIN, 1 - MARGIN)
    return MatrixNoise(tuple(map(tuple, S.tolist())))


#: Every family by name, the simplest first; ties in likelihood go to the earlier one.
FAMILIES: dict[str, Fit] = {
    "pairing": fit_pairing,
    "labeling": fit_labeling,
    "free": fit_free,
}


def n_parameters(name: str, n_classes: int) -> int:
    """Return how many numbers a family fits: two rates, the rows of F, or the entries of S.

    >>> [n_parameters(name, 3) for name in FAMILIES]
    [2, 6, 6]
    """
    free = {"labeling": n_classes * (n_classes - 1), "free": n_classes * (n_classes + 1) // 2}
    return free.get(name, 2)


def family(name: str) -> Fit:
    """Return the fit of a family by its name.

    >>> family("free") is fit_free
    True
    """
    if name not in FAMILIES:
        raise ValueError(f"noise_model={name!r}: {did_you_mean(str(name), [*FAMILIES, 'auto'])}")
    return FAMILIES[name]


def fixed(noise: NoiseModel) -> Fit:
    """Return the fit that ignores the counts: the noise is known."""
    return lambda _same, _different: noise


def group_matrices(same: Array, different: Array, crowd: Array) -> Array:
    """Return S per group, shape (R, K, K): two rates each, shrunk towards the crowd's.

    ``same`` and ``different`` are (R, K, K). Each rate of group r is
    (wrong_r + m·crowd rate)/(n_r + m), with the strength m that the spread between groups, beyond
    binomial chance, asks for (method of moments).

    >>> one = np.array([[[45.0, 10.0], [10.0, 45.0]]])
    >>> group_matrices(one, one[:, ::-1], np.array([[0.8, 0.2], [0.2, 0.8]])).round(2)[0, 0]
    array([0.81, 0.19])
    """
    diagonal = np.eye(crowd.shape[0], dtype=bool)
    wrong, total = group_errors(same, different)
    rates = []
    for kind, mean in ((0, 1.0 - crowd[diagonal].mean()), (1, crowd[~diagonal].mean())):
        strength = shrinkage(wrong[kind], total[kind], float(mean))
        rates.append((wrong[kind] + strength * mean) / (total[kind] + strength))
    similar, dissimilar = (np.clip(rate, MARGIN, 1 - MARGIN)[:, None, None] for rate in rates)
    matrices: Array = np.where(diagonal, 1.0 - similar, dissimilar)
    return matrices


def group_errors(same: Array, different: Array) -> tuple[Array, Array]:
    """Return (wrong, total), shape (2, R) each: row 0 on truly same, row 1 on different pairs.

    >>> group_errors(np.ones((1, 2, 2)), np.zeros((1, 2, 2)))[0].tolist()
    [[0.0], [2.0]]
    """
    diagonal = np.eye(same.shape[1], dtype=bool)
    wrong = np.stack([different[:, diagonal].sum(axis=1), same[:, ~diagonal].sum(axis=1)])
    both = same + different
    return wrong, np.stack([both[:, diagonal].sum(axis=1), both[:, ~diagonal].sum(axis=1)])


def shrinkage(wrong: Array, total: Array, mean: float) -> float:
    """Return how many answers the crowd's rate is worth against a group's own, in [2, 200].

    >>> shrinkage(np.array([1.0, 1.0]), np.array([10.0, 10.0]), 0.1)
    200.0
    """
    spread = float(((wrong - mean * total) ** 2).sum() - (mean * (1 - mean) * total).sum())
    beyond = spread / max(float((total**2 - total).clip(0).sum()), 1e-9)
    if beyond <= 0:
        return 200.0
    return float(np.clip(mean * (1 - mean) / beyond - 1.0, 2.0, 200.0))


def _rate(wrong: float, right: float) -> float:
    return float((wrong + PSEUDO_ANSWERS * PSEUDO_RATE) / (wrong + right + PSEUDO_ANSWERS))
