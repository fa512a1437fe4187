"""Nothing that a file, its name or a word on the line holds steers the terminal."""

from __future__ import annotations

import ast
import io
import json
import unicodedata
import warnings
from pathlib import Path

import pandas as pd
import pytest

from noisypairs import cli
from noisypairs.app.sentences import blocks
from noisypairs.cli import terminal
from tests.app.fit.fit_problems import Files, write_files
from tests.app.report.report_problems import fit_result, with_fields
from tests.cli.commands import run

ROOM = Path(cli.__file__).parent
#: Colour, window title, clear screen in eight bits, delete, a reversed line, the end of a line.
HOSTILE = "\x1b[31m\x1b]0;title\x07\x9b2J\x7f\u202e\r\n\tx"
MODULES = sorted(ROOM.glob("*.py"))


def steering(text: str) -> set[str]:
    """Return the characters that steer a terminal: all control characters but the line's end."""
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cs") and c != "\n"} | (
        set(text) & set("\u202e\u2028\u2029")
    )


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Files in which every item, column, annotator and class has a hostile name."""
    folder = tmp_path_factory.mktemp("hostile")
    good = write_files(folder, n_items=30, n_pairs=120)
    items, pairs = pd.read_csv(good.items), pd.read_csv(good.pairs)
    for table, columns in ((items, ["photo"]), (pairs, ["left", "right", "worker"])):
        for name in columns:
            table[name] = f"a{HOSTILE}" + table[name].astype(str)
    features = {name: f"{name}{HOSTILE}" for name in items if name != "photo"}
    items.rename(columns=features).to_csv(good.items, index=False)
    pairs.to_csv(good.pairs, index=False)
    return good


@pytest.mark.parametrize("command", ["check", "annotators"])
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_names_never_steer_the_terminal(command: str, as_json: bool, hostile: Files) -> None:
    words: dict[str, list[object]] = {
        "check": ["check", hostile.items, hostile.pairs, "--no-fit", "--id", "photo"],
        "annotators": ["annotators", hostile.pairs, "--classes", "2"],
    }
    result = run(*words[command], *["--json"] * as_json)
    assert result.exit_code == 0, result.stderr
    assert steering(result.output) == set()
    if as_json:
        assert HOSTILE in str(json.loads(result.stdout)).encode().decode("unicode_escape")
    else:
        assert "\\x1b[31m" in result.stdout


def test_words_on_the_line_and_names_of_files_never_steer_the_terminal(tmp_path: Path) -> None:
    bad = tmp_path / "a\x1b[31m\udcff.csv"
    for words in (
        ["check", bad, bad],
        ["check", "a", "b", f"--{HOSTILE}"],
        [HOSTILE],
        ["inspect", "a", HOSTILE],
    ):
        result = run(*words)
        assert result.exit_code in (1, 2)
        assert steering(result.stderr) == set()
        assert "\\x1b[31m" in result.stderr


def test_tables_and_lines_of_a_console_show_what_would_steer_it() -> None:
    for is_terminal in (True, False):
        stream = io.StringIO()
        console = terminal.console_of(
            200, file=stream, force_terminal=is_terminal, color_system=None
        )
        console.print(
            HOSTILE, terminal.table(console, [HOSTILE], [[HOSTILE]]), sep="\n", soft_wrap=True
        )
        shown = stream.getvalue()
        assert steering(shown) == set()
        assert shown.count("\\x1b[31m") == 3
        assert "\\r\\n\\tx" in shown  # the cell stays on its line


def test_a_word_of_a_megabyte_is_shown_by_its_ends() -> None:
    shown = terminal.visible(f"none of the ids is {'x' * 10**6!r}: look")
    assert len(shown) < 300
    assert shown.startswith("none of the ids is 'xxx")
    assert shown.endswith("xxx': look")
    assert "(1,000,003 characters)" in shown


def test_warnings_of_python_never_steer_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    terminal.show_warnings_visibly()
    shown = warnings.formatwarning(UserWarning(HOSTILE), UserWarning, "a.py", 1)
    assert "UserWarning: \\x1b[31m" in shown
    assert steering(shown) <= {"\t"}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_every_command_prints_by_way_of_the_terminal(module: Path) -> None:
    """`typer.echo`, `print` and rich's own console would print text as it comes."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    calls = {ast.unparse(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call)}
    allowed = {"typer.echo"} if module.stem == "terminal" else set()
    assert calls & {"typer.echo", "typer.secho", "print", "Console"} == allowed


@pytest.mark.parametrize("verbose", [False, True])
def test_a_fit_is_printed_on_one_screen_unless_all_is_asked_for(capsys, verbose):
    known = fit_result()
    notes = (*(f"note {k} " + "long " * 30 for k in range(8)), "choose by --same")
    result = with_fields(known, classes=known.model.classes[:1] * 12, notes=notes)
    written = {"model": "m.skops", "report": "r.html", "suspects": None, "items": "c.csv"}
    facts = {"result": result, "written": written, "items": "my i.csv", "pairs": "p.csv"}
    facts["more"] = "--images photos"
    commands = blocks("next.txt", **facts)
    told = {"commands": commands, "to_name": ["a", "b"], "doubtful": [], "verbose": verbose}
    terminal.show("fit.txt", 100, **facts, **told)
    lines = capsys.readouterr().out.splitlines()
    assert (len(lines) <= 25) != verbose
    assert sum(line.startswith("Next: noisypairs ") for line in lines) == len(commands) == 3
    first = "Next: noisypairs suspects m.skops p.csv 'my i.csv' --images photos -o suspects.csv"
    assert first in lines
    assert "* choose by --same" in lines
    assert any("note 7" in line for line in lines) == verbose
