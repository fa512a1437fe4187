"""Pictures and sounds of items: the files of a folder, and which item names which of them.

A folder of them is a table of items, too: the ids are the names without their endings.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from noisypairs.app.files.cells import as_text

TYPES = {
    **{f".{one}": f"image/{one}" for one in ("png", "gif", "webp", "bmp", "avif", "jpeg", "tiff")},
    ".jpg": "image/jpeg",
    ".tif": "image/tiff",
    ".svg": "image/svg+xml",
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
}
"""What a picture or sound is, by the end of its name."""


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

    Names match with and without folder and ending; those of two folders, by their folder only. The
    column is None where the ids name more files than any column does; one that names as many goes
    before them, since it says nothing else.
    """
    by_name: dict[str, list[Path]] = {}
    for path in media_in(folder, endings):
        name = path.relative_to(folder)
        for form in {name.as_posix(), name.with_suffix("").as_posix(), path.name, path.stem}:
            by_name.setdefault(form, []).append(path)

    def file(name: str) -> Path | None:
        for form in (name, Path(name).name, Path(name).stem):
            if form in by_name and len({path.parent for path in by_name[form]}) == 1:
                return by_name[form][0]
        return None

    columns = {} if features is None else {str(n): as_text(features[n]) for n in features.columns}
    tried = [*columns.items(), (None, ids)]
    found = [
        (column, {row: path for row, path in enumerate(map(file, names)) if path is not None})
        for column, names in tried
    ]
    return max(found, key=lambda one: len(one[1]))
