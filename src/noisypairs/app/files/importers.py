"""Answers as other tools write them: one `Importer` per format, found by name or by its looks.

What can be said of a format without code is declared in formats.toml: its columns, the meaning of
its words, an example. Most formats are tables with columns of their own names, or tasks that show
two items and ask questions (`Answered`); code is here where a format needs it. To add one, see
docs/architecture.md.
"""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from noisypairs.app.files import store
from noisypairs.app.files.answers import preference
from noisypairs.app.files.cells import ITEM_NAMES, as_text, typed
from noisypairs.app.files.columns import (
    ENOUGH,
    Columns,
    KnownItems,
    couples_by_name,
    find_ends,
)
from noisypairs.app.files.contents import (
    ARRAYS,
    BadFile,
    Content,
    SourceFile,
    decode,
    load,
    load_arrays,
    parse_json,
    plural,
    some,
)
from noisypairs.app.files.items import Items, find_ids
from noisypairs.app.files.table import (
    JSON_LINES,
    FileTable,
    by_row,
    extension,
    json_records,
    read_table,
    records_table,
)
from noisypairs.errors import did_you_mean
from noisypairs.pairs import Pairs, answers
from noisypairs.pairs.answers import factorise
from noisypairs.pairs.columns import by_plain_name, couples_of

DECLARED: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("formats.toml").read_text(encoding="utf-8")
)
"""What formats.toml says of every format of ours, by name."""


@dataclass(frozen=True, eq=False)
class PairsFile:
    """A file or folder of answers in some format: what is asked of it is read once.

    `named` are the columns that the user has named, `known` the items, if a file holds them.
    """

    path: Path
    named: Columns = Columns()  # noqa: RUF009 -- frozen
    known: KnownItems | None = None

    @property
    def extension(self) -> str:
        """The extension in small letters, that of the packed file under .gz."""
        return extension(self.path)

    @cached_property
    def content(self) -> Content:
        """The unpacked bytes, with size and digest."""
        return load(self.path)

    @cached_property
    def text(self) -> str:
        """The text of the file."""
        return decode(self.content)[0]

    @cached_property
    def json(self) -> Any:
        """The file as one JSON value."""
        return parse_json(self.text, self.path)

    @cached_property
    def document(self) -> Any:
        """The one JSON value of a .json file; None for JSON lines and for every other file."""
        return self.json if self.extension == ".json" and not _has_lines(self.text) else None

    @cached_property
    def records(self) -> list[Mapping[str, Any]]:
        """The objects of a file of JSON lines or of a JSON list; empty for every other file."""
        if self.path.is_dir() or self.extension not in JSON_LINES:
            return []
        if self.document is not None and not isinstance(self.document, list):
            return []
        found = json_records(self.content)[0]
        return found if all(isinstance(one, dict) for one in found) else []

    def place(self, record: int) -> str:
        """Return the place of one of the `records`, counted from 0."""
        lines = json_records(self.content)[1]
        return by_row(record) if lines is None else f"line {lines[record]}"

    @cached_property
    def table(self) -> FileTable:
        """The file as a table; a .json file may be a list of records."""
        if self.document is None:
            return read_table(self.path)
        if not isinstance(self.document, list):
            raise BadFile(
                f"{self.path}: expected a list of records, not one {_kind(self.document)}"
            )
        return records_table(self.content, self.document, None, decode(self.content)[1])

    @property
    def column_names(self) -> set[str]:
        """The names of the table's columns, in small letters."""
        return set(by_plain_name(self.table.frame.columns))


