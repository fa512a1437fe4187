"""Data drawn from known laws: the paper's two Gaussians."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.noise import RandomState


def gaussians(
    n_samples: int = 2000, prior: float = 0.2, random_state: RandomState = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Draw items from two round Gaussians: X (n_samples, 2) and y (n_samples,) in {0, 1}.

    Class 1 is N((2, 2), I), drawn with probability ``prior``; class 0 is N((−2, −2), I). The Bayes
    rule is the line x₀ + x₁ = ln((1−π)/π)/4, wrong for about 0.2 % of the items.

    >>> X, y = gaussians(1000, prior=0.2, random_state=0)
    >>> bool(abs(y.mean() - 0.2) < 0.05), X[y == 1].mean(axis=0).round()
    (True, array([2., 2.]))
    """
    at_least(1, n_samples=n_samples)
    if not 0.0 < prior < 1.0:
        raise ValueError(f"prior={prior!r}: expected P(class 1), a number between 0 and 1")
    rng = generator(random_state)
    y = (rng.random(n_samples) < prior).astype(np.int64)
    centre = np.where(y == 1, 2.0, -2.0)
    return centre[:, None] + rng.standard_normal((n_samples, 2)), y


def generator(random_state: RandomState) -> np.random.Generator:
    """Return a generator; a legacy state is advanced by one draw."""
    if isinstance(random_state, np.random.RandomState):
        # Not every numpy 2 takes one; a seed drawn from it advances its state, as users expect.
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    return np.random.default_rng(random_state)


def at_least(smallest: int, **counts: Any) -> None:
    """Refuse counts that are no whole numbers of at least ``smallest``."""
    for name, count in counts.items():
        if not isinstance(count, int | np.integer) or count < smallest:
            raise ValueError(f"{name}={count!r}: expected a whole number of at least {smallest}")
