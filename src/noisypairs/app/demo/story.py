"""What the demo found out, in sentences and tables, for the command line and the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from noisypairs.app.demo.learning import ENOUGH_ANSWERS, Demo, Row
from noisypairs.app.sentences import said


@dataclass(frozen=True)
class Story:
    """A title, a paragraph, a table with footnotes, a closing paragraph."""

    title: str
    before: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    footnotes: Sequence[str] = ()
    after: str = ""


def stories(result: Demo) -> list[Story]:
    """Return the result in words, for someone who has never heard of pairs."""
    tumours, crowd, worst = result.cancer, result.crowd, result.crowd.worst
    tried = [(row.method, row.told, _test(row), f"{row.seconds:.1f}") for row in tumours.rows]
    found = [
        Story(
            "1. Tumours",
            said("demo.txt", "tumours", tumours),
            ("method", "given beforehand", "test accuracy", "seconds"),
            tried,
            _footnotes(tumours.rows),
            said("demo.txt", "learnt", tumours),
        ),
        Story(
            "2. A crowd",
            said("demo.txt", "crowd", crowd),
            ("method", "compared items right", "new items right", "seconds"),
            [(row.method, _right(row), _test(row), f"{row.seconds:.1f}") for row in crowd.rows],
            _footnotes(crowd.rows),
        ),
    ]
    people = [
        (
            str(one.name),
            str(one.n_answers),
            said("demo.txt", "rate", one.similar_flip, one.true_similar_flip),
            said("demo.txt", "rate", one.dissimilar_flip, one.true_dissimilar_flip),
            one.kind,
        )
        for one in worst
    ]
    before = said("demo.txt", "worst", worst, ENOUGH_ANSWERS)
    rates = ("same called different", "different called same")
    headings = ("annotator", "answers", *rates, "in truth")
    return found + [Story("3. Its worst annotators", before, headings, people)] * bool(worst)


def _test(row: Row) -> str:
    return said("demo.txt", "test_cell", row.test_accuracy, row.warnings)


def _right(row: Row) -> str:
    return "" if row.train_accuracy is None else f"{row.train_accuracy:.1%}"


def _footnotes(rows: Sequence[Row]) -> list[str]:
    """Return the first sentence of every reason to refuse, with the methods that give it."""
    who: dict[str, list[str]] = {}
    for row in rows:
        if row.refusal:
            who.setdefault(row.refusal.split(". ")[0], []).append(row.method)
    starred = ["* with a warning, which --json shows in full."] * any(row.warnings for row in rows)
    return starred + [f"{', '.join(names)}: {reason}." for reason, names in who.items()]
