"""Every command with every bad input: one line that says what to do, and nothing half-written."""

from __future__ import annotations

import errno
import io
import os
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import skops.io as skops
import typer
from sklearn.preprocessing import FunctionTransformer

from noisypairs.app import files, model_file
from noisypairs.cli import app
from noisypairs.errors import MissingExtra
from tests.app.fit.fit_problems import Files, write_files
from tests.cli.commands import FIT, LEARNING, content, fails, run, words_for


@pytest.fixture
def given(tmp_path: Path) -> Files:
    """Files that a test may spoil."""
    return write_files(tmp_path, n_items=30, n_pairs=80)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Files]:
    folder = tmp_path_factory.mktemp("model")
    good = write_files(folder, n_items=60, n_pairs=500)
    result = run("fit", good.items, good.pairs, "-o", folder / "m.skops", *FIT, "--quiet")
    assert result.exit_code == 0, result.stderr
    return folder / "m.skops", good


# ------------------------------------------------------------------ what the files may do wrong


def _no_pairs(given: Files) -> list[object]:
    given.pairs.unlink()
    return []


def _no_items(given: Files) -> list[object]:
    given.items.unlink()
    return []


def _misspelt(given: Files) -> list[object]:
    return ["--same", "anwser"]


def _strange_ids(given: Files) -> list[object]:
    answers = pd.read_csv(given.pairs)
    answers.assign(left="x" + answers["left"], right="x" + answers["right"]).to_csv(
        given.pairs, index=False
    )
    return []


def _only_headings(given: Files) -> list[object]:
    pd.read_csv(given.pairs).head(0).to_csv(given.pairs, index=False)
    return []


def _no_bytes(given: Files) -> list[object]:
    given.pairs.write_bytes(b"")
    return []


