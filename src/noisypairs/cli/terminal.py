"""Text for a terminal: whatever would steer it is shown, not obeyed.

Names of items, columns, annotators and files come from elsewhere. Everything that a command prints
passes through here: as text (`say`), as JSON (`say_json`), or as a template has it (`show`).
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

#: Control characters but tab and newline, marks that reverse or break lines, half characters.
_STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LINE_ENDS = re.compile(r"[\t\n]")
_LONG = re.compile(r"\S{301,}")
_ENDS_SHOWN = 100


def visible(text: str) -> str:
    r"""Return text in which nothing steers a terminal; of words over 300 characters, both ends.

    >>> print(visible("\x1b[31mred \ud800"), visible("x" * 1_000_000)[98:124])
    \x1b[31mred \ud800 xx… (1,000,000 characters)
    """
    return _LONG.sub(_ends, _STEERING.sub(_escaped, text))


def one_line(text: str) -> str:
    r"""Return the same with tabs and line ends shown, too: no name begins a line of its own.

    >>> print(one_line("anna\nError: none"))
    anna\nError: none
    """
    return _LINE_ENDS.sub(_escaped, visible(text))


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def _ends(found: re.Match[str]) -> str:
    word = found[0]
    return f"{word[:_ENDS_SHOWN]}… ({len(word):,} characters) …{word[-_ENDS_SHOWN:]}"


def say(text: str, err: bool = False, nl: bool = True) -> None:
    """Print text on stdout, or on stderr with ``err``."""
    typer.echo(visible(text), err=err, nl=nl)


def say_json(found: object) -> None:
    r"""Print an object as JSON, in which what would steer a terminal is escaped, as JSON allows.

    What JSON does not know is printed as text.

    >>> say_json({"é": "\x9b"})
    {"é": "\u009b"}
    """
    text = json.dumps(found, allow_nan=False, ensure_ascii=False, default=str)
    typer.echo(_STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def show_warnings_visibly() -> None:
    """Let Python print its warnings, which may quote names, in the same way."""
    plain = warnings.formatwarning
    warnings.formatwarning = lambda *told, **more: visible(plain(*told, **more))


def console_of(plain_width: int, **settings: Any) -> Console:
    """Return a console that prints text as it is: as wide as the terminal, else as asked."""
    from rich.console import Console

    class VisibleConsole(Console):
        """Text, headings and cells all come as strings, and all strings come by here."""

        def render_str(self, text: str, **settings: Any) -> Text:
            return super().render_str(visible(text), **settings)

    console = VisibleConsole(highlight=False, markup=False, **settings)
    if not console.is_terminal:
        console.width = plain_width
    return console


def show(template: str, plain_width: int, **facts: Any) -> None:
    """Print a template of `noisypairs.app.sentences`, on a console of `console_of`.

    In it ``line`` prints one line, however long, ``text`` a paragraph as wide as the console,
    ``title`` one in bold, ``gap`` an empty line, and ``table`` rows, as on pages: ``{% call(row)
    table("class", "share") %}{{ row("vase", "30%") }}{% endcall %}``.
    """
    from noisypairs.app.sentences import flowing, tell

    console = console_of(plain_width)

    def printer(**how: Any) -> Callable[..., str]:
        def put(*given: str, caller: Callable[[], str] | None = None) -> str:
            said = " ".join(given) if caller is None else flowing(caller())
            console.print(one_line(said), **how)
            return ""

        return put

    def rows(*headings: str, caller: Callable[[Any], str], cells: Any = one_line) -> str:
        found: list[tuple[str, ...]] = []

        def row(*cells: str) -> str:
            found.append(cells)
            return ""

        caller(row)
        console.print(table(console, headings, found, cells))
        return ""

    blocks = {"line": printer(soft_wrap=True), "text": printer(), "gap": printer()}
    tell(template, **blocks, title=printer(style="bold"), table=rows, **facts)


def table(
    console: Console,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    shown: Callable[[str], str] = one_line,
) -> Table:
    """Return a table for this console: ruled on a terminal, plain columns in a pipe or file.

    ``shown`` makes text fit to be shown of a cell; `visible` keeps its line ends.
    """
    from rich import box
    from rich.table import Table

    found = Table(*headings, box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False)
    for row in rows:
        found.add_row(*map(shown, row))
    return found