def _has_lines(text: str) -> bool:
    """Whether the first line is a whole object: JSON lines under another name."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        json.loads(text.lstrip().split("\n", 1)[0])
    except (ValueError, RecursionError):
        return False
    return "\n" in text.strip()


def _kind(value: Any) -> str:
    return "object" if isinstance(value, dict) else f"value such as {json.dumps(value)[:40]}"


class Near(str):
    """Why a file that looks like one of a format is none; counts as False."""

    def __bool__(self) -> bool:
        return False


def has_columns(names: Set[str], *wanted: str) -> bool | Near:
    """Whether a table has all these columns; `Near` with the missing ones, where half are there.

    A name that ends in * stands for every column that begins so.

    >>> has_columns({"hitid", "input.a"}, "HITId", "Input.*"), has_columns({"a"}, "task", "worker")
    (True, False)
    >>> has_columns({"task", "label"}, "task", "worker")
    'there is no column worker'
    """

    def there(name: str) -> bool:
        plain = name.lower()
        if plain.endswith("*"):
            return any(one.startswith(plain[:-1]) for one in names)
        return plain in names

    missing = [name for name in wanted if not there(name)]
    if not missing or 2 * len(missing) > len(wanted):
        return not missing
    return Near(f"there is no column {', '.join(missing)}")


@dataclass(frozen=True, eq=False)
class ImportedTable:
    """A table of answers: its columns by role, the files it came from, and the items, if any.

    Without `sources` it came from the table's own file. `words` says what the tool's own answers
    mean. `import_pairs` fills in `format`, and `near`, the formats that a plain table is not.
    """

    table: FileTable
    columns: Columns
    sources: Sequence[SourceFile] = ()
    items: Items | None = None
    notes: Sequence[str] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    format: str = "table"
    near: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Example:
    """A file in a format, in about five lines; of a binary file, the Python code that writes it."""

    file: str
    text: str
    code: bool = False


Recognises = Callable[[PairsFile], "bool | Near"]
Reads = Callable[[PairsFile], ImportedTable]


@dataclass(frozen=True)
class Importer:
    """One format of answers: `recognises` looks at a file, `read` makes a table of it.

    `name` is what --format takes, `title` says in a few words what the format is. `recognises`
    may return `Near` for what is almost of this format. What `read` cannot read it refuses with a
    `BadFile` that names the file, the place and what to do. The rest is for `noisypairs formats`:
    a small example, what is read of it, where the maker describes the format, and what the
    importer was checked against: documentation only, or a file that the tool itself wrote.
    """

    name: str
    title: str
    recognises: Recognises
    read: Reads
    example: Example | None = None
    reading: str = ""
    described: str = ""
    checked: str = "documentation only"


def answer_table(
    path: Path,
    source: SourceFile,
    columns: Mapping[str, Sequence[Any]],
    place: Callable[[int], str] = by_row,
    notes: Sequence[str] = (),
) -> FileTable:
    """Return columns of equal length as a table of answers; `place` names a row in messages."""
    frame = pd.DataFrame({name: pd.Series(list(v), dtype=object) for name, v in columns.items()})
    return FileTable(path, frame, source, place, notes=tuple(notes))


@dataclass(frozen=True)
class Answered:
    """One task as one person answered it: its number in the file, fields, questions and answers."""

    number: int
    shown: Mapping[str, Any]
    said: Mapping[str, str]
    who: str = ""


def tasks_table(
    file: PairsFile,
    name: str,
    given: Iterable[Answered | None],
    place: Callable[[int], str],
    notes: Sequence[str] = (),
) -> ImportedTable:
    """Return tasks as a table of answers, with the items as far as the tasks show them.

    ``place`` names the place of a task by its number, counted from 0. None is a task left out; the
    format's declaration says why, what its tasks are called, and what its words mean.
    """
    about, tasks = DECLARED[name], list[Answered]()
    left_out = 0
    for one in given:
        if one is None:
            left_out += 1
        else:
            tasks.append(one)
    if not tasks:
        raise BadFile(f"{file.path} holds no {about['tasks']}: export answered tasks")
    if left_out:
        noun, fate = about["left_out"]
        notes = [*notes, f"{file.path.name}: {plural(left_out, noun)} {fate}"]
    columns, words = file.named, about.get("words", {})
    said = {name: [task.said.get(name, "") for task in tasks] for name in _names(tasks, "said")}
    question = find_question(said, columns.same, file.path, words)
    names = _names(tasks, "shown")
    shown = {name: pd.Series([t.shown.get(name) for t in tasks], dtype=object) for name in names}
    left, right = find_ends(
        names, lambda name: as_text(shown[name]).tolist(), columns, file.path, file.known
    )
    found = {left: shown[left], right: shown[right], question: said[question]}
    who = [task.who for task in tasks]
    named = {"annotator": who} if any(who) else {}
    source = file.content.source(len(tasks))
    table = answer_table(
        file.path, source, found | named, lambda row: place(tasks[row].number), file.content.notes
    )
    seen = as_text(pd.concat([shown[left], shown[right]], ignore_index=True))
    ids = list(dict.fromkeys(text for text in seen if text))
    items = Items(pd.DataFrame({"text": ids}), ids, None, source, [])
    used = Columns(left, right, question, next(iter(named), None), columns.id)
    return ImportedTable(table, used, items=items, notes=notes, words=words)


def _names(tasks: Sequence[Answered], part: str) -> list[str]:
    return list(dict.fromkeys(name for task in tasks for name in getattr(task, part)))


def find_question(
    said: Mapping[str, Sequence[str]],
    named: str | None,
    path: Path,
    words: Mapping[str, str] | None = None,
) -> str:
    """Return the question about the pair: the one named, the only one, or the one so answered."""
    if named is not None:
        if named not in said:
            raise BadFile(f"{path}: no answer {named!r}; {did_you_mean(named, said)}")
        return named
    likely = [name for name in said if _is_answered(said[name], words)] or list(said)
    likely = [name for name in likely if name.lower() == "same"] or likely
    if len(likely) != 1:
        raise BadFile(
            f"{path}: answers to several questions, {some(sorted(likely), 8) or 'none'}: name the "
            "one about the pair with --same"
        )
    return likely[0]


def _is_answered(cells: Sequence[str], words: Mapping[str, str] | None) -> bool:
    """Whether cells hold answers, or which of two is better, which is refused later by name."""
    try:
        read = answers.parse(list(dict.fromkeys(cells)), unsure="drop", words=words)
    except ValueError:
        return False
    return bool(read.usable.any())


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a list; none where the value is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def fields(value: Any) -> Mapping[str, Any]:
    """Return an object as it is, and anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def plain_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record that hold one value each."""
    return {
        name: value
        for name, value in record.items()
        if isinstance(value, str | int | float | bool) and str(value).strip()
    }


def without_rejected(table: FileTable, rejected: NDArray[np.bool_]) -> tuple[FileTable, list[str]]:
    """Return a table without the rows of rejected work, which still names its lines, and a note."""
    if not rejected.any():
        return table, []
    kept = np.flatnonzero(~rejected).tolist()
    frame = table.frame.iloc[kept].reset_index(drop=True)
    many = plural(int(rejected.sum()), "rejected assignment")
    left = replace(table, frame=frame, place=lambda row: table.place(kept[row]))
    return left, [f"{table.path.name}: {many} left out"]


def _one(value: Any) -> str:
    """Return the one value in lists of one as text; "" for several, or for what is no value.

    >>> _one([["yes"]]), _one(["a", "b"]), _one(1)
    ('yes', '', '1')
    """
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    return str(value) if isinstance(value, str | int | float) else ""


def _read_splink(file: PairsFile) -> ImportedTable:
    """Read labels; ids of records of several data sets are written dataset-__-id, as there."""
    columns, table, ends = file.named, file.table, DECLARED["splink"]["columns"]
    frame, notes = table.frame.copy(), []
    if any(name not in frame for name in ends):
        raise BadFile(f"{table.path}: splink labels need the columns {some(ends)}")
    sets = [f"source_dataset_{side}" for side in "lr"]
    if all(name in frame for name in sets):
        sources = [as_text(frame[name]) for name in sets]
        if len(set(sources[0]) | set(sources[1])) > 1:
            for end, source in zip(ends, sources, strict=True):
                frame[end] = source + "-__-" + as_text(frame[end])
            notes.append(
                f"{table.path.name}: records of several data sets, so ids are written like "
                f"{frame[ends[0]].iloc[0]!r}; the items need a column of such ids"
            )
    scored = "clerical_match_score" if "clerical_match_score" in frame else None
    used = replace(columns, left=ends[0], right=ends[1], same=columns.same or scored)
    return ImportedTable(replace(table, frame=frame), used, notes=notes)


SEPARATORS = (" vs. ", " vs ", "|", "::", "--", "__", "~", ";", ",", "/", "&", ":", "_", "-", " ")
"""What may stand between the two items in the name of a task, the least ambiguous first."""

_BRACKETS = re.compile(r"^[\[({]\s*|\s*[\])}]$")


def split_names(names: Sequence[str]) -> tuple[list[tuple[str, str]], str] | None:
    """Split names into two each, at the one mark that does so for all of them; and that mark.

    >>> split_names(["(a, b)", "(a, c)"])
    ([('a', 'b'), ('a', 'c')], ',')
    """
    bare = [_BRACKETS.sub("", name) for name in names]
    for mark in SEPARATORS:
        parts = [[part.strip(" '\"") for part in name.split(mark)] for name in bare]
        if all(len(both) == 2 and all(both) for both in parts):
            return [(first, second) for first, second in parts], mark
    return None


def _is_crowd_kit(file: PairsFile) -> bool | Near:
    names = {"worker" if name == "performer" else name for name in file.column_names}
    if file.named.left is not None or couples_of(names):
        return False
    return has_columns(names, *DECLARED["crowd-kit"]["columns"])


def _read_crowd_kit(file: PairsFile) -> ImportedTable:
    """Read a frame whose tasks name two items: "a|b", "(a, b)"."""
    table, by_name = file.table, by_plain_name(file.table.frame.columns)
    if "performer" in by_name:  # as it was called before version 1
        by_name.setdefault("worker", by_name["performer"])
    if missing := [name for name in DECLARED["crowd-kit"]["columns"] if name not in by_name]:
        raise BadFile(
            f"{table.path}: a crowd-kit frame has the columns task, worker and label, but there "
            f"is no {some(missing)} among {some(list(table.frame.columns), 12)}"
        )
    tasks, codes = factorise(as_text(table.frame[by_name["task"]]).to_numpy())
    if (found := split_names(tasks)) is None:
        raise BadFile(
            f"{table.path}: tasks such as {some(tasks, 2)} do not name two items each. Labels of "
            "single items are not answers about pairs; for pairs write the task as 'a|b', or give "
            "columns left and right"
        )
    couples, mark = found
    left, right = (np.array(end, dtype=object)[codes] for end in zip(*couples, strict=True))
    frame = pd.DataFrame({"left": left, "right": right})
    for role in ("label", "worker"):
        frame[by_name[role]] = table.frame[by_name[role]].to_numpy()
    used = Columns("left", "right", by_name["label"], by_name["worker"], file.named.id)
    note = f"{table.path.name}: tasks such as {tasks[0]!r} split at {mark!r} into two items"
    return ImportedTable(replace(table, frame=frame), used, notes=[note])


def _read_prefixed(
    file: PairsFile,
    table: FileTable,
    marks: tuple[str, str],
    said: Mapping[str, Sequence[str]],
    worker: str,
) -> tuple[ImportedTable, str]:
    """Read a table whose columns begin with marks of input and output; and the question found."""
    columns, frame, path = file.named, table.frame, table.path

    def bare(name: str | None) -> str | None:
        return None if name is None else name.removeprefix(marks[0]).removeprefix(marks[1])

    names = [str(name) for name in frame.columns]
    inputs = {name.removeprefix(marks[0]): name for name in names if name.startswith(marks[0])}
    asked = {role: bare(getattr(columns, role)) for role in ("left", "right")}
    left, right = find_ends(
        list(inputs),
        lambda name: as_text(frame[inputs[name]]).tolist(),
        replace(columns, **asked),
        path,
        file.known,
    )
    if not said:
        raise BadFile(f"{path}: there is no column {marks[1]}* with answers: {some(names, 12)}")
    question = find_question(said, bare(columns.same), path)
    used = pd.DataFrame({inputs[end]: frame[inputs[end]] for end in (left, right)})
    used[marks[1] + question] = said[question]
    who = columns.annotator or (worker if worker in names else None)
    if who is not None:
        if who not in names:
            raise BadFile(f"{path}: there is no column {who!r}; {did_you_mean(who, names)}")
        used[who] = frame[who]
    roles = Columns(inputs[left], inputs[right], marks[1] + question, who, columns.id)
    return ImportedTable(replace(table, frame=used), roles), question


TASK_ANSWERS = "Answer.taskAnswers"
_TICKS = {"true": True, "1": True, "on": True, "false": False, "0": False, "": False}


def _read_mturk(file: PairsFile) -> ImportedTable:
    """Read a batch: items in Input.*, the answer in Answer.*, and WorkerId.

    Answers come in many shapes: a cell (Answer.same), one column of true and false per option
    (Answer.same.yes), the label of a crowd-classifier (Answer.category.label), or all of these as
    JSON in one cell (Answer.taskAnswers).
    """
    frame = file.table.frame
    rejected = np.zeros(len(frame), dtype=bool)
    if "AssignmentStatus" in frame:
        rejected |= as_text(frame["AssignmentStatus"]).str.lower().eq("rejected").to_numpy()
    if "Reject" in frame:  # marked so in a file for review
        rejected |= as_text(frame["Reject"]).ne("").to_numpy()
    table, notes = without_rejected(file.table, rejected)
    found, _ = _read_prefixed(file, table, ("Input.", "Answer."), _said(table), "WorkerId")
    return replace(found, notes=notes)


def _said(table: FileTable) -> dict[str, list[str]]:
    """Return the answers of a batch by question, whatever their shape."""
    frame = table.frame
    cells = {
        str(name).removeprefix("Answer."): as_text(frame[name]).tolist()
        for name in frame.columns
        if str(name).startswith("Answer.") and name != TASK_ANSWERS
    }
    if TASK_ANSWERS in frame:
        for row, text in enumerate(as_text(frame[TASK_ANSWERS])):
            for name, value in _flat(_task(table, row, text)).items():
                cells.setdefault(name, [""] * len(frame))[row] = value
    groups: dict[str, list[str]] = {}
    for name in cells:
        groups.setdefault(name.partition(".")[0], []).append(name)
    return {group: _one_each(group, members, cells) for group, members in groups.items()}


def _task(table: FileTable, row: int, text: str) -> Mapping[str, Any]:
    """Return the JSON of one cell of taskAnswers: a list of one object, or the object."""
    found = parse_json(text, table.path) if text else {}
    found = found[0] if isinstance(found, list) and len(found) == 1 else found
    if not isinstance(found, dict):
        raise BadFile(
            f"{table.where(row)}: {TASK_ANSWERS} holds {json.dumps(found)[:60]}, expected a list "
            "of one object"
        )
    return found


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested answers as columns are named: {"same": {"yes": true}} is same.yes.

    >>> _flat({"category": {"label": "Same"}, "q": {"yes": True}})
    {'category.label': 'Same', 'q.yes': 'true'}
    """
    found: dict[str, str] = {}
    for name, entry in value.items():
        if isinstance(entry, dict):
            found |= _flat(entry, f"{prefix}{name}.")
        else:
            text = entry if isinstance(entry, str) else json.dumps(entry)
            found[f"{prefix}{name}"] = "" if entry is None else text.strip()
    return found


