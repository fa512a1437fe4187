"""Methods compared on one's own table: the same splits, pairs and noise for all of them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from noisypairs.errors import did_you_mean
from noisypairs.experiments.grids import cell
from noisypairs.experiments.learners import Learners, register
from noisypairs.experiments.problem import OwnTable
from noisypairs.experiments.run import run
from noisypairs.experiments.spec import COLUMNS, Spec
from noisypairs.experiments.tables import summary
from noisypairs.noise import LabelingNoise, NoiseModel, PairingNoise
from noisypairs.pairs.columns import frame_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What of the package works for any number of classes.
ANY_NUMBER = ("pn", "joint")


class Comparison(NamedTuple):
    """A data frame with a row for each fit, and the mean accuracies as a figure of matplotlib."""

    frame: Any
    plot: Figure


def compare(
    X: ArrayLike,
    y: ArrayLike,
    methods: Sequence[str] | Mapping[str, Any] = ("joint", "t-loss", "weighted", "pn"),
    noises: Sequence[NoiseModel] = (PairingNoise(0.2, 0.2),),
    densities: Sequence[float] = (2.0, 20.0),
    *,
    repeats: int = 3,
    random_state: int = 0,
    n_jobs: int | None = None,
    folder: Path | str | None = None,
) -> Comparison:
    """Compare methods on a table with known classes, from which noisy pairs are drawn.

    Items are split 75:25, stratified; features are standardised; pairs are drawn among the training
    items and corrupted. The accuracy on the test items is up to class names, for every method. All
    methods see the same splits and answers.

    ``X`` are numbers (n, d), ``y`` classes (n,). ``methods`` are names of the package's methods
    ("pn" learns from the true classes), or a mapping from names of your own to such names, to
    learners with ``fit(X, pairs)``, or to functions as `noisypairs.experiments.register` takes
    them. ``densities`` are pairs per training item. Records are kept in ``folder``, if given, so
    that the same call goes on after a stop.

    The frame has a row per fit: method, noise, density, seed, accuracy, seconds, refused. The plot
    is accuracy against pairs per item, mean ± standard error, a panel for each noise.

    >>> from noisypairs import JointPairClassifier, datasets
    >>> X, y = datasets.load("gaussians", n_samples=200, prior=0.4, random_state=0)
    >>> mine = {"mine": JointPairClassifier(n_classes=2, class_order="rising", random_state=0)}
    >>> frame, plot = compare(X, y, mine, densities=[10], repeats=1)
    >>> frame[["method", "density", "accuracy"]].round(2).values.tolist()
    [['mine', 10.0, 0.96]]
    """
    names, classes = np.unique(np.asarray(y), return_inverse=True)
    wanted = _registered(methods, len(names))
    by_key = {_key(noise): noise for noise in noises}
    clean = {("clean", (0.0, 0.0)): PairingNoise(0.0, 0.0)}
    table = OwnTable(np.asarray(X, dtype=float), classes.astype(np.intp), by_key | clean)
    specs = {
        (heading, key, density, seed): _spec(key, method, density, seed)
        for key in by_key
        for density in densities
        for seed in range(random_state, random_state + repeats)
        for heading, method in wanted.items()
    }
    with tempfile.TemporaryDirectory(prefix="noisypairs-") as temporary:
        where = Path(folder or temporary)
        records = run(list(dict.fromkeys(specs.values())), where, n_jobs=n_jobs, table=table)
    rows = [(*cell_of, records[spec]) for cell_of, spec in specs.items()]
    columns: dict[str, list[Any]] = {
        "method": [heading for heading, *_ in rows],
        "noise": [str(by_key[key]) for _, key, *_ in rows],
        "density": [float(density) for *_, density, _, _ in rows],
        "seed": [seed for *_, seed, _ in rows],
        "accuracy": [record.accuracy for *_, record in rows],
        "seconds": [record.seconds for *_, record in rows],
        "refused": [record.refused or "" for *_, record in rows],
    }
    frame = frame_of({name: np.array(values) for name, values in columns.items()}, "pandas")
    return Comparison(frame, _plot(rows, by_key))


def _spec(key: tuple[Any, tuple[float, float]], method: str, density: float, seed: int) -> Spec:
    spec = cell("own", *key, method, float(density), seed)
    return Spec(**{**vars(spec), "model": "kernel"})


def _key(noise: NoiseModel) -> tuple[str, tuple[float, float]]:
    """Return family and rates, which name a noise in records."""
    if isinstance(noise, PairingNoise):
        return "pairing", (float(noise.similar_flip), float(noise.dissimilar_flip))
    if isinstance(noise, LabelingNoise) and noise.per == "occurrence" and noise.flip is None:
        return "labeling", (float(noise.positive_flip or 0), float(noise.negative_flip or 0))
    if not isinstance(noise, NoiseModel):
        raise TypeError(
            f"noises holds {noise!r}: expected noise models such as PairingNoise(.1, .2)"
        )
    return str(noise), (0.0, 0.0)


def _registered(methods: Sequence[str] | Mapping[str, Any], n_classes: int) -> dict[str, str]:
    """Return the method in records by its name in the comparison; register those that are new."""
    given = methods if isinstance(methods, Mapping) else {name: name for name in methods}
    found = {}
    for heading, method in given.items():
        if isinstance(method, str):
            if method not in COLUMNS:
                raise ValueError(f"unknown method {method!r}: {did_you_mean(method, COLUMNS)}")
            if n_classes != 2 and method not in ANY_NUMBER:
                raise ValueError(
                    f"method {method!r} is about two classes and y has {n_classes}: compare "
                    f"{', '.join(ANY_NUMBER)} or learners of your own"
                )
            found[heading] = method
            continue
        if not callable(method) and not hasattr(method, "fit"):
            raise TypeError(
                f"methods[{heading!r}] is {method!r}: expected a name, a learner with "
                "fit(X, pairs), or a function of Learners"
            )
        own = Fitted(method) if hasattr(method, "fit") else method
        register(heading, heading, own)
        found[heading] = heading
    return found


@dataclass(frozen=True)
class Fitted:
    """A learner of pairs as a method."""

    learner: Any

    def __call__(self, learners: Learners) -> tuple[Any, dict[str, Any]]:
        """Fit a copy to the pairs of a problem."""
        fitted = clone(self.learner).fit(learners.problem.X, learners.problem.pairs)
        return fitted.predict, {}


def _plot(rows: Sequence[tuple[Any, ...]], noises: Mapping[Any, NoiseModel]) -> Figure:
    """Return mean accuracies ± standard errors, a panel for each noise."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5 * len(noises), 3.6), layout="constrained")
    panels = figure.subplots(1, len(noises), squeeze=False, sharey=True)[0]
    for panel, (key, noise) in zip(panels, noises.items(), strict=True):
        for heading in dict.fromkeys(row[0] for row in rows):
            cells: dict[float, list[Any]] = {}
            for name, of, density, _, record in rows:
                if (name, of) == (heading, key):
                    cells.setdefault(density, []).append(record)
            means = [summary(cells[density]) for density in sorted(cells)]
            middle = [one.mean for one in means if one]
            error = np.nan_to_num([one.error for one in means if one])
            label = COLUMNS.get(heading, heading)
            panel.errorbar(sorted(cells), middle, error, marker="o", capsize=2, label=label)
        panel.set(title=str(noise), xlabel="pairs per training item", xscale="log")
    panels[0].set_ylabel("accuracy on test items, %")
    panels[-1].legend(fontsize=8)
    return figure
