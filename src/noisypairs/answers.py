"""What people answered, read from words, numbers and tables; whatever is not plain is refused.

Three readers, each a function of flat arrays: `parse` turns answers into booleans, `read_columns`
finds the columns of a table, `number_items` turns item ids into positions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from noisypairs.errors import did_you_mean

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
Treatment = Literal["raise", "drop"]

CODINGS: tuple[tuple[str, str], ...] = (
    ("true", "false"),
    ("t", "f"),
    ("same", "different"),
    ("s", "d"),
    ("yes", "no"),
    ("y", "n"),
    ("match", "distinct"),
    ("match", "nonmatch"),
    ("similar", "dissimilar"),
    ("mustlink", "cannotlink"),
    ("1", "0"),
    ("1", "-1"),
)
"""(same, different) as `_token` writes them. All answers of one column must fit one row."""

UNSURE = frozenset(
    {"", "unsure", "notsure", "unknown", "dontknow", "skip", "skipped", "?", "missing"}
    | {"na", "n/a", "<na>", "nan", "nat", "none", "null"}
)
"""Words, and what missing values look like as text, that stand for "no answer"."""

ENDS: tuple[tuple[str, str], ...] = (
    ("left", "right"),
    ("left_id", "right_id"),
    ("id_left", "id_right"),
    ("left_item", "right_item"),
    ("item_left", "item_right"),
    ("item_a", "item_b"),
    ("item1", "item2"),
    ("item_1", "item_2"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("id_a", "id_b"),
    ("unique_id_l", "unique_id_r"),
    ("id_l", "id_r"),
    ("source", "target"),
    ("first", "second"),
    ("a", "b"),
    ("i", "j"),
    ("x", "y"),
)
"""Names of the two columns of items, recognised (whatever the case) only as a couple."""

SPELLINGS: Mapping[str, frozenset[str]] = {
    "same": frozenset(
        {"same", "is_same", "same_class", "answer", "label", "response", "q"}
        | {"match", "is_match", "similar", "verdict"}
    ),
    "annotator": frozenset(
        {"annotator", "annotator_id", "worker", "worker_id", "user", "user_id"}
        | {"rater", "rater_id", "labeler", "labeller"}
    ),
    "weight": frozenset({"weight", "weights", "count", "n_votes"}),
}
"""Names of the other columns, recognised whatever the case when the caller names none."""


class Parsed(NamedTuple):
    """Answers as booleans, with the reading that was used.

    `same` holds one boolean per *usable* row, in order; `mapping` says how each value was read;
    `usable` has one boolean per row given.
    """

    same: BoolArray
    mapping: dict[str, str]
    usable: BoolArray


class Column(NamedTuple):
    """One column of a table: its name there and its values."""

    name: str
    values: NDArray[Any]


def column(values: ArrayLike, name: str) -> NDArray[Any]:
    """Return `values` as an array of one dimension, shape (n,), or say what is wrong with them.

    >>> column((1, 2), "left")
    array([1, 2])
    """
    if isinstance(values, np.ma.MaskedArray):
        missing = np.array(None, dtype=object)
        values = np.where(np.ma.getmaskarray(values), missing, values.data)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} holds entries of different lengths: give one per pair") from error
    if array.ndim != 1:
        raise ValueError(
            f"{name} has shape {array.shape}, expected one dimension with one entry per pair; "
            f"use .ravel() if it is a single column"
        )
    return array


def check_treatment(value: str, name: str) -> None:
    """Refuse any treatment of unusable rows except "raise" and "drop"."""
    if value not in ("raise", "drop"):
        raise ValueError(f"{name}={value!r} is not a treatment: give 'raise' or 'drop'")


def factorise(values: NDArray[Any]) -> tuple[list[Any], IntArray]:
    """Return the distinct values in order of first appearance, and each entry's index in them.

    A dictionary does it, not a sort, so that values of different types may stand side by side.

    >>> factorise(np.array(["b", "a", "b"]))
    (['b', 'a'], array([0, 1, 0]))
    """
    entries = values.tolist()
    code = {value: index for index, value in enumerate(dict.fromkeys(entries))}
    return list(code), np.fromiter(map(code.__getitem__, entries), np.int64, len(entries))


def parse(values: ArrayLike, *, unsure: Treatment = "raise", name: str = "same") -> Parsed:
    """Read answers written in any one of the usual codings as booleans, True for "same".

    Known are bool, 0/1, ±1 and the words of `CODINGS`, whatever the case and blanks; all values
    must fit one coding. Missing values and words like "unsure" raise, or, with `unsure="drop"`,
    are marked in `usable`. Anything that could be read two ways (1/2) is refused.

    >>> parse([" Yes", "no", "YES"])
    Parsed(same=array([ True, False,  True]), mapping={' Yes': 'same', 'no': 'different',
    'YES': 'same'}, usable=array([ True,  True,  True]))
    >>> parse([1, None, -1], unsure="drop").usable
    array([ True, False,  True])
    """
    check_treatment(unsure, "unsure")
    texts, codes = _texts(column(values, name))
    tokens = [_token(text) for text in texts]
    usable_text = np.array([token not in UNSURE for token in tokens], dtype=np.bool_)
    usable = usable_text[codes]
    if unsure == "raise" and not usable.all():
        raise ValueError(
            f"{name} has {np.count_nonzero(~usable)} of {usable.size} answers missing or unsure: "
            f"{_first_places(texts, codes, np.flatnonzero(~usable_text))}. Leave these pairs out "
            f"(Pairs.from_frame(..., unsure='drop') does) or decide them"
        )
    _check_coding(tokens, texts, codes, usable_text, name)
    says_same = {same for same, _ in CODINGS}
    is_same = np.array([token in says_same for token in tokens], dtype=np.bool_)
    mapping = {
        text: "same" if is_same[k] else "different"
        for k, text in enumerate(texts)
        if usable_text[k]
    }
    return Parsed(is_same[codes[usable]], mapping, usable)


def _texts(values: NDArray[Any]) -> tuple[list[str], IntArray]:
    """Distinct values as text, and codes; numbers go through a sort, which is faster."""
    if values.dtype.kind in "biuf":
        distinct, codes = np.unique(values, return_inverse=True)
        return [str(value) for value in distinct.tolist()], codes.astype(np.int64)
    if values.dtype.kind == "S":
        values = values.astype(np.str_)
    texts, codes = factorise(np.fromiter(map(str, values.tolist()), object, values.size))
    return texts, codes


def _token(text: str) -> str:
    """Write an answer in the one way the tables above know: '+1.0' as '1', 'Must-Link' joined."""
    text = text.strip().casefold().replace("−", "-")
    try:
        number = float(text)
    except ValueError:
        return re.sub(r"[\s_'’-]+", "", text)
    return str(int(number)) if number.is_integer() else text


def _first_places(texts: Sequence[str], codes: IntArray, which: Iterable[int]) -> str:
    """Name up to four of the values and the first row that holds each, counted from 0."""
    chosen = list(which)
    places = [f"{texts[k]!r} at row {int(np.argmax(codes == k))}" for k in chosen[:4]]
    return ", ".join(places) + (", …" if len(chosen) > 4 else "")


def _check_coding(
    tokens: list[str], texts: list[str], codes: IntArray, usable: BoolArray, name: str
) -> None:
    """Raise unless one row of `CODINGS` holds all usable tokens; the message says why not."""
    given = {token for token, use in zip(tokens, usable, strict=True) if use}
    if any(given <= set(coding) for coding in CODINGS):
        return
    known = {token for coding in CODINGS for token in coding}
    strange = [k for k, token in enumerate(tokens) if usable[k] and token not in known]
    if given == {"1", "2"} or given == {"2"}:
        raise ValueError(
            f"{name} is coded 1/2, which does not say whether 1 or 2 means same: "
            f"recode it to 1 (same) and 0 (different)"
        )
    if strange:
        scores = all(re.fullmatch(r"0?\.\d+(e-\d+)?|\de-\d+|0|1", token) for token in given)
        advice = (
            "these look like scores between 0 and 1: use Pairs.from_scores"
            if scores
            else "expected bool, 1/0, 1/-1 or one of "
            + ", ".join("/".join(coding) for coding in CODINGS[:-2])
        )
        raise ValueError(
            f"{name} has values that are no answer: {_first_places(texts, codes, strange)}; "
            + advice
        )
    raise ValueError(
        f"{name} mixes codings: {_first_places(texts, codes, np.flatnonzero(usable))}; "
        f"write all answers in one, for example 1/0"
    )


def read_columns(frame: Any, named: Mapping[str, str | Literal[False] | None]) -> dict[str, Column]:
    """Take the columns of a pairs table from any dataframe narwhals knows.

    `named` gives for each role ("left", "right", "same", "annotator", "weight") a column name,
    None to guess from `ENDS` and `SPELLINGS`, or False to leave an optional role out. The result
    lacks an optional role for which no column is found; the first three are required.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"item_a": [0], "item_b": [1], "Answer": ["same"]})
    >>> [c.name for c in read_columns(table, dict(left=None, right=None, same=None)).values()]
    ['item_a', 'item_b', 'Answer']
    """
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TypeError(
            f"frame is a {type(frame).__name__}, expected a pandas or polars DataFrame or a "
            f"pyarrow Table; a lazy frame must be collected first"
        ) from error
    chosen = dict(named)
    if chosen["left"] is None and chosen["right"] is None:
        chosen["left"], chosen["right"] = _guess_ends(table.columns)
    found: dict[str, Column] = {}
    for role, given in chosen.items():
        name = _column_name(role, given, table.columns)
        if name is not None:
            found[role] = Column(name, table[name].to_numpy())
    return found


def _guess_ends(columns: Sequence[str]) -> tuple[str, str]:
    """Find the one couple of columns that names the two items."""
    by_name = {str(name).strip().lower(): name for name in columns}
    couples = [(by_name[a], by_name[b]) for a, b in ENDS if a in by_name and b in by_name]
    if len(couples) == 1 or (couples and {"left", "right"} <= by_name.keys()):
        return couples[0]
    reason = (
        f"more than one couple of columns could hold the two items of a pair: {couples}"
        if couples
        else f"no two columns look like the two items of a pair; the frame has {list(columns)}"
    )
    raise ValueError(f"{reason}. Name them: left=..., right=...")


def _column_name(
    role: str, given: str | Literal[False] | None, columns: Sequence[str]
) -> str | None:
    """Name the column that plays `role`; more than one candidate is refused, not guessed at."""
    optional = role in ("annotator", "weight")
    if given is False and optional:
        return None
    if given is not None:
        if given not in columns:
            raise ValueError(
                f"{role}={given!r} is not a column of the frame; "
                + did_you_mean(str(given), columns)
            )
        return str(given)
    if role not in SPELLINGS:
        raise ValueError(f"only one of left and right was named: name {role} too, {role}=...")
    by_name = {str(name).strip().lower(): name for name in columns}
    matches = [name for spelling, name in by_name.items() if spelling in SPELLINGS[role]]
    if role in by_name:  # the role's own name is no guess: it wins over every other spelling
        return by_name[role]
    if len(matches) > 1:
        raise ValueError(
            f"columns {', '.join(map(repr, matches))} could each be {role!r}: name one, "
            f"{role}={matches[0]!r}" + (f", or {role}=False for none" if optional else "")
        )
    if not matches and not optional:
        raise ValueError(
            f"no column looks like {role!r}; the frame has {list(columns)}. Name it: {role}=..."
        )
    return matches[0] if matches else None


def clean_ids(ids: Sequence[Any], name: str) -> list[Any]:
    """Strip blanks around text ids; refuse missing ones.

    >>> clean_ids([" a", 7], "items")
    ['a', 7]
    """
    cleaned = [entry.strip() if isinstance(entry, str) else entry for entry in ids]
    missing = [k for k, entry in enumerate(cleaned) if str(entry) in ("", "None", "nan", "<NA>")]
    if missing:
        raise ValueError(f"{name} has missing ids (for example {ids[missing[0]]!r}): fill them in")
    return cleaned


def id_array(ids: Sequence[Any]) -> NDArray[Any]:
    """Return ids as an array, of objects where their types differ (numpy would make all text)."""
    return np.array(ids, dtype=None if len({type(entry) for entry in ids}) == 1 else object)


def number_items(
    left: Column, right: Column, items: ArrayLike | None, unknown: Treatment
) -> tuple[IntArray, IntArray, NDArray[Any] | None]:
    """Return both ends of each pair as positions, and the ids behind the positions.

    With `items` (the ids in table order) an id's position is its index there, −1 for a stranger if
    `unknown="drop"`; ids match exactly, blanks around text aside. Without, integers ≥ 0 are taken
    as positions (and no ids returned); other ids are numbered as they first appear.

    >>> ends = Column("a", np.array(["x", "y"])), Column("b", np.array(["z ", "x"]))
    >>> number_items(*ends, items=None, unknown="raise")
    (array([0, 2]), array([1, 0]), array(['x', 'z', 'y'], dtype='<U1'))
    """
    check_treatment(unknown, "unknown")
    if items is None:
        integers = left.values.dtype.kind in "iu" and right.values.dtype.kind in "iu"
        if integers and min(left.values.min(initial=0), right.values.min(initial=0)) >= 0:
            return left.values.astype(np.int64), right.values.astype(np.int64), None
        both = np.empty(2 * left.values.size, dtype=object)
        both[0::2], both[1::2] = left.values, right.values
        known = list(dict.fromkeys(clean_ids(factorise(both)[0], f"{left.name} or {right.name}")))
    else:
        given = list(items) if isinstance(items, (list, tuple)) else np.asarray(items).tolist()
        known = clean_ids(given, "items")
        (twice, times), *_ = Counter(known).most_common(1) or [(None, 0)]
        if times > 1:
            raise ValueError(f"items names {twice!r} {times} times: give each row its own id")
    position = {item: index for index, item in enumerate(known)}
    first = _locate(left, position, unknown)
    return first, _locate(right, position, unknown), id_array(known)


def _locate(ids: Column, position: Mapping[Any, int], unknown: Treatment) -> IntArray:
    """Return the position of each id, −1 or an error where there is none."""
    distinct, codes = factorise(ids.values)
    cleaned = clean_ids(distinct, f"column {ids.name!r}")
    where = np.array([position.get(entry, -1) for entry in cleaned], dtype=np.int64)
    strangers = [entry for entry, at in zip(cleaned, where, strict=True) if at < 0]
    if strangers and unknown == "raise":
        raise ValueError(
            f"column {ids.name!r} has {len(strangers)} ids that are not among the {len(position)} "
            f"items: {', '.join(map(repr, strangers[:4]))}{', …' if len(strangers) > 4 else ''}"
            f"{_near_miss(strangers, position)}. Correct them, or drop their pairs: unknown='drop'"
        )
    return where[codes]


def _near_miss(strangers: Sequence[Any], items: Iterable[Any]) -> str:
    """Point out the first stranger that differs from an item only as "007" does from 7."""

    def loose(entry: Any) -> str:
        return _token(str(entry)).lstrip("0") or "0"

    by_loose = {loose(item): item for item in items}
    for stranger in strangers:
        if loose(stranger) in by_loose:
            twin = by_loose[loose(stranger)]
            return (
                f"; {stranger!r} would be item {twin!r} apart from type, case or leading zeros: "
                f"write ids alike in both tables"
            )
    return ""
