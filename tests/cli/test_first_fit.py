"""The walk through of the documentation, followed line by line as a reader would."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.cli.commands import run

PAGE = Path(__file__).parents[2] / "docs" / "first-fit.md"
BLOCK = re.compile(r"```sh\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


def masked(text: str) -> list[str]:
    """Return the words without numbers: those may differ in a digit, and dates always do."""
    return re.sub(r"[<>]?\d[\d,.]*%?", "#", text).split()


def printed(line: str) -> str:
    """Return what a line prints: in this process where it is one of our commands alone."""
    if line.startswith("noisypairs ") and not set(line) & set("|<>"):
        done = run(*shlex.split(line)[1:])
        assert done.exit_code == 0, (line, done.stderr)
        return done.stdout
    path = f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"
    shell = ["sh", "-c", line]
    done = subprocess.run(
        shell, capture_output=True, text=True, check=True, env=os.environ | {"PATH": path}
    )
    return done.stdout


def test_every_line_of_the_page_works_and_prints_what_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) > 8
    for lines, shown in blocks:
        said = ""
        for line in lines.splitlines():
            if line.startswith("cd "):
                monkeypatch.chdir(line.removeprefix("cd "))
            else:
                said += printed(line)
        assert masked(said) == masked(shown), f"{lines}: run benchmarks/first_fit.py"
    written = {path.name for path in Path.cwd().iterdir()}
    assert {"report.html", "check.html", "suspects.html", "annotators.html", "plan.html"} <= written


@pytest.mark.parametrize(("one", "other"), [("0.5 of 3 items", "1 of 40 items"), (">99%", "12.5%")])
def test_numbers_alone_make_no_difference(one, other):
    assert masked(one) == masked(other)
    assert masked(one) != masked(f"{other} more")
