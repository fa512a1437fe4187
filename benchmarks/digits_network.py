"""A small convolutional network on 8×8 digits: ten classes, 20 answers per item, 20 % wrong.

    python benchmarks/digits_network.py            # both ways, three starts, five draws
    python benchmarks/digits_network.py --draws 1  # a quick look

Prints the accuracy up to class names on training and on new items: of the network inside the joint
learner, and of `PairLikelihoodLoss` in a loop: from random weights, the start chosen by held-out
answers, and from what the joint learner with its own estimators believes of the items.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

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


def alone(X, pairs, seed, epochs, beliefs=None):
    """Return the network trained by the loss alone, and its loss on held-out answers.

    It begins at random, or by three epochs on ``beliefs``, P(class | item) of shape (n_items, 10).
    """
    torch.manual_seed(seed)
    held_out = np.arange(pairs.n_pairs) % 10 == 0
    some, rest = pairs.select(~held_out), pairs.select(held_out)
    batches = DataLoader(PairDataset(X, some), batch_size=128, shuffle=True)
    net = network()
    loss = PairLikelihoodLoss(10)
    optimizer = torch.optim.Adam([*net.parameters(), *loss.parameters()], lr=2e-3)
    if beliefs is not None:
        items = TensorDataset(X, torch.as_tensor(beliefs, dtype=torch.float32))
        for _ in range(3):
            for some, share in DataLoader(items, batch_size=64, shuffle=True):
                optimizer.zero_grad()
                nn.functional.cross_entropy(net(some), share).backward()
                optimizer.step()
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


def accuracies(predict, problem):
    """Return the shares of training and of new items that are right, up to class names."""
    X, y, X_new, y_new = problem
    return [
        accuracy_up_to_names(truth, predict(items)) for items, truth in ((X, y), (X_new, y_new))
    ]


def draw(images, y, seed, asked):
    """Return both accuracies of both ways, on one split of the items and one draw of answers."""
    order = np.random.default_rng(seed).permutation(len(y))
    train, new = order[:1347], order[1347:]
    X, answered = images[train], PairingNoise(0.2, 0.2)
    pairs = sample_pairs(y[train], 10 * len(train), answered, random_state=seed)
    problem = X, y[train], images[new], y[new]
    net = TorchClassifier(
        network, loss="logistic", optimizer="adam", learning_rate=2e-3, max_epochs=15, batch_size=64
    )
    options = SearchOptions(max_iter=asked.rounds)
    joint = JointPairClassifier(
        net, n_classes=10, class_order="rising", cv=3, random_state=seed, search=options
    )
    found = {"inside the joint learner": accuracies(joint.fit(X, pairs).predict, problem)}
    items = torch.as_tensor(X)
    fits = [alone(items, pairs, 10 * seed + k, asked.epochs) for k in range(asked.starts)]
    pixels = JointPairClassifier(n_classes=10, class_order="rising", random_state=seed)
    beliefs = pixels.fit(X.reshape(len(X), -1), pairs).item_proba_
    fits = {
        f"loss alone, best of {asked.starts} starts": min(fits, key=lambda fit: fit[1]),
        "loss, from beliefs about pixels": alone(items, pairs, seed, asked.epochs, beliefs),
    }
    for name, (net, _) in fits.items():

        def predict(some, net=net):
            with torch.no_grad():
                return net(torch.as_tensor(some)).argmax(dim=1).numpy()

        found[name] = accuracies(predict, problem)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--starts", type=int, default=3)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    images, y = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    rows = []
    for seed in range(asked.draws):
        rows.append(draw(images, y, seed, asked))
        print(seed, {name: np.round(one, 3).tolist() for name, one in rows[-1].items()}, flush=True)
    for name in rows[0]:
        shares = np.array([row[name] for row in rows])
        error = shares.std(axis=0, ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else [np.nan] * 2
        (seen, new), (e, f) = shares.mean(axis=0), error
        print(f"{name:34} training items {seen:.3f} ± {e:.3f}  new items {new:.3f} ± {f:.3f}")


if __name__ == "__main__":
    main()
