"""What every encoder promises: a name, rows by the item alone, and a line for the broken."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from noisypairs import encoders
from noisypairs.encoders import (
    ENCODERS,
    Encoder,
    Histograms,
    RowEncoder,
    UnreadableContent,
    UnreadableContentWarning,
    best,
    cached_in,
    named,
)
from noisypairs.encoders.encoder import MOST_BYTES, as_column
from noisypairs.errors import MissingExtra
from noisypairs.graph.progress import listening

read: list[bytes] = []


class Lengths(RowEncoder):
    """The length of a file, and of its first line."""

    reads = "picture"
    width = 2
    batch = 3

    def __init__(self, unit: float = 1.0) -> None:
        self.unit = unit

    def decode(self, content: bytes) -> bytes:
        read.append(content)
        if content == b"bad":
            raise UnreadableContent("is bad")
        return content

    def encode(self, items):
        return np.array([[len(one), len(one.split(b"\n")[0])] for one in items]) / self.unit


Lengths.name = "lengths"  # so that it is not among the known ones


@pytest.fixture
def files(tmp_path):
    read.clear()
    for name, text in {"a": "one", "b": "four\nfive", "c": "bad", "d": "one"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def test_every_encoder_says_what_it_is() -> None:
    for name, cls in ENCODERS.items():
        assert issubclass(cls, Encoder)
        assert (cls.name, cls.__name__) == (name, getattr(encoders, cls.__name__).__name__)
        assert cls.licence
        assert cls.reads in ("text", "picture", "sound")
        assert clone(cls()).get_params() == cls().get_params()
        assert (cls.size > 0) <= bool(cls.needs)  # weights come with a package
    assert {best(reads).reads for reads in ("text", "picture", "sound")} == {
        "text",
        "picture",
        "sound",
    }


def test_a_class_with_a_name_is_known_and_without_a_rank_not_taken_by_itself(monkeypatch) -> None:
    monkeypatch.setattr("noisypairs.encoders.encoder.ENCODERS", known := dict(ENCODERS))

    class Vowels(Encoder):
        name, reads = "vowels", "text"

        def transform(self, X):
            return np.array([[sum(map(text.count, "aeiou"))] for text in as_column(X)])

    assert isinstance(named("vowels"), Vowels)
    assert known["vowels"] is Vowels
    assert not isinstance(best("text"), Vowels)
    Vowels.rank = 99
    assert isinstance(best("text"), Vowels)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("wrds", "did you mean 'words'"),
        ("timm", "did you mean 'timm:MODEL'"),
        ("timm:", "did you mean 'timm:MODEL'"),
        ("words:small", "did you mean 'words'"),
    ],
)
def test_a_name_that_is_none_gets_a_hint(name: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        named(name)


def test_rows_are_in_order_and_what_cannot_be_read_is_missing_and_said(files) -> None:
    cells = [str(files / name) for name in "abcd"] + [None, float("nan"), " ", str(files / "none")]
    with pytest.warns(UnreadableContentWarning) as caught:
        found = Lengths().fit_transform(cells)
    np.testing.assert_array_equal(found[:4], [[3, 3], [9, 4], [np.nan, np.nan], [3, 3]])
    assert np.isnan(found[4:]).all()
    said = [str(one.message) for one in caught]
    assert said == [f"{files / 'c'} is bad", f"{files / 'none'} does not exist"]


def test_a_huge_file_is_not_read(files) -> None:
    with (files / "huge").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.warns(UnreadableContentWarning, match=r"has 200 MB, more than 200"):
        found = Lengths().fit_transform([str(files / "huge")])
    assert (read, found.shape, np.isnan(found).all()) == ([], (1, 2), True)


def test_rows_are_kept_by_content_whatever_the_name_and_by_encoder(files) -> None:
    place = files / "kept" / "rows"
    with cached_in(place):
        first = Lengths().fit_transform([files / "a", files / "b"])
        (files / "a").rename(files / "moved")
        assert len(read) == 2
        again = Lengths().fit_transform([files / "b", files / "moved", files / "d"])
        assert len(read) == 2  # d holds what a held
        np.testing.assert_array_equal(again, first[[1, 0, 0]])
        halves = Lengths(unit=2.0).fit_transform([files / "b"])
        np.testing.assert_array_equal(halves, first[[1]] / 2)
        (files / "b").write_text("new")
        np.testing.assert_array_equal(Lengths().fit_transform([files / "b"]), [[3, 3]])
    Lengths().fit_transform([files / "moved"])
    assert read[-1] == b"one"  # outside of the block nothing is kept


def test_it_says_how_far_it_is(files) -> None:
    told: list[str] = []
    with listening(lambda stages, _: told.append(str(stages[-1]))):
        Lengths().fit_transform([files / "a", files / "b"])
    assert told[:2] == ["picture 1 of 2", "picture 2 of 2"]


def test_an_encoder_is_a_step_of_a_pipeline_and_of_a_pair_learner(tmp_path) -> None:
    from PIL import Image

    from noisypairs import JointPairClassifier, Pairs

    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    for k, kind in enumerate(y):
        level = rng.integers(0, 120, (8, 8, 3)) + 100 * np.array([kind, 0, 1 - kind])
        Image.fromarray(level.astype(np.uint8)).save(tmp_path / f"{k}.png")
    names = pd.DataFrame({"photo": [str(tmp_path / f"{k}.png") for k in range(60)]})
    plain = make_pipeline(Histograms(), LogisticRegression()).fit(names[:30], y[:30])
    assert plain.score(names[30:], y[30:]) == 1.0
    left, right = rng.integers(60, size=(2, 300))
    pairs = Pairs(left, right, y[left] == y[right], n_items=60)
    X = Histograms().fit_transform(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = JointPairClassifier(LogisticRegression(), n_classes=2, random_state=0).fit(X, pairs)
    assert model.score(X, y) == 1.0


def test_a_missing_package_is_named_with_its_extra(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    encoder = named("sentence-transformers:any")
    assert not encoder.is_installed()
    with pytest.raises(MissingExtra, match=r"pip install 'noisypairs\[sentence-transformers\]'"):
        encoder.fit_transform(["a text"])


def test_the_key_of_an_encoder_without_a_model_does_not_follow_the_working_folder(
    tmp_path, monkeypatch
):
    """Else nothing that was kept would be found after any file beside the data had changed."""
    monkeypatch.chdir(tmp_path)
    before = Lengths().key
    (tmp_path / "items.csv").write_text("id\n")
    assert Lengths().key == before != Lengths(unit=2.0).key
