"""What every encoder is: an object with a name that turns one column of content into numbers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from importlib import import_module
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from noisypairs.algebra import Array
from noisypairs.errors import MissingExtra

Reads = Literal["text", "picture", "sound", "vectors"]


class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """One column of content, shape (n,), becomes numbers, shape (n, d).

    A subclass says what it ``reads``, the ``size`` in bytes of the weights that it needs, their
    ``licence``, and the ``extra`` of noisypairs that installs them; it defines `transform`, and
    `fit` only if it learns from the items. One that learns nothing (``learns`` is false) gives an
    item the same numbers whatever the others are, so that they can be kept.
    """

    name: ClassVar[str]
    reads: ClassVar[Reads]
    licence: ClassVar[str] = "BSD-3-Clause"
    size: ClassVar[int] = 0
    extra: ClassVar[str] = "app"
    learns: ClassVar[bool] = False

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn from the items, if this encoder does."""
        return self

    @abstractmethod
    def transform(self, X: Any) -> Array:
        """Return the numbers of the items, shape (n, d)."""

    @property
    def key(self) -> str:
        """Everything that the numbers of an item depend on besides the item."""
        return f"{self.name} {sorted(self.get_params().items())!r}"

    def __sklearn_is_fitted__(self) -> bool:
        return not self.learns or any(name.endswith("_") for name in vars(self))

    def _needed(self, module: str) -> Any:
        """Return a module that comes with the extra."""
        try:
            return import_module(module)
        except ImportError as error:
            raise MissingExtra(module, self.extra, f"The encoder {self.name!r}") from error


def as_column(X: Any) -> NDArray[np.object_]:
    """Return the cells of one column, shape (n,): a list, an array, a Series, a frame of one.

    >>> as_column(pd.DataFrame({"photo": ["a.png", "b.png"]})).tolist()
    ['a.png', 'b.png']
    """
    values: Any = X.to_numpy(dtype=object) if isinstance(X, pd.DataFrame | pd.Series) else X
    cells = np.empty(len(values), dtype=object)
    cells[:] = list(values)
    if len(cells) and np.ndim(cells[0]) == 1 and len(cells[0]) == 1:
        cells[:] = [cell[0] for cell in cells]
    return cells


def as_texts(X: Any) -> list[str]:
    """Return the cells of one column as trimmed text, "" where one is missing.

    >>> as_texts([" red", None, float("nan")])
    ['red', '', '']
    """
    return ["" if pd.isna(cell) else str(cell).strip() for cell in as_column(X)]


def filled_rows(rows: Iterable[Array | None], width: int) -> Array:
    """Return rows as an array (n, d), NaN where an item could not be read."""
    gap = np.full(width, np.nan)
    return np.array([gap if row is None else row for row in rows], dtype=float).reshape(-1, width)
