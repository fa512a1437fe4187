"""Columns found by name and by what they hold, and ids of two files brought together.

Ids match exactly, then as "007" is 7, then by the names of files. Never by guesswork: an id that
could be two is none, or refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from noisypairs.app.files.cells import MISSING
from noisypairs.app.files.contents import BadFile, plural, some
from noisypairs.app.files.table import FileTable
from noisypairs.errors import did_you_mean
from noisypairs.pairs import answers
from noisypairs.pairs.columns import SPELLINGS, Asking, Role, by_plain_name, couples_of
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
    exact, notes = set(known), []
    found = {name: name for name in asked if name in exact}
    for form, how in _FORMS.items():
        unknown = [name for name in asked if name not in found]
        items, meant = (
            _by_form(names, form) for names in ((known, asked) if unknown else ((), ()))
        )
        taken, alike = set(found.values()), {}
        for name in unknown:
            twins, rivals = items.get(form(name), []), meant[form(name)]
            if form is loose and twins and len(twins) + len(rivals) > 2:
                raise BadFile(
                    f"{' and '.join(map(repr, rivals[:3]))} in {asked_in} could be "
                    f"{' or '.join(map(repr, twins[:3]))} of {known_in}: write ids alike in both "
                    "files"
                )
            if len(twins) == len(rivals) == 1 and twins[0] not in taken:
                alike[name] = twins[0]
        for first in list(alike.items())[:1]:
            such = f"such as {first[0]!r} to {first[1]!r}"
            notes.append(
                f"{plural(len(alike), 'id')} of {asked_in} matched to {known_in} {how}, {such}"
            )
        found |= alike
    if asked and not found:
        raise BadFile(
            f"none of the {plural(len(asked), 'id')} in {asked_in} is an item of {known_in}: "
            f"the first holds {some(asked)}, the second {some(known)}. {NAME_THEM}"
        )
    return found, notes


def _by_form(names: Iterable[str], form: Callable[[str], str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(form(name), []).append(name)
    return found


def last_part(name: str) -> str:
    """Return the name of a file without folder, ending and the prefix that an upload gives it.

    >>> last_part("/data/upload/3f2-SKU.jpg"), last_part("https://a.org/x/SKU.png?v=2")
    ('sku', 'sku')
    """
    plain = _QUERY.sub("", name.strip()) if "://" in name else name.strip()
    plain = _ENDING.sub("", re.split(r"[/\\]", plain.rstrip("/\\"))[-1])
    # Only a path or a file is given a prefix.
    return loose(plain if plain == name.strip() else _UPLOAD.sub("", plain))


#: What follows a path in an address; the ending of a file; what upload forms put before its name.
_QUERY = re.compile(r"[?#].*$")
_ENDING = re.compile(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{1,4}$")
_UPLOAD = re.compile(r"^[0-9a-f]{3,}-(?=.)")
_FORMS = {
    loose: "only without leading zeros, '.0', case and blanks",
    last_part: "by the last part of a path",
}
NAME_THEM = "Name the columns that hold the ids with --left, --right and --id"


def near_miss(name: str, known: Sequence[str]) -> str:
    """Return a "did you mean" for one id, without the list of all others; "" if none is near."""
    guess, question, _ = did_you_mean(name, known[:2000]).partition("? ")
    return f" ({guess}?)" if question else ""


#: Ids of a column of pairs that are looked up, at most.
MOST_ASKED = 2_000
#: What an id counts that matches by the last part of a path.
PATH = 0.99

DECIMAL = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")
NUMBER = re.compile(r"[+-]?[\d.,]+([eE][+-]?\d+)?")


@dataclass(frozen=True, eq=False)
class KnownItems:
    """A table of items and the column of its ids, where it was named."""

    table: FileTable
    id: str | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that may hold the ids: those without repeats that are no measurements."""
        return list(self._keys)

    @cached_property
    def _keys(self) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
        """For each such column, its cells as ids are compared: loosely, and as paths."""
        found = {}
        for name in (one for one in self.table.names if self.id in (None, one)):
            first = self.table.beginning(name)
            if len(set(first)) < len(first) or all(map(DECIMAL.fullmatch, first)):
                continue
            cells = self.table.text(name).tolist()
            if len(set(cells)) == len(cells):
                found[name] = frozenset(map(loose, cells)), frozenset(map(last_part, cells))
        return found

    def shares(self, cells: Sequence[str]) -> dict[str, float]:
        """Return, by column of the items, which share of the distinct cells are ids there.

        One that is an id only by the last part of a path counts a little less.
        """
        asked = list(dict.fromkeys(cell for cell in cells if cell.lower() not in MISSING))
        if len(asked) < 2:
            return {}
        forms = [(loose(cell), last_part(cell)) for cell in asked[:MOST_ASKED]]
        return {
            name: sum(1.0 if a in ids else PATH * (b in paths) for a, b in forms) / len(forms)
            for name, (ids, paths) in self._keys.items()
        }


