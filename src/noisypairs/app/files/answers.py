"""Answers in a table of a file: words, scores or votes, by whom, about which two items.

Columns are found by `columns` and words read by `noisypairs.pairs.answers`, as for every other
table; here every row is accounted for, and what is refused is named by its line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noisypairs.app.files.cells import MISSING, Cells, as_text, each
from noisypairs.app.files.columns import OPTION, Columns, find_answers, find_ends
from noisypairs.app.files.contents import BadFile, about, plural, some
from noisypairs.app.files.file_table import FileTable
from noisypairs.app.files.known import KnownItems
from noisypairs.pairs import answers
from noisypairs.pairs.columns import SCORES, VOTES, Role, by_plain_name, find_columns

PREFERENCES = frozenset({"left", "right", "a", "b", "tie", "draw", "both", "neither", "equal"})

UNNAMED_ANNOTATOR = "(unknown)"
"""The annotator of rows that name none."""

BY_WEIGHT = "{}: answers count by a column of weights"

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
    itemless = each(cells["left"], _is_missing) | each(cells["right"], _is_missing)
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
        scores: Amounts = each(cells, score).astype(np.float64)
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

    found: Amounts = each(cells, number).astype(np.float64)
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
    absent = each(cells, _is_missing)
    _count(notes, table, absent, "answer", f"without an annotator, called {UNNAMED_ANNOTATOR!r}")
    named: Cells = np.where(absent, UNNAMED_ANNOTATOR, cells).astype(object)
    return named[rows]
