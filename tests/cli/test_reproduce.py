"""``noisypairs reproduce`` and ``report``: killed and resumed, refused, interrupted, written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

from noisypairs import cli
from noisypairs.experiments import Choice, load_records, plan
from noisypairs.experiments.records import Record, append, only_run, open_folder
from noisypairs.experiments.report import (
    DOCS_PAGES,
    KNOWN_BLOCKS,
    Report,
    build,
    update_docs,
    write_report,
)
from noisypairs.experiments.run import configuration

GRID = ["table1", "--datasets", "cancer", "--methods", "km,km-cop", "--repeats", "4"]
RUN = ["reproduce", *GRID, "--pairs-per-item", "20,10", "--jobs", "1", "--quiet"]


def call(*words: str):
    return CliRunner().invoke(cli.application(), list(words))


def outcomes(folder: Path) -> dict:
    return {s: (r.accuracy, r.refused, r.details) for s, r in load_records(folder).items()}


def test_a_killed_run_is_resumed_to_the_same_records(tmp_path: Path) -> None:
    unbroken, broken = tmp_path / "unbroken", tmp_path / "broken"
    assert call(*RUN, "--out", str(unbroken)).exit_code == 0
    start = [sys.executable, "-c", "from noisypairs.cli import main; main()"]
    command = [*start, *RUN, "--out", str(broken)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and len(load_records(broken)) < 2:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    killed = outcomes(broken)
    assert 2 <= len(killed) < len(outcomes(unbroken)), "the run was to be killed in the middle"
    with (broken / "records.jsonl").open("ab") as file:
        file.write(b'{"spec": {"dataset": "can')  # as a kill in the middle of a write leaves it
    stopped = call(*RUN, "--out", str(broken))
    assert stopped.exit_code == 2
    assert "--resume" in stopped.stderr
    assert call(*RUN, "--out", str(broken), "--resume").exit_code == 0
    assert outcomes(broken) == outcomes(unbroken)
    assert {s: outcomes(broken)[s] for s in killed} == killed


def test_the_cell_of_a_torn_line_in_the_middle_is_run_again(tmp_path: Path) -> None:
    words = ["reproduce", "table1", "--datasets", "cancer", "--methods", "km", "--repeats", "3"]
    words += ["--jobs", "1", "--quiet", "--out", str(tmp_path)]
    assert call(*words).exit_code == 0
    whole, path = outcomes(tmp_path), tmp_path / "records.jsonl"
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:50] + b"\n" + third)  # a full disk, then another record
    result = call(*words, "--resume")
    assert result.exit_code == 0, result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"Note: {path}: 1 damaged line (number 2) set aside in")
    assert outcomes(tmp_path) == whole
    assert (tmp_path / "records.damaged").read_bytes() == second[:50] + b"\n"


def test_progress_goes_to_stderr_and_the_result_to_stdout(tmp_path: Path) -> None:
    words = ["reproduce", "table1", "--datasets", "cancer", "--methods", "km", "--repeats", "2"]
    result = call(*words, "--jobs", "1", "--json", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == {"out": str(tmp_path / "out"), "records": 2, "refused": 0}
    assert result.stderr.splitlines() == [
        "0 of 2 cells …",
        "1 of 2 cells. cancer, clean, 20 per item, seed 0 …",
        "2 of 2 cells. cancer, clean, 20 per item, seed 1 …",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tabel1"], "did you mean 'table1'"),
        (["table1", "--datasets", "canser"], "did you mean 'cancer'"),
        (["table1", "--methods", "joinnt"], "did you mean 'joint'"),
        (["table1", "--pairs-per-item", "many"], "expected numbers, such as 20,2"),
        (["table1", "--repeats", "0"], "expected 1 or more"),
        (["table1", "--jobs", "0"], "--jobs 0"),
        (["figure2", "--methods", "km"], "no cell of this experiment"),
        (["figure1", "--datasets", "cancer"], "unknown data set of figure1"),
    ],
)
def test_wrong_use_ends_with_2_and_writes_nothing(
    words: list[str], message: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    result = call("reproduce", *words, "--out", str(out))
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not out.exists()


def test_figure_1_is_drawn_at_once(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for _ in range(2):  # the same picture again: nothing to resume
        result = call("reproduce", "figure1", "--out", str(out))
        assert result.exit_code == 0, result.stderr
        assert str(out / "figure1.svg") in result.stdout
    assert os.listdir(out) == ["figure1.svg"]
    assert (out / "figure1.svg").read_text().startswith("<svg")
    result = call("reproduce", "figure1", "--out", str(out), "--json")
    assert json.loads(result.stdout) == {"out": str(out), "records": 0, "refused": 0}
    result = call("reproduce", "figure1", "--out", str(out / "figure1.svg"))
    assert result.exit_code == 2
    assert "is a file" in result.stderr


def test_without_data_the_run_ends_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOISYPAIRS_DATA", str(tmp_path / "nowhere"))
    result = call("reproduce", "table2", "--methods", "km", "--out", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert "NOISYPAIRS_DATA" in result.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_of_another_seed_is_refused_and_left_alone(tmp_path: Path) -> None:
    words = ["reproduce", "table1", "--datasets", "cancer", "--methods", "km", "--repeats", "1"]
    words += ["--jobs", "1", "--quiet", "--out", str(tmp_path), "--resume"]
    assert call(*words).exit_code == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    result = call(*words, "--seed", "1")
    assert result.exit_code == 2
    assert "seed is 0 there and 1 now" in result.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_second_run_in_the_folder_is_refused(tmp_path: Path) -> None:
    words = ["reproduce", "table1", "--datasets", "cancer", "--methods", "km", "--repeats", "1"]
    words += ["--jobs", "1", "--quiet", "--out", str(tmp_path / "out"), "--resume"]
    with only_run(tmp_path / "out"):
        result = call(*words)
        assert result.exit_code == 2
        assert "in use by another run: wait" in result.stderr
        assert load_records(tmp_path / "out") == {}
    assert call(*words).exit_code == 0
    assert sorted(os.listdir(tmp_path / "out")) == ["records.jsonl", "run.json"]


def test_ctrl_c_says_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    # By its full name: the package's own ``run`` is the function.
    module = import_module("noisypairs.experiments.run")
    monkeypatch.setattr(module, "records_of", interrupted)
    result = call(*RUN, "--out", str(tmp_path / "out"))
    assert result.exit_code == 130
    assert f"--out {tmp_path / 'out'} --resume" in result.stderr
    assert "Traceback" not in result.stderr


# -- report


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with made-up records of every experiment."""
    path = tmp_path_factory.mktemp("records")
    specs = plan("all", Choice(densities=(20.0, 2.0), repeats=2))
    open_folder(path, configuration(plan("table1", Choice(("cancer",))), 0), resume=False)
    for number, spec in enumerate(specs):
        details = {"n_pairs": 10, "line": [1.0, 1.0, 0.1]} if spec.told else {"n_pairs": 10}
        refused = "no signal" if number % 50 == 0 else None
        accuracy = 0.6 + 0.3 * (number % 17) / 17
        append(path / "records.jsonl", Record(spec, accuracy, "matched", refused, 0.1, details))
    return path


