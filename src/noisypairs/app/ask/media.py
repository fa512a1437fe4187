"""Pictures and sounds that a page shows: a browser asks for them by the number of the item."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from noisypairs.app.files.media import TYPES, MediaFile, media_column


@dataclass(frozen=True)
class Media:
    """One picture or sound per item at most: ``files`` by the item's row.

    ``column`` is the one that names them, which then is not shown as text.
    """

    files: dict[int, Path] = field(default_factory=dict)
    column: str | None = None

    @classmethod
    def of(cls, features: pd.DataFrame) -> Media:
        """Return the files of the first column that names any."""
        column = media_column(features)
        cells = [] if column is None else features[column].tolist()
        files = {row: one.path for row, one in enumerate(cells) if isinstance(one, MediaFile)}
        return cls(files, column)

    def kind(self, row: int) -> str | None:
        """Return "image" or "audio", None where the item has neither."""
        path = self.files.get(row)
        return None if path is None else TYPES[path.suffix.lower()].partition("/")[0]
