"""Tables that a user asked for, in the form that the name of their file asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from noisypairs.app.files.delimited import delimited_text
from noisypairs.app.files.writing import STANDARD_OUTPUT
from noisypairs.errors import did_you_mean

_WRITERS: dict[str, Callable[[Any, bool, int | None], Any]] = {
    ".csv": lambda table, raw, decimals: _delimited(table, ",", raw, decimals),
    ".tsv": lambda table, raw, decimals: _delimited(table, "\t", raw, decimals),
    ".jsonl": lambda table, *_: table.to_json(orient="records", lines=True, force_ascii=False),
    ".parquet": lambda table, *_: table.to_parquet(index=False),
}


def table_writer(
    path: Path, raw: bool = False, decimals: int | None = None
) -> Callable[[Any], str | bytes]:
    """Return the function from a data frame to the content of a file of this extension.

    Standard output gets CSV. In .csv and .tsv, cells that a spreadsheet would run are guarded,
    unless ``raw``, and numbers have so many ``decimals``, by default all they have.
    """
    kind = ".csv" if path == STANDARD_OUTPUT else path.suffix.lower()
    if kind not in _WRITERS:
        raise ValueError(f"{path} has the extension {kind!r}: {did_you_mean(kind, _WRITERS)}")
    return lambda table: _WRITERS[kind](table, raw, decimals)


def _delimited(table: Any, delimiter: str, raw: bool, decimals: int | None) -> str:
    rows = table.itertuples(index=False, name=None)
    return delimited_text(list(table), rows, delimiter, raw, decimals)
