"""Pictures and sounds of items: found by a column of file names, or in a folder by the items' ids.

A browser asks for them by the number of the item, never by a name, and a name from a file of items
leads nowhere but into the one folder that was given: not out of it by "..", a symlink or an
absolute path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from noisypairs.app.files.cells import as_text
from noisypairs.app.files.media import TYPES, files_named, folder_of
from noisypairs.errors import did_you_mean


@dataclass(frozen=True)
class Media:
    """One picture or sound per item at most: ``files`` by the item's row, inside ``root``.

    ``column`` is the one that named them, which then is no feature to show.
    """

    root: Path | None = None
    files: dict[int, Path] = field(default_factory=dict)
    column: str | None = None

    def kind(self, row: int) -> str | None:
        """Return "image" or "audio", None where the item has neither."""
        path = self.files.get(row)
        return None if path is None else TYPES[path.suffix.lower()].partition("/")[0]


def find_media(given: str | None, features: pd.DataFrame, ids: Sequence[str], items: Path) -> Media:
    """Return the media that ``--images`` names: a folder, or a column of names beside the items.

    In a folder, files are called as the items' ids, or as a column says. Without ``given``, a
    column that names nothing but files that are there is taken, also of a folder of pictures.
    """
    if given is None:
        for column in features.columns:
            found = _by_column(features, str(column), folder_of(items))
            if found.files and len(found.files) == len(features):
                return found
        return Media()
    if given in features.columns:
        found = _by_column(features, given, folder_of(items))
        where = f"column {given!r} names"
    elif Path(given).is_dir():
        root = Path(given).resolve()
        column, named = files_named(root, features, ids, TYPES)
        inside = ((row, _inside(root, str(path))) for row, path in named.items())
        found = Media(root, {row: path for row, path in inside if path is not None}, column)
        where = f"neither the ids nor a column of {items.name} name"
    else:
        hint = did_you_mean(given, [str(name) for name in features.columns])
        raise ValueError(
            f"--images {given}: expected a folder, or a column of {items.name}; {hint}"
        )
    if not found.files:
        known = ", ".join(one.removeprefix(".") for one in TYPES)
        raise ValueError(
            f"--images {given}: {where} any picture or sound in {found.root} ({known})"
        )
    return found


def _by_column(features: pd.DataFrame, column: str, root: Path) -> Media:
    root = root.resolve()
    names = as_text(features[column]).tolist()
    if not any(Path(name).suffix.lower() in TYPES for name in names[:100]):
        return Media(root)
    inside = ((row, _inside(root, name)) for row, name in enumerate(names))
    return Media(root, {row: path for row, path in inside if path is not None}, column)


def _inside(root: Path, name: str) -> Path | None:
    """Return the file of this name if it is a picture or sound and lies in the folder."""
    if Path(name).suffix.lower() not in TYPES or "\0" in name:
        return None
    try:
        path = (root / name).resolve()
    except (OSError, RuntimeError):  # a symlink that leads in a circle
        return None
    known = path.suffix.lower() in TYPES and path.is_relative_to(root) and path.is_file()
    return path if known else None
