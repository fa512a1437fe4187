"""How people answer: which parts of the answer model were kept, what each gained, hard items."""

from __future__ import annotations

from noisypairs.app.fit.result import FitResult, PartSummary
from noisypairs.app.report.page import Block, paragraph, table
from noisypairs.app.words import chance, count, name_of, percent, shortened

#: Letters of an item's contents in a table.
LONGEST = 90


def parts(result: FitResult) -> list[Block]:
    """Show the parts and the hard items; nothing of a method that has no answer model."""
    found = result.model
    if not found.parts:
        return []
    text = (
        "Besides the classes of the two items, an answer may depend on who gives it, on items that "
        "nobody recognises, and on how alike two items look. A part is tried where the answers "
        "show a sign of it, and kept where it predicts answers about held-out items better, and "
        "answers of held-out people, too, where people are known. Gains are in nats: 1 nat makes "
        "all those answers together 2.7 times as likely."
    )
    headings = ("part", "used", "gain on held-out items", "gain on held-out people")
    rows = [(one.title, _used(one), *_gains(one)) for one in found.parts]
    blocks: list[Block] = [paragraph(text), table(headings, rows)]
    if found.n_hard_items:
        share = percent(found.n_hard_items / max(result.data.n_items, 1), 1)
        shown = [
            (
                name_of(item.id),
                chance(item.probability),
                shortened("; ".join(f"{k} {v}" for k, v in item.features.items()), LONGEST),
            )
            for item in found.hard_items
        ]
        more = "" if len(shown) == found.n_hard_items else f" The {len(shown)} hardest are below."
        said = (
            f"{count(found.n_hard_items, 'item is', 'items are')} probably hard, {share} of all: "
            f"people do not recognise them, and answers about them say little.{more}"
        )
        items = table(("item", "probably hard", "contents"), shown, numeric=[1])
        blocks += [paragraph(said), items]
    return blocks


def _used(part: PartSummary) -> str:
    if part.kept:
        return "yes" if part.is_measured else "yes, as asked for"
    return "no, it predicts no better" if part.is_measured else "no, no sign of it"


def _gains(part: PartSummary) -> tuple[str, str]:
    return _gain(part.items_gain, part.items_error), _gain(part.people_gain, part.people_error)


def _gain(gain: float | None, error: float | None) -> str:
    return "–" if gain is None or error is None else f"{gain:,.1f} ± {error:,.1f}"
