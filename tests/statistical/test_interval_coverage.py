"""How often the joint learner's 90 % intervals hold the truth: 24 runs, every quantity.

Six runs each of single answers, weighted ones, three answers to a pair, and annotators of unequal
rates. Of 48 intervals of the rates those that cover 90 % hold the truth fewer than 36 times once in
1,000 cases, and of 24 intervals of the prior or the accuracy fewer than 16 times (binomial); nor
may intervals that are far too long pass, so their mean half width is bounded too. The record of
more and longer runs is in docs/wrong-answers.md.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression

from noisypairs import JointPairClassifier, Pairs
from noisypairs.sampling import random_pairs

N_RUNS, N_ITEMS, N_ANSWERS, LEVEL = 6, 150, 900, 0.9
KINDS = ("single", "weights", "repeats", "annotators")
NAMES = ("similar_flip", "dissimilar_flip", "prior", "accuracy")


def draw_items(prior, size, rng):
    y = (rng.random(size) < prior).astype(int)
    return rng.normal(size=(size, 2)) + np.outer(2 * y - 1, [0.85, 0.85]), y


def draw_pairs(kind, y, rates, rng):
    """Return answered pairs and the mean rates that they were answered with."""
    times = 3 if kind == "repeats" else 1
    left, right = (np.tile(end, times) for end in random_pairs(len(y), N_ANSWERS // times, rng))
    who = rng.integers(6, size=N_ANSWERS)
    own = np.outer(rates, np.linspace(0.5, 1.5, 6) if kind == "annotators" else np.ones(6))[:, who]
    truth = y[left] == y[right]
    same = truth ^ (rng.random(N_ANSWERS) < np.where(truth, *own))
    weight = rng.choice([0.5, 1.0, 2.0], N_ANSWERS) if kind == "weights" else None
    named = who if kind == "annotators" else None
    return Pairs(left, right, same, len(y), annotator=named, weight=weight), own.mean(axis=1)


@pytest.fixture(scope="module")
def runs():
    """Return (truth, interval) of every run, by quantity."""
    found = {name: [] for name in NAMES}
    for k, kind in enumerate(KINDS):
        for seed in range(N_RUNS):
            rng = np.random.default_rng([seed, k])
            prior, rates = rng.uniform(0.25, 0.4), rng.uniform(0.05, 0.3, size=2)
            X, y = draw_items(prior, N_ITEMS, rng)
            X_new, y_new = draw_items(prior, 4000, rng)
            pairs, rates = draw_pairs(kind, y, rates, rng)
            model = JointPairClassifier(
                LogisticRegression(),
                n_classes=2,
                noise="pairing",
                class_order="falling",
                random_state=seed,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a run may not converge
                limits = model.fit(X, pairs).intervals(X, pairs, LEVEL, n_bootstrap=30)
            truths = [*rates, prior, model.score(X_new, y_new)]
            for name, truth in zip(NAMES, truths, strict=True):
                found[name].append((truth, limits[name]))
    return found


@pytest.mark.parametrize(
    ("names", "longest"), [(NAMES[:2], 0.05), (NAMES[2:3], 0.1), (NAMES[3:], 0.08)]
)
def test_intervals_cover(runs, names, longest):
    mine = [one for name in names for one in runs[name]]
    covered = sum(truth in interval for truth, interval in mine)
    assert covered >= stats.binom.ppf(0.001, len(mine), LEVEL)
    assert np.mean([interval.high - interval.low for _, interval in mine]) / 2 < longest
