"""One self-contained HTML file: the answer first, then sections made of blocks.

A page fetches nothing. Style, pictures and the one script that sorts, filters and shows values are
inside; the content security policy names that script by its digest and forbids the rest. Everything
is there without it. Every text is escaped when the page is rendered, wherever it comes from; the
only markup that passes is an SVG drawn by `noisypairs.app.report.charts`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import ClassVar, Literal, NamedTuple

from noisypairs import __version__
from noisypairs.assess.verdict import TITLES, Kind
from noisypairs.assess.words import name_of
from noisypairs.errors import MissingExtra, did_you_mean

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined, Template
except ImportError as error:
    raise MissingExtra("jinja2", "app", "noisypairs.app.report") from error

from markupsafe import Markup


class Shown(NamedTuple):
    """A cell whose text does not tell by which number it is sorted."""

    text: str
    value: float | None = None


#: What a cell may hold; None is an empty cell.
Cell = str | int | float | Shown | None
#: Tones of a callout: each has its colour, its sign and its word, so that colour is never alone.
TONES: dict[str, str] = dict([*TITLES.items(), ("note", "Note")])
#: Characters that no file should hold and no page can show; tabs and line ends are fine.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_LOOKS_NUMERIC = re.compile(r"[-−+±≈<>≤≥]?\s*[.\d]")


@dataclass(frozen=True)
class Block:
    """A part of a section; the template has one branch for each ``kind``."""

    kind: ClassVar[str]


@dataclass(frozen=True)
class Paragraph(Block):
    """Sentences."""

    text: str
    kind = "paragraph"


@dataclass(frozen=True)
class Bullets(Block):
    """Sentences to be read one by one."""

    items: tuple[str, ...]
    kind = "bullets"


@dataclass(frozen=True)
class Table(Block):
    """Rows under headings; the first cell of a row names it."""

    headings: tuple[str, ...]
    rows: tuple[tuple[Shown, ...], ...]
    caption: str | None
    numeric: frozenset[int]
    bold: frozenset[int]
    choose: frozenset[int]
    kind = "table"


class Picture(NamedTuple):
    """A small picture of an item: its id in the page, pixels, and a ``data:`` address."""

    id: str
    width: int
    height: int
    data: str


@dataclass(frozen=True)
class Card:
    """Two items side by side: a heading, rows of (name, left, right), lines, values to sort by.

    ``sides`` is what the two are called, ``items`` the ids by which their pictures are found.
    """

    heading: str
    sides: tuple[str, str]
    items: tuple[str, str]
    rows: tuple[tuple[str, str, str], ...]
    lines: tuple[str, ...]
    keys: tuple[Shown, ...]

    @property
    def keys_json(self) -> str:
        """Texts and numbers of the keys, for the script."""
        return json.dumps([list(key) for key in self.keys])


class Key(NamedTuple):
    """What cards are sorted by: its name, whether it is a number, and offered as a choice."""

    name: str
    numeric: bool = False
    choose: bool = False


@dataclass(frozen=True)
class Cards(Block):
    """Couples of items to be compared; ``pictures`` by item are embedded once each."""

    cards: tuple[Card, ...]
    keys: tuple[Key, ...]
    pictures: Mapping[str, Picture]
    kind = "cards"

    @property
    def columns_json(self) -> str:
        """The keys, for the script."""
        return json.dumps([key._asdict() for key in self.keys])


@dataclass(frozen=True)
class Figure(Block):
    """A picture and what it shows, in words that also serve readers who cannot see it."""

    svg: Markup
    caption: str
    kind = "figure"


@dataclass(frozen=True)
class Callout(Block):
    """A sentence that must not be missed, and what it means for the reader."""

    text: str
    tone: str
    word: str
    kind = "callout"


@dataclass(frozen=True)
class Numbers(Block):
    """The few numbers that matter: (value, what it is, how sure) each."""

    items: tuple[tuple[str, str, str], ...]
    kind = "numbers"


@dataclass(frozen=True)
class Section:
    """A heading with its blocks; ``note`` is the small print under them.

    One that is ``folded`` shows its heading alone until it is opened or printed.
    """

    heading: str
    blocks: tuple[Block, ...]
    note: str | None
    folded: bool = False


def paragraph(text: str) -> Paragraph:
    """Return sentences as a block."""
    return Paragraph(clean(text))


def bullets(items: Iterable[str]) -> Bullets:
    """Return a list of sentences as a block."""
    return Bullets(tuple(map(clean, items)))


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    caption: str | None = None,
    numeric: Collection[int] | None = None,
    bold: Collection[int] = (),
    choose: Collection[int] = (),
) -> Table:
    """Return a table as a block: ``rows`` of cells under ``headings``, as many in each row.

    ``numeric`` holds the positions of the columns that are set flush right; by default those with
    nothing but numbers. ``bold`` holds the positions of the rows to be stressed; the last row stays
    last, however the others are sorted, if it is among them. ``choose`` holds the positions of
    columns of few words, by which readers choose rows. A cell is sorted by the first number in it,
    if its column is numeric, unless it is a `Shown`.

    >>> table(["method", "accuracy"], [["joint", "96.5 %"], ["k-means", None]]).numeric
    frozenset({1})
    """
    cells = tuple(tuple(map(_shown, row)) for row in rows)
    for number, row in enumerate(cells):
        if len(row) != len(headings):
            raise ValueError(
                f"row {number} of the table has {len(row)} cells under {len(headings)} headings: "
                "give one cell per heading, None where it is empty"
            )
    if numeric is None:
        numeric = [j for j in range(1, len(headings)) if _all_numbers(row[j].text for row in cells)]
    caption = None if caption is None else clean(caption)
    marked = frozenset(numeric), frozenset(bold), frozenset(choose)
    return Table(tuple(map(clean, headings)), cells, caption, *marked)


def card(
    heading: str,
    items: tuple[str, str],
    rows: Iterable[tuple[str, str, str]],
    lines: Iterable[str],
    keys: Iterable[Cell],
) -> Card:
    """Return two items side by side, by their ids; ``keys`` are the values that `cards` names."""
    left, right = (clean(name_of(item)) for item in items)
    cells = tuple((clean(name), clean(one), clean(other)) for name, one, other in rows)
    values = tuple(map(_shown, keys))
    said = tuple(map(clean, lines))
    return Card(clean(heading), (left, right), items, cells, said, values)


def cards(
    shown: Iterable[Card], keys: Sequence[Key], pictures: Mapping[str, Picture] | None = None
) -> Cards:
    """Return couples of items as a block, sorted and chosen by ``keys``; pictures by item."""
    return Cards(tuple(shown), tuple(keys), pictures or {})


def figure(svg: str, caption: str) -> Figure:
    """Return a picture as a block; ``svg`` comes from `app.report.charts`, nowhere else."""
    if not svg.startswith("<svg"):
        raise ValueError(f"expected the text of an SVG from charts.svg, got {svg[:40]!r}")
    return Figure(Markup(svg), clean(caption))


def callout(text: str, kind: Kind | Literal["note"] = "note") -> Callout:
    """Return a sentence that stands out, in the tone of a verdict or as a note.

    >>> callout("Every answer is the same.", "problem").word
    'Problem'
    """
    if kind not in TONES:
        raise ValueError(f"unknown kind of callout {kind!r}: {did_you_mean(kind, TONES)}")
    return Callout(clean(text), kind, TONES[kind])


def numbers(items: Iterable[tuple[str, str] | tuple[str, str, str]]) -> Numbers:
    """Return key numbers as a block: (value, what it is) or (value, what it is, how sure)."""
    filled = ((*map(clean, item), "")[:3] for item in items)
    return Numbers(tuple((value, what, sure) for value, what, sure in filled))


def clean(text: str | int | float | None) -> str:
    r"""Return the text with characters that no page can show replaced by U+FFFD; None is empty.

    >>> clean("a\x00b"), clean(None), clean(3)
    ('a�b', '', '3')
    """
    return "" if text is None else _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(text))


def _shown(cell: Cell) -> Shown:
    return Shown(clean(cell.text), cell.value) if isinstance(cell, Shown) else Shown(clean(cell))


@dataclass
class Page:
    """A page under construction: a title, the answer as ``lead``, then one section after another.

    ``generator`` is kept in the file and says what wrote it, see `is_generated`.

    >>> page = Page("Two groups", lead="Six of ten items are of one class.")
    >>> text = page.section("Items", paragraph("Ids such as <b> are shown as they are.")).html()
    >>> "Ids such as &lt;b&gt; are shown" in text, is_generated(text, "noisypairs")
    (True, True)
    """

    title: str
    lead: str = ""
    generator: str = "noisypairs"
    sections: list[Section] = field(default_factory=list)
    opening: list[Block] = field(default_factory=list)

    def open_with(self, *blocks: Block) -> Page:
        """Put blocks above the first section, right under the lead: the answer; return the page."""
        self.opening.extend(blocks)
        return self

    def section(
        self, heading: str, *blocks: Block, note: str | None = None, folded: bool = False
    ) -> Page:
        """Append a section and return the page."""
        small = None if note is None else clean(note)
        self.sections.append(Section(clean(heading), blocks, small, folded))
        return self

    def html(self) -> str:
        """Return the whole file; the same page always gives the same text."""
        return _template().render(
            title=clean(self.title),
            lead=clean(self.lead),
            generator=f"{self.generator} (version {__version__})",
            policy=_policy(),
            script=Markup(_script()),
            opening=self.opening,
            sections=self.sections,
        )


def is_generated(text: str, generator: str) -> bool:
    """Whether this text is a page of ours by that generator, whatever the version.

    >>> is_generated(Page("…", generator="noisypairs demo").html(), "noisypairs demo")
    True
    >>> is_generated("<html>a page of somebody else</html>", "noisypairs demo")
    False
    """
    return f'<meta name="generator" content="{generator} (version ' in text


def _all_numbers(cells: Iterable[str]) -> bool:
    filled = [cell for cell in cells if cell]
    return bool(filled) and all(_LOOKS_NUMERIC.match(cell) for cell in filled)


@cache
def _script() -> str:
    return resources.files("noisypairs.app.report").joinpath("page.js").read_text(encoding="utf-8")


def _policy() -> str:
    """Return what the page may do: its own style and pictures, and this one script."""
    digest = base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()
    own = "style-src 'unsafe-inline'; img-src data:"
    return f"default-src 'none'; {own}; script-src 'sha256-{digest}'"


@cache
def _template() -> Template:
    """Return the compiled template: everything is escaped, a misspelt name is an error."""
    return Environment(
        loader=PackageLoader("noisypairs.app", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    ).get_template("page.html")
