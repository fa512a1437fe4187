"""The sample: files that belong together, the same for the same seed, noisy as people are."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from PIL import Image

from noisypairs.app.sample import FILES, N_PEOPLE, OTHERS, PICTURES, sample_files


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
