"""Pictures as SVG text that belongs to its page: its font, its colours in light, dark and print.

A chart is drawn with stand-in colours; `svg` turns each of them into a CSS variable of the page
(with a plain colour behind it, for an SVG shown elsewhere). Text stays text. The same data give
the same bytes, and no two pictures share an id. What `tell` gives to a mark is its title, which
browsers show under the pointer, and the script of a page does so at once.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any
from xml.sax.saxutils import escape

from noisypairs.errors import MissingExtra

try:
    from matplotlib import rc_context
except ImportError as error:
    raise MissingExtra("matplotlib", "app", "noisypairs.app.report") from error

from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

#: Stand-in colour -> (variable of the page, colour where there is no page).
COLOURS = {
    "#010101": ("ink", "#1c2126"),
    "#020202": ("soft", "#59626b"),
    "#030303": ("line", "#d5dade"),
    "#040404": ("paper", "#ffffff"),
    "#110101": ("series-1", "#0072b2"),
    "#120202": ("series-2", "#d55e00"),
    "#130303": ("series-3", "#00805d"),
    "#140404": ("series-4", "#a4508b"),
    "#150505": ("series-5", "#8a6d00"),
    "#160606": ("series-6", "#5b5bd6"),
}
_VARIABLES = {one: f"var(--{name}, {colour})" for one, (name, colour) in COLOURS.items()}
_STAND_IN = re.compile("|".join(COLOURS))
INK, SOFT, LINE, PAPER, *SERIES = COLOURS
#: As wide as a page's column, in inches; what most charts are high.
WIDTH, HEIGHT = 7.2, 3.4

_STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "noisypairs",
    "text.parse_math": False,  # ids may hold dollar signs
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.7,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.0,
}

Draw = Callable[[Any], object]


def drawn(draw: Draw, width: float = WIDTH, height: float = HEIGHT) -> str:
    """Return the SVG of what ``draw(axes)`` puts on one set of axes of this size in inches.

    >>> picture = drawn(lambda axes: axes.plot([0, 1], [0, 1], color=SERIES[0]))
    >>> picture[:4], "var(--series-1, #0072b2)" in picture
    ('<svg', True)
    """
    with rc_context(_STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.subplots())
        return svg(figure)


def tell(artist: Any, texts: Sequence[str]) -> None:
    """Give the marks of an artist, in their order, the values to be shown under the pointer."""
    artist.set_gid(f"{_TOLD}{len(artist.figure.findobj(_is_told))}")
    artist.told = tuple(texts)


#: How ids begin of the marks that `tell` was given.
_TOLD = "told-"


def _is_told(artist: Any) -> bool:
    return hasattr(artist, "told")


def svg(figure: Figure) -> str:
    """Return a figure as SVG text to be put into a page: no prolog, no size, no background."""
    with rc_context(_STYLE), warnings.catch_warnings():
        # Widths are guessed with the one font at hand; the reader's browser has the others.
        warnings.filterwarnings("ignore", message=r"Glyph .* missing from", category=UserWarning)
        FigureCanvasSVG(figure)
        figure.patch.set_visible(False)
        for axes in figure.axes:
            axes.patch.set_visible(False)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    # As wide as it was drawn, where the page has room: letters are then of one size everywhere.
    text = _bare(buffer.getvalue(), f"max-width: {60.0 * figure.get_figwidth() / WIDTH:.1f}rem")
    for artist in figure.findobj(_is_told):
        text = _titled(text, str(artist.get_gid()), artist.told)  # type: ignore[attr-defined]
    return _in_page(text)


def _titled(text: str, group: str, titles: Sequence[str]) -> str:
    """Put titles into the marks of a group, or into the group itself where it is one mark."""
    start = text.index(f'<g id="{group}">')
    end, depth = start, 0
    for tag in re.finditer(r"<g\b|</g>", text[start:]):
        depth += 1 if tag[0] == "<g" else -1
        if depth == 0:
            end = start + tag.end()
            break
    marks = [escape(title) for title in titles]
    inside = text[start:end]
    if (n_marks := inside.count("<use ")) == 0:
        inside = inside.replace(">", f"><title>{marks[0]}</title>", 1)
    elif n_marks != len(marks):
        raise ValueError(f"{len(marks)} titles for {n_marks} marks: give one for each")
    else:
        for title in marks:  # each turns one empty mark into one that holds its title
            before, mark, after = re.split(r"<use ([^>]*?)/>", inside, maxsplit=1)
            inside = f"{before}<use {mark}><title>{title}</title></use>{after}"
    return text[:start] + inside + text[end:]


def _bare(text: str, style: str) -> str:
    """Drop all that a browser does not need, and what would reach beyond this picture."""
    text = text[text.index("<svg") :].strip()
    for foreign in ("metadata", "style"):  # dates and names; rules that would hold for the page
        text = re.sub(rf"<{foreign}\b.*?</{foreign}>\s*", "", text, flags=re.DOTALL)
    opening, rest = text.split(">", 1)
    opening = re.sub(r'\s(?:width|height|version|xmlns:xlink)="[^"]*"', "", opening)
    return f'{opening} style="stroke-linejoin: round; stroke-linecap: butt; {style}">{rest}'


def _in_page(text: str) -> str:
    """Give every tag the page's font and colours and its own ids; what is written stays as it is.

    Only ids that are referred to are kept. They start with a digest of the picture.
    """
    mine = "c" + hashlib.sha256(text.encode()).hexdigest()[:8]
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))

    def with_own_id(match: re.Match[str]) -> str:
        return f' id="{mine}{match[1]}"' if match[1] in used else ""

    def adapted(tag: re.Match[str]) -> str:
        found = re.sub(r' id="([^"]*)"', with_own_id, tag[0]).replace("xlink:href=", "href=")
        found = re.sub(r'(href="|url\()#', rf"\g<1>#{mine}", found)
        found = re.sub(r"'DejaVu Sans'(?:, [^;\"]*)?", "inherit", found)
        return _STAND_IN.sub(lambda colour: _VARIABLES[colour[0]], found)

    return re.sub(r"<[^>]*>", adapted, text)