class _Option(Asking):
    """How a command asks for a column: by its option, if there is one."""

    def __call__(self, role: str, name: str = "...") -> str:
        return "by calling it weight" if role == "weight" else super().__call__(role, name)


OPTION = _Option("--{role} {name}")

SIDES = (("left", "right"), ("first", "second"), ("1", "2"), ("a", "b"), ("l", "r"))
"""Words that tell two columns of a couple apart, as in image_left and image_right."""

ENOUGH = 0.5
"""Share of a column's values that must be ids of items, so that it may name items."""

MOST_WORDS = 40
"""Different answers in a column, at most, so that it may hold answers."""

Cells = Callable[[str], Sequence[str]]
"""The cells of a column, by its name, as text."""


@dataclass(frozen=True)
class Columns:
    """Names of the columns that play a role; None is guessed, and an annotator may be absent.

    left, right, same and annotator are columns of the pairs, id and group are of the items. A group
    is never guessed.
    """

    left: str | None = None
    right: str | None = None
    same: str | None = None
    annotator: str | None = None
    id: str | None = None
    group: str | None = None

    @property
    def of_pairs(self) -> dict[str, Role]:
        """The columns of the pairs by role, as `find_columns` takes them."""
        return {role: name for role, name in asdict(self).items() if role not in ("id", "group")}

    def __str__(self) -> str:
        named = {role: name for role, name in self.of_pairs.items() if name}
        return ", ".join(f"{role} = {name!r}" for role, name in named.items())


def find_ends(
    names: Sequence[str],
    cells: Cells,
    columns: Columns,
    path: Path,
    known: KnownItems | None = None,
) -> tuple[str, str]:
    """Return the two columns that name the items of a pair: those given, else found.

    >>> find_ends(["image1_url", "image2_url", "batch"], lambda name: [], Columns(), Path("a.csv"))
    ('image1_url', 'image2_url')
    """
    given = [name for name in (columns.left, columns.right) if name is not None]
    for name in given:
        if name not in names:
            raise BadFile(f"{path}: there is no column {name!r}; {did_you_mean(name, names)}")
    if len(given) == 1:
        missing = "right" if columns.left else "left"
        raise BadFile(
            f"{path}: only one of left and right was named: name {missing} too, {OPTION(missing)}"
        )
    if given:
        return given[0], given[1]
    if known is not None and (likely := _naming_items(names, cells, known)):
        return _two_of(likely, path)
    couples = couples_by_name(names)
    if couples and {"left", "right"} <= by_plain_name(names).keys():
        couples = couples[:1]
    # A couple of ids names the items; the other couples then describe them.
    with_id = [couple for couple in couples if re.search(r"(?i)(?<![a-z])id(?![a-z])", couple[0])]
    couples = with_id or couples or _alike(names, cells)
    if len(couples) != 1:
        reason = f"more than one ({some(couples)})" if couples else "none"
        raise BadFile(
            f"{path}: two columns must name the items of a pair, such as left and right, but "
            f"there is {reason} among {some(list(names), 12)}. Name them with --left and --right"
        )
    return couples[0]


