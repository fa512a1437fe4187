"""How rich a class of models is, and the losses it is trained with: what a bound needs of both.

R(F, n) is the Rademacher complexity E sup_{f∈F} (1/n) Σ σᵢ f(xᵢ) over random signs σ; for the
classes here it falls as 1/√n.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from noisypairs.errors import did_you_mean
from noisypairs.noise import RandomState


class MarginLoss(NamedTuple):
    """A margin loss l(y f(x)) on [−r, r]: its largest value, its steepest slope, its calibration.

    ``invert`` bounds ψ⁻¹ of Bartlett, Jordan and McAuliffe (2006), *Convexity, classification and
    risk bounds*: excess 0-1 risk ≤ ψ⁻¹(excess surrogate risk). ψ(θ) is θ for the hinge, θ² for the
    squared and log 2 − h((1+θ)/2) ≥ θ²/2 for the logistic loss, h being the entropy in nats.

    >>> LOSSES["hinge"].bound(2.0), LOSSES["squared"].lipschitz(1.0)
    (3.0, 4.0)
    """

    bound: Callable[[float], float]
    lipschitz: Callable[[float], float]
    invert: Callable[[float], float]


#: The losses a bound can name: (1 − t)₊, (1 − t)² and log(1 + exp(−t)).
LOSSES: dict[str, MarginLoss] = {
    "hinge": MarginLoss(lambda r: 1 + r, lambda _: 1.0, lambda e: min(e, 1.0)),
    "squared": MarginLoss(lambda r: (1 + r) ** 2, lambda r: 2 + 2 * r, lambda e: min(e**0.5, 1.0)),
    "logistic": MarginLoss(
        lambda r: r + math.log1p(math.exp(-r)),
        lambda r: 1 / (1 + math.exp(-r)),
        lambda e: min((2 * e) ** 0.5, 1.0),
    ),
}


def check_positive(**values: float) -> None:
    """Refuse the first value that is not positive and finite, by its name.

    >>> check_positive(n=10, radius=0.5)
    """
    for name, value in values.items():
        if not 0.0 < value < math.inf:
            raise ValueError(f"{name}={value!r}: expected a positive number")


@dataclass(frozen=True)
class ModelClass:
    """What a bound needs of a learner: R(F, n) = complexity/√n, |f(x)| ≤ reach, its loss.

    The loss then lies in [0, ``loss_bound``] and is ``lipschitz``-Lipschitz on [−reach, reach].

    >>> ModelClass.linear(norm=2.0, radius=3.0, loss="hinge")
    ModelClass(complexity=6.0, reach=6.0, loss='hinge')
    """

    complexity: float = 1.0
    reach: float = 1.0
    loss: str = "logistic"

    def __post_init__(self) -> None:
        check_positive(complexity=self.complexity, reach=self.reach)
        if self.loss not in LOSSES:
            raise ValueError(f"unknown loss {self.loss!r}: {did_you_mean(self.loss, LOSSES)}")

    @classmethod
    def linear(cls, norm: float = 1.0, radius: float = 1.0, loss: str = "logistic") -> ModelClass:
        """Return the class x ↦ w·x with ‖w‖₂ ≤ norm on items with ‖x‖₂ ≤ radius."""
        return cls(linear_rademacher(norm, radius, 1), norm * radius, loss)

    @classmethod
    def network(cls, path_norm: float, radius: float = 1.0, loss: str = "logistic") -> ModelClass:
        """Return the two-layer ReLU networks of `network_rademacher`."""
        return cls(network_rademacher(path_norm, radius, 1), path_norm * radius, loss)

    @property
    def lipschitz(self) -> float:
        """The loss's Lipschitz constant L on [−reach, reach]."""
        return LOSSES[self.loss].lipschitz(self.reach)

    @property
    def loss_bound(self) -> float:
        """The loss's largest value B on [−reach, reach]; the smallest is taken as 0."""
        return LOSSES[self.loss].bound(self.reach)

    def rademacher(self, n: int) -> float:
        """Return R(F, n) = complexity/√n."""
        check_positive(n=n)
        return self.complexity / math.sqrt(n)


#: Linear models with ‖w‖‖x‖ ≤ 1 and the logistic loss.
UNIT = ModelClass()


def linear_rademacher(norm: float, radius: float, n: int) -> float:
    """Return norm·radius/√n ≥ R(F, n) for x ↦ w·x with ‖w‖₂ ≤ norm, ‖x‖₂ ≤ radius.

    (norm/n) E‖Σ σᵢxᵢ‖ ≤ (norm/n) (E‖Σ σᵢxᵢ‖²)^½ = (norm/n) (Σ‖xᵢ‖²)^½.

    >>> linear_rademacher(1.0, 2.0, 100)
    0.2
    """
    check_positive(norm=norm, radius=radius, n=n)
    return norm * radius / math.sqrt(n)


def network_rademacher(path_norm: float, radius: float, n: int) -> float:
    """Return 2·path_norm·radius/√n ≥ R(F, n) for x ↦ Σ_j v_j relu(w_j·x), of any width.

    ``path_norm`` bounds Σ_j |v_j| ‖w_j‖₂, which is at most ‖v‖₂‖W‖_F and at most
    ‖v‖₁ max_j ‖w_j‖₂. The ReLU is homogeneous, so take ‖w_j‖ = 1, ‖v‖₁ ≤ path_norm: the supremum
    over v is path_norm · sup_w |(1/n) Σ σᵢ relu(w·xᵢ)|; the absolute value costs a factor 2, as
    w = 0 makes both signs' suprema non-negative; contraction removes the ReLU, the linear class is
    left. Bartlett and Mendelson (2002); Neyshabur, Tomioka and Srebro (2015). A constant feature
    gives the hidden units a bias.

    >>> network_rademacher(1.0, 2.0, 100)
    0.4
    """
    return 2.0 * linear_rademacher(path_norm, radius, n)


class Estimate(NamedTuple):
    """A Monte Carlo mean and its standard error.

    >>> Estimate(0.25, 0.01).value
    0.25
    """

    value: float
    standard_error: float


def empirical_rademacher(
    X: ArrayLike, norm: float = 1.0, n_draws: int = 1000, random_state: RandomState = None
) -> Estimate:
    """Return E_σ sup_{‖w‖≤norm} (1/n) Σ σᵢ w·xᵢ = (norm/n) E‖Σ σᵢxᵢ‖ for items X, shape (n, d).

    Given the signs the supremum has this closed form; their mean is taken over ``n_draws`` draws.

    >>> empirical_rademacher([[3.0, 4.0]], norm=2.0, n_draws=10, random_state=0)  # 2·‖x‖ always
    Estimate(value=10.0, standard_error=0.0)
    """
    items = np.asarray(X, dtype=float)
    if items.ndim != 2 or not items.size or not np.isfinite(items).all():
        raise ValueError(
            f"X must be a finite table of items, shape (n, d) with n, d ≥ 1; got {items.shape}"
        )
    check_positive(norm=norm)
    if n_draws < 2:
        raise ValueError(f"n_draws={n_draws!r}: a standard error needs at least 2 draws")
    rng, n = np.random.default_rng(random_state), len(items)
    block = max(1, 1_000_000 // n)  # keeps the (block, n) signs near 8 MB for any n
    suprema = np.concatenate(
        [
            np.linalg.norm(rng.choice([-1.0, 1.0], (min(block, n_draws - done), n)) @ items, axis=1)
            for done in range(0, n_draws, block)
        ]
    ) * (norm / n)
    return Estimate(float(suprema.mean()), float(suprema.std(ddof=1) / math.sqrt(n_draws)))
