"""Explanations without classes: as good as classes where there are none, else worse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit

from noisypairs import JointPairClassifier, Pairs
from noisypairs.assess.rivals import Latent
from noisypairs.errors import collected_warnings


def asked(n, m, rng):
    left = rng.integers(n, size=m)
    return left, (left + rng.integers(1, n, size=m)) % n


def failed(X, pairs, **settings):
    with collected_warnings():
        found = JointPairClassifier(random_state=0, **settings).fit(X, pairs).verdict()
    return {one.name for one in found.failed}


@pytest.mark.parametrize(("number", "of_features"), [(0, False), (1, False), (2, False), (2, True)])
def test_the_gradient_is_that_of_the_loss(number, of_features):
    rng = np.random.default_rng(number)
    left, right = asked(8, 40, rng)
    pairs = Pairs(left, right, rng.random(40) < 0.4, 8, weight=rng.uniform(0.5, 2.0, 40))
    where = rng.normal(size=(8, number)) if number else None
    rival = Latent(rng.normal(size=(8, 3)), pairs, number, where, of_features)
    rival.values = rival.values + 0.3 * rng.normal(size=len(rival.values))
    value, gradient = rival.loss(rival.values)
    numeric = approx_fprime(rival.values, lambda v: rival.loss(v)[0], 1e-6)
    assert np.isfinite(value)
    np.testing.assert_allclose(gradient, numeric, atol=1e-4)


RESPONSES = {
    "logistic": lambda d: expit(3.0 - 2.5 * d),
    "a step, and one answer in ten wrong": lambda d: np.where(d < 1.0, 0.9, 0.1),
    "heavy tails": lambda d: 1.0 / (1.0 + d**2),
}


@pytest.mark.parametrize(
    ("response", "n_columns"),
    [("logistic", 3), ("a step, and one answer in ten wrong", 1), ("heavy tails", 1)],
)
def test_a_scale_is_no_class(response, n_columns):
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(200, 4))
    left, right = asked(200, 2400, rng)
    apart = np.linalg.norm(X[left, :n_columns] - X[right, :n_columns], axis=1)
    same = rng.random(2400) < RESPONSES[response](apart)
    assert "scale" in failed(X, Pairs(left, right, same, 200), n_classes=4)


def test_items_that_are_called_same_more_often_are_no_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    effect = 1.3 * X[:, 0] + 0.5 * rng.normal(size=200)
    left, right = asked(200, 2400, rng)
    same = rng.random(2400) < expit(effect[left] + effect[right])
    assert "item effects" in failed(X, Pairs(left, right, same, 200), n_classes=3)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_classes_are_no_scale(n_classes):
    rng = np.random.default_rng(n_classes)
    y = rng.integers(n_classes, size=200)
    X = 1.5 * rng.normal(size=(n_classes, 5))[y] + rng.normal(size=(200, 5))
    left, right = asked(200, 2000, rng)
    same = (y[left] == y[right]) ^ (rng.random(2000) < 0.15)
    assert not failed(X, Pairs(left, right, same, 200), n_classes=n_classes)


@pytest.mark.parametrize(("n_classes", "d"), [(2, 1), (3, 1), (3, 2)])
def test_clusters_far_apart_are_classes_although_nearness_predicts_as_well(n_classes, d):
    rng = np.random.default_rng(n_classes)
    y = rng.integers(n_classes, size=150)
    means = 9.0 * np.array([[0, 0], [1, 0], [2, 1]])[:n_classes, :d]
    left, right = asked(150, 1000, rng)
    same = (y[left] == y[right]) ^ (rng.random(1000) < 0.05)
    X = means[y] + rng.normal(size=(150, d))
    assert not failed(X, Pairs(left, right, same, 150), n_classes=n_classes)