def _one_each(group: str, members: list[str], cells: Mapping[str, list[str]]) -> list[str]:
    """Return one answer per row of a group of columns: the cell itself, or the option ticked."""
    if members == [group]:
        return cells[group]
    options = {name.removeprefix(f"{group}."): cells[name] for name in members}
    if all(cell.lower() in _TICKS for column in options.values() for cell in column):
        ticked = [
            [option for option, column in options.items() if _TICKS[column[row].lower()]]
            for row in range(len(cells[members[0]]))
        ]
        return [_one(one) for one in ticked]
    label = options.get("label") or options.get("labels") or next(iter(options.values()))
    return [_one_in_json(cell, "[", lambda labels: labels) for cell in label]


def _one_in_json(cell: str, opening: str, labels: Callable[[Any], Any]) -> str:
    """Return the one label of a list in JSON; text that does not begin so as it is."""
    if not cell.startswith(opening):
        return cell
    try:
        found = labels(json.loads(cell))
    except (ValueError, RecursionError, AttributeError):
        return cell
    return str(found[0]) if isinstance(found, list) and len(found) == 1 else ""


def _read_toloka(file: PairsFile) -> ImportedTable:
    """Read results without assignments that nobody answered, or that were not accepted."""
    table, notes = file.table, list[str]()
    if "ASSIGNMENT:status" in table.frame:
        status = as_text(table.frame["ASSIGNMENT:status"]).str.upper()
        unused = status.isin(("REJECTED", "SKIPPED", "EXPIRED", "ACTIVE")).to_numpy()
        table, notes = without_rejected(table, unused)
    frame, marks = table.frame, ("INPUT:", "OUTPUT:")
    said = {
        str(name).removeprefix(marks[1]): as_text(frame[name]).tolist()
        for name in frame.columns
        if str(name).startswith(marks[1])
    }
    found, question = _read_prefixed(file, table, marks, said, "ASSIGNMENT:worker_id")
    golden = f"GOLDEN:{question}"
    if golden in frame and (known := as_text(frame[golden]).ne("")).any():
        many = plural(int(known.sum()), "answer")
        notes.append(
            f"{table.path.name}: {many} to control tasks kept as answers; the known ones "
            f"({golden}) are not used"
        )
    return replace(found, notes=notes)


