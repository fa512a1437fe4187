"""Methods compared on one's own table: the same splits, pairs and noise for all of them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.multiclass import type_of_target

from noisypairs.algebra import Array
from noisypairs.errors import did_you_mean
from noisypairs.estimators.base import require_numbers
from noisypairs.experiments.learners import Learners, register
from noisypairs.experiments.problem import OwnTable
from noisypairs.experiments.run import run
from noisypairs.experiments.spec import COLUMNS, cell
from noisypairs.noise import LabelingNoise, NoiseModel, PairingNoise
from noisypairs.pairs import Answers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: One answer in five is wrong.
FIFTH_WRONG = PairingNoise(0.2, 0.2)
#: What of the package works for any number of classes.
ANY_NUMBER = ("pn", "joint")


class Comparison(NamedTuple):
    """A data frame with a row for each fit, and the mean accuracies as a figure of matplotlib."""

    frame: Any
    plot: Figure


def compare(
    X: ArrayLike,
    y: ArrayLike,
    methods: str | Sequence[str] | Mapping[str, Any] = ("joint", "t-loss", "weighted", "pn"),
    noises: NoiseModel | Sequence[NoiseModel] = FIFTH_WRONG,
    densities: ArrayLike = (2.0, 20.0),
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
    table = _numbers(X)
    names, classes = _classes(y, len(table))
    per_item = np.atleast_1d(np.asarray(densities, dtype=float))
    if not (per_item > 0).all() or repeats < 1:
        raise ValueError(
            f"densities={densities!r}, repeats={repeats!r}: expected numbers above 0 of pairs per "
            "training item, and at least one repeat"
        )
    wanted = _registered([methods] if isinstance(methods, str) else methods, len(names))
    given = [noises] if isinstance(noises, NoiseModel) else noises
    by_key = {_key(noise): noise for noise in given}
    clean = {("clean", (0.0, 0.0)): PairingNoise(0.0, 0.0)}
    own = OwnTable(table, classes, by_key | clean)
    specs = {
        (heading, key, density, seed): replace(
            cell("own", *key, method, density, seed), model="kernel"
        )
        for key in by_key
        for density in per_item.tolist()
        for seed in range(random_state, random_state + repeats)
        for heading, method in wanted.items()
    }
    with tempfile.TemporaryDirectory(prefix="noisypairs-") as temporary:
        where = Path(folder or temporary)
        records = run(list(dict.fromkeys(specs.values())), where, n_jobs=n_jobs, table=own)
    frame = pd.DataFrame(
        {
            "method": heading,
            "noise": str(by_key[key]),
            "density": density,
            "seed": seed,
            "accuracy": records[spec].accuracy,
            "seconds": records[spec].seconds,
            "refused": records[spec].refused or "",
        }
        for (heading, key, density, seed), spec in specs.items()
    )
    return Comparison(frame, _plot(frame))


def _numbers(X: Any) -> Array:
    """Return the items as a table of numbers without gaps, (n, d)."""
    X = X if hasattr(X, "shape") else np.asarray(X)
    require_numbers(X)
    table = np.asarray(X, dtype=float)
    if not np.isfinite(table).all():
        raise ValueError(
            f"X has {np.count_nonzero(~np.isfinite(table))} missing or infinite numbers: fill them "
            "in first, such as by sklearn.impute.SimpleImputer, since not every method can"
        )
    return table


def _classes(y: Any, n_items: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the names of the classes, and the number of each item's, (n,)."""
    if isinstance(y, Answers):
        raise TypeError(
            "y are Pairs, and compare draws pairs of its own from true classes: give the classes, "
            "or compare learners on pairs by cross_val_score(learner, X, pairs)"
        )
    kind, size = type_of_target(y), len(y)
    if kind not in ("binary", "multiclass") or size != n_items:
        raise ValueError(
            f"y has {size} values of kind {kind} for {n_items} items: expected one class for each"
        )
    names, classes = np.unique(np.asarray(y), return_inverse=True)
    return names, classes.astype(np.intp)


def _key(noise: NoiseModel) -> tuple[Any, tuple[float, float]]:
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
        of_classes = isinstance(method, ClassifierMixin) and "y" in signature(method.fit).parameters
        usable = callable(method) or hasattr(method, "fit")
        if of_classes or isinstance(method, type) or not usable:
            raise TypeError(
                f"methods[{heading!r}] is {method!r}: expected a name, a learner with "
                "fit(X, pairs), such as JointPairClassifier(classifier), or a function of Learners"
            )
        own = partial(_fitted, method) if hasattr(method, "fit") else method
        register(heading, heading, own)
        found[heading] = heading
    return found


def _fitted(learner: Any, learners: Learners) -> tuple[Any, dict[str, Any]]:
    """Fit a copy of a learner of pairs to those of a problem: a method, once its learner is set."""
    return clone(learner).fit(learners.problem.X, learners.problem.pairs).predict, {}


def _plot(frame: Any) -> Figure:
    """Return mean accuracies ± standard errors, a panel for each noise."""
    from matplotlib.figure import Figure

    noises = list(frame.groupby("noise", sort=False))
    figure = Figure(figsize=(4.5 * len(noises), 3.6), layout="constrained")
    panels = figure.subplots(1, len(noises), squeeze=False, sharey=True)[0]
    for panel, (noise, under_it) in zip(panels, noises, strict=True):
        for heading, fits in under_it.groupby("method", sort=False):
            found = 100 * fits.groupby("density").accuracy.agg(["mean", "sem"]).fillna(0.0)
            label = COLUMNS.get(heading, heading)
            panel.errorbar(
                found.index, found["mean"], found["sem"], marker="o", capsize=2, label=label
            )
        panel.set(title=noise, xlabel="pairs per training item", xscale="log")
    panels[0].set_ylabel("accuracy on test items, %")
    panels[-1].legend(fontsize=8)
    return figure
