"""The pooled risk of a network, and what takes steps on it: torch's optimisers, or `Descent`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn, optim

from noisypairs.nn.descent import Descent, logistic_risk, squared_risk


def paper_network(n_features: int, sigmoid: bool = True) -> nn.Sequential:
    """Build the paper's network: n_features → 100 ReLU → 100 ReLU → 1 → sigmoid, or a bare logit.

    >>> [tuple(p.shape) for p in paper_network(8).parameters()]
    [(100, 8), (100,), (100, 100), (100,), (1, 100), (1,)]
    """
    hidden = [nn.Linear(n_features, 100), nn.ReLU(), nn.Linear(100, 100), nn.ReLU()]
    output = [nn.Linear(100, 1), nn.Sigmoid()] if sigmoid else [nn.Linear(100, 1)]
    return nn.Sequential(*hidden, *output)


LOSSES: dict[str, Callable[[Tensor], tuple[Tensor, Tensor]]] = {  # t ↦ l(t, +1), l(t, −1)
    "squared": lambda t: ((1 - t) ** 2, t**2),
    "logistic": lambda t: (nn.functional.softplus(-t), nn.functional.softplus(t)),
}
OPTIMIZERS: dict[str, Callable[..., optim.Optimizer]] = {"sgd": optim.SGD, "adam": optim.Adam}


@dataclass(frozen=True)
class PooledRisk:
    """The mean of u_i l(t_i,+1) + v_i l(t_i,−1) over some rows; u, v scaled to mean |u+v| = 1."""

    features: Tensor  # (n_rows, n_features)
    u: Tensor  # (n_rows,)
    v: Tensor  # (n_rows,)
    loss: str
    non_negative: bool

    def __call__(self, module: nn.Module, rows: Tensor) -> Tensor:
        """Return the risk of some rows, as a tensor that knows its gradient."""
        if_positive, if_negative = LOSSES[self.loss](module(self.features[rows]).reshape(-1))
        parts = (self.u[rows] * if_positive).mean(), (self.v[rows] * if_negative).mean()
        if self.non_negative:  # the clamp also stops the gradient of a part below zero
            return parts[0].clamp(min=0) + parts[1].clamp(min=0)
        return parts[0] + parts[1]

    def epoch(
        self, module: nn.Module, batches: Sequence[Tensor], step: optim.Optimizer | Descent
    ) -> float:
        """Take one step per batch and return the mean of their risks."""
        if isinstance(step, Descent):
            x, u, v = (values.numpy() for values in (self.features, self.u, self.v))
            rows = [batch.numpy() for batch in batches]
            risks = sum(step.step(x[some], u[some], v[some]) for some in rows)
            step.store()
            return risks / len(rows)
        module.train()
        total = torch.zeros((), device=self.features.device)
        for some in batches:
            step.zero_grad()
            value = self(module, some)
            torch.autograd.backward(value)
            step.step()
            total += value.detach()  # one transfer per epoch, not per step
        return total.item() / len(batches)


def stepper(
    module: nn.Module, risk: PooledRisk, optimizer: str, settings: dict[str, Any]
) -> optim.Optimizer | Descent:
    """Return what takes the steps: `Descent` where it can, which is the same and faster."""
    layers = _dense_layers(module, ends_in_sigmoid=risk.loss == "squared")
    if optimizer != "sgd" or layers is None or risk.features.device.type != "cpu":
        return OPTIMIZERS[optimizer](module.parameters(), **settings)
    written_out = {"squared": squared_risk, "logistic": logistic_risk}[risk.loss]
    return Descent(
        [layer.weight.detach().numpy() for layer in layers],  # views of the module
        [layer.bias.detach().numpy() for layer in layers],
        partial(written_out, non_negative=risk.non_negative),
        settings["lr"],
        settings["momentum"],
        settings["weight_decay"],
    )


def _dense_layers(module: nn.Module, ends_in_sigmoid: bool) -> list[nn.Linear] | None:
    """Return the linear layers of Linear, ReLU, …, Linear (and a sigmoid, if so asked), or None."""
    parts = list(module) if isinstance(module, nn.Sequential) else []
    end = [nn.Sigmoid] if ends_in_sigmoid else []
    n_layers = (len(parts) - len(end) + 1) // 2
    wanted = [nn.Linear, *[nn.ReLU, nn.Linear] * (n_layers - 1), *end]
    if n_layers < 1 or [type(part) for part in parts] != wanted:
        return None
    layers = [part for part in parts if isinstance(part, nn.Linear)]
    plain = all(layer.bias is not None and layer.weight.requires_grad for layer in layers)
    return layers if plain else None