#: Answers may begin with a picture in Markdown, and hidden fields of subjects with one of #, ! /.
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)\s*")
_HIDDEN = re.compile(r"^[#!/\s]+")


def _read_zooniverse(file: PairsFile) -> ImportedTable:
    """Read classifications, with JSON in annotations and subject_data."""

    def cell(row: int, name: str) -> Any:
        text = file.table.frame[name].iloc[row]
        return parse_json(text, file.path) if isinstance(text, str) and text.strip() else None

    def task(row: int) -> Answered:
        said = {
            str(one["task"]): _PICTURE.sub("", _one(one.get("value"))).strip()
            for one in objects(cell(row, "annotations"))
            if "task" in one
        }
        subjects = list(fields(cell(row, "subject_data")).values())  # by their numbers
        subject = plain_fields(fields(subjects[0])) if len(subjects) == 1 else {}
        shown = {_HIDDEN.sub("", name): value for name, value in subject.items()}
        return Answered(row, shown, said, str(file.table.frame["user_name"].iloc[row]).strip())

    rows = range(len(file.table.frame))
    return tasks_table(file, "zooniverse", map(task, rows), file.table.place)


def _is_label_studio(file: PairsFile) -> bool | Near:
    if isinstance(file.document, list) and file.document:
        first = file.document[0]
        if isinstance(first, dict) and "data" in first:
            nested = {"annotations", "completions"} & first.keys()
            return bool(nested) or Near("the tasks have no annotations")
    elif file.document is not None:
        return False
    return has_columns(file.column_names, *DECLARED["label-studio"]["columns"])


def _read_label_studio(file: PairsFile) -> ImportedTable:
    if isinstance(file.document, list) and any("data" in fields(task) for task in file.document):
        place = "task {}".format
        return tasks_table(file, "label-studio", _annotations(file), lambda k: place(k + 1))
    if not has_columns(file.column_names, "annotation_id", "annotator"):
        raise BadFile(
            f"{file.path}: a Label Studio export is a list of tasks with annotations, or has the "
            "columns annotation_id and annotator"
        )
    # One annotation per row: fields of the task and answers stand side by side.
    frame, beside = file.table.frame, DECLARED["label-studio"]["beside"]
    cells = {
        str(name): [
            _one_in_json(cell, '{"choices"', lambda found: found.get("choices"))
            for cell in as_text(frame[name])
        ]
        for name in frame.columns
        if str(name).lower() not in beside
    }
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    who = as_text(frame["annotator"]).tolist()
    tasks = (Answered(k, row, row, who[k]) for k, row in enumerate(rows))
    return tasks_table(file, "label-studio", tasks, file.table.place)


def _annotations(file: PairsFile) -> Iterator[Answered | None]:
    """Yield the annotations of nested tasks, None for what is cancelled or without a choice."""
    for k, task in enumerate(file.document):
        data = fields(task).get("data")
        given = task.get("annotations", task.get("completions")) if data else None
        if not isinstance(data, dict) or not isinstance(given, list):
            raise BadFile(
                f"{file.path}, task {k + 1}: expected an object with data and annotations"
            )
        for annotation in given:
            said = _choices(file.path, k, annotation)
            by = fields(annotation).get("completed_by")
            by = (by.get("email") or by.get("id")) if isinstance(by, dict) else by
            yield Answered(k, data, said, "" if by is None else str(by)) if said else None


def _choices(path: Path, k: int, annotation: Any) -> dict[str, str]:
    """Return {question: choice} of an annotation, none if cancelled; refuse preferences."""
    if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
        return {}
    results = objects(annotation.get("result"))
    if any(result.get("type") == "pairwise" for result in results):
        raise preference(path, f"task {k + 1} is a pairwise comparison, which", ["left", "right"])
    found = {}
    for result in results:
        said = fields(result.get("value")).get("choices")
        if result.get("type") == "choices" and isinstance(said, list) and len(said) == 1:
            found[str(result.get("from_name"))] = str(said[0])
    return found


def _is_prodigy(file: PairsFile) -> bool | Near:
    first = file.records[0] if file.records else {}
    if {"_task_hash", "_input_hash"} & first.keys():
        unanswered = Near("the tasks have no answer: export them after they are annotated")
        return "answer" in first or unanswered
    known = first.get("answer") in list(DECLARED["prodigy"]["words"])
    return Near("the tasks have no _task_hash") if known else False


