"""Texts as numbers: without anything pretrained, and by weights of word parts or sentences."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from noisypairs.algebra import Array
from noisypairs.encoders.encoder import Encoder, Reads, as_texts

#: A factor this far below the strongest is rounding error.
RANK_TOLERANCE = 1e-6


class Words(Encoder):
    """Leading factors of the tf-idf of runs of 3 and 4 letters, through skrub; nothing pretrained.

    Texts that have fewer factors than asked for have fewer columns; those without letters have one.

    >>> texts = ["red house", "red car", "blue car", None]
    >>> Words(n_components=2).fit_transform(texts).shape
    (4, 2)
    """

    name: ClassVar[str] = "words"
    reads: ClassVar[Reads] = "text"
    learns: ClassVar[bool] = True

    def __init__(self, n_components: int = 30, random_state: int | None = 0) -> None:
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the weight of each run of letters, and the factors."""
        texts = as_texts(X)
        number = min(self.n_components, len({*texts, ""}) - 1)
        self.factors_: Any = None
        self.kept_ = np.arange(0)
        if number:
            encoder = self._needed("skrub").StringEncoder(number, random_state=self.random_state)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # fewer factors than asked for
                    found = encoder.fit_transform(_series(texts)).to_numpy()
            except ValueError:  # no letters at all
                return self
            strength = np.sqrt((found.astype(float) ** 2).sum(axis=0))
            self.kept_ = np.flatnonzero(strength > RANK_TOLERANCE * strength.max())
            self.factors_ = encoder
        return self

    def transform(self, X: Any) -> Array:
        """Return the factors, shape (n, n_components) or fewer."""
        texts = as_texts(X)
        if self.factors_ is None:
            return np.zeros((len(texts), 1))
        found = self.factors_.transform(_series(texts)).to_numpy()
        return np.asarray(found[:, self.kept_], dtype=float)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return a name for every factor."""
        name = "text" if input_features is None else input_features[0]
        return np.array([f"{name}_{k}" for k in range(max(len(self.kept_), 1))], dtype=object)


def _series(texts: list[str]) -> pd.Series:
    return pd.Series(texts, dtype="str", name="text")
