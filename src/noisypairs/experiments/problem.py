"""From a spec to data: items split 75:25, standardised, pairs drawn among training items."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from noisypairs import CleanPairs, LabelingNoise, NoiseModel, PairingNoise, Pairs, datasets
from noisypairs.algebra import Array
from noisypairs.experiments.spec import Spec
from noisypairs.pairs.groups import row_hashes
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
        """Return the test accuracy of calling every item by the largest class."""
        return float(np.bincount(self.y_test).max() / len(self.y_test))


def noise_of(family: str, rates: Sequence[float]) -> NoiseModel:
    """Return the noise model of a family with these rates.

    >>> noise_of("labeling", (0.1, 0.2))
    LabelingNoise(positive_flip=0.1, negative_flip=0.2, ...)
    """
    if family == "clean":
        return CleanPairs()
    first, second = rates
    return (PairingNoise if family == "pairing" else LabelingNoise)(first, second)


def make_problem(spec: Spec) -> Problem:
    """Draw split, pairs and answers of a spec; the seed decides everything.

    Specs that differ in the rates alone have the same split and the same pairs of items; only
    their answers differ.
    """
    noise = noise_of(spec.family, spec.rates)
    if spec.dataset == "gaussians":
        return _gaussians(spec.seed, noise)
    density = spec.density or 1.0
    return split(spec.dataset, noise, pairs_per_item=density, seed=spec.seed, rows=spec.rows)


def split(
    name: str,
    noise: NoiseModel,
    *,
    pairs_per_item: float = 1.0,
    n_pairs: int | None = None,
    seed: int = 0,
    rows: int = 0,
) -> Problem:
    """Split a table of `datasets` as `split_table` does; ``rows`` caps its items (0: all)."""
    X, y = _table(name)
    if 0 < rows < len(y):
        keep = np.random.default_rng(seed).choice(len(y), rows, replace=False)
        X, y = X[keep], y[keep]
    return split_table(X, y, noise, pairs_per_item=pairs_per_item, n_pairs=n_pairs, seed=seed)


def split_table(
    X: Array,
    y: NDArray[np.int64],
    noise: NoiseModel,
    *,
    pairs_per_item: float = 1.0,
    n_pairs: int | None = None,
    seed: int = 0,
) -> Problem:
    """Split items (n, d) of classes y (n,) 75:25 and draw noisy pairs among the training items.

    The split is stratified. Features are standardised on the training items and cut at ±10. The
    pairs are ``n_pairs``, or ``pairs_per_item`` for every training item.
    """
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=seed)
    scaler = StandardScaler().fit(X)
    X, X_test = (np.clip(scaler.transform(part), -10, 10) for part in (X, X_test))
    if n_pairs is None:
        n_pairs = max(1, round(pairs_per_item * len(y)))
    pairs = sample_pairs(y, n_pairs, noise, random_state=seed)
    return Problem(X, y, pairs, X_test, y_test, noise)


@dataclass(frozen=True)
class OwnTable:
    """Items (n, d) of classes (n,) 0 … K−1, and noises by the family and rates of a `Spec`."""

    X: Array
    y: NDArray[np.intp]
    noises: Mapping[tuple[str, tuple[float, float]], NoiseModel]
    name: str = "own"

    def __call__(self, spec: Spec) -> Problem:
        """Split the table and draw the pairs of a spec."""
        noise = self.noises[spec.family, spec.rates]
        density = spec.density or 1.0
        return split_table(self.X, self.y, noise, pairs_per_item=density, seed=spec.seed)

    def digests(self) -> dict[str, Any]:
        """Return what tells this table from another one."""
        content = row_hashes(self.X).tobytes() + self.y.tobytes()
        return {"source": "given", "sha256": {"X and y": hashlib.sha256(content).hexdigest()}}


def _gaussians(seed: int, noise: NoiseModel) -> Problem:
    """Return Figure 2's problem: n pairs of 2n items, so 2n "S and D points", each used once."""
    first, second = (
        datasets.load("gaussians", n_samples=n, prior=GAUSSIAN_PRIOR, random_state=draw)
        for n, draw in ((GAUSSIAN_ITEMS, seed), (GAUSSIAN_TEST_ITEMS, 1_000_000 + seed))
    )
    left, right = np.arange(GAUSSIAN_ITEMS).reshape(2, -1)
    same = noise.corrupt(first[1], left, right, random_state=2_000_000 + seed)
    return Problem(*first, Pairs(left, right, same), *second, noise)


@lru_cache(maxsize=2)
def _table(name: str) -> tuple[Any, Any]:
    """Return a table, read once per process: groups of one data set follow each other."""
    return datasets.load(name)