def _naming_items(names: Sequence[str], cells: Cells, known: KnownItems) -> list[str]:
    """Return the columns that hold ids of one column of the items; none where fewer than two do."""
    shares = {name: known.shares(cells(name)) for name in names}
    best, most = list[str](), 0.0
    for column in known.columns:
        here = {name: share[column] for name, share in shares.items() if column in share}
        good = sorted((n for n in here if here[n] >= ENOUGH), key=lambda n: -here[n])
        if len(good) > 1 and here[good[0]] + here[good[1]] > most:
            most = here[good[0]] + here[good[1]]
            # A few ids by chance, such as 0 and 1, are not what the others are.
            best = [name for name in good if here[name] >= 0.9 * here[good[1]]]
    return [name for name in names if name in best]


def _two_of(likely: list[str], path: Path) -> tuple[str, str]:
    """Choose two of the columns that hold ids, by their names where there are more."""
    couples = couples_by_name(likely)
    if len(couples) == 1 or ("left", "right") in couples:
        return couples[0]
    others = {name for role in SPELLINGS for name in SPELLINGS[role]}
    plain = [name for name in likely if name.strip().lower() not in others]
    for two in (likely, plain):
        if len(two) == 2:
            return two[0], two[1]
    raise BadFile(
        f"{path}: columns {some(likely, 8)} all hold ids of items: say which two are compared with "
        "--left and --right"
    )


def couples_by_name(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return couples of columns by their names: known ones, else those that differ by a side."""
    if known := couples_of(names):
        return known
    by_name = by_plain_name(names)
    found = []
    for one, other in SIDES:
        kind = r"\d" if one.isdigit() else "[a-z]"
        mark = re.compile(rf"(?<!{kind}){one}(?!{kind})")
        for name in by_name:
            twins = {name[: m.start()] + other + name[m.end() :] for m in mark.finditer(name)}
            found += [(by_name[name], by_name[twin]) for twin in twins if twin in by_name]
    return list(dict.fromkeys(found))


def _alike(names: Sequence[str], cells: Cells) -> list[tuple[str, str]]:
    """Return couples of columns of names that hold the same values, mostly.

    Numbers and answers may agree by chance: only text counts, and more of it than answers have.
    """
    values = {}
    for name in names:
        distinct = {cell for cell in cells(name) if cell}
        words = [cell for cell in distinct if re.search(r"[^\W\d_]", cell)]
        if len(distinct) > 2 and len(words) == len(distinct):
            values[name] = distinct
    return [
        (one, other)
        for k, one in enumerate(values)
        for other in list(values)[k + 1 :]
        if len(values[one] & values[other]) >= ENOUGH * min(len(values[one]), len(values[other]))
    ]


def find_answers(
    names: Sequence[str], cells: Cells, words: Mapping[str, str]
) -> tuple[str | None, str]:
    """Return the column of answers, by name and by what it holds, and a note where it was guessed.

    None where neither tells: a message about names is then as good as any.
    """
    by_name = by_plain_name(names)
    if "same" in by_name:
        return by_name["same"], ""
    spelt = [by_name[name] for name in by_name if name in SPELLINGS["same"]]
    if len(spelt) == 1:
        return spelt[0], ""
    holding = [name for name in spelt or names if _holds_answers(cells(name), words)]
    if len(holding) > 1:  # 0 and 1 stand for many things
        holding = [n for n in holding if not set(cells(n)) <= {"", "0", "1"}] or holding
    if len(holding) != 1:
        return None, ""
    return holding[0], f"answers found in column {holding[0]!r} by what it holds"


def _holds_answers(cells: Sequence[str], words: Mapping[str, str]) -> bool:
    distinct = list(dict.fromkeys(cells))
    if len(distinct) > MOST_WORDS:
        return False
    try:
        read = answers.parse(distinct, unsure="drop", words=words)
    except ValueError:
        return False
    return set(read.mapping.values()) == {"same", "different"}
