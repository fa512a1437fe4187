"""A network that maximises the likelihood of pair answers: the peer of the joint learner.

With η(x) the two class probabilities of an item and S the chances of the answer "same",

    P(same) = η(x)ᵀ S η(x') = d + (1 − s − d) η(x)·η(x'),

where s and d are the two flip rates (of similar and of dissimilar pairs).
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

import torch
from noisypairs import Pairs
from torch import Tensor, nn

#: Where the two rates start when they are learnt.
FIRST_RATES = (0.3, 0.3)
#: The protocol without true labels: starts, share of answers held out, epochs without gain until a
#: start ends, and the most epochs.
N_STARTS, HELD_OUT, PATIENCE, MOST_EPOCHS = 3, 0.1, 10, 500


def class_network(width: int) -> nn.Module:
    """Return the paper's hidden layers with two outputs, η(x)."""
    return nn.Sequential(
        nn.Linear(width, 100),
        nn.ReLU(),
        nn.Linear(100, 100),
        nn.ReLU(),
        nn.Linear(100, 2),
        nn.Softmax(dim=1),
    )


@dataclass(frozen=True, eq=False)
class PairLikelihood:
    """Mean −log P(answer) of some pairs; items (n, d), the other three one entry per pair."""

    features: Tensor
    left: Tensor
    right: Tensor
    same: Tensor

    @classmethod
    def of(cls, X: np.ndarray, pairs: Pairs) -> PairLikelihood:
        """Return the likelihood of all answers about items X (n, d)."""
        ends = (torch.tensor(end, dtype=torch.long) for end in (pairs.left, pairs.right))
        return cls(torch.tensor(X, dtype=torch.float32), *ends, torch.tensor(pairs.same))

    def __call__(self, network: nn.Module, logits: Tensor, rows: Tensor) -> Tensor:
        """Return the loss of some pairs; ``logits`` (2,) are those of the rates."""
        similar, dissimilar = torch.sigmoid(logits)
        eta = network(self.features[torch.cat([self.left[rows], self.right[rows]])])
        one, other = eta.split(len(rows))
        alike = (one * other).sum(dim=1)
        chance = dissimilar + (1 - similar - dissimilar) * alike
        likely = torch.where(self.same[rows], chance, 1 - chance).clamp(min=1e-6)
        return -likely.log().mean()

    def steps(
        self,
        network: nn.Module,
        logits: Tensor,
        batches: Iterable[Tensor],
        optimiser: torch.optim.Optimizer,
    ) -> None:
        """Take one step for each batch of pairs."""
        for rows in batches:
            optimiser.zero_grad()
            self(network, logits, rows).backward()
            optimiser.step()


@dataclass(frozen=True, eq=False)
class Start:
    """A trained network at its best epoch, its rates, and its loss on the answers held out."""

    network: nn.Module
    rates: list[float]
    loss: float
    epochs: int

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the likelier class of each item."""
        with torch.no_grad():
            return self.network(torch.tensor(X, dtype=torch.float32)).argmax(dim=1).numpy()


def fit_pair_network(X: np.ndarray, pairs: Pairs, seed: int) -> Start:
    """Return the best of `N_STARTS` networks by a tenth of the answers; no true label is used.

    Both rates are learnt with the weights. Each start is stopped by the same tenth of the answers,
    and goes back to its best epoch.
    """
    generator = torch.manual_seed(seed)
    order = torch.randperm(pairs.n_pairs, generator=generator)
    n_held = max(1, round(HELD_OUT * pairs.n_pairs))
    loss = PairLikelihood.of(X, pairs)
    starts = [_one_start(loss, order[n_held:], order[:n_held]) for _ in range(N_STARTS)]
    return min(starts, key=lambda start: start.loss)


def _one_start(loss: PairLikelihood, rows: Tensor, held: Tensor) -> Start:
    network = class_network(loss.features.shape[1])
    logits = torch.logit(torch.tensor(FIRST_RATES)).requires_grad_(True)
    # fused is the same up to rounding and faster, and the peer is timed
    optimiser = torch.optim.Adam([*network.parameters(), logits], lr=1e-3, fused=True)
    size = batch_size(len(rows))
    best, epoch = Start(network, list(FIRST_RATES), np.inf, 0), 0
    while epoch < MOST_EPOCHS and epoch - best.epochs < PATIENCE:
        epoch += 1
        batches = rows[torch.randperm(len(rows))].split(size)
        loss.steps(network, logits, batches, optimiser)
        with torch.no_grad():
            value, rates = float(loss(network, logits, held)), torch.sigmoid(logits).tolist()
        if value < best.loss:
            best = Start(deepcopy(network), rates, value, epoch)
    return best


def batch_size(n_pairs: int) -> int:
    """Return a fiftieth of the pairs, from 32 to 256: a patience in epochs needs steps in each.

    >>> batch_size(1000), batch_size(10_000), batch_size(100_000)
    (32, 200, 256)
    """
    return min(256, max(32, n_pairs // 50))
