"""Two columns that name the items of a pair, where their names are a tool's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from noisypairs.app.files.answers import Columns
from noisypairs.app.files.contents import BadFile, some
from noisypairs.errors import did_you_mean
from noisypairs.pairs.columns import by_plain_name, couples_of

SIDES = (("left", "right"), ("first", "second"), ("1", "2"), ("a", "b"), ("l", "r"))
"""Words that tell two columns of a couple apart, as in image_left and image_right."""


def find_couple(names: Sequence[str], columns: Columns, path: Path) -> tuple[str, str]:
    """Return the two names that hold the items of a pair: those given, else the one couple.

    >>> find_couple(["image1_url", "image2_url", "batch"], Columns(), Path("a.csv"))
    ('image1_url', 'image2_url')
    """
    if columns.left is not None and columns.right is not None:
        for name in (columns.left, columns.right):
            if name not in names:
                raise BadFile(f"{path}: there is no column {name!r}; {did_you_mean(name, names)}")
        return columns.left, columns.right
    couples = _couples(names)
    # A couple of ids names the items; the other couples then describe them.
    with_id = [couple for couple in couples if re.search(r"(?i)(?<![a-z])id(?![a-z])", couple[0])]
    couples = with_id or couples
    if len(couples) != 1:
        reason = f"more than one ({some(couples)})" if couples else "none"
        raise BadFile(
            f"{path}: two columns must name the items of a pair, such as left and right, but "
            f"there is {reason} among {some(list(names), 12)}. Name them with --left and --right"
        )
    return couples[0]


def _couples(names: Sequence[str]) -> list[tuple[str, str]]:
    if known := couples_of(names):
        return known
    by_name = by_plain_name(names)
    found = []
    for one, other in SIDES:
        kind = r"\d" if one.isdigit() else "[a-z]"
        mark = re.compile(rf"(?<!{kind}){one}(?!{kind})")
        for name in by_name:
            twins = {name[: m.start()] + other + name[m.end() :] for m in mark.finditer(name)}
            found += [(by_name[name], by_name[twin]) for twin in twins if twin in by_name]
    return list(dict.fromkeys(found))