@pytest.fixture(scope="module")
def built(folder: Path) -> Report:
    return build(folder)


def test_the_report_is_one_file_with_everything_in_it(folder: Path, tmp_path: Path) -> None:
    result = call("report", str(folder), "--out", str(tmp_path / "r"), "--json")
    assert result.exit_code == 0, result.stderr
    names = {Path(name).name for name in json.loads(result.stdout)["files"]}
    assert {"report.html", "results.csv", "table1-20.md", "table2-2.tex"} <= names
    assert {"efficiency-needed.md", "figure3-numbers.md", "flat-priors.tex"} <= names
    assert {"beside.svg", "figure1.svg", "figure2.svg", "figure3.svg", "efficiency.svg"} <= names
    html = (tmp_path / "r" / "report.html").read_text()
    assert html.count("<svg") == 5
    for word in ("Table 1: pairing noise, 20 pairs", "What was run", "sha256", "Seconds per fit"):
        assert word in html
    assert 'src="http' not in html
    assert "**" not in html
    lines = (tmp_path / "r" / "results.csv").read_text().splitlines()
    assert len(lines) == 1 + len(load_records(folder))
    assert "\\textbf" in (tmp_path / "r" / "table1-20.tex").read_text()
    assert len((tmp_path / "r" / "table2-2.md").read_text().splitlines()) == 2 + 9


def test_an_existing_report_is_kept_unless_forced(built: Report, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("mine")
    with pytest.raises(ValueError, match="add --force"):
        write_report(built, tmp_path)
    assert (tmp_path / "report.html").read_text() == "mine"
    assert os.listdir(tmp_path) == ["report.html"]
    assert (tmp_path / "report.html") in write_report(built, tmp_path, force=True)
    assert (tmp_path / "report.html").read_text() != "mine"


def test_docs_keep_their_prose(built: Report, tmp_path: Path) -> None:
    (tmp_path / "reproduction-tables.md").touch()
    page = tmp_path / "reproduction.md"
    page.write_text("Before.\n<!-- begin table1-20 -->\nold\n<!-- end table1-20 -->\nAfter.\n")
    update_docs(built, tmp_path)
    text = page.read_text()
    assert text.startswith("Before.\n<!-- begin table1-20 -->\n| data set | rates |")
    assert text.endswith("|\n<!-- end table1-20 -->\nAfter.\n")
    assert (tmp_path / "figures" / "reproduction-figure3.svg").read_text().startswith("<svg")
    update_docs(built, tmp_path)
    assert page.read_text() == text


def test_an_unknown_marker_is_an_error_and_changes_nothing(built: Report, tmp_path: Path) -> None:
    (tmp_path / "reproduction-tables.md").touch()
    page = tmp_path / "reproduction.md"
    page.write_text("<!-- begin tabel1-20 -->\n<!-- end tabel1-20 -->\n")
    with pytest.raises(ValueError, match="did you mean 'table1-20'"):
        update_docs(built, tmp_path)
    assert page.read_text() == "<!-- begin tabel1-20 -->\n<!-- end tabel1-20 -->\n"


def test_the_pages_in_the_repository_have_every_block() -> None:
    docs = Path(__file__).parents[2] / "docs"
    text = "".join((docs / name).read_text(encoding="utf-8") for name in DOCS_PAGES)
    for name in KNOWN_BLOCKS:
        assert f"<!-- begin {name} -->" in text
        assert f"<!-- end {name} -->" in text


def test_the_pages_in_the_repository_are_what_their_records_say(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    pages = {name: (root / "docs" / name).read_text(encoding="utf-8") for name in DOCS_PAGES}
    for name, text in pages.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    update_docs(build(root / "benchmarks" / "records" / "reproduction"), tmp_path)
    for name, text in pages.items():
        assert (tmp_path / name).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("kind", ["missing", "empty"])
def test_a_folder_without_records_has_no_report(kind: str, tmp_path: Path) -> None:
    if kind == "empty":
        open_folder(tmp_path, {"decides": {}, "data": {}}, resume=False)
    result = call("report", str(tmp_path))
    assert result.exit_code == 2
    assert "reproduce" in result.stderr
