"""Ids of two files brought together: exactly first, then as "007" is 7, never by guesswork."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from noisypairs.app.files.contents import BadFile, plural, some
from noisypairs.errors import did_you_mean
from noisypairs.pairs.ids import loose


def match_ids(
    asked: Iterable[str], known: Sequence[str], asked_in: str, known_in: str
) -> tuple[dict[str, str], list[str]]:
    """Return for every asked id the known one it stands for, unknown ones left out, and notes.

    Ids match as text. One that does not is matched without leading zeros, ".0" and case, provided
    that no other id could be meant; where one could, the files are refused.

    >>> match_ids(["7", "12"], ["007", "012"], "pairs.csv", "items.csv")[0]
    {'7': '007', '12': '012'}
    """
    asked = list(dict.fromkeys(asked))
    exact = set(known)
    found = {name: name for name in asked if name in exact}
    unknown = [name for name in asked if name not in exact]
    alike = _loosely(unknown, found, known, asked_in, known_in) if unknown else {}
    if asked and not found and not alike:
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
    return found | alike, notes


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
