"""A small convolutional network on 8×8 digits: ten classes, 20 answers per item, 20 % wrong.

    python benchmarks/digits_network.py            # what is recorded is not run again
    python benchmarks/digits_network.py --print    # the table of docs/choosing.md

Prints the accuracy up to class names on training and on new items over five draws: of the network
inside the joint learner, without and with pictures that are shifted while it learns, and of
`PairLikelihoodLoss` in a loop: from what the joint learner with its own estimators believes of the
items, and from random weights, the start chosen by held-out answers.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

import torch
from noisypairs import JointPairClassifier, PairingNoise, SearchOptions, sample_pairs
from noisypairs.metrics import accuracy_up_to_names
from noisypairs.torch import PairDataset, PairLikelihoodLoss, TorchClassifier
from protocol import mean_error, read, run, select
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


class Shift(nn.Module):
    """Shift every training picture by up to one pixel each way, at random."""

    def forward(self, x):
        """Return the pictures, (n, 1, 8, 8), shifted where the module learns."""
        if not self.training:
            return x
        rows, columns = torch.randint(3, (2, len(x), 1, 1)) + torch.arange(8)
        picture = torch.arange(len(x))[:, None, None]
        padded = nn.functional.pad(x, (1, 1, 1, 1))
        return padded[picture, 0, rows.mT, columns][:, None]


def shifted(n_features: int = 64) -> nn.Module:
    """Return the network behind random shifts."""
    return nn.Sequential(Shift(), network(n_features))


def alone(X, pairs, seed, beliefs=None):
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
    for _ in range(20):
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


def joint(X, pairs, seed, module=network, max_epochs=15):
    """Return the joint learner with a network inside."""
    net = TorchClassifier(
        module,
        loss="logistic",
        optimizer="adam",
        learning_rate=2e-3,
        max_epochs=max_epochs,
        batch_size=64,
    )
    learner = JointPairClassifier(
        net,
        n_classes=10,
        class_order="rising",
        cv=3,
        random_state=seed,
        search=SearchOptions(max_iter=4),
    )
    return learner.fit(X, pairs).predict


def predicting(net):
    """Return a function of items that says their classes."""

    def predict(some):
        with torch.no_grad():
            return net(torch.as_tensor(some)).argmax(dim=1).numpy()

    return predict


def from_pixels(X, pairs, seed):
    """Return the network by the loss, begun from what the default estimators make of the pixels."""
    pixels = JointPairClassifier(n_classes=10, class_order="rising", random_state=seed)
    beliefs = pixels.fit(X.reshape(len(X), -1), pairs).item_proba_
    return predicting(alone(torch.as_tensor(X), pairs, seed, beliefs)[0])


def from_random(X, pairs, seed):
    """Return the best of three networks by the loss, by held-out answers."""
    fits = [alone(torch.as_tensor(X), pairs, 10 * seed + k) for k in range(3)]
    return predicting(min(fits, key=lambda fit: fit[1])[0])


WAYS = {
    "inside the joint learner": joint,
    "inside it, pictures shifted by up to a pixel": partial(joint, module=shifted, max_epochs=30),
    "by the loss, from beliefs about pixels": from_pixels,
    "by the loss, best of three random starts": from_random,
}


def task(way, seed):
    """Return the shares of training and of new items that are right, up to class names."""
    torch.set_num_threads(1)
    images, y = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    order = np.random.default_rng(seed).permutation(len(y))
    train, new = order[:1347], order[1347:]
    pairs = sample_pairs(y[train], 10 * 1347, PairingNoise(0.2, 0.2), random_state=seed)
    predict = WAYS[way](images[train], pairs, seed)
    right = [accuracy_up_to_names(y[some], predict(images[some])) for some in (train, new)]
    return {"right": np.round(right, 3).tolist()}


def table(records):
    lines = ["| | training items | new items |", "|---|---|---|"]
    for way in WAYS:
        right = np.array([record["right"] for record in select(records, way=way)])
        cells = [f"{one:.3f} ± {error:.3f}" for one, error in map(mean_error, right.T)]
        lines.append(f"| {way} | {' | '.join(cells)} |".replace(" 0.", " ."))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--print", action="store_true", dest="only_print", help="run nothing")
    asked = parser.parse_args()
    if not asked.only_print:
        cells = [{"way": way, "seed": seed} for seed in range(5) for way in WAYS]
        run(task, cells, "digits_network")
    print("\n".join(table(read("digits_network"))))


if __name__ == "__main__":
    main()
