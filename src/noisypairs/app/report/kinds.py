"""The kinds of a fit: which there are, which people confuse, and items to name them by."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from noisypairs.app.fit.result import FitResult, KindSummary, ModelSummary, ShownItem
from noisypairs.app.report import charts
from noisypairs.app.report.page import Block, Key, callout, card, cards, figure, paragraph, table
from noisypairs.app.report.thumbnails import Thumbnails
from noisypairs.app.words import chance, count, listed, name_of, percent, shortened

#: Kinds that are called "same" at least so often as this share of one kind's own pairs are
#: confused: people then see hardly a difference.
CONFUSED = 0.5
#: Letters of an item's contents in a table.
LONGEST = 90
_KEYS = (Key("kind", choose=True), Key("share", numeric=True))


def kinds(result: FitResult, thumbnails: Thumbnails | None = None) -> list[Block]:
    """Show all kinds; nothing where the fit was asked for classes."""
    found = result.model
    if not found.kinds:
        return []
    meaning = (
        "A kind is a group of items that people tell apart. Kinds may be finer than the classes "
        "you want: several kinds may get one name."
    )
    tried = result.choice.kind_numbers
    chosen = (
        f" Their number, {len(found.kinds)}, was chosen from {listed(tried)}: it predicts answers "
        "about held-out items best."
        if len(tried) > 1
        else ""
    )
    rows = [
        (one.number, one.name or "–", percent(one.share, 1), f"{one.n_items:,}")
        for one in found.kinds
    ]
    headings = ("kind", "name", "share", "items most likely of it")
    S = np.array(found.noise.same_probability)
    caption = (
        "How often a pair is called “same”, by the kinds of its two items: rows and columns are "
        "kinds. Dark cells off the diagonal are kinds that people confuse. " + _confused(found, S)
    )
    picture = charts.heat_map(found.groups, S)
    return [
        paragraph(meaning + chosen),
        *([callout(names_needed(found))] if found.n_unnamed else []),
        table(headings, rows, numeric=[2, 3]),
        figure(picture, caption),
        *_items(found.kinds, thumbnails),
    ]


def names_needed(found: ModelSummary) -> str:
    """Say how many names are needed, and how to give them."""
    total = len(found.kinds)
    open_ = (
        f"The {total} kinds have no names yet: {count(total, 'name')} are needed, one for each"
        if found.n_unnamed == total
        else f"{count(found.n_unnamed, 'kind has', 'kinds have')} no name yet"
    )
    return (
        f"{open_}. Look at the typical items below, write a table with the columns kind and class, "
        "and run: noisypairs name model.skops names.csv -o named.skops. Until then kinds are what "
        "the model predicts."
    )


def _confused(found: ModelSummary, S: np.ndarray) -> str:
    """Name the kinds that are called "same" almost as often as one kind's own pairs."""
    own = np.diag(S)
    pairs = [
        f"{found.groups[a]} and {found.groups[b]} ({percent(S[a, b])})"
        for a, b in combinations(range(len(S)), 2)
        if S[a, b] >= CONFUSED * min(own[a], own[b])
    ]
    if not pairs:
        return "No two kinds are confused often."
    return f"Confused most: {'; '.join(pairs)}."


def _items(found: Sequence[KindSummary], thumbnails: Thumbnails | None) -> list[Block]:
    """Show typical items beside doubtful ones, kind by kind."""
    seen = Thumbnails({}, ()) if thumbnails is None else thumbnails
    if not seen.pictures:
        rows = [
            (one.title, what, name_of(item.id), chance(item.probability), _contents(item))
            for one in found
            for what, items in (("typical", one.typical), ("doubtful", one.doubtful))
            for item in items
        ]
        headings = ("kind", "it is", "item", "probably of this kind", "contents")
        caption = (
            "Typical items are those that answers and features agree on most; doubtful ones are "
            "nearest to another kind."
        )
        return [table(headings, rows, caption, numeric=[3], choose=[0, 1])]
    shown = [
        card(
            f"{one.title}: typical and doubtful",
            (one.typical[k].id, one.doubtful[k].id),
            _side_by_side(one.typical[k], one.doubtful[k], seen.column),
            (
                f"Typical: {chance(one.typical[k].probability)} of this kind. Doubtful: "
                f"{chance(one.doubtful[k].probability)}.",
            ),
            (one.title, percent(one.share, 1)),
        )
        for one in found
        for k in range(min(len(one.typical), len(one.doubtful)))
    ]
    text = paragraph("Left a typical item of a kind, right one that is nearest to another kind.")
    return [text, cards(shown, _KEYS, seen.pictures)]


def _contents(item: ShownItem) -> str:
    return shortened("; ".join(f"{k} {v}" for k, v in item.features.items()), LONGEST)


def _side_by_side(
    typical: ShownItem, doubtful: ShownItem, pictured: str | None
) -> list[tuple[str, str, str]]:
    names = [name for name in typical.features if name != pictured][:6]
    sides = (typical.features, doubtful.features)
    left, right = ([shortened(side.get(one, "–"), LONGEST) for one in names] for side in sides)
    return list(zip(names, left, right, strict=True))
