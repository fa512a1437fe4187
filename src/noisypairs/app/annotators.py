"""Who answers well, from files: the crowd of a data set, and its names hidden."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from noisypairs.annotators import annotator_table
from noisypairs.annotators.crowd import (
    Agreement,
    Crowd,
    GoldRates,
    judge_crowd,
    rest_accuracy,
    truth_from_answers,
)
from noisypairs.app.encoding import item_encoder, read_content
from noisypairs.app.files import Dataset, read_frame, read_labels, read_pairs
from noisypairs.errors import collected_warnings
from noisypairs.pairs import Pairs
from noisypairs.pairs.columns import couples_of
from noisypairs.pairs.pairs import in_memory

#: Answers of a table too large to load that annotators are compared on; all count for their rates.
MOST_ANSWERS_COMPARED = 500_000
#: More are refused: judging them would take longer than two minutes.
MOST_ANNOTATORS = 20_000
#: Known pairs that are named where answers contradict them.
MOST_SHOWN = 5
#: What is said wherever names are hidden.
PRIVACY = (
    "Names of annotators are hashed. Pairs plus one known label reveal every label on a connected "
    "graph: hashing hides who answered, not what the items are."
)


def judge_annotators(
    data: Dataset,
    gold: Path | None = None,
    n_classes: int | tuple[int, ...] | None = None,
    seed: int = 0,
) -> tuple[Crowd, list[str]]:
    """Judge everybody who answered; return notes, too.

    ``gold`` is a file of known classes or known answers, ``n_classes=None`` means as gold has
    them, or 2 to 6, whatever explains the answers best. Of a table too large to load all answers
    count, but only a sample is compared.
    """
    if data.pairs.annotator_names is None:
        told = "; ".join(note for note in data.notes if "--annotator" in note)
        raise ValueError(
            "the pairs do not say who answered: name the column with --annotator, or add one"
            + f" ({told})" * bool(told)
        )
    if (many := len(data.pairs.annotator_names)) > MOST_ANNOTATORS:
        raise ValueError(
            f"{many:,} annotators with {data.pairs.n_pairs / many:.1f} answers each: at most "
            f"{MOST_ANNOTATORS:,} are judged at once. Name the right column with --annotator, or "
            "leave out those with too few answers to judge"
        )
    X: Any = None
    unread: tuple[str, ...] = ()
    if data.features is not None:
        encoder = item_encoder(data.features, seed, data.encode)
        X, unread = read_content(encoder.fit_transform, data.features)
    some = in_memory(data.pairs, MOST_ANSWERS_COMPARED)
    settings: dict[str, Any] = {"n_classes": n_classes or "auto", "random_state": seed}
    seconds = data.seconds if some.n_pairs == data.pairs.n_pairs else None
    with collected_warnings() as notes:
        known = {} if gold is None else _known_truth(data, some, gold)
        found = judge_crowd(some, X, data.features, **settings, **known, seconds=seconds)
    notes += unread
    labels = known.get("labels")
    if found.contradicted:
        notes.insert(0, _contradicted(found, data.ids))
    if some.n_pairs < data.pairs.n_pairs:
        found = _with_all_answers(found, data.pairs, X, gold=labels, **settings)
        notes.append(
            f"rates and verdicts count all {data.pairs.n_pairs:,} answers; agreement, known "
            f"answers, features and the crowd without suspects a sample of {some.n_pairs:,}"
        )
    return found, notes


def _known_truth(data: Dataset, pairs: Pairs, path: Path) -> dict[str, Any]:
    """Read known answers where the file has two columns of items, else known classes."""
    if couples_of(read_frame(path).columns):
        gold = read_pairs(path)
        return {"truth": truth_from_answers(pairs, data.ids, gold.pairs, gold.ids)}
    return {"labels": read_labels(path, data.ids, data.columns.id)}


def _contradicted(found: Crowd, ids: Sequence[str]) -> str:
    """Name the known pairs that nearly all of their answers contradict."""
    words = ("different", "same")
    shown = [
        f"{ids[one.left]} and {ids[one.right]} (known as {words[one.same]}, "
        f"{one.n_against} of {one.n_answers} say {words[not one.same]})"
        for one in found.contradicted[:MOST_SHOWN]
    ]
    more = len(found.contradicted) - len(shown)
    return f"known pairs that answers contradict: {', '.join(shown)}" + f", and {more} more" * (
        more > 0
    )


def _with_all_answers(found: Crowd, pairs: Any, X: Any, **settings: Any) -> Crowd:
    """Replace the table of a sample by that of all answers."""
    table = annotator_table(pairs, X, **settings)
    place = {row.name: r for r, row in enumerate(found.table)}
    at = [place.get(row.name) for row in table]
    alone, unseen, gold = Agreement(0, None, None), GoldRates(0, 0, None, None), found.gold
    return replace(
        found,
        table=table,
        agreement=[alone if r is None else found.agreement[r] for r in at],
        gold=None if gold is None else [unseen if r is None else gold[r] for r in at],
        rest_accuracy=rest_accuracy(table),
        quick=None,  # times are read of tables that fit into memory
    )


def with_hashed_names(found: Crowd, salt: str | None) -> Crowd:
    """Replace the names by a keyed hash: without the key nobody can try names out."""
    key = secrets.token_bytes(32) if salt is None else salt.encode()

    def code(name: object) -> str:
        return hmac.new(key, str(name).encode(), hashlib.sha256).hexdigest()[:12]

    rows = tuple(replace(row, name=code(row.name)) for row in found.table.rows)
    alike = [replace(group, names=tuple(map(code, group.names))) for group in found.alike]
    return replace(found, table=replace(found.table, rows=rows), alike=alike)
