"""A defect of ours, planted in every command: one line, an exit code of its own, and a log."""

from __future__ import annotations

import re
import stat
import sys
import tempfile
from functools import wraps
from pathlib import Path

import pytest

from noisypairs import __version__, cli
from noisypairs.cli import app
from noisypairs.cli.defect import DEFECT

#: By command, words that the command line accepts; no file is ever looked for.
WORDS = {
    **dict.fromkeys(("demo", "formats", "ask"), ()),
    **dict.fromkeys(("sample", "inspect", "judge"), ("a",)),
    **dict.fromkeys(("check", "annotators"), ("a", "b")),
    "plan": ("a", "b", "--target", "0.9"),
    "fit": ("a", "b", "-o", "c"),
    "name": ("a", "b", "-o", "c"),
    "predict": ("a", "b", "-o", "c"),
    "suspects": ("a", "b", "-o", "c"),
    "reproduce": ("table1",),
    "theory": ("--prior", "0.4"),
}


@pytest.fixture
def planted(monkeypatch, tmp_path):
    """Let every command end as no command should, and logs go to a folder."""

    def failing(function):
        @wraps(function)
        def command(**given):
            raise ZeroDivisionError("planted\n\x1b[31m")

        return command

    cli.application()  # which imports the commands
    planted = [(failing(function), settings) for function, settings in app._COMMANDS]
    monkeypatch.setattr(app, "_COMMANDS", planted)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def run(monkeypatch, *words):
    monkeypatch.setattr(sys, "argv", ["noisypairs", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    return ended.value.code


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_a_defect_in_any_command_is_one_line_and_a_log(
    name, planted, monkeypatch, capsys, tmp_path
):
    words = [name, *WORDS[name]]
    assert run(monkeypatch, *words) == DEFECT
    told = capsys.readouterr()
    (line,) = told.err.splitlines()
    assert told.out == ""
    assert line.startswith(
        "Error: noisypairs itself failed, by a defect (ZeroDivisionError: planted"
    )
    assert "\x1b" not in line
    path = Path(re.search(r"report it with (\S+\.log), ", line)[1])
    assert path.parent == tmp_path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    log = path.read_text()
    assert __version__ in log
    assert f"noisypairs {' '.join(words)}\n" in log
    assert "Traceback (most recent call last)" in log
    assert 'raise ZeroDivisionError("planted' in log


def test_where_no_log_can_be_written_the_traceback_is_shown(planted, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    assert run(monkeypatch, "formats") == DEFECT
    told = capsys.readouterr().err
    assert "its traceback could not be written" in told
    assert "Traceback (most recent call last)" in told


def test_a_defect_before_any_command_is_reported_too(monkeypatch, capsys, tmp_path):
    def fail():
        raise RecursionError

    monkeypatch.setattr(cli, "application", fail)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert run(monkeypatch, "formats") == DEFECT
    assert "by a defect (RecursionError). Please report" in capsys.readouterr().err


def test_expected_ends_are_no_defects(monkeypatch, capsys):
    assert run(monkeypatch, "--version") == 0
    assert run(monkeypatch, "check", "none.csv", "none.csv") == 1
    assert run(monkeypatch, "nothing") == 2
    assert "defect" not in capsys.readouterr().err
