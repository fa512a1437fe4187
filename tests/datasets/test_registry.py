"""Every table of the registry is pinned, and the copies in the folder are as published."""

import os
from pathlib import Path

import numpy as np
import pytest

from noisypairs import datasets
from noisypairs.datasets.formats import ADULT_COLUMNS
from noisypairs.datasets.registry import ENTRIES

DATA = os.environ.get("NOISYPAIRS_DATA", "")


needs_folder = pytest.mark.skipif(not DATA, reason="NOISYPAIRS_DATA names no folder with tables")

# name -> (rows, columns, share of the positive class) of the folder's copies, as published.
PUBLISHED = {
    "adult": (48842, 106, 0.239),
    "diabetes": (768, 8, 0.349),
    "cancer": (569, 30, 0.373),
    "ionosphere": (351, 34, 0.641),
    "spambase": (4601, 57, 0.394),
    "magic": (19020, 10, 0.648),
    "banana": (5300, 2, 0.448),
}


def test_every_documented_name_is_listed():
    assert set(datasets.names()) == {"gaussians", "crowd", *PUBLISHED}


@needs_folder
@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_table_in_the_folder_has_the_published_shape_and_prior(name):
    bunch = datasets.load(name, return_X_y=False)
    n_items, n_features, share = PUBLISHED[name]
    assert bunch.data.shape == (n_items, n_features)
    assert bunch.data.dtype == np.float64
    assert np.isfinite(bunch.data).all()
    assert bunch.target.shape == (n_items,)
    assert set(np.unique(bunch.target)) == {0, 1}
    assert bunch.target.mean() == bunch.prior == pytest.approx(share, abs=5e-4)
    assert len(set(bunch.feature_names)) == n_features
    assert len(bunch.target_names) == 2
    assert bunch.source == "folder"


@needs_folder
def test_folder_digests_are_those_beside_the_data():
    lines = (Path(DATA) / "SHA256SUMS").read_text().splitlines()
    published = {path: value for value, path in (line.split("  ") for line in lines)}
    for entry in ENTRIES.values():
        for path, value in entry.folder.sha256.items():
            assert published[path] == value


@needs_folder
def test_adult_agrees_with_pandas():
    pandas = pytest.importorskip("pandas")
    read = {"names": ADULT_COLUMNS, "skipinitialspace": True, "comment": "|"}
    frames = [
        pandas.read_csv(Path(DATA) / "adult" / part, **read)
        for part in ("adult.data", "adult.test")
    ]
    frame = pandas.concat(frames, ignore_index=True)
    expected = pandas.get_dummies(
        frame.drop(columns=["fnlwgt", "education-num", "income"]), prefix_sep="=", dtype=float
    )
    bunch = datasets.load("adult", return_X_y=False)
    assert bunch.feature_names == list(expected.columns)
    np.testing.assert_array_equal(bunch.data, expected.to_numpy())
    np.testing.assert_array_equal(bunch.target, frame["income"].str.startswith(">50K"))


@needs_folder
def test_cancer_in_the_folder_equals_scikit_learn(monkeypatch):
    folder = datasets.load("cancer", return_X_y=False)
    monkeypatch.delenv("NOISYPAIRS_DATA")
    package = datasets.load("cancer", return_X_y=False)
    assert (folder.source, package.source) == ("folder", "scikit-learn")
    np.testing.assert_array_equal(folder.data, package.data)
    np.testing.assert_array_equal(folder.target, package.target)
    assert folder.feature_names == package.feature_names


def test_every_origin_is_pinned():
    for entry in ENTRIES.values():
        assert entry.requirement == "scikit-learn" or "==" in entry.requirement
        for copy in (entry.folder, entry.origin):
            assert all(len(bytes.fromhex(value)) == 32 for value in copy.sha256.values())
            assert copy.shape[0] > 0
