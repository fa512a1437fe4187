"""Pairs too large to load, from the files to the commands, with the thresholds lowered."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tests.app.fit.fit_problems import NOISE, write_files

pytest.importorskip("ibis", reason="pair tables need the app extra")
pytest.importorskip("duckdb", reason="pair tables need the app extra")
pytest.importorskip("pyarrow", reason="pair tables need the app extra")


from noisypairs import PairTable, WeightedPairClassifier, cli
from noisypairs import classifier as joint
from noisypairs.app import annotators as annotators_module
from noisypairs.app import check as check_module
from noisypairs.app.check import check
from noisypairs.app.files import BadFile, Columns, dataset, read_dataset
from noisypairs.app.fit import fitting
from noisypairs.app.suspects import training_suspects


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Items and answers as CSV, and the answers as a folder of two Parquet parts."""
    folder = tmp_path_factory.mktemp("large")
    found = write_files(folder, n_items=120, n_pairs=2400)
    answers = pd.read_csv(found.pairs)
    parts = folder / "pairs"
    parts.mkdir()
    answers.iloc[:1500].to_parquet(parts / "0.parquet")
    answers.iloc[1500:].to_parquet(parts / "1.parquet")
    return found, parts


@pytest.fixture
def lowered(monkeypatch):
    """Every file counts as too large, and every sample is a real one."""
    monkeypatch.setattr(dataset, "MOST_ROWS", 1000)
    monkeypatch.setattr(dataset, "MOST_BYTES", 10_000)
    monkeypatch.setattr(joint, "SEARCH_PAIRS", 1600)
    monkeypatch.setattr(fitting, "MOST_JUDGED", 1600)
    monkeypatch.setattr(check_module, "MOST_PAIRS_CHECKED", 1600)
    monkeypatch.setattr(annotators_module, "MOST_ANSWERS_COMPARED", 1600)
    monkeypatch.setattr(joint, "PAIRS_FOR_INTERVALS", 1000)


def run(*words: object):
    return CliRunner().invoke(cli.application(), [*map(str, words)])


def test_small_tables_are_loaded_even_where_a_table_would_do(files):
    found, parts = files
    for path in (found.pairs, parts):
        assert not isinstance(read_dataset(found.items, path, stream=True).pairs, PairTable)


@pytest.mark.usefixtures("lowered")
def test_nobody_gets_a_table_unasked(files):
    found, parts = files
    assert not isinstance(read_dataset(found.items, parts).pairs, PairTable)


@pytest.mark.usefixtures("lowered")
@pytest.mark.parametrize("folder", [True, False], ids=["parquet folder", "csv"])
def test_a_large_table_reads_as_the_small_one_does(files, folder):
    found, parts = files
    path = parts if folder else found.pairs
    streamed = read_dataset(found.items, path, labels=found.labels, stream=True)
    loaded = read_dataset(found.items, path, labels=found.labels, keep_copies=True)
    assert isinstance(streamed.pairs, PairTable)
    assert streamed.pairs.n_pairs == loaded.pairs.n_pairs == 2400
    assert streamed.ids == loaded.ids
    assert (
        streamed.columns == loaded.columns == Columns("left", "right", "answer", "worker", "photo")
    )
    assert streamed.mapping == loaded.mapping == {"yes": "same", "no": "different"}
    assert streamed.annotator_names == loaded.annotator_names
    assert dict(streamed.pairs.labels) == dict(loaded.pairs.labels)
    np.testing.assert_array_equal(
        streamed.pairs.item_counts().same,
        np.bincount(
            np.concatenate([loaded.pairs.left, loaded.pairs.right]),
            np.tile(loaded.pairs.same & (loaded.pairs.left != loaded.pairs.right), 2),
            minlength=120,
        ),
    )
    assert streamed.sources == loaded.sources
    assert any("2,400 rows, too many to load" in note for note in streamed.notes)


@pytest.mark.usefixtures("lowered")
def test_pairs_without_items_name_their_own(files):
    _, parts = files
    data = read_dataset(None, parts, stream=True)
    assert isinstance(data.pairs, PairTable)
    assert data.features is None
    assert data.ids == sorted(data.ids)
    assert len(data.ids) == 120


@pytest.mark.usefixtures("lowered")
def test_whole_numbers_meet_ids_in_text_and_strangers_are_counted(tmp_path):
    rng = np.random.default_rng(0)
    left, right = rng.integers(8, size=(2, 1500))
    answers = pd.DataFrame({"left": left + 10, "right": right + 10, "same": left == right})
    answers.to_parquet(tmp_path / "pairs.parquet")
    items = tmp_path / "items.csv"
    items.write_text("id,w\n" + "".join(f"{k},{k}\n" for k in range(10, 17)))
    data = read_dataset(items, tmp_path / "pairs.parquet", stream=True)
    known = (left < 7) & (right < 7)
    assert data.pairs.n_pairs == known.sum()
    assert any(f"{(~known).sum()} answers left out that name unknown" in n for n in data.notes)
    items.write_text("id,w\na,1\nb,2\n")
    with pytest.raises(
        BadFile, match=r"whole numbers such as .*, but the items have ids such as 'a'"
    ):
        read_dataset(items, tmp_path / "pairs.parquet", Columns(id="id"), stream=True)
    items.write_text("id,w\n100,1\n200,2\n")
    with pytest.raises(BadFile, match=r"the first holds '1\d', '1\d', …, the second 100, 200"):
        read_dataset(items, tmp_path / "pairs.parquet", Columns(id="id"), stream=True)


