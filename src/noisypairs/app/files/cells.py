"""Cells of a column: text where they name something, numbers where they measure something.

A column becomes numbers only if every cell is a plain number; one "007" keeps it text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.app.files.contents import plural
from noisypairs.pairs import answers
from noisypairs.pairs.columns import ENDS, SPELLINGS

Cells = NDArray[Any]

MISSING = answers.MISSING | {"#n/a"}
"""How missing cells are written, in small letters; spreadsheets have a word of their own."""

ITEM_NAMES = frozenset(
    {"id", "item", "item_id", "itemid", "unique_id", "uid", "key", "item_name", "record_id"}
)
"""Names of the column that identifies an item, whatever the case."""

_ID_NAMES = ITEM_NAMES | SPELLINGS["annotator"] | {name for couple in ENDS for name in couple}
_AMBIGUOUS = frozenset({"x", "y", "a", "b", "i", "j", "first", "second"})

ID_NAME = re.compile(
    r"(^|[_\s.])(id|ids|uuid|guid|key|index|sku|ean|upc|gtin|isbn|asin|hash)$|^unnamed: \d+$",
    re.IGNORECASE,
)
#: Addresses of pages and files, and paths of files.
ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*://\S+|www\.\S+|(/|\.\.?/|[a-z]:\\)\S+"
    r"|\S+\.(jpe?g|png|gif|webp|bmp|tiff?|svg|heic|dcm|pdf|html?|txt|xml|mp[34]|wav|avi|mov|np[yz])",
    re.IGNORECASE,
)
_LEADING_ZERO = re.compile(r"[+-]?0\d")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?")


def looks_like_id(name: str) -> bool:
    """Whether a column of this name holds names of items or people, not amounts.

    >>> [looks_like_id(name) for name in ("Item_A", "worker_id", "photo_id", "width", "x")]
    [True, True, True, False, False]
    """
    plain = name.strip().lower()
    return (plain in _ID_NAMES - _AMBIGUOUS) or plain.endswith(("_id", " id")) or name == "ID"


#: From so many rows on each different text is kept once: answers repeat few names.
MANY_ROWS = 100_000


def as_text(values: pd.Series) -> pd.Series:
    """Return cells as stripped text: missing ones "", whole numbers without ".0".

    >>> as_text(pd.Series([7.0, None, " a"], dtype=object)).tolist()
    ['7', '', 'a']
    """
    if len(values) > MANY_ROWS and pd.api.types.infer_dtype(values, skipna=False) == "string":
        codes, distinct = pd.factorize(values)
        cells = np.array([text.strip() for text in distinct], dtype=object)[codes]
    else:
        cells = [_text(value) for value in values.tolist()]
    return pd.Series(cells, values.index, dtype=object)


def each(cells: Cells, function: Callable[[str], Any]) -> Cells:
    """Apply a function to every cell, shape (n,), but only once to each distinct one.

    >>> each(np.array(["a", "bc", "a"], dtype=object), len).tolist()
    [1, 2, 1]
    """
    codes, distinct = pd.factorize(cells)
    results = [function(value) for value in distinct]
    kind = object if results and isinstance(results[0], str) else None
    found: Cells = np.array(results, dtype=kind)[codes]
    return found


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").strip()
    if isinstance(value, float):
        if value != value:
            return ""
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if value is None or value is pd.NA or value is pd.NaT:
        return ""
    return str(value).strip()


def typed(
    frame: pd.DataFrame, keep: Collection[str] = (), decimal_comma: bool = False
) -> tuple[pd.DataFrame, list[str]]:
    """Return the columns as numbers, booleans or text (missing: None), and what had to be repaired.

    Columns in `keep` are left as they are. Infinite numbers become missing.

    >>> frame = pd.DataFrame({"w": ["1", "2e3"], "c": ["007", "x"], "b": ["", "3"]})
    >>> typed(frame)[0].dtypes.tolist()
    [dtype('int64'), dtype('O'), dtype('float64')]
    """
    columns, notes = {}, []
    for name in frame.columns:
        values = frame[name]
        if name in keep:
            columns[name] = values
            continue
        if values.dtype.kind not in "biufM" or pd.api.types.is_extension_array_dtype(values.dtype):
            values = _typed_column(values, decimal_comma)
        if values.dtype.kind == "f" and (endless := np.isinf(values.to_numpy())).any():
            values = values.mask(endless)
            many = plural(int(endless.sum()), "infinite number")
            notes.append(f"column {name!r}: {many} read as missing")
        columns[name] = values
    return pd.DataFrame(columns, index=frame.index), notes


def _typed_column(values: pd.Series, decimal_comma: bool) -> pd.Series:
    texts = as_text(values).to_numpy()
    small = np.array([text.lower() for text in texts], dtype=object)
    present = np.array([text not in MISSING for text in small], dtype=bool)
    found = texts[present]
    if not found.size:  # a column of missing numbers is easier to drop than one of text
        return pd.Series(np.full(texts.size, np.nan), values.index)
    if present.all() and set(small) <= {"true", "false"}:
        return pd.Series(small == "true", values.index, dtype=bool)
    if decimal_comma and all(map(_DECIMAL_COMMA.fullmatch, found)):
        found = np.array([text.replace(",", ".") for text in found], dtype=object)
    if (numbers := _numbers(found)) is None:
        return pd.Series(np.where(present, texts, None), values.index, dtype=object)
    if present.all() and (numbers == np.floor(numbers)).all() and np.abs(numbers).max() < 2**53:
        return pd.Series(numbers.astype(np.int64), values.index)
    full = np.full(texts.size, np.nan)
    full[present] = numbers
    return pd.Series(full, values.index)


def _numbers(texts: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.float64]] | None:
    """Return plain numbers, or None if any text is not one or has leading zeros."""
    if any(_LEADING_ZERO.match(text) or "_" in text for text in texts):
        return None
    try:
        return texts.astype(np.float64)
    except ValueError:
        return None
