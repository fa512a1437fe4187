"""Thumbnails: small, embedded, found by column or folder, and never more than a page can hold."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from noisypairs.app.files.media import with_media
from noisypairs.app.report import thumbnails
from noisypairs.app.report.thumbnails import SIDE, image_source


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pictures by id: a wide photograph, a transparent drawing, and a text with a wrong name."""
    (tmp_path / "shots").mkdir()
    noise = np.random.default_rng(0).integers(0, 255, (200, 400, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "shots" / "a.JPG", "JPEG")
    Image.new("RGBA", (20, 30), (255, 0, 0, 0)).save(tmp_path / "shots" / "b.png")
    (tmp_path / "shots" / "c.png").write_text("no picture")
    return tmp_path


def source_of(folder: Path, ids: list[str], items: pd.DataFrame | None, images: str):
    located, _ = with_media(items, ids, folder / "items.csv", images)
    return image_source(located, ids)


def decoded(picture) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(picture.data.partition(",")[2])))


def test_pictures_of_a_folder_are_found_by_id_and_made_small(folder):
    source = source_of(folder, ["a", "b", "c", "d"], None, str(folder / "shots"))
    found = source.thumbnails(["a", "b", "c", "d", "a"])
    assert list(found.pictures) == ["a", "b"]
    wide, drawing = decoded(found.pictures["a"]), decoded(found.pictures["b"])
    assert wide.size == (SIDE, SIDE // 2) == (found.pictures["a"].width, found.pictures["a"].height)
    assert drawing.convert("RGB").getpixel((3, 3)) == (255, 255, 255)  # transparent is white
    assert found.notes == (
        "1 item has no picture here; none is fetched.",
        "1 picture could not be read, such as c.png is no picture that can be read "
        "(UnidentifiedImageError).",
    )
    assert found.column == "picture"


def test_a_column_names_files_beside_the_items(folder):
    names = ["shots/a.JPG", None, "https://example.org/c.png", str(folder / "shots" / "b.png"), "x"]
    source = source_of(folder, list("pqrst"), pd.DataFrame({"photo": names}), "photo")
    found = source.thumbnails("pqrst")
    assert list(found.pictures) == ["p", "s"]
    assert found.notes == ("3 items have no picture here; none is fetched.",)
    assert found.column == "photo"


def test_a_page_holds_only_so_much(folder, monkeypatch):
    monkeypatch.setattr(thumbnails, "MOST_BYTES", 100)
    source = source_of(folder, ["a", "b"], None, str(folder / "shots"))
    found = source.thumbnails(["a", "b"])
    assert list(found.pictures) == ["a"]
    assert found.notes == ("1 picture left out: a page holds 0 MB of them.",)


def test_a_picture_of_too_many_pixels_is_not_opened(folder, monkeypatch):
    monkeypatch.setattr("noisypairs.encoders.pictures.MOST_PIXELS", 100)
    found = source_of(folder, ["a"], None, str(folder / "shots")).thumbnails(["a"])
    assert "has more than 100 pixels" in found.notes[0]
