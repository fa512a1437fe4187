"""Pictures and sounds of items: the files of a folder, and which item names which of them.

A folder of them is a table of items, too: the ids are the names without their endings. A name in a
table leads nowhere but into the one folder that was given, or that of the table: not out of it by
"..", a symlink or an absolute path. Nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from noisypairs.app.files.cells import MISSING, as_text
from noisypairs.errors import did_you_mean

#: The ends of names; after = what the type is called where that differs.
_ENDINGS = {
    "image": "png gif webp bmp avif jpeg tiff jpg=jpeg tif=tiff svg=svg+xml",
    "audio": "wav ogg flac mp3=mpeg oga=ogg opus=ogg m4a=mp4",
}
TYPES = {
    f".{one.partition('=')[0]}": f"{kind}/{one.rpartition('=')[2]}"
    for kind, endings in _ENDINGS.items()
    for one in endings.split()
}
"""What a picture or sound is, by the end of its name."""


class MediaFile(str):
    """The name of a picture or sound as a table has it; its ``path`` is where the file lies."""

    path: Path

    @classmethod
    def at(cls, name: str, path: Path) -> MediaFile:
        """Return a name with its place."""
        found = cls(name)
        found.path = path
        return found

    @property
    def kind(self) -> str:
        """What it is: "picture" or "sound"."""
        is_picture = TYPES[self.path.suffix.lower()].startswith("image/")
        return "picture" if is_picture else "sound"


def media_column(features: pd.DataFrame | None) -> str | None:
    """Return the first column of items that names pictures or sounds."""
    columns = [] if features is None else list(features.columns)
    return next((str(name) for name in columns if media_kind(features[name])), None)  # type: ignore[index]


def media_kind(column: pd.Series) -> str | None:
    """Return what the files are that a column names, "picture" or "sound"; None for any other."""
    if column.dtype != object:
        return None
    return next((cell.kind for cell in column if isinstance(cell, MediaFile)), None)


def with_media(
    features: pd.DataFrame | None, ids: Sequence[str], items: Path, given: str | None
) -> tuple[pd.DataFrame | None, list[str]]:
    """Return items whose names of files are `MediaFile`, and notes on names without a file.

    ``given`` is what ``--images`` names: a column of names beside the file of the items, or a
    folder in which files are called as a column says or as the ids, which then are a column of
    their own. Without it a column is taken of which at least half the names are of files.
    """
    columns = [] if features is None else [str(name) for name in features.columns]
    if given is None or given in columns:
        tried = columns if given is None else [given]
        named = {name: _in_column(features[name], folder_of(items)) for name in tried}  # type: ignore[index]
        where = f"column {given!r} names no picture or sound in {folder_of(items)}"
        if given is None:
            named = {name: files for name, files in named.items() if 2 * len(files) >= len(ids)}
    elif Path(given).is_dir():
        root = Path(given).resolve()
        column, found = files_named(root, features, ids, TYPES)
        inside = ((row, _inside(root, str(path))) for row, path in found.items())
        files = {row: path for row, path in inside if path is not None}
        named = {column or "picture": files}
        if column is None and files:
            features = pd.DataFrame(index=range(len(ids))) if features is None else features
            features = features.assign(picture=pd.Series(list(ids), dtype=object))
        where = f"neither the ids nor a column of {items.name} name any picture or sound in {root}"
    else:
        hint = did_you_mean(given, columns) if columns else "the items have no columns"
        raise ValueError(f"--images {given} is neither a folder nor a column of the items: {hint}")
    if given is not None and not any(named.values()):
        known = ", ".join(one.removeprefix(".") for one in TYPES)
        raise ValueError(
            f"--images {given}: {where} ({known}). Nothing is fetched from an address: name the "
            "folder that holds the files"
        )
    notes = []
    for column, files in named.items():
        features, note = _with_files(features, column, files)
        notes += [f"{items.name}: {note}"] * bool(note)
    return features, notes


def _with_files(
    features: pd.DataFrame | None, column: str, files: dict[int, Path]
) -> tuple[pd.DataFrame | None, str]:
    """Return items in which a column knows its files, and what is to be said of the others."""
    if not files:
        return features, ""
    assert features is not None  # it has rows
    names = as_text(features[column]).tolist()
    cells = [
        MediaFile.at(one, files[row]) if row in files else None for row, one in enumerate(names)
    ]
    lost = [one for row, one in enumerate(names) if row not in files and one.lower() not in MISSING]
    note = f"column {column!r}: {len(lost):,} of {len(names):,} files are not there and count as "
    note += f"missing, such as {lost[0]!r}" if lost else ""
    found = pd.Series(np.array([*cells, None], dtype=object)[:-1], features.index, dtype=object)
    return features.assign(**{column: found}), note if lost else ""


def _in_column(column: pd.Series, root: Path) -> dict[int, Path]:
    """Return the files that a column names, by row."""
    if not (column.dtype == object or pd.api.types.is_string_dtype(column)):
        return {}
    names = as_text(column).tolist()
    if not any(Path(name).suffix.lower() in TYPES for name in names[:100]):
        return {}
    root = root.resolve()
    inside = ((row, _inside(root, name)) for row, name in enumerate(names))
    return {row: path for row, path in inside if path is not None}


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


def media_in(folder: Path, endings: Collection[str] = TYPES.keys()) -> list[Path]:
    """Return the pictures and sounds in a folder and below it, in the order of their names."""
    found = (path for path in folder.rglob("*") if path.suffix.lower() in endings)
    return sorted(path for path in found if path.is_file() and not path.name.startswith("."))


def folder_of(items: Path) -> Path:
    """Return the folder to which the names in a table of items are relative."""
    return items if items.is_dir() else items.absolute().parent


def files_named(
    folder: Path, features: pd.DataFrame | None, ids: Sequence[str], endings: Collection[str]
) -> tuple[str | None, dict[int, Path]]:
    """Return the files of a folder by the row of their item, and the column that names them.

    Names match with and without folder and ending, whatever their case; those of two folders, by
    their folder only. The
    column is None where the ids name more files than any column does; one that names as many goes
    before them, since it says nothing else.
    """
    by_name: dict[str, list[Path]] = {}
    for path in media_in(folder, endings):
        for form in _forms(path.relative_to(folder)):
            by_name.setdefault(form, []).append(path)

    def file(name: str) -> Path | None:
        found = (by_name[form] for form in _forms(Path(name)) if form in by_name)
        alone = (paths[0] for paths in found if len({path.parent for path in paths}) == 1)
        return next(alone, None)

    columns = {} if features is None else {str(n): as_text(features[n]) for n in features.columns}
    tried = [*columns.items(), (None, ids)]
    found = [
        (column, {row: path for row, path in enumerate(map(file, names)) if path is not None})
        for column, names in tried
    ]
    return max(found, key=lambda one: len(one[1]))


def _forms(name: Path) -> dict[str, None]:
    """Return the names that a file may be called by, the most exact first."""
    forms = name.as_posix(), name.with_suffix("").as_posix(), name.name, name.stem
    return dict.fromkeys(form.casefold() for form in forms if name.name)
