"""From a table of items to numbers: every column is read, encoded and described.

`describe` says what each column is taken for and why; `item_encoder` builds the scikit-learn
transformer that follows: skrub for dates, categories and text, scikit-learn for numbers. A model
file can hold it without holding code.

    number    median for what is missing, a column that says so, mean 0 and variance 1, cut to ±10
    boolean   as a number
    date      seconds, year, and month, day, weekday and hour on a circle; then as numbers
              (day-first date: 31/12/2024; unclear date: left out, 1/2/2024 may be either)
    category  one column per level; rare levels share one, unknown ones leave all at zero; from 40
              levels on as text
    text      numbers by an encoder (`noisypairs.encoders`), as `Directions`
    picture   the same of the files that a column names
    sound     the same
    constant  left out
    id        left out: it names the item and says nothing about it
    address   left out: nothing is fetched
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from noisypairs.algebra import Array
from noisypairs.app.files import dates
from noisypairs.app.files.cells import ADDRESS, ID_NAME, as_text
from noisypairs.app.files.media import MediaFile, media_kind
from noisypairs.encoders import Encoder, UnreadableContentWarning, Words, best, named
from noisypairs.encoders.encoder import Reads
from noisypairs.errors import MissingExtra
from noisypairs.estimators.base import LARGEST
from noisypairs.pairs.answers import MISSING

#: Cells that say nothing, whatever their case, where a column holds text.
MISSING_WORDS = MISSING | {"?", "-"}
#: Standardised numbers are cut to ± this.
FAR = 10.0
#: Levels with a column of their own, below this; skrub's own threshold.
MANY_LEVELS = 40
#: A text column has so many words on average.
WORDY = 2.5
#: Whole numbers that go on by one are a running number from so many items on.
RUNNING = 30
#: Files that cannot be read are listed one by one up to here.
MOST_LISTED = 20
#: Kinds of columns that an encoder reads.
CONTENT: tuple[Reads, ...] = get_args(Reads)
_CODE = re.compile(r"0\d+")
_NAN = float("nan")


@dataclass(frozen=True)
class ColumnPlan:
    """What one column is taken for (``kind``) and what is done with it, in words (``note``)."""

    name: str
    kind: str
    note: str


def describe(frame: pd.DataFrame, encode: str | None = None) -> list[ColumnPlan]:
    """Say column by column what `item_encoder` does with a table of items.

    With ``encode``, as `encoders_of` takes it, also what turns content into numbers.

    >>> table = pd.DataFrame({"size": ["1.5", "2", "?"], "colour": ["red", "blue", "red"]})
    >>> for plan in describe(table):
    ...     print(plan.name, plan.kind, "|", plan.note)
    size number | numbers stored as text, 1 missing
    colour category | 2 levels
    """
    plans = [_plan(str(name), frame[name]) for name in frame.columns]
    if encode is None:
        return plans
    by = encoders_of(encode)
    return [
        replace(one, note=f"{one.note}; by {by[one.kind].name}") if one.kind in by else one
        for one in plans
    ]


def encoders_of(encode: str = "auto") -> dict[str, Encoder]:
    """Return what reads each kind of content: "auto", or names of encoders with commas between.

    >>> encoders_of("words, histograms")["picture"]
    Histograms()
    >>> encoders_of("words,words")
    Traceback (most recent call last):
    ValueError: --encode words,words names two encoders that read text: name one of each kind
    """
    asked = [] if encode == "auto" else [named(name.strip()) for name in encode.split(",")]
    by: dict[str, Encoder] = {one.reads: one for one in asked}
    if len(by) < len(asked):
        double = next(one.reads for one in asked if by[one.reads] is not one)
        raise ValueError(
            f"--encode {encode} names two encoders that read {double}: name one of each kind"
        )
    for one in asked:
        if not one.is_installed():
            raise MissingExtra(one.needs[0], one.extra, f"The encoder {one.name!r}")
    return {kind: best(kind) for kind in CONTENT} | by


def item_encoder(
    frame: pd.DataFrame, random_state: int | None = 0, encode: str = "auto"
) -> ColumnTransformer:
    """Return the unfitted transformer from tables like ``frame`` to dense numbers.

    ``encode`` is what `encoders_of` takes. Columns are found by name, so a new table may have
    others besides and in any order.

    >>> table = pd.DataFrame({"size": [1.0, 2.0, None], "colour": ["red", "blue", "red"]})
    >>> item_encoder(table).fit_transform(table).shape  # size, its absence, blue, red
    (3, 4)
    """
    if not all(isinstance(name, str) for name in frame.columns):
        raise TypeError("the columns of the items need names: strings, as a file's first line has")
    plans, by = describe(frame), encoders_of(encode)
    kinds = {plan.name: plan.kind for plan in plans}
    numbers = [name for name, kind in kinds.items() if kind in ("number", "boolean")]
    table = [name for name, kind in kinds.items() if kind in (*dates.DATES, "category")]
    wide = [n for n in table if kinds[n] == "category" and _n_levels(frame[n]) >= MANY_LEVELS]
    parts: list[tuple[str, Any, Any]] = []
    if numbers:
        parts.append(("number", make_pipeline(Cells(), *_scaled()), numbers))
    if table := [name for name in table if name not in wide]:
        cells = Cells({name: kinds[name] for name in table})
        parts.append(("table", make_pipeline(cells, _vectorizer(len(frame))), table))
    content: dict[str, Encoder] = {name: Words() for name in wide}
    content |= {name: clone(by[kind]) for name, kind in kinds.items() if kind in by}
    for name, encoder in content.items():
        if "random_state" in encoder.get_params():
            encoder.set_params(random_state=random_state)
        pipeline = make_pipeline(Cells({name: kinds[name]}), encoder, Directions())
        parts.append((f"{kinds[name]} {name}", pipeline, [name]))
    asked = {name.strip().partition(":")[0] for name in encode.split(",")}
    listed = "; ".join(f"{plan.name} ({plan.kind}, {plan.note})" for plan in plans[:10])
    for one in by.values():
        if one.name in asked and one.reads not in kinds.values():
            what = f"--encode {one.name} reads {one.reads}"
            raise ValueError(f"{what}, but no column holds any: {listed}")
    if not parts:
        raise NothingToLearnFrom(
            f"the items have no column to learn from: {listed or 'none at all'}. Give a table "
            "with features beside the ids: without them no new item can be classified"
        )
    return ColumnTransformer(parts, sparse_threshold=0.0, verbose_feature_names_out=True)


class NothingToLearnFrom(ValueError):
    """No column of the items says anything about them."""


class Encoded(NamedTuple):
    """The fitted encoder and the items as numbers; else both are None and ``nothing`` says why.

    ``notes`` are about content that cannot be read, one line each.
    """

    encoder: ColumnTransformer | None
    X: Array | None
    nothing: str = ""
    notes: tuple[str, ...] = ()


def encoded(features: pd.DataFrame | None, seed: int = 0, encode: str = "auto") -> Encoded:
    """Fit the encoder of a table of items, and encode them.

    >>> encoded(pd.DataFrame({"photo": ["a.jpg", "b.jpg"]})).nothing
    'the items have no column to learn from: photo (address, left out: no such ...'
    """
    if features is None:
        return Encoded(None, None, "there are no features to learn from")
    try:
        encoder = item_encoder(features, seed, encode)
    except NothingToLearnFrom as error:
        return Encoded(None, None, str(error).partition(". ")[0])
    X, notes = read_content(encoder.fit_transform, features)
    read = {part: names for part, _, names in encoder.transformers}
    kinds = dict.fromkeys(read.get("number", ()), "number")
    return Encoded(encoder, X, "", (*notes, *unread(features, kinds)))


def read_content(transform: Any, features: pd.DataFrame) -> tuple[Array, tuple[str, ...]]:
    """Return items as numbers, and a line on each item whose content cannot be read."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        X = transform(features)
    unread = list[str]()
    for one in caught:
        if issubclass(one.category, UnreadableContentWarning):
            unread.append(str(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    unread = list(dict.fromkeys(unread))
    more = len(unread) - MOST_LISTED
    listed = [f"{line}, and counts as missing" for line in unread[:MOST_LISTED]]
    return X, (*listed, *([f"{more:,} more files cannot be read"] if more > 0 else []))


def unread(frame: pd.DataFrame, kinds: Mapping[str, str]) -> list[str]:
    """Say which cells of new items hold something that is not of the kind the column was.

    They count as missing. ``kinds`` are those of `describe`, by column.

    >>> unread(pd.DataFrame({"size": ["1.5", "large", ""]}), {"size": "number"})
    ["column 'size': 1 cell is no number within ±1e+100 and counts as missing, such as 'large'"]
    """
    notes = []
    for name, kind in kinds.items():
        if kind not in ("number", "boolean", *dates.DATES):
            continue
        texts = _texts(frame[name][is_missing(column_values(frame[name], kind))])
        if (texts := texts[texts != ""]).size:
            within = f" within ±{LARGEST:g}" * (kind == "number")
            one = texts.size == 1
            what = f"1 cell is no {kind}" if one else f"{texts.size} cells are no {kind}s"
            notes.append(
                f"column {name!r}: {what}{within} and {'counts' if one else 'count'} as missing, "
                f"such as {str(texts[0])!r}"
            )
    return notes


def column_values(column: pd.Series, kind: str) -> NDArray[Any]:
    """Return the cells of a column of this kind as the encoder reads them, shape (n,).

    Numbers, booleans and dates (days since 1970) are floats, NaN where missing; categories and
    texts are strings, "" where missing.
    """
    if kind in ("number", "boolean"):
        return _moderate(_numbers(column))
    if kind in dates.DATES:
        return dates.days(_dates(column, kind))
    return _texts(column).astype(object)


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which of the `column_values` are missing."""
    missing: NDArray[np.bool_] = values == "" if values.dtype == object else np.isnan(values)
    return missing


def known_levels(encoder: ColumnTransformer) -> dict[str, frozenset[str]]:
    """Return the levels that a fitted `item_encoder` has seen, by column."""
    levels = [fitted[0].levels_ for _, fitted, _ in encoder.transformers_ if fitted != "drop"]
    return {name: frozenset(seen) for one in levels for name, seen in one.items()}


class Cells(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cells as their columns are of a kind: floats, times in UTC, levels or text.

    ``kinds`` are those of `describe`, by column; a column without one holds numbers.

    >>> table = pd.DataFrame({"a": [" 1.5", "?", "inf", "1e200"]})
    >>> Cells().fit_transform(table)["a"].tolist()
    [1.5, nan, nan, nan]
    """

    def __init__(self, kinds: Mapping[str, str] | None = None) -> None:
        self.kinds = kinds

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Remember the columns' names, and the levels of categories."""
        self.names_in_ = [str(name) for name in X.columns]
        self.levels_ = {
            name: np.unique(texts[texts != ""]).tolist()
            for name in self.names_in_
            if self._kind(name) == "category" and (texts := _texts(X[name])).size
        }
        return self

    def transform(self, X: Any) -> pd.DataFrame:
        """Return a table of the same columns; what is not of the kind is missing."""
        if not self.kinds and all(map(pd.api.types.is_numeric_dtype, X.dtypes)):
            numbers = X.to_numpy(dtype=float, na_value=_NAN)  # of thousands of columns, at once
            return pd.DataFrame(_moderate(numbers), columns=self.names_in_)
        return pd.DataFrame({name: self._read(X[name]) for name in self.names_in_})

    def _read(self, column: pd.Series) -> Any:
        kind = self._kind(str(column.name))
        if kind in ("picture", "sound"):
            return pd.Series(column.to_numpy(dtype=object), dtype=object)
        if kind in dates.DATES:
            return _dates(column, kind).dt.tz_localize(None)
        values = column_values(column, kind)
        return pd.Categorical([text or None for text in values]) if kind == "category" else values

    def _kind(self, name: str) -> str:
        return (self.kinds or {}).get(name, "number")

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """Return the columns' own names."""
        return np.asarray(self.names_in_, dtype=object)


def _vectorizer(n_items: int) -> Any:
    """Return skrub's vectorizer of categories and dates."""
    try:
        from skrub import DatetimeEncoder, TableVectorizer
    except ImportError as error:
        raise MissingExtra("skrub", "app", "A table of items") from error
    levels = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        min_frequency=max(2, n_items // 200),
        sparse_output=False,
    )
    times = DatetimeEncoder(add_weekday=True, periodic_encoding="circular")
    return TableVectorizer(
        cardinality_threshold=MANY_LEVELS,
        low_cardinality=levels,
        datetime=make_pipeline(times, *_scaled()).set_output(transform="pandas"),
        drop_null_fraction=None,  # a column may be empty in one fold and not in another
    )


def _n_levels(column: pd.Series) -> int:
    return len(np.unique(_texts(column)))


class _Scale(StandardScaler):  # type: ignore[misc]
    """Standardise, then cut to ±`FAR`: one wild value must not outweigh a table."""

    def transform(self, X: Any, copy: bool | None = None) -> Array:
        cut: Array = np.clip(super().transform(X, copy=copy), -FAR, FAR)
        return cut


class Directions(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows of length 1, so that likeness stays what an encoder takes for it.

    The mean is taken off, and one factor gives the columns variance 1 on average: scaling column by
    column would blow up those that hardly differ. A missing row becomes the mean.

    >>> Directions().fit_transform([[3.0, 4.0], [8.0, 6.0], [np.nan, np.nan]]).round(3).tolist()
    [[-1.0, 1.0], [1.0, -1.0], [0.0, 0.0]]
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the mean row and the scale."""
        rows = _unit(X)
        known = rows[~np.isnan(rows).any(axis=1)]
        self.mean_ = known.mean(axis=0) if len(known) else np.zeros(rows.shape[1])
        self.scale_ = float(np.sqrt(known.var(axis=0).mean())) or 1.0 if len(known) else 1.0
        return self

    def transform(self, X: Any) -> Array:
        """Return the rows in these units, cut to ±`FAR`."""
        found = np.nan_to_num((_unit(X) - self.mean_) / self.scale_, nan=0.0)
        cut: Array = np.clip(found, -FAR, FAR)
        return cut

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names as they are."""
        return np.asarray(input_features, dtype=object)


def _unit(rows: Any) -> Array:
    found = np.asarray(rows, dtype=float)
    length = np.linalg.norm(found, axis=1, keepdims=True)
    unit: Array = np.divide(found, length, out=found.copy(), where=length > 0)
    return unit


def _scaled() -> tuple[SimpleImputer, StandardScaler]:
    # A column may be empty in one fold and not in another: it must not vanish there.
    return SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True), _Scale()


def _plan(name: str, column: pd.Series) -> ColumnPlan:
    if (media := media_kind(column)) is not None:
        lost = len(column) - sum(isinstance(cell, MediaFile) for cell in column)
        return ColumnPlan(name, media, f"{media}s in files" + f", {lost} missing" * (lost > 0))
    plain = pd.api.types.is_numeric_dtype(column) or pd.api.types.is_datetime64_any_dtype(column)
    texts = None if plain else _texts(column)  # slow, so only where cells may be anything
    present = column.notna().to_numpy() if texts is None else texts != ""
    numeric = texts is None and not pd.api.types.is_datetime64_any_dtype(column)
    if numeric and present.any() and np.isnan(_moderate(_numbers(column))).all():
        return ColumnPlan(name, "constant", f"left out: no number within ±{LARGEST:g}")
    n, n_missing = len(column), int(np.count_nonzero(~present))
    distinct = column.nunique() if texts is None else len(np.unique(texts[present]))
    missing = f", {n_missing} missing" if n_missing else ""
    if distinct + (n_missing > 0) <= 1:
        return ColumnPlan(name, "constant", "left out: the same in every row" if n else "left out")
    if distinct == n and ID_NAME.search(name):
        return ColumnPlan(name, "id", "left out: a name for each item")
    if distinct == n >= RUNNING and texts is None and _is_running(column):
        return ColumnPlan(name, "id", "left out: a running number")
    if pd.api.types.is_bool_dtype(column):
        return ColumnPlan(name, "boolean", f"0 and 1{missing}")
    if pd.api.types.is_datetime64_any_dtype(column):
        return ColumnPlan(name, "date", f"dates{missing}")
    if texts is None:
        return ColumnPlan(name, "number", f"numbers{missing}")
    return _plan_text(name, texts[present], n, distinct, missing)


def _plan_text(name: str, texts: Any, n: int, distinct: int, missing: str) -> ColumnPlan:
    """Tell numbers, dates, ids, words and levels apart; ``texts`` are the cells that say any."""
    if {text.lower() for text in texts} <= {"true", "false"}:
        return ColumnPlan(name, "boolean", f"0 and 1 stored as text{missing}")
    codes = any(_CODE.fullmatch(text) for text in texts)  # 007 is a name, not a 7
    if not codes and np.isfinite(_numbers(pd.Series(texts))).all():
        return ColumnPlan(name, "number", f"numbers stored as text{missing}")
    if (found := dates.kind_of_dates(texts)) is not None:
        kind, lost = found
        note = f"dates stored as text{missing}" + f", {lost} cells that are none" * (lost > 0)
        return ColumnPlan(name, kind, dates.LEFT_OUT if kind == dates.UNCLEAR else note)
    if np.mean([ADDRESS.fullmatch(text) is not None for text in texts]) >= dates.MOST:
        why = "left out: no such files, and nothing is fetched; --images names their folder"
        return ColumnPlan(name, "address", why)
    words = float(np.mean([len(text.split()) for text in texts]))
    if words >= WORDY and distinct > min(20, n / 2):
        return ColumnPlan(name, "text", f"{words:.1f} words on average{missing}")
    if distinct >= dates.MOST * n and n > 2 and words < 2:
        rows = "every row" if distinct == n else "almost every row"
        return ColumnPlan(name, "id", f"left out: different in {rows}")
    if words >= 2 and distinct > n / 2:
        return ColumnPlan(name, "text", f"{words:.1f} words on average{missing}")
    pooled = "; read by their letters" if distinct >= MANY_LEVELS else ""
    return ColumnPlan(name, "category", f"{distinct} levels{pooled}{missing}")


def _is_running(column: pd.Series) -> bool:
    """Whether whole numbers, all different, leave no gap."""
    if not pd.api.types.is_integer_dtype(column) or column.isna().any():
        return False
    return int(column.max()) - int(column.min()) == len(column) - 1


def _texts(column: Any) -> NDArray[np.str_]:
    """Return trimmed text, "" where a cell is missing; whole floats without their ".0"."""
    trimmed = as_text(pd.Series(column)).to_numpy(dtype=str)
    return np.where(np.isin(np.char.lower(trimmed), list(MISSING_WORDS)), "", trimmed)


def _numbers(column: Any) -> Array:
    values = pd.Series(column)
    if not pd.api.types.is_numeric_dtype(values):
        texts = np.char.lower(_texts(values))
        texts = np.where(texts == "true", "1", np.where(texts == "false", "0", texts))
        values = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce")
    numbers: Array = values.to_numpy(dtype=float, na_value=_NAN)
    return numbers


def _moderate(numbers: Array) -> Array:
    """Return numbers with NaN for those that are infinite, or whose squares would be."""
    return np.where(np.abs(numbers) <= LARGEST, numbers, np.nan)


def _dates(column: Any, kind: str) -> pd.Series:
    values = pd.Series(column)
    if not pd.api.types.is_datetime64_any_dtype(values):
        return dates.read_dates(_texts(values).tolist(), kind)
    if values.dt.tz is None:
        values = values.dt.tz_localize("UTC")
    return values.reset_index(drop=True)
