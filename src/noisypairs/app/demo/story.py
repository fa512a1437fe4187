"""What the demo found out, in sentences and tables, for the command line and the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from noisypairs.app.demo.learning import (
    ENOUGH_ANSWERS,
    Annotator,
    Demo,
    Row,
    SimulatedCrowd,
    Tumours,
)


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
    found = [_cancer_story(result.cancer), _crowd_story(result.crowd)]
    return found + [_annotator_story(result.crowd.worst)] * bool(result.crowd.worst)


def _cancer_story(part: Tumours) -> Story:
    before = (
        f"{part.n_train + part.n_test} breast tumours, benign or malignant, with {part.n_features} "
        f"measurements each. Nobody names a class: about {part.n_train} of the tumours there are "
        f'{part.n_pairs:,} answers to "are these two the same class?", and '
        f"{part.n_wrong / part.n_pairs:.0%} of the answers are wrong. The other {part.n_test} "
        "tumours are the test. Pairs cannot tell which group is called malignant, so accuracy is "
        "taken up to a swap of the two names."
    )
    headings = ("method", "given beforehand", "test accuracy", "seconds")
    rows = [(row.method, row.told, _test_cell(row), f"{row.seconds:.1f}") for row in part.rows]
    after = "The joint learner refused, so nothing was learnt about the answers."
    if (found := part.learnt) is not None:
        after = (
            f"What the joint learner found out about the answers: {found.similar_flip:.0%} of the "
            f"same pairs are called different (truly {part.similar_flip:.0%}) and "
            f"{found.dissimilar_flip:.0%} of the different pairs same (truly "
            f"{part.dissimilar_flip:.0%}); the larger class holds {found.larger_class:.0%} of the "
            f"tumours (truly {part.larger_class:.0%}). It suspects {found.n_suspect:,} answers; "
            f"{found.n_suspect_wrong:,} of these are wrong, of {part.n_wrong:,} wrong ones in all."
        )
    return Story("1. Tumours", before, headings, rows, _footnotes(part.rows), after)


def _crowd_story(part: SimulatedCrowd) -> Story:
    before = (
        f"{part.n_train} simulated items of three classes. {part.n_annotators} annotators gave "
        f"{part.n_pairs:,} answers, {part.n_wrong / part.n_pairs:.0%} of them wrong: "
        f"{part.n_not_honest} annotators toss coins, always answer alike, or say the opposite of "
        "what they see, and nobody knows who. New items come without answers: features alone "
        "decide, and training on the true classes (last line) gets about as far."
    )
    headings = ("method", "compared items right", "new items right", "seconds")
    rows = []
    for row in part.rows:
        right = "" if row.train_accuracy is None else f"{row.train_accuracy:.1%}"
        rows.append((row.method, right, _test_cell(row), f"{row.seconds:.1f}"))
    return Story("2. A crowd", before, headings, rows, _footnotes(part.rows))


def _annotator_story(worst: Sequence[Annotator]) -> Story:
    bad = sum(one.kind != "honest" for one in worst)
    before = (
        f"Of the annotators with at least {ENOUGH_ANSWERS} answers, these say least by their "
        f"estimated rates; {bad} of the {len(worst)} are indeed not honest."
    )
    headings = ("annotator", "answers", "same called different", "different called same")
    rows = []
    for one in worst:
        similar = f"{one.similar_flip:.0%} (truly {one.true_similar_flip:.0%})"
        dissimilar = f"{one.dissimilar_flip:.0%} (truly {one.true_dissimilar_flip:.0%})"
        rows.append((str(one.name), str(one.n_answers), similar, dissimilar, one.kind))
    return Story("3. Its worst annotators", before, (*headings, "in truth"), rows)


def _test_cell(row: Row) -> str:
    """Return the accuracy, starred after a warning, or that the method refuses.

    >>> _test_cell(Row("", "", 0.9651, 0.1)), _test_cell(Row("", "", None, 0.1, refusal="…"))
    ('96.5%', 'refuses: no signal')
    """
    if row.test_accuracy is None:
        return "refuses: no signal"
    return f"{row.test_accuracy:.1%}" + " *" * bool(row.warnings)


def _footnotes(rows: Sequence[Row]) -> list[str]:
    """Return the first sentence of every reason to refuse, with the methods that give it."""
    who: dict[str, list[str]] = {}
    for row in rows:
        if row.refusal:
            who.setdefault(row.refusal.split(". ")[0], []).append(row.method)
    starred = ["* with a warning, which --json shows in full."] * any(row.warnings for row in rows)
    return starred + [f"{', '.join(names)}: {reason}." for reason, names in who.items()]
