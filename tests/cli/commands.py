"""Commands run as a user would, and what must hold when one of them fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from noisypairs import cli
from tests.app.fit.fit_problems import Files

FIT = ["--method", "joint", "--estimator", "logistic", "--no-annotators"]


def words_for(command: str, given: Files, out: Path) -> list[object]:
    """Return a call of the command that would do with good files, all its outputs in ``out``."""
    return {
        "check": ["check", given.items, given.pairs],
        "fit": ["fit", given.items, given.pairs, "-o", out / "m.skops", *FIT],
        "annotators": ["annotators", given.pairs, given.items, "-o", out / "a.html"],
        "plan": ["plan", given.items, given.pairs, "--target", "0.9", "--report", out / "p.html"],
    }[command]


LEARNING = ("check", "fit", "annotators", "plan")


def run(*words: object) -> Any:
    return CliRunner().invoke(cli.application(), [str(word) for word in words])


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def fails(code: int, said: str, folder: Path, *words: object) -> None:
    """Run what must fail: one line on stderr, nothing on stdout, no file changed or left."""
    before = content(folder)
    result = run(*words)
    assert result.exit_code == code, (result.output, result.exception)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    assert said in line
    assert content(folder) == before
