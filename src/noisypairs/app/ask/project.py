"""What is asked about: the items of a file as a page shows them, read again when it changes."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from noisypairs.app.ask.database import Database
from noisypairs.app.ask.media import Media
from noisypairs.app.encoding import describe
from noisypairs.app.files import BadFile
from noisypairs.app.files.cells import as_text
from noisypairs.app.files.items import ROWS_CHANGED, are_contents, items_of
from noisypairs.app.files.media import with_media
from noisypairs.app.files.store import SCALE, UNSURE
from noisypairs.app.files.table import read_table
from noisypairs.app.report.page import clean
from noisypairs.assess.words import count
from noisypairs.errors import did_you_mean
from noisypairs.pairs.levels import Scale, read_scale

LONGEST_CELL = 20_000
"""Characters of a cell that are shown."""

FEWEST_ITEMS = 3

DIGITS = (4, 6, 9)
"""Digits of a number that are shown: the first that tell all numbers of a column apart."""

MOST_COLUMNS = 20
"""Columns shown unless some are asked for: words before numbers, and no entries of vectors."""


@dataclass(frozen=True)
class Settings:
    """How a project is asked; all of it is plain, so that the worker's process can be given it.

    ``scale`` are the levels of an answer, "1<2<3<4" or how many; None is same and different.
    ``images``, ``columns`` and ``encode`` as on the command line, ``repeated`` the share of
    questions asked of a second person, ``blind`` whether nobody may see what the model thinks.
    """

    items: Path
    store: Path
    images: str | None = None
    columns: tuple[str, ...] | None = None
    id: str | None = None
    encode: str = "auto"
    question: str = "Are these two the same?"
    n_classes: int | tuple[int, ...] | None = None
    target: float = 0.95
    repeated: float = 0.1
    blind: bool = False
    seed: int = 0
    scale: str | None = None

    @property
    def levels(self) -> Scale | None:
        """The scale of the answers; None of yes and no.

        >>> str(Settings(Path(), Path(), scale="4").levels)
        '1 < 2 < 3 < 4 (same from 3 on), unsure for unsure'
        """
        if self.scale is None:
            return None
        text = self.scale.strip()
        if text.isdecimal():
            text = "<".join(str(k + 1) for k in range(int(text)))
        return read_scale(text, UNSURE)


@dataclass(frozen=True)
class Looks:
    """What is shown of the items, row by row: the text of each column, pictures and sounds.

    ``contents`` are names of the rows by all that they hold but their ids.
    """

    features: pd.DataFrame
    ids: list[str]
    contents: list[str]
    cells: dict[str, list[str]]
    kinds: dict[str, str]
    media: Media


@dataclass(frozen=True)
class Shown(Looks):
    """The same with the number that each item has in the store, and the row of each number."""

    numbers: list[int]
    row_of: dict[int, int]

    def item(self, number: int) -> dict[str, Any]:
        """Return what a page shows of an item."""
        row = self.row_of[number]
        return {
            "id": clean(self.ids[row]),
            "cells": [texts[row] for texts in self.cells.values()],
            "media": self._media(number, row),
        }

    def _media(self, number: int, row: int) -> dict[str, str] | None:
        """Return the kind of an item's picture or sound and its address.

        Browsers keep pictures by their address, also those of another project that was served at
        the same port before, so that the address changes with the file.
        """
        path, kind = self.media.files.get(row), self.media.kind(row)
        if path is None or kind is None:
            return None
        mark = blake2b(f"{path} {_state(path)}".encode(errors="replace"), digest_size=8)
        return {"kind": kind, "url": f"/media/{number}?{mark.hexdigest()}"}

    def file(self, number: int) -> Path | None:
        """Return the picture or sound of an item."""
        row = self.row_of.get(number)
        return None if row is None else self.media.files.get(row)


class Project:
    """Settings, the open store, and the items as of now; ``trouble`` is why they are not newer."""

    def __init__(self, settings: Settings, database: Database, looks: Looks | None = None) -> None:
        self.settings, self.database, self.trouble = settings, database, ""
        self._read_at = _state(settings.items)
        _keep_scale(settings, database)
        self.shown = _numbered(looks or read_looks(settings), settings, database)

    def refresh(self) -> bool:
        """Read the items again if their file has changed; return whether it had.

        A file that cannot be read, as while it is being written, changes nothing.
        """
        state = _state(self.settings.items)
        if state == self._read_at:
            return False
        self._read_at = state
        try:
            self.shown = _numbered(read_looks(self.settings), self.settings, self.database)
        except (ValueError, OSError) as error:
            self.trouble = str(error)
            return False
        except sqlite3.Error as error:  # the store is held by another program: tried again
            self.trouble, self._read_at = str(error), (0, 0)
            return False
        self.trouble = ""
        return True


def _keep_scale(settings: Settings, database: Database) -> None:
    """Keep the scale of a new project; refuse another one than its answers have."""
    scale = settings.levels
    asked = None if scale is None else scale.text()
    if asked is not None and database.row("SELECT 1 FROM answers LIMIT 1") is None:
        database.set_setting(SCALE, asked)
    if asked != (known := database.setting(SCALE)):
        kept = "same or different" if known is None else f"levels {known}"
        option = "leave --scale out" if known is None else f'give --scale "{known}"'
        raise BadFile(
            f"{settings.store} holds answers of another kind, {kept}: {option}, or name another "
            "store"
        )


def read_looks(settings: Settings) -> Looks:
    """Read the items and what is shown of them; needs no store."""
    items = items_of(read_table(settings.items), settings.id, by_content=True)
    features, ids, contents = items.features, items.ids, items.contents or []
    if len(ids) < FEWEST_ITEMS:
        raise BadFile(
            f"{settings.items} holds {count(len(ids), 'item')}: give at least {FEWEST_ITEMS}"
        )
    located, _ = with_media(features, ids, settings.items, settings.images)
    features = features if located is None else located
    media = Media.of(features)
    kinds = _columns_shown(settings, features, media)
    cells = {name: _texts(features[name]) for name in kinds}
    return Looks(features, ids, contents, cells, kinds, media)


def _numbered(looks: Looks, settings: Settings, database: Database) -> Shown:
    """Give the items their numbers; those that the store does not know get one there."""
    known, ids = database.item_numbers(), looks.ids
    if known and not known.keys() & set(ids):
        raise _other_items(looks, settings, known)
    called, stored = dict(zip(looks.contents, ids, strict=True)), database.item_contents()
    for content, before in stored.items():
        now = called.get(content, before)
        several = content.count("-") > 1 or f"{content}-2" in called.keys() | stored.keys()
        if now != before and not several:  # which of equal rows is which, nobody can tell
            raise BadFile(
                f"{settings.items} has the id {now!r} for an item that was {before!r} when people "
                f"compared it. The answers in {settings.store} would be about other items: give "
                "each item its old id, or name another store"
            )
    known = database.add_items(ids, looks.contents)
    numbers = [known[id] for id in ids]
    row_of = {number: row for row, number in enumerate(numbers)}
    return Shown(**vars(looks), numbers=numbers, row_of=row_of)


def _other_items(looks: Looks, settings: Settings, known: dict[str, int]) -> BadFile:
    """Return the refusal of items of which the store knows none, with what may have happened."""
    columns = {str(name): as_text(looks.features[name]) for name in looks.features}
    shares = {name: np.isin(cells, list(known)).mean() for name, cells in columns.items()}
    holding = max(shares, key=shares.__getitem__, default="")
    advice = "name another store, or the right items"
    if shares.get(holding, 0.0) > 0.5:
        advice = f"column {holding!r} holds those ids, --id {holding!r}"
    elif are_contents(list(known)):
        advice = ROWS_CHANGED + ", or name another store"
    return BadFile(
        f"{settings.store} holds answers about other items, such as {next(iter(known))!r}, while "
        f"{settings.items} begins with {looks.ids[0]!r}: {advice}"
    )


def _columns_shown(settings: Settings, features: pd.DataFrame, media: Media) -> dict[str, str]:
    """Return the kinds of the columns that are shown: those asked for, else all that tell."""
    kinds = {plan.name: plan.kind for plan in describe(features)}
    if settings.columns is None:
        shown = {name: kind for name, kind in kinds.items() if kind != "constant"}
        shown.pop(media.column or "", None)
        for name in _entries(shown):
            del shown[name]
        shown = shown or {name: kinds[name] for name in list(kinds)[:MOST_COLUMNS]}
        if len(shown) <= MOST_COLUMNS:
            return shown
        told = [name for name, kind in shown.items() if kind != "number"][:MOST_COLUMNS]
        rest = [name for name in shown if name not in told][: MOST_COLUMNS - len(told)]
        return {name: kind for name, kind in shown.items() if name in {*told, *rest}}
    for name in settings.columns:
        if name not in kinds:
            raise BadFile(
                f"{settings.items}: there is no column {name!r} to show; "
                f"{did_you_mean(name, kinds)}"
            )
    return {name: kinds[name] for name in settings.columns}


def _entries(kinds: dict[str, str]) -> list[str]:
    """Return the columns that are entries of a vector, as of an embedding: many, and numbered.

    >>> _entries({"size": "number"} | {f"dim{k}": "number" for k in range(30)})[-1]
    'dim29'
    """
    stems = {
        name: name[: name.rfind("[")] if name.endswith("]") else name.rstrip("0123456789")
        for name, kind in kinds.items()
        if kind == "number"
    }
    size = Counter(stems.values())
    return [
        name
        for name, stem in stems.items()
        if name.endswith("]") or (stem != name and size[stem] > MOST_COLUMNS)
    ]


def _texts(column: pd.Series[Any]) -> list[str]:
    """Return the cells of a column as text, numbers with as many digits as tell them apart."""
    cells = column.tolist()
    numbers = {cell for cell in cells if isinstance(cell, float) and cell == cell}
    most = 6 if column.dtype == "float32" else 15
    told = (d for d in DIGITS if len({f"{cell:.{d}g}" for cell in numbers}) == len(numbers))
    digits = most if all(cell.is_integer() for cell in numbers) else next(told, most)
    return [_text(cell, digits) for cell in cells]


def _text(cell: Any, digits: int = 15) -> str:
    """Return a cell as text; a missing one is empty.

    Fewer digits would hide that two numbers differ: a column of telephone numbers with a gap in it
    holds floats, too.

    >>> _text(0.1 + 0.2), _text(3.0), _text(5551234567.0), _text(None), _text(True)
    ('0.3', '3', '5551234567', '', 'true')
    """
    if cell is None or cell != cell:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    text = f"{cell:.{digits}g}" if isinstance(cell, float) else clean(str(cell))
    more = len(text) - LONGEST_CELL
    return text if more <= 0 else f"{text[:LONGEST_CELL]}… ({more:,} more characters)"


def _state(path: Path) -> tuple[int, int]:
    """Return what changes when a file does."""
    try:
        facts = path.stat()
    except OSError:
        return (0, 0)
    return facts.st_mtime_ns, facts.st_size
