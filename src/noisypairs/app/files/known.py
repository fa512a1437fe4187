"""The items that pairs may be about, asked for the ids among them before their column is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from noisypairs.app.files.cells import MISSING, as_text
from noisypairs.app.files.file_table import FileTable
from noisypairs.app.files.matching import last_part
from noisypairs.pairs.ids import loose

#: Cells looked at before a column of the items is taken for one of ids.
LOOKED_AT = 200
#: Ids of a column of pairs that are looked up, at most.
MOST_ASKED = 2_000
#: What an id counts that matches by the last part of a path.
PATH = 0.99

_DECIMAL = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")


@dataclass(frozen=True, eq=False)
class KnownItems:
    """A table of items and the column of its ids, where it was named."""

    table: FileTable
    id: str | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that may hold the ids: those without repeats that are no measurements."""
        return list(self._keys)

    @cached_property
    def _keys(self) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
        """For each such column, its cells as ids are compared: loosely, and as paths."""
        found = {}
        for name in self.table.frame.columns:
            if self.id is not None and name != self.id:
                continue
            first = as_text(self.table.frame[name].iloc[:LOOKED_AT]).tolist()
            if len(set(first)) < len(first) or all(map(_DECIMAL.fullmatch, first)):
                continue
            cells = as_text(self.table.frame[name]).tolist()
            if len(set(cells)) == len(cells):
                found[str(name)] = frozenset(map(loose, cells)), frozenset(map(last_part, cells))
        return found

    def shares(self, cells: Sequence[str]) -> dict[str, float]:
        """Return, by column of the items, which share of the distinct cells are ids there.

        One that is an id only by the last part of a path counts a little less.
        """
        asked = list(dict.fromkeys(cell for cell in cells if cell.lower() not in MISSING))
        if len(asked) < 2:
            return {}
        forms = [(loose(cell), last_part(cell)) for cell in asked[:MOST_ASKED]]
        return {
            name: sum(1.0 if a in ids else PATH * (b in paths) for a, b in forms) / len(forms)
            for name, (ids, paths) in self._keys.items()
        }
