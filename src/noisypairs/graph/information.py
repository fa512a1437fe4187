"""The expected information of one more answer, in bits.

A pair whose classes have the joint law P(y, y') is asked once more; the answer is "same" with
probability S[y, y']. Its expected information is a mutual information.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from noisypairs.algebra import Array, noise_matrix


def binary_entropy(chance: Array) -> Array:
    """Return h(p) = −p log₂ p − (1−p) log₂(1−p), in bits, of each probability.

    >>> binary_entropy(np.array([0.0, 0.1, 0.5])).round(3)
    array([0.   , 0.469, 1.   ])
    """
    bits: Array = (entr(chance) + entr(1.0 - chance)) / np.log(2.0)
    return bits


def pair_information(joint: ArrayLike, same: ArrayLike) -> Array:
    """Return I(answer; y, y') in bits for each joint law P(y, y'), shape (m, K, K) → (m,).

        I = h(Σ P(y, y') S[y, y']) − Σ P(y, y') h(S[y, y']),   h(p) = −p log₂ p − (1−p) log₂(1−p)

    It is about the two classes together: a pair of two unknown items gives as much as a pair of an
    unknown and a known item, since learning the class of one of them later gives that of both.

    >>> S = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> unknown, known = np.full((2, 2), 0.25), np.array([[1.0, 0.0], [0.0, 0.0]])
    >>> pair_information([unknown, known], S).round(3).tolist()  # 1 − h(.1), and nothing
    [0.531, 0.0]
    """
    S, P = noise_matrix(same), _joint_laws(joint, same)
    yes = np.einsum("myz,yz->m", P, S)
    bits: Array = binary_entropy(yes) - np.einsum("myz,yz->m", P, binary_entropy(S))
    return np.maximum(bits, 0.0)  # only rounding gives less than zero


def independent_laws(left: Array, right: Array) -> Array:
    """Return P(y) P(y') for pairs of items that no answer ties, shapes (m, K), (m, K) → (m, K, K).

    >>> independent_laws(np.array([[0.5, 0.5]]), np.array([[0.1, 0.9]])).tolist()
    [[[0.05, 0.45], [0.05, 0.45]]]
    """
    laws: Array = left[:, :, None] * right[:, None, :]
    return laws


def _joint_laws(joint: ArrayLike, same: ArrayLike) -> Array:
    P = np.asarray(joint, dtype=float)
    K = len(np.asarray(same))
    if P.ndim != 3 or P.shape[1:] != (K, K):
        raise ValueError(f"joint has shape {P.shape}, expected (m, {K}, {K}) as S is {K}×{K}")
    return P
