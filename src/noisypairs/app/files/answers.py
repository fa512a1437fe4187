"""Answers in a table of a file: words, scores or votes, by whom, about which two items.

Columns are found by `columns` and words read by `noisypairs.pairs.answers`, as for every other
table; here every row is accounted for, and what is refused is named by its line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.algebra import Array
from noisypairs.app.files.cells import MISSING, Cells, as_text, each
from noisypairs.app.files.columns import (
    DECIMAL,
    NAME_THEM,
    OPTION,
    Columns,
    KnownItems,
    find_answers,
    find_ends,
    match_ids,
    near_miss,
)
from noisypairs.app.files.contents import BadFile, about, plural, some
from noisypairs.app.files.dates import kind_of_dates
from noisypairs.app.files.table import FileTable, read_table
from noisypairs.pairs import Pairs, answers
from noisypairs.pairs.columns import SCORES, SPELLINGS, VOTES, Role, by_plain_name, find_columns
from noisypairs.pairs.counts import pair_keys
from noisypairs.pairs.groups import copied, look_copied, repeats
from noisypairs.pairs.pairs import keys_of

PREFERENCES = frozenset({"left", "right", "a", "b", "tie", "draw", "both", "neither", "equal"})

NOBODY = "none"
"""What --annotator takes where no column says who answered."""

ROWS_EACH, FEWEST_ROWS = 10, 3
"""Rows of one person on average and at least, in a column that is taken for the annotators."""

WHOLE = re.compile(r"\d{1,2}(\.0*)?")

MOST_GRADES, OWN_VALUES = 6, 0.2
"""Fewer different numbers may be grades; a value that others tell all but a fifth is theirs."""

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
        arrays = {name: one for name, one in vars(self).items() if isinstance(one, np.ndarray)}
        return replace(self, **{name: one[which] for name, one in arrays.items()})


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
        named, guessed = find_roles(table, columns, votes, known, words)
        found = find_columns(list(table.frame), named, OPTION)
    cells = {role: table.text(name) for role, name in found.items()}
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
    left, right = cells["left"][rows], cells["right"][rows]
    who = _annotators(table, cells.get("annotator"), rows, notes)
    everything = FileAnswers(
        table, columns, rows, left, right, same, usable, who, weight, mapping, notes
    )
    counted = ~itemless[rows] & (True if weight is None else weight > 0)
    kept = everything.taken(np.flatnonzero(counted))
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


def find_roles(
    table: FileTable,
    columns: Columns,
    votes: tuple[str, str] | None,
    known: KnownItems | None,
    words: Mapping[str, str],
) -> tuple[dict[str, Role], list[str]]:
    """Return what `find_columns` is given, and notes on what was guessed by values.

    A column of scores holds the answers only where no other does.
    """
    names, cells = table.names, cache(lambda name: table.text(name).tolist())
    left, right = find_ends(names, cells, columns, table.path, known)
    same, guessed = votes[0] if votes else columns.same, ""
    if same is None:
        others = [name for name in names if name not in (left, right, columns.annotator)]
        by_name = by_plain_name(others)
        scored = next((by_name[name] for name in SCORES if name in by_name), None)
        same, guessed = find_answers(others, cells, words)
        if scored is not None and (same is None or guessed):
            same, guessed = scored, ""
    if same is None:
        _suggest_grades(table, cells, (left, right, columns.annotator))
    weight: Role = False if votes else None
    named = columns.of_pairs | {"left": left, "right": right, "same": same, "weight": weight}
    notes = [f"{table.path.name}: {guessed}"] if guessed else []
    if columns.annotator == NOBODY and NOBODY not in names:
        named["annotator"] = False
    elif columns.annotator is None and not by_plain_name(names).keys() & SPELLINGS["annotator"]:
        used = (left, right, same, *(votes or ()))
        named["annotator"], said = _find_people(
            [n for n in names if n not in used], cells, used[:3]
        )
        notes += [f"{table.path.name}: {said}"] * bool(said)
    return named, notes


def _find_people(
    names: Sequence[str], cells: Callable[[str], list[str]], others: Sequence[str | None]
) -> tuple[str | None, str]:
    """Return the column that says who answered, by what it holds, and what is said of it."""
    likely = [name for name in names if _names_people(name, cells, others)]
    # Batches and sessions come one after the other; people answer side by side.
    likely = [name for name in likely if not _in_blocks(cells(name))] or likely
    if len(likely) > 1:
        return None, (
            f"columns {some(likely, 6)} could each say who answered, so none is taken: name the "
            f"one that does, --annotator {likely[0]!r}"
        )
    if not likely:
        return None, ""
    return likely[0], (
        f"column {likely[0]!r} is taken for the annotators, since it holds "
        f"{len(set(cells(likely[0])))} values in many rows each; --annotator names another, "
        f"--annotator {NOBODY} none"
    )


def _suggest_grades(
    table: FileTable,
    cells: Callable[[str], list[str]],
    others: Sequence[str | None],
) -> None:
    """Refuse a table whose only likely answers are whole numbers: either end may be "same"."""
    held = {name: {one for one in cells(name) if not _is_missing(one)} for name in table.names}
    likely = {
        name: sorted({int(float(one)) for one in held[name]})
        for name in table.names
        if name not in others and all(map(WHOLE.fullmatch, held[name]))
    }
    likely = {name: one for name, one in likely.items() if 3 <= len(one) <= MOST_GRADES}
    if len(likely) == 1:
        ((name, grades),) = likely.items()
        unsure = " --unsure 0" * (grades[0] == 0 and len(grades) > 3)
        levels = "<".join(map(str, grades[bool(unsure) :]))
        raise BadFile(
            f"{table.path}: no column says same or different, but {name!r} holds "
            f"{', '.join(map(str, grades))}. If these are grades, name them from different to "
            f'same: --same {name} --levels "{levels}"{unsure}'
        )


def _names_people(
    name: str, cells: Callable[[str], list[str]], others: Sequence[str | None]
) -> bool:
    """Whether a column says who answered: few values, each in many rows, that follow no item.

    What goes with an item, a pair or an answer is a property of that.
    """
    texts, plain = cells(name), name.strip().lower()
    counts = Counter(text for text in texts if not _is_missing(text))
    words = any(text.strip("-+.0123456789") for text in counts)
    few = 2 <= len(counts) <= len(texts) / ROWS_EACH and min(counts.values()) >= FEWEST_ROWS
    if plain in NOT_PEOPLE or not few or not (words or len(counts) >= MOST_GRADES):
        return False
    if all(answers.canonical(text) in answers.MEANING for text in counts):
        return False
    if kind_of_dates(list(counts)) is not None or any(map(DECIMAL.fullmatch, counts)):
        return False
    for other in filter(None, others):
        told, both = set(cells(other)), set(zip(cells(other), texts, strict=True))
        if len(told) < len(texts) and len(both) <= (1 + OWN_VALUES) * len(told):
            return False
    return True


def _in_blocks(texts: Sequence[str]) -> bool:
    """Whether every value stands in one run of rows.

    >>> _in_blocks(["a", "a", "b"]), _in_blocks(["a", "b", "a"])
    (True, False)
    """
    return sum(1 for _ in groupby(texts)) == len(set(texts))


def unused_columns(table: FileTable, used: Columns) -> list[str]:
    """Return a note on the columns of a table that play no role, if there are any."""
    roles = {name for name in used.of_pairs.values() if isinstance(name, str)}
    roles |= set((used.same or "").split(" and "))
    names = [name for name in table.names if name not in roles]
    names = [name for name in names if name.strip().lower() not in READ_TOO]
    hint = "" if used.annotator else "; --annotator names the one that says who answered"
    return [f"{table.path.name}: columns not used: {some(names, 8)}{hint}"] if names else []


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
        counts = [_weights(table, table.text(v), v) for v in votes]
        _count(notes, table, counts[0] + counts[1] == 0, "row", "without any vote left out")
        reading = {votes[0]: "votes for same", votes[1]: "votes for different"}
        return both, np.ones(2 * size, dtype=bool), np.concatenate(counts), reading
    scores = None if words else _scores(cells["same"])
    if scores is None:
        same, usable, reading, n_sentences = _words(table, cells, columns, words)
        if n_sentences:
            many = plural(n_sentences, "answer")
            notes.append(f"{name}: {many} read by the word or JSON field that a text begins with")
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
) -> tuple[Mask, Mask, dict[str, str], int]:
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
    return same, parsed.usable, parsed.mapping, parsed.n_sentences


def told(error: ValueError) -> str:
    """Return what an error says, with the option that gives words a meaning."""
    if not isinstance(error, answers.UnknownWords):
        return str(error)
    meant = ",".join(f"{word}=…" for word in error.words[:3])
    said = f'{error.said}. Say what they mean, same, different or unsure: --answers "{meant}"'
    if not any(re.fullmatch(r"[+-]?\d+(\.0*)?", str(word)) for word in error.words):
        return said
    return f'{said}. Are they grades? Name all of them from low to high: --levels "1<2<3<4"'


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
    found = pd.to_numeric(pd.Series(cells), errors="coerce").to_numpy(dtype=np.float64)
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


SEVERAL_PEOPLE = 0.05
"""Share of repeated pairs answered both ways from which identical rows are different people's."""

