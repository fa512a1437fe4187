"""Ratio 7: what more classes cost the joint learner, and what choosing their number costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from record import processor_seconds

from noisypairs import JointPairClassifier, PairingNoise, Pairs, sample_pairs
from noisypairs.metrics import accuracy_up_to_names

N_FEATURES, SPREAD = 10, 1.5
#: Classes, pairs per item; the second of each two is divided by the first.
SETTINGS = (((2, 10), (10, 10)), ((2, 20), (50, 20)))


def problem(n_classes: int, n_items: int, density: int) -> tuple[np.ndarray, np.ndarray, Pairs]:
    """Return Gaussian classes of equal size and noisy pairs of their items."""
    random = np.random.default_rng(n_classes)
    y = random.permutation(np.arange(n_items) % n_classes)
    means = SPREAD * random.normal(size=(n_classes, N_FEATURES))
    X = means[y] + random.normal(size=(n_items, N_FEATURES))
    return X, y, sample_pairs(y, density * n_items, PairingNoise(0.2, 0.1), random_state=0)


def cost_of_classes(quick: bool) -> dict[str, Any]:
    """Time fits with few and many classes one after the other, and one with the number chosen.

    Medians of three in turn; a small fit before them loads what is loaded late. With them the share
    of items in the right class.
    """
    n_items = 500 if quick else 5_000
    found: dict[str, Any] = {"n_items": n_items}

    def fit(n_classes: Any, X: np.ndarray, y: np.ndarray, pairs: Pairs) -> None:
        model = JointPairClassifier(n_classes=n_classes, random_state=0).fit(X, pairs)
        right[n_classes] = accuracy_up_to_names(y, model.item_proba_.argmax(axis=1))

    right: dict[Any, float] = {}
    fit(3, *problem(3, 300, 10))
    for settings in SETTINGS:
        calls = {}
        for n_classes, density in settings:
            given = problem(n_classes, n_items, density)
            calls[f"{n_classes} classes"] = lambda K=n_classes, given=given: fit(K, *given)
        taken = processor_seconds(calls)
        few, many = taken.values()
        share = {"right": right[settings[1][0]], "ratio": many / few}
        found[" over ".join(reversed(calls))] = {"seconds": taken, **share}
    given = problem(3, n_items, 10)
    calls = {"3 classes": lambda: fit(3, *given), "2 to 6": lambda: fit("auto", *given)}
    taken = processor_seconds(calls)
    found["chosen from 2 to 6"] = {"seconds": taken, "ratio": taken["2 to 6"] / taken["3 classes"]}
    return found