def _read_prodigy(file: PairsFile) -> ImportedTable:
    def task(k: int) -> Answered:
        record = file.records[k]
        if isinstance(record.get("accept"), dict):
            raise preference(file.path, f"{file.place(k)} is a comparison, which", ["accept"])
        own = {name: value for name, value in record.items() if not name.startswith("_")}
        shown = plain_fields(fields(record.get("meta"))) | plain_fields(own)
        shown.pop("answer", None)
        who = record.get("_annotator_id") or record.get("_session_id") or ""
        return Answered(k, shown, {"answer": _prodigy_answer(record)}, str(who))

    return tasks_table(file, "prodigy", map(task, range(len(file.records))), file.place)


def _prodigy_answer(record: Mapping[str, Any]) -> str:
    """Return accept, reject or ignore; of a task with options the one that was chosen."""
    chosen, options = record.get("accept"), record.get("options")
    if not isinstance(chosen, list) or not isinstance(options, list):
        return str(record.get("answer", ""))
    if record.get("answer") != "accept" or len(chosen) != 1:
        return "ignore"
    name = str(chosen[0])
    if answers.canonical(name) in answers.MEANING and not name.strip().lstrip("-").isdecimal():
        return name
    texts = {str(one.get("id")): one.get("text") for one in objects(options)}
    return str(texts.get(name) or name)


def _is_labelbox(file: PairsFile) -> bool | Near:
    first = file.records[0] if file.records else {}
    if isinstance(first.get("data_row"), dict):
        return isinstance(first.get("projects"), dict) or Near("the data rows have no projects")
    return False


def _read_labelbox(file: PairsFile) -> ImportedTable:
    """Read data rows, whose items metadata or attachments name, else the global key: "p1|p2"."""
    tasks = [
        Answered(k, shown, _ticked(label), str(who or ""))
        for k, record in enumerate(file.records)
        for shown in [_data_row(record)]
        for project in fields(record.get("projects")).values()
        for label in objects(fields(project).get("labels"))
        for who in [fields(label.get("label_details")).get("created_by")]
    ]
    notes = list[str]()
    if tasks and not couples_by_name([name for task in tasks for name in task.shown]):
        for key in DECLARED["labelbox"]["keys"]:
            names = [str(task.shown.get(key, "")) for task in tasks]
            if (found := split_names(names)) is not None:
                couples, mark = found
                tasks = [
                    replace(task, shown={"left": one, "right": other})
                    for task, (one, other) in zip(tasks, couples, strict=True)
                ]
                notes = [f"{file.path.name}: {key} split at {mark!r} into two items"]
                break
    return tasks_table(file, "labelbox", tasks, file.place, notes)


def _ticked(label: Mapping[str, Any]) -> dict[str, str]:
    """Return {question: answer} of the radio buttons; of checklists only a single tick counts."""
    found = {}
    for one in objects(fields(label.get("annotations")).get("classifications")):
        ticked = one.get("checklist_answers")
        answer = one.get("radio_answer")
        if answer is None and isinstance(ticked, list) and len(ticked) == 1:
            answer = ticked[0]
        if isinstance(answer, dict):
            said = answer.get("name") or answer.get("value") or ""
            found[str(one.get("name") or one.get("value"))] = str(said)
    return found


