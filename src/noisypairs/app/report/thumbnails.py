"""Small pictures of items, embedded in a page: found by a column or in a folder, never fetched.

A picture is at most `SIDE` pixels wide and high, and all of a page together are `MOST_BYTES`; what
would be more is left out, and the page says so.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from noisypairs.app.files.media import MediaFile, media_column
from noisypairs.app.report.page import Picture
from noisypairs.assess.words import count
from noisypairs.encoders.encoder import UnreadableContent
from noisypairs.encoders.pictures import opened_picture

if TYPE_CHECKING:
    from PIL.Image import Image

#: Pixels of the longer side, and bytes of all pictures of a page together.
SIDE, MOST_BYTES = 160, 4_000_000
#: Files that may be pictures of these formats.
ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff")


@dataclass(frozen=True)
class Thumbnails:
    """Pictures by the id of their item, and what is to be said about those that are not there.

    ``column`` is the column of the items that names the files, if there is one.
    """

    pictures: Mapping[str, Picture]
    notes: tuple[str, ...]
    column: str | None = None


@dataclass(frozen=True)
class ImageSource:
    """Where the pictures of items are: the file that each item names, or a folder by item ids."""

    files: Mapping[str, Path]
    column: str | None = None

    def thumbnails(self, wanted: Iterable[str], prefix: str = "picture") -> Thumbnails:
        """Return small pictures of these items, in their order, until the page is full.

        ``prefix`` is how their ids in the page begin: two lists of one page need two.
        """
        pictures: dict[str, Picture] = {}
        size, unread, too_many = 0, list[str](), 0
        missing = 0
        for item in dict.fromkeys(wanted):
            if item not in self.files:
                missing += 1
                continue
            if size >= MOST_BYTES:
                too_many += 1
                continue
            found = _thumbnail(self.files[item], f"{prefix}-{len(pictures)}")
            if isinstance(found, str):
                unread.append(f"{self.files[item].name} {found}")
                continue
            size += len(found.data)
            pictures[item] = found
        return Thumbnails(pictures, tuple(_notes(missing, unread, too_many)), self.column)


def image_source(features: pd.DataFrame | None, ids: Sequence[str]) -> ImageSource | None:
    """Return where the pictures of items are, None where no column names any."""
    column = media_column(features)
    if features is None or column is None:
        return None
    cells = zip(ids, features[column], strict=True)
    files = {item: one.path for item, one in cells if isinstance(one, MediaFile)}
    pictures = {item: path for item, path in files.items() if path.suffix.lower() in ENDINGS}
    return ImageSource(pictures, column)


def _notes(missing: int, unread: list[str], too_many: int) -> Iterable[str]:
    if missing:
        yield f"{count(missing, 'item has', 'items have')} no picture here; none is fetched."
    if unread:
        yield f"{count(len(unread), 'picture')} could not be read, such as {unread[0]}."
    if too_many:
        limit = f"{MOST_BYTES / 1e6:.0f} MB"
        yield f"{count(too_many, 'picture')} left out: a page holds {limit} of them."


def _thumbnail(path: Path, name: str) -> Picture | str:
    """Return the picture in a file, made small; what is wrong with it if it cannot be read."""
    try:
        image = opened_picture(path.read_bytes(), SIDE)
    except UnreadableContent as error:
        return str(error)
    except OSError as error:
        return f"cannot be opened ({type(error).__name__})"
    image.thumbnail((SIDE, SIDE))
    tried = {kind: _encoded(image, kind) for kind in ("JPEG", "PNG")}
    kind, data = min(tried.items(), key=lambda one: len(one[1]))
    address = f"data:image/{kind.lower()};base64,{data}"
    return Picture(name, image.width, image.height, address)


def _encoded(image: Image, kind: str) -> str:
    file = io.BytesIO()
    image.save(file, kind, optimize=True, **({"quality": 80} if kind == "JPEG" else {}))
    return base64.b64encode(file.getvalue()).decode()
