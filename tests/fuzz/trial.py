"""One call in this process, and what to think of how it ended."""

from __future__ import annotations

import json
import traceback
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

#: How a call may end well: it did its work, or said in one line why it does not.
DONE, REFUSED = "done", "refused"
#: How it may not end, in the order of the table.
FINDINGS = ("traceback", "exit 0", "hang", "crash", "memory", "unclear", "left over")
ERROR = "Error: "


class Outcome(NamedTuple):
    """How a call ended, what it said, and a line by which findings are told apart."""

    state: str
    said: str = ""
    where: str = ""


def attempt(folder: Path, words: Sequence[str]) -> Outcome:
    """Run a command in a folder."""
    before = _names(folder)
    with chdir(folder):
        result = _run(words)
        promised = [word for word in words if word.startswith("out")]
        return judge(result, promised, "--json" in words, sorted(_names(folder) - before))


def _run(words: Sequence[str]) -> Any:
    from typer.testing import CliRunner

    from noisypairs import cli

    return CliRunner().invoke(cli.application(), list(words))


def judge(result: Any, promised: Sequence[str], as_json: bool, new: Sequence[str]) -> Outcome:
    """Say how a call ended, from its result, what it promised and which files are new."""
    error, said = result.exception, result.stderr
    if error is not None and not isinstance(error, SystemExit):
        return Outcome("traceback", "".join(traceback.format_exception(error)), _place(error))
    if "Traceback (most recent call last)" in said + result.stdout:
        return Outcome("traceback", said + result.stdout, "printed")
    if result.exit_code == 0:
        why = _false_success(result, promised, as_json)
        return Outcome("exit 0", f"{why}\n{said}", why) if why else Outcome(DONE)
    return _judge_refusal(result, new)


def _judge_refusal(result: Any, new: Sequence[str]) -> Outcome:
    errors = [line for line in result.stderr.splitlines() if line.startswith(ERROR)]
    if result.exit_code not in (1, 2) or len(errors) != 1 or result.stdout:
        said = f"exit code {result.exit_code}\n{result.stdout}\n{result.stderr}"
        return Outcome("unclear", said, f"exit code {result.exit_code}, {len(errors)} errors")
    if "not enough memory" in errors[0]:
        return Outcome("memory", errors[0], errors[0])
    if left := [name for name in new if not name.startswith("run/")]:  # a folder that goes on
        return Outcome("left over", f"{left}\n{errors[0]}", "files after a refusal")
    return Outcome(REFUSED, errors[0])


def _false_success(result: Any, promised: Sequence[str], as_json: bool) -> str:
    """Say what contradicts the exit code 0, or nothing."""
    if ERROR in result.stderr:
        return "an error was printed"
    if missing := [name for name in promised if not Path(name).exists()]:
        return f"{missing[0]} was not written"
    if as_json:
        try:
            json.loads(result.stdout, parse_constant=_refuse)
        except ValueError:
            return "what was printed is no JSON"
    if "out.skops" in promised:
        inspected = _run(["inspect", "out.skops"])
        return f"the model cannot be read: {inspected.stderr}" if inspected.exit_code else ""
    return ""


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def _place(error: BaseException) -> str:
    """Return the kind of an error and the innermost line of the package that it passed."""
    place = ""
    for one in traceback.extract_tb(error.__traceback__):
        if "/noisypairs/" in one.filename:
            place = f" in {one.filename.rpartition('/noisypairs/')[2]}, line {one.lineno}"
    return f"{type(error).__name__}{place}"


def _names(folder: Path) -> set[str]:
    return {one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file()}
