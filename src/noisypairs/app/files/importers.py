"""Answers as other tools write them: one `Importer` per format, found by name or by its looks.

What can be said of a format without code is declared in formats.toml: its columns, the meaning of
its words, an example. Most formats are tables with columns of their own names, or tasks that show
two items and ask questions (`Answered`); code is here where a format needs it. To add one, see
docs/architecture.md.
"""

from __future__ import annotations

import io
import json
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from noisypairs.app.files import store
from noisypairs.app.files.answers import NOBODY, preference
from noisypairs.app.files.cells import ITEM_NAMES, as_text
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
from noisypairs.app.files.items import Items, find_ids, items_of
from noisypairs.app.files.table import (
    JSON_LINES,
    FileTable,
    by_row,
    extension,
    flat,
    json_records,
    read_table,
)
from noisypairs.errors import did_you_mean
from noisypairs.pairs import Pairs, answers
from noisypairs.pairs.columns import by_plain_name, couples_of
from noisypairs.pairs.levels import Scale, spoken_scale

DECLARED: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("formats.toml").read_text(encoding="utf-8")
)
"""What formats.toml says of every format of ours, by name."""


@dataclass(frozen=True, eq=False)
class PairsFile:
    """A file or folder of answers in some format: what is asked of it is read once.

    `named` are the columns that the user has named, `known` the items, if a file holds them, and
    `words` what the user says that answers mean.
    """

    path: Path
    named: Columns = Columns()  # noqa: RUF009 -- frozen
    known: KnownItems | None = None
    words: Mapping[str, str] = field(default_factory=dict)

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
    def records(self) -> list[Mapping[str, Any]]:
        """The objects of a JSON file, one or many; empty for every other file."""
        if self.path.is_dir() or self.extension not in JSON_LINES:
            return []
        found: list[Any] = json_records(self.content)[0]
        return found if all(isinstance(one, dict) for one in found) else []

    def place(self, record: int) -> str:
        """Return the place of one of the `records`, counted from 0."""
        lines = json_records(self.content)[1]
        return by_row(record) if lines is None else f"line {lines[record]}"

    @cached_property
    def table(self) -> FileTable:
        """The file as a table."""
        return read_table(self.path, None if self.path.is_dir() else self.content)

    @property
    def column_names(self) -> set[str]:
        """The names of the table's columns, in small letters."""
        return set(by_plain_name(self.table.frame.columns))


class Near(str):
    """Why a file that looks like one of a format is none; counts as False."""

    def __bool__(self) -> bool:
        return False


def has_columns(names: Set[str], *wanted: str) -> bool | Near:
    """Whether a table has all these columns; `Near` with the missing ones, where half are there.

    A name that ends in * stands for every column that begins so, and a|b for either of two.

    >>> has_columns({"hitid", "input.a"}, "HITId", "Input.*"), has_columns({"a"}, "task", "worker")
    (True, False)
    >>> has_columns({"task", "label"}, "task", "worker")
    'there is no column worker'
    """

    def there(name: str) -> bool:
        if name.endswith("*"):
            return any(one.startswith(name[:-1].lower()) for one in names)
        return bool(names & set(name.lower().split("|")))

    missing = [name for name in wanted if not there(name)]
    if not missing or 2 * len(missing) > len(wanted):
        return not missing
    return Near(f"there is no column {_or(missing)}")


def _or(names: Sequence[str]) -> str:
    return ", ".join(name.replace("|", " or ") for name in names)


@dataclass(frozen=True, eq=False)
class ImportedTable:
    """A table of answers: its columns by role, the files it came from, and the items, if any.

    Without `sources` it came from the table's own file. `words` says what the tool's own answers
    mean, or `scale`, where they are levels. `import_pairs` fills in `format`, and `near`, the
    formats that a plain table is not.
    """

    table: FileTable
    columns: Columns
    sources: Sequence[SourceFile] = ()
    items: Items | None = None
    notes: Sequence[str] = ()
    words: Mapping[str, str] = field(default_factory=dict)
    format: str = "table"
    near: Mapping[str, str] = field(default_factory=dict)
    scale: Scale | None = None


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


PARTS = ("items", "answers")
"""What formats.toml declares of tasks: where they show items, and where they hold answers."""

NAMES = ("schema_name", "name", "from_name", "task")
"""Fields by which the objects of a list are called, the first that is there."""

Step = tuple[str, Any]


