"""From a table in a file to `Pairs`: words, scores or votes, by whom, about which two items.

Columns are found by `columns` and words read by `noisypairs.pairs.answers`, as for every other
table; here every row is accounted for, and what is refused is named by its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.app.files.cells import MISSING, as_text
from noisypairs.app.files.columns import OPTION, Columns, find_answers, find_ends
from noisypairs.app.files.contents import BadFile, about, plural, some
from noisypairs.app.files.file_table import FileTable
from noisypairs.app.files.known import KnownItems
from noisypairs.app.files.matching import match_ids, near_miss
from noisypairs.pairs import Pairs, answers
from noisypairs.pairs.columns import SCORES, VOTES, Role, by_plain_name, find_columns

PREFERENCES = frozenset({"left", "right", "a", "b", "tie", "draw", "both", "neither", "equal"})

UNNAMED_ANNOTATOR = "(unknown)"
"""The annotator of rows that name none."""

BY_WEIGHT = "{}: answers count by a column of weights"

Cells = NDArray[Any]
Amounts = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FileAnswers:
    """Answers of a table in a file, shape (n,) each: the ids of both ends, the answer, by whom.

    `same` says nothing where not `usable` (missing or unsure). A score or a count of votes is two
    answers with weights. `rows` are the rows in the table.
    """

    table: FileTable
    columns: Columns
    rows: NDArray[np.int64]
    left: Cells
    right: Cells
    same: Mask
    usable: Mask
    annotator: Cells | None
    weight: Amounts | None
    mapping: dict[str, str]
    notes: list[str]

    @property
    def ids(self) -> list[str]:
        """Every id, in order of first appearance, row by row."""
        return list(dict.fromkeys(np.stack([self.left, self.right], axis=1).ravel().tolist()))

    def taken(self, which: NDArray[Any]) -> FileAnswers:
        """Return only these answers."""
        return replace(
            self,
            rows=self.rows[which],
            left=self.left[which],
            right=self.right[which],
            same=self.same[which],
            usable=self.usable[which],
            annotator=None if self.annotator is None else self.annotator[which],
            weight=None if self.weight is None else self.weight[which],
        )


def read_answers(
    table: FileTable,
    columns: Columns,
    known: KnownItems | None = None,
    words: Mapping[str, str] | None = None,
) -> FileAnswers:
    """Find the columns of answers in a table and read them, every row accounted for.

    ``known`` are the items, whose ids tell the columns; ``words`` says what answers mean.
    """
    if table.frame.empty:
        raise BadFile(f"{table.path} has a header but no rows: expected one answer per row")
    words = words or {}
    votes = _votes(table, columns)
    with about(table.path):
        named, guessed = _named(table, columns, votes, known, words)
        found = find_columns(list(table.frame), named, OPTION)
    cells = {role: as_text(table.frame[name]).to_numpy() for role, name in found.items()}
    for role in ("left", "right", "annotator"):
        if role in cells:
            table.refuse_long_names(found[role], cells[role])
    used = {role: name for role, name in found.items() if role != "weight"}
    if votes is not None:
        used["same"] = " and ".join(votes)
    columns = replace(columns, **used)
    notes = [f"{table.path.name}: columns {columns}", *guessed]
    itemless = _each(cells["left"], _is_missing) | _each(cells["right"], _is_missing)
    _count(notes, table, itemless, "row", "without an item left out")
    same, usable, weight, mapping = _answers(table, cells, votes, columns, notes, words)
    rows = np.tile(np.arange(len(itemless)), len(same) // len(itemless))
    everything = FileAnswers(
        table,
        columns,
        rows,
        cells["left"][rows],
        cells["right"][rows],
        same,
        usable,
        _annotators(table, cells.get("annotator"), rows, notes),
        weight,
        mapping,
        notes,
    )
    kept = everything.taken(
        np.flatnonzero(~itemless[rows] & (True if weight is None else weight > 0))
    )
    if not kept.usable.any():
        raise BadFile(f"{table.path} holds no usable answer about two items: expected one per row")
    return kept


def pairs_of(
    found: FileAnswers, ids: Sequence[str] | None, items_in: str, copies: int = 0
) -> tuple[Pairs, list[str], NDArray[np.int64]]:
    """Return the answers as `Pairs` on the items `ids` (without: on those they name), and notes.

    Last comes the row of the table that each of them stands in.

    Pairs with an unknown item are left out; self pairs, repeats and contradictions stay. ``copies``
    is how many answers were left out as copies.
    """
    left, right, notes = found.left, found.right, list[str]()
    if ids is not None:
        known, notes = match_ids(found.ids, ids, found.table.path.name, items_in)
        notes += _notes_on_unknown(found, known, ids, items_in)
        left, right = (_each(end, lambda name: known.get(name, name)) for end in (left, right))
    read = answers.Parsed(found.same[found.usable], found.mapping, found.usable)
    with about(found.table.path):
        pairs = Pairs.from_ids(
            left,
            right,
            read,
            found.annotator,
            found.weight,
            ids,
            unknown="drop",
            copies=copies,
            chosen=_chosen(found),
        )
    if pairs.n_pairs == 0:
        raise BadFile(
            f"{found.table.path} holds no usable answer about two items of {items_in}: the first "
            f"names {some(found.ids, 2)}, the second {some(list(ids or ()), 2)}. Name the columns "
            "that hold the ids with --left, --right and --id"
        )
    kept = found.usable
    if ids is not None:
        items = set(ids)
        kept = kept & _each(left, items.__contains__) & _each(right, items.__contains__)
    return pairs, notes + _notes_on_repeats(found, pairs), found.rows[kept]


def _chosen(found: FileAnswers) -> Mask | None:
    """Return which pairs were chosen, by a column ``chosen`` as ``plan --next`` writes it.

    Without one, or with other words in it than yes and no, nothing is known of that.
    """
    name = by_plain_name(found.table.frame.columns).get("chosen")
    if name is None:
        return None
    cells = as_text(found.table.frame[name]).str.strip().str.lower().to_numpy()[found.rows]
    yes, no = np.isin(cells, ["yes", "true", "1"]), np.isin(cells, ["no", "false", "0"])
    return yes if (yes | no).all() else None


def _each(cells: Cells, function: Callable[[str], Any]) -> Cells:
    """Apply a function to every cell, but only once to each distinct one."""
    distinct, codes = answers.factorise(cells)
    results = [function(value) for value in distinct]
    array = np.array(results, dtype=object if results and isinstance(results[0], str) else None)
    return array[codes]


def _is_missing(cell: str) -> bool:
    return cell.lower() in MISSING


def _count(notes: list[str], table: FileTable, which: Mask, noun: str, fate: str) -> None:
    """Note how many rows met a fate, and where the first one stands."""
    if which.any():
        first = table.place(int(np.argmax(which)))
        many = plural(int(np.count_nonzero(which)), noun)
        notes.append(f"{table.path.name}: {many} {fate} (the first on {first})")


def _votes(table: FileTable, columns: Columns) -> tuple[str, str] | None:
    """Return the two columns that count votes, if the answers are given in that way."""
    by_name = by_plain_name(table.frame.columns)
    if columns.same is not None or "same" in by_name:
        return None
    return next(((by_name[s], by_name[d]) for s, d in VOTES if {s, d} <= by_name.keys()), None)


def _named(
    table: FileTable,
    columns: Columns,
    votes: tuple[str, str] | None,
    known: KnownItems | None,
    words: Mapping[str, str],
) -> tuple[dict[str, Role], list[str]]:
    """Return what `find_columns` is given, and notes on what was guessed by values.

    A column of scores holds the answers only where no other does.
    """
    names = [str(name) for name in table.frame.columns]
    texts: dict[str, list[str]] = {}

    def cells(name: str) -> list[str]:
        if name not in texts:
            texts[name] = as_text(table.frame[name]).tolist()
        return texts[name]

    left, right = find_ends(names, cells, columns, table.path, known)
    same, guessed = votes[0] if votes else columns.same, ""
    if same is None:
        others = [name for name in names if name not in (left, right, columns.annotator)]
        by_name = by_plain_name(others)
        scored = next((by_name[name] for name in SCORES if name in by_name), None)
        same, guessed = find_answers(others, cells, words)
        if scored is not None and (same is None or guessed):
            same, guessed = scored, ""
    weight: Role = False if votes else None
    named = columns.of_pairs | {"left": left, "right": right, "same": same, "weight": weight}
    return named, [f"{table.path.name}: {guessed}"] if guessed else []


def _answers(
    table: FileTable,
    cells: Mapping[str, Cells],
    votes: tuple[str, str] | None,
    columns: Columns,
    notes: list[str],
    words: Mapping[str, str],
) -> tuple[Mask, Mask, Amounts | None, dict[str, str]]:
    """Return answers, which of them are usable, their weights, and how they were read.

    Scores and votes give 2n answers: n times "same", then n times "different".
    """
    name = table.path.name
    size = len(table.frame)
    both = np.repeat([True, False], size)
    if votes is not None:
        counts = [_weights(table, as_text(table.frame[v]).to_numpy(), v) for v in votes]
        _count(notes, table, counts[0] + counts[1] == 0, "row", "without any vote left out")
        reading = {votes[0]: "votes for same", votes[1]: "votes for different"}
        return both, np.ones(2 * size, dtype=bool), np.concatenate(counts), reading
    scores = None if words else _scores(cells["same"])
    if scores is None:
        same, usable, reading = _words(table, cells, columns, words)
        _count(notes, table, ~usable, "answer", "missing or unsure, left out")
        if "weight" not in cells:
            return same, usable, None, reading
        weight = _weights(table, cells["weight"], "the weight")
        _count(notes, table, weight == 0, "answer", "of weight 0 left out")
        notes.append(BY_WEIGHT.format(name))
        return same, usable, weight, reading
    unsure = np.isnan(scores)
    _count(notes, table, unsure, "answer", "missing or unsure, left out")
    reading = {"p": "same with weight p, different with weight 1 − p"}
    notes.append(
        f"{name}: column {columns.same!r} holds scores p in [0, 1], read as {reading['p']}"
    )
    if "weight" in cells:
        notes.append(f"{name}: weights beside scores are not used")
    half = np.where(unsure, 0.5, scores)  # any positive weight: an unsure answer counts as dropped
    return both, np.tile(~unsure, 2), np.concatenate([half, 1 - half]), reading


def _words(
    table: FileTable, cells: Mapping[str, Cells], columns: Columns, words: Mapping[str, str]
) -> tuple[Mask, Mask, dict[str, str]]:
    """Read words and codes by `answers.parse`; what it refuses is refused with lines."""
    given = cells["same"]
    try:
        parsed = answers.parse(given, unsure="drop", name=f"column {columns.same!r}", words=words)
    except ValueError as error:
        distinct = {cell.lower() for cell in given.tolist()} - answers.UNSURE
        names_ends = ((given == cells["left"]) | (given == cells["right"])).all()
        if names_ends or (distinct and distinct <= PREFERENCES):
            raise preference(table.path, f"column {columns.same!r}", sorted(distinct)) from error
        # `parse` counts rows; people look for lines.
        lines = re.sub(r"at row (\d+)", lambda m: f"on {table.place(int(m[1]))}", told(error))
        raise BadFile(f"{table.path}: {lines}") from error
    same = np.zeros(given.size, dtype=bool)
    same[parsed.usable] = parsed.same
    return same, parsed.usable, parsed.mapping


def told(error: ValueError) -> str:
    """Return what an error says, with the option that gives words a meaning."""
    if not isinstance(error, answers.UnknownWords):
        return str(error)
    meant = ",".join(f"{word}=…" for word in error.words[:3])
    return f'{error.said}. Say what they mean, same, different or unsure: --answers "{meant}"'


def preference(path: Path, what: str, said: Sequence[str]) -> BadFile:
    """Return the refusal of answers that say which of two items is better."""
    return BadFile(
        f"{path}: {what} says which of the two items is preferred ({some(said)}), not "
        "whether they are of the same class; a preference says nothing about classes. Ask 'are "
        "these two the same?' and export those answers"
    )


def _scores(cells: Cells) -> Amounts | None:
    """Return scores in [0, 1], NaN where unsure, or None if the cells are not such scores."""

    def score(cell: str) -> float:
        return np.nan if answers.canonical(cell) in answers.UNSURE else float(cell)

    try:
        scores: Amounts = _each(cells, score).astype(np.float64)
    except ValueError:
        return None
    given = scores[~np.isnan(scores)]
    soft = given.size and given.min() >= 0 and given.max() <= 1 and (given % 1).any()
    return scores if soft else None


def _weights(table: FileTable, cells: Cells, name: str) -> Amounts:
    """Return counts or weights ≥ 0, or say on which line there is something else."""

    def number(cell: str) -> float:
        try:
            return float(cell)
        except ValueError:
            return np.nan

    found: Amounts = _each(cells, number).astype(np.float64)
    # Pairs keep weights in single precision, where larger ones would be infinite.
    wrong = ~((found >= 0) & (found < 1e30))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise BadFile(f"{table.where(at)}: {name} is {cells[at]!r}, expected a number of 0 or more")
    return np.where(found < 1e-30, 0.0, found)


def _annotators(
    table: FileTable, cells: Cells | None, rows: NDArray[np.int64], notes: list[str]
) -> Cells | None:
    if cells is None:
        return None
    absent = _each(cells, _is_missing)
    _count(notes, table, absent, "answer", f"without an annotator, called {UNNAMED_ANNOTATOR!r}")
    named: Cells = np.where(absent, UNNAMED_ANNOTATOR, cells).astype(object)
    return named[rows]


def _notes_on_unknown(
    found: FileAnswers, known: Mapping[str, str], ids: Sequence[str], items_in: str
) -> list[str]:
    """Note the pairs that name an item itemless knows."""
    strange = [_each(end, lambda name: name not in known) for end in (found.left, found.right)]
    either = strange[0] | strange[1]
    if not either.any():
        return []
    at = int(np.argmax(either))
    name = str(found.left[at] if strange[0][at] else found.right[at])
    return [
        f"{found.table.path.name}: {plural(int(either.sum()), 'answer')} left out that name an "
        f"item unknown to {items_in}, such as {name!r}{near_miss(name, ids)} on "
        f"{found.table.place(int(found.rows[at]))}"
    ]


def _notes_on_repeats(found: FileAnswers, pairs: Pairs) -> list[str]:
    """Note what is kept but worth knowing: self pairs, repeats, contradictions."""
    name, notes = found.table.path.name, []
    themselves = int(np.count_nonzero(pairs.left == pairs.right))
    if themselves:
        notes.append(
            f"{name}: {plural(themselves, 'pair')} of an item with itself kept: they say nothing "
            "of classes, but something of noise"
        )
    if "p" in found.mapping or "votes for same" in found.mapping.values():
        return notes  # a score or a count of votes is two answers by construction
    _, which = np.unique(pairs.pair_keys, return_inverse=True)
    asked, yes = np.bincount(which), np.bincount(which, pairs.same)
    if again := int(np.count_nonzero(asked > 1)):
        both_ways = int(np.count_nonzero((yes > 0) & (yes < asked)))
        notes.append(
            f"{name}: {plural(again, 'pair')} asked more than once, in either order, "
            f"{both_ways:,} of them answered both ways: all answers are kept, disagreement is "
            "evidence of noise"
        )
    return notes
