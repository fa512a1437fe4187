"""A small convolutional network on 8×8 digits: ten classes, 20 answers per item, 20 % wrong.

    python benchmarks/digits_network.py            # what is recorded is not run again
    python benchmarks/digits_network.py --print    # the table of docs/choosing.md

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
from protocol import mean_error, read, run
from torch import nn

#: Passes over the answers by the loss, and its starts; rounds of the joint learner.
EPOCHS, STARTS, ROUNDS = 20, 3, 4


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
    for _ in range(EPOCHS):
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


def task(seed):
    """Return both accuracies of each way, on one split of the items and one draw of answers."""
    torch.set_num_threads(1)
    images, y = load_digits(return_X_y=True)
    images = (images / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    order = np.random.default_rng(seed).permutation(len(y))
    train, new = order[:1347], order[1347:]
    X, answered = images[train], PairingNoise(0.2, 0.2)
    pairs = sample_pairs(y[train], 10 * len(train), answered, random_state=seed)
    problem = X, y[train], images[new], y[new]
    net = TorchClassifier(
        network, loss="logistic", optimizer="adam", learning_rate=2e-3, max_epochs=15, batch_size=64
    )
    options = SearchOptions(max_iter=ROUNDS)
    joint = JointPairClassifier(
        net, n_classes=10, class_order="rising", cv=3, random_state=seed, search=options
    )
    found = {"inside the joint learner": accuracies(joint.fit(X, pairs).predict, problem)}
    items = torch.as_tensor(X)
    fits = [alone(items, pairs, 10 * seed + k) for k in range(STARTS)]
    pixels = JointPairClassifier(n_classes=10, class_order="rising", random_state=seed)
    beliefs = pixels.fit(X.reshape(len(X), -1), pairs).item_proba_
    fits = {
        f"loss alone, best of {STARTS} starts": min(fits, key=lambda fit: fit[1]),
        "loss, from beliefs about pixels": alone(items, pairs, seed, beliefs),
    }
    for name, (net, _) in fits.items():

        def predict(some, net=net):
            with torch.no_grad():
                return net(torch.as_tensor(some)).argmax(dim=1).numpy()

        found[name] = accuracies(predict, problem)
    return {"right": {name: np.round(both, 3).tolist() for name, both in found.items()}}


def table(records):
    lines = ["| | training items | new items |", "|---|---|---|"]
    for name in records[0]["right"]:
        right = np.array([record["right"][name] for record in records])
        cells = [
            f"{mean:.3f} ± {error:.3f}".replace("0.", ".")
            for mean, error in map(mean_error, right.T)
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--print", action="store_true", dest="only_print", help="run nothing")
    parser.add_argument("--draws", type=int, default=5)
    asked = parser.parse_args()
    if not asked.only_print:
        run(task, [{"seed": seed} for seed in range(asked.draws)], "digits_network")
    print("\n".join(table(read("digits_network"))))


if __name__ == "__main__":
    main()