TOO_SHORT = "kept (--keep-copies): rates come out too small and intervals too short"


def without_copies(found: FileAnswers, keep: bool) -> tuple[FileAnswers, int, list[str]]:
    """Return the answers without copies (all with ``keep``), how many were left out, and notes."""
    codes, names = pd.factorize(np.concatenate([found.left, found.right]))
    left, right = codes.reshape(2, -1).astype(np.int64)
    if not copied(left, right, found.same, len(names)).any():
        return found, 0, []  # no pair was answered alike twice
    who, named = _who(found)
    again = found.usable & copied(left, right, found.same, len(names), who, found.weight)
    notes = []
    unnamed = again & ~named
    if unnamed.any():
        answered = found.usable & ~named
        keys = pair_keys(left, right, len(names))[answered]
        said = _several_people(keys, found.same[answered]) if found.weight is None else ""
        if said:
            again &= named
            notes.append(f"{_identical(found, unnamed)} kept: {said}")
        else:
            fate = TOO_SHORT if keep else "left out as copies (--keep-copies keeps them)"
            notes.append(f"{_identical(found, unnamed)} {fate}")
    if n := int(np.count_nonzero(again & named)):
        fate = TOO_SHORT if keep else "left out (--keep-copies keeps them)"
        what = "recorded before: same pair, annotator and answer"
        notes.append(f"{found.table.path.name}: {plural(n, 'answer')} {what}, {fate}")
    if keep or not again.any():
        return found, 0, notes
    return found.taken(np.flatnonzero(~again)), int(np.count_nonzero(again)), notes


