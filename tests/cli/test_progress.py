"""Progress of commands: a bar with the time left on a slow terminal, steps elsewhere, no more."""

from __future__ import annotations

import os
import pty
import re
from collections.abc import Iterator
from contextlib import redirect_stderr, suppress
from pathlib import Path

import pytest

from noisypairs.cli import progress
from noisypairs.graph.progress import each
from tests.app.fit.fit_problems import write_files
from tests.cli.commands import run, words_for

HIDE, SHOW, ERASE = "\x1b[?25l", "\x1b[?25h", "\x1b[2K"


class Terminal:
    """A terminal to print on, and what it was given."""

    def __init__(self) -> None:
        self.ours, theirs = pty.openpty()
        self.stream = os.fdopen(theirs, "w")

    def shown(self) -> str:
        self.stream.flush()
        os.set_blocking(self.ours, False)
        found = b""
        with suppress(BlockingIOError):  # which says that this was all
            while part := os.read(self.ours, 1 << 16):
                found += part
        return found.decode()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    found = Terminal()
    for name in ("NO_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    yield found
    found.stream.close()
    os.close(found.ours)


class Clock:
    """Seconds that pass when told to."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(progress, "time", found)
    return found


def work(clock: Clock, seconds: float, quiet: bool = False) -> None:
    with progress.steps((1.0, 3.0), quiet) as step:
        step("reading the files")
        clock.now += seconds / 4
        step("fitting [bold]")
        for _ in each("fold", range(3)):
            clock.now += seconds / 8
            for _ in each("round", range(2)):
                clock.now += seconds / 16


def plain(shown: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)


def test_the_bar_shows_stage_share_and_time_left_when_work_is_slow(
    terminal: Terminal, clock: Clock
) -> None:
    with redirect_stderr(terminal.stream):
        work(clock, 80.0)
    shown = terminal.shown()
    assert "fitting [bold]: fold 3 of 3, round 2 of 2" in plain(shown)
    assert re.search(r"━+ +88% about \d+ s left", plain(shown))
    assert shown.rindex(SHOW) > shown.rindex(HIDE)
    assert shown.endswith(ERASE)  # the line of the bar, once it is no longer needed


def test_no_bar_is_seen_when_work_is_quick(terminal: Terminal, clock: Clock) -> None:
    with redirect_stderr(terminal.stream):
        work(clock, 1.0)
    shown = terminal.shown()
    assert plain(shown).split() == []
    assert SHOW in shown


def test_quiet_shows_nothing_on_a_terminal(terminal: Terminal, clock: Clock) -> None:
    with redirect_stderr(terminal.stream):
        work(clock, 80.0, quiet=True)
    assert terminal.shown() == ""


def test_ctrl_c_leaves_the_terminal_clean(terminal: Terminal, clock: Clock) -> None:
    def stopped() -> None:
        with progress.steps((1.0, 1.0), quiet=False) as step:
            step("reading the files")
            clock.now = 60.0
            step("fitting")
            raise KeyboardInterrupt

    with redirect_stderr(terminal.stream), pytest.raises(KeyboardInterrupt):
        stopped()
    shown = terminal.shown()
    assert "fitting" in shown
    assert shown.rindex(SHOW) > shown.rindex(HIDE)
    assert shown.endswith(ERASE)


def test_off_a_terminal_there_is_one_line_per_step_and_nothing_of_the_stages(
    capsys: pytest.CaptureFixture[str], clock: Clock
) -> None:
    with progress.steps((1.0, 4.0, 10.0), quiet=False) as step:
        for name, seconds in (("reading", 1.0), ("fitting", 4.0), ("writing", 0.0)):
            step(name)
            for _ in each("round", range(3)):
                pass
            clock.now += seconds
    assert capsys.readouterr().err.splitlines() == [
        "reading …",
        "fitting …",  # a second is too little to tell from
        "writing … about 10 s left",  # 5 s for 5 of 15 parts
    ]


def test_a_command_in_a_pipe_prints_its_steps_alone(tmp_path: Path) -> None:
    result = run(*words_for("check", write_files(tmp_path, n_items=40, n_pairs=200), tmp_path))
    assert result.exit_code == 0, result.stderr
    steps = [line.partition(" …")[0] for line in result.stderr.splitlines()]
    assert steps == [
        "reading the files",
        "counting answers",
        "fitting the joint learner",
        "redrawing answers for intervals",
        "redrawing triangles",
    ]
    assert "\x1b" not in result.stderr


def test_the_time_left_counts_down_between_reports_and_follows_new_ones() -> None:
    left = progress.TimeLeft(begun=0.0)
    left.estimate(now=1.0, share=0.5)
    assert left.text(now=1.0) == ""  # too early
    left.estimate(now=10.0, share=0.01)
    assert left.text(now=10.0) == ""  # too little
    left.estimate(now=10.0, share=0.5)
    assert [left.text(now) for now in (10.0, 14.0, 20.0)] == [
        "about 10 s left",
        "about 6 s left",
        "",
    ]
    left.estimate(now=30.0, share=0.6)
    assert left.text(now=30.0) == "about 20 s left"
