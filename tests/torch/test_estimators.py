"""The networks: values against hand computations, then manners (seeds, threads, copies)."""

from __future__ import annotations

import importlib
import logging
import pickle
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.base import clone

from noisypairs import JointPairClassifier, PairingNoise, sample_pairs
from noisypairs.errors import MissingExtra
from noisypairs.metrics import accuracy_up_to_names

torch = pytest.importorskip("torch")
from noisypairs.torch import (  # noqa: E402
    TorchClassifier,
    TorchRegressor,
    TrainingDiverged,
    paper_network,
)
from torch import nn  # noqa: E402

Floats = NDArray[np.float64]
Rows = tuple[Floats, Floats, Floats]
Model = TorchClassifier | TorchRegressor


def blank_line(n_features: int = 3) -> nn.Linear:
    line = nn.Linear(n_features, 1)
    nn.init.zeros_(line.weight)
    nn.init.zeros_(line.bias)
    return line


def coefficients(model: Model) -> Floats:
    """Bias first, then the weights, of a fitted line."""
    parts = model.module_.bias, model.module_.weight[0]
    return np.concatenate([part.detach().numpy() for part in parts]).astype(float)


def same_weights(first: nn.Module, second: nn.Module) -> bool:
    pairs = zip(first.parameters(), second.parameters(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def sigmoid(t: Floats) -> Floats:
    return 1 / (1 + np.exp(-t))


def test_paper_network_layer_by_layer() -> None:
    layers = list(paper_network(7))
    kinds = [nn.Linear, nn.ReLU, nn.Linear, nn.ReLU, nn.Linear, nn.Sigmoid]
    assert [type(layer) for layer in layers] == kinds
    widths = [(layer.in_features, layer.out_features) for layer in layers[::2]]
    assert widths == [(7, 100), (100, 100), (100, 1)]
    assert all(layer.bias is not None for layer in layers[::2])
    assert type(list(paper_network(7, sigmoid=False))[-1]) is nn.Linear


@pytest.mark.parametrize("estimator", [TorchClassifier(), TorchRegressor()])
def test_the_defaults_are_the_papers(estimator: Model) -> None:
    chosen = estimator.get_params()
    paper = {"loss": "squared", "optimizer": "sgd", "learning_rate": 0.001, "momentum": 0.9}
    assert {name: chosen[name] for name in paper} == paper
    assert chosen["module"] is None
    assert chosen["weight_decay"] == 0


def backpropagate(
    weights: list[Floats], X: Floats, u: Floats, v: Floats
) -> tuple[float, list[Floats]]:
    """The squared risk of the paper's network and its gradient, written out by hand."""
    W1, b1, W2, b2, W3, b3 = weights
    z1 = X @ W1.T + b1
    z2 = np.maximum(z1, 0) @ W2.T + b2
    p = sigmoid(np.maximum(z2, 0) @ W3.T + b3)[:, 0]
    mass = np.abs(u + v).sum()
    risk = float((u * (1 - p) ** 2 + v * p**2).sum() / mass)
    d3 = ((-2 * u * (1 - p) + 2 * v * p) / mass * p * (1 - p))[:, None]
    d2 = (d3 @ W3) * (z2 > 0)
    d1 = (d2 @ W2) * (z1 > 0)
    gradient = [d1.T @ X, d1.sum(0), d2.T @ np.maximum(z1, 0), d2.sum(0)]
    return risk, [*gradient, d3.T @ np.maximum(z2, 0), d3.sum(0)]


def test_three_steps_of_the_papers_network_by_hand(rows: Rows) -> None:
    X, u, v = rows
    with torch.random.fork_rng():
        torch.manual_seed(3)
        network = paper_network(3)
    weights = [p.detach().numpy().astype(np.float64) for p in network.parameters()]
    velocity = [np.zeros_like(w) for w in weights]
    risks = []
    for _ in range(3):
        risk, gradient = backpropagate(weights, X, u, v)
        risks.append(risk)
        velocity = [0.9 * a + g for a, g in zip(velocity, gradient, strict=True)]
        weights = [w - 0.5 * a for w, a in zip(weights, velocity, strict=True)]

    model = TorchClassifier(network, learning_rate=0.5, max_epochs=3, batch_size=None)
    model.fit_risk(X, u, v)

    np.testing.assert_allclose(model.history_["loss"], risks, rtol=1e-5)
    for fitted, expected in zip(model.module_.parameters(), weights, strict=True):
        np.testing.assert_allclose(fitted.detach().numpy(), expected, atol=1e-5)


def test_signed_squared_risk_reaches_the_closed_form(rows: Rows) -> None:
    """Σ (u+v) t² − 2ut with t = Zβ is least where Zᵀ diag(u+v) Z β = Zᵀ u."""
    X, u, v = rows
    Z = np.column_stack([np.ones(len(X)), X])
    expected = np.linalg.solve(Z.T @ ((u + v)[:, None] * Z), Z.T @ u)
    model = TorchRegressor(nn.Linear(3, 1), learning_rate=0.05, max_epochs=300, batch_size=None)
    np.testing.assert_allclose(coefficients(model.fit_risk(X, u, v)), expected, atol=1e-5)
    targets = model.fit(X, u / (u + v), sample_weight=u + v)
    np.testing.assert_allclose(coefficients(targets), expected, atol=1e-5)


def test_signed_logistic_risk_agrees_with_scipy(rows: Rows) -> None:
    X, u, v = rows
    Z = np.column_stack([np.ones(len(X)), X])

    def risk(beta: Floats) -> float:
        t = Z @ beta
        return float((u * np.logaddexp(0, -t) + v * np.logaddexp(0, t)).sum() / (u + v).sum())

    expected = minimize(risk, np.zeros(4), tol=1e-12)
    model = TorchClassifier(
        blank_line, loss="logistic", learning_rate=0.3, max_epochs=400, batch_size=None
    ).fit_risk(X, u, v)
    np.testing.assert_allclose(coefficients(model), expected.x, atol=1e-3)
    assert model.history_["loss"][-1] == pytest.approx(expected.fun, abs=1e-6)
    np.testing.assert_allclose(model.decision_function(X), Z @ expected.x, atol=5e-3)
    np.testing.assert_allclose(
        model.predict_proba(X)[:, 1], sigmoid(model.decision_function(X)), atol=1e-12
    )


def test_adam_moves_each_weight_by_the_rate_in_its_first_step(rows: Rows) -> None:
    X, u, v = rows
    gradient = np.column_stack([np.ones(len(X)), X]).T @ (-2 * u)  # at t = 0
    model = TorchRegressor(blank_line, optimizer="adam", max_epochs=1, batch_size=None)
    moved = coefficients(model.fit_risk(X, u, v))
    np.testing.assert_allclose(moved, -0.001 * np.sign(gradient), rtol=1e-4)


def test_weight_decay_shrinks_by_rate_times_decay(rows: Rows) -> None:
    X, _, _ = rows
    line = blank_line()
    nn.init.constant_(line.bias, 1.0)  # t = 1 everywhere: with u = 1, v = 0 the risk is flat
    model = TorchRegressor(line, weight_decay=0.5, learning_rate=0.1, max_epochs=1, batch_size=None)
    model.fit_risk(X, np.ones(40), np.zeros(40))
    np.testing.assert_allclose(coefficients(model), [0.95, 0, 0, 0], atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_fit_is_the_special_case(loss: str, rows: Rows) -> None:
    X, u, _ = rows
    y, weight = (X[:, 0] > 0).astype(int), u  # weights of both signs
    settings = {"loss": loss, "max_epochs": 3, "random_state": 0}
    direct = TorchClassifier(**settings).fit(X, np.array(["a", "b"])[y], sample_weight=weight)
    priced = TorchClassifier(**settings).fit_risk(X, weight * y, weight * (1 - y))
    soft = TorchRegressor(**settings).fit(X, y, sample_weight=weight)
    assert same_weights(direct.module_, priced.module_)
    assert same_weights(direct.module_, soft.module_)
    assert direct.classes_.tolist() == ["a", "b"]
    assert priced.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(soft.predict(X), direct.predict_proba(X)[:, 1])


def test_rows_without_a_price_take_no_part_and_scale_does_not_matter(rows: Rows) -> None:
    X, u, v = rows
    model = TorchRegressor(max_epochs=3, random_state=0)
    expected = model.fit_risk(X, u, v).module_
    padded = [np.concatenate([values, np.zeros_like(values)]) for values in (u, v)]
    assert same_weights(expected, clone(model).fit_risk(np.vstack([X, 9 * X]), *padded).module_)
    assert same_weights(expected, clone(model).fit_risk(X, 8 * u, 8 * v).module_)


def test_non_negative_does_not_follow_a_part_below_zero() -> None:
    """At t = 0.5: R₊ = mean(u)/4 < 0 is left alone, R₋ = mean(v)/4 pulls t down by 2·v·t."""
    X, u, v = np.ones((2, 1)), np.array([-1.0, -1.0]), np.array([3.0, 3.0])  # mass 4
    line = blank_line(1)
    nn.init.constant_(line.bias, 0.5)
    model = TorchRegressor(line, learning_rate=0.1, max_epochs=1, batch_size=None)
    clipped = model.fit_risk(X, u, v, non_negative=True)
    assert clipped.history_["loss"] == pytest.approx([6 / 4 * 0.25])
    np.testing.assert_allclose(coefficients(clipped), [0.5 - 0.15, -0.15], atol=1e-6)
    plain = clone(model).fit_risk(X, u, v)
    assert plain.history_["loss"] == pytest.approx([4 / 4 * 0.25])
    np.testing.assert_allclose(coefficients(plain), [0.5 - 0.2, -0.2], atol=1e-6)


def test_an_unbounded_risk_diverges_and_the_non_negative_one_does_not() -> None:
    X, u, v = np.ones((6, 1)), np.full(6, -1.0), np.full(6, 0.5)
    model = TorchRegressor(nn.Linear(1, 1), learning_rate=0.5, max_epochs=150, random_state=0)
    with pytest.raises(TrainingDiverged, match=r"epoch \d+.*learning_rate.*non_negative"):
        model.fit_risk(X, u, v)
    assert np.isfinite(clone(model).fit_risk(X, u, v, non_negative=True).predict(X)).all()


def test_probabilities_of_an_unbounded_line_are_clipped() -> None:
    X = np.array([[-3.0], [-1.0], [1.0], [3.0]])
    model = TorchClassifier(blank_line(1), learning_rate=0.05, batch_size=None)
    model.fit(X, [0, 0, 1, 1])
    bias, slope = coefficients(model)
    margin = 2 * (bias + slope * np.array([-9.0, 0.5, 9.0])) - 1
    np.testing.assert_allclose(model.decision_function([[-9.0], [0.5], [9.0]]), margin, rtol=1e-5)
    assert np.abs(margin[[0, 2]]).min() > 1
    np.testing.assert_array_equal(model.predict([[-9.0], [-0.5], [0.5]]), [0, 0, 1])
    np.testing.assert_array_equal(model.predict_proba([[-9.0], [9.0]]), [[1, 0], [0, 1]])


# --- early stopping, warm start -------------------------------------------------------------------


def test_early_stopping_restores_the_best_weights() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 5)), rng.integers(0, 2, size=60)  # nothing to learn but the noise
    settings = {"early_stopping": True, "learning_rate": 0.3, "random_state": 0}
    model = TorchClassifier(max_epochs=200, patience=4, validation_fraction=0.3, **settings)
    model.fit(X, y)
    held_out = model.history_["validation_loss"]
    assert model.n_iter_ == len(held_out) == len(model.history_["loss"]) < 200
    assert model.best_epoch_ == 1 + int(np.argmin(held_out)) == model.n_iter_ - 4
    until_best = clone(model).set_params(max_epochs=model.best_epoch_).fit(X, y)
    assert same_weights(model.module_, until_best.module_)


def test_held_out_rows_are_not_trained_on() -> None:
    """Rows 0..9 hold a feature of their own; its weight moves only for rows trained on."""
    line = blank_line(10)
    moved = TorchRegressor(
        line, early_stopping=True, validation_fraction=0.4, max_epochs=1, random_state=0
    ).fit(np.eye(10), np.ones(10))
    assert np.count_nonzero(coefficients(moved)[1:]) == 6


def test_warm_start_goes_on(rows: Rows) -> None:
    X, u, v = rows
    settings = {"momentum": 0.0, "batch_size": None, "random_state": 0, "learning_rate": 0.1}
    whole = TorchRegressor(max_epochs=10, **settings).fit_risk(X, u, v)
    halves = TorchRegressor(max_epochs=5, warm_start=True, **settings)
    halves.fit_risk(X, u, v).fit_risk(X, u, v)
    # the rows come in another order, so sums differ in their last digits
    np.testing.assert_allclose(halves.predict(X), whole.predict(X), atol=1e-6)
    with pytest.raises(ValueError, match="2 features"):
        halves.fit_risk(X[:, :2], u, v)
    classes = TorchClassifier(warm_start=True, max_epochs=1).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="warm_start=True"):
        classes.fit(X, np.where(X[:, 0] > 0, "a", "b"))


