"""Gradients written out, against finite differences and against automatic ones."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("torch", reason="needs the extra [torch]")

import torch
from noisypairs.torch import TorchClassifier, paper_network
from noisypairs.torch import risk as risks
from noisypairs.torch.descent import Descent, logistic_risk, squared_risk
from torch import nn

RISKS = {"squared": squared_risk, "logistic": logistic_risk}


def stepper(module, loss):
    """What takes the steps for this module, as a fit would choose it."""
    x, prices = torch.ones(2, 3), torch.ones(2, 2)
    risk = risks.PooledRisk(x, prices, loss, non_negative=False)
    return risks.stepper(module, risk, "sgd", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.0})


def signed(n=200, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    u = (X[:, 0] > 0) + rng.normal(size=n)
    return X, u, 1.3 - u


@pytest.mark.parametrize("loss", RISKS)
@pytest.mark.parametrize("non_negative", [False, True])
def test_slopes_are_finite_differences(loss, non_negative):
    rng = np.random.default_rng(1)
    z, u, v = rng.normal(size=(3, 40))
    risk = partial(RISKS[loss], non_negative=non_negative)
    _, slope = risk(z, u, v)
    for i in range(5):
        up, down = z.copy(), z.copy()
        up[i] += 1e-5
        down[i] -= 1e-5
        by_difference = (risk(up, u, v)[0] - risk(down, u, v)[0]) / 2e-5
        assert slope[i] == pytest.approx(by_difference, abs=1e-8)


def test_a_part_below_zero_is_not_followed():
    z, u, v = np.zeros(4), np.full(4, -1.0), np.ones(4)
    assert squared_risk(z, u, v, non_negative=False) == (0.0, pytest.approx(np.full(4, 0.125)))
    risk, slope = squared_risk(z, u, v, non_negative=True)
    assert risk == 0.25
    assert_allclose(slope, np.full(4, 0.0625))


@pytest.mark.parametrize("loss", RISKS)
@pytest.mark.parametrize("non_negative", [False, True])
@pytest.mark.parametrize("weight_decay", [0.0, 0.01])
def test_a_fit_is_that_of_automatic_gradients(loss, non_negative, weight_decay):
    X, u, v = signed()
    settings = {"loss": loss, "max_epochs": 5, "learning_rate": 0.02, "random_state": 0}
    settings["weight_decay"] = weight_decay
    network = partial(paper_network, sigmoid=loss == "squared")
    written_out = TorchClassifier(network, **settings)
    # The same network inside another Sequential is left to torch.
    automatic = TorchClassifier(lambda d: nn.Sequential(network(d)), **settings)
    for model in (written_out, automatic):
        model.fit_risk(X, u, v, non_negative=non_negative)
    losses = written_out.history_["loss"]
    both = written_out.module_.parameters(), automatic.module_.parameters()
    for ours, theirs in zip(*both, strict=True):
        assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=0, atol=2e-5)
    assert_allclose(losses, automatic.history_["loss"], rtol=0, atol=2e-5)
    assert abs(losses[0] - losses[-1]) > 1e-3  # something was learnt


@pytest.mark.parametrize(
    ("module", "loss", "expected"),
    [
        (paper_network(3), "squared", 3),
        (paper_network(3, sigmoid=False), "logistic", 3),
        (paper_network(3), "logistic", None),  # a sigmoid inside the logistic loss is not ours
        (paper_network(3, sigmoid=False), "squared", None),
        (nn.Sequential(nn.Linear(3, 1)), "logistic", 1),
        (nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), "logistic", None),
        (nn.Sequential(nn.Linear(3, 1, bias=False)), "logistic", None),
        (nn.Linear(3, 1), "logistic", None),
    ],
)
def test_other_modules_are_left_to_torch(module, loss, expected):
    step = stepper(module, loss)
    assert (len(step.weights) if isinstance(step, Descent) else None) == expected


def test_a_module_without_weights_is_left_to_torch_too():
    with pytest.raises(ValueError, match="empty parameter list"):
        stepper(nn.Sequential(), "logistic")


def test_steps_reach_the_arrays_when_stored():
    W, b = np.ones((1, 2), np.float32), np.zeros(1, np.float32)
    descent = Descent([W], [b], partial(squared_risk, non_negative=False), 0.1, 0.9)
    rows = np.ones((4, 2), np.float32)
    before = descent.step(rows, np.zeros(4, np.float32), np.ones(4, np.float32))
    after = descent.step(rows, np.zeros(4, np.float32), np.ones(4, np.float32))
    assert after < before
    assert W[0, 0] == 1  # not yet
    descent.store()
    assert W[0, 0] < 1
