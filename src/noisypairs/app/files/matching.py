"""Ids of two files brought together: exactly, then as "007" is 7, then by the names of files.

Never by guesswork: an id that could be two is none, or refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set

from noisypairs.app.files.contents import BadFile, plural, some
from noisypairs.errors import did_you_mean
from noisypairs.pairs.ids import loose


def match_ids(
    asked: Iterable[str], known: Sequence[str], asked_in: str, known_in: str
) -> tuple[dict[str, str], list[str]]:
    """Return for every asked id the known one it stands for, unknown ones left out, and notes.

    Ids match as text. One that does not is matched without leading zeros, ".0" and case, provided
    that no other id could be meant; where one could, the files are refused. Paths and addresses
    match by the last part of them (`last_part`), where that means one item and one id only.

    >>> match_ids(["7", "12"], ["007", "012"], "pairs.csv", "items.csv")[0]
    {'7': '007', '12': '012'}
    """
    asked = list(dict.fromkeys(asked))
    exact = set(known)
    found = {name: name for name in asked if name in exact}
    unknown = [name for name in asked if name not in exact]
    alike = _loosely(unknown, found, known, asked_in, known_in) if unknown else {}
    left = [name for name in unknown if name not in alike]
    files = _by_last_part(left, {*found.values(), *alike.values()}, known) if left else {}
    if asked and not found and not alike and not files:
        raise BadFile(
            f"none of the {plural(len(asked), 'id')} in {asked_in} is an item of {known_in}: "
            f"the first holds {some(asked)}, the second {some(known)}. Name the columns that hold "
            "the ids with --left, --right and --id"
        )
    notes = []
    if alike:
        first = next(iter(alike.items()))
        notes.append(
            f"{plural(len(alike), 'id')} of {asked_in} matched to {known_in} only without leading "
            f"zeros, '.0', case and blanks, such as {first[0]!r} to {first[1]!r}"
        )
    if files:
        first = next(iter(files.items()))
        notes.append(
            f"{plural(len(files), 'id')} of {asked_in} matched to {known_in} by the last part of "
            f"a path, such as {first[0]!r} to {first[1]!r}"
        )
    return found | alike | files, notes


def last_part(name: str) -> str:
    """Return the name of a file without folder, ending and the prefix that an upload gives it.

    >>> last_part("/data/upload/3f2-SKU.jpg"), last_part("https://a.org/x/SKU.png?v=2")
    ('sku', 'sku')
    """
    plain = _QUERY.sub("", name.strip()) if "://" in name else name.strip()
    plain = re.split(r"[/\\]", plain.rstrip("/\\"))[-1]
    plain = _ENDING.sub("", plain)
    if plain != name.strip():  # a path or a file: only these are given prefixes
        plain = _UPLOAD.sub("", plain)
    return loose(plain)


#: What follows a path in an address; the ending of a file; what upload forms put before its name.
_QUERY = re.compile(r"[?#].*$")
_ENDING = re.compile(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{1,4}$")
_UPLOAD = re.compile(r"^[0-9a-f]{3,}-(?=.)")


def _by_last_part(unknown: Sequence[str], taken: Set[str], known: Sequence[str]) -> dict[str, str]:
    """Match ids by `last_part`, where exactly one id and exactly one item have it."""
    items: dict[str, list[str]] = {}
    for name in known:
        items.setdefault(last_part(name), []).append(name)
    asked: dict[str, list[str]] = {}
    for name in unknown:
        asked.setdefault(last_part(name), []).append(name)
    return {
        names[0]: items[part][0]
        for part, names in asked.items()
        if len(names) == 1 and len(items.get(part, ())) == 1 and items[part][0] not in taken
    }


def _loosely(
    unknown: Sequence[str],
    found: dict[str, str],
    known: Sequence[str],
    asked_in: str,
    known_in: str,
) -> dict[str, str]:
    """Match unknown ids by `loose`, and refuse where two ids of one file have one loose form."""
    items: dict[str, list[str]] = {}
    for name in known:
        items.setdefault(loose(name), []).append(name)
    meant: dict[str, list[str]] = {}
    for name in (*found, *unknown):
        meant.setdefault(loose(name), []).append(name)
    alike = {}
    for name in unknown:
        twins = items.get(loose(name), [])
        if len(twins) > 1:
            raise BadFile(
                f"the id {name!r} in {asked_in} could be {' or '.join(map(repr, twins[:3]))} of "
                f"{known_in}: write ids alike in both files"
            )
        if twins and len(meant[loose(name)]) > 1:
            raise BadFile(
                f"{' and '.join(map(repr, meant[loose(name)][:3]))} in {asked_in} could both be "
                f"{twins[0]!r} of {known_in}: write ids alike in both files"
            )
        if twins:
            alike[name] = twins[0]
    return alike


def near_miss(name: str, known: Sequence[str]) -> str:
    """Return a "did you mean" for one id, without the list of all others; "" if none is near."""
    guess, question, _ = did_you_mean(name, known[:2000]).partition("? ")
    return f" ({guess}?)" if question else ""
