"""The parts of a fit's answer model: how strong each is, and which items are hard."""

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
    "pair error": "some pairs mislead everybody",
    "similarity": "pairs that look alike are called same more often",
}
#: Hard items that a page shows.
MOST_HARD = 20


def summarise_parts(model: Any) -> tuple[PartSummary, ...]:
    """Return all parts with their learnt strength. None of a model without parts."""
    answers = getattr(model, "answer_model_", None)
    if answers is None:
        return ()
    found = []
    for name, title in TITLES.items():
        part = answers.part(name)
        strength = 0.0 if part is None else float(part.strength)
        found.append(PartSummary(name, title, strength > 0, strength))
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
