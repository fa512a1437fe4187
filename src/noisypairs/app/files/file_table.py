"""A table as it stands in a file: its cells, where it came from, and the place of every row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from noisypairs.app.files.contents import BadFile, SourceFile

MOST_CHARACTERS = 100_000
"""Length of a name of an item or annotator, at most; some tools name a text by itself."""


@dataclass(frozen=True, eq=False)
class FileTable:
    """A table as it stands in a file, with where it came from.

    `frame` holds text (missing cells are "") if `delimited`, else values as the file types them.
    `place` gives the place of a row, counted from 0, in the file ("line 7"), when asked.
    """

    path: Path
    frame: pd.DataFrame
    source: SourceFile
    place: Callable[[int], str]
    delimited: bool = False
    decimal_comma: bool = False
    notes: tuple[str, ...] = ()

    def where(self, row: int) -> str:
        """Return the file and the place of a row, counted from 0, for a message."""
        return f"{self.path}, {self.place(row)}"

    def refuse_long_names(self, column: str, names: Sequence[str]) -> None:
        """Refuse a column of names in which a cell is longer than any name."""
        row = next((k for k, name in enumerate(names) if len(name) > MOST_CHARACTERS), None)
        if row is not None:
            raise BadFile(
                f"{self.where(row)}: the cell in column {column!r} has {len(names[row]):,} "
                f"characters, a name at most {MOST_CHARACTERS:,}: a quote may be missing above, or "
                "another column may hold the names"
            )


def by_row(row: int) -> str:
    """Return the place of a row in a file without lines."""
    return f"row {row + 1}"
