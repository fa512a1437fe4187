"""Texts as numbers: without anything pretrained, and by weights of word parts or sentences."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.encoders.encoder import Encoder, Reads, RowEncoder, as_texts, loaded

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
    rank: ClassVar[int | None] = 0
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


class _TextRows(RowEncoder):
    """A text becomes numbers by weights that others learnt; a blank one is missing."""

    reads: ClassVar[Reads] = "text"

    def decode(self, content: bytes) -> str:
        """Return the text."""
        return content.decode()


class WordLlama(_TextRows):
    """The mean vector of a text's word parts: 256 numbers each, English above all.

    The weights are in the wheel of wordllama (MIT; made of the vocabularies of LLaMA 2 and Phi 3).
    Its two files are read here: its own ``load`` looks on the network.
    """

    name: ClassVar[str] = "wordllama"
    licence: ClassVar[str] = "MIT"
    size: ClassVar[int] = 18_000_000
    extra: ClassVar[str] = "text"
    needs: ClassVar[tuple[str, ...]] = ("wordllama", "tokenizers", "safetensors")
    rank: ClassVar[int | None] = 1
    batch: ClassVar[int] = 256
    width: ClassVar[int] = 256

    @classmethod
    def load(cls) -> tuple[Any, NDArray[Any]]:
        """Return the tokenizer and the vector of each word part, (32,000, 256)."""
        encoder = cls()
        tokenizers = encoder._needed("tokenizers")
        safetensors = encoder._needed("safetensors.numpy")
        found = find_spec("wordllama")
        if found is None or found.origin is None:
            encoder._needed("wordllama")
        folder = Path(str(found and found.origin)).parent
        weights = safetensors.load_file(folder / "weights" / "l2_supercat_256.safetensors")
        file = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
        vectors: NDArray[Any] = weights["embedding.weight"].astype(np.float32)
        return tokenizers.Tokenizer.from_file(str(file)), vectors

    def encode(self, items: Sequence[str]) -> Array:
        """Return the mean vector of every text, zeros for one without word parts."""
        tokenizer, vectors = loaded(WordLlama)
        parts = tokenizer.encode_batch(list(items), add_special_tokens=False)
        gap = np.zeros(self.width)
        return np.array([vectors[one.ids].mean(axis=0) if one.ids else gap for one in parts])


class SentenceTransformer(_TextRows):
    """Sentences by a model of sentence-transformers: its name on the hub, or a local folder."""

    name: ClassVar[str] = "sentence-transformers"
    licence: ClassVar[str] = "the model's own"
    extra: ClassVar[str] = "sentence-transformers"
    needs: ClassVar[tuple[str, ...]] = ("sentence_transformers",)

    def __init__(self, model: str = "sentence-transformers/all-MiniLM-L6-v2") -> None:
        self.model = model

    @classmethod
    def load(cls, model: str) -> Any:
        """Return the model; no code that comes with it is run."""
        package = cls()._needed("sentence_transformers")
        return package.SentenceTransformer(model, device="cpu", trust_remote_code=False)

    @property
    def width(self) -> int:
        """The model's own number of numbers."""
        return int(loaded(SentenceTransformer, self.model).get_embedding_dimension())

    def encode(self, items: Sequence[str]) -> Array:
        """Return the sentence vectors."""
        model = loaded(SentenceTransformer, self.model)
        return np.asarray(model.encode(list(items), show_progress_bar=False))


def _series(texts: list[str]) -> pd.Series:
    return pd.Series(texts, dtype="str", name="text")
