"""The demo as a page: the answer first, then what the command prints, with pictures."""

from __future__ import annotations

from collections.abc import Sequence

from noisypairs.app.demo.story import Story, stories
from noisypairs.app.demo.work import REFERENCE, Annotator, CancerResult, CrowdResult, Demo, Row
from noisypairs.app.report import charts
from noisypairs.app.report.page import (
    Block,
    Page,
    bullets,
    callout,
    figure,
    numbers,
    paragraph,
    table,
)
from noisypairs.app.words import between, percent
from noisypairs.estimation import wilson

#: What the file says of itself: only such a page is overwritten by the next demo.
GENERATOR = "noisypairs demo"

#: Rows that learn nothing from the answers, or from more than the answers: drawn in grey.
BASELINES = ("COP-k-means", "k-means, answers ignored", REFERENCE[0])

_HOW_TO_READ = (
    "Nobody told a learner the class of a single item; the true classes serve only to count, "
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
    told = stories(result)
    _tell(page, told[0], _method_bars(result.cancer.rows, result.cancer.n_test, "tumours"))
    _tell(page, told[1], _crowd_bars(result.crowd))
    for story in told[2:]:
        _tell(page, story, _annotator_dots(result.crowd.worst))
    seconds = f"Seed {result.seed}, {result.seconds:.0f} s in all."
    return page.section("How to read this", bullets(_HOW_TO_READ), note=seconds).html()


def _tell(page: Page, story: Story, *pictures: Block) -> None:
    blocks = [paragraph(story.before), *pictures, table(story.headings, story.rows)]
    if story.after:
        blocks.append(paragraph(story.after))
    page.section(story.title, *blocks, note=" ".join(story.footnotes) or None)


def _answer(part: CancerResult) -> str:
    joint, clean = part.rows[0].test_accuracy, part.rows[-1].test_accuracy
    given = (
        f"{part.n_pairs:,} answers to “are these two the same class?”, "
        f"{percent(part.n_wrong / part.n_pairs)} of them wrong"
    )
    if joint is None or clean is None:
        return f"From {given}, the joint learner refuses to learn: see the reason below."
    return (
        f"Told nothing but {given}, the joint learner puts {percent(joint, 1)} of new tumours in "
        f"the right class. The same classifier trained on every true class gets "
        f"{percent(clean, 1)}."
    )


def _opening(part: CancerResult) -> list[Block]:
    joint, found = part.rows[0], part.learnt
    if joint.test_accuracy is None or found is None:
        return [callout(joint.refusal or "The joint learner refused.", "bad")]
    sure = between(wilson(joint.test_accuracy * part.n_test, part.n_test))
    tiles = [
        (
            percent(joint.test_accuracy, 1),
            "of new tumours right",
            f"{sure}, by the chance of {part.n_test} items",
        ),
        (
            percent(found.similar_flip),
            "of the same pairs called different",
            f"found out; truly {percent(part.similar_flip)}",
        ),
        (
            percent(found.dissimilar_flip),
            "of the different pairs called same",
            f"found out; truly {percent(part.dissimilar_flip)}",
        ),
        (
            f"{found.n_suspect:,}",
            "answers suspected",
            f"{found.n_suspect_wrong:,} of them wrong, of {part.n_wrong:,} wrong in all",
        ),
    ]
    return [numbers(tiles)]


def _method_bars(rows: Sequence[Row], n_test: int, items: str) -> Block:
    values = [row.test_accuracy for row in rows]
    found = [None if value is None else wilson(value * n_test, n_test) for value in values]
    picture = charts.bars(
        [_with_told(row) for row in rows],
        values,
        ([one.low if one else None for one in found], [one.high if one else None for one in found]),
        baseline=[row.method in BASELINES for row in rows],
        stressed=[number == 0 for number, _ in enumerate(rows)],
        x_label=f"share of {n_test:,} new {items} in the right class",
    )
    caption = (
        f"Accuracy on {items} that no method had seen, with 95% intervals; in grey, k-means and "
        "the classifier trained on every true class."
    )
    return figure(picture, caption)


def _with_told(row: Row) -> str:
    if row.told == REFERENCE[1]:
        return "every true class told"
    return f"{row.method}, prior told" if row.told == "share of malignant" else row.method


def _crowd_bars(part: CrowdResult) -> Block:
    rows = [row for row in part.rows if row.train_accuracy is not None]
    accuracies = [row.train_accuracy for row in rows]
    picture = charts.bars(
        [row.method for row in rows],
        accuracies,
        baseline=[row.method in BASELINES for row in rows],
        stressed=[number == 0 for number, _ in enumerate(rows)],
        x_label=f"share of the {part.n_train:,} compared items in the right class",
    )
    return figure(
        picture,
        "Items put in the right class when every annotator has rates of their own, when all count "
        "alike, and when nobody is asked.",
    )


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
        "learner was not told. Names in bold are not honest.",
    )
