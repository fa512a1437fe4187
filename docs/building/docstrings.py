"""The house's docstrings as numpydoc reads them.

A parameter is one running text, ``name : text``, which numpydoc would cut into a type (the first
line) and a description (the others). Bars stand for absolute values, which reStructuredText takes
for substitutions.
"""

from __future__ import annotations

import re
from typing import Any

_SECTIONS = ("Parameters", "Attributes", "Returns", "Other Parameters")
_ENTRY = re.compile(r"(?P<names>[\w*][\w, .*]*?) : (?P<text>.+)")


def rewritten(lines: list[str]) -> list[str]:
    """Return a docstring whose parameters have all of their text as description.

    >>> rewritten(["Parameters", "----------", "n : how many", "    there are", "m : more"])
    ['Parameters', '----------', 'n', '    how many', '    there are', 'm', '    more']
    """
    found: list[str] = []
    section, text = "", ""
    for line, following in zip(lines, [*lines, ""][1:], strict=True):
        if re.fullmatch(r"-{3,}", following.strip()):
            section = line.strip()
        elif section in (*_SECTIONS, "Notes") and (heading := _heading(line, following)):
            if heading != section:
                found += [heading, "-" * len(heading)]
            section = heading
        entry = _ENTRY.fullmatch(line) if section in _SECTIONS else None
        if entry:
            text = entry["text"]
            found += [entry["names"], f"    {text}"]
            continue
        if text and re.match(r"\s+[A-Z][a-z ]", line) and text[-1] not in ".;:,":
            found[-1] += "."  # a sentence of its own begins
        text = line.strip() if line.startswith("    ") and section else ""
        found.append(line)
    return _escaped(found)


def _heading(line: str, following: str) -> str:
    """Return the section that a line after the parameters begins, if it begins one.

    >>> _heading("Also kept: the ids.", ""), _heading(">>> 1 + 1", "2")
    ('Notes', 'Examples')
    >>> _heading("n : how many", ""), _heading("n_items", "    how many"), _heading("---", "")
    ('', '', '')
    """
    if line.startswith(">>>"):
        return "Examples"
    plain = line[:1].strip() and not following.startswith("    ") and not _ENTRY.fullmatch(line)
    return "Notes" if plain and not re.fullmatch(r"-{3,}", line) else ""


def _escaped(lines: list[str]) -> list[str]:
    """Return lines whose bars are bars; examples and code, over lines too, stay as they are."""
    found, code = [], False
    for line in lines:
        if line.lstrip().startswith((">>>", "...")):
            found.append(line)
            continue
        parts = line.split("``")
        for k in range(int(code), len(parts), 2):
            parts[k] = re.sub(r"(?<!\\)\|", r"\\|", parts[k])
        code ^= len(parts) % 2 == 0
        found.append("``".join(parts))
    return found


def process(_app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """Rewrite the docstring that autodoc hands over, in place."""
    lines[:] = rewritten(lines)


def skip(_app: Any, _what: str, name: str, thing: Any, skip: bool, _options: Any) -> bool:
    """Leave out what scikit-learn adds to every estimator, and fields that say nothing."""
    inherited = str(getattr(thing, "__module__", "")).startswith("sklearn.")
    field = (getattr(thing, "__doc__", None) or "").startswith("Alias for field number")
    return skip or field or inherited or re.fullmatch(r"set_\w+_request", name) is not None
