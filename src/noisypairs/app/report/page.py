"""One self-contained HTML file per command, from the template that has its sentences.

A page fetches nothing. Style, pictures and the one script that sorts, filters and shows values are
inside; the content security policy names that script by its digest and forbids the rest. Everything
is there without it. Every text is escaped when the page is rendered, wherever it comes from; the
only markup that passes is that of the templates beside this file, and an SVG drawn by
`noisypairs.app.report.charts`.

Templates extend page.html. `section` puts a heading before what it is called with; `table` and
`numbers` give a function that takes the cells of one row; all other parts are in blocks.html.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import astuple
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from noisypairs import __version__
from noisypairs.app.model_card import column_rows
from noisypairs.app.sentences import FILTERS
from noisypairs.assess import words
from noisypairs.assess.verdict import TITLES
from noisypairs.errors import MissingExtra

try:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
except ImportError as error:
    raise MissingExtra("jinja2", "app", "noisypairs.app.report") from error

from markupsafe import Markup


class Shown(NamedTuple):
    """A cell whose text does not tell by which number it is sorted."""

    text: str
    value: float | None = None


class Picture(NamedTuple):
    """A small picture of an item: its id in the page, pixels, and a ``data:`` address."""

    id: str
    width: int
    height: int
    data: str


#: What a cell may hold; None is an empty cell.
Cell = str | int | float | Shown | None
#: Tones of a callout: each has its colour, its sign and its word, so that colour is never alone.
TONES: dict[str, str] = dict([*TITLES.items(), ("note", "Note")])
#: Characters that no file should hold and no page can show; tabs and line ends are fine.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LOOKS_NUMERIC = re.compile(r"[-−+±≈<>≤≥]?\s*[.\d]")


def render(template: str, generator: str, **context: Any) -> str:
    """Return the whole file; the same context always gives the same text.

    ``generator`` is kept in the file and says what wrote it, see `is_generated`.

    >>> text = render("sections.html", "noisypairs", title="Two <b>", lead="", sections=[])
    >>> "Two &lt;b&gt;" in text, is_generated(text, "noisypairs")
    (True, True)
    """
    contents: list[str] = []

    def section(heading: str, caller: Callable[[], str], folded: bool = False) -> Markup:
        contents.append(heading)
        return _part("section", len(contents), heading, caller(), folded)

    written_by = f"{generator} (version {__version__})"
    page = environment().get_template(template)
    return page.render(context, section=section, contents=contents, generator=written_by)


def is_generated(text: str, generator: str) -> bool:
    """Whether this text is a page of ours by that generator, whatever the version.

    >>> is_generated("<html>a page of somebody else</html>", "noisypairs demo")
    False
    """
    return f'<meta name="generator" content="{generator} (version ' in text


def table(
    *headings: str,
    caller: Callable[[Any], Any],
    caption: str | None = None,
    numeric: Collection[int] | None = None,
    last: bool = False,
    choose: Collection[int] = (),
) -> Markup:
    """Return a table: ``caller`` calls what it is given with the cells of each row.

    ``numeric`` holds the positions of the columns that are set flush right; by default those with
    nothing but numbers. With ``last``, the last row is stressed and stays last, however the others
    are sorted. ``choose`` holds the positions of columns of few words, by which readers choose
    rows. A cell is sorted by the first number in it, if its column is numeric, unless it is a
    `Shown`.
    """
    rows: list[list[Shown]] = []

    def row(*cells: Cell) -> str:
        if len(cells) != len(headings):
            raise ValueError(
                f"row {len(rows)} of the table has {len(cells)} cells under {len(headings)} "
                "headings: give one cell per heading, None where it is empty"
            )
        rows.append([c if isinstance(c, Shown) else Shown(clean(c)) for c in cells])
        return ""

    caller(row)
    if numeric is None:
        columns = enumerate(zip(*rows, strict=True)) if rows else ()
        numeric = [j for j, cells in columns if j and _all_numbers(c.text for c in cells)]
    return _part("table", headings, rows, caption, numeric, last, choose)


def filled_table(
    headings: Sequence[str], rows: Iterable[Sequence[Cell]], **settings: Any
) -> Markup:
    """Return rows that are there already as a `table`."""

    def give(row: Callable[..., str]) -> None:
        for cells in rows:
            row(*cells)

    return table(*headings, caller=give, **settings)


def numbers(caller: Callable[[Any], Any]) -> Markup:
    """Return the few numbers that matter: value, what it is and how sure, of each."""
    tiles: list[tuple[str, str, str]] = []

    def tile(value: str, what: str, sure: str = "") -> str:
        tiles.append((value, what, sure))
        return ""

    caller(tile)
    return _part("numbers", tiles)


def figure(svg: str, caption: str) -> Markup:
    """Return a picture with its caption; ``svg`` comes from `app.report.charts`, nowhere else."""
    return _part("figure", drawing(svg), caller=lambda: caption)


def drawing(svg: str) -> Markup:
    """Let a picture of ours pass as it is."""
    if not svg.startswith("<svg"):
        raise ValueError(f"expected the text of an SVG from charts.svg, got {svg[:40]!r}")
    return Markup(svg)


def side_by_side(
    left: Mapping[str, str], right: Mapping[str, str], most: int, leave_out: str | None = None
) -> list[tuple[str, str, str]]:
    """Return (column, left cell, right cell) for the first columns that either item has."""
    names = list(dict.fromkeys([*left, *right]))
    shown = [name for name in names[:most] if name != leave_out]
    cells = [[_cell(side.get(name, "–")) for name in shown] for side in (left, right)]
    rows = list(zip(shown, *cells, strict=True))
    more = len(names) - most
    return rows + [(words.count(more, "more column"), "…", "…")] * (more > 0)


#: Letters of a cell of a card; files have them whole.
LONGEST_CELL = 160


def _cell(text: str) -> str:
    return words.shortened(text, LONGEST_CELL)


def clean(text: Any) -> str:
    r"""Return the text with characters that no page can show replaced by U+FFFD; None is empty.

    >>> clean("a\x00b"), clean(None), clean(3)
    ('a�b', '', '3')
    """
    return "" if text is None else _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(text))


def _all_numbers(cells: Iterable[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(_LOOKS_NUMERIC.match(cell) for cell in filled)


def _part(name: str, *args: Any, **settings: Any) -> Markup:
    found: Markup = getattr(environment().get_template("blocks.html").module, name)(
        *args, **settings
    )
    return found


def _columns_read(plans: Iterable[Any], caption: str | None = None) -> Markup:
    rows = column_rows(map(astuple, plans))
    headings = ("column", "read as", "what is done with it")
    return filled_table(headings, rows, caption=caption, numeric=())


def _squeezed(text: str) -> str:
    """Return text on one line, as in a template it seldom is."""
    return type(text)(" ".join(text.split()))


@cache
def environment() -> Environment:
    """Return what renders: everything is escaped, a misspelt name is an error."""
    folder = Path(__file__).parent
    script = folder.joinpath("page.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    own = "style-src 'unsafe-inline'; img-src data:"
    found = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else clean(value),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= FILTERS | {"json": json.dumps, "squeezed": _squeezed}
    found.globals |= {"TONES": TONES, "script": Markup(script), "table": table, "numbers": numbers}
    found.globals |= {"columns_read": _columns_read, "drawing": drawing, "Shown": Shown}
    found.globals |= {"filled_table": filled_table, "side_by_side": side_by_side}
    found.globals["policy"] = f"default-src 'none'; {own}; script-src 'sha256-{digest}'"
    for name in ("bullets", "callout", "figure", "cards", "card"):
        found.globals[name] = partial(_part, name)
    return found