def walk(value: Any, path: str) -> Iterator[Step]:
    """Yield what lies at the end of a path of formats.toml, with the name of its last *, or step.

    >>> list(walk({"a": [{"name": "q", "b": [1]}]}, "a.*.b"))
    [('q', [1])]
    >>> list(walk({"two": ["p", "q"], "c": {"d": 2}}, "two.*")), list(walk({"c": {"d": 2}}, "c.d"))
    ([('two_1', 'p'), ('two_2', 'q')], [('d', 2)])
    """
    found = [("", value)]
    starred, last = False, ""
    for step in path.split("."):
        if step == "*":
            found = [inner for _, one in found for inner in _entries(one, last)]
        else:
            inside = ((name, fields(_only(one))) for name, one in found)
            found = [(name if starred else step, one[step]) for name, one in inside if step in one]
        starred, last = starred or step == "*", step
    yield from found


def _only(value: Any) -> Any:
    """Return the entry of a list of one, anything else as it is."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _entries(value: Any, parent: str) -> list[Step]:
    """Return the fields of an object, or the entries of a list; two without names are numbered."""
    if not isinstance(value, list):
        return [(str(name), one) for name, one in fields(value).items()]
    found = []
    for k, one in enumerate(value):
        given = next((str(one[name]) for name in NAMES if fields(one).get(name)), "")
        found.append((given or (f"{parent.rstrip('s')}_{k + 1}" if len(value) == 2 else ""), one))
    return found


def fields(value: Any) -> Mapping[str, Any]:
    """Return an object as it is, and anything else as an empty one."""
    return value if isinstance(value, dict) else {}


_TICKS = {"true": True, "1": True, "on": True, "false": False, "0": False, "": False}
#: Answers may begin with a picture in Markdown, and hidden fields of subjects with one of #, ! /.
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)\s*")
_HIDDEN = re.compile(r"^[#!/\s]+")


def one_answer(value: Any) -> str:
    """Return the one answer in what tools write: text, lists of one, labels, ticks; "" for more.

    >>> [one_answer(one) for one in ([["yes"]], ["a", "b"], 1, {"label": "Same"}, '["No"]')]
    ['yes', '', '1', 'Same', 'No']
    >>> one_answer({"same": "true", "different": "false"}), one_answer('{"choices": ["a", "b"]}')
    ('same', '')
    """
    if isinstance(value, str) and value.startswith(("[", '{"choices"')):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    while isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        return _PICTURE.sub("", value).strip()
    if isinstance(value, dict):
        named = [value[name] for name in ("label", "labels", "choices") if name in value]
        ticks = {name: _TICKS.get(str(one).strip().lower()) for name, one in value.items()}
        if not named and None not in ticks.values():
            named = [[name for name, tick in ticks.items() if tick]]
        named = named or list(value.values())
        return one_answer(named[0]) if len(named) == 1 else ""
    return str(value) if isinstance(value, int | float) else ""


@dataclass(frozen=True)
class Answered:
    """One task as one person answered it: its number in the file, fields, questions and answers."""

    number: int
    shown: Mapping[str, Any]
    said: Mapping[str, str]
    who: str = ""


def _task(number: int, record: Mapping[str, Any], about: Mapping[str, Any]) -> Answered:
    shown: dict[str, Any] = {}
    without = {"", *about.get("without", ())}
    for path in about["items"]:
        for name, value in walk(record, path):
            plain = isinstance(value, str | int | float | bool) and str(value).strip()
            if plain and name.lower() not in without and not name.startswith("_"):
                shown.setdefault(_HIDDEN.sub("", name), value)
    questions: dict[str, dict[str, Any]] = {}
    for path in about["answers"]:
        for name, value in walk(record, path):
            question, _, option = name.partition(about.get("mark", "\0"))
            if name.lower() not in without or path == name:
                questions.setdefault(question, {}).setdefault(option, value)
    said = {q: one_answer(one[""] if list(one) == [""] else one) for q, one in questions.items()}
    who = (value for path in about["who"] for _, value in walk(record, path))
    plain_who = (str(one).strip() for one in who if isinstance(one, str | int | float))
    return Answered(number, shown, said, next(filter(None, plain_who), ""))


def _is_rejected(record: Mapping[str, Any], rejected: Mapping[str, Sequence[str]]) -> bool:
    for path, values in rejected.items():
        for _, found in walk(record, path):
            text = "" if found is None else str(found).strip().lower()
            if text in values or (text and "*" in values):
                return True
    return False


def _rows(table: FileTable, about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a table as objects, with `mark` and `json` undone."""
    rows: list[dict[str, Any]] = [{} for _ in range(len(table.frame))]
    for name in table.names:
        head, mark, rest = name.partition(about.get("mark", "\0"))
        plain = head if {"mark", "table"} & about.keys() else head.strip().lower()
        for k, cell in enumerate(table.text(name).tolist()):
            into = rows[k].setdefault(head, {}) if mark else rows[k]
            if name not in about.get("json", ()):
                into[rest or plain] = cell
                continue
            try:
                found = parse_json(cell, table.path) if cell else None
            except BadFile as error:
                why = str(error).partition(": ")[2]
                raise BadFile(f"{table.where(k)}, column {name!r}: {why}") from error
            if not mark:
                into[plain] = found
            elif isinstance(several := _only(found or {}), dict):
                into |= several
            else:
                raise BadFile(
                    f"{table.where(k)}: {name} holds {cell[:60]}, expected a list of one object"
                )
    return rows


