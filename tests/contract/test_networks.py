"""Networks end to end: images inside the joint learner, and losses of pairs in a loop."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

torch = pytest.importorskip("torch", reason="networks need the torch extra")

from torch.utils.data import DataLoader  # noqa: E402

from noisypairs import (  # noqa: E402
    JointPairClassifier,
    PairingNoise,
    SearchOptions,
    WeightedPairClassifier,
    sample_pairs,
)
from noisypairs.metrics import accuracy_up_to_names  # noqa: E402
from noisypairs.torch import (  # noqa: E402
    CorrectedLoss,
    PairDataset,
    PairLikelihoodLoss,
    TorchClassifier,
)
from torch import nn  # noqa: E402

NOISE = PairingNoise(0.2, 0.2)


@pytest.fixture(scope="module")
def digits():
    """Return pictures of shape (1, 8, 8) of 0, 1, 2 and noisy answers about them."""
    pictures, y = load_digits(n_class=3, return_X_y=True)
    X = (pictures / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    return X, y, sample_pairs(y, 10 * len(y), NOISE, random_state=0)


def network(n_outputs):
    """Return a small network of one convolution."""
    torch.manual_seed(0)
    front = [nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
    return nn.Sequential(*front, nn.Linear(72, n_outputs))


def test_images_inside_the_joint_learner(digits):
    X, y, pairs = digits
    net = TorchClassifier(
        network(3), loss="logistic", optimizer=torch.optim.AdamW, max_epochs=8, random_state=0
    )
    net.set_params(learning_rate=5e-3)
    options = SearchOptions(max_iter=2)
    clf = JointPairClassifier(net, 3, class_order="rising", cv=2, random_state=0, search=options)
    assert accuracy_up_to_names(y, clf.fit(X, pairs).predict(X)) > 0.97


def trained(net, loss, X, pairs, epochs):
    """Return a network trained by a loss of pairs."""
    optimizer = torch.optim.Adam([*net.parameters(), *loss.parameters()], lr=5e-3)
    for _ in range(epochs):
        batches = DataLoader(PairDataset(X, pairs), batch_size=128, shuffle=True)
        for left, right, same, weight in batches:
            optimizer.zero_grad()
            loss(net(left), net(right), same, weight).backward()
            optimizer.step()
    with torch.no_grad():
        return net(torch.as_tensor(X)).numpy()


def test_the_likelihood_in_a_loop_learns_noise_and_classes(digits):
    X, y, pairs = digits
    loss = PairLikelihoodLoss(3, noise="learn")
    logits = trained(network(3), loss, X, pairs, epochs=8)
    assert accuracy_up_to_names(y, logits.argmax(axis=1)) > 0.95
    S = loss.same_probability().detach().numpy()
    assert (abs(S[0, 0] - 0.8), abs(S[0, 1] - 0.2)) < (0.1, 0.1)


def test_the_papers_methods_with_a_network_of_ones_own(digits):
    X, y, _ = digits
    zero = (y == 0).astype(int)
    pairs = sample_pairs(zero, 20 * len(y), NOISE, random_state=0)
    prior = float(zero.mean())
    score = trained(network(1), CorrectedLoss(NOISE, prior), X, pairs, epochs=4)
    assert np.mean((score[:, 0] > 0) == zero) > 0.95
    net = TorchClassifier(network(1), loss="logistic", optimizer="adam", random_state=0)
    net.set_params(learning_rate=5e-3, max_epochs=8)
    weighted = WeightedPairClassifier(net, NOISE, prior=prior).fit(X, pairs)
    assert weighted.score(X, zero) > 0.95
