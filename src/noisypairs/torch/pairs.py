"""Pairs for training loops of your own: a dataset of answers, and losses of them.

    likelihood   −log P(answer),   P(same | x, x') = η(x)ᵀ S η(x'),   η = softmax(logits)
    correction   ½ Σ over both ends of C[Q, +] l(t, +1) + C[Q, −] l(t, −1),   C = T⁻ᵀ

From random weights the likelihood may merge classes and never part them again: take the best of
several starts by held-out answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from torch.utils.data import Dataset

import torch
from noisypairs.noise import NoiseModel
from noisypairs.pairs import Pairs
from noisypairs.pairs.counts import weights_of
from noisypairs.torch.risk import LossName, losses
from torch import Tensor, nn

#: No answer is less probable than this.
TINY = 1e-6


class PairDataset(Dataset[Any]):
    """Answers as rows: (left item, right item, same, weight), for any ``DataLoader``.

    ``X`` holds the items, of any shape: a tensor, an array, or a map-style dataset of one part per
    item. ``same`` and ``weight`` are floats.

    >>> left, right, same, weight = PairDataset(torch.eye(3), Pairs([0, 2], [1, 0], [1, 0]))[1]
    >>> left, right, same
    (tensor([0., 0., 1.]), tensor([1., 0., 0.]), 0.0)
    """

    def __init__(self, X: Any, pairs: Pairs) -> None:
        if not isinstance(pairs, Pairs):
            raise TypeError(f"PairDataset needs noisypairs.Pairs, got {type(pairs).__name__}")
        if len(X) != pairs.n_items:
            raise ValueError(
                f"X has {len(X)} items, but the pairs are about {pairs.n_items} of them: X[i] must "
                "be item i"
            )
        self.X = torch.tensor(X) if isinstance(X, np.ndarray) else X
        self.pairs = pairs
        self.same = pairs.same.astype(np.float32)
        self.weight = weights_of(pairs).astype(np.float32)

    def __len__(self) -> int:
        return self.pairs.n_pairs

    def __getitem__(self, k: int) -> tuple[Any, Any, float, float]:
        left, right = int(self.pairs.left[k]), int(self.pairs.right[k])
        return self.X[left], self.X[right], float(self.same[k]), float(self.weight[k])


class PairLikelihoodLoss(nn.Module):
    """−log P(answer) of pairs, from the logits of both items; noise given or learnt with them.

    Parameters
    ----------
    n_classes : K; a module gives K logits per item.
    noise : a noise model, or ``"learn"``: P("same") within and across classes become parameters of
        this loss. Hand them to the optimizer too: ``[*net.parameters(), *loss.parameters()]``.

    >>> from noisypairs import PairingNoise
    >>> loss = PairLikelihoodLoss(2, noise=PairingNoise(0.1, 0.2))
    >>> sure = torch.tensor([[9.0, -9.0]])
    >>> round(float(loss(sure, sure, torch.tensor([1.0]))), 3)  # −log 0.9
    0.105
    """

    S: Tensor

    def __init__(self, n_classes: int, noise: NoiseModel | str = "learn") -> None:
        super().__init__()
        if n_classes < 2:
            raise ValueError(f"n_classes={n_classes!r}: expected a whole number of at least 2")
        if not (isinstance(noise, NoiseModel) or noise == "learn"):
            raise ValueError(
                f"noise={noise!r}: expected 'learn' or a noise model such as PairingNoise(0.1, 0.2)"
            )
        self.n_classes = n_classes
        self.rates: nn.Parameter | None = None
        if isinstance(noise, NoiseModel):
            S = torch.as_tensor(noise.same_probability(n_classes), dtype=torch.float32)
            self.register_buffer("S", S)
        else:
            self.rates = nn.Parameter(torch.tensor([1.0, -1.0]))

    def same_probability(self) -> Tensor:
        """Return S, (K, K), as given or as learnt."""
        if self.rates is None:
            return self.S
        within, across = torch.sigmoid(self.rates)
        same = torch.eye(self.n_classes, device=self.rates.device)
        S: Tensor = across + (within - across) * same
        return S

    def forward(
        self, left: Tensor, right: Tensor, same: Tensor, weight: Tensor | None = None
    ) -> Tensor:
        """Return the mean over pairs, of logits (n, K) each, answers (n,) and weights (n,)."""
        for name, logits in (("left", left), ("right", right)):
            if logits.ndim != 2 or logits.shape[1] != self.n_classes:
                raise ValueError(
                    f"{name} has shape {tuple(logits.shape)}, expected (n, {self.n_classes}): a "
                    "logit per class"
                )
        one, other = left.softmax(dim=1), right.softmax(dim=1)
        chance = ((one @ self.same_probability()) * other).sum(dim=1).clamp(TINY, 1 - TINY)
        same = same.to(chance.dtype)
        each = -(same * chance.log() + (1 - same) * (1 - chance).log())
        if weight is None:
            return each.mean()
        return torch.as_tensor((weight * each).sum() / weight.sum())


class CorrectedLoss(nn.Module):
    """The paper's T-Loss of pairs: its mean over noisy pairs is that of the true labels.

    ``noise`` and ``prior``, P(class 1), give C = T⁻ᵀ; ``loss`` is "logistic" (a module gives
    logits) or "squared" (it gives P(class 1)).

    >>> from noisypairs import CleanPairs
    >>> loss = CorrectedLoss(CleanPairs(), prior=0.8)
    >>> bool(loss(torch.zeros(1), torch.zeros(1), torch.ones(1)) > 0)
    True
    """

    C: Tensor

    def __init__(self, noise: NoiseModel, prior: float, loss: LossName = "logistic") -> None:
        super().__init__()
        if loss not in ("logistic", "squared"):
            raise ValueError(f"loss={loss!r}: expected 'logistic' or 'squared'")
        self.loss = loss
        C = np.asarray(noise.corrected_coefficients(prior), dtype=np.float32)
        self.register_buffer("C", torch.as_tensor(C))

    def forward(
        self, left: Tensor, right: Tensor, same: Tensor, weight: Tensor | None = None
    ) -> Tensor:
        """Return the mean over pairs, of one number per item (n,), answers and weights (n,)."""
        ends = losses(left.reshape(-1), self.loss) + losses(right.reshape(-1), self.loss)
        coefficients = self.C[(same < 0.5).long()]  # rows "same", "different"; columns +, −
        each = (coefficients.flip(1) * ends).sum(dim=1) / 2
        return each.mean() if weight is None else (weight * each).sum() / weight.sum()
