"""Lists of constraints as papers on clustering write them: "a b 1", "b c -1", whatever the ending.

No header, two items and a sign on every line, between blanks, tabs, commas or semicolons. Lines
that begin with # or % are comments.
"""

from __future__ import annotations

import re

from noisypairs.app.files.columns import Columns
from noisypairs.app.files.contents import BadFile
from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    Near,
    PairsFile,
    answer_table,
)
from noisypairs.app.files.importers.link_lists import WORDS

SIGNS = re.compile(r"[+-]?1|0|ml|cl|must-?_?link|cannot-?_?link", re.IGNORECASE)
_GAP = re.compile(r"\s*[,;]\s*|\s+")
#: Lines that are looked at to recognise a list.
LOOKED_AT = 20


def _recognises(file: PairsFile) -> bool | Near:
    if file.path.is_dir() or file.content.is_archive or file.content.is_parquet:
        return False
    try:
        first = _lines(file)[:LOOKED_AT]
    except BadFile:  # no text
        return False
    good = [k for k, (_, fields) in enumerate(first) if _is_constraint(fields)]
    if len(good) == len(first):
        return bool(first)
    if len(good) > len(first) / 2 and 0 in good:
        line = next(number for k, (number, _) in enumerate(first) if k not in good)
        return Near(f"line {line} is not two items and 1 or -1")
    return False


def _read(file: PairsFile) -> ImportedTable:
    lines = _lines(file)
    for number, fields in lines:
        if not _is_constraint(fields):
            raise BadFile(
                f"{file.path}, line {number}: expected two items and 1 or -1, such as 'a b -1'"
            )
    if not lines:
        raise BadFile(f"{file.path} holds no constraints: expected lines such as 'a b -1'")
    left, right, sign = zip(*(fields for _, fields in lines), strict=True)
    data = {"left": left, "right": right, "sign": sign}
    source = file.content.source(len(lines))
    table = answer_table(file.path, source, data, lambda row: f"line {lines[row][0]}")
    used = Columns("left", "right", "sign", None, file.named.id)
    return ImportedTable(table, used, words=WORDS)


def _is_constraint(fields: list[str]) -> bool:
    return len(fields) == 3 and SIGNS.fullmatch(fields[2]) is not None


def _lines(file: PairsFile) -> list[tuple[int, list[str]]]:
    """Return the fields of each line that is no comment, with its number."""
    numbered = ((k, line.strip()) for k, line in enumerate(file.text.splitlines(), 1))
    return [(k, _GAP.split(line)) for k, line in numbered if line and line[0] not in "#%"]


CONSTRAINTS = Importer(
    "constraints",
    "a list of constraints: lines such as 'a b 1' and 'a c -1', any ending, no header",
    _recognises,
    _read,
    Example(
        "wine.constraints",
        "# two items, 1 for same, -1 for different\np1 p2 1\np2 p3 -1\np1 p3 -1\np3 p4 1\n",
    ),
    "1 is must-link (same), -1 or 0 cannot-link (different). ML and CL are read too.",
)