def _looks_declared(file: PairsFile, about: Mapping[str, Any]) -> bool | Near:
    """Whether objects have the declared keys, or a table the columns."""
    first = file.records[0].keys() if "keys" in about and file.records else set[str]()
    if first and all(first & set(some_of) for some_of in about["keys"]):
        done = any(record.get(name) for record in file.records for name in about["needs"])
        return done or Near(about["near"])
    return has_columns(file.column_names, *about["columns"]) if "columns" in about else False


def _read_declared(file: PairsFile, name: str) -> ImportedTable:
    """Read rows or objects that show two items and hold answers, as formats.toml says where."""
    about = DECLARED[name]
    keyed = "keys" in about and ("columns" not in about or "data" in (file.records or [{}])[0])
    if keyed:
        records: Sequence[Mapping[str, Any]] = file.records
        place: Callable[[int], str] = file.place
        notes = list(file.content.notes)
    else:
        _require_columns(file, name)
        about = {**about, **about.get("table", {"each": ()})}
        records, place = _rows(file.table, about), file.table.place
        notes = list(file.table.notes)
    if who := (file.named.annotator or "").replace(about.get("mark", "."), ".", 1):
        if who != NOBODY and not any(True for record in records for _ in walk(record, who)):
            raise BadFile(f"{file.path}: there is no {who!r} of those who answered")
        about = {**about, "who": [] if who == NOBODY else [who]}
    tasks, rejected, without = list[Answered](), 0, 0
    for k, record in enumerate(records):
        inside = [one for path in about.get("each", ()) for _, one in walk(record, path)]
        without += bool(about.get("each")) and not inside
        for part in inside if about.get("each") else [{}]:
            whole = {**record, **fields(part)}
            if any(True for path in about.get("preference", ()) for _ in walk(whole, path)):
                raise preference(file.path, f"{place(k)} is a comparison, which", ["left", "right"])
            task = _task(k, _chosen(whole) if name == "prodigy" else whole, about)
            no_answer = keyed and "left_out" in about and not any(task.said.values())
            if no_answer or _is_rejected(whole, about.get("rejected", {})):
                rejected += 1
            else:
                tasks.append(task)
    if not tasks:
        raise BadFile(
            f"{file.path} holds no {about.get('tasks', 'answers')}: export answered tasks"
        )
    if rejected:
        noun, fate = about["left_out"]
        notes.append(f"{file.path.name}: {plural(rejected, noun)} {fate}")
    if without:
        notes.append(f"{file.path.name}: {plural(without, 'row')} without an answer left out")
    return _answers_to_tasks(file, about, records, tasks, place, notes)


def _require_columns(file: PairsFile, name: str) -> None:
    """Refuse a table without the columns of its format."""
    wanted = DECLARED[name]["columns"]
    if not has_columns(file.column_names, *wanted):
        raise BadFile(
            f"{file.path}: a file of {name} has the columns {_or(wanted)}, but this one has "
            f"{some(list(file.table.frame.columns), 12)}"
        )


