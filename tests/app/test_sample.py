"""The sample: files that belong together, the same for the same seed, noisy as people are."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from noisypairs.app.sample import (
    FILES,
    KINDS,
    N_PEOPLE,
    OTHERS,
    PICTURES,
    Piece,
    drawn,
    pieces,
    sample_files,
)


@pytest.fixture(scope="module")
def files():
    return sample_files()


@pytest.fixture(scope="module")
def tables(files):
    return {name: pd.read_csv(io.StringIO(files[name])) for name in FILES}


def test_ids_and_pictures_of_all_files_belong_together(files, tables):
    items, new = (tables[name] for name in ("items.csv", "new.csv"))
    asked = set(tables["pairs.csv"]["left"]) | set(tables["pairs.csv"]["right"])
    assert asked <= set(items["id"])
    assert not set(items["id"]) & set(new["id"])
    assert set(tables["truth.csv"]["id"]) == set(items["id"]) | set(new["id"])
    named = pd.concat([items["picture"], new["picture"]])
    assert set(named) == {name for name in files if name.startswith(f"{PICTURES}/")}
    assert list(new) == list(items)
    assert set(items.dtypes.astype(str)) >= {"float64", "int64"}


def test_every_kind_of_piece_looks_its_own_way(files, tables):
    picture = Image.open(io.BytesIO(files[tables["items.csv"]["picture"][0]]))
    assert (picture.size, picture.format) == ((96, 96), "PNG")
    truth = tables["truth.csv"].set_index("id")["kind"]
    sizes = tables["items.csv"].set_index("id").groupby(truth)[["height_cm", "width_cm"]].mean()
    assert sizes["height_cm"].idxmax() == "vase"
    assert sizes["width_cm"].idxmax() == "bowl"
    labels = tables["labels.csv"].set_index("id")["class"]
    assert labels.value_counts().to_dict() == {"bowl": 2, "mug": 2, "vase": 2}
    assert (labels == truth[labels.index]).all()


def test_twenty_people_answer_and_three_of_them_not_as_people_do(tables):
    answers = tables["pairs.csv"]
    truth = tables["truth.csv"].set_index("id")["kind"]
    same = truth[answers["left"]].to_numpy() == truth[answers["right"]].to_numpy()
    said = answers["same"].map({"yes": 1.0, "no": 0.0})
    assert 0 < said.isna().mean() < 0.05  # a few were not sure
    right = (said == same).where(said.notna()).astype(float)
    by = right.groupby(answers["annotator"]).mean()
    assert len(by) == N_PEOPLE
    honest = by.drop(list(OTHERS))
    assert honest.min() > 0.6
    assert 0.75 < honest.mean() < 0.95
    assert by["p18"] < 0.3
    assert said[answers["annotator"] == "p12"].mean() > 0.85


def test_the_seed_decides():
    first, again, other = (sample_files(seed)["pairs.csv"] for seed in (0, 0, 1))
    assert first == again != other


# --- pieces

#: Centimetres of height and width, and grams.
USUAL = {"bowl": (7.0, 15.5, 480.0), "mug": (9.5, 9.5, 330.0), "vase": (19.0, 10.0, 620.0)}
N = 4000


@pytest.fixture(scope="module")
def shop():
    return pieces(N, np.random.default_rng(0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("odd", [False, True])
def test_sizes_are_those_of_the_kind_and_of_odd_pieces_half_way_to_the_next(shop, kind, odd):
    """Mean logarithms within four standard errors: chance fails one of the 18 in 900 runs."""
    some = [one for one in shop if one.kind == kind and one.odd == odd]
    sizes = np.log([(one.height_cm, one.width_cm, one.weight_g) for one in some])
    after = KINDS[(KINDS.index(kind) + 1) % 3]
    usual = np.array([USUAL[kind], USUAL[after]]).mean(axis=0) if odd else USUAL[kind]
    off = sizes.mean(axis=0) - np.log(usual)
    assert (np.abs(off) < 4 * 0.16 / np.sqrt(len(some))).all()
    np.testing.assert_allclose(sizes.std(axis=0), 0.16, rtol=0.2)


def test_shares_of_kinds_odd_pieces_and_handles(shop):
    for kind, share, handles in (("bowl", 0.3, 0.06), ("mug", 0.4, 0.94), ("vase", 0.3, 0.05)):
        some = [one for one in shop if one.kind == kind]
        assert len(some) / N == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / N))
        n_handled = sum(one.handle for one in some)
        assert n_handled / len(some) == pytest.approx(handles, abs=0.03)
    assert sum(one.odd for one in shop) / N == pytest.approx(0.15, abs=0.025)
    assert [one.id for one in shop[:2]] == ["P001", "P002"]


# --- pictures

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
