"""JSON from files: what is no JSON, nested too deep or holds half characters is refused by line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from noisypairs.app.files.contents import BadFile, half_character

MAX_DEPTH = 100
"""Lists and objects inside each other, at most; no export of answers has more than ten."""

#: A pair of surrogates, one alone, any other escape: a backslash is never taken for a new one.
_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<alone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)


def parse_json(text: str, path: Path, line: int | None = None) -> Any:
    """Parse a whole JSON file, or the text of one line of it; an error names the line."""
    place = path if line is None else f"{path}, line {line}"
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise _too_deep(place) from error
    except ValueError as error:  # numbers may have too many digits
        if line is not None:
            raise BadFile(
                f"{place}: not valid JSON ({error}); expected one object per line"
            ) from error
        at = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise BadFile(f"{path}{at}: not valid JSON ({error}): export it again") from error
    if _is_deep(found):
        raise _too_deep(place)
    if (at_ := lone_surrogate(text)) is not None:
        number = (line or 1) + text.count("\n", 0, at_)
        raise half_character(path, number, text[at_ : at_ + 6])
    return found


def lone_surrogate(text: str) -> int | None:
    r"""Return where an escape stands for half of a character, None if none does.

    >>> [lone_surrogate(text) for text in (r'"\ud83d\ude00"', r'"a\ud83d"', r'"\\ud83d"')]
    [None, 2, None]
    """
    if "\\u" not in text:
        return None
    alone = (found for found in _ESCAPES.finditer(text) if found["alone"])
    return next((found.start() for found in alone), None)


def _is_deep(value: Any) -> bool:
    """Whether lists and objects lie more than `MAX_DEPTH` deep; looked at level by level."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _too_deep(place: object) -> BadFile:
    return BadFile(
        f"{place}: nested more than {MAX_DEPTH} levels deep: expected a list of answers, or one "
        "flat object per line"
    )
