"""
A network of your own
=====================

Any ``torch.nn.Module`` learns from noisy answers about pairs of tumours, one in four of which is
wrong: by the paper's T-Loss in a training loop of one's own, by its weights, by the likelihood of
the answers alone, and inside the joint learner. Only the first two are given rates and prior.
"""

import copy

import matplotlib.pyplot as plt
import numpy as np
from torch.utils.data import DataLoader

import torch
from noisypairs import (
    JointPairClassifier,
    PairingNoise,
    WeightedPairClassifier,
    datasets,
    sample_pairs,
)
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.torch import CorrectedLoss, PairDataset, PairLikelihoodLoss, TorchClassifier
from torch import nn

X, y = datasets.load("cancer")
X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
order = np.random.default_rng(0).permutation(len(y))
train, new = order[:426], order[426:]
noise, prior = PairingNoise(0.3, 0.2), y.mean()
pairs = sample_pairs(y[train], 10 * len(train), noise, random_state=0)


def module(n_outputs=1, seed=0):
    """Return a small network."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(30, 50), nn.ReLU(), nn.Linear(50, n_outputs))


# %%
# A training loop: mini-batches of answers, and the weights kept that predict held-out answers best.
held_out = np.arange(pairs.n_pairs) % 10 == 0
rows, rest = (PairDataset(X[train], pairs.select(some)) for some in (~held_out, held_out))
check = next(iter(DataLoader(rest, batch_size=len(rest))))


def trained(net, loss, epochs=10):
    """Return the least loss on held-out answers, and the network that has it."""
    optimizer = torch.optim.Adam([*net.parameters(), *loss.parameters()], lr=2e-3)
    best, weights = np.inf, None
    for _ in range(epochs):
        for left, right, *answers in DataLoader(rows, batch_size=128, shuffle=True):
            optimizer.zero_grad()
            loss(net(left), net(right), *answers).backward()
            optimizer.step()
        with torch.no_grad():
            value = float(loss(net(check[0]), net(check[1]), *check[2:]))
        if value < best:
            best, weights = value, copy.deepcopy(net.state_dict())
    net.load_state_dict(weights)
    return best, net


# %%
# The paper's T-Loss is a loss for this loop; its Weighted is a learner around the network. Without
# rates and prior, the likelihood of the answers learns them; it may merge the classes from a bad
# start, so the best of three is kept. `TorchClassifier` makes the network a classifier.
def logits(net):
    """Return what the network says of the new tumours."""
    with torch.no_grad():
        return net(torch.as_tensor(X[new])).numpy()


inside = TorchClassifier(
    module(), loss="logistic", optimizer="adam", max_epochs=30, weight_decay=0.01, random_state=0
)
starts = [trained(module(2, seed), PairLikelihoodLoss(2)) for seed in range(3)]
predictions = {
    "T-Loss, in a loop": logits(trained(module(), CorrectedLoss(noise, prior))[1])[:, 0] > 0,
    "Weighted": WeightedPairClassifier(inside, noise, prior=prior)
    .fit(X[train], pairs)
    .predict(X[new]),
    "likelihood, in a loop": logits(min(starts, key=lambda one: one[0])[1]).argmax(axis=1),
    "joint learner": JointPairClassifier(inside, 2, class_order="rising", random_state=0)
    .fit(X[train], pairs)
    .predict(X[new]),
    "true classes": inside.fit(X[train], y[train]).predict(X[new]),
}
accuracy = {name: accuracy_up_to_names(y[new], one) for name, one in predictions.items()}
print({name: f"{value:.1%}" for name, value in accuracy.items()})

# %%
figure, panel = plt.subplots(figsize=(6.4, 2.8), layout="constrained")
bars = panel.barh(list(accuracy), [100 * value for value in accuracy.values()], color="#3b6ea5")
panel.bar_label(bars, fmt="%.1f", padding=3)
panel.set(xlim=(80, 101), xlabel="new tumours right, %")
panel.invert_yaxis()
plt.show()
