"""Any torch module as a scikit-learn estimator that minimises the pooled risk."""

from __future__ import annotations

import copy
import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

import torch
from noisypairs.errors import did_you_mean
from noisypairs.torch.risk import LOSSES, OPTIMIZERS, LossName, PooledRisk, paper_network, stepper
from torch import Tensor, nn, optim

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
logger = logging.getLogger(__name__)


class TrainingDiverged(ValueError):
    """The risk or a weight became infinite or NaN; the message says what to do."""


@dataclass(eq=False, repr=False)  # a constructor that only stores, as scikit-learn wants it
class _TorchEstimator(BaseEstimator):  # type: ignore[misc]
    """What both estimators share: parameters, the risk, the training loop, the scores."""

    module: nn.Module | Callable[[int], nn.Module] | None = None
    _: KW_ONLY
    loss: LossName = "squared"
    optimizer: Literal["sgd", "adam"] | Callable[..., optim.Optimizer] = "sgd"
    scheduler: Callable[[optim.Optimizer], Any] | None = None
    callbacks: Sequence[Callable[[Self, int], Any]] = ()
    learning_rate: float = 1e-3
    momentum: float = 0.9
    weight_decay: float = 0.0
    max_epochs: int = 200
    batch_size: int | None = 32
    early_stopping: bool = False
    validation_fraction: float = 0.1
    patience: int = 10
    warm_start: bool = False
    device: str = "cpu"
    n_threads: int | None = 1
    random_state: int | np.random.Generator | np.random.RandomState | None = None
    verbose: bool = False

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit targets y (a classifier: two class names) of weights w: u = wy, v = w(1 − y)."""
        features, y = self._validate(X, y)
        target = self._target(np.asarray(y))
        given = np.ones(len(target)) if sample_weight is None else sample_weight
        weight = _vector(given, "sample_weight", len(target))
        return self._minimise(features, weight[:, None] * target, False)

    def _target(self, y: NDArray[Any]) -> Matrix:
        """Return the share of each class, (n_rows, K): here 1 − y and y."""
        real = y.astype(np.float64)
        return np.column_stack([1.0 - real, real])

    def fit_risk(
        self, X: ArrayLike, u: ArrayLike, v: ArrayLike, *, non_negative: bool = False
    ) -> Self:
        """Minimise R = (1/m) Σ_i [u_i l(t_i,+1) + v_i l(t_i,−1)] for u, v of any sign.

        ``u`` and ``v``, shape (n_items,), price classes 1 and 0 (a classifier's names then) of each
        row; m = Σ|u_i + v_i|. A soft target p is u = p, v = 1−p. Rows with u = v = 0 take no part.

        With ``non_negative=True`` each batch follows max(0, R₊) + max(0, R₋), where
        R₊ = (1/m) Σ u_i l(t_i,+1) and R₋ = (1/m) Σ v_i l(t_i,−1) estimate losses and so cannot
        truly be negative: a part below zero has been over-fitted, and its gradient is not followed.
        """
        features = self._validate(X)
        positive, negative = (_vector(a, n, len(features)) for a, n in ((u, "u"), (v, "v")))
        self._target(np.array([0, 1]))  # names the classes, where there are any
        return self._minimise(features, np.column_stack([negative, positive]), non_negative)

    def _validate(self, X: ArrayLike, *y: ArrayLike) -> Any:
        """Check the parameters, then the data: float32 rows, and y where one is given."""
        self._check_parameters()
        return validate_data(
            self, X, *y, dtype=np.float32, allow_nd=True, reset=not self._goes_on()
        )

    def _goes_on(self) -> bool:
        return self.warm_start and hasattr(self, "module_")

    def _check_parameters(self) -> None:
        for name, known in (("loss", list(LOSSES)), ("optimizer", list(OPTIMIZERS))):
            if name == "optimizer" and callable(self.optimizer):
                continue
            if (given := getattr(self, name)) not in known:
                raise ValueError(f"{name}={given!r} is not known; {did_you_mean(given, known)}")
        for name, right, expected in (
            ("learning_rate", self.learning_rate > 0, "a number above 0"),
            ("momentum", 0 <= self.momentum < 1, "a number in [0, 1)"),
            ("weight_decay", self.weight_decay >= 0, "a number from 0 up"),
            ("max_epochs", self.max_epochs >= 1, "an integer from 1 up"),
            ("batch_size", self.batch_size is None or self.batch_size >= 1, "None or 1 and up"),
            ("validation_fraction", 0 < self.validation_fraction < 1, "a number in (0, 1)"),
            ("patience", self.patience >= 1, "an integer from 1 up"),
            ("n_threads", self.n_threads is None or self.n_threads >= 1, "None or 1 and up"),
        ):
            if not right:
                raise ValueError(f"{name}={getattr(self, name)!r} was given; pass {expected}")
        try:
            torch.empty(0, device=self.device)
        except (RuntimeError, AssertionError) as error:
            raise ValueError(f"device={self.device!r} cannot be used here; try 'cpu'") from error

    def _minimise(self, X: NDArray[np.float32], prices: Matrix, non_negative: bool) -> Self:
        """Minimise Σ_k prices_ik l(t_i, k), prices (n_rows, K) of any sign."""
        mass = np.abs(prices.sum(axis=1)).sum()
        if mass <= np.finfo(np.float64).eps * np.abs(prices).sum():
            # the risk would be linear in the score, without a minimum
            raise ValueError("u + v is 0 in every row (zero weights?); give rows where it is not")
        active = (prices != 0).any(axis=1)
        scale = np.count_nonzero(active) / mass  # to mean |u + v| = 1, whatever the batch
        features, priced = (
            torch.as_tensor(values[active], dtype=torch.float32, device=self.device)
            for values in (X, prices * scale)
        )
        self.n_outputs_ = prices.shape[1]
        risk = PooledRisk(features, priced, self.loss, non_negative)
        seed = _draw_seed(self.random_state)
        # modules draw initial weights and dropout from torch's global state: it is put back after
        with _threads(self.n_threads), torch.random.fork_rng(range(torch.cuda.device_count())):
            torch.manual_seed(seed)
            module = self._start_module(features[:2])
            self._train(module, risk, torch.Generator().manual_seed(seed))
        self.module_ = module.eval()
        return self

    def _start_module(self, rows: Tensor) -> nn.Module:
        """Return the module to train, a copy of the one given or fitted or a new one; try it."""
        n_features = math.prod(rows.shape[1:])
        source: Any = self.module_ if self._goes_on() else self.module
        if source is None:
            sigmoid = self.loss == "squared"
            source = paper_network(n_features, sigmoid, self.n_outputs_)
            source = source if rows.ndim == 2 else nn.Sequential(nn.Flatten(), source)
        elif not isinstance(source, nn.Module) and callable(source):
            source = source(n_features)
        if not isinstance(source, nn.Module):
            expected = "a torch.nn.Module, a callable n_features -> torch.nn.Module, or None"
            raise TypeError(f"module is, or returned, {source!r}; expected {expected}")
        module = copy.deepcopy(source).to(self.device, torch.float32).eval()
        try:
            found = tuple(_scores(module, rows).shape)
        except RuntimeError as error:
            shape = f"shape {tuple(rows.shape[1:])}" if rows.ndim > 2 else f"{n_features} features"
            raise ValueError(f"module fails on rows of {shape}: {error}") from error
        K, one = self.n_outputs_, "one number per row, shape (n, 1) or (n,)"
        fits = found in {(len(rows),), (len(rows), 1)} and K == 2
        if not fits and not (self._gives_classes and found == (len(rows), K)):
            each = f"one number per row and class, shape (n, {K})"
            wanted = one if not self._gives_classes else each if K > 2 else f"{one}, or {each}"
            raise ValueError(f"module must return {wanted}; it returned shape {found}")
        return module

    _gives_classes = False  # whether a module may return a number for each class

    def _train(self, module: nn.Module, risk: PooledRisk, generator: torch.Generator) -> None:
        """Run the epochs, keep their history, and end on the best weights."""
        held_out, rows = self._split(len(risk.features), generator)
        n_batches = math.ceil(len(rows) / (self.batch_size or len(rows)))
        settings = {"lr": self.learning_rate, "weight_decay": self.weight_decay}
        if self.optimizer == "sgd":
            settings["momentum"] = self.momentum
        step = stepper(module, risk, self.optimizer, settings)
        plan = None
        if self.scheduler is not None:
            if not isinstance(step, optim.Optimizer):
                raise ValueError(
                    "a scheduler needs an optimizer of torch: give optimizer=torch.optim.SGD"
                )
            plan = self.scheduler(step)
        losses, held_out_losses = list[float](), list[float]()
        self.history_ = {"loss": losses, "validation_loss": held_out_losses}
        best_state, started = module.state_dict(), time.monotonic()
        for epoch in range(1, self.max_epochs + 1):
            order = rows[torch.randperm(len(rows), generator=generator)].to(self.device)
            # near-equal batches: no last batch of one row, and every row counts the same
            losses.append(risk.epoch(module, order.tensor_split(n_batches), step))
            _require_finite(losses[-1], module, epoch)
            self._report(epoch, losses[-1], time.monotonic() - started)
            self.n_iter_ = self.best_epoch_ = epoch
            if plan is not None:
                plan.step()
            answers = [call(self, epoch) for call in self.callbacks]
            if any(answer is False for answer in answers):
                break
            if self.early_stopping:
                with torch.no_grad():
                    held_out_losses.append(risk(module.eval(), held_out).item())
                self.best_epoch_ = int(np.argmin(held_out_losses)) + 1
                if self.best_epoch_ == epoch:
                    best_state = copy.deepcopy(module.state_dict())
                elif epoch - self.best_epoch_ >= self.patience:
                    break
        if self.early_stopping:
            module.load_state_dict(best_state)

    def _report(self, epoch: int, loss: float, seconds: float) -> None:
        """Log the risk and the time left, ten times in a fit."""
        if epoch % math.ceil(self.max_epochs / 10) == 0:
            left = seconds / epoch * (self.max_epochs - epoch)
            message = f"epoch {epoch} of {self.max_epochs}: risk {loss:.5g}, {left:.0f} s left"
            logger.log(logging.INFO if self.verbose else logging.DEBUG, message)

    def _split(self, n_rows: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return (held-out rows, training rows); nothing is held out without early stopping."""
        n_held_out = math.ceil(self.validation_fraction * n_rows) if self.early_stopping else 0
        if n_held_out >= n_rows:
            advice = "give more rows, lower validation_fraction or set early_stopping=False"
            raise ValueError(f"early stopping would hold out all {n_rows} weighted rows; {advice}")
        shuffled = torch.randperm(n_rows, generator=generator)
        return shuffled[:n_held_out].to(self.device), shuffled[n_held_out:]

    def _score_items(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the module's number t for each row, shape (n_items,), or K of them."""
        check_is_fitted(self, "module_")
        features = validate_data(self, X, dtype=np.float32, allow_nd=True, reset=False)
        with _threads(self.n_threads):
            scores = _scores(self.module_, torch.tensor(features, device=self.device))
        return scores.cpu().numpy().astype(np.float64)


class TorchClassifier(ClassifierMixin, _TorchEstimator):  # type: ignore[misc]
    """A network that classifies; with its defaults and two classes, the paper's, exactly.

    Parameters
    ----------
    module : nn.Module, callable n_features → nn.Module, or None
        One number per row, or one for each class (shares for "squared", logits for "logistic").
        Rows may have any shape, such as images. A module is copied, never changed, and training
        starts from its weights; a callable builds one afresh under ``random_state``; None is
        :func:`paper_network`.
    loss : "squared" (the module's number is P(class 1) itself) or "logistic" (it is the logit)
    optimizer, learning_rate, momentum, weight_decay
        "sgd", "adam" or any callable (parameters, lr=, weight_decay=) → optimizer, such as
        torch.optim.AdamW; momentum is for "sgd" alone
    scheduler : a callable optimizer → scheduler, whose step is called after every epoch
    callbacks : callables (estimator, epoch), called after every epoch; False from one ends the fit
    max_epochs, batch_size : passes over the rows, and rows per step (None: all of them)
    early_stopping, validation_fraction, patience
        Stop after ``patience`` epochs without a lower risk on held-out rows; keep the best weights.
    device, n_threads, random_state
        Where and on how many threads (None: as torch is set). The same seed gives the same network;
        torch's own random state and thread count are left as they were found.
    warm_start, verbose : go on from the last fit's weights; log progress at INFO, not DEBUG

    Fitted: ``classes_``, ``module_``, ``history_`` ({"loss": [...], "validation_loss": [...]}, the
    risk of each epoch), ``n_iter_`` (epochs run), ``best_epoch_`` (from 1; its weights are kept).

    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> clf = TorchClassifier(learning_rate=0.1, max_epochs=60, random_state=0)
    >>> clf.fit(X, ["no", "no", "yes", "yes"]).predict([[-1.5], [1.5]]).tolist()
    ['no', 'yes']
    """

    def _target(self, y: NDArray[Any]) -> Vector:
        kind, names = type_of_target(y, input_name="y", raise_unknown=True), np.unique(y)
        if kind.startswith("continuous"):
            advice = "for soft targets p use fit_risk(X, p, 1 - p), or TorchRegressor"
            raise ValueError(f"Unknown label type: {kind}. y must hold two classes; {advice}")
        if len(names) < 2:
            raise ValueError(f"y has {len(names)} class: {names}; give rows of two classes or more")
        if self._goes_on() and not np.array_equal(names, self.classes_):
            raise ValueError(f"warm_start=True: y has classes {names}, not {self.classes_}")
        self.classes_: NDArray[Any] = names
        return np.asarray(y[:, None] == names, dtype=np.float64)

    _gives_classes = True

    def fit_beliefs(self, X: ArrayLike, beliefs: ArrayLike) -> Self:
        """Fit P(class | row), shape (n_items, K): what the joint learner believes of its items."""
        features, share = self._validate(X), np.asarray(beliefs, dtype=np.float64)
        self.classes_ = np.arange(share.shape[1])
        return self._minimise(features, share, False)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return a number above 0 for class 1, shape (n_items,): t (logistic) or 2t − 1.

        Of more than two classes, P(class | item), shape (n_items, K).
        """
        scores = self._score_items(X)
        if scores.ndim == 2:
            proba = self.predict_proba(X)
            return proba if proba.shape[1] > 2 else proba[:, 1] - proba[:, 0]
        return scores if self.loss == "logistic" else 2 * scores - 1

    def predict_proba(self, X: ArrayLike) -> Vector:
        """Return P(class | item), shape (n_items, 2), columns in the order of ``classes_``."""
        scores = self._score_items(X)
        if scores.ndim == 2:
            if self.loss == "logistic":
                return np.asarray(softmax(scores, axis=1))
            share = scores.clip(1e-9, None)
            return np.asarray(share / share.sum(axis=1, keepdims=True))
        positive = (expit(scores) if self.loss == "logistic" else scores).clip(0, 1)
        return np.column_stack([1 - positive, positive])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class with the larger probability, shape (n_items,)."""
        proba = self.predict_proba(X)
        return np.asarray(self.classes_[proba.argmax(axis=1)])


class TorchRegressor(RegressorMixin, _TorchEstimator):  # type: ignore[misc]
    """A network for real targets, as the loss correction makes them: u/(u+v), in [0, 1] or beyond.

    Minimises Σ w_i (t_i − y_i)² / Σ |w_i| up to a constant, or the cross entropy of soft targets
    (``loss="logistic"``); all else as in :class:`TorchClassifier`. The default network ends in a
    sigmoid and predicts probabilities, whatever the targets. For predictions on the whole line give
    a module that does not, such as ``functools.partial(paper_network, sigmoid=False)``.

    >>> X = np.linspace(-1, 1, 8).reshape(-1, 1)
    >>> line = TorchRegressor(nn.Linear(1, 1), learning_rate=0.05, random_state=0)
    >>> line.fit(X, 3 * X[:, 0] - 1).predict([[0.5]]).round(3)
    array([0.5])
    """

    def predict(self, X: ArrayLike) -> Vector:
        """Return t, or its sigmoid under the logistic loss, shape (n_items,)."""
        scores = self._score_items(X)
        return np.asarray(expit(scores)) if self.loss == "logistic" else scores


@torch.no_grad()
def _scores(module: nn.Module, features: Tensor, at_once: int = 16_384) -> Tensor:
    """Score the rows, not too many at once: that bounds the memory of the hidden layers."""
    found = torch.cat([module(some) for some in torch.split(features, at_once)])
    return found.reshape(len(found)) if found.numel() == len(found) else found


def _require_finite(loss: float, module: nn.Module, epoch: int) -> None:
    if not math.isfinite(loss) or not all(bool(p.isfinite().all()) for p in module.parameters()):
        raise TrainingDiverged(
            f"the risk is {loss} in epoch {epoch}. Standardise the features, lower learning_rate, "
            "or, with signed weights, fit_risk(..., non_negative=True) or end in a sigmoid"
        )


@contextmanager
def _threads(n_threads: int | None) -> Iterator[None]:
    """Limit torch to ``n_threads`` for a while: two threads on two busy cores can be far slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _draw_seed(random_state: int | np.random.Generator | np.random.RandomState | None) -> int:
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(np.random.default_rng(random_state).integers(2**31 - 1))


def _vector(values: ArrayLike, name: str, n_rows: int) -> Vector:
    vector = check_array(values, ensure_2d=False, dtype=np.float64, input_name=name)
    if vector.shape != (n_rows,):
        raise ValueError(f"{name} has shape {vector.shape}; expected ({n_rows},): one per row of X")
    return np.asarray(vector)