def _who(found: FileAnswers) -> tuple[NDArray[np.int64], Mask]:
    """Return a number for the person who answered, by name, else by the text of the row."""
    unnamed = np.full(found.rows.size, UNNAMED_ANNOTATOR, dtype=object)
    people = unnamed if found.annotator is None else found.annotator
    named = people != UNNAMED_ANNOTATOR
    who = pd.factorize(people)[0].astype(np.int64)
    if not named.all():
        text = found.table.frame.apply(as_text)
        row = pd.factorize(pd.util.hash_pandas_object(text, index=False))[0]
        who = np.where(named, who, -1 - row[found.rows])
    return who, named


def _several_people(keys: NDArray[np.int64], same: Mask) -> str:
    """Return why repeated answers are those of several people, or nothing where they are not."""
    asked, contradicted, _ = repeats(keys, same)
    if look_copied(keys, same) or contradicted <= SEVERAL_PEOPLE * asked:
        return ""
    return (
        f"{contradicted / asked:.0%} of the pairs asked again are answered both ways, so several "
        "people answered them"
    )


def _identical(found: FileAnswers, which: Mask) -> str:
    rows = np.unique(found.rows[which]).size
    return (
        f"{found.table.path.name}: {plural(rows, 'row')} without an annotator and identical to an "
        "earlier one,"
    )


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
        left, right = (each(end, lambda name: known.get(name, name)) for end in (left, right))
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
            f"names {some(found.ids, 2)}, the second {some(list(ids or ()), 2)}. {NAME_THEM}"
        )
    kept = found.usable
    if ids is not None:
        items = set(ids)
        kept = kept & each(left, items.__contains__) & each(right, items.__contains__)
    return pairs, notes + _notes_on_repeats(found, pairs), found.rows[kept]


def _chosen(found: FileAnswers) -> Mask | None:
    """Return which pairs were chosen, by a column ``chosen`` as ``plan --next`` writes it.

    Without one, or with other words in it than yes and no, nothing is known of that.
    """
    name = by_plain_name(found.table.frame.columns).get("chosen")
    if name is None:
        return None
    cells = each(found.table.text(name)[found.rows], str.lower)
    yes, no = np.isin(cells, ["yes", "true", "1"]), np.isin(cells, ["no", "false", "0"])
    return yes if (yes | no).all() else None


