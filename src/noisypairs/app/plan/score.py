"""How often predictions are right, judged by noisy answers that they never saw, for any K.

Let C[c, y] = P(class y | predicted c). An answer on two items predicted c and c' is "same" with
probability Σ C[c, y] S[y, y'] C[c', y'], so that counts of answers by predicted classes, a table of
K×K×2 numbers, give C by maximum likelihood, and

    accuracy = Σ_c P(predicted c) C[c, c].

No true class is needed. Under pairing noise only C Cᵀ shows, so for K > 2 the fit begins at a
prediction that is mostly right and ends at a C near it; the accuracy hardly depends on which. For
two classes this agrees with `metrics.estimate_accuracy`, a closed form that does not extend to
K > 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import pair_keys

#: Rounds of EM, and the share of right predictions it begins at.
ROUNDS, BEGIN = 400, 0.8
#: Pseudo-answers in each cell: keep rows of classes that were never predicted defined.
PSEUDO = 1e-9
#: Step of the numerical derivative, as a share of all answers.
STEP = 1e-4


@dataclass(frozen=True)
class Score:
    """An accuracy, and by how much each answer changes it.

    ``influence`` (n_answers,) has mean about zero: the mean of the influences of fresh answers is
    the error of the estimate, to first order.
    """

    accuracy: float
    influence: Array


def score_predictions(pairs: Pairs, predicted: NDArray[np.intp], same: Array) -> Score:
    """Estimate the accuracy of ``predicted`` (n_items,), classes 0..K−1, from answers alone.

    ``pairs`` must be answers that the prediction was not learnt from, ``same`` is S, shape (K, K).
    Shares of predicted classes are those among the ends of the pairs.

    >>> from noisypairs import PairingNoise, sample_pairs
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(3, size=1000)
    >>> noise = PairingNoise(0.1, 0.2)
    >>> wrong = rng.random(1000) < 0.1
    >>> pairs = sample_pairs(y, 20_000, noise, random_state=1)
    >>> score = score_predictions(pairs, np.where(wrong, (y + 1) % 3, y), noise.same_probability(3))
    >>> round(score.accuracy, 2)
    0.9
    """
    K = len(same)
    first, second = predicted[pairs.left], predicted[pairs.right]
    cell = pair_keys(first, second, K) * 2 + pairs.same
    table = np.bincount(cell, pairs.weight, minlength=2 * K * K)
    table = table / table.sum()
    share = np.bincount(np.concatenate([first, second]), minlength=K) / (2 * pairs.n_pairs)
    tables = np.vstack([table, table + STEP * np.eye(2 * K * K)]).reshape(-1, K, K, 2)
    right = np.einsum("bcc,c->b", confusion(tables, same), share)
    return Score(float(right[0]), ((right[1:] - right[0]) / STEP)[cell])


def confusion(tables: Array, same: Array) -> Array:
    """Return C, shape (B, K, K), rows the predicted classes, for tables of counts (B, K, K, 2).

    ``tables[b, c, c', q]`` counts answers q (1 is "same") on items predicted c and c'. EM with S
    known, from a prediction that is mostly right; B tables are fitted at once.

    >>> S = np.eye(2)
    >>> confusion(np.array([[[[0, 81 + 1], [0, 0]], [[0, 0], [0, 0]]]]) + 0.0, S).shape
    (1, 2, 2)
    """
    K = len(same)
    answer = np.stack([1.0 - same, same], axis=-1)  # (y, y', q)
    C = np.tile(BEGIN * np.eye(K) + (1.0 - BEGIN) / K, (len(tables), 1, 1))
    for _ in range(ROUNDS):
        # chance[b, c, d, q] = Σ C[c, y] answer[y, z, q] C[d, z]; each end gets its share of it.
        half = np.einsum("yzq,bdz->bydq", answer, C)
        chance = np.maximum(np.einsum("bcy,bydq->bcdq", C, half), 1e-300)
        ratio = tables / chance
        counts = np.einsum("bcdq,bydq->bcy", ratio, half) + np.einsum("bdcq,bydq->bcy", ratio, half)
        counts = C * counts + PSEUDO * C
        C = counts / counts.sum(axis=2, keepdims=True)
    return C
