"""Losses of pairs, against sums over all cases; a dataset for any shape of items."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="networks need the torch extra")

from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from noisypairs import (  # noqa: E402
    CleanPairs,
    LabelingNoise,
    MatrixNoise,
    PairingNoise,
    Pairs,
    datasets,
    sample_pairs,
)
from noisypairs.metrics import accuracy_up_to_names, pair_log_likelihood  # noqa: E402
from noisypairs.torch import CorrectedLoss, PairDataset, PairLikelihoodLoss  # noqa: E402
from torch import nn  # noqa: E402


def test_answers_as_rows_of_items_of_any_shape():
    pairs = Pairs([0, 2], [1, 0], [1, 0], weight=[1.0, 2.5])
    images = np.arange(3 * 4.0).reshape(3, 1, 2, 2)
    for X in (images, torch.as_tensor(images), [*images]):
        data = PairDataset(X, pairs)
        assert len(data) == 2
        left, right, same, weight = data[1]
        np.testing.assert_array_equal(np.asarray(left), images[2])
        np.testing.assert_array_equal(np.asarray(right), images[0])
        assert (same, weight) == (0.0, 2.5)
    batch = next(iter(DataLoader(PairDataset(images, pairs), batch_size=2)))
    assert [tuple(one.shape) for one in batch] == [(2, 1, 2, 2), (2, 1, 2, 2), (2,), (2,)]
    mapped = PairDataset(TensorDataset(torch.as_tensor(images)), pairs)
    assert torch.equal(mapped[0][0][0], torch.as_tensor(images[0]))


def test_a_dataset_of_other_items_is_refused():
    with pytest.raises(ValueError, match="X has 2 items, but the pairs are about 3"):
        PairDataset(np.zeros((2, 1)), Pairs([0], [2], [1]))
    with pytest.raises(TypeError, match=r"needs noisypairs\.Pairs, got list"):
        PairDataset(np.zeros((2, 1)), [(0, 1)])


@pytest.mark.parametrize(
    "noise",
    [PairingNoise(0.1, 0.3), MatrixNoise([[0.9, 0.3, 0.1], [0.3, 0.7, 0.2], [0.1, 0.2, 0.8]])],
)
def test_the_likelihood_is_that_of_metrics(noise):
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(20, 3))
    left, right = rng.integers(20, size=50), rng.integers(20, size=50)
    keep = left != right
    pairs = Pairs(left[keep], right[keep], rng.random(keep.sum()) < 0.5, 20)
    weight = rng.random(pairs.n_pairs).astype(np.float32) + 0.1
    pairs = pairs.reweighted(weight)
    loss = PairLikelihoodLoss(3, noise=noise)
    t = torch.tensor(logits, dtype=torch.float32)
    value = loss(
        t[pairs.left.tolist()],
        t[pairs.right.tolist()],
        torch.tensor(np.array(pairs.same)),
        torch.tensor(weight),
    )
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert float(value) == pytest.approx(-pair_log_likelihood(pairs, proba, noise), rel=1e-5)


@pytest.mark.parametrize("noise", [PairingNoise(0.1, 0.3), LabelingNoise(0.1, 0.3)])
@pytest.mark.parametrize("name", ["logistic", "squared"])
def test_the_corrected_loss_is_unbiased(noise, name):
    """Its mean over both classes of the other item, and both answers, is the clean loss."""
    prior, S = 0.3, noise.same_probability()
    loss = CorrectedLoss(noise, prior, loss=name)
    t = torch.tensor([0.4])
    zero = torch.zeros(1)
    for y in (0, 1):
        expected = 0.0
        for other, same in itertools.product((0, 1), (0.0, 1.0)):
            share = prior if other else 1 - prior
            chance = S[y, other] if same else 1 - S[y, other]
            both = float(loss(t, zero, torch.tensor([same])))
            alone = float(loss(zero, zero, torch.tensor([same]))) / 2
            expected += share * chance * 2 * (both - alone)
        clean = {
            "logistic": float(np.log1p(np.exp(-0.4 if y else 0.4))),
            "squared": (1 - 0.4) ** 2 if y else 0.4**2,
        }[name]
        assert expected == pytest.approx(clean, abs=1e-4)


def test_a_loop_of_ones_own_learns_classes_and_noise():
    X, y = datasets.load("gaussians", n_samples=300, prior=0.5, random_state=0)
    pairs = sample_pairs(y, 3000, PairingNoise(0.2, 0.1), random_state=0)
    torch.manual_seed(0)
    net, loss = nn.Linear(2, 2), PairLikelihoodLoss(2)
    optimizer = torch.optim.Adam([*net.parameters(), *loss.parameters()], lr=0.05)
    data = DataLoader(PairDataset(X.astype(np.float32), pairs), batch_size=200, shuffle=True)
    for _ in range(15):
        for left, right, same, weight in data:
            optimizer.zero_grad()
            loss(net(left), net(right), same.float(), weight.float()).backward()
            optimizer.step()
    predicted = net(torch.tensor(X, dtype=torch.float32)).argmax(dim=1).numpy()
    assert accuracy_up_to_names(y, predicted) > 0.97
    S = loss.same_probability().detach().numpy()
    assert 1 - S[0, 0] == pytest.approx(0.2, abs=0.05)
    assert S[0, 1] == pytest.approx(0.1, abs=0.05)


def test_what_the_losses_refuse():
    with pytest.raises(ValueError, match="n_classes=1: expected a whole number of at least 2"):
        PairLikelihoodLoss(1)
    with pytest.raises(ValueError, match="noise='pairing': expected 'learn' or a noise model"):
        PairLikelihoodLoss(2, noise="pairing")
    with pytest.raises(ValueError, match=r"left has shape \(4, 3\), expected \(n, 2\)"):
        PairLikelihoodLoss(2)(torch.zeros(4, 3), torch.zeros(4, 2), torch.ones(4))
    with pytest.raises(ValueError, match="loss='hinge': expected 'logistic' or 'squared'"):
        CorrectedLoss(CleanPairs(), 0.3, loss="hinge")
