"""Problems for the joint learner, the learner with fast settings, a classifier that is given."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from noisypairs import (
    JointPairClassifier,
    PairingNoise,
    datasets,
    sample_pairs,
)
from noisypairs.joint.em import GraphEStep, Spec, run_em
from noisypairs.joint.problem import Problem
from noisypairs.noise import AnswerModel

NOISE = PairingNoise(0.1, 0.2)


def data(prior=0.3, n_items=300, n_pairs=3000, noise=NOISE, seed=0):
    X, y = datasets.load("gaussians", n_samples=n_items, prior=prior, random_state=seed)
    return X, y, sample_pairs(y, n_pairs, noise, random_state=seed + 1)


def rings(n_items=300, n_pairs=1200, seed=0):
    """A disc inside a ring: no straight line divides them."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_items) < 0.4).astype(int)
    radius = np.where(y == 1, 2.5, 1.0) + 0.2 * rng.normal(size=n_items)
    angle = rng.uniform(0, 2 * np.pi, n_items)
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X, y, sample_pairs(y, n_pairs, PairingNoise(0.2, 0.2), random_state=seed)


def crowd(**changed):
    settings = {"n_items": 240, "n_annotators": 8, "spammer_share": 0.0, "separation": 6.0}
    settings |= {"similar_flip": 0.2, "dissimilar_flip": 0.2, "random_state": 0}
    return datasets.simulated_crowd(**(settings | changed))


def joint(estimator=None, **parameters):
    """The learner with a fast classifier inside, class 1 the minority, and a seed."""
    defaults = {"n_classes": 2, "class_order": "falling", "random_state": 0}
    return JointPairClassifier(estimator or LogisticRegression(), **(defaults | parameters))


def one_label_each(y, names):
    return {int(np.flatnonzero(y == k)[0]): name for k, name in enumerate(names)}


def overlapping(n=600, n_pairs=1200, noise=None, seed=0):
    """Two classes along one of eight columns, twelve of a hundred on the wrong side."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    X = rng.normal(size=(n, 8))
    X[:, 0] += 2.4 * (y - 0.5)
    return X, y, sample_pairs(y, n_pairs, noise or PairingNoise(0.2, 0.2), random_state=seed)


class Given(ClassifierMixin, BaseEstimator):
    """Predict given potentials; items carry their number in column 0. Counts its fits."""

    fits: list = []  # noqa: RUF012 (shared by all clones on purpose)
    sizes: list = []  # noqa: RUF012 (shared by all clones on purpose)

    def __init__(self, phi=None, name=""):
        self.phi = phi
        self.name = name

    def fit_beliefs(self, X, beliefs):
        self.fits.append(self.name)
        self.sizes.append(len(X))
        self.classes_ = np.arange(beliefs.shape[1])
        return self

    def predict_proba(self, X):
        return self.phi[X[:, 0].astype(int)]


def numbered(y, pairs, cv=3):
    """A problem whose items are their numbers, with one column that tells the classes a little."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(len(y)), y + rng.normal(size=len(y))])
    return Problem(X, pairs, int(y.max()) + 1, cv, 0)


def inferred(problem, y, noise, class_model="ridge", rounds=5, family="given"):
    """What some rounds reach from a guess near the truth."""
    K = int(y.max()) + 1
    guess = np.full((len(y), K), 0.2) + 0.6 * np.eye(K)[y]
    guess /= guess.sum(axis=1, keepdims=True)
    spec, e_step = Spec(K, class_model, family), GraphEStep(problem.graph, problem.clamp)
    answers = AnswerModel(noise, family, K)
    model = problem.class_model(class_model)
    return run_em(spec, "truth", e_step, model, answers, guess, rounds=rounds)


def labelled(n=300, per_item=6, flip=0.2, seed=0):
    y = np.random.default_rng(seed).integers(2, size=n)
    noise = PairingNoise(flip, flip)
    return y, sample_pairs(y, per_item * n, noise, random_state=seed), noise


def softened(y, right):
    return np.where(np.eye(y.max() + 1, dtype=bool)[y], right, (1 - right) / y.max())
