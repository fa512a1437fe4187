"""Small pictures of items, embedded in a page: found by a column or in a folder, never fetched.

A picture is at most `SIDE` pixels wide and high, and all of a page together are `MOST_BYTES`; what
would be more is left out, and the page says so.
"""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from noisypairs.app.files.media import files_named, folder_of
from noisypairs.app.report.page import Picture
from noisypairs.assess.words import count
from noisypairs.errors import MissingExtra, did_you_mean

try:
    from PIL import Image
except ImportError as error:
    raise MissingExtra("pillow", "app", "Pictures in a report") from error

#: Pixels of the longer side, and bytes of all pictures of a page together.
SIDE, MOST_BYTES = 160, 4_000_000
#: Formats that are read, by Pillow's names, and the extensions looked for in a folder.
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
ENDINGS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff")
#: Larger pictures are not opened: they would take minutes, or all memory.
MOST_PIXELS = 80_000_000


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


def image_source(
    images: str | None, features: pd.DataFrame | None, ids: list[str], items_file: Path
) -> ImageSource | None:
    """Return where pictures are: ``images`` is a column of the items, or a folder.

    Files that a column names stand beside the file of the items, or where the command was started.
    Files in a folder are named after the ids of the items, or as a column of theirs says; names
    match with and without their ending. Without ``images``, items that are a folder show theirs.
    """
    columns = [] if features is None else [str(name) for name in features.columns]
    folder = items_file if images is None else Path(images)
    if images in columns and features is not None:
        beside = folder_of(items_file)
        named = zip(ids, features[images], strict=True)
        files = {
            item: beside / str(name) if (beside / str(name)).is_file() else Path(str(name))
            for item, name in named
            if not pd.isna(name) and "://" not in str(name)
        }
        return ImageSource(files, images)
    if folder.is_dir():
        column, found = files_named(folder, features, ids, ENDINGS)
        return ImageSource({ids[row]: path for row, path in found.items()}, column)
    if images is None:
        return None
    hint = did_you_mean(images, columns) if columns else "the items have no columns"
    raise ValueError(f"--images {images} is neither a folder nor a column of the items: {hint}")


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
        with _no_bombs(), Image.open(path, formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                return f"has more than {MOST_PIXELS:,} pixels"
            image.draft("RGB", (SIDE, SIDE))
            small = image.convert("RGBA")
        small.thumbnail((SIDE, SIDE))
        plain = Image.new("RGB", small.size, "white")
        plain.paste(small, mask=small.getchannel("A"))
    except FileNotFoundError:
        return "does not exist"
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return f"has more than {MOST_PIXELS:,} pixels"
    except (OSError, ValueError, SyntaxError) as error:
        return f"is no picture that can be read ({type(error).__name__})"
    tried = {kind: _encoded(plain, kind) for kind in ("JPEG", "PNG")}
    kind, data = min(tried.items(), key=lambda one: len(one[1]))
    address = f"data:image/{kind.lower()};base64,{data}"
    return Picture(name, plain.width, plain.height, address)


@contextmanager
def _no_bombs() -> Iterator[None]:
    """Let Pillow refuse what it would only warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        yield


def _encoded(image: Image.Image, kind: str) -> str:
    file = io.BytesIO()
    image.save(file, kind, optimize=True, **({"quality": 80} if kind == "JPEG" else {}))
    return base64.b64encode(file.getvalue()).decode()
