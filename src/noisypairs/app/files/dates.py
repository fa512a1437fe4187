"""Dates in cells: how they are written, and what they say as numbers.

The year first, a month by its name, or the size of the numbers tells day from month: 31/12/2024 has
the day first, 12/31/2024 the month. A column decides as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from noisypairs.algebra import Array

DATE, DAY_FIRST, UNCLEAR = "date", "day-first date", "unclear date"
#: Kinds of columns that are read as dates.
DATES = (DATE, DAY_FIRST)
#: What is said of a column of the third.
LEFT_OUT = "left out: day and month cannot be told apart, write dates as 2024-12-31"
#: Share of cells that must be dates.
MOST = 0.95

_YEAR_FIRST = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})([ T].*)?")
_NAMED = re.compile(r"(?=.*[a-z]{3})[a-z0-9]+[ ,.-]+[a-z0-9]+[ ,.-]+\d{4}([ T].*)?", re.IGNORECASE)
_OTHER = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})([ T].*)?")


def kind_of_dates(texts: Sequence[str]) -> tuple[str, int] | None:
    """Return the kind of dates that almost all texts are, and how many are none; else None.

    >>> kind_of_dates(["2024-12-31"]), kind_of_dates(["31/12/2024", "1/2/2024"])
    (('date', 0), ('day-first date', 0))
    >>> kind_of_dates(["1/2/2024", "2/1/2024"]), kind_of_dates(["red", "blue"])
    (('unclear date', 0), None)
    """
    if sum(map(_is_date, texts)) < MOST * len(texts):
        return None
    other = [found for text in texts if (found := _OTHER.fullmatch(text))]
    firsts, seconds = (max((int(found[k]) for found in other), default=0) for k in (1, 3))
    dotted = any(found[2] == "." for found in other)  # nobody writes the month first between dots
    if other and max(firsts, seconds) <= 12 and not dotted:
        return UNCLEAR, 0
    kind = DAY_FIRST if firsts > 12 or (dotted and seconds <= 12) else DATE
    lost = int(read_dates(texts, kind).isna().sum())
    return (kind, lost) if lost <= (1 - MOST) * len(texts) else None


def _is_date(text: str) -> bool:
    return any(form.fullmatch(text) for form in (_YEAR_FIRST, _NAMED, _OTHER))


def read_dates(texts: Sequence[str], kind: str = DATE) -> pd.Series:
    """Return texts as times in UTC, NaT where they are no dates."""
    plain = pd.Series([_iso(text, kind == DAY_FIRST) for text in texts], dtype=object)
    return pd.to_datetime(plain, errors="coerce", format="ISO8601", utc=True)


def _iso(text: str, day_first: bool) -> str:
    """Write a date as ISO 8601 does; what is none stays as it is.

    >>> _iso("1/2/2024 10:15", day_first=True), _iso("Feb 1, 2024", day_first=False)
    ('2024-02-01 10:15', '2024-02-01T00:00:00')
    """
    if found := _YEAR_FIRST.fullmatch(text):
        year, month, day, time = found.groups()
    elif found := _OTHER.fullmatch(text):
        one, _, other, year, time = found.groups()
        day, month = (one, other) if day_first else (other, one)
    else:
        if not _NAMED.fullmatch(text):
            return text
        stamp = pd.to_datetime(text, errors="coerce")
        return text if stamp is pd.NaT else stamp.isoformat()
    return f"{year}-{int(month):02d}-{int(day):02d}{time or ''}"


def days(dates: pd.Series) -> Array:
    """Return days since 1970, shape (n,), NaN where there is no date."""
    since = dates - pd.Timestamp("1970-01-01", tz="UTC")
    found: Array = (since / pd.Timedelta(days=1)).to_numpy(dtype=float, na_value=np.nan)
    return found