# --- manners ------------------------------------------------------------------------------------


def dropout_network(n_features: int) -> nn.Module:
    return nn.Sequential(nn.Linear(n_features, 8), nn.Dropout(0.5), nn.Linear(8, 1))


@pytest.mark.parametrize("module", [None, dropout_network])
def test_the_same_seed_gives_the_same_network(module: object, rows: Rows) -> None:
    X, u, v = rows

    def fitted(seed: object) -> nn.Module:
        model = TorchRegressor(module, max_epochs=2, batch_size=8, random_state=seed)
        return model.fit_risk(X, u, v).module_

    assert same_weights(fitted(5), fitted(5))
    assert not same_weights(fitted(5), fitted(6))
    for make in (np.random.default_rng, np.random.RandomState):
        assert same_weights(fitted(make(5)), fitted(make(5)))


def test_torchs_random_state_is_left_alone(rows: Rows) -> None:
    X, u, v = rows
    before = torch.get_rng_state()
    TorchRegressor(dropout_network, max_epochs=2, random_state=0).fit_risk(X, u, v)
    assert torch.equal(before, torch.get_rng_state())


@pytest.fixture
def three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize(("n_threads", "during"), [(1, 1), (None, 3)])
def test_threads_are_limited_and_put_back(n_threads: int | None, during: int, rows: Rows) -> None:
    seen = []

    class Witness(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            seen.append(torch.get_num_threads())
            if len(seen) > 5:
                raise RuntimeError("enough")
            return super().forward(x)

    X, u, v = rows
    model = TorchRegressor(lambda d: Witness(d, 1), max_epochs=2, n_threads=n_threads)
    with pytest.raises(RuntimeError, match="enough"):
        model.set_params(max_epochs=9).fit_risk(X, u, v)
    assert set(seen) == {during}
    assert torch.get_num_threads() == 3


def test_a_given_module_is_copied_and_the_copy_starts_from_its_weights(rows: Rows) -> None:
    X, u, v = rows
    given = nn.Linear(3, 1)
    before = {name: value.clone() for name, value in given.state_dict().items()}
    model = TorchRegressor(given, max_epochs=1, learning_rate=1e-9).fit_risk(X, u, v)
    assert model.module is given
    assert model.module_ is not given
    assert given.training
    assert all(torch.equal(before[name], value) for name, value in given.state_dict().items())
    torch.testing.assert_close(model.module_.weight, given.weight, atol=1e-6, rtol=0)


def test_pickle_clone_and_params(rows: Rows) -> None:
    X, _, _ = rows
    model = TorchClassifier(max_epochs=2, random_state=0).fit(X, X[:, 0] > 0)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert not hasattr(copied, "module_")
    assert repr(model) == "TorchClassifier(max_epochs=2, random_state=0)"


def test_column_names_are_kept(rows: Rows) -> None:
    X, u, v = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = TorchRegressor(max_epochs=1).fit_risk(frame, u, v)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a", "c"]])


def test_scoring_in_pieces_changes_nothing(rows: Rows) -> None:
    model = TorchRegressor(max_epochs=1).fit_risk(*rows)
    many = torch.randn(20_000, 3, generator=torch.Generator().manual_seed(0))
    at_once = model.module_(many)[:, 0].detach().numpy()
    np.testing.assert_allclose(model.predict(many.numpy()), at_once, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("verbose", "level"), [(True, logging.INFO), (False, logging.DEBUG)])
def test_progress_is_logged_ten_times(
    verbose: bool, level: int, caplog: pytest.LogCaptureFixture, rows: Rows
) -> None:
    X, u, v = rows
    with caplog.at_level(logging.DEBUG, logger="noisypairs.torch"):
        TorchRegressor(max_epochs=20, batch_size=None, verbose=verbose).fit_risk(X, u, v)
    assert [record.levelno for record in caplog.records] == [level] * 10
    assert caplog.records[-1].getMessage().startswith("epoch 20 of 20: risk ")


def test_a_missing_torch_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "noisypairs.torch")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"noisypairs\[torch\]"):
        importlib.import_module("noisypairs.torch")


