"""The classes of a fit: what each one is, which people confuse, and items to know them by."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from noisypairs.app.fit.result import ClassSummary, FitResult, ModelSummary, ShownItem
from noisypairs.app.report import charts
from noisypairs.app.report.page import Block, Key, callout, card, cards, figure, paragraph, table
from noisypairs.app.report.thumbnails import Thumbnails
from noisypairs.assess.words import chance, confidence, count, name_of, percent, sentence, shortened

#: Classes that are called "same" at least so often as this share of one class's own pairs are
#: confused: people then see hardly a difference.
CONFUSED = 0.5
#: Letters of an item's contents in a table.
LONGEST = 90
_KEYS = (Key("class", choose=True), Key("share", numeric=True))


def classes(result: FitResult, thumbnails: Thumbnails | None = None) -> list[Block]:
    """Show every class: its size, what tells it, typical and doubtful items."""
    found = result.model
    rows = [
        (
            one.name,
            percent(one.share, 1),
            f"{one.n_items:,}",
            f"{one.n_doubtful:,}",
            "; ".join(one.telling) or "–",
        )
        for one in found.classes
    ]
    headings = ("class", "estimated share", "items", "of them doubtful", "what tells it")
    blocks: list[Block] = []
    if found.class_number is not None:
        blocks.append(paragraph(sentence(found.class_number.text)))
    blocks.append(table(headings, rows, numeric=[1, 2, 3]))
    if found.prior is not None:
        last = found.classes[-1].name
        blocks.append(paragraph(f"Share of class {last}: {confidence(found.prior)}."))
    if found.names_known:
        known = count(result.data.n_labels, "item of known class", "items of known class")
        blocks.append(paragraph(f"The classes are named after {known}."))
    else:
        blocks.append(callout(NAMES_NEEDED))
    return [*blocks, *_items(found.classes, thumbnails)]


NAMES_NEEDED = (
    "Pairs cannot tell which group has which name, so the groups are numbered by size. Look at "
    "their items below, write a table with the columns group and class, and run: noisypairs name "
    "model.skops names.csv -o named.skops. Several groups may get one name."
)


def confusion(found: ModelSummary) -> Block:
    """Show how often a pair is called "same", by the classes of its two items."""
    S = np.array(found.noise.same_probability)
    caption = (
        "How often a pair is called “same”, by the classes of its two items. Dark cells off the "
        "diagonal are classes that people confuse. " + _confused(found, S)
    )
    return figure(charts.heat_map(found.groups, S), caption)


def _confused(found: ModelSummary, S: np.ndarray) -> str:
    """Name the classes that are called "same" almost as often as one class's own pairs."""
    own = np.diag(S)
    pairs = [
        f"{found.groups[a]} and {found.groups[b]} ({percent(S[a, b])})"
        for a, b in combinations(range(len(S)), 2)
        if S[a, b] >= CONFUSED * min(own[a], own[b])
    ]
    if not pairs:
        return "No two classes are confused often."
    return f"Confused most: {'; '.join(pairs)}."


def _items(found: Sequence[ClassSummary], thumbnails: Thumbnails | None) -> list[Block]:
    """Show typical and doubtful items, class by class: as pictures where there are any."""
    seen = Thumbnails({}, ()) if thumbnails is None else thumbnails
    said = (
        "Typical items are those that answers and features agree on most; doubtful ones are "
        "nearest to another class."
    )
    if not seen.pictures:
        rows = [
            (one.name, what, name_of(item.id), chance(item.probability), _contents(item))
            for one in found
            for what, items in (("typical", one.typical), ("doubtful", one.doubtful))
            for item in items
        ]
        headings = ("class", "it is", "item", "probably of this class", "contents")
        return [table(headings, rows, said, numeric=[3], choose=[0, 1])] if rows else []
    shown = [
        card(
            f"{one.name}: {what}",
            (first.id, second.id),
            _side_by_side(first, second, seen.column),
            (f"{chance(first.probability)} and {chance(second.probability)} of this class.",),
            (one.name, percent(one.share, 1)),
        )
        for one in found
        for first, second, what in _couples(one)
    ]
    return [paragraph(said), cards(shown, _KEYS, seen.pictures)]


def _couples(one: ClassSummary) -> list[tuple[ShownItem, ShownItem, str]]:
    """Return items two by two: typical beside doubtful, or two typical ones where none is."""
    if not one.doubtful:
        couples = zip(one.typical[::2], one.typical[1::2], strict=False)
        return [(*both, "typical") for both in couples]
    couples = zip(one.typical, one.doubtful, strict=False)
    return [(*both, "typical and doubtful") for both in couples]


def _contents(item: ShownItem) -> str:
    return shortened("; ".join(f"{k} {v}" for k, v in item.features.items()), LONGEST)


def _side_by_side(
    first: ShownItem, second: ShownItem, pictured: str | None
) -> list[tuple[str, str, str]]:
    names = [name for name in first.features if name != pictured][:6]
    sides = (first.features, second.features)
    left, right = ([shortened(side.get(one, "–"), LONGEST) for one in names] for side in sides)
    return list(zip(names, left, right, strict=True))
