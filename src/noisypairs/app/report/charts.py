"""The pictures of the reports; each function returns the SVG text of one of them.

Shares and rates are numbers in [0, 1] and shown in percent. Intervals are given by their two ends;
where there are none, None draws none. Names may hold anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import FuncFormatter
from numpy.typing import ArrayLike

from noisypairs.app.report.page import clean
from noisypairs.app.report.picture import INK, LINE, PAPER, SERIES, SOFT, drawn, svg, tell
from noisypairs.assess import words

__all__ = ["annotator_plot", "bars", "drawn", "heat_map", "learning_curve", "reliability", "svg"]

#: Inches: on a telephone the letters of a wider chart could not be read.
WIDTH, HEIGHT = 5.4, 3.2
#: Markers differ as the colours do: a picture must also be read without them.
MARKERS = "os"
#: Cells of larger squares have no room for a number; it is shown under the pointer.
MOST_WRITTEN = 12
#: Longer names are cut: a name must not push the picture off the page.
LONGEST_NAME = 32

Ends = tuple[ArrayLike, ArrayLike]


def learning_curve(
    sizes: ArrayLike,
    scores: ArrayLike,
    interval: Ends | None = None,
    *,
    fitted: tuple[ArrayLike, ArrayLike] | None = None,
    fitted_interval: Ends | None = None,
    target: float | None = None,
    ceiling: float | None = None,
    now: float | None = None,
    x_label: str = "answers used",
    y_label: str = "estimated accuracy",
) -> str:
    """Draw scores (n,) against numbers of pairs (n,), with the law fitted to them if there is one.

    ``fitted`` = (sizes, scores) of a curve that may reach past the points, ``fitted_interval`` its
    (lower, upper); ``target`` and ``ceiling`` are levels, ``now`` the number of pairs at hand.

    >>> learning_curve([100, 200, 400], [0.8, 0.9, 0.93], target=0.95)[:4]
    '<svg'
    """

    def draw(axes: Any) -> None:
        if fitted is not None:
            axes.plot(*fitted, "--", color=SERIES[0], linewidth=1.4, label="curve fitted to them")
            if fitted_interval is not None:
                axes.fill_between(fitted[0], *fitted_interval, color=SERIES[0], alpha=0.15, lw=0)
        if interval is not None:
            axes.vlines(sizes, *interval, color=SERIES[0], linewidth=1.4)
        dots = "o" if fitted else "o-"  # joined by lines unless a fitted curve joins them
        (line,) = axes.plot(
            sizes, scores, dots, color=SERIES[0], label="measured", markeredgecolor=PAPER
        )
        found = zip(np.asarray(sizes), _values(scores, interval), strict=True)
        tell(line, [f"{size:,.0f} {x_label}\n{value}" for size, value in found])
        for level, style, name in ((ceiling, ":", "ceiling"), (target, "-.", "target")):
            if level is not None:
                label = f"{name} {words.percent(level, 1)}"
                axes.axhline(level, linestyle=style, color=SOFT, linewidth=1.2, label=label)
        if now is not None:
            label = f"now: {now:,.0f}"
            axes.axvline(now, linestyle="-", color=SERIES[1], linewidth=1.2, label=label)
        axes.set(xlabel=x_label, ylabel=y_label)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter(_in_percent())
        if axes.get_legend_handles_labels()[1] != ["measured"]:
            axes.legend(loc="lower right")

    return drawn(draw, WIDTH, HEIGHT)


def reliability(
    predicted: ArrayLike,
    observed: ArrayLike,
    counts: ArrayLike,
    interval: Ends | None = None,
    *,
    x_label: str = "predicted share of “same”",
    y_label: str = "observed share of “same”",
) -> str:
    """Draw observed shares (n,) against predicted ones (n,); areas show the ``counts`` (n,).

    >>> reliability([0.2, 0.8], [0.25, 0.75], [40, 60])[:4]
    '<svg'
    """
    size = np.asarray(counts, dtype=float)
    area = 15.0 + 130.0 * size / float(size.max(initial=1.0))

    def draw(axes: Any) -> None:
        axes.plot([0, 1], [0, 1], "--", color=SOFT, linewidth=1.0, label="where both agree")
        if interval is not None:
            axes.vlines(predicted, *interval, color=SERIES[0], linewidth=1.4)
        dots = axes.scatter(predicted, observed, s=area, color=SERIES[0], edgecolor=PAPER, zorder=3)
        said = zip(_values(predicted), _values(observed, interval), size, strict=True)
        tell(dots, [f"predicted {p}\nobserved {o}\n{n:,.0f} answers" for p, o, n in said])
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xlabel=x_label, ylabel=y_label)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(_in_percent())
        _legend_above(axes)

    return drawn(draw, WIDTH, 3.8)


def annotator_plot(
    names: Sequence[str],
    rates: ArrayLike,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    *,
    truth: ArrayLike | None = None,
    stressed: Sequence[bool] | None = None,
    labels: tuple[str, str] = ("same called different", "different called same"),
) -> str:
    """Draw both error rates (n, 2) of n annotators with their intervals, the first one on top.

    ``truth`` (n, 2) is drawn as crosses where it is known; ``stressed`` (n,) marks the annotators
    whose names are set in bold.

    >>> annotator_plot(["ann", "bob"], [[0.1, 0.2], [0.5, 0.5]], stressed=[False, True])[:4]
    '<svg'
    """
    middle = np.asarray(rates, dtype=float)
    rows = np.arange(len(names), dtype=float)

    def draw(axes: Any) -> None:
        axes.axvline(0.5, color=SOFT, linewidth=1.0, linestyle="--")
        for j, (shift, label) in enumerate(zip((-0.16, 0.16), labels, strict=True)):
            ends = (
                None
                if lower is None or upper is None
                else (np.asarray(lower)[:, j], np.asarray(upper)[:, j])
            )
            if ends is not None:
                axes.hlines(rows + shift, *ends, color=SERIES[j], linewidth=1.6)
            (dots,) = axes.plot(
                middle[:, j], rows + shift, MARKERS[j], color=SERIES[j], label=label
            )
            said = zip(names, _values(middle[:, j], ends), strict=True)
            tell(dots, [f"{clean(name)}\n{label}: {value}" for name, value in said])
            if truth is not None:
                last = "truth" if j else None
                axes.plot(np.asarray(truth)[:, j], rows + shift, "x", color=INK, label=last)
        axes.set(xlim=(-0.02, 1.02), ylim=(len(names) - 0.5, -0.5), xlabel="share of wrong answers")
        axes.xaxis.set_major_formatter(_in_percent())
        _name_rows(axes, names, stressed)
        _legend_above(axes)

    return drawn(draw, WIDTH, 0.9 + 0.3 * len(names))


def heat_map(names: Sequence[str], chances: ArrayLike) -> str:
    """Draw a square of chances (n, n), the darker the higher, each written in its cell.

    >>> heat_map(["kind 0", "kind 1"], [[0.9, 0.1], [0.1, 0.8]])[:4]
    '<svg'
    """
    values = np.asarray(chances, dtype=float)
    n, places = len(names), range(len(names))
    short = [words.shortened(clean(name), LONGEST_NAME // 2) for name in names]

    def draw(axes: Any) -> None:
        for row, column in np.ndindex(n, n):
            value = float(values[row, column])
            cell = axes.bar(column, 1.0, 1.0, row - 0.5, color=SERIES[0], alpha=0.08 + 0.62 * value)
            both = f"{clean(names[row])} and {clean(names[column])}"
            tell(cell[0], [f"{both}\ncalled “same”: {words.percent(value, 1)}"])
            if n <= MOST_WRITTEN:
                text = words.percent(value)
                axes.text(column, row, text, ha="center", va="center", fontsize=8.5)
        axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
        axes.set_xticks(places, short, rotation=30, ha="left", rotation_mode="anchor")
        axes.set_yticks(places, short)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.grid(False)
        for side in axes.spines.values():
            side.set_visible(False)

    return drawn(draw, min(WIDTH, 2.4 + 0.6 * n), min(WIDTH, 1.2 + 0.45 * n))


def bars(
    names: Sequence[str],
    values: Sequence[float | None],
    interval: tuple[Sequence[float | None], Sequence[float | None]] | None = None,
    *,
    baseline: Sequence[bool] | None = None,
    stressed: Sequence[bool] | None = None,
    x_label: str = "accuracy",
) -> str:
    """Draw one bar per method, the first one on top, with its value written beside it.

    ``baseline`` marks the bars drawn in grey, ``stressed`` the names set in bold; None in
    ``values`` is a method that refuses.

    >>> bars(["joint", "k-means", "other"], [0.97, 0.9, None], baseline=[False, True, False])[:4]
    '<svg'
    """
    rows = np.arange(len(names))
    known = np.array([np.nan if value is None else value for value in values], dtype=float)
    grey = np.zeros(len(names), dtype=bool) if baseline is None else np.asarray(baseline)
    colors = np.where(grey, SOFT, SERIES[0])

    def draw(axes: Any) -> None:
        drawn_bars = axes.barh(rows, known, height=0.62, color=colors, alpha=0.85)
        tips = known
        if interval is not None:
            low, high = (np.array(ends, dtype=float) for ends in interval)
            axes.hlines(rows, low, high, color=INK, linewidth=1.4)
            tips = np.fmax(known, high)
        for row, value, tip in zip(rows, known, np.nan_to_num(tips), strict=True):
            text = "refuses" if np.isnan(value) else words.percent(value, 1)
            axes.annotate(text, (tip, row), (5, 0), textcoords="offset points", va="center")
        said = _values(known, interval)
        for name, bar, value, text in zip(names, drawn_bars, known, said, strict=True):
            if not np.isnan(value):
                tell(bar, [f"{clean(name)}\n{text}"])
        axes.set(ylim=(len(names) - 0.5, -0.5), xlabel=x_label)
        axes.set_xlim(0.0, 1.12)  # room for what is written beside the bars
        axes.set_xticks(np.linspace(0.0, 1.0, 6))
        axes.xaxis.set_major_formatter(_in_percent())
        axes.grid(False, axis="y")
        _name_rows(axes, names, stressed)

    return drawn(draw, WIDTH, 0.7 + 0.3 * len(names))


def _values(values: ArrayLike, interval: Any = None) -> list[str]:
    """Return values as text, with the ends of their intervals if there are any.

    >>> _values([0.5], ([0.4], [0.61]))
    ['50.0% (40.0 to 61.0%)']
    """

    def text(value: float) -> str:
        return words.percent(value, 1)

    known = [float(one) for one in np.asarray(values, dtype=float)]
    if interval is None:
        return [text(one) for one in known]
    low, high = (np.asarray(ends, dtype=float) for ends in interval)
    return [
        f"{text(one)} ({text(a).removesuffix('%')} to {text(b)})"
        for one, a, b in zip(known, low, high, strict=True)
    ]


def _name_rows(axes: Any, names: Sequence[str], stressed: Sequence[bool] | None) -> None:
    axes.set_yticks(range(len(names)), [_short(name) for name in names])
    axes.tick_params(axis="y", length=0)
    axes.grid(color=LINE, axis="x")
    for text, bold in zip(axes.get_yticklabels(), stressed or (), strict=False):
        text.set_fontweight("bold" if bold else "normal")


def _legend_above(axes: Any) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.2)


def _in_percent() -> FuncFormatter:
    """Return what writes .25 as 25%, with no more decimals than it takes."""
    return FuncFormatter(lambda share, _: f"{round(100.0 * share, 6):g}%")


def _short(name: object) -> str:
    """Return a name that a picture has room for.

    >>> _short("a" * 40)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'
    """
    return words.shortened(clean(str(name)), LONGEST_NAME)
