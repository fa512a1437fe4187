"""What one number of a table depends on: dataset × noise × method × density × seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

Family = Literal["clean", "pairing", "labeling"]
Model = Literal["network", "kernel", "logistic"]

#: The columns of the tables: the method by its name in records, and the heading.
COLUMNS = {
    "pn": "best P-N",
    "sd-clean": "clean S-D",
    "t-loss": "T-Loss",
    "t-loss-printed": "T-Loss as printed",
    "sd-loss": "SD-Loss",
    "weighted": "Weighted",
    "unweighted": "Unweighted",
    "km": "KM",
    "km-cop": "KM-COP",
    "joint": "Joint",
}
#: Methods that look at no noisy answer: one number serves all rates, as in the paper's tables.
NOISE_FREE = ("pn", "sd-clean", "km")
#: … of which this one looks at no pair either, so that one number serves all densities.
PAIR_FREE = ("pn",)


@dataclass(frozen=True, order=True)
class Spec:
    """One cell of one repeat; hashable, and equal to what its record says.

    ``density`` is the number of pairs per training item. ``model`` is what learns inside the
    point-wise methods: the paper's network, the package's default (ridge or logistic regression on
    a kernel map), or a logistic linear model. ``rows`` caps the items of the table (0: all).
    Methods with ``told`` are given the true rates and prior; the others tune them on the noisy
    pairs, with weak priors on rates and α, or without them where ``flat_priors`` is set.

    >>> spec = Spec("cancer", "pairing", (0.1, 0.2), "t-loss", 20.0, 0)
    >>> Spec.from_dict(spec.as_dict()) == spec
    True
    >>> spec.problem() == Spec("cancer", "pairing", (0.1, 0.2), "joint", 20.0, 0).problem()
    True
    """

    dataset: str
    family: Family
    rates: tuple[float, float]
    method: str
    density: float
    seed: int
    model: Model = "network"
    rows: int = 0
    told: bool = False
    flat_priors: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as JSON holds them."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return found | {"rates": list(self.rates)}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Spec:
        """Return the spec of a record; a wrong or missing field is a TypeError."""
        spec = cls(**{**found, "rates": tuple(map(float, found["rates"]))})
        words = (spec.dataset, spec.family, spec.method, spec.model)
        numbers = (spec.density, spec.seed, spec.rows, spec.told, spec.flat_priors)
        if not all(isinstance(one, str) for one in words) or len(spec.rates) != 2:
            raise TypeError(f"expected names and two rates, got {words} and {spec.rates}")
        if not all(isinstance(one, int | float) for one in numbers):
            raise TypeError(f"expected numbers, got {numbers}")
        return spec

    def problem(self) -> tuple[Any, ...]:
        """Return all fields but the method: specs that agree in it share data and tuning."""
        return tuple(getattr(self, field.name) for field in fields(self) if field.name != "method")
