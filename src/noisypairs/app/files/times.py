"""How long each answer took, where a column of the pairs says it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from noisypairs.algebra import Array
from noisypairs.app.files.file_table import FileTable

#: Names of a column of times in seconds, and in milliseconds, whatever the case.
SECONDS = (
    "seconds",
    "time",
    "duration",
    "response_time",
    "lead_time",
    "time_s",
    "duration_s",
    "rt",
)
MILLISECONDS = ("time_ms", "milliseconds", "duration_ms", "response_time_ms", "rt_ms", "ms")
#: A median above this is not in seconds: nobody looks at two items for five minutes as a rule.
LONGEST_MEDIAN = 300.0
#: … and above this not a duration at all, but the time of day that somebody answered at.
LONGEST_MILLISECONDS = 300_000.0


def seconds_of(table: FileTable) -> tuple[Array | None, list[str]]:
    """Return the seconds of every row, NaN where it has none, and a note; None without a column.

    A column without a unit in its name is in seconds, unless its median would be over five minutes.
    """
    plain = {str(name).strip().lower(): str(name) for name in table.frame.columns}
    name = next((one for one in (*MILLISECONDS, *SECONDS) if one in plain), None)
    if name is None:
        return None, []
    numbers = pd.to_numeric(table.frame[plain[name]], errors="coerce")
    values = np.asarray(numbers, dtype=np.float64)
    values = np.where(np.isfinite(values) & (values >= 0), values, np.nan)
    if np.isnan(values).mean() > 0.5:  # dates, or next to nothing
        return None, []
    median = float(np.nanmedian(values))
    if median > LONGEST_MILLISECONDS:
        return None, []
    in_milliseconds = name in MILLISECONDS or median > LONGEST_MEDIAN
    unit = "milliseconds" if in_milliseconds else "seconds"
    note = f"{table.path.name}: time of an answer in column {plain[name]!r}, in {unit}"
    return values / (1000.0 if in_milliseconds else 1.0), [note]
