"""What every encoder is: an object with a name that turns one column of content into numbers.

Encoders are known by their names as soon as they are defined, so that ``--encode NAME`` and
`named` find those of other packages, too.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from noisypairs.algebra import Array
from noisypairs.encoders.cache import RowCache, opened
from noisypairs.errors import MissingExtra, did_you_mean
from noisypairs.graph.progress import each

Reads = Literal["text", "picture", "sound"]

#: Larger files are not read.
MOST_BYTES = 200_000_000


class UnreadableContent(ValueError):
    """One item's content cannot be read; the message completes "<name> ..."."""


class UnreadableContentWarning(UserWarning):
    """Content that could not be read counts as missing."""


class Encoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """One column of content, shape (n,), becomes numbers, shape (n, d).

    A subclass says what it ``reads``, the ``size`` in bytes of the weights that it needs, their
    ``licence``, the ``extra`` of noisypairs that installs them, and what packages it ``needs``.
    Its ``name`` makes it known; of several that can do, the one of highest ``rank`` is taken
    without being asked for, one without a rank never. It defines `transform`, and `fit` if it
    learns from the items (``learns``).
    """

    name: ClassVar[str]
    reads: ClassVar[Reads]
    licence: ClassVar[str] = "BSD-3-Clause"
    size: ClassVar[int] = 0
    extra: ClassVar[str] = "app"
    needs: ClassVar[tuple[str, ...]] = ()
    rank: ClassVar[int | None] = None
    learns: ClassVar[bool] = False

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "name" in vars(cls):
            ENCODERS[cls.name] = cls

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn from the items, if this encoder does."""
        return self

    @abstractmethod
    def transform(self, X: Any) -> Array:
        """Return the numbers of the items, shape (n, d)."""

    @property
    def key(self) -> str:
        """Everything that the numbers of an item depend on besides the item."""
        folder = Path(getattr(self, "model", ""))
        files = folder.rglob("*") if "model" in self.get_params() and folder.is_dir() else ()
        newest = max((file.stat().st_mtime_ns for file in files), default=0)
        return f"{self.name} {sorted(self.get_params().items())!r} {newest}"

    @classmethod
    def is_installed(cls) -> bool:
        """Whether all that it needs is there."""
        return all(find_spec(name) is not None for name in cls.needs)

    def __sklearn_is_fitted__(self) -> bool:
        return not self.learns or any(name.endswith("_") for name in vars(self))

    def _needed(self, module: str) -> Any:
        """Return a module that comes with the extra."""
        try:
            return import_module(module)
        except ImportError as error:
            raise MissingExtra(module, self.extra, f"The encoder {self.name!r}") from error


#: Every encoder by its name.
ENCODERS: dict[str, type[Encoder]] = {}


class RowEncoder(Encoder):
    """An encoder that learns nothing: the numbers of an item depend on this item alone.

    They can be kept (`cached_in`) by the content of the item. A subclass turns content into what
    it works on, one item at a time (`decode`), and that into numbers, ``batch`` items at a time
    (`encode`). Cells are text, or names of files.
    """

    batch: ClassVar[int] = 32

    @abstractmethod
    def decode(self, content: bytes) -> Any:
        """Return one item's content in memory; raise `UnreadableContent` where that fails."""

    @abstractmethod
    def encode(self, items: Sequence[Any]) -> Array:
        """Return the numbers of decoded items, shape (n, d)."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many numbers an item has."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Remember how many numbers an item has."""
        self.n_features_out_ = self.width
        return self

    def transform(self, X: Any) -> Array:
        """Return the numbers of the items, shape (n, d); NaN where there is none to read.

        Warns with `UnreadableContentWarning` of every item that cannot be read.
        """
        cells = as_column(X)
        rows: list[Array | None] = [None] * len(cells)
        waiting: list[tuple[int, bytes, Any]] = []
        with opened(self.key) as kept:
            for k in each(self.reads, range(len(cells))):
                try:
                    content = self._content(cells[k])
                    if content is None:
                        continue
                    rows[k] = kept.get(content)
                    if rows[k] is None:
                        waiting.append((k, content, self.decode(content)))
                except UnreadableContent as error:
                    warnings.warn(f"{cells[k]} {error}", UnreadableContentWarning, stacklevel=2)
                if len(waiting) == self.batch:
                    self._finish(waiting, rows, kept)
            self._finish(waiting, rows, kept)
        known = next((len(row) for row in rows if row is not None), None)
        width = known or getattr(self, "n_features_out_", None) or self.width
        gap = np.full(width, np.nan)
        found = [gap if row is None else row for row in rows]
        return np.array(found, dtype=float).reshape(-1, width)

    def _finish(
        self,
        waiting: list[tuple[int, bytes, Any]],
        rows: list[Array | None],
        kept: RowCache,
    ) -> None:
        if waiting:
            found = np.asarray(self.encode([item for _, _, item in waiting]), dtype=np.float32)
            for (k, content, _), row in zip(waiting, found, strict=True):
                rows[k] = row
                kept.put(content, row)
            waiting.clear()

    def _content(self, cell: Any) -> bytes | None:
        """Return what a cell holds or names, None where that is nothing."""
        if self.reads == "text":
            return "".join(as_texts([cell])).encode()
        if cell is None or (isinstance(cell, float) and cell != cell) or str(cell).strip() == "":
            return None
        path = Path(getattr(cell, "path", cell))
        try:
            if (size := path.stat().st_size) <= MOST_BYTES:
                return path.read_bytes()
        except FileNotFoundError as error:
            raise UnreadableContent("does not exist") from error
        except (OSError, ValueError) as error:
            raise UnreadableContent(f"cannot be opened ({type(error).__name__})") from error
        raise UnreadableContent(f"has {size / 1e6:,.0f} MB, more than {MOST_BYTES // 10**6}")

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return a name for every number."""
        name = self.reads if input_features is None else input_features[0]
        return np.array([f"{name}_{k}" for k in range(self.n_features_out_)], dtype=object)


def named(name: str) -> Encoder:
    """Return the encoder of a name; ``sentence-transformers:MODEL`` and ``timm:MODEL`` load models.

    >>> named("words").reads
    'text'
    >>> named("word")
    Traceback (most recent call last):
    ValueError: encoder 'word': did you mean 'words'? ...
    """
    kind, colon, model = name.partition(":")
    cls = ENCODERS.get(kind)
    takes_model = cls is not None and "model" in cls._get_param_names()
    if cls is None or (takes_model != bool(model)) or (colon and not model):
        known = [
            f"{key}:MODEL" if "model" in one._get_param_names() else key
            for key, one in ENCODERS.items()
        ]
        raise ValueError(f"encoder {name!r}: {did_you_mean(name, known)}")
    return cls(model=model) if takes_model else cls()


def best(reads: Reads) -> Encoder:
    """Return the encoder of this content that is taken where none is asked for."""
    can = [one for one in ENCODERS.values() if one.reads == reads and one.rank is not None]
    return max((one for one in can if one.is_installed()), key=lambda one: one.rank or 0)()


@lru_cache(maxsize=4)
def loaded(encoder: Any, model: str = "") -> Any:
    """Return the weights of an encoder, which are read once: its ``load(model)``."""
    if not model:
        return encoder.load()
    try:
        return encoder.load(model)
    except MissingExtra:
        raise
    except (OSError, ValueError, RuntimeError, ImportError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(
            f"the model {model!r} of {encoder.name} cannot be loaded ({first}): expected a local "
            "folder that it was saved in, or its name where there is a network"
        ) from error


def as_column(X: Any) -> NDArray[np.object_]:
    """Return the cells of one column, shape (n,): a list, an array, a Series, a frame of one.

    >>> as_column(pd.DataFrame({"photo": ["a.png", "b.png"]})).tolist()
    ['a.png', 'b.png']
    """
    values: Any = X.to_numpy(dtype=object) if isinstance(X, pd.DataFrame | pd.Series) else X
    cells = np.empty(len(values), dtype=object)
    cells[:] = [one[0] if np.ndim(one) == 1 and len(one) == 1 else one for one in values]
    return cells


def as_texts(X: Any) -> list[str]:
    """Return the cells of one column as trimmed text, "" where one is missing.

    >>> as_texts([" red", None, float("nan")])
    ['red', '', '']
    """
    return ["" if pd.isna(cell) else str(cell).strip() for cell in as_column(X)]
