"""The demo as a page: the answer first, then what the command prints, with pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from noisypairs.app.demo.learning import REFERENCE, Annotator, Demo, Row, SimulatedCrowd, Tumours
from noisypairs.app.demo.story import Story, stories
from noisypairs.app.report import charts
from noisypairs.app.report import page as blocks
from noisypairs.app.report.page import Block, Page, figure, paragraph
from noisypairs.assess.words import between, percent
from noisypairs.estimation import wilson

#: What the file says of itself: only such a page is overwritten by the next demo.
GENERATOR = "noisypairs demo"

#: Rows that learn nothing from the answers, or from more than the answers: drawn in grey.
GREY = ("COP-k-means", "k-means, answers ignored", REFERENCE[0])

_HOW_TO_READ = (
    "No learner was given the class of a single item; the true classes serve only to count, "
    "afterwards, how many items it put right.",
    "Pairs say which items belong together, not what the groups are called. Accuracies are "
    "therefore taken under the names that fit best.",
    "Lines through the bars are 95% intervals for the chance of new items alone: methods whose "
    "lines overlap much may well be equally good.",
    "The same seed gives the same page, but for the seconds.",
)


def demo_report(result: Demo) -> str:
    """Return the whole page of a demo, ready to be written to one HTML file."""
    page = Page("Learning from noisy answers about pairs", _answer(result.cancer), GENERATOR)
    page.open_with(*_opening(result.cancer))
    found = stories(result)
    _show(page, found[0], _method_bars(result.cancer.rows, result.cancer.n_test))
    _show(page, found[1], _crowd_bars(result.crowd))
    for story in found[2:]:
        _show(page, story, _annotator_dots(result.crowd.worst))
    seconds = f"Seed {result.seed}, {result.seconds:.0f} s in all."
    return page.section("How to read this", blocks.bullets(_HOW_TO_READ), note=seconds).html()


def _show(page: Page, story: Story, *pictures: Block) -> None:
    parts = [paragraph(story.before), *pictures, blocks.table(story.headings, story.rows)]
    after = [paragraph(story.after)] * bool(story.after)
    page.section(story.title, *parts, *after, note=" ".join(story.footnotes) or None)


def _answer(part: Tumours) -> str:
    joint, clean = part.rows[0].test_accuracy, part.rows[-1].test_accuracy
    given = (
        f"{part.n_pairs:,} answers to “are these two the same class?”, "
        f"{percent(part.n_wrong / part.n_pairs)} of them wrong"
    )
    if joint is None or clean is None:
        return f"From {given}, the joint learner refuses to learn: see the reason below."
    return (
        f"Given nothing but {given}, the joint learner puts {percent(joint, 1)} of new tumours in "
        f"the right class. The same classifier trained on every true class gets "
        f"{percent(clean, 1)}."
    )


def _opening(part: Tumours) -> list[Block]:
    joint, found = part.rows[0], part.learnt
    if joint.test_accuracy is None or found is None:
        return [blocks.callout(joint.refusal or "The joint learner refused.", "problem")]
    sure = between(wilson(joint.test_accuracy * part.n_test, part.n_test))
    share = percent(joint.test_accuracy, 1)
    tiles = [(share, "of new tumours right", f"{sure}, by the chance of {part.n_test} items")]
    for rate, truth, what in (
        (found.similar_flip, part.similar_flip, "of the same pairs called different"),
        (found.dissimilar_flip, part.dissimilar_flip, "of the different pairs called same"),
    ):
        tiles.append((percent(rate), what, f"found out; truly {percent(truth)}"))
    wrong = f"{found.n_suspect_wrong:,} of them wrong, of {part.n_wrong:,} wrong in all"
    return [blocks.numbers([*tiles, (f"{found.n_suspect:,}", "answers suspected", wrong)])]


def _method_bars(rows: Sequence[Row], n_test: int) -> Block:
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


def _crowd_bars(part: SimulatedCrowd) -> Block:
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
) -> Block:
    picture = charts.bars(
        names,
        values,
        ends,
        baseline=[row.method in GREY for row in rows],
        stressed=[row is rows[0] for row in rows],
        x_label=x_label,
    )
    return figure(picture, caption)


def _annotator_dots(worst: Sequence[Annotator]) -> Block:
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
