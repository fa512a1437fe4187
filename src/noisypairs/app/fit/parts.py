"""The parts of a fit's answer model: which were kept, what each gained, which items are hard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from noisypairs.app.fit.result import PartSummary, ShownItem
from noisypairs.app.suspects import cells_of

#: What a part is, for a reader.
TITLES = {
    "people": "everybody has a bias and a skill of their own",
    "clarity": "some items are hard for everybody",
    "similarity": "pairs that look alike are called same more often",
}
#: Hard items that a page shows.
MOST_HARD = 20


def summarise_parts(model: Any) -> tuple[PartSummary, ...]:
    """Return all parts; those that were not tried showed no sign. None of a model without parts."""
    kept: Sequence[str] | None = getattr(model, "parts_", None)
    if kept is None:
        return ()
    gains = {gain.part: gain for gain in model.part_gains_}
    found = []
    for name, title in TITLES.items():
        gain = gains.get(name)
        measured: tuple[Any, ...] = (None,) * 4
        if gain is not None:
            measured = gain.items, gain.items_error, gain.people, gain.people_error
        found.append(PartSummary(name, title, name in kept, *measured))
    return tuple(found)


def hard_items(
    model: Any, features: pd.DataFrame, ids: Sequence[str]
) -> tuple[tuple[ShownItem, ...], int]:
    """Return the items most probably hard, hardest first, and how many are more likely so."""
    hard = getattr(model, "item_hard_", None)
    if hard is None:
        return (), 0
    order = np.argsort(-hard, kind="stable")
    n_hard = int((hard > 0.5).sum())
    shown = tuple(
        ShownItem(ids[i], float(hard[i]), cells_of(features, i))
        for i in order[: min(n_hard, MOST_HARD)].tolist()
    )
    return shown, n_hard
