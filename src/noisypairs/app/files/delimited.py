"""CSV and TSV as we write them: no spreadsheet runs a cell, and our readers get the text back.

A spreadsheet takes a cell that begins with =, +, -, @, a tab or a carriage return for a formula and
runs it. An apostrophe before such text stops that, and is taken off again by `unguarded`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

#: The last four are the wide forms of East Asian keyboards.
_FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠].", re.DOTALL)
_NUMBER = re.compile(r"[+-][\d.,]+([eE][+-]?\d+)?%?")
_MARKS = re.compile(r'[,;|\t\r\n"]')


def guarded(text: str) -> str:
    """Return text with an apostrophe before it where a spreadsheet would run it; numbers stay.

    >>> [guarded(text) for text in ("=1+1", "-x", "-1.5", "a=b", "-", "'=1+1")]
    ["'=1+1", "'-x", '-1.5', 'a=b', '-', "''=1+1"]
    """
    return f"'{text}" if _is_formula(text) else text


def unguarded(text: str) -> str:
    """Return what `guarded` was given; text without an apostrophe to take off is left as it is.

    >>> [unguarded(text) for text in ("'=1+1", "=1+1", "''=1+1", "'-1.5", "'a")]
    ['=1+1', '=1+1', "'=1+1", "'-1.5", "'a"]
    """
    return text[1:] if text.startswith("'") and _is_formula(text[1:]) else text


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def delimited_text(
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    delimiter: str = ",",
    raw: bool = False,
    decimals: int | None = None,
) -> str:
    r"""Return a table as the text of a file; text is `guarded` unless ``raw``, None and NaN empty.

    Numbers have all their digits, or so many decimals. Text with a delimiter of any kind stands in
    quotes: which of them a spreadsheet takes depends on its language.

    >>> delimited_text(["id", "p"], [("=1+1", 0.25), ("a;b", None)])
    'id,p\n\'=1+1,0.25\n"a;b",\n'
    """

    def cell(value: Any) -> str:
        if value is None or value != value:
            return ""
        if isinstance(value, float):
            return repr(float(value)) if decimals is None else f"{value:.{decimals}f}"
        text = str(value)
        if isinstance(value, str) and not raw:
            text = guarded(text)
        return '"{}"'.format(text.replace('"', '""')) if _MARKS.search(text) else text

    return "".join(delimiter.join(map(cell, row)) + "\n" for row in (names, *rows))
