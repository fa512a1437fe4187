"""The model card: what a model is, how good, from what, and how to use it, as Markdown.

It is written from the facts in a model file alone. A file may claim anything there, so that `card`
also serves to check that all facts are present.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from noisypairs.app.sentences import blocks

#: A card names so many columns one by one; beyond that, columns treated alike share a line.
MOST_COLUMNS, MOST_NAMES = 20, 6


def card(facts: Mapping[str, Any]) -> str:
    """Return the model card, Markdown: what it is, how good, from what, how to use it.

    Control characters are left out: a file must not steer the terminal that shows it.
    """
    rows = ((one["name"], one["kind"], one["note"]) for one in facts["features"])
    text = "\n\n".join(blocks("card.txt", facts=facts, columns=column_rows(rows))) + "\n"
    return "".join(char for char in text if char.isprintable() or char == "\n")


def column_rows(columns: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return a row (names, kind, treatment) per column, or where they are many, per treatment.

    >>> column_rows([(f"f{k}", "number", "scaled") for k in range(64)])
    [('f0, f1, f2, f3, f4, …, f63 (64 columns)', 'number', 'scaled')]
    """
    rows = [(str(name), str(kind), str(note)) for name, kind, note in columns]
    if len(rows) <= MOST_COLUMNS:
        return rows
    alike: dict[tuple[str, str], list[str]] = {}
    for name, *treatment in rows:
        alike.setdefault((treatment[0], treatment[1]), []).append(name)
    return [(_names(names), *treatment) for treatment, names in alike.items()]


def _names(names: list[str]) -> str:
    if len(names) > MOST_NAMES:
        first = ", ".join(names[: MOST_NAMES - 1])
        return f"{first}, …, {names[-1]} ({len(names):,} columns)"
    return ", ".join(names)
