"""The demo as a page: the answer first, then what the command prints, with pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from noisypairs.app.demo.learning import REFERENCE, Annotator, Demo, Row, SimulatedCrowd
from noisypairs.app.demo.story import stories
from noisypairs.app.report import charts
from noisypairs.app.report.page import figure, render
from noisypairs.estimation import wilson

#: What the file says of itself: only such a page is overwritten by the next demo.
GENERATOR = "noisypairs demo"

#: Rows that learn nothing from the answers, or from more than the answers: drawn in grey.
GREY = ("COP-k-means", "k-means, answers ignored", REFERENCE[0])


def demo_report(result: Demo) -> str:
    """Return the whole page of a demo, ready to be written to one HTML file."""
    part, right = result.cancer, result.cancer.rows[0].test_accuracy
    found = stories(result)
    pictures = [_method_bars(part.rows, part.n_test), _crowd_bars(result.crowd)]
    pictures += [_annotator_dots(result.crowd.worst) for _ in found[2:]]
    sure = None if right is None else wilson(right * part.n_test, part.n_test)
    given = {"result": result, "stories": found, "pictures": pictures, "sure": sure}
    return render("demo.html", GENERATOR, **given)


def _method_bars(rows: Sequence[Row], n_test: int) -> str:
    values = [row.test_accuracy for row in rows]
    found = [None if value is None else wilson(value * n_test, n_test) for value in values]
    ends = ([one and one.low for one in found], [one and one.high for one in found])
    x_label = f"share of {n_test:,} new tumours in the right class"
    caption = (
        "Accuracy on tumours that no method had seen, with 95% intervals; in grey, k-means and "
        "the classifier trained on every true class."
    )
    return _bars(rows, [_with_given(row) for row in rows], values, ends, x_label, caption)


def _with_given(row: Row) -> str:
    if row.told == REFERENCE[1]:
        return "every true class given"
    return f"{row.method}, prior given" if row.told == "share of malignant" else row.method


def _crowd_bars(part: SimulatedCrowd) -> str:
    rows = [row for row in part.rows if row.train_accuracy is not None]
    values = [row.train_accuracy for row in rows]
    x_label = f"share of the {part.n_train:,} compared items in the right class"
    caption = (
        "Items put in the right class when every annotator has rates of their own, when all count "
        "alike, and when nobody is asked."
    )
    return _bars(rows, [row.method for row in rows], values, None, x_label, caption)


def _bars(
    rows: Sequence[Row], names: list[str], values: Any, ends: Any, x_label: str, caption: str
) -> str:
    picture = charts.bars(
        names,
        values,
        ends,
        baseline=[row.method in GREY for row in rows],
        stressed=[row is rows[0] for row in rows],
        x_label=x_label,
    )
    return figure(picture, caption)


def _annotator_dots(worst: Sequence[Annotator]) -> str:
    picture = charts.annotator_plot(
        [f"{one.name}: {one.kind}" for one in worst],
        [[one.similar_flip, one.dissimilar_flip] for one in worst],
        truth=[[one.true_similar_flip, one.true_dissimilar_flip] for one in worst],
        stressed=[one.kind != "honest" for one in worst],
    )
    return figure(
        picture,
        "Estimated rates of the annotators who say least; crosses mark the truth, which the "
        "learner was not given. Names in bold are not honest.",
    )
