"""Content in, classes out: columns of pictures and sounds in every command that reads items."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy.io import wavfile

from noisypairs.app.encoding import describe, encoded, encoders_of, item_encoder
from noisypairs.app.files import read_dataset
from noisypairs.encoders import Histograms, Spectra
from noisypairs.errors import MissingExtra
from tests.cli.commands import run

N = 60


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Red and blue pictures and high and low sounds of two classes, answers, and new items."""
    folder = tmp_path_factory.mktemp("shop")
    rng = np.random.default_rng(0)
    y = np.arange(2 * N) % 2
    (folder / "p").mkdir()
    for k, kind in enumerate(y):
        level = rng.integers(0, 120, (12, 12, 3)) + 100 * np.array([kind, 0, 1 - kind])
        Image.fromarray(level.astype(np.uint8)).save(folder / "p" / f"i{k}.png")
        wave = np.sin(2 * np.pi * (300 + 900 * kind) * np.arange(2000) / 8000)
        wavfile.write(folder / "p" / f"s{k}.wav", 8000, (9000 * wave).astype(np.int16))
    left, right = rng.integers(N, size=(2, 500))
    said = (y[left] == y[right]) ^ (rng.random(500) < 0.1)
    rows = [f"i{i},i{j},{'yes' if s else 'no'}" for i, j, s in zip(left, right, said, strict=True)]
    (folder / "pairs.csv").write_text("\n".join(["left,right,same", *rows]))
    for name, first in (("items.csv", 0), ("new.csv", N)):
        rows = [f"i{k},p/i{k}.png,{k % 7}" for k in range(first, first + N)]
        (folder / name).write_text("\n".join(["id,photo,size", *rows]))
    return folder


def test_columns_of_files_are_content_and_said_to_be(shop):
    data = read_dataset(shop / "items.csv", shop / "pairs.csv")
    plans = {one.name: one for one in describe(data.features, "histograms")}
    assert (plans["photo"].kind, plans["photo"].note) == (
        "picture",
        "pictures in files; by histograms",
    )
    assert data.features["photo"].iloc[0] == "p/i0.png"  # as the table has it
    found = encoded(data.features[["photo"]], encode="histograms")
    paths = [shop / name for name in data.features["photo"]]
    plain = Histograms().fit_transform(paths)
    assert found.X.shape[0] == N
    assert np.linalg.matrix_rank(np.c_[found.X, plain]) <= np.linalg.matrix_rank(plain) + 1


def test_sounds_are_read_by_spectra():
    assert isinstance(encoders_of()["sound"], Spectra)


@pytest.mark.parametrize(
    ("encode", "says"),
    [
        ("histogram", "did you mean 'histograms'"),
        ("words,words", "names two encoders that read text"),
    ],
)
def test_encoders_that_are_none_are_refused(encode, says):
    with pytest.raises(ValueError, match=says):
        encoders_of(encode)


def test_an_encoder_without_its_package_is_named_with_the_extra(monkeypatch):
    monkeypatch.setattr("noisypairs.encoders.WordLlama.needs", ("no_such_package",))
    with pytest.raises(MissingExtra, match=r"noisypairs\[text\]"):
        encoders_of("wordllama")
    assert encoders_of()["text"].name == "words"


def test_an_encoder_of_what_no_column_holds_is_refused():
    table = pd.DataFrame({"size": np.arange(9.0) ** 2})
    with pytest.raises(ValueError, match=r"--encode spectra reads sound, but no column .*: size"):
        item_encoder(table, encode="spectra")


def test_files_that_cannot_be_read_are_a_line_each_and_missing(shop, tmp_path):
    for k in range(5):
        (tmp_path / f"{k}.png").write_bytes((shop / "p" / f"i{k}.png").read_bytes())
    (tmp_path / "1.png").write_text("no picture")
    (tmp_path / "items.csv").write_text("id,photo\n" + "\n".join(f"a{k},{k}.png" for k in range(5)))
    (tmp_path / "pairs.csv").write_text("left,right,same\na0,a1,yes\na2,a3,no\n")
    data = read_dataset(tmp_path / "items.csv", tmp_path / "pairs.csv")
    found = encoded(data.features, encode="histograms")
    assert found.notes == (
        "1.png is no picture that can be read (UnidentifiedImageError), and counts as missing",
    )
    assert np.isfinite(found.X).all()


def test_fit_check_plan_and_predict_take_a_column_of_pictures(shop, tmp_path, monkeypatch):
    monkeypatch.setenv("NOISYPAIRS_CACHE", str(tmp_path / "cache"))
    model, classes = tmp_path / "m.skops", tmp_path / "c.csv"
    items, pairs = str(shop / "items.csv"), str(shop / "pairs.csv")
    how = ["--encode", "histograms", "--classes", "2"]
    report = tmp_path / "r.html"
    done = run("fit", items, pairs, "-o", str(model), "--report", str(report), *how)
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "cache" / "features").is_file()
    assert "data:image/" in report.read_text()
    monkeypatch.setattr(Histograms, "encode", None)  # what is known is not made again
    done = run("check", items, pairs, *how)
    assert done.exit_code == 0, done.stderr
    assert "by histograms" in done.stdout
    monkeypatch.undo()
    done = run("predict", str(model), str(shop / "new.csv"), "-o", str(classes))
    assert done.exit_code == 0, done.stderr
    found = pd.read_csv(classes)
    assert len(found.groupby([np.arange(N) % 2, "class"])) == 2  # one name for each kind


def test_a_model_of_a_folder_is_told_where_new_pictures_are(shop, tmp_path, monkeypatch):
    monkeypatch.setenv("NOISYPAIRS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "items.csv").write_text("id\n" + "\n".join(f"i{k}" for k in range(N)))
    model = tmp_path / "m.skops"
    given = [str(tmp_path / "items.csv"), str(shop / "pairs.csv"), "--images", str(shop / "p")]
    done = run("fit", *given, "-o", str(model), "--classes", "2", "--encode", "histograms")
    assert done.exit_code == 0, done.stderr
    (tmp_path / "new.csv").write_text("id\n" + "\n".join(f"i{k}" for k in range(N, 2 * N)))
    new = ["predict", str(model), str(tmp_path / "new.csv"), "-o", str(tmp_path / "c.csv")]
    done = run(*new)
    assert done.exit_code == 1
    assert "name the folder of the files, or their column, with --images" in done.stderr
    done = run(*new, "--images", str(shop / "p"))
    assert done.exit_code == 0, done.stderr
