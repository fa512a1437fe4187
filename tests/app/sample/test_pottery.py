"""The pieces of the sample: sizes, shares and odd ones as a shop would have them."""

from __future__ import annotations

import numpy as np
import pytest

from noisypairs.app.sample.pottery import KINDS, pieces

#: Centimetres of height and width, and grams.
USUAL = {"bowl": (7.0, 15.5, 480.0), "mug": (9.5, 9.5, 330.0), "vase": (19.0, 10.0, 620.0)}
N = 4000


@pytest.fixture(scope="module")
def found():
    return pieces(N, np.random.default_rng(0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("odd", [False, True])
def test_sizes_are_those_of_the_kind_and_of_odd_pieces_half_way_to_the_next(found, kind, odd):
    """Mean logarithms within four standard errors: chance fails one of the 18 in 900 runs."""
    some = [one for one in found if one.kind == kind and one.odd == odd]
    sizes = np.log([(one.height_cm, one.width_cm, one.weight_g) for one in some])
    after = KINDS[(KINDS.index(kind) + 1) % 3]
    usual = np.array([USUAL[kind], USUAL[after]]).mean(axis=0) if odd else USUAL[kind]
    off = sizes.mean(axis=0) - np.log(usual)
    assert (np.abs(off) < 4 * 0.16 / np.sqrt(len(some))).all()
    np.testing.assert_allclose(sizes.std(axis=0), 0.16, rtol=0.2)


def test_shares_of_kinds_odd_pieces_and_handles(found):
    for kind, share, handles in (("bowl", 0.3, 0.06), ("mug", 0.4, 0.94), ("vase", 0.3, 0.05)):
        some = [one for one in found if one.kind == kind]
        assert len(some) / N == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / N))
        n_handled = sum(one.handle for one in some)
        assert n_handled / len(some) == pytest.approx(handles, abs=0.03)
    assert sum(one.odd for one in found) / N == pytest.approx(0.15, abs=0.025)
    assert [one.id for one in found[:2]] == ["P001", "P002"]