@pytest.mark.usefixtures("lowered")
def test_ids_are_matched_as_in_a_small_table(tmp_path):
    rng = np.random.default_rng(0)
    left, right = rng.integers(1, 9, size=(2, 1500))
    path, items = tmp_path / "pairs.csv", tmp_path / "items.csv"
    pd.DataFrame({"left": left, "right": right, "same": left == right}).to_csv(path, index=False)
    items.write_text("id,w\n" + "".join(f"{k:03},{k}\n" for k in range(9)))
    streamed, loaded = (
        read_dataset(items, path, stream=stream, keep_copies=True) for stream in (True, False)
    )
    assert isinstance(streamed.pairs, PairTable)
    assert streamed.ids == loaded.ids == [f"{k:03}" for k in range(9)]
    assert streamed.pairs.n_pairs == loaded.pairs.n_pairs == 1500
    found, expected = streamed.pairs.item_counts(), loaded.pairs.item_counts()
    np.testing.assert_array_equal(found.different, expected.different)
    for read in (streamed, loaded):
        assert any("8 ids of pairs.csv matched to items.csv only" in note for note in read.notes)


@pytest.mark.usefixtures("lowered")
@pytest.mark.parametrize(
    ("row", "said"),
    [('"a,b,yes', "CSV Error on Line: 2001"), ("a,b", "CSV Error on Line: 2001")],
    ids=["an open quote", "a cell too few"],
)
def test_a_damaged_row_of_a_large_table_is_refused_by_line(tmp_path, row, said):
    rows = [f"a{k % 9},b{k % 7},yes" for k in range(4000)]
    rows[1999] = row
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(["left,right,same", *rows]) + "\n")
    with pytest.raises(ValueError, match=rf"pairs\.csv.*{said}"):
        read_dataset(None, path, stream=True)


@pytest.mark.usefixtures("lowered")
def test_weights_count_in_a_large_table_too(tmp_path):
    rng = np.random.default_rng(0)
    left, right = rng.integers(8, size=(2, 1500))
    data = {"left": left, "right": right, "same": left == right, "weight": rng.integers(1, 4, 1500)}
    path = tmp_path / "pairs.parquet"
    pd.DataFrame(data).to_parquet(path)
    items = tmp_path / "items.csv"
    items.write_text("id,w\n" + "".join(f"{k},{k}\n" for k in range(8)))
    streamed, loaded = (
        read_dataset(items, path, stream=stream, keep_copies=True) for stream in (True, False)
    )
    assert isinstance(streamed.pairs, PairTable)
    found, expected = streamed.pairs.item_counts(), loaded.pairs.item_counts()
    np.testing.assert_array_equal(found.different, expected.different)
    for read in (streamed, loaded):
        assert "pairs.parquet: answers count by a column of weights" in read.notes


@pytest.mark.usefixtures("lowered")
def test_columns_are_found_by_ids_and_own_words_read_as_in_a_small_table(tmp_path):
    rng = np.random.default_rng(0)
    ends = np.array([f"s{k}" for k in range(8)])[rng.integers(8, size=(2, 1500))]
    said = np.where(ends[0] == ends[1], "aye", "nay")
    path, items = tmp_path / "pairs.parquet", tmp_path / "items.csv"
    pd.DataFrame({"u": ends[0], "batch": 4, "v": ends[1], "same": said}).to_parquet(path)
    items.write_text("code,w\n" + "".join(f"s{k},{k}.5\n" for k in range(8)))
    with pytest.raises(BadFile, match=r'--answers "(aye|nay)=…,(aye|nay)=…"'):
        read_dataset(items, path, stream=True)
    words = {"aye": "same", "nay": "different"}
    read = read_dataset(items, path, stream=True, words=words)
    assert isinstance(read.pairs, PairTable)
    assert (read.columns.left, read.columns.right, read.columns.id) == ("u", "v", "code")
    assert read.mapping == words


@pytest.mark.usefixtures("lowered")
def test_a_damaged_part_and_a_missing_column_are_named(files, tmp_path):
    found, parts = files
    for part in parts.iterdir():
        (tmp_path / part.name).write_bytes(part.read_bytes())
    with pytest.raises(BadFile, match="did you mean 'answer'"):
        read_dataset(found.items, tmp_path, Columns(same="anwser"), stream=True)
    cut = tmp_path / "1.parquet"
    cut.write_bytes(cut.read_bytes()[:-200])
    with pytest.raises(BadFile, match=r"1\.parquet cannot be read as Parquet"):
        read_dataset(found.items, tmp_path, stream=True)