def _data_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what names the items: keys of the data row, metadata and attachments."""
    row = fields(record.get("data_row"))
    found = {key: row[key] for key in DECLARED["labelbox"]["keys"] if isinstance(row.get(key), str)}
    for part, name in (("metadata_fields", "schema_name"), ("attachments", "name")):
        for one in objects(record.get(part)):
            named = one.get(name) or one.get("name")
            found |= plain_fields({str(named): one.get("value")}) if named else {}
    return found


def _is_scale(file: PairsFile) -> bool | Near:
    first = file.records[0] if file.records else {}
    if "task_id" not in first or not {"params", "metadata"} & first.keys():
        return False
    done = any(isinstance(one.get("response"), dict) for one in file.records)
    return done or Near("no task has a response: export completed tasks")


def _read_scale(file: PairsFile) -> ImportedTable:
    """Read completed tasks, with two fields of metadata or two attachments, and a category."""

    def task(k: int) -> Answered | None:
        record = file.records[k]
        response = record.get("response")
        if not isinstance(response, dict) or record.get("status", "completed") != "completed":
            return None
        shown = plain_fields(fields(record.get("metadata")))
        attached = fields(record.get("params")).get("attachments")
        contents = [
            one.get("content", one.get("attachment")) if isinstance(one, dict) else one
            for one in (attached if isinstance(attached, list) else [])
        ]
        if len(contents) == 2:
            shown |= plain_fields({"attachment_1": contents[0], "attachment_2": contents[1]})
        said = {
            str(name): _one(one.get("response", one.get("value")) if isinstance(one, dict) else one)
            for name, one in fields(response.get("annotations")).items()
        }
        kinds = ("category", "choice")
        said |= {kind: response[kind] for kind in kinds if isinstance(response.get(kind), str)}
        return Answered(k, shown, said)

    return tasks_table(file, "scale", map(task, range(len(file.records))), file.place)


WORDS = {"ml": "same", "cl": "different", "must": "same", "cannot": "different"}
"""Short names of the two kinds of constraint."""
LINK_COLUMNS = ("constraint", "constraint_type", "link", "link_type", "type", "kind")
_MUST = re.compile(r"(?i)must|(?<![a-z])ml(?![a-z])")


def _is_links(file: PairsFile) -> bool | Near:
    if link_files(file.path) is not None:
        return True
    if file.path.is_file() and _MUST.search(file.path.name):
        return Near("there is no file of cannot-links beside it")
    names = file.column_names
    splink = {"unique_id_l", "unique_id_r"} <= names  # has a reader of its own
    has_kind = file.named.same is None and bool(names & set(LINK_COLUMNS[:4]))
    return has_kind and bool(couples_of(names)) and not splink


def _read_links(file: PairsFile) -> ImportedTable:
    columns, path, files = file.named, file.path, link_files(file.path)
    if files is None:
        return _one_list(file.table, columns)
    tables = [read_table(file) for file in files]
    cells = {cell for table in tables for name in table.frame for cell in table.frame[name]}
    tables = [_two_columns(table, cells) for table in tables]
    left, right, same, places = [], [], [], []
    for table, answer in zip(tables, ("must-link", "cannot-link"), strict=True):
        left += as_text(table.frame.iloc[:, 0]).tolist()
        right += as_text(table.frame.iloc[:, 1]).tolist()
        same += [answer] * len(table.frame)
        places += [(table, row) for row in range(len(table.frame))]

    def place(row: int) -> str:
        table, at = places[row]
        return f"{table.path.name}, {table.place(at)}"

    data = {"left": left, "right": right, "constraint": same}
    source: SourceFile = {**tables[0].source, "rows": len(left)}
    notes = [note for table in tables for note in table.notes]
    notes.append(f"{files[0].name}: must-links; {files[1].name}: cannot-links")
    joined = answer_table(path, source, data, place, notes)
    used = Columns("left", "right", "constraint", None, columns.id)
    return ImportedTable(joined, used, [table.source for table in tables])


def link_files(path: Path) -> tuple[Path, Path] | None:
    """Return the files of must-links and cannot-links that a folder or one of them stands for."""
    folder = path if path.is_dir() else path.parent
    if path.is_file() and not re.search(r"(?i)must|cannot|(?<![a-z])[mc]l(?![a-z])", path.name):
        return None
    try:
        names = sorted(p for p in folder.iterdir() if p.is_file())
    except OSError:
        return None
    for must in names:
        if not _MUST.search(must.name) or (path.is_file() and path.suffix != must.suffix):
            continue
        for cannot in names:
            if _MUST.sub("*", must.name) == re.sub(
                r"(?i)cannot|can_?not|(?<![a-z])cl(?![a-z])", "*", cannot.name
            ) and (path.is_dir() or path in (must, cannot)):
                return must, cannot
    return None


def _two_columns(table: FileTable, cells: Set[Any]) -> FileTable:
    """Return a list of couples with its first line among them, if that is no header.

    A header is a couple of names we know that is no item of either list: a,b may be both.
    """
    names = [str(name) for name in table.frame.columns]
    if len(names) < 2:
        raise BadFile(f"{table.path} has one column, expected two items per line")
    if not table.delimited or (couples_of(names) and not cells & set(names)):
        return table
    if len(names) > 2:
        raise BadFile(
            f"{table.path} has {len(names)} columns, expected two items per line, or a header "
            "with left and right"
        )
    first = pd.DataFrame([names], columns=table.frame.columns, dtype=object)
    frame = pd.concat([first, table.frame], ignore_index=True)
    return replace(table, frame=frame, place=lambda row: table.place(row - 1))


def _one_list(table: FileTable, columns: Columns) -> ImportedTable:
    by_name = by_plain_name(table.frame.columns)
    kind = columns.same or next((by_name[n] for n in LINK_COLUMNS if n in by_name), None)
    if kind is None or kind not in table.frame:
        raise BadFile(
            f"{table.path}: expected a column {some(LINK_COLUMNS, 6)} that says must-link or "
            "cannot-link, or two files must_link and cannot_link side by side"
        )
    return ImportedTable(table, replace(columns, same=kind), words=DECLARED["links"]["words"])


SIGNS = re.compile(r"[+-]?1|0|ml|cl|must-?_?link|cannot-?_?link", re.IGNORECASE)
_GAP = re.compile(r"\s*[,;]\s*|\s+")
#: Lines that are looked at to recognise a list.
LOOKED_AT = 20


def _is_constraints(file: PairsFile) -> bool | Near:
    if file.path.is_dir() or file.content.is_archive or file.content.is_parquet:
        return False
    try:
        first = _fields_of_lines(file)[:LOOKED_AT]
    except BadFile:  # no text
        return False
    good = [k for k, (_, fields) in enumerate(first) if _is_constraint(fields)]
    if len(good) == len(first):
        return bool(first)
    if len(good) > len(first) / 2 and 0 in good:
        line = next(number for k, (number, _) in enumerate(first) if k not in good)
        return Near(f"line {line} is not two items and 1 or -1")
    return False


def _read_constraints(file: PairsFile) -> ImportedTable:
    lines = _fields_of_lines(file)
    for number, fields in lines:
        if not _is_constraint(fields):
            raise BadFile(
                f"{file.path}, line {number}: expected two items and 1 or -1, such as 'a b -1'"
            )
    if not lines:
        raise BadFile(f"{file.path} holds no constraints: expected lines such as 'a b -1'")
    left, right, sign = zip(*(fields for _, fields in lines), strict=True)
    data = {"left": left, "right": right, "sign": sign}
    source = file.content.source(len(lines))
    table = answer_table(file.path, source, data, lambda row: f"line {lines[row][0]}")
    used = Columns("left", "right", "sign", None, file.named.id)
    return ImportedTable(table, used, words=DECLARED["links"]["words"])


def _is_constraint(fields: list[str]) -> bool:
    return len(fields) == 3 and SIGNS.fullmatch(fields[2]) is not None


def _fields_of_lines(file: PairsFile) -> list[tuple[int, list[str]]]:
    """Return the fields of each line that is no comment, with its number."""
    numbered = ((k, line.strip()) for k, line in enumerate(file.text.splitlines(), 1))
    return [(k, _GAP.split(line)) for k, line in numbered if line and line[0] not in "#%"]


def _is_dedupe(file: PairsFile) -> bool | Near:
    if isinstance(file.document, dict) and not _is_training(file.document):
        return Near("the object has neither match nor distinct")
    return _is_training(file.document)


def _is_training(found: Any) -> bool:
    return isinstance(found, dict) and bool({"match", "distinct"} & found.keys())


def _read_dedupe(file: PairsFile) -> ImportedTable:
    columns, path, training = file.named, file.path, file.json
    if not _is_training(training):
        raise BadFile(f"{path}: a dedupe training file is an object with match and distinct")
    couples, same = [], []
    for answer in ("match", "distinct"):
        given = _plain(training.get(answer, []))
        for k, couple in enumerate(given if isinstance(given, list) else [given]):
            if not (isinstance(couple, list) and len(couple) == 2) or not all(
                isinstance(record, dict) for record in couple
            ):
                raise BadFile(
                    f"{path}, {answer} {k + 1}: expected two records, found "
                    f"{json.dumps(couple, default=str)[:60]}"
                )
            couples.append(couple)
            same.append(answer)
    if not couples:
        raise BadFile(f"{path} holds no couples under match or distinct: label some first")
    records: dict[str, tuple[str, Mapping[str, Any]]] = {}
    fields = dict.fromkeys(name for couple in couples for record in couple for name in record)
    key = columns.id or next((name for name in fields if name.lower() in ITEM_NAMES), None)
    ends = [[_named_record(record, key, records) for record in couple] for couple in couples]
    found, on_items = _in_items(file, records, list(fields)) if file.known else ({}, [])
    left, right = zip(*([found.get(name, name) for name in both] for both in ends), strict=True)
    data = {"left": left, "right": right, "answer": same}
    source, notes = file.content.source(len(couples)), file.content.notes
    table = answer_table(path, source, data, lambda row: f"couple {row + 1}", notes)
    items = _items_of_records(list(records.values()), [f for f in fields if f != key], table)
    used = Columns("left", "right", "answer", None, columns.id)
    return ImportedTable(table, used, items=items, notes=on_items)


def _in_items(
    file: PairsFile, records: Mapping[str, tuple[str, Mapping[str, Any]]], fields: list[str]
) -> tuple[dict[str, str], list[str]]:
    """Return {name of a record: id of the item it is}, where names are no ids, and a note.

    A record is the item that has the same in all fields both have, if only one has.
    """
    assert file.known is not None
    names = [name for name, _ in records.values()]
    frame, where = file.known.table.frame, file.known.table.path.name
    if max(file.known.shares(names).values(), default=0.0) >= ENOUGH:
        return {}, []  # the records have ids, and the items have the same
    column, _ = find_ids(file.known.table, file.known.id, None, fields)
    others = [name for name in file.known.columns if name not in fields]
    column = others[0] if column is None and len(others) == 1 else column
    shared = [field for field in fields if field in frame and field != column]
    if not shared:
        return {}, []
    ids = [str(k) for k in range(len(frame))] if column is None else as_text(frame[column]).tolist()
    rows: dict[tuple[str, ...], list[str]] = {}
    cells = [[_cleaned(cell) for cell in as_text(frame[field])] for field in shared]
    for name, *row in zip(ids, *cells, strict=True):
        rows.setdefault(tuple(row), []).append(name)
    found = {}
    for name, record in records.values():
        same = rows.get(tuple(_cleaned(record.get(field)) for field in shared), [])
        if len(same) == 1:
            found[name] = same[0]
    return found, [
        f"{file.path.name}: {len(found):,} of {plural(len(names), 'record')} found in {where} by "
        f"the fields {some(shared, 6)}"
    ]


def _cleaned(value: Any) -> str:
    """Write a cell as dedupe's examples clean it: small letters, single blanks, no quotes."""
    text = "" if value is None else value if isinstance(value, str) else str(value)
    return " ".join(unidecoded(text).lower().strip("\"' ").split())