def test_every_row_is_in_a_batch() -> None:
    """Each row holds a feature of its own, whose weight moves only if the row is trained on."""
    for batch_size in (3, 4, 10):
        settings = {"batch_size": batch_size, "max_epochs": 1, "random_state": 0}
        moved = TorchRegressor(blank_line(10), **settings).fit(np.eye(10), np.ones(10))
        assert np.count_nonzero(coefficients(moved)[1:]) == 10


def test_the_seed_decides_the_batches(rows: Rows) -> None:
    X, u, v = rows
    one, again, other = (
        coefficients(
            TorchRegressor(
                blank_line(X.shape[1]), max_epochs=1, batch_size=2, random_state=seed
            ).fit_risk(X, u, v)
        )
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def three_classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    return (4.0 * np.eye(3)[y] + rng.normal(size=(n, 3))).astype(np.float32), y


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_more_than_two_classes(loss):
    X, y = three_classes()
    names = np.array(["ash", "birch", "cedar"])
    model = TorchClassifier(loss=loss, optimizer="adam", max_epochs=30, random_state=0)
    model.fit(X, names[y])
    assert model.score(X, names[y]) > 0.95
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-6)
    np.testing.assert_array_equal(names[proba.argmax(axis=1)], model.predict(X))
    assert model.decision_function(X).shape == (300, 3)


