"""The pictures of the sample, drawn with Pillow: a piece of pottery on a table, 96 by 96 pixels."""

from __future__ import annotations

import io

import numpy as np

from noisypairs.algebra import Array
from noisypairs.app.sample.pottery import Piece
from noisypairs.errors import MissingExtra

try:
    from PIL import Image, ImageDraw
except ImportError as error:
    raise MissingExtra("pillow", "app", "noisypairs sample") from error

#: Pixels of a side, and how much larger a picture is drawn before it is made smooth.
SIDE, TIMES = 96, 4
#: Pixels of the drawing for a centimetre.
SCALE = SIDE * TIMES / 30
_GLAZES = {
    "white": (236, 233, 226),
    "blue": (62, 98, 158),
    "green": (92, 130, 92),
    "rust": (170, 92, 56),
    "black": (58, 56, 60),
    "sand": (208, 182, 140),
}
_WALL, _TABLE, _SHADOW = (222, 226, 230), (190, 168, 142), (158, 138, 116)


def drawn(piece: Piece) -> bytes:
    """Return the picture of a piece as a PNG file."""
    size = SIDE * TIMES
    picture = Image.new("RGB", (size, size), _WALL)
    pen = ImageDraw.Draw(picture)
    floor = int(0.86 * size)
    pen.rectangle((0, int(0.74 * size), size, size), fill=_TABLE)
    colour = _GLAZES[piece.glaze]
    half, top = piece.width_cm * SCALE / 2, floor - piece.height_cm * SCALE
    middle = size / 2
    pen.ellipse((middle - half, floor - 18, middle + 1.3 * half, floor + 22), fill=_SHADOW)
    if piece.handle:
        ring = 0.45 * (floor - top)
        box = (middle + half - ring, top + 0.4 * ring, middle + half + ring, top + 1.9 * ring)
        pen.ellipse(box, outline=_shaded(colour, 0.85), width=int(0.3 * ring) + 4)
    level = np.linspace(0.0, 1.0, 40)  # 0 is the foot
    profile = half * _profile(piece, level)
    ys = floor - level * (floor - top)
    left = list(zip(middle - profile, ys, strict=True))
    right = list(zip(middle + profile, ys, strict=True))
    pen.polygon(left + right[::-1], fill=colour)
    light = [(middle - 0.55 * (middle - x), y) for x, y in left]
    pen.line(light[6:-6], fill=_shaded(colour, 1.18), width=10)
    rim = profile[-1]
    pen.ellipse((middle - rim, top - 12, middle + rim, top + 12), fill=_shaded(colour, 0.7))
    small = picture.resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    small.quantize(48).save(file, "PNG", optimize=True)
    return file.getvalue()


def _profile(piece: Piece, level: Array) -> Array:
    """Return half the width at each level, as a share of the greatest."""
    straight = np.full_like(level, 0.94)
    bowl = 0.42 + 0.58 * np.sqrt(level)
    vase = 0.62 + 0.38 * np.sin(np.pi * (0.15 + 0.95 * level)) - 0.15 * level
    own: dict[str, Array] = {"mug": straight, "bowl": bowl, "vase": vase}
    kinds = sorted(own)
    if not piece.odd:
        return own[piece.kind]
    like = own[kinds[(kinds.index(piece.kind) + 1) % 3]]
    between: Array = (own[piece.kind] + like) / 2
    return between


def _shaded(colour: tuple[int, int, int], share: float) -> tuple[int, int, int]:
    red, green, blue = (min(255, int(share * one)) for one in colour)
    return red, green, blue
