"""Who and what is suspect: annotators with their rates, and answers that are probably wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from noisypairs.annotators import KINDS, UNDECIDED, AnnotatorRow, AnnotatorTable
from noisypairs.app.report import charts
from noisypairs.app.report.advice import by_suspicion, standing_out
from noisypairs.app.report.page import (
    Block,
    Card,
    Cell,
    Key,
    Page,
    Shown,
    bullets,
    callout,
    card,
    cards,
    figure,
    paragraph,
    table,
)
from noisypairs.app.report.thumbnails import Thumbnails
from noisypairs.app.suspects import SuspectPair
from noisypairs.assess.words import (
    chance,
    count,
    hard_ones,
    name_of,
    percent,
    plain,
    share,
    shortened,
)
from noisypairs.estimation import Interval

GENERATOR = "noisypairs suspects"
#: Annotators in the picture, the most suspect first; the table has them all.
MOST_DRAWN = 20
#: Columns of an item that a page shows, and letters of a cell; the file has them whole.
MOST_COLUMNS, LONGEST_CELL = 12, 160
#: What the two numbers of a person are.
WAYS = (
    "Bias is how far somebody leans towards “same” compared with the crowd, skill how much better "
    "they tell same from different pairs. Both are 0 for somebody like the crowd, and few answers "
    "are pulled towards 0. They are log-odds: +1 of bias makes “same” 2.7 times as likely against "
    "“different”; below 0 somebody leans towards “different”, or tells pairs apart less well."
)
#: What suspect answers are sorted and chosen by.
KEYS = (
    Key("probably wrong", numeric=True),
    Key("verdict", choose=True),
    Key("answer", choose=True),
    Key("annotator", choose=True),
    Key("reason", choose=True),
    Key("first item"),
)


def annotators(found: AnnotatorTable | None) -> list[Block]:
    """Show who errs how often, the most suspect first, with the crowd as a measure."""
    if found is None or len(found) == 0:
        return [paragraph("The answers do not say who gave them, so nobody can be judged.")]
    ranked = [found.rows[r] for r in by_suspicion(found)]
    shown = ranked[:MOST_DRAWN]
    rates = [(row.similar_flip, row.dissimilar_flip) for row in shown]
    picture = charts.annotator_plot(
        [name_of(row.name) for row in shown],
        [[one.estimate for one in row] for row in rates],
        [[one.low for one in row] for row in rates],
        [[one.high for one in row] for row in rates],
        stressed=[row.verdict in KINDS[1:] for row in shown],
    )
    caption = (
        f"{'The' if len(shown) == len(found) else f'{len(shown)} of the'} {len(found):,} "
        f"annotators, the most suspect first, with {percent(found.level)} intervals. A coin errs "
        "in half of both kinds of pairs; names in bold are suspect."
    )
    rates_of = ("same called different", "different called same")
    headings = ("annotator", "verdict", "answers", "right", *rates_of, "bias", "skill")
    cells = [_cells(row, name_of(row.name)) for row in ranked]
    cells.append(_cells(found.crowd, "all together"))
    whole = table(headings, cells, numeric=range(2, 8), bold=[len(ranked)], choose=[1])
    return [_summary(found), figure(picture, caption), paragraph(WAYS), whole]


def _summary(found: AnnotatorTable) -> Block:
    few = len(found.named(UNDECIDED))
    open_ = f" {few:,} of {len(found):,} gave too few answers to be judged one by one." * (few > 0)
    if found.suspects:
        return callout(f"{standing_out(found)}{open_}", "caution")
    if few:
        return paragraph(f"{standing_out(found)}{open_}")
    return paragraph("Nobody stands out: all answer like people who look at the pairs.")


def _cells(row: AnnotatorRow, name: str) -> tuple[Cell, ...]:
    right = Shown(percent(row.accuracy), row.accuracy)
    rates = _rate(row.similar_flip), _rate(row.dissimilar_flip)
    return (
        name,
        row.verdict,
        f"{row.n_answers:,}",
        right,
        *rates,
        *map(_way, (row.bias, row.skill)),
    )


def _way(number: Interval | None) -> Shown:
    return Shown(plain(number), None if number is None else number.estimate)


def _rate(rate: Interval) -> Shown:
    return Shown(share(rate), rate.estimate)


def suspects(
    found: Sequence[SuspectPair],
    n_suspects: int,
    n_pairs: int,
    thumbnails: Thumbnails | None = None,
    n_hard: int = 0,
) -> list[Block]:
    """Show the answers most probably wrong, both items side by side, with the reasons."""
    if not found:
        return [paragraph("No answer is more likely wrong than right.")]
    share_of_all = percent(n_suspects / max(n_pairs, 1))
    rest = (
        "All of them are below, the most likely wrong first."
        if len(found) == n_suspects
        else f"The {len(found):,} most likely wrong are below; the commands write all to a file."
    )
    text = (
        f"{count(n_suspects, 'answer is', 'answers are')} more likely wrong than right, "
        f"{share_of_all} of all. {hard_ones(n_hard)}{rest} The model already gives them little "
        "weight. Values in grey are alike."
    )
    seen = Thumbnails({}, ()) if thumbnails is None else thumbnails
    shown = (_card(one, seen.column) for one in found)
    notes = map(paragraph, seen.notes)
    return [paragraph(text), *notes, cards(shown, KEYS, seen.pictures)]


def suspects_report(
    found: Sequence[SuspectPair],
    n_suspects: int,
    n_pairs: int,
    thumbnails: Thumbnails | None = None,
    n_hard: int = 0,
) -> str:
    """Return the page of ``noisypairs suspects``: nothing but the answers to look at again."""
    lead = (
        f"{count(n_suspects, 'answer')} of {n_pairs:,} "
        f"{'is' if n_suspects == 1 else 'are'} more likely wrong than right."
    )
    page = Page("Answers to look at again", lead, GENERATOR)
    page.section("Suspect answers", *suspects(found, n_suspects, n_pairs, thumbnails, n_hard))
    return page.section("How to read this", bullets(_HOW_TO_READ)).html()


_HOW_TO_READ = (
    "A pair is called hard, not wrong, where people err on it so often that an answer blames "
    "nobody: at least two answers of five would be wrong. Let somebody decide who knows.",
    "A suspect answer is one that the model thinks wrong, from the items' features and from all "
    "answers. Look at it again before changing it.",
    "Items compared with both point to “same” if they were called the same as both, and to "
    "“different” if they were called the same as one of them only.",
    "What features alone say of items that the model learnt from may be too sure.",
)


def _card(one: SuspectPair, pictured: str | None) -> Card:
    wrong = chance(one.probability)
    by = "" if one.annotator is None else f" by {name_of(one.annotator)}"
    sides = _side_by_side(one.left_features, one.right_features)
    rows = [row for row in sides if row[0] != pictured]
    doubts = "; ".join(one.doubts) or "all answers together"
    keys = (
        Shown(wrong, round(one.probability, 6)),
        one.verdict,
        one.answer,
        name_of(one.annotator or ""),
        doubts,
        name_of(one.left),
    )
    heading = f"Called {one.answer}{by}: {wrong} likely wrong"
    if one.verdict == "hard":
        heading = f"Called {one.answer}{by}: a hard pair"
    return card(heading, (one.left, one.right), rows, one.why, keys)


def _side_by_side(left: Mapping[str, str], right: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Return (column, left cell, right cell) for the first columns that either item has."""
    names = list(dict.fromkeys([*left, *right]))
    cells = [
        [shortened(side.get(name, "–"), LONGEST_CELL) for name in names[:MOST_COLUMNS]]
        for side in (left, right)
    ]
    rows = list(zip(names[:MOST_COLUMNS], *cells, strict=True))
    more = len(names) - MOST_COLUMNS
    return rows + [(count(more, "more column"), "…", "…")] * (more > 0)
