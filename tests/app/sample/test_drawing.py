"""The drawn pieces: as tall, wide and shaped as they are said to be."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from noisypairs.app.sample.drawing import drawn
from noisypairs.app.sample.pottery import Piece

#: Pixels of a centimetre: the picture shows 30 cm.
CM = 96 / 30
HEIGHT, WIDTH = 15.0, 12.0


def pixels(kind, **changes):
    """Return which pixels of a blue piece's picture are blue, whatever their shade."""
    said = {"handle": False, "odd": False} | changes
    piece = Piece("P1", kind, "a piece", "glass", HEIGHT, WIDTH, 400, "blue", **said)
    picture = Image.open(io.BytesIO(drawn(piece))).convert("RGB")
    red, _, blue = np.moveaxis(np.asarray(picture, dtype=int), 2, 0)
    return blue - red > 40


def widths(found):
    """Return the width near the foot, in the middle and near the top, as shares of the greatest."""
    rows = np.flatnonzero(found.any(axis=1))
    at = [round(np.quantile(rows, share)) for share in (0.95, 0.5, 0.12)]
    return found[at].sum(axis=1) / (WIDTH * CM)


@pytest.mark.parametrize("kind", ["mug", "bowl", "vase"])
def test_a_piece_stands_in_the_middle_and_has_its_size(kind):
    found = pixels(kind)
    rows, columns = (np.flatnonzero(found.any(axis=axis)) for axis in (1, 0))
    assert columns.mean() == pytest.approx(47.5, abs=1.0)
    assert np.ptp(columns) == pytest.approx(WIDTH * CM, rel=0.1)
    assert np.ptp(rows) == pytest.approx(HEIGHT * CM, abs=4.0)  # and half of the rim's ellipse
    assert rows[-1] == pytest.approx(0.86 * 96, abs=1.5)


def test_every_kind_has_a_shape_of_its_own_and_an_odd_piece_one_between_two():
    foot, middle, top = widths(pixels("mug"))
    assert foot == pytest.approx(middle, abs=0.06)
    assert middle == pytest.approx(top, abs=0.06)
    foot, middle, top = widths(pixels("bowl"))
    assert foot < 0.75 < middle < top
    vase = widths(pixels("vase"))
    assert vase[2] < 0.6 < vase[0] < vase[1]
    between = widths(pixels("mug", odd=True))  # mugs lean towards vases
    np.testing.assert_allclose(between, (widths(pixels("mug")) + vase) / 2, atol=0.06)


def test_a_handle_is_on_the_right():
    plain, handled = pixels("mug"), pixels("mug", handle=True)
    assert handled[:, :48].sum() == pytest.approx(plain[:, :48].sum(), rel=0.05)
    assert handled[:, 48:].sum() > 1.1 * plain[:, 48:].sum()
