"""The model card: what a model is, how good, from what, and how to use it, as Markdown.

It is written from the facts in a model file alone. A file may claim anything there, so that `card`
also serves to check that all facts are present.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from noisypairs.assess.words import exact_share, percent
from noisypairs.estimation import Interval

#: A card names so many columns one by one; beyond that, columns treated alike share a line.
MOST_COLUMNS, MOST_NAMES = 20, 6


def card(facts: Mapping[str, Any]) -> str:
    """Return the model card, Markdown: what it is, how good, from what, how to use it.

    Control characters are left out: a file must not steer the terminal that shows it.
    """
    text = "\n\n".join(_card_parts(facts)) + "\n"
    return "".join(char for char in text if char.isprintable() or char == "\n")


def _card_parts(facts: Mapping[str, Any]) -> list[str]:
    accuracy = facts.get("accuracy")
    good = exact_share(Interval(**accuracy)) if accuracy else "not estimated"
    classes = [
        f"| {c['name']} | {percent(c['share'], 1)} | {c['n_items']:,} |" for c in facts["classes"]
    ]
    named = "They have names."
    if not facts["names_known"]:
        named = (
            "Groups without names are numbered by size, smallest first: `noisypairs name MODEL "
            "NAMES -o NAMED` gives them names."
        )
    made_of = facts.get("groups") or facts.get("kinds") or ()
    noise = facts["noise"]
    files = [
        f"* {role}: {name}, sha256 {facts['checksums'][role]}"
        for role, name in facts["sources"].items()
    ]
    rows = ((c["name"], c["kind"], c["note"]) for c in facts["features"])
    columns = [f"| {' | '.join(row)} |" for row in column_rows(rows)]
    return [
        f"# Model of {facts['title']}",
        f"{facts['method_title']} with {facts['estimator_title']}, learnt from "
        f"{facts['n_pairs']:,} answers about {_items(facts)}. Written {facts['date']}, "
        f"seed {facts['seed']}.",
        f"**Accuracy on new items: {good}**; always naming the largest class would reach "
        f"{percent(facts['majority_share'], 1)}. How: {facts['accuracy_how']}.",
        f"**{facts['verdict']['title']}**: {facts['verdict']['reason']}",
        f"## Classes\n\n{named}\n\n| class | share | items |\n|---|---|---|\n" + "\n".join(classes),
        *_groups(made_of),
        "## Noise of the answers\n\n"
        f"* same called different: {exact_share(Interval(**noise['similar_flip']))}\n"
        f"* different called same: {exact_share(Interval(**noise['dissimilar_flip']))}",
        "## Trained on\n\n" + "\n".join(files),
        "## Columns\n\n| column | kind | what is done |\n|---|---|---|\n" + "\n".join(columns),
        "## Use and limits\n\n"
        "`noisypairs predict MODEL NEW_ITEMS -o out.csv`. New items must have the columns above, "
        "measured in the same way. The answers were never checked against true classes: the "
        "accuracy is an estimate. A kernel model keeps up to 300 encoded training items inside the "
        "file; the answers and the beliefs about single items are not kept.",
        "## Versions\n\n" + ", ".join(f"{k} {v}" for k, v in facts["versions"].items()),
    ]


def _items(facts: Mapping[str, Any]) -> str:
    """Return how many items, and in how many groups where they are in groups."""
    groups = facts.get("n_groups")
    return f"{facts['n_items']:,} items" + ("" if groups is None else f" in {groups:,} groups")


def _groups(groups: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the section about the groups that classes are made up of, where they were named."""
    rows = [
        f"| {k} | {one['name'] or '–'} | {percent(one['share'], 1)} | {one['n_items']:,} |"
        for k, one in enumerate(groups, 1)
    ]
    table = "| group | class | share | items |\n|---|---|---|---|\n" + "\n".join(rows)
    return [f"## Groups\n\n{table}"] if rows else []


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
