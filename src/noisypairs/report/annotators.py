"""The page of ``noisypairs annotators``: who answers how well, and what follows."""

from __future__ import annotations

from collections.abc import Sequence

from noisypairs.crowd import Crowd
from noisypairs.estimation import Interval
from noisypairs.report import doubts
from noisypairs.report.page import Block, Page, bullets, paragraph, table
from noisypairs.report.words import count, percent, share

#: Rows shown in each table; a CSV file has them all.
MOST_ROWS = 100


def annotators_report(found: Crowd, notes: Sequence[str] = ()) -> str:
    """Return the whole page as HTML, the answer first."""
    page = Page("Who answers well", lead=crowd_answer(found))
    page.section("Annotators", *doubts.annotators(found.table))
    page.section("Agreement with others on the same pairs", *_agreement(found))
    page.section("If somebody were left out", *_left_out(found))
    if found.gold is not None:
        page.section("Errors on pairs of known truth", *_gold(found))
    if found.by_feature:
        page.section("Where the answers go wrong", *_features(found))
    page.section("How to read this", _how_to_read(found))
    if notes:
        page.section("Notes", bullets(notes))
    return page.html()


def crowd_answer(found: Crowd) -> str:
    """Say in two sentences how good the crowd is and whom to look at."""
    crowd, bad = found.table.crowd, found.table.suspects
    text = (
        f"{count(len(found.table), 'annotator')} gave {crowd.n_answers:,} answers, of which about "
        f"{percent(crowd.accuracy)} are right. "
    )
    if not bad:
        return text + "Nobody stands out."
    text += f"{count(len(bad), 'annotator stands', 'annotators stand')} out as not honest. "
    after = found.without_suspects
    if after is None:
        return text + f"Left out: {found.without_note}."
    return text + (
        f"Without them an answer is worth {after.informativeness.estimate:.2f} instead of "
        f"{crowd.informativeness.estimate:.2f} of a perfect one."
    )


def _agreement(found: Crowd) -> list[Block]:
    shared = [row.n for row in found.agreement]
    if not any(shared):
        return [paragraph("No pair was answered by two annotators, so there is no agreement.")]
    rows = [
        (str(row.name), f"{one.n:,}", _or_dash(one.share), _plain(one.kappa))
        for row, one in zip(found.table, found.agreement, strict=True)
    ][:MOST_ROWS]
    alpha = "not defined" if found.alpha is None else f"{found.alpha:.2f}"
    return [
        paragraph(f"Chance-corrected agreement of all (Krippendorff's alpha): {alpha}."),
        table(("annotator", "shared answers", "agree", "corrected for chance (kappa)"), rows),
    ]


def _left_out(found: Crowd) -> list[Block]:
    rows = [
        (
            str(row.name),
            "not tried" if row.drop_effect is None else f"{row.drop_effect:,}",
            "nobody left" if rest is None else percent(rest, 1),
        )
        for row, rest in zip(found.table, found.rest_accuracy, strict=True)
    ][:MOST_ROWS]
    blocks: list[Block] = [
        table(("annotator", "items that change class", "right answers of the others"), rows)
    ]
    before, after = found.table.crowd, found.without_suspects
    if after is None:
        return [*blocks, paragraph(f"Without all suspects at once: {found.without_note}.")]
    lines = [
        (name, share(one.similar_flip), share(one.dissimilar_flip), _plain(one.informativeness))
        for name, one in (("everybody", before), ("without all suspects", after))
    ]
    headings = ("crowd", "same called different", "different called same", "informativeness")
    return [table(headings, lines), *blocks]


def _gold(found: Crowd) -> list[Block]:
    rows = [
        (
            str(row.name),
            one.n_same,
            _or_dash(one.similar_flip),
            one.n_different,
            _or_dash(one.dissimilar_flip),
        )
        for row, one in zip(found.table, found.gold or [], strict=True)
    ][:MOST_ROWS]
    headings = ("annotator", "same", "called different", "different", "called same")
    return [table(headings, rows)]


def _features(found: Crowd) -> list[Block]:
    rows = [
        (f"{one.feature}: {one.level}", f"{one.n_answers:,}", share(one.wrong))
        for one in found.by_feature
    ]
    text = (
        "Expected share of wrong answers on pairs with an item of this level; the features whose "
        "levels differ most."
    )
    return [paragraph(text), table(("feature and level", "answers", "wrong"), rows)]


def _how_to_read(found: Crowd) -> Block:
    return bullets(
        (
            f"Intervals are of level {percent(found.table.level)}. Those of the rates take the "
            "inferred classes as given and are too short where pairs are few.",
            "Informativeness is 1 for perfect answers, 0 for a coin of any lean, below 0 for "
            "reversed ones.",
            "A verdict is about answers, not about intentions: wrong instructions look the same.",
            "Items that change class: one propagation without that annotator's answers, all rates "
            "kept. Right answers of the others: classes kept as inferred from everybody. The crowd "
            "without all suspects is inferred anew.",
            "Pairs plus one known label reveal every label on a connected graph: hashed names hide "
            "who answered, not what the items are.",
        )
    )


def _or_dash(interval: Interval | None) -> str:
    return "–" if interval is None else share(interval)


def _plain(interval: Interval | None) -> str:
    if interval is None:
        return "–"
    return f"{interval.estimate:.2f} ({interval.low:.2f} to {interval.high:.2f})"