def _cut_parquet(given: Files) -> list[object]:
    whole = io.BytesIO()
    pd.read_csv(given.pairs).to_parquet(whole)
    data = whole.getvalue()
    given.pairs.write_bytes(data[: len(data) // 2])  # in a file that is called .csv, even
    return []


def _unknown_format(given: Files) -> list[object]:
    return ["--format", "mturc"]


@pytest.mark.parametrize("command", LEARNING)
@pytest.mark.parametrize(
    ("spoil", "code", "said"),
    [
        (_no_pairs, 1, "pairs.csv does not exist"),
        (_no_items, 1, "items.csv does not exist"),
        (_misspelt, 1, "did you mean 'answer'?"),
        (_strange_ids, 1, "items.csv"),
        (_only_headings, 1, "pairs.csv has a header but no rows"),
        (_no_bytes, 1, "pairs.csv is empty"),
        (_cut_parquet, 1, "damaged or cut short"),
        (_unknown_format, 2, "did you mean 'mturk'?"),
    ],
)
def test_bad_files_are_told_in_one_line_by_every_command(
    command: str,
    spoil: Callable[[Files], list[object]],
    code: int,
    said: str,
    given: Files,
    tmp_path: Path,
) -> None:
    more = spoil(given)
    fails(code, said, tmp_path, *words_for(command, given, tmp_path), *more, "--quiet")


def test_ids_that_lost_their_zeros_are_matched_and_said(given: Files) -> None:
    items, answers = pd.read_csv(given.items), pd.read_csv(given.pairs)
    items.assign(photo=items["photo"].str[1:]).to_csv(given.items, index=False)  # "007"
    for end in ("left", "right"):
        answers[end] = answers[end].str[1:].astype(int)  # 7
    answers.to_csv(given.pairs, index=False)
    result = run("check", given.items, given.pairs, "--no-fit", "--quiet")
    assert result.exit_code == 0, result.stderr
    assert "only without leading zeros" in result.stdout


# ---------------------------------------------------------------------------- models to be read


def _foreign(good: Path, bad: Path) -> None:
    data = io.BytesIO(skops.dumps(FunctionTransformer(os.getcwd)))
    with zipfile.ZipFile(data, "a") as archive, zipfile.ZipFile(good) as whole:
        archive.writestr(model_file.FACTS, whole.read(model_file.FACTS))
    bad.write_bytes(data.getvalue())


def _half(good: Path, bad: Path) -> None:
    bad.write_bytes(good.read_bytes()[:2000])


def _nothing(good: Path, bad: Path) -> None:
    del good, bad  # no file at all


@pytest.mark.parametrize(
    ("spoil", "said", "can_be_inspected"),
    [
        (_foreign, "getcwd, which no model of noisypairs contains", True),
        (_half, "was cut short", False),
        (_nothing, "No such file", False),
    ],
)
def test_bad_models(
    spoil: Callable[[Path, Path], None],
    said: str,
    can_be_inspected: bool,
    model: tuple[Path, Files],
    tmp_path: Path,
) -> None:
    bad = tmp_path / "bad.skops"
    spoil(model[0], bad)
    fails(1, said, tmp_path, "predict", bad, model[1].items, "-o", tmp_path / "out.csv")
    if can_be_inspected:
        assert run("inspect", bad).exit_code == 0
    else:
        fails(1, said, tmp_path, "inspect", bad)


# ------------------------------------------------------------------------- places to be written

#: command -> the option and file of each of its outputs
OUTPUTS = {
    "fit": (("-o", "m.skops"), ("--report", "r.html")),
    "annotators": (("-o", "a.html"), ("-o", "a.csv")),
    "plan": (("-o", "next.csv"), ("--report", "plan.html"), ("-o", "plan.html")),
    "predict": (("-o", "out.csv"),),
    "demo": (("--report", "demo.html"),),
}


def writing(command: str, given: Files, *output: object) -> list[object]:
    """Return a call that would write to ``output`` (option, path) only."""
    start: list[object] = {
        "fit": ["fit", given.items, given.pairs, "-o", given.items.parent / "m2.skops"],
        "annotators": ["annotators", given.pairs],
        "plan": ["plan", given.items, given.pairs, "--target", "0.9"],
        "predict": ["predict", given.items, given.items],
        "demo": ["demo"],
    }[command]
    pairs_to_ask = command == "plan" and "next" in str(output[-1])
    return [*start, *["--next", "5"] * pairs_to_ask, *output]


@pytest.mark.parametrize(
    ("command", "option", "name"),
    [(command, *one) for command, outputs in OUTPUTS.items() for one in outputs],
)
def test_places_that_cannot_be_written_are_told_before_any_work(
    command: str,
    option: str,
    name: str,
    given: Files,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = tmp_path / name
    taken.write_text("precious")
    fails(2, "exists already", tmp_path, *writing(command, given, option, taken))
    inside = tmp_path / "nowhere" / name
    fails(2, "does not exist: make it first", tmp_path, *writing(command, given, option, inside))
    through = given.pairs / name
    fails(2, "is not a folder", tmp_path, *writing(command, given, option, through))
    pipe = tmp_path / f"pipe-{name}"
    os.mkfifo(pipe)
    words = writing(command, given, option, pipe)
    fails(2, "is a pipe, which is never written to", tmp_path, *words, "--force")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with files.reserved(tmp_path / f"other-{name}") as busy:
        words = writing(command, given, option, busy)
        fails(2, "is being written by another process", tmp_path, *words, "--force")
    directory = tmp_path / "folder" / name
    directory.mkdir(parents=True)
    fails(2, "is a folder", tmp_path, *writing(command, given, option, directory))
    # Root may write everywhere, so that the system is made to say no.
    monkeypatch.setattr(os, "access", lambda _, mode, **__: not mode & os.W_OK)
    free = tmp_path / f"new-{name}"
    fails(2, "no permission to write", tmp_path, *writing(command, given, option, free))


@pytest.mark.parametrize("command", ["annotators", "predict"])
def test_a_full_disk_leaves_nothing(
    command: str,
    model: tuple[Path, Files],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    path, good = model
    words = {
        "annotators": ["annotators", good.pairs, "-o", tmp_path / "a.csv", "--quiet"],
        "predict": ["predict", path, good.items, "-o", tmp_path / "out.csv"],
    }[command]
    fails(1, "No space left on device", tmp_path, *words)


def test_an_input_is_never_written_over(given: Files, tmp_path: Path) -> None:
    force = ["--force", "--quiet"]
    for command, option in (("fit", "--report"), ("plan", "--report"), ("predict", "-o")):
        words = writing(command, given, option, given.items)
        fails(2, "is an input: name another file", tmp_path, *words, *force)
    words = writing("annotators", given, "-o", given.pairs)
    fails(2, "is an input: name another file", tmp_path, *words, *force)


# ------------------------------------------------------------------------ what else may go wrong


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ValueError("row 3:\n  no answer"), 1, "row 3: no answer"),
        (PermissionError(errno.EACCES, "Permission denied", "p.csv"), 1, "p.csv: Permission"),
        (MissingExtra("duckdb", "app", "This"), 2, "pip install 'noisypairs[app]'"),
        (ModuleNotFoundError("no", name="duckdb.x"), 2, "'duckdb', which is not installed"),
        (MemoryError(), 1, "not enough memory"),
        (KeyboardInterrupt(), 130, "stopped; no file was left half-written"),
    ],
)
def test_failures_are_one_line_and_a_code(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as exit_, app.failing_with(app.BAD_DATA):
        raise error
    assert exit_.value.exit_code == code
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Error: ")
    assert said in line


@pytest.mark.parametrize("error", [ModuleNotFoundError("no", name="noisypairs.x"), KeyError("x")])
def test_defects_of_ours_are_not_hidden(error: Exception) -> None:
    with pytest.raises(type(error)), app.failing_with(app.BAD_DATA):
        raise error


@pytest.mark.parametrize("command", LEARNING)
def test_ctrl_c_ends_every_command_with_130(
    command: str, given: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "read_dataset", stopped)
    words = words_for(command, given, tmp_path)
    fails(130, "stopped; no file was left half-written", tmp_path, *words, "--quiet")


@pytest.mark.parametrize(("package", "command"), [("skops", "fit"), ("matplotlib", "annotators")])
def test_a_missing_package_is_told_before_any_work(
    package: str, command: str, given: Files, tmp_path: Path
) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"  # None makes the import fail
        "from noisypairs import cli; cli.main()"
    )
    before = content(tmp_path)
    words = [str(word) for word in words_for(command, given, tmp_path)]
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    assert repr(package) in line
    assert "pip install 'noisypairs[app]'" in line
    assert content(tmp_path) == before


def test_a_half_installed_torch_does_not_stop_who_does_not_need_it(
    model: tuple[Path, Files], tmp_path: Path
) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise AttributeError('libtorch_cpu.so')")
    path, _ = model
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from noisypairs.app import model_file\n"
        f"loaded = model_file.load({str(path)!r})\n"
        f"model_file.save({str(tmp_path / 'again.skops')!r}, loaded.pipeline, loaded.facts)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert model_file.inspect(tmp_path / "again.skops") == model_file.inspect(path)
