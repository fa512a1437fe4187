"""What one number depends on, dataset × noise × method × density × seed, and whole experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from noisypairs.errors import did_you_mean
from noisypairs.experiments.paper import ROWS, Family

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
EXPERIMENTS = ("table1", "table2", "figure1", "figure2", "figure3", "efficiency", "flat-priors")
BOTH_NOISES: tuple[Family, ...] = ("pairing", "labeling")
#: Items of a table in ``efficiency``, training and test together.
EFFICIENCY_ROWS = 2_000
EFFICIENCY_DENSITIES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
EFFICIENCY_RATES = (0.2, 0.2)
#: … and of banana in Figure 3.
FIGURE3_ROWS = 2_500
FIGURE3_RATES = (0.0, 0.1, 0.2, 0.3, 0.4)
FIGURE3_DENSITIES = (2.0, 5.0, 10.0, 20.0, 50.0)
#: Pairs per item where Figure 3 varies the rate, and rates where it varies the number of pairs.
FIGURE3_DENSITY, FIGURE3_CURVES = 20.0, (0.1, 0.2, 0.3)
#: Tables of ``flat-priors``: the small ones, and the columns that are tuned on the noisy pairs.
FLAT_PRIORS_TABLES = ("diabetes", "cancer", "ionosphere")
TUNED = ("t-loss", "t-loss-printed", "weighted")


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


@dataclass(frozen=True)
class Choice:
    """What was asked for; empty means everything.

    ``densities`` are pairs per training item and concern the tables; figures have their own.
    """

    datasets: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    densities: tuple[float, ...] = (20.0,)
    repeats: int = 3
    seed: int = 0


def plan(experiment: str, choice: Choice = Choice()) -> list[Spec]:
    """Return the specs of an experiment, or of ``"all"``, without repetition.

    >>> len(plan("table1", Choice(datasets=("cancer",), methods=("joint", "pn"), repeats=2)))
    8
    """
    if experiment not in (*EXPERIMENTS, "all"):
        known = did_you_mean(experiment, (*EXPERIMENTS, "all"))
        raise ValueError(f"unknown experiment {experiment!r}: {known}")
    wanted = EXPERIMENTS if experiment == "all" else (experiment,)
    _check(wanted, choice)
    specs = dict.fromkeys(spec for name in wanted for spec in _GRIDS[name](choice))
    return [
        spec
        for spec in specs
        if (not choice.datasets or spec.dataset in choice.datasets)
        and (not choice.methods or spec.method in choice.methods)
    ]


def datasets_of(experiment: str) -> tuple[str, ...]:
    """Return the names of the data sets of an experiment.

    >>> datasets_of("table2")
    ('ionosphere', 'spambase', 'magic')
    """
    return tuple(dict.fromkeys(spec.dataset for spec in _GRIDS[experiment](Choice(repeats=1))))


def _check(experiments: Sequence[str], choice: Choice) -> None:
    known = [name for experiment in experiments for name in datasets_of(experiment)]
    for given, names, what in (
        (choice.datasets, known, f"data set of {' and '.join(experiments)}"),
        (choice.methods, list(COLUMNS), "method"),
    ):
        for name in given:
            if name not in names:
                raise ValueError(f"unknown {what} {name!r}: {did_you_mean(name, set(names))}")
    if not choice.densities or min(choice.densities) <= 0:
        raise ValueError(f"pairs per item {list(choice.densities)}: expected numbers above 0")
    if choice.repeats < 1:
        raise ValueError(f"{choice.repeats} repeats: expected 1 or more")


def cell(
    dataset: str,
    family: Family,
    rates: tuple[float, float],
    method: str,
    density: float,
    seed: int,
) -> Spec:
    """Return the spec of a table's cell; methods that noise cannot change are filed under no noise.

    >>> cell("cancer", "pairing", (0.1, 0.2), "pn", 20.0, 0) == cell(
    ...     "cancer", "pairing", (0.3, 0.3), "pn", 2.0, 0)
    True
    """
    if method in NOISE_FREE:
        family, rates = "clean", (0.0, 0.0)
    return Spec(dataset, family, rates, method, 0.0 if method in PAIR_FREE else density, seed)


def _table(family: Family, choice: Choice) -> list[Spec]:
    return [
        cell(row.dataset, family, row.rates, method, density, choice.seed + repeat)
        for density in choice.densities
        for repeat in range(choice.repeats)
        for row in ROWS
        if row.family == family
        for method in COLUMNS
    ]


def _figure2(choice: Choice) -> list[Spec]:
    """Return the panels: clean pairs and .4 noise under both models, rates and prior given."""
    settings: list[tuple[Family, tuple[float, float]]] = [("clean", (0.0, 0.0))]
    settings += [(family, (0.4, 0.4)) for family in BOTH_NOISES]
    return [
        Spec("gaussians", family, rates, method, 0.5, choice.seed + repeat, "logistic", told=True)
        for repeat in range(choice.repeats)
        for family, rates in settings
        for method in ("weighted", "t-loss")
    ]


def _figure3(choice: Choice) -> list[Spec]:
    specs = []
    for seed in range(choice.seed, choice.seed + choice.repeats):
        clean = Spec("banana", "clean", (0.0, 0.0), "pn", 0.0, seed, "kernel", FIGURE3_ROWS)
        specs.append(clean)
        for family in BOTH_NOISES:
            points = [
                (rate, FIGURE3_DENSITY, method)
                for rate in FIGURE3_RATES
                for method in ("t-loss", "weighted", "joint")
            ]
            points += [
                (rate, density, method)
                for rate in FIGURE3_CURVES
                for density in FIGURE3_DENSITIES
                for method in ("weighted", "joint")
            ]
            specs += [
                Spec("banana", family, (rate, rate), method, density, seed, "kernel", FIGURE3_ROWS)
                for rate, density, method in points
            ]
    return specs


def _efficiency(choice: Choice) -> list[Spec]:
    families: dict[str, Family] = {row.dataset: row.family for row in ROWS} | {"banana": "pairing"}
    return [
        replace(
            cell(name, family, EFFICIENCY_RATES, method, density, seed),
            model="kernel",
            rows=EFFICIENCY_ROWS,
        )
        for name, family in families.items()
        for seed in range(choice.seed, choice.seed + choice.repeats)
        for density in EFFICIENCY_DENSITIES
        for method in COLUMNS
    ]


def _flat_priors(choice: Choice) -> list[Spec]:
    """Return the tuned columns of the small tables, tuned without the weak priors."""
    specs = [spec for family in BOTH_NOISES for spec in _table(family, choice)]
    small = [spec for spec in specs if spec.dataset in FLAT_PRIORS_TABLES]
    return [replace(spec, flat_priors=True) for spec in small if spec.method in TUNED]


_GRIDS: dict[str, Callable[[Choice], list[Spec]]] = {
    "table1": lambda choice: _table("pairing", choice),
    "table2": lambda choice: _table("labeling", choice),
    "figure1": lambda _: [],  # drawn from the noise models themselves: nothing to run
    "figure2": _figure2,
    "figure3": _figure3,
    "efficiency": _efficiency,
    "flat-priors": _flat_priors,
}
