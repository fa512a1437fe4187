"""``noisypairs check`` from files to exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from noisypairs import PairingNoise, cli, datasets, sample_pairs
from tests.app.page_reader import words_of


def run(*words: object):
    return CliRunner().invoke(cli.application(), ["check", *map(str, words)])


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("files")
    X, y = datasets.load("gaussians", n_samples=100, prior=0.3, random_state=0)
    pairs = sample_pairs(y, 800, PairingNoise(0.2, 0.1), random_state=0)
    rng = np.random.default_rng(0)
    rows = [f"{k:03d},{a:.4f},{b:.4f},{rng.choice(['red', 'blue'])}" for k, (a, b) in enumerate(X)]
    items = folder / "items.csv"
    items.write_text("id,x0,x1,colour\n" + "\n".join(rows) + "\n")
    answers = [
        f"{a:03d},{b:03d},{'yes' if same else 'no'},w{k % 4}"
        for k, (a, b, same) in enumerate(zip(pairs.left, pairs.right, pairs.same, strict=True))
    ]
    answers += ["001,001,yes,w1", "001,999,no,w1", "002,003,unsure,w2"]
    path = folder / "pairs.csv"
    path.write_text("item_a,item_b,answer,worker\n" + "\n".join(answers) + "\n")
    return items, path


@pytest.fixture(scope="module")
def report(files):
    result = run(*files)
    assert result.exit_code == 0, result.stderr
    return result


def test_the_report_says_what_was_read_and_found(report):
    for words in (
        "left = 'item_a', right = 'item_b', same = 'answer', annotator = 'worker', id = 'id'",
        "'yes' → same, 'no' → different",
        "1 answer missing or unsure",
        "an item unknown to items.csv, such as '999'",
        "1 pair of an item with itself kept",
        "(similar_flip)",
        "(dissimilar_flip)",
        "share of class 1 (prior)",
        "signal |a − b|",
        "closed triangles are broken",
        "joint       works",
        "weighted    works",
        "correction  works",
        "components",
        "answers per item",
        "Findings",
    ):
        assert words in report.stdout, words
    assert "\x1b" not in report.stdout


def test_progress_is_on_stderr_and_quiet_silences_it(report, files):
    assert "fitting the joint learner" in report.stderr
    assert "fitting the joint learner" not in report.stdout
    quiet = run(*files, "--no-fit", "--quiet")
    assert quiet.exit_code == 0
    assert quiet.stderr == ""


def test_json_and_seed(files):
    first, second = (run(*files, "--json", "--quiet", "--seed", 3) for _ in range(2))
    assert first.exit_code == 0
    assert first.stdout == second.stdout
    found = json.loads(first.stdout)
    assert found["seed"] == 3
    assert found["columns"]["left"] == "item_a"
    assert found["audit"]["unknown"] == found["audit"]["unsure"] == 1
    rate = found["noise"]["similar_flip"]
    assert rate["low"] <= rate["estimate"] <= rate["high"]
    assert rate["estimate"] == pytest.approx(0.2, abs=0.06)
    assert [m["outlook"] for m in found["methods"]] == ["works"] * 3
    assert [source["rows"] for source in found["sources"]] == [100, 803]


def test_no_fit_tries_nothing(files):
    result = run(*files, "--no-fit", "--json", "--quiet")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["methods"][0]["outlook"] == "not tried"


def test_columns_and_labels_can_be_given(files, tmp_path):
    labels = tmp_path / "known.csv"
    labels.write_text("id,class\n000,a\n001,b\n")
    named = ["--left", "item_b", "--right", "item_a", "--same", "answer", "--annotator", "worker"]
    result = run(*files, *named, "--id", "id", "--labels", labels, "--no-fit", "--json", "--quiet")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["columns"]["left"] == "item_b"
    assert found["known_classes"] == 2


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--same", "anwser"], 1, "did you mean 'answer'"),
        (["--left", "item_a"], 1, "name right too"),
        (["--id", "idd"], 1, "did you mean 'id'"),
        (["--format", "mturc"], 2, "did you mean 'mturk'"),
        (["--labels", "nowhere.csv"], 1, "does not exist"),
        (["--seed", "-1"], 2, "--seed"),
        (["--classes", "1"], 2, "--classes"),
        (["--sam", "answer"], 2, "No such option"),
    ],
)
def test_wrong_options(files, words, code, message):
    result = run(*files, "--quiet", "--no-fit", *words)
    assert result.exit_code == code
    assert message in result.stderr
    assert not result.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        (b"", "is empty"),
        (b"left,right,same\n", "no rows"),
        (b"left,right,same\n001,002,perhaps\n", "'perhaps' on line 2"),
        (b"left,right,same\nx,y,1\n", "none of the 2 ids"),
        (b"left,right,same\n001,002,\n", "no usable answer"),
        (b"PAR1 cut short", "damaged or cut short"),
        (b"left,right,same\n001,\x00,1\n", "NUL byte on line 2"),
    ],
)
def test_bad_files_give_one_line_and_exit_code_1(files, tmp_path, content, message):
    pairs = tmp_path / "bad.csv"
    if content is not None:
        pairs.write_bytes(content)
    result = run(files[0], pairs, "--quiet")
    assert result.exit_code == 1
    assert message in result.stderr
    assert "bad.csv" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not result.stdout


def test_one_answer_only_is_a_finding_not_a_failure(files, tmp_path):
    pairs = tmp_path / "all_same.csv"
    pairs.write_text("left,right,same\n" + "".join(f"{k:03d},{k + 1:03d},1\n" for k in range(60)))
    result = run(files[0], pairs, "--quiet")
    assert result.exit_code == 0, result.stderr
    assert "all answers are 'same'" in result.stdout
    assert "joint       fails" in result.stdout
    assert "cannot be identified from these pairs" in result.stdout


def test_a_file_that_holds_its_items(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    records = [{"name": f"r{k}", "x": float(6 * c + rng.normal())} for k, c in enumerate(y)]
    training: dict[str, list] = {"match": [], "distinct": []}
    for _ in range(300):
        a, b = rng.choice(40, 2, replace=False)
        training["match" if y[a] == y[b] else "distinct"].append([records[a], records[b]])
    path = tmp_path / "training.json"
    path.write_text(json.dumps(training))
    result = run(path, path, "--quiet")
    assert result.exit_code == 0, result.stderr
    assert "read in the format dedupe" in result.stdout
    assert "joint       works" in result.stdout


def test_the_installed_command(files):
    executable = Path(sysconfig.get_path("scripts"), "noisypairs")
    if not executable.exists():
        pytest.skip("the package is not installed with its command")
    words = [executable, "check", *files, "--no-fit", "--quiet", "--json"]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["audit"]["n_pairs"] == 792  # 801 without 9 copies


DOGS = Path(os.environ.get("NOISYPAIRS_DATA", "/nonexistent"), "crowd_dogs3")


@pytest.mark.skipif(not DOGS.is_dir(), reason="NOISYPAIRS_DATA names no folder with crowd_dogs3")
def test_real_answers_of_a_crowd():
    result = run(DOGS / "items.csv", DOGS / "pairs.csv", "--no-fit", "--quiet", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["audit"]["n_pairs"] == 54_000
    assert found["audit"]["n_annotators"] == 900
    assert any("more than two classes" in problem for problem in found["problems"])


def test_copies_are_left_out_counted_and_kept_on_request(files, tmp_path):
    items, pairs = files
    header, *rows = pairs.read_text().splitlines()
    copied = tmp_path / "pairs.csv"
    copied.write_text("\n".join([header, *rows[:-3], *rows[:-3], *rows]) + "\n")
    once, thrice, kept = (
        json.loads(run(items, *words, "--no-fit", "--json").stdout)
        for words in ([pairs], [copied], [copied, "--keep-copies"])
    )
    n = once["audit"]["n_pairs"]
    removed = thrice["audit"]["copies_removed"]
    assert thrice["audit"]["n_pairs"] == n
    assert removed >= 1600
    assert any(f"{removed:,} answers recorded before" in note for note in thrice["notes"])
    assert kept["audit"]["copies"] == removed
    assert any("answers are copies" in problem for problem in kept["problems"])
    assert not any("copies" in problem for problem in thrice["problems"])


def test_the_report_is_one_page_and_is_not_overwritten(files, tmp_path):
    page = tmp_path / "check.html"
    found = run(*files, "--no-fit", "--report", page, "--json", "--quiet")
    assert json.loads(found.stdout)["written"] == {"report": str(page)}
    assert "Findings" in words_of(page.read_text(encoding="utf-8"))
    again = run(*files, "--no-fit", "--report", page)
    assert (again.exit_code, again.stdout) == (2, "")
    assert "exists already" in again.stderr
    forced = run(*files, "--no-fit", "--report", page, "--force", "--quiet")
    assert forced.stdout.endswith(f"Written: {page}\n")
