"""The kinds of a fit: how many were chosen, and what a reader needs to name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from noisypairs.app.fit.class_number import MOST_PAIRS
from noisypairs.app.fit.request import Request, pair_classifier
from noisypairs.app.fit.result import KindSummary, ShownItem
from noisypairs.app.suspects import cells_of
from noisypairs.errors import ClassNamesWarning, collected_warnings
from noisypairs.estimators.base import PairClassifier
from noisypairs.joint import JointPairClassifier
from noisypairs.joint.kinds import kind_numbers
from noisypairs.pairs import Pairs

#: Items shown of each kind, typical and doubtful each: two name a kind, one more shows a mistake.
N_SHOWN = 3


def settle_kinds(X: Any, pairs: Pairs, asked: Request) -> tuple[tuple[int, ...], Request]:
    """Choose the number of kinds once, before methods are compared, on encoded features.

    Returns the numbers that it was chosen from, none without kinds, and the request with it.
    """
    if asked.n_kinds is None:
        return (), asked
    numbers = kind_numbers(asked.n_kinds, len(set(pairs.labels.values())))
    if len(numbers) > 1:
        some = pairs.sample(MOST_PAIRS).with_labels({})
        learner: Any = pair_classifier("joint", asked)
        with collected_warnings(ClassNamesWarning):
            chosen, _ = learner.choose_number(X, some)
        return tuple(numbers), replace(asked, n_kinds=chosen)
    return tuple(numbers), replace(asked, n_kinds=numbers[0])


def summarise_kinds(
    model: PairClassifier, features: pd.DataFrame, ids: Sequence[str]
) -> tuple[KindSummary, ...]:
    """Return every kind with items to look at; none where the model has classes."""
    if not isinstance(model, JointPairClassifier) or model.item_kinds_ is None:
        return ()
    beliefs = model.item_kinds_
    sizes = np.bincount(beliefs.argmax(axis=1), minlength=beliefs.shape[1])

    def shown(items: Sequence[int], kind: int) -> tuple[ShownItem, ...]:
        return tuple(
            ShownItem(ids[i], float(beliefs[i, kind]), cells_of(features, i)) for i in items
        )

    return tuple(
        KindSummary(
            number=one.number,
            name=None if one.name is None else str(one.name),
            share=one.share,
            n_items=int(sizes[one.number]),
            typical=shown(one.typical, one.number),
            doubtful=shown(one.doubtful, one.number),
        )
        for one in model.kinds(N_SHOWN)
    )
