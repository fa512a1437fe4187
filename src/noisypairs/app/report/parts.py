"""How people answer: how strong each part of the answer model is, and which items are hard."""

from __future__ import annotations

from noisypairs.app.fit.result import FitResult
from noisypairs.app.report.page import Block, paragraph, table
from noisypairs.assess.words import chance, count, name_of, percent, shortened

#: Letters of an item's contents in a table.
LONGEST = 90


def parts(result: FitResult) -> list[Block]:
    """Show the parts and the hard items; nothing of a method that has no answer model."""
    found = result.model
    if not found.parts:
        return []
    text = (
        "Besides the classes of the two items, an answer may depend on who gives it, on items that "
        "nobody recognises, on pairs that mislead everybody, and on how alike two items look. The "
        "strength of each part is learnt with the rest. It is zero where the answers show none."
    )
    rows = [
        (TITLES[name], "yes" if strength else "no", _strength(name, strength))
        for name, strength in found.parts.items()
    ]
    headings = ("part", "found", "strength")
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


#: What a part is, for a reader.
TITLES = {
    "people": "everybody has a bias and a skill of their own",
    "clarity": "some items are hard for everybody",
    "pair error": "some pairs mislead everybody",
    "similarity": "pairs that look alike are called same more often",
}
#: How a strength is said.
STRENGTHS = {
    "people": "spread of {:.2f} between people, in log-odds",
    "clarity": "{:.1%} of the items",
    "pair error": "correlation of {:.2f} between answers to one pair",
    "similarity": "slope of {:.2f} on the cosine of two items",
}


def _strength(name: str, strength: float) -> str:
    return STRENGTHS[name].format(strength) if strength else "–"