def unidecoded(text: str) -> str:
    """Return text without accents.

    >>> unidecoded("Café")
    'Cafe'
    """
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _plain(value: Any) -> Any:
    """Undo dedupe's marks of tuples and sets, {"__class__": …, "__value__": […]}."""
    if isinstance(value, dict):
        if "__class__" in value and "__value__" in value:
            return _plain(value["__value__"])
        return {name: _plain(entry) for name, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


def _named_record(
    record: Mapping[str, Any], key: str | None, seen: dict[str, tuple[str, Mapping[str, Any]]]
) -> str:
    """Return the id of a record, a new one for one not met before."""
    content = json.dumps(record, sort_keys=True, default=str)
    own = record.get(key) if key is not None else None
    name = str(own).strip() if own not in (None, "") else f"record {len(seen) + 1}"
    return seen.setdefault(content, (name, record))[0]


def _items_of_records(
    records: list[tuple[str, Mapping[str, Any]]], fields: list[str], table: FileTable
) -> Items:
    ids = [name for name, _ in records]
    repeated = (
        [name for name in dict.fromkeys(ids) if ids.count(name) > 1]
        if len(set(ids)) < len(ids)
        else []
    )
    if repeated:
        raise BadFile(
            f"{table.path}: records with the id {repeated[0]!r} differ: one id, one record"
        )
    frame = pd.DataFrame(
        {name: pd.Series([_cell(r.get(name)) for _, r in records], dtype=object) for name in fields}
    )
    features, notes = typed(frame)
    return Items(features, ids, None, table.source, [f"{table.path.name}: {n}" for n in notes])


def _cell(value: Any) -> Any:
    return json.dumps(value, default=str) if isinstance(value, dict | list) else value


TUPLES = ("pairs", "tuples", "X_pairs", "pairs_train", "indices", "pairs_indices", "X")
ANSWERS = ("y", "y_pairs", "labels", "y_train", "same")
ITEMS = ("X", "preprocessor", "items", "points")
SAVE = "save plain arrays with numpy.savez(path, pairs=pairs, y=y)"


def _is_metric_learn(file: PairsFile) -> bool:
    return file.extension in ARRAYS


def _read_metric_learn(file: PairsFile) -> ImportedTable:
    columns, path, content = file.named, file.path, file.content
    sources = [content.source(0)]
    arrays = load_arrays(content, SAVE)
    if content.is_archive:
        tuples, y = _pick(path, arrays, TUPLES), _pick(path, arrays, ANSWERS)
    else:
        beside = _answers_beside(path)
        second = load(beside)
        tuples, y = arrays[""], load_arrays(second, SAVE)[""]
        sources.append(second.source(len(y) if y.ndim else 0))
    indices = tuples.ndim == 2 and tuples.shape[1] == 2 and tuples.dtype.kind in "iu"
    if not indices and (
        tuples.ndim != 3 or tuples.shape[1] != 2 or tuples.dtype.kind not in "biuf"
    ):
        raise BadFile(
            f"{path}: the tuples have shape {tuples.shape} of {tuples.dtype}, expected numbers of "
            "shape (n, 2, features), or row numbers (whole ones) of shape (n, 2)"
        )
    if y.shape != (len(tuples),) or len(y) == 0:
        raise BadFile(f"{path}: {len(tuples)} tuples, but y has shape {y.shape}: one answer each")
    sources[0] = content.source(len(tuples))
    if indices:
        X = next((arrays[name] for name in ITEMS if name in arrays), None)
        return _import_indices(path, tuples, y, X, sources, columns)
    return _import_tuples(path, tuples, y, sources, columns)


def _import_indices(
    path: Path,
    indices: NDArray[Any],
    y: NDArray[Any],
    X: NDArray[Any] | None,
    sources: list[SourceFile],
    columns: Columns,
) -> ImportedTable:
    """Return pairs of row numbers; the items are the rows of X, where there is one."""
    left, right = ([str(int(k)) for k in end] for end in indices.T)
    data = {"left": left, "right": right, "y": [str(answer) for answer in y.tolist()]}
    table = answer_table(path, sources[0], data, lambda row: f"pair {row + 1}")
    items = None
    if X is not None and X.ndim == 2 and X.dtype.kind in "biuf":
        ids = [str(k) for k in range(len(X))]
        items = Items(_features(X), ids, None, sources[0], [])
    used = Columns("left", "right", "y", None, columns.id)
    return ImportedTable(table, used, sources, items)


def _features(X: NDArray[Any]) -> pd.DataFrame:
    names = [f"x{k}" for k in range(X.shape[1])]
    return pd.DataFrame(np.where(np.isfinite(X), X, np.nan), columns=names)


def _import_tuples(
    path: Path, tuples: NDArray[Any], y: NDArray[Any], sources: list[SourceFile], columns: Columns
) -> ImportedTable:
    # Only the items and their places: the answers are read with those of every other format.
    X, pairs = Pairs.from_tuples(tuples, np.ones(len(tuples), dtype=bool))
    ids = [str(k) for k in range(len(X))]
    data = {"left": [ids[k] for k in pairs.left], "right": [ids[k] for k in pairs.right]}
    data["y"] = [str(answer) for answer in y.tolist()]
    table = answer_table(path, sources[0], data, lambda row: f"tuple {row + 1}")
    items = Items(_features(X), ids, None, sources[0], [])
    notes = [f"{path.name}: {len(X):,} different rows among the tuples are the items"]
    used = Columns("left", "right", "y", None, columns.id)
    return ImportedTable(table, used, sources, items, notes)


def _pick(path: Path, arrays: Mapping[str, NDArray[Any]], names: tuple[str, ...]) -> NDArray[Any]:
    found = next((arrays[name] for name in names if name in arrays), None)
    if found is None:
        raise BadFile(
            f"{path} holds the arrays {some(list(arrays), 8)}, expected one called {names[0]!r}: "
            "save it with numpy.savez(path, pairs=pairs, y=y)"
        )
    return found


def _answers_beside(path: Path) -> Path:
    names = [f"{path.stem}_y.npy", "y.npy", f"{path.stem.replace('pairs', 'y')}.npy"]
    for name in names:
        if name != path.name and (path.parent / name).is_file():
            return path.parent / name
    raise BadFile(
        f"{path} holds tuples but no answers: put them beside it as {names[0]}, or save both with "
        "numpy.savez(path, pairs=pairs, y=y)"
    )


def _read_store(file: PairsFile) -> ImportedTable:
    rows = store.stored_answers(file.path)
    if not rows:
        raise BadFile(f"{file.path} holds no answer yet: ask some pairs first")
    columns = dict(zip(store.COLUMNS, zip(*rows, strict=True), strict=True))
    source = file.content.source(len(rows))
    table = answer_table(file.path, source, columns, lambda row: f"answer {row + 1}")
    return ImportedTable(table, Columns("left", "right", "answer", "annotator", file.named.id))


IMPORTERS: dict[str, Importer] = {}
"""Every importer by name. A file is shown to the last one first: plain tables take anything."""

FORMATS: KeysView[str] = IMPORTERS.keys()
"""Names of the formats in which answers about pairs are read, always those registered now."""


def register(importer: Importer) -> None:
    """Add a format; files are shown to it before all formats that are registered already."""
    if importer.name in IMPORTERS:
        raise ValueError(f"there is a format {importer.name!r} already: choose another name")
    IMPORTERS[importer.name] = importer


def _declare(name: str, read: Reads, recognises: Recognises | None = None) -> None:
    """Register a format of formats.toml; without `recognises` its columns tell it."""
    about = DECLARED[name]
    facts = {key: about[key] for key in ("reading", "described", "checked") if key in about}
    example = Example(**about["example"]) if "example" in about else None
    by_columns: Recognises = lambda file: has_columns(file.column_names, *about["columns"])  # noqa: E731
    register(Importer(name, about["title"], recognises or by_columns, read, example, **facts))


_declare("table", lambda file: ImportedTable(file.table, file.named), lambda _: True)
_declare("crowd-kit", _read_crowd_kit, _is_crowd_kit)
_declare("mturk", _read_mturk)
_declare("toloka", _read_toloka)
_declare("zooniverse", _read_zooniverse)
_declare(
    "splink",
    _read_splink,
    lambda file: (
        file.named.left in (None, "unique_id_l")
        and has_columns(file.column_names, *DECLARED["splink"]["columns"])
    ),
)
_declare("label-studio", _read_label_studio, _is_label_studio)
_declare("links", _read_links, _is_links)
_declare("prodigy", _read_prodigy, _is_prodigy)
_declare("labelbox", _read_labelbox, _is_labelbox)
_declare("scale", _read_scale, _is_scale)
_declare("dedupe", _read_dedupe, _is_dedupe)
_declare("constraints", _read_constraints, _is_constraints)
_declare("metric-learn", _read_metric_learn, lambda file: file.extension in ARRAYS)
_declare("ask", _read_store, lambda file: store.is_database(file.path))


def import_pairs(
    path: Path, columns: Columns, format: str | None = None, known: KnownItems | None = None
) -> ImportedTable:
    """Read answers in the format named, else in the first one that recognises the file."""
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: {did_you_mean(format, FORMATS)}")
    file, near = PairsFile(path, columns, known), dict[str, str]()
    with naming_near(near):
        name = format
        for importer in reversed(IMPORTERS.values()) if name is None else ():
            looks = importer.recognises(file)
            if looks:
                name = importer.name
                break
            if isinstance(looks, Near):
                near[importer.name] = str(looks)
        assert name is not None, "a plain table takes any file"
        if name != "table":
            near.clear()
        found = IMPORTERS[name].read(file)
    sources = found.sources or [found.table.source]
    return replace(found, sources=sources, format=name, near=near)


@contextmanager
def naming_near(near: Mapping[str, str]) -> Iterator[None]:
    """Add to a refusal of the block which formats the file is almost in, and why it is not.

    >>> with naming_near({"splink": "there is no column unique_id_r"}):
    ...     raise BadFile("a.csv: no answers")
    Traceback (most recent call last):
    noisypairs.app.files.contents.BadFile: a.csv: no answers. It is almost a file of splink (there
    is no column unique_id_r); noisypairs formats shows what is read
    """
    try:
        yield
    except BadFile as error:
        if not near:
            raise
        almost = "; ".join(f"{name} ({reason})" for name, reason in near.items())
        raise BadFile(
            f"{error}. It is almost a file of {almost}; noisypairs formats shows what is read"
        ) from error
