"""Handwritten digits to ask about: a file of items and a picture of each, in a folder."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from noisypairs.app.files import atomic_write, delimited_text

DIGITS, EACH = (3, 5, 8), 60
"""Which digits, and how many of each: alike enough that people err now and then."""


def write_digits(folder: Path) -> Path:
    """Write digits.csv with 64 pixels of every digit, and its picture; return the file."""
    from sklearn.datasets import load_digits

    images, names = load_digits(return_X_y=True)
    rows = np.sort(np.concatenate([np.flatnonzero(names == one)[:EACH] for one in DIGITS]))
    for row in rows.tolist():
        atomic_write(folder / f"{row}.png", png(images[row].reshape(8, 8) / 16.0), force=True)
    header = ["id", *(f"pixel{k}" for k in range(images.shape[1]))]
    cells = ([str(row), *images[row].astype(int).tolist()] for row in rows.tolist())
    return atomic_write(folder / "digits.csv", delimited_text(header, cells), force=True)


def png(ink: NDArray[Any]) -> bytes:
    r"""Return a picture of grey values, dark where ``ink`` (height, width) is 1, as PNG.

    >>> png(np.eye(2))[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    file = io.BytesIO()
    Image.fromarray(np.round(255 * (1.0 - ink)).astype(np.uint8)).save(file, "PNG")
    return file.getvalue()