def _answers_to_tasks(
    file: PairsFile,
    about: Mapping[str, Any],
    records: Sequence[Mapping[str, Any]],
    tasks: Sequence[Answered],
    place: Callable[[int], str],
    notes: list[str],
) -> ImportedTable:
    """Return tasks as a table of answers, with the items as far as the tasks show them."""
    mark, words, named = about.get("mark", ""), about.get("words", {}), file.named
    # Columns of a table keep their whole names, with or without which users may name them.
    shows, says = (about[part][0].partition(".")[0] + mark if mark else "" for part in PARTS)
    bare = {
        role: str(name).removeprefix(says if role == "same" else shows)
        for role, name in named.of_pairs.items()
        if name
    }
    named = replace(named, **bare)
    said, shown = (
        pd.DataFrame(one, dtype=object).apply(as_text)
        for one in ([task.said for task in tasks], [task.shown for task in tasks])
    )
    question = _question(said, named.same, file.path, {**words, **file.words})
    keyless = "keys" not in about
    if "split" in about and not couples_by_name(list(shown)):
        shown = _split(file, about["split"], shown, notes)
    ends = find_ends(list(shown), lambda name: shown[name].tolist(), named, file.path, file.known)
    used = Columns(shows + ends[0], shows + ends[1], says + question, None, named.id)
    data: dict[str, Sequence[Any]] = {shows + end: shown[end] for end in ends}
    data[says + question] = said[question]
    if any(who := [task.who for task in tasks]):
        by = about["who"][0].replace(".", mark or ".", 1) if keyless else "annotator"
        data[by], used = who, replace(used, annotator=by)
    if control := sum(
        bool(one)
        for record in records
        for path in about.get("control", ())
        for name, one in walk(record, path)
        if name == question
    ):
        notes.append(
            f"{file.path.name}: {plural(control, 'answer')} to control tasks kept as answers; the "
            "known ones are not used"
        )
    source = file.content.source(len(records) if keyless else len(tasks))
    table = answer_table(file.path, source, data, lambda row: place(tasks[row].number), notes)
    ids = [text for text in dict.fromkeys([*shown[ends[0]], *shown[ends[1]]]) if text]
    # What tasks show of an item is a feature where it is text, not where it is a name.
    worded = any(len(text.split()) > 1 for text in ids)
    items = Items(pd.DataFrame({"text": ids}), ids, None, source, []) if worded else None
    return ImportedTable(table, used, items=items, words=words)


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


def _split(
    file: PairsFile, keys: Sequence[str], shown: pd.DataFrame, notes: list[str]
) -> pd.DataFrame:
    """Return the two items that one field names, the first of ``keys`` that splits everywhere."""
    there = [key for key in keys if key in shown]
    for key in there:
        if (found := split_names(shown[key].tolist())) is not None:
            such = f"into two items, as in {shown[key].iloc[0]!r}"
            notes.append(f"{file.path.name}: {key} split at {found[1]!r} {such}")
            return pd.DataFrame(found[0], columns=["left", "right"], dtype=object)
    if not there:
        return shown
    raise BadFile(
        f"{file.path}: {there[0]} holds {some(shown[there[0]].unique().tolist(), 2)}, "
        "which do not name two items each. Labels of single items are not answers about pairs; "
        "for pairs write 'a|b' there, or give columns left and right"
    )


def _question(said: pd.DataFrame, named: str | None, path: Path, words: Mapping[str, str]) -> str:
    """Return the question about the pair: the one named, the only one, or the one so answered."""
    if named is not None:
        if named not in said:
            raise BadFile(f"{path}: no answer {named!r}; {did_you_mean(named, list(said))}")
        return named
    likely = [name for name in said if _is_answered(said[name], words)] or list(said)
    likely = [name for name in likely if name.lower() == "same"] or likely
    if len(likely) != 1:
        several = some(sorted(likely), 8) or "none"
        raise BadFile(f"{path}: answers to several questions, {several}: name the one with --same")
    return str(likely[0])


def _is_answered(cells: pd.Series[Any], words: Mapping[str, str]) -> bool:
    """Whether cells hold answers, or which of two is better, which is refused later by name."""
    distinct = cells.unique()
    try:
        return bool(answers.parse(distinct, unsure="drop", words=words).usable.any())
    except ValueError:
        return spoken_scale(filter(None, distinct)) is not None


