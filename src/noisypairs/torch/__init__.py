"""Networks for noisy pairs (extra ``[torch]``): any ``torch.nn.Module`` minimises the pooled risk.

One risk serves every estimator: with t_i = module(x_i), one number per row, and u, v of any sign,

    R = (1/m) Σ_i [u_i l(t_i, +1) + v_i l(t_i, −1)],    m = Σ_i |u_i + v_i|.

    loss        l(t, +1)        l(t, −1)       P(class 1)
    squared     (1 − t)²        t²             t, clipped to [0, 1]
    logistic    log(1 + e⁻ᵗ)    log(1 + eᵗ)    1 / (1 + e⁻ᵗ)

A target y of weight w is u = wy, v = w(1 − y). In the loss correction u_i + v_i counts how often
item i occurs, so m keeps the scale of training on true labels, whatever the noise.

The defaults are the paper's network: two hidden layers of 100 ReLU units, one sigmoid output,
squared loss, SGD with rate 0.001 and momentum 0.9. It names no epochs and no batch size: 200 and 32
are ours, about where diabetes and cancer, trained on true labels, stop gaining.

Why not skorch: its loss sees (prediction, y), so u and v would travel disguised as y; its seeds are
torch's global ones. The loop it would save is shorter than the code that would teach it the risk.
"""

from __future__ import annotations

from noisypairs.errors import MissingExtra

try:
    import torch  # noqa: F401
except ImportError as error:
    raise MissingExtra("torch", "torch", "noisypairs.torch") from error

from noisypairs.torch.estimators import TorchClassifier, TorchRegressor, TrainingDiverged
from noisypairs.torch.pairs import CorrectedLoss, PairDataset, PairLikelihoodLoss
from noisypairs.torch.risk import paper_network

__all__ = [
    "CorrectedLoss",
    "PairDataset",
    "PairLikelihoodLoss",
    "TorchClassifier",
    "TorchRegressor",
    "TrainingDiverged",
    "paper_network",
]
