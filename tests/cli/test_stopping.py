"""Ctrl-C and SIGTERM: one line that says what is kept, the documented code, nothing half-done."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from noisypairs import cli
from noisypairs.app import files, model_file
from noisypairs.app.fit import fitting
from noisypairs.app.report import pages as report
from noisypairs.cli import app, stopping, terminal
from noisypairs.experiments.records import Record
from tests.app.fit.fit_problems import Files, small_model, write_files
from tests.app.report.report_problems import fit_result
from tests.cli.commands import LEARNING, content, fails, run, words_for
from tests.experiments.made_up_records import record

#: By its full name: the package's own ``run`` is the function.
RUN = import_module("noisypairs.experiments.run")
REPRODUCE = ["reproduce", "table1", "--datasets", "cancer", "--methods", "km", "--repeats", "3"]
REPRODUCE += ["--jobs", "1", "--quiet", "--out"]


@pytest.fixture
def given(tmp_path: Path) -> Files:
    return write_files(tmp_path, n_items=30, n_pairs=80)


def stopped(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def terminated(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


@pytest.mark.parametrize("command", LEARNING)
def test_sigterm_ends_every_command_with_143(
    command: str,
    given: Files,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, usual = content(tmp_path), signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(files, "read_dataset", terminated)
    words = [*words_for(command, given, tmp_path), "--quiet"]
    monkeypatch.setattr(sys, "argv", ["noisypairs", *map(str, words)])
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    assert exit_.value.code == 143
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("Error: stopped; no file was left half-written")
    assert content(tmp_path) == before
    assert signal.getsignal(signal.SIGTERM) == usual


def test_stopped_before_any_command_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "application", terminated)
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    assert exit_.value.code == 143
    assert capsys.readouterr().err == "Error: stopped; no file was left half-written\n"


def test_stopped_before_the_command_has_its_options(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app.typer, "echo", terminated)  # which --version calls, outside of any
    monkeypatch.setattr(sys, "argv", ["noisypairs", "--version"])
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    assert exit_.value.code == 143
    (line,) = filter(None, capsys.readouterr().err.splitlines())
    assert line == "Error: stopped; no file was left half-written"


def test_stopped_while_the_result_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "say_json", stopped)
    fails(130, "stopped", tmp_path, "theory", "--prior", "0.3", "--json")


@pytest.mark.parametrize("command", ["fit", "plan"])
def test_that_nothing_was_written_yet_is_said(
    command: str, given: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "read_dataset", stopped)
    words = words_for(command, given, tmp_path)
    fails(130, "half-written, and none was written yet", tmp_path, *words, "--quiet")


def test_a_model_that_is_there_already_is_said_to_be_kept(
    given: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = model_file.load(small_model().model)
    result = SimpleNamespace(**vars(fit_result()) | {"facts": old.facts})
    found = SimpleNamespace(model=old.pipeline, result=result)
    monkeypatch.setattr(fitting, "fit_dataset", lambda *_: found)
    monkeypatch.setattr(report, "fit_report", stopped)
    model, page = tmp_path / "m.skops", tmp_path / "r.html"
    result = run("fit", given.items, given.pairs, "-o", model, "--report", page, "--quiet")
    assert result.exit_code == 130
    assert result.stderr == (
        f"Error: stopped; no file was left half-written; kept: the model in {model}\n"
    )
    assert model_file.inspect(model)["title"] == old.facts["title"]
    assert not page.exists()


def test_a_file_that_was_there_before_is_not_called_kept(tmp_path: Path) -> None:
    model, page = tmp_path / "m.skops", tmp_path / "r.html"
    model.write_text("old")
    stopping.expect_outputs({"the model": model, "the page": page, "nothing": None})
    assert stopping.message().endswith("none was written yet")
    files.atomic_write(model, "new", force=True)
    assert stopping.message().endswith(f"; kept: the model in {model}")
    files.atomic_write(page, "new")
    assert stopping.message().endswith(f"; kept: the model in {model}, the page in {page}")


# -- reproduce


def one_record(group: Any, *_: object) -> Iterator[Record]:
    """Stand for the work on a group: one record is there, then the run is stopped in another."""
    if group[0].seed > 0:
        raise KeyboardInterrupt
    yield from (replace(record(spec, 0.9), spec=spec) for spec in group)


def test_reproduce_says_how_many_cells_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RUN, "records_of", one_record)
    result = run(*REPRODUCE, tmp_path)
    assert result.exit_code == 130
    how = f"Go on with the same command and --out {tmp_path} --resume"
    assert result.stderr == f"Stopped; 1 of 3 cells are kept in {tmp_path}. {how}\n"


def test_reproduce_is_ended_by_sigterm_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RUN, "records_of", terminated)
    with stopping.stoppable():
        result = run(*REPRODUCE, tmp_path)
    assert result.exit_code == 143
    assert "Stopped; 0 of 3 cells are kept" in result.stderr


def test_a_worker_that_was_killed_is_called_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise BrokenProcessPool

    monkeypatch.setattr(RUN, "records_of", killed)
    result = run(*REPRODUCE, tmp_path)
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: a worker was killed, perhaps for too little memory")
    assert "0 of 3 cells are kept" in line


def test_workers_start_without_ctrl_c_and_are_ended_with_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    def started(**_: object) -> Any:
        def work(tasks: Any) -> Iterator[Any]:
            seen.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
            return results()

        return work

    def results() -> Iterator[Any]:
        try:
            yield from (stopped() for _ in range(1))
        finally:
            seen.append("ended")

    monkeypatch.setattr(RUN, "Parallel", started)
    assert run(*REPRODUCE, tmp_path).exit_code == 130
    assert seen == [True, "ended"]
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
