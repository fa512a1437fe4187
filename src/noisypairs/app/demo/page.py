"""The demo as a page: the answer first, then what the command prints, with pictures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from markupsafe import Markup

from noisypairs.app.demo.learning import REFERENCE, Annotator, Demo, Row
from noisypairs.app.demo.story import stories
from noisypairs.app.report import charts
from noisypairs.app.report.page import drawing, render
from noisypairs.estimation import wilson

#: What the file says of itself: only such a page is overwritten by the next demo.
GENERATOR = "noisypairs demo"

#: Rows that learn nothing from the answers, or from more than the answers: drawn in grey.
GREY = ("COP-k-means", "k-means, answers ignored", REFERENCE[0])


def demo_report(result: Demo) -> str:
    """Return the whole page of a demo, ready to be written to one HTML file."""
    part, right = result.cancer, result.cancer.rows[0].test_accuracy
    return render(
        "demo.html",
        GENERATOR,
        result=result,
        stories=stories(result),
        names=[_with_given(row) for row in part.rows],
        ends=partial(_ends, part.n_test),
        bars=_bars,
        dots=_dots,
        sure=None if right is None else wilson(right * part.n_test, part.n_test),
    )


def _with_given(row: Row) -> str:
    if row.told == REFERENCE[1]:
        return "every true class given"
    return f"{row.method}, prior given" if row.told == "share of malignant" else row.method


def _ends(n: int, shares: Sequence[float | None]) -> Any:
    """Return the ends of Wilson's intervals of shares of ``n`` items."""
    found = [None if share is None else wilson(share * n, n) for share in shares]
    return [one and one.low for one in found], [one and one.high for one in found]


def _bars(rows: Sequence[Row], names: list[str], values: Any, ends: Any, x_label: str) -> Markup:
    grey, first = [row.method in GREY for row in rows], [row is rows[0] for row in rows]
    return drawing(charts.bars(names, values, ends, baseline=grey, stressed=first, x_label=x_label))


def _dots(worst: Sequence[Annotator]) -> Markup:
    return drawing(
        charts.annotator_plot(
            [f"{one.name}: {one.kind}" for one in worst],
            [[one.similar_flip, one.dissimilar_flip] for one in worst],
            truth=[[one.true_similar_flip, one.true_dissimilar_flip] for one in worst],
            stressed=[one.kind != "honest" for one in worst],
        )
    )