def test_beliefs_are_learnt_as_shares():
    X = np.zeros((200, 2), dtype=np.float32)
    beliefs = np.tile([0.5, 0.3, 0.2], (200, 1))
    model = TorchClassifier(loss="logistic", optimizer="adam", max_epochs=100, random_state=0)
    found = model.fit_beliefs(X, beliefs).predict_proba(X[:1])
    np.testing.assert_allclose(found, beliefs[:1], atol=0.01)


def test_items_of_any_shape_any_optimizer_scheduler_and_callbacks():
    X, y = three_classes()
    images = np.repeat(X[:, None, :, None], 2, axis=3)
    rates, epochs = [], []

    def watch(model, epoch):
        epochs.append(epoch)
        return None if epoch < 4 else False

    def plan(optimizer):
        rates.append(optimizer)
        return torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.1)

    module = nn.Sequential(nn.Flatten(), nn.Linear(6, 3))
    model = TorchClassifier(
        module,
        loss="logistic",
        optimizer=torch.optim.AdamW,
        scheduler=plan,
        callbacks=[watch],
        learning_rate=0.05,
        random_state=0,
    )
    assert model.fit(images, y).score(images, y) > 0.9
    assert epochs == [1, 2, 3, 4] == list(range(1, model.n_iter_ + 1))
    assert rates[0].param_groups[0]["lr"] == pytest.approx(0.05 / 100)
    default = TorchClassifier(loss="logistic", optimizer="adam", random_state=0)
    assert default.fit(images, y).score(images, y) > 0.95


def test_images_inside_the_joint_learner():
    X, y = three_classes(150)
    images = np.repeat(X[:, None, :, None], 2, axis=3)
    pairs = sample_pairs(y, 2000, PairingNoise(0.1, 0.1), random_state=0)
    net = TorchClassifier(
        nn.Sequential(nn.Flatten(), nn.Linear(6, 3)),
        loss="logistic",
        optimizer="adam",
        learning_rate=0.02,
        max_epochs=30,
    )
    joint = JointPairClassifier(net, n_classes=3, class_order="rising", cv=2, random_state=0)
    joint.fit(images, pairs)
    assert accuracy_up_to_names(y, joint.predict(images)) > 0.95
    default = JointPairClassifier(n_classes=3, class_order="rising", random_state=0)
    assert accuracy_up_to_names(y, default.fit(images, pairs).predict(images)) > 0.95


def test_the_former_name_of_the_room():
    with pytest.warns(FutureWarning, match=r"noisypairs\.torch now"):
        from noisypairs import nn as former
    assert former.TorchClassifier is TorchClassifier
