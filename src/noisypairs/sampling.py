"""Draw pairs of labelled items and let a noise model answer them."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.noise import CleanPairs, NoiseModel, RandomState
from noisypairs.pairs import Pairs

Positions = NDArray[np.intp]


def sample_pairs(
    y: ArrayLike,
    n_pairs: int,
    noise: NoiseModel | None = None,
    *,
    same_share: float | None = None,
    random_state: RandomState = None,
) -> Pairs:
    """Draw ``n_pairs`` pairs of distinct items with replacement and answer them under ``noise``.

    ``y`` holds the true classes, shape (n_items,), of any sortable type; in the binary case the
    larger value is the positive class. By default every pair of distinct items is equally likely.
    With ``same_share`` pairs are drawn separately: that share of them (rounded) uniformly among
    the truly same pairs, the rest among the truly different ones; the answers then say nothing
    about the prior.

    >>> pairs = sample_pairs([0, 0, 1, 1, 1], 1000, random_state=0)
    >>> pairs.n_items, pairs.n_pairs
    (5, 1000)
    """
    names, classes = np.unique(np.asarray(y), return_inverse=True)
    if classes.ndim != 1 or len(classes) < 2:
        raise ValueError(f"y must hold the classes of at least two items, got {np.shape(y)}")
    if not isinstance(n_pairs, Integral) or n_pairs < 1:
        raise ValueError(f"n_pairs={n_pairs!r}: expected a positive whole number")
    if not isinstance(noise, NoiseModel | None):
        raise TypeError(f"noise={noise!r}: expected a noise model such as PairingNoise(0.1, 0.2)")
    rng = np.random.default_rng(random_state)
    if same_share is None:
        left, right = random_pairs(len(classes), n_pairs, rng)
    elif 0.0 <= same_share <= 1.0:
        n_same = round(same_share * n_pairs)
        left, right = _separate(classes, n_same, n_pairs - n_same, rng)
    else:
        raise ValueError(f"same_share={same_share!r}: expected None or a number in [0, 1]")
    answers = (noise or CleanPairs()).corrupt(
        classes, left, right, n_classes=max(2, len(names)), random_state=rng
    )
    return Pairs(left, right, answers, n_items=len(classes))


def random_pairs(
    n_items: int, n_pairs: int, rng: np.random.Generator
) -> tuple[Positions, Positions]:
    """Draw pairs of distinct items uniformly, with replacement; shape (n_pairs,) each.

    >>> left, right = random_pairs(2, 3, np.random.default_rng(0))
    >>> left + right
    array([1, 1, 1])
    """
    left = rng.integers(n_items, size=n_pairs)
    right = rng.integers(n_items - 1, size=n_pairs)
    return left, right + (right >= left)


def _separate(
    classes: NDArray[np.intp], n_same: int, n_different: int, rng: np.random.Generator
) -> tuple[Positions, Positions]:
    """Draw truly same and truly different pairs, each kind uniformly; items sorted by class."""
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes)
    starts = np.cumsum(sizes) - sizes
    n_items = len(classes)
    chosen = _class_of_first(n_same, sizes * (sizes - 1.0), rng, "same: no class has two items")
    first = rng.integers(sizes[chosen])
    second = rng.integers(sizes[chosen] - 1)
    same = (starts[chosen] + first, starts[chosen] + second + (second >= first))

    ways = sizes * (n_items - sizes).astype(float)
    chosen = _class_of_first(n_different, ways, rng, "different: there is only one class")
    inside = starts[chosen] + rng.integers(sizes[chosen])
    outside = rng.integers(n_items - sizes[chosen])
    outside += np.where(outside >= starts[chosen], sizes[chosen], 0)

    shuffled = rng.permutation(n_same + n_different)
    left = order[np.concatenate([same[0], inside])[shuffled]]
    right = order[np.concatenate([same[1], outside])[shuffled]]
    return left, right


def _class_of_first(
    wanted: int, ways: NDArray[np.float64], rng: np.random.Generator, reason: str
) -> Positions:
    """Draw the class of the first item of each pair, in proportion to the pairs it can start."""
    if not ways.any():
        if wanted:
            raise ValueError(f"cannot draw {wanted} pairs that are truly {reason}")
        return np.empty(0, dtype=np.intp)
    return rng.choice(len(ways), wanted, p=ways / ways.sum())