def _notes_on_unknown(
    found: FileAnswers, known: Mapping[str, str], ids: Sequence[str], items_in: str
) -> list[str]:
    """Note the pairs that name an item that is not among the items."""
    strange = [each(end, lambda name: name not in known) for end in (found.left, found.right)]
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
    asked, contradicted, _ = repeats(keys_of(pairs), pairs.same)
    if asked:
        notes.append(
            f"{name}: {plural(asked, 'pair')} asked more than once, in either order, "
            f"{contradicted:,} of them answered both ways: all answers are kept, disagreement is "
            "evidence of noise"
        )
    return notes


#: Names of a column of times in seconds, and in milliseconds, whatever the case.
SECONDS = (
    "seconds",
    "time",
    "duration",
    "response_time",
    "lead_time",
    "time_s",
    "duration_s",
    "rt",
)
MILLISECONDS = ("time_ms", "milliseconds", "duration_ms", "response_time_ms", "rt_ms", "ms")
#: Columns read in other ways than by a role: what they hold is known.
READ_TOO = frozenset({*SECONDS, *MILLISECONDS, "chosen", "weight", "weights", "count", "n_votes"})
NOT_PEOPLE = READ_TOO | {
    "kind",
    "batch",
    "split",
    "fold",
    "date",
    "day",
    "confidence",
    "difficulty",
}
#: A median above this is not in seconds: nobody looks at two items for five minutes as a rule.
LONGEST_MEDIAN = 300.0
#: … and above this not a duration at all, but the time of day that somebody answered at.
LONGEST_MILLISECONDS = 300_000.0


def seconds_of(table: FileTable) -> tuple[Array | None, list[str]]:
    """Return the seconds of every row, NaN where it has none, and a note; None without a column.

    A column without a unit in its name is in seconds, unless its median would be over five minutes.
    """
    plain = by_plain_name(table.names)
    name = next((one for one in (*MILLISECONDS, *SECONDS) if one in plain), None)
    if name is None:
        return None, []
    numbers = pd.to_numeric(table.frame[plain[name]], errors="coerce")
    values = np.asarray(numbers, dtype=np.float64)
    values = np.where(np.isfinite(values) & (values >= 0), values, np.nan)
    if np.isnan(values).mean() > 0.5:  # dates, or next to nothing
        return None, []
    median = float(np.nanmedian(values))
    if median > LONGEST_MILLISECONDS:
        return None, []
    in_milliseconds = name in MILLISECONDS or median > LONGEST_MEDIAN
    unit = "milliseconds" if in_milliseconds else "seconds"
    note = f"{table.path.name}: time of an answer in column {plain[name]!r}, in {unit}"
    return values / (1000.0 if in_milliseconds else 1.0), [note]


FORM = 'expected "yes=same,nope=different,can\'t tell=unsure", or a file with two columns'


def read_meanings(given: str) -> dict[str, str]:
    """Return {word: meaning} from text such as "yes=same,nope=different", or from a file.

    A file is a table of two columns, word and meaning, with or without a header.

    >>> read_meanings("yes=same, can't tell=unsure")
    {'yes': 'same', "can't tell": 'unsure'}
    """
    path = Path(given)
    found = _from_file(path) if "=" not in given or path.is_file() else _from_text(given)
    try:
        answers.meanings(found)
    except ValueError as error:
        raise ValueError(f"--answers: {error}") from error
    return found


def _from_text(given: str) -> dict[str, str]:
    found: dict[str, str] = {}
    parts = re.findall(r"[^=]+=[^=,;]*(?:[,;]|$)|.+", given)  # a word may hold a comma
    for part in filter(str.strip, (part.strip(",; ") for part in parts)):
        word, sign, meaning = part.rpartition("=")
        if not sign:
            raise ValueError(f"--answers: {part.strip()!r} has no meaning: {FORM}")
        if found.setdefault(word.strip(), meaning.strip()) != meaning.strip():
            raise ValueError(f"--answers: {word.strip()!r} is given two meanings: give one")
    return found


def _from_file(path: Path) -> dict[str, str]:
    if not path.is_file():
        raise ValueError(f"--answers {path}: there is no such file; {FORM}")
    table = read_table(path)
    if table.frame.shape[1] != 2:
        raise BadFile(f"{path} has {table.frame.shape[1]} columns: {FORM}, word and meaning")
    words, senses = (table.text(name).tolist() for name in table.names)
    first, meaning = table.names
    if meaning.lower() in answers.WORDS:  # no header: the first line is an answer too
        words, senses = [first, *words], [meaning, *senses]
    return dict(zip(words, senses, strict=True))
