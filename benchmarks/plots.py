"""What a picture in a report costs, ours and those of libraries that draw in the browser.

    pip install plotly bokeh "altair[all]" pygal
    python benchmarks/plots.py

Prints, for each that is installed, the bytes of a page with one learning curve of twenty points and
nothing to fetch, how many more a second one adds, and how much text of it is there without scripts.
docs/report.md quotes the table and says what was chosen.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

import numpy as np

SIZES = np.linspace(100, 2000, 20)
SCORES = 0.95 - 12.0 / SIZES


def ours(n: int) -> str:
    from noisypairs.app.report import charts
    from noisypairs.app.report.page import figure, render

    sections = []
    for k in range(n):
        scores = SCORES - 0.01 * k
        picture = charts.learning_curve(SIZES, scores, (scores - 0.02, scores + 0.02))
        sections.append((f"Curve {k}", [figure(picture, "A learning curve.")], ""))
    return render("sections.html", "noisypairs", title="Curves", lead="", sections=sections)


def with_plotly(n: int) -> str:
    from plotly import graph_objects

    parts = []
    for k in range(n):
        curve = graph_objects.Scatter(x=SIZES, y=SCORES - 0.01 * k, mode="lines+markers")
        parts.append(graph_objects.Figure(curve).to_html(full_html=False, include_plotlyjs=k == 0))
    return "".join(parts)


def with_bokeh(n: int) -> str:
    from bokeh.embed import file_html
    from bokeh.layouts import column
    from bokeh.plotting import figure
    from bokeh.resources import INLINE

    curves = []
    for k in range(n):
        curve = figure(tooltips=[("answers", "@x"), ("right", "@y")])
        curve.line(SIZES, SCORES - 0.01 * k)
        curve.scatter(SIZES, SCORES - 0.01 * k)
        curves.append(curve)
    return str(file_html(column(*curves), INLINE))


def with_altair(n: int) -> str:
    import altair
    import pandas

    curves = []
    for k in range(n):
        table = pandas.DataFrame({"answers": SIZES, "right": SCORES - 0.01 * k})
        base = altair.Chart(table).mark_line(point=True)
        curves.append(base.encode(x="answers", y="right", tooltip=["answers", "right"]))
    page = io.StringIO()
    altair.vconcat(*curves).save(page, format="html", inline=True)
    return page.getvalue()


def with_pygal(n: int) -> str:
    import pygal

    parts = []
    for k in range(n):
        curve = pygal.XY(js=[])  # its tooltips come from the network; without them they are titles
        curve.add("right", list(zip(SIZES, SCORES - 0.01 * k, strict=True)))
        parts.append(curve.render(is_unicode=True))
    return "".join(parts)


DRAWN: dict[str, Callable[[int], str]] = {
    "noisypairs": ours,
    "plotly": with_plotly,
    "bokeh": with_bokeh,
    "altair": with_altair,
    "pygal": with_pygal,
}


def static_text(page: str) -> int:
    """Return how many axis labels a reader without scripts would see."""
    bare = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return len(re.findall(r"<text\b", bare))


def main() -> None:
    print("| drawn by | version | kB for one | kB for another | labels without scripts |")
    print("|---|---|---|---|---|")
    for name, draw in DRAWN.items():
        try:
            one, two = draw(1), draw(2)
            row = (version(name), f"{len(one.encode()) / 1e3:,.0f}")
        except (ImportError, PackageNotFoundError):
            continue
        more = (len(two.encode()) - len(one.encode())) / 1e3
        print(f"| {name} | {' | '.join(row)} | {more:,.0f} | {static_text(one)} |")


if __name__ == "__main__":
    main()
