"""Calibration by the answers: the best line, fitted to the other half, never flatter."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logit, softmax

from noisypairs.estimators.joint.beliefs.calibration import calibrated


def drawn(n=400, steep=3.0, n_classes=2, seed=0):
    """Classes that follow P(class | x), a flattened P(class | x), and weak evidence of them."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_classes))
    true = np.exp(steep * scores)
    true /= true.sum(axis=1, keepdims=True)
    y = (true.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    other = (y + rng.integers(1, n_classes, size=n)) % n_classes
    said = np.where(rng.random(n) < 0.7, y, other)
    evidence = np.where(np.eye(n_classes, dtype=bool)[said], 0.7, 0.3 / (n_classes - 1))
    flat = np.exp(scores)
    return flat / flat.sum(axis=1, keepdims=True), evidence, true


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_line_of_the_other_half_is_the_best_one(n_classes):
    """Against a plain search over slope and class weights."""
    phi, evidence, _ = drawn(n_classes=n_classes)

    def through(line, rows):
        return softmax(np.exp(line[0]) * np.log(phi[rows]) + line[1:], axis=1)

    def loss(line, rows):
        return line @ line - np.log((through(line, rows) * evidence[rows]).sum(axis=1)).sum()

    for rows, others in (
        (slice(0, None, 2), slice(1, None, 2)),
        (slice(1, None, 2), slice(0, None, 2)),
    ):
        options = {"xatol": 1e-8, "fatol": 1e-10, "maxiter": 5000}
        start = np.zeros(1 + n_classes)
        line = minimize(loss, start, (others,), "Nelder-Mead", options=options).x
        assert_allclose(calibrated(phi, evidence)[rows], through(line, rows), atol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_flat_potentials_are_sharpened_towards_the_truth(n_classes):
    phi, evidence, true = drawn(6000, n_classes=n_classes)
    new = calibrated(phi, evidence)
    assert np.abs(new - true).mean() < 0.3 * np.abs(phi - true).mean()
    assert_allclose(new.sum(axis=1), 1.0)


def test_certain_potentials_are_not_flattened():
    phi, evidence, _ = drawn(1000, steep=0.0)  # they know nothing, and should be flat
    before, after = logit(phi[:, 1]), logit(calibrated(phi, evidence)[:, 1])
    for half in (slice(0, None, 2), slice(1, None, 2)):
        assert np.polyfit(before[half], after[half], 1)[0] == pytest.approx(1.0, abs=1e-6)


def test_no_item_decides_on_itself():
    phi, evidence, _ = drawn()
    other = evidence.copy()
    other[::2] = other[::2, ::-1]
    assert_allclose(calibrated(phi, other)[::2], calibrated(phi, evidence)[::2])
    assert np.abs(calibrated(phi, other) - calibrated(phi, evidence))[1::2].max() > 0.1


def test_the_order_of_classes_does_not_matter():
    phi, evidence, _ = drawn(n_classes=3)
    order = [2, 0, 1]
    new = calibrated(phi[:, order], evidence[:, order])
    assert_allclose(new, calibrated(phi, evidence)[:, order], atol=1e-4)
