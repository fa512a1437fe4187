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
    def _keys(self) -> dict[str, frozenset[str]]:
        """For each such column, its cells as ids are compared."""
        found = {}
        for name in self.table.frame.columns:
            if self.id is not None and name != self.id:
                continue
            first = as_text(self.table.frame[name].iloc[:LOOKED_AT]).tolist()
            if len(set(first)) < len(first) or all(map(_DECIMAL.fullmatch, first)):
                continue
            cells = as_text(self.table.frame[name]).tolist()
            if len(set(cells)) == len(cells):
                found[str(name)] = frozenset(key for cell in cells for key in _forms(cell))
        return found

    def shares(self, cells: Sequence[str]) -> dict[str, float]:
        """Return, by column of the items, which share of the distinct cells are ids there."""
        asked = list(dict.fromkeys(cell for cell in cells if cell.lower() not in MISSING))
        if len(asked) < 2:
            return {}
        forms = [_forms(cell) for cell in asked[:MOST_ASKED]]
        return {
            name: sum(not keys.isdisjoint(form) for form in forms) / len(forms)
            for name, keys in self._keys.items()
        }


def _forms(cell: str) -> tuple[str, str]:
    """Return an id as it is compared loosely, and the last part of it if it is a path."""
    return loose(cell), last_part(cell)
