"""Are new items like the training items? Column by column, and row by row after encoding.

`summarise_training` describes the training items in a few numbers per column, which a model file
keeps among its facts. It holds no row: ranges are rounded outwards, to about a hundredth of their
width, and of the distances it holds one quantile. `find_drift` compares new items with it.

The distance of a row is the length of its encoded vector, whose numbers have mean 0 and variance 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.compose import ColumnTransformer

from noisypairs.algebra import Array
from noisypairs.app.encoding import ColumnPlan, column_values, is_missing, known_levels
from noisypairs.app.files.dates import DATES
from noisypairs.assess.words import percent

#: A row is far if it is farther out than all but this share of the training items.
FAR_SHARE = 0.01
#: Items like the training items are said to be unlike them with this probability, per check.
LEVEL = 0.001
#: One number that lies farther outside the range than so many widths of it is always named.
WILD = 3.0
#: Levels that a note names.
MOST_NAMED = 3


@dataclass(frozen=True)
class ColumnRange:
    """What a column held in training: the share of missing cells, and the range of its numbers.

    Dates are days since 1970; ``low`` and ``high`` are None for categories and texts.
    """

    missing: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class TrainingSummary:
    """The training items, in a few numbers: ranges by column, and how far out rows were.

    ``n_far`` of the ``n_items`` rows were farther out than ``far``.
    """

    n_items: int
    columns: Mapping[str, ColumnRange]
    far: float
    n_far: int

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> TrainingSummary:
        """Return the summary that a model file holds; what is no number raises an error."""
        columns = {
            str(name): ColumnRange(
                float(one["missing"]),
                *(None if one[end] is None else float(one[end]) for end in ("low", "high")),
            )
            for name, one in facts["columns"].items()
        }
        return cls(int(facts["n_items"]), columns, float(facts["far"]), int(facts["n_far"]))


@dataclass(frozen=True)
class ColumnDrift:
    """How a column of the new items differs from training, for a ``share`` of its cells.

    ``kind`` is "unseen" (levels), "outside" (the range) or "missing"; ``note`` says it in words.
    """

    column: str
    kind: str
    share: float
    note: str


@dataclass(frozen=True)
class Drift:
    """How new items differ from the training items; ``far_share`` of them are far away."""

    columns: tuple[ColumnDrift, ...]
    far_share: float
    is_far: bool

    @property
    def notes(self) -> list[str]:
        """Every difference in words."""
        far = (
            f"{percent(self.far_share)} of the items are far from the training items, where "
            f"{percent(FAR_SHARE)} are to be expected: their classes and probabilities are guesses"
        )
        return [one.note for one in self.columns] + [far] * self.is_far


def summarise_training(
    frame: pd.DataFrame, plans: Sequence[ColumnPlan], X: Array
) -> TrainingSummary:
    """Return what to remember of training items: the table, its columns' kinds, and it encoded."""
    distance = np.sort(np.linalg.norm(X, axis=1))
    n_far = int(FAR_SHARE * len(distance))
    columns = {
        plan.name: _column_range(frame[plan.name], plan.kind)
        for plan in plans
        if plan.kind not in ("constant", "id")
    }
    far = float(distance[len(distance) - 1 - n_far])
    return TrainingSummary(len(distance), columns, far, n_far)


def find_drift(
    frame: pd.DataFrame,
    kinds: Mapping[str, str],
    X: Array,
    encoder: ColumnTransformer,
    trained: TrainingSummary,
) -> Drift:
    """Return how new items differ from training: ``frame`` as read, ``X`` as encoded.

    ``kinds`` are those of the columns to compare, as `encoding.describe` found them in training.

    Levels never seen and cells missing in a column that had none are always named. Numbers outside
    the range count if there are more of them than chance explains, or if one lies farther outside
    than `WILD` widths of it. Of n new items that are like the n_items of training, the number
    beyond the r-th largest of those has the beta-binomial law with n, r and n_items − r + 1.
    """
    levels = known_levels(encoder)
    columns = tuple(
        one
        for name, kind in kinds.items()
        for one in _column_drift(
            frame[name], kind, trained.columns[name], levels.get(name), trained.n_items
        )
    )
    far = np.linalg.norm(X, axis=1) > trained.far
    too_many = _more_than_chance(far, trained.n_far + 1, trained.n_items)
    return Drift(columns, float(far.mean()), too_many)


def _column_range(column: pd.Series, kind: str) -> ColumnRange:
    values = column_values(column, kind)
    missing = is_missing(values)
    if values.dtype == object or missing.all():
        return ColumnRange(float(missing.mean()))
    low, high = float(np.min(values[~missing])), float(np.max(values[~missing]))
    step = 10.0 ** (np.floor(np.log10(high - low)) - 2) if high > low else 1.0
    return ColumnRange(
        float(missing.mean()),
        float(np.floor(low / step) * step),
        float(np.ceil(high / step) * step),
    )


def _column_drift(
    column: pd.Series,
    kind: str,
    seen: ColumnRange,
    levels: frozenset[str] | None,
    n_items: int,
) -> Iterator[ColumnDrift]:
    name, values = str(column.name), column_values(column, kind)
    missing = is_missing(values)
    if missing.any() and seen.missing == 0:
        yield _found(name, "missing", missing, "missing, and none was in training")
    if levels is not None:
        new = ~missing & ~np.isin(values.astype(str), sorted(levels))
        if new.any():
            named = ", ".join(map(repr, np.unique(values[new].astype(str))[:MOST_NAMED].tolist()))
            yield _found(name, "unseen", new, f"of a level not seen in training, such as {named}")
    if seen.low is None or seen.high is None:
        return
    beyond = np.where(missing, 0.0, np.maximum(seen.low - values, values - seen.high))
    outside = beyond > 0
    if (beyond > WILD * (seen.high - seen.low)).any() or _more_than_chance(outside, 2, n_items):
        ends = f"{_end(seen.low, kind)} to {_end(seen.high, kind)}"
        yield _found(name, "outside", outside, f"outside the range of training, {ends}")


def _found(name: str, kind: str, cells: Any, what: str) -> ColumnDrift:
    share = float(cells.mean())
    return ColumnDrift(
        name, kind, share, f"column {name!r}: {percent(share)} of the cells are {what}"
    )


def _more_than_chance(beyond: Any, rank: int, n_items: int) -> bool:
    """Whether so many new items beyond the ``rank``-th largest of training are no accident."""
    if not beyond.any():
        return False
    law = stats.betabinom(len(beyond), rank, max(n_items - rank + 1, 1))
    return bool(law.sf(int(beyond.sum()) - 1) < LEVEL)


def _end(value: float, kind: str) -> str:
    if kind in DATES:
        return str((pd.Timestamp("1970-01-01") + pd.Timedelta(days=value)).date())
    return f"{value:g}"