@pytest.mark.usefixtures("lowered")
def test_check_counts_all_and_fits_some(files):
    found, parts = files
    streamed = check(read_dataset(found.items, parts, stream=True), seed=0)
    loaded = check(read_dataset(found.items, parts, keep_copies=True), seed=0)
    for name in ("n_pairs", "contradictions", "repeated_pairs", "components", "same_share"):
        assert getattr(streamed.audit, name) == getattr(loaded.audit, name)
    assert [v.outlook for v in streamed.methods] == [v.outlook for v in loaded.methods]
    ours, theirs = streamed.noise, loaded.noise
    assert ours.similar_flip.estimate == pytest.approx(theirs.similar_flip.estimate, abs=0.06)
    assert streamed.triangles.closed > 30
    assert abs(streamed.triangles.beyond) < 4


@pytest.mark.usefixtures("lowered")
@pytest.mark.parametrize("method", ["joint", "weighted"])
def test_fit_learns_from_a_folder(files, tmp_path, method):
    found, parts = files
    model = tmp_path / "model.skops"
    words = ["fit", found.items, parts, "-o", model, "--method", method, "--estimator", "logistic"]
    done = run(*words, "--labels", found.labels, "--json", "--quiet")
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    told = json.loads(done.stdout)
    assert told["n_pairs"] == 2400
    assert told["accuracy"]["estimate"] > 0.9
    assert told["suspects"]
    worst = [one["probability"] for one in told["suspects"]]
    assert worst == sorted(worst, reverse=True)
    assert told["suspects"][0]["annotator"] in ("ann", "bob", "cid")
    assert 0 < told["n_suspects"] < 600
    predicted = run("predict", model, found.items, "-o", tmp_path / "out.csv", "--quiet")
    assert predicted.exit_code == 0, predicted.stderr
    named = pd.read_csv(tmp_path / "out.csv")["class"]
    assert np.mean((named == "yew") == (found.y == 1)) > 0.95


def test_suspects_of_a_pointwise_learner_are_those_of_its_pairs(files):
    found, parts = files
    data = read_dataset(found.items, parts, keep_copies=True)
    table = PairTable.from_parquet(parts, items=data.ids, same="answer", annotator="worker")
    X = data.features[["width"]].to_numpy()
    model = WeightedPairClassifier(noise=NOISE, class_order="falling").fit(X, table)
    streamed = training_suspects(model, X, table, data.features, data.ids)
    loaded = training_suspects(model, X, data.pairs, data.features, data.ids)
    assert streamed.n_wrong == loaded.n_wrong == len(loaded) == len(streamed) > 0
    chances = [sorted(one.probability for one in some) for some in (streamed, loaded)]
    np.testing.assert_allclose(*chances, rtol=1e-9)
    assert {one.left for one in streamed} <= set(data.ids)


@pytest.mark.usefixtures("lowered")
@pytest.mark.parametrize("with_items", [True, False])
def test_annotators_counts_everybody(files, with_items):
    found, parts = files
    items = [found.items] if with_items else []
    done = run("annotators", parts, *items, "--gold", found.labels, "--json", "--quiet")
    assert done.exit_code == 0, done.stderr
    assert done.stderr == ""
    told = json.loads(done.stdout)
    answers = pd.read_csv(found.pairs)["worker"].value_counts()
    assert {row["name"]: row["n_answers"] for row in told["annotators"]} == answers.to_dict()
    assert any("all 2,400 answers" in note for note in told["notes"])
    for row in told["annotators"]:
        assert row["similar_flip"] == pytest.approx(0.15, abs=0.06)
        assert row["gold_same"] + row["gold_different"] < 20


def test_the_digest_is_that_of_the_file(files):
    found, _ = files
    data = read_dataset(found.items, found.pairs, stream=True)
    assert data.sources[1]["sha256"] == hashlib.sha256(Path(found.pairs).read_bytes()).hexdigest()


def test_a_command_prints_nothing_more_when_it_ends(files):
    """Engines have things to say while an interpreter is taken down; nobody wants to read them."""
    _, parts = files
    code = (
        "import sys; from noisypairs.app.files import dataset; dataset.MOST_ROWS = 1000; "
        f"sys.argv = ['noisypairs', 'annotators', {str(parts)!r}, '--quiet', '--json']; "
        "from noisypairs.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert json.loads(done.stdout)["suspects"] == []


@pytest.mark.usefixtures("lowered")
@pytest.mark.parametrize("raw", [False, True])
def test_ids_that_a_spreadsheet_would_run_are_matched_in_both_forms(files, tmp_path, raw):
    found, _ = files
    answers, items = pd.read_csv(found.pairs), pd.read_csv(found.items)
    mark = "=" if raw else "'="
    for end in ("left", "right"):
        answers[end] = mark + answers[end]
    answers.to_csv(tmp_path / "pairs.csv", index=False)
    items.assign(photo="=" + items["photo"]).to_csv(tmp_path / "items.csv", index=False)
    large_ = read_dataset(
        tmp_path / "items.csv", tmp_path / "pairs.csv", Columns(id="photo"), stream=True
    )
    assert isinstance(large_.pairs, PairTable)
    assert large_.pairs.n_pairs == len(answers)
    assert large_.ids[0] == "=p000"
