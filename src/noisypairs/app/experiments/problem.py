"""From a spec to data: items split 75:25, standardised, pairs drawn among training items."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from noisypairs import CleanPairs, LabelingNoise, NoiseModel, PairingNoise, Pairs, datasets
from noisypairs.algebra import Array
from noisypairs.app.experiments.spec import Spec
from noisypairs.sampling import sample_pairs

#: The two Gaussians: P(class 1), and the sizes of Figure 2 (every item in one pair).
GAUSSIAN_PRIOR, GAUSSIAN_ITEMS, GAUSSIAN_TEST_ITEMS = 0.2, 20_000, 3_000


@dataclass(frozen=True, eq=False)
class Problem:
    """Training items (n, d) with their pairs, test items (m, d) with their true classes."""

    X: Array
    y: NDArray[np.int64]
    pairs: Pairs
    X_test: Array
    y_test: NDArray[np.int64]
    noise: NoiseModel

    @property
    def prior(self) -> float:
        """Return the share of class 1 among the training items."""
        return float(self.y.mean())

    @property
    def larger_class(self) -> float:
        """Return the test accuracy of calling every item by the larger class."""
        share = float(self.y_test.mean())
        return max(share, 1.0 - share)


def noise_of(spec: Spec) -> NoiseModel:
    """Return the noise model with the rates of the spec.

    >>> noise_of(Spec("cancer", "labeling", (0.1, 0.2), "joint", 2.0, 0))
    LabelingNoise(positive_flip=0.1, negative_flip=0.2, ...)
    """
    if spec.family == "clean":
        return CleanPairs()
    return (PairingNoise if spec.family == "pairing" else LabelingNoise)(*spec.rates)


def make_problem(spec: Spec) -> Problem:
    """Draw split, pairs and answers of a spec; the seed decides everything.

    Features are standardised on the training items and cut at ±10. Specs that differ in the rates
    alone have the same split and the same pairs of items, and differ in the answers only.
    """
    noise = noise_of(spec)
    if spec.dataset == "gaussians":
        return _gaussians(spec, noise)
    X, y = _table(spec.dataset)
    if 0 < spec.rows < len(y):
        keep = np.random.default_rng(spec.seed).choice(len(y), spec.rows, replace=False)
        X, y = X[keep], y[keep]
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=0.25, stratify=y, random_state=spec.seed
    )
    scaler = StandardScaler().fit(X)
    X, X_test = (np.clip(scaler.transform(part), -10, 10) for part in (X, X_test))
    n_pairs = max(1, round((spec.density or 1.0) * len(y)))
    pairs = sample_pairs(y, n_pairs, noise, random_state=spec.seed)
    return Problem(X, y, pairs, X_test, y_test, noise)


def _gaussians(spec: Spec, noise: NoiseModel) -> Problem:
    """Return Figure 2's problem: n pairs of 2n items, so 2n "S and D points", each used once."""
    first, second = (
        datasets.load("gaussians", n_samples=n, prior=GAUSSIAN_PRIOR, random_state=seed)
        for n, seed in (
            (GAUSSIAN_ITEMS, spec.seed),
            (GAUSSIAN_TEST_ITEMS, 1_000_000 + spec.seed),
        )
    )
    left, right = np.arange(GAUSSIAN_ITEMS).reshape(2, -1)
    same = noise.corrupt(first[1], left, right, random_state=2_000_000 + spec.seed)
    return Problem(*first, Pairs(left, right, same), *second, noise)


@lru_cache(maxsize=2)
def _table(name: str) -> tuple[Any, Any]:
    """Return a table, read once per process: groups of one data set follow each other."""
    return datasets.load(name)
