"""A small convolutional network on 8×8 digits: ten classes, 20 answers per item, 20 % wrong.

    python benchmarks/digits_network.py            # both ways, three starts
    python benchmarks/digits_network.py --rounds 3 # a quick look

Prints the accuracy up to class names on training and on new items: of the network inside the joint
learner, and of `PairLikelihoodLoss` alone in a loop, whose start is chosen by held-out answers.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader

import torch
from noisypairs import JointPairClassifier, PairingNoise, SearchOptions, sample_pairs
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.torch import PairDataset, PairLikelihoodLoss, TorchClassifier
from torch import nn


def network(n_features: int = 64) -> nn.Module:
    """Return the network: two convolutions and one hidden layer."""
    del n_features
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(512, 64),
        nn.ReLU(),
        nn.Linear(64, 10),
    )


def alone(X, pairs, seed, epochs):
    """Return the network trained by the loss alone, and its loss on held-out answers."""
    torch.manual_seed(seed)
    held_out = np.arange(pairs.n_pairs) % 10 == 0
    some, rest = pairs.select(~held_out), pairs.select(held_out)
    batches = DataLoader(PairDataset(X, some), batch_size=128, shuffle=True)
    net = network()
    loss = PairLikelihoodLoss(10)
    optimizer = torch.optim.Adam([*net.parameters(), *loss.parameters()], lr=2e-3)
    for _ in range(epochs):
        for left, right, same, weight in batches:
            optimizer.zero_grad()
            loss(net(left), net(right), same, weight).backward()
            optimizer.step()
    net.eval(), loss.eval()
    with torch.no_grad():
        logits = net(X)
        left, right = (torch.as_tensor(np.array(one)).long() for one in (rest.left, rest.right))
        same = torch.as_tensor(np.array(rest.same)).float()
        return net, float(loss(logits[left], logits[right], same))


def report(name, predict, problem, started):
    X, y, X_new, y_new = problem
    seen, new = (
        accuracy_up_to_names(truth, predict(items)) for items, truth in ((X, y), (X_new, y_new))
    )
    seconds = time.monotonic() - started
    print(f"{name:42} training items {seen:.3f}  new items {new:.3f}  {seconds:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--starts", type=int, default=3)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    images, y = load_digits(return_X_y=True)
    X = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    order = np.random.default_rng(0).permutation(len(y))
    train, new = order[:1347], order[1347:]
    pairs = sample_pairs(y[train], 10 * len(train), PairingNoise(0.2, 0.2), random_state=0)
    problem = X[train], y[train], X[new], y[new]

    started = time.monotonic()
    net = TorchClassifier(
        network, loss="logistic", optimizer="adam", learning_rate=2e-3, max_epochs=15, batch_size=64
    )
    options = SearchOptions(max_iter=asked.rounds)
    joint = JointPairClassifier(
        net, n_classes=10, class_order="rising", cv=3, random_state=0, search=options
    )
    joint.fit(X[train], pairs)
    report("inside the joint learner", joint.predict, problem, started)

    started, items = time.monotonic(), torch.as_tensor(X[train])
    fits = [alone(items, pairs, seed, asked.epochs) for seed in range(asked.starts)]
    best = min(fits, key=lambda fit: fit[1])[0]

    def predict(items):
        with torch.no_grad():
            return best(torch.as_tensor(items)).argmax(dim=1).numpy()

    report(f"loss alone, best of {asked.starts} starts", predict, problem, started)


if __name__ == "__main__":
    main()