def _chosen(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a task of Prodigy with options as one whose answer is the option that was chosen."""
    chosen, options = record.get("accept"), record.get("options")
    if not isinstance(chosen, list) or not isinstance(options, list):
        return record
    if record.get("answer") != "accept" or len(chosen) != 1:
        return {**record, "answer": "ignore"}
    name = str(chosen[0])
    plain = answers.canonical(name) in answers.MEANING and not name.strip().lstrip("-").isdecimal()
    texts = {str(fields(one).get("id")): fields(one).get("text") for one in options}
    return {**record, "answer": name if plain else str(texts.get(name) or name)}


def _read_splink(file: PairsFile) -> ImportedTable:
    """Read labels; ids of records of several data sets are written dataset-__-id, as there."""
    _require_columns(file, "splink")
    table, ends = file.table, DECLARED["splink"]["columns"]
    frame, notes = table.frame.copy(), []
    sets = [name for name in ("source_dataset_l", "source_dataset_r") if name in frame]
    if len(sets) == 2 and len({*table.text(sets[0]), *table.text(sets[1])}) > 1:
        for end, name in zip(ends, sets, strict=True):
            frame[end] = table.text(name) + "-__-" + table.text(end)
        notes.append(
            f"{table.path.name}: records of several data sets, so ids are written like "
            f"{frame[ends[0]].iloc[0]!r}; the items need a column of such ids"
        )
    scored = "clerical_match_score" if "clerical_match_score" in frame else None
    used = replace(file.named, left=ends[0], right=ends[1], same=file.named.same or scored)
    return ImportedTable(replace(table, frame=frame), used, notes=notes)


LINK_COLUMNS = ("constraint", "constraint_type", "link", "link_type", "type", "kind")
_MUST = re.compile(r"(?i)must|(?<![a-z])ml(?![a-z])")
_CANNOT = re.compile(r"(?i)cannot|can_?not|(?<![a-z])cl(?![a-z])")


def _is_links(file: PairsFile) -> bool | Near:
    if link_files(file.path) is not None:
        return True
    if file.path.is_file() and _MUST.search(file.path.name):
        return Near("there is no file of cannot-links beside it")
    names = file.column_names
    has_kind = file.named.same is None and bool(names & set(LINK_COLUMNS[:4]))
    return has_kind and bool(couples_of(names)) and not _is_splink(file)


def _read_links(file: PairsFile) -> ImportedTable:
    files, words = link_files(file.path), DECLARED["links"]["words"]
    if files is None:
        table, by_name = file.table, by_plain_name(file.table.frame.columns)
        kind = file.named.same or next((by_name[n] for n in LINK_COLUMNS if n in by_name), None)
        if kind is None or kind not in table.frame:
            raise BadFile(
                f"{table.path}: expected a column {some(LINK_COLUMNS, 6)} that says must-link or "
                "cannot-link, or two files must_link and cannot_link side by side"
            )
        return ImportedTable(table, replace(file.named, same=kind), words=words)
    tables = [read_table(one) for one in files]
    cells = {cell for table in tables for name in table.frame for cell in table.frame[name]}
    must, cannot = (_two_columns(table, cells) for table in tables)
    n_must, n_cannot = len(must.frame), len(cannot.frame)
    left, right = ([*must.text(must.names[k]), *cannot.text(cannot.names[k])] for k in (0, 1))
    kinds = ["must-link"] * n_must + ["cannot-link"] * n_cannot
    data = {"left": left, "right": right, "constraint": kinds}

    def place(row: int) -> str:
        table, at = (must, row) if row < n_must else (cannot, row - n_must)
        return f"{table.path.name}, {table.place(at)}"

    source: SourceFile = {**must.source, "rows": n_must + n_cannot}
    notes = [*must.notes, *cannot.notes]
    notes.append(f"{files[0].name}: must-links; {files[1].name}: cannot-links")
    joined = answer_table(file.path, source, data, place, notes)
    used = Columns("left", "right", "constraint", None, file.named.id)
    return ImportedTable(joined, used, [table.source for table in tables])


def link_files(path: Path) -> tuple[Path, Path] | None:
    """Return the files of must-links and cannot-links that a folder or one of them stands for."""
    named = _MUST.search(path.name) or _CANNOT.search(path.name)
    folder = path if path.is_dir() else path.parent
    if not folder.is_dir() or (path.is_file() and not named):
        return None
    names = sorted(one for one in folder.iterdir() if one.is_file())
    cannot_links = {_CANNOT.sub("*", one.name): one for one in names if _CANNOT.search(one.name)}
    musts = ((one, _MUST.sub("*", one.name)) for one in names if _MUST.search(one.name))
    couples = ((must, cannot_links[rest]) for must, rest in musts if rest in cannot_links)
    return next((two for two in couples if path.is_dir() or path in two), None)


def _two_columns(table: FileTable, cells: Set[Any]) -> FileTable:
    """Return a list of couples with its first line among them, if that is no header.

    A header is a couple of names we know that is no item of either list: a,b may be both.
    """
    names = table.names
    header = not table.delimited or (couples_of(names) and not cells & set(names))
    if len(names) < 2 or (len(names) > 2 and not header):
        raise BadFile(
            f"{table.path} has {plural(len(names), 'column')}, expected two items per line, or a "
            "header with left and right"
        )
    if header:
        return table
    first = pd.DataFrame([names], columns=table.frame.columns, dtype=object)
    frame = pd.concat([first, table.frame], ignore_index=True)
    return replace(table, frame=frame, place=lambda row: table.place(row - 1))


SIGNS = re.compile(r"[+-]?1|0|ml|cl|must-?_?link|cannot-?_?link", re.IGNORECASE)
_GAP = re.compile(r"\s*[,;]\s*|\s+")
#: Lines that are looked at to recognise a list.
LOOKED_AT = 20


def _is_constraints(file: PairsFile) -> bool | Near:
    if file.path.is_dir() or file.content.is_archive or file.content.is_parquet:
        return False
    try:
        first = list(islice(_fields_of_lines(file), LOOKED_AT))
    except BadFile:  # no text
        return False
    wrong = [number for number, fields in first if not _is_constraint(fields)]
    if not wrong:
        return bool(first)
    near = 2 * len(wrong) < len(first) and wrong[0] != first[0][0]
    return near and Near(f"line {wrong[0]} is not two items and 1 or -1")


def _read_constraints(file: PairsFile) -> ImportedTable:
    lines = list(_fields_of_lines(file))
    for number, fields in lines:
        if not _is_constraint(fields):
            raise BadFile(
                f"{file.path}, line {number}: expected two items and 1 or -1, such as 'a b -1'"
            )
    if not lines:
        raise BadFile(f"{file.path} holds no constraints: expected lines such as 'a b -1'")
    ends = zip(*(fields for _, fields in lines), strict=True)
    data = dict(zip(("left", "right", "sign"), ends, strict=True))
    source = file.content.source(len(lines))
    table = answer_table(file.path, source, data, lambda row: f"line {lines[row][0]}")
    used = Columns("left", "right", "sign", None, file.named.id)
    return ImportedTable(table, used, words=DECLARED["links"]["words"])


def _is_constraint(fields: list[str]) -> bool:
    return len(fields) == 3 and SIGNS.fullmatch(fields[2]) is not None


def _fields_of_lines(file: PairsFile) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line that is no comment, with its number."""
    for number, line in enumerate(io.StringIO(file.text, newline=None), 1):
        if (plain := line.strip()) and plain[0] not in "#%":
            yield number, _GAP.split(plain)


def _is_dedupe(file: PairsFile) -> bool | Near:
    if len(file.records) != 1 or file.extension != ".json":
        return False
    known = bool({"match", "distinct"} & file.records[0].keys())
    return known or Near("the object has neither match nor distinct")


Records = dict[str, tuple[str, Mapping[str, Any]]]


def _read_dedupe(file: PairsFile) -> ImportedTable:
    """Read couples of records, each of which is an item: by its id, or one met for the first time.

    Where a file holds the items, records without its ids are found there by their fields.
    """
    path, training = file.path, fields(parse_json(file.text, file.path))
    if not {"match", "distinct"} & training.keys():
        raise BadFile(f"{path}: a dedupe training file is an object with match and distinct")
    couples, same = list[list[dict[str, Any]]](), list[str]()
    for answer in ("match", "distinct"):
        given = _plain(training.get(answer, []))
        for k, couple in enumerate(given if isinstance(given, list) else [given]):
            kinds = [type(record) for record in couple] if isinstance(couple, list) else []
            if kinds != [dict, dict]:
                shown = json.dumps(couple, default=str)[:60]
                raise BadFile(f"{path}, {answer} {k + 1}: expected two records, found {shown}")
            couples.append(couple)
            same.append(answer)
    if not couples:
        raise BadFile(f"{path} holds no couples under match or distinct: label some first")
    names = list(dict.fromkeys(name for couple in couples for record in couple for name in record))
    key = file.named.id or next((name for name in names if name.lower() in ITEM_NAMES), None)
    seen: Records = {}
    ends = [[_named_record(record, key, seen) for record in couple] for couple in couples]
    found, on_items = _in_items(file, seen, names) if file.known else ({}, [])
    left, right = zip(*([found.get(name, name) for name in both] for both in ends), strict=True)
    data = {"left": left, "right": right, "answer": same}
    source, notes = file.content.source(len(couples)), file.content.notes
    table = answer_table(path, source, data, lambda row: f"couple {row + 1}", notes)
    own = {"id": [name for name, _ in seen.values()]}
    own |= {n: [flat(one.get(n)) for _, one in seen.values()] for n in names if n != key}
    records = answer_table(path, source, own, lambda row: f"record {row + 1}")
    items = None if file.known else replace(items_of(records, "id"), id_column=None)
    used = Columns("left", "right", "answer", None, file.named.id)
    return ImportedTable(table, used, items=items, notes=on_items)


def _in_items(
    file: PairsFile, records: Records, fields: list[str]
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
    table = file.known.table
    ids = map(str, range(len(frame))) if column is None else table.text(column).tolist()
    cells = [map(_cleaned, table.text(field)) for field in shared]
    rows: dict[tuple[str, ...], list[str]] = {}
    for name, *row in zip(ids, *cells, strict=True):
        rows.setdefault(tuple(row), []).append(name)
    wanted = {n: tuple(_cleaned(one.get(field)) for field in shared) for n, one in records.values()}
    same = {name: rows.get(row, []) for name, row in wanted.items()}
    found = {name: alike[0] for name, alike in same.items() if len(alike) == 1}
    return found, [
        f"{file.path.name}: {len(found):,} of {plural(len(names), 'record')} found in {where} by "
        f"the fields {some(shared, 6)}"
    ]


def _cleaned(value: Any) -> str:
    """Write a cell as dedupe's examples clean it: small letters, no accents, blanks or quotes.

    >>> _cleaned("'Café  au lait")
    'cafe au lait'
    """
    text = unicodedata.normalize("NFKD", "" if value is None else str(value))
    plain = "".join(letter for letter in text if not unicodedata.combining(letter))
    return " ".join(plain.lower().strip("\"' ").split())


def _plain(value: Any) -> Any:
    """Undo dedupe's marks of tuples and sets, {"__class__": …, "__value__": […]}."""
    if isinstance(value, dict):
        if "__class__" in value and "__value__" in value:
            return _plain(value["__value__"])
        return {name: _plain(entry) for name, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


def _named_record(record: Mapping[str, Any], key: str | None, seen: Records) -> str:
    """Return the id of a record, a new one for one not met before."""
    content = json.dumps(record, sort_keys=True, default=str)
    own = record.get(key) if key is not None else None
    name = str(own).strip() if own not in (None, "") else f"record {len(seen) + 1}"
    return seen.setdefault(content, (name, record))[0]


ARRAY_NAMES = (
    ("pairs", "tuples", "X_pairs", "pairs_train", "indices", "pairs_indices", "X"),
    ("y", "y_pairs", "labels", "y_train", "same"),
    ("X", "preprocessor", "items", "points"),
)
"""What arrays of tuples, answers and items are called."""
SAVE = "save plain arrays with numpy.savez(path, pairs=pairs, y=y)"


def _read_metric_learn(file: PairsFile) -> ImportedTable:
    """Read tuples (n, 2, d), whose different rows are the items, or (n, 2) row numbers of them."""
    path, content = file.path, file.content
    arrays, sources = load_arrays(content, SAVE), list[SourceFile]()
    if not content.is_archive:
        second = load(_answers_beside(path))
        arrays = {"pairs": arrays[""], "y": load_arrays(second, SAVE)[""]}
        sources = [second.source(arrays["y"].size)]
    found = (next((arrays[n] for n in names if n in arrays), None) for names in ARRAY_NAMES)
    tuples, y, X = found
    if tuples is None or y is None:
        missing = "pairs" if tuples is None else "y"
        raise BadFile(
            f"{path} holds the arrays {some(list(arrays), 8)}, expected one called {missing!r}: "
            f"{SAVE}"
        )
    numbered = tuples.ndim == 2 and tuples.dtype.kind in "iu"
    if tuples.shape[1:2] != (2,) or not (
        numbered or (tuples.ndim == 3 and tuples.dtype.kind in "biuf")
    ):
        raise BadFile(
            f"{path}: the tuples have shape {tuples.shape} of {tuples.dtype}, expected numbers of "
            "shape (n, 2, features), or row numbers (whole ones) of shape (n, 2)"
        )
    if y.shape != (len(tuples),) or len(y) == 0:
        raise BadFile(f"{path}: {len(tuples)} tuples, but y has shape {y.shape}: one answer each")
    notes, what = list[str](), "pair"
    ends: Any = tuples.T
    if not numbered:  # only the items and their places: answers are read as in any other format
        X, pairs = Pairs.from_tuples(tuples, np.ones(len(tuples), dtype=bool))
        notes = [f"{path.name}: {len(X):,} different rows among the tuples are the items"]
        what, ends = "tuple", (pairs.left, pairs.right)
    cells = [[str(cell) for cell in one.tolist()] for one in (*ends, y)]
    source = content.source(len(tuples))
    data = dict(zip(("left", "right", "y"), cells, strict=True))
    table = answer_table(path, source, data, lambda row: f"{what} {row + 1}")
    items = None
    if X is not None and X.ndim == 2 and X.dtype.kind in "biuf":
        names = [f"x{k}" for k in range(X.shape[1])]
        features = pd.DataFrame(np.where(np.isfinite(X), X, np.nan), columns=names)
        items = Items(features, [str(k) for k in range(len(X))], None, source, [])
    used = Columns("left", "right", "y", None, file.named.id)
    return ImportedTable(table, used, [source, *sources], items, notes)


def _answers_beside(path: Path) -> Path:
    stems = f"{path.stem}_y", "y", path.stem.replace("pairs", "y")
    for place in (path.with_name(f"{stem}.npy") for stem in stems):
        if place != path and place.is_file():
            return place
    raise BadFile(
        f"{path} holds tuples but no answers: put them beside it as {stems[0]}.npy, or {SAVE}"
    )


def _read_store(file: PairsFile) -> ImportedTable:
    rows = store.stored_answers(file.path)
    if not rows:
        raise BadFile(f"{file.path} holds no answer yet: ask some pairs first")
    columns = dict(zip(store.COLUMNS, zip(*rows, strict=True), strict=True))
    source = file.content.source(len(rows))
    table = answer_table(file.path, source, columns, lambda row: f"answer {row + 1}")
    columns_of = Columns("left", "right", "answer", "annotator", file.named.id)
    return ImportedTable(table, columns_of, scale=store.stored_scale(file.path))


IMPORTERS: dict[str, Importer] = {}
"""Every importer by name. A file is shown to the last one first: plain tables take anything."""

FORMATS: KeysView[str] = IMPORTERS.keys()
"""Names of the formats in which answers about pairs are read, always those registered now."""


def register(importer: Importer) -> None:
    """Add a format; files are shown to it before all formats that are registered already."""
    if importer.name in IMPORTERS:
        raise ValueError(f"there is a format {importer.name!r} already: choose another name")
    IMPORTERS[importer.name] = importer


def _declare(name: str, read: Reads | None = None, recognises: Recognises | None = None) -> None:
    """Register a format of formats.toml, which is recognised and read as that says, or by code."""
    about = DECLARED[name]
    facts = {key: about[key] for key in ("reading", "described", "checked") if key in about}
    example = Example(**about["example"]) if "example" in about else None
    by_looks: Recognises = lambda file: _looks_declared(file, about)  # noqa: E731
    reads: Reads = read or (lambda file: _read_declared(file, name))
    register(Importer(name, about["title"], recognises or by_looks, reads, example, **facts))


def _is_crowd_kit(file: PairsFile) -> bool | Near:
    if file.named.left is not None or couples_of(file.column_names):
        return False
    return has_columns(file.column_names, *DECLARED["crowd-kit"]["columns"])


def _is_splink(file: PairsFile) -> bool | Near:
    named_otherwise = file.named.left not in (None, "unique_id_l")
    return not named_otherwise and has_columns(file.column_names, *DECLARED["splink"]["columns"])


_declare("table", lambda file: ImportedTable(file.table, file.named), lambda _: True)
_declare("crowd-kit", None, _is_crowd_kit)
_declare("mturk")
_declare("toloka")
_declare("zooniverse")
_declare("splink", _read_splink, _is_splink)
_declare("label-studio")
_declare("links", _read_links, _is_links)
_declare("prodigy")
_declare("labelbox")
_declare("scale")
_declare("dedupe", _read_dedupe, _is_dedupe)
_declare("constraints", _read_constraints, _is_constraints)
_declare("metric-learn", _read_metric_learn, lambda file: file.extension in ARRAYS)
_declare("ask", _read_store, lambda file: store.is_database(file.path))


def import_pairs(
    path: Path,
    columns: Columns,
    format: str | None = None,
    known: KnownItems | None = None,
    words: Mapping[str, str] | None = None,
) -> ImportedTable:
    """Read answers in the format named, else in the first one that recognises the file.

    ``words`` says what answers mean that are not known.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: {did_you_mean(format, FORMATS)}")
    file, near = PairsFile(path, columns, known, words or {}), dict[str, str]()
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
