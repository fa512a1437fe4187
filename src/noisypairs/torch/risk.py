"""The pooled risk of a network, and what takes steps on it: torch's optimisers, or `Descent`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import torch
from noisypairs.torch.descent import Descent, logistic_risk, squared_risk
from torch import Tensor, nn, optim


def paper_network(n_features: int, sigmoid: bool = True, n_classes: int = 2) -> nn.Sequential:
    """Build the paper's network: n_features → 100 ReLU → 100 ReLU → 1 → sigmoid, or a bare logit.

    For more than two classes it ends in one number for each, through softmax or bare.

    >>> [tuple(p.shape) for p in paper_network(8).parameters()]
    [(100, 8), (100,), (100, 100), (100,), (1, 100), (1,)]
    """
    hidden = [nn.Linear(n_features, 100), nn.ReLU(), nn.Linear(100, 100), nn.ReLU()]
    if n_classes > 2:
        last = [nn.Softmax(dim=1)] if sigmoid else []
        return nn.Sequential(*hidden, nn.Linear(100, n_classes), *last)
    output = [nn.Linear(100, 1), nn.Sigmoid()] if sigmoid else [nn.Linear(100, 1)]
    return nn.Sequential(*hidden, *output)


LossName = Literal["squared", "logistic"]
LOSSES: dict[str, Callable[[Tensor], Tensor]] = {  # t (n,) ↦ l(t, −1), l(t, +1), (n, 2)
    "squared": lambda t: torch.stack([t**2, (1 - t) ** 2], dim=1),
    "logistic": lambda t: nn.functional.softplus(torch.stack([t, -t], dim=1)),
}
#: The same of a module with K numbers per row, (n, K): shares of the classes, or their logits.
CLASS_LOSSES: dict[str, Callable[[Tensor], Tensor]] = {
    "squared": lambda t: (t**2).sum(dim=1, keepdim=True) - 2 * t + 1,
    "logistic": lambda t: -nn.functional.log_softmax(t, dim=1),
}


def losses(numbers: Tensor, loss: str) -> Tensor:
    """Return the loss of each row under each class, (n, K), of a module's numbers, (n,) or (n, K).

    >>> losses(torch.tensor([[0.25, 0.75]]), "squared")
    tensor([[1.1250, 0.1250]])
    """
    if numbers.ndim == 2 and numbers.shape[1] > 1:
        return CLASS_LOSSES[loss](numbers)
    return LOSSES[loss](numbers.reshape(-1))


OPTIMIZERS: dict[str, Callable[..., optim.Optimizer]] = {"sgd": optim.SGD, "adam": optim.Adam}


@dataclass(frozen=True)
class PooledRisk:
    """The mean of Σ_k w_ik l(t_i, k) over some rows; w scaled to mean |Σ_k w_ik| = 1.

    For two classes w_i is (v_i, u_i): the prices of class 0 and of class 1.
    """

    features: Tensor  # (n_rows, …)
    prices: Tensor  # (n_rows, K)
    loss: str
    non_negative: bool

    def __call__(self, module: nn.Module, rows: Tensor) -> Tensor:
        """Return the risk of some rows, as a tensor that knows its gradient."""
        parts = (self.prices[rows] * losses(module(self.features[rows]), self.loss)).mean(dim=0)
        if self.non_negative:  # the clamp also stops the gradient of a part below zero
            parts = parts.clamp(min=0)
        return parts.sum()

    def epoch(
        self, module: nn.Module, batches: Sequence[Tensor], step: optim.Optimizer | Descent
    ) -> float:
        """Take one step per batch and return the mean of their risks."""
        if isinstance(step, Descent):
            x, (v, u) = self.features.numpy(), self.prices.numpy().T.copy()
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
    module: nn.Module, risk: PooledRisk, optimizer: Any, settings: dict[str, Any]
) -> optim.Optimizer | Descent:
    """Return what takes the steps: `Descent` where it can, which is the same and faster."""
    layers = _dense_layers(module, ends_in_sigmoid=risk.loss == "squared")
    written = layers is not None and layers[-1].out_features == 1 and risk.features.ndim == 2
    if optimizer != "sgd" or not written or risk.features.device.type != "cpu":
        make = OPTIMIZERS[optimizer] if isinstance(optimizer, str) else optimizer
        return make(module.parameters(), **settings)
    assert layers is not None
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
