"""The page of ``noisypairs annotators``: who answers how well, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from noisypairs.annotators.crowd import Crowd
from noisypairs.annotators.errors import Quick
from noisypairs.annotators.linkage import TOOLS
from noisypairs.app.report import suspects
from noisypairs.app.report.advice import by_suspicion, crowd_answer, least_missed, meanings
from noisypairs.app.report.page import (
    Block,
    Cell,
    Page,
    Shown,
    Table,
    bullets,
    callout,
    numbers,
    paragraph,
    table,
)
from noisypairs.assess.words import between, listed, name_of, percent, plain, sentence, share

GENERATOR = "noisypairs annotators"


def annotators_report(found: Crowd, notes: Sequence[str] = ()) -> str:
    """Return the whole page as HTML, the answer first."""
    page = Page("Who answers well", crowd_answer(found), GENERATOR)
    page.open_with(numbers(_key_numbers(found)))
    page.section("Annotators", *suspects.annotators(found.table))
    page.section("What they were judged by", *_judged_by(found))
    page.section("What the verdicts mean", _verdicts(found), note=_VERDICT_NOTE)
    page.section("Agreement with others on the same pairs", *_agreement(found))
    page.section("If somebody were left out", *_left_out(found))
    if found.gold is not None:
        page.section("Errors on pairs of known truth", _gold(found))
    if found.quick is not None:
        page.section("Answers given too quickly", *_quick(found, found.quick))
    page.section("Who err alike", *_alike(found))
    if found.by_feature:
        page.section("Where the answers go wrong", *_features(found))
    page.section("How to read this", _how_to_read(found))
    if notes:
        page.section("Notes", bullets(notes))
    return page.html()


_VERDICT_NOTE = "A verdict is about answers, not intentions: wrong instructions look the same."


def _key_numbers(found: Crowd) -> list[tuple[str, str, str]]:
    crowd = found.table.crowd
    rates = (
        (crowd.similar_flip, "of the same pairs called different"),
        (crowd.dissimilar_flip, "of the different pairs called same"),
    )
    tiles = [(percent(crowd.accuracy), "of the answers right (estimated)", "")]
    if found.table.together is not None and found.table.together.is_open:
        least = percent(found.table.together.least_wrong)
        tiles = [(least, "of the answers wrong at least", "the rest cannot be known")]
    tiles += [(percent(rate.estimate), what, between(rate)) for rate, what in rates]
    per_head = f"{crowd.n_answers / max(len(found.table), 1):,.1f} each"
    return [*tiles, (f"{len(found.table):,}", f"gave {crowd.n_answers:,} answers", per_head)]


def _judged_by(found: Crowd) -> list[Block]:
    """Say which model is behind the table: classes, and how many, or each pair by itself."""
    text: list[Block] = [paragraph(sentence(str(found.table.choice)))]
    if found.table.choice is not None and found.table.choice.are_records:
        text.append(callout(f"To link records, use {TOOLS}."))
    return text


def _verdicts(found: Crowd) -> Block:
    return table(("verdict", "annotators", "what it means", "what to do"), meanings(found.table))


def _ranked(
    found: Crowd,
    headings: Sequence[str],
    cells: Callable[[int], Sequence[Cell]],
    shown: Callable[[int], bool] = lambda _: True,
) -> Table:
    """Return a table of the annotators ``shown``, the most suspect first, with ``cells(row)``."""
    order = [r for r in by_suspicion(found.table) if shown(r)]
    rows = [
        (name_of(found.table.rows[r].name), found.table.rows[r].verdict, *cells(r)) for r in order
    ]
    numeric = range(2, len(headings) + 2)
    return table(("annotator", "verdict", *headings), rows, numeric=numeric, choose=[1])


def _agreement(found: Crowd) -> list[Block]:
    if not any(one.n for one in found.agreement):
        return [paragraph("No pair was answered by two annotators, so there is no agreement.")]

    def cells(r: int) -> Sequence[Cell]:
        one = found.agreement[r]
        return f"{one.n:,}", share(one.share), plain(one.kappa)

    alpha = "not defined" if found.alpha is None else f"{found.alpha:.2f}"
    headings = ("shared answers", "agree", "corrected for chance (kappa)")
    return [
        paragraph(f"Chance-corrected agreement of all (Krippendorff's alpha): {alpha}."),
        _ranked(found, headings, cells, lambda r: found.agreement[r].n > 0),
    ]


def _left_out(found: Crowd) -> list[Block]:
    def cells(r: int) -> Sequence[Cell]:
        changed, rest = found.table.rows[r].drop_effect, found.rest_accuracy[r]
        return (
            "not tried" if changed is None else f"{changed:,}",
            "nobody left" if rest is None else percent(rest, 1),
        )

    what = "items that change class" if found.table.changed == "items" else "pairs that change"
    one_by_one = _ranked(found, (what, "right answers of the others"), cells)
    least = [paragraph(text) for text in [least_missed(found)] if text]
    before, after = found.table.crowd, found.without_suspects
    if after is None:
        without = f"Without all suspects at once: {found.without_note}."
        return [*least, one_by_one, paragraph(without)]
    lines = [
        (name, share(one.similar_flip), share(one.dissimilar_flip), plain(one.informativeness))
        for name, one in (("everybody", before), ("without all suspects", after))
    ]
    headings = ("crowd", "same called different", "different called same", "informativeness")
    return [*least, table(headings, lines), one_by_one]


def _gold(found: Crowd) -> Block:
    def cells(r: int) -> Sequence[Cell]:
        one = (found.gold or [])[r]
        return one.n_same, share(one.similar_flip), one.n_different, share(one.dissimilar_flip)

    return _ranked(found, ("same", "called different", "different", "called same"), cells)


def _quick(found: Crowd, quick: Quick) -> list[Block]:
    """Show how many answers of everybody came too quickly, and whether quick ones are worse."""

    def cells(r: int) -> Sequence[Cell]:
        own = quick.shares[r]
        return ("no times" if own is None else Shown(percent(own, 1), own),)

    text = (
        f"{percent(quick.share, 1)} of the answers took less than {quick.limit:.2g} seconds, too "
        f"little to look at two items. The quickest quarter of all answers is wrong in "
        f"{share(quick.quickest)}, the others in {share(quick.rest)}, by the model."
    )
    return [paragraph(text), _ranked(found, ("answers given too quickly",), cells)]


def _alike(found: Crowd) -> list[Block]:
    """Name groups of people whose errors go together."""
    how = (
        "Compared on pairs that three or more people answered; errors on pairs that are hard for "
        "everybody do not count, and a crowd without such groups shows one in a hundred times."
    )
    if not found.alike:
        return [paragraph(f"Nobody is seen to make the same errors as somebody else. {how}")]
    rows = [
        (listed(name_of(name) for name in group.names), f"{group.correlation:.2f}")
        for group in found.alike
    ]
    text = f"These err on the same pairs, as if they had copied or read the same advice. {how}"
    return [paragraph(text), table(("annotators", "correlation of their errors"), rows)]


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
            "inferred classes, or truths of pairs, as given and are too short where pairs are few.",
            "Informativeness is 1 for perfect answers, 0 for a coin, fair or not, below 0 for "
            "reversed ones.",
            "Items that change class, or pairs that change: inferred again without that "
            "annotator's answers, all rates kept. Right answers of the others: classes kept as "
            "inferred from everybody. The crowd without all suspects is inferred again.",
            "Pairs plus one known label reveal every label on a connected graph: hashed names hide "
            "who answered, not what the items are.",
        )
    )
