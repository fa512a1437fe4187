"""Columns of a table of answers: which column holds what, by the names people give them.

`find_columns` chooses among names, so that a frame, a file and a table in an engine are read by the
same rules; `read_columns` takes the chosen columns from a dataframe.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import narwhals as nw
from numpy.typing import NDArray

from noisypairs.errors import did_you_mean

Backend = Literal["pandas", "polars", "pyarrow"]
Role = str | Literal[False] | None
"""A column by name, None to guess it, False to leave an optional one out."""

REQUIRED, OPTIONAL = ("left", "right", "same"), ("annotator", "weight")
ROLES = REQUIRED + OPTIONAL


def _couples(names: str) -> tuple[tuple[str, str], ...]:
    return tuple((a, b) for a, b in (couple.split() for couple in names.split(",")))


ENDS = _couples(
    """
    left right, left_id right_id, id_left id_right, left_item right_item, item_left item_right,
    item_a item_b, item1 item2, item_1 item_2, id1 id2, id_1 id_2, id_a id_b, unique_id_l
    unique_id_r, id_l id_r, source target, first second, a b, i j, x y
    """
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


VOTES = _couples(
    """
    n_same n_different, same_votes different_votes, votes_same votes_different, n_yes n_no,
    yes_votes no_votes, votes_yes votes_no, n_match n_distinct
    """
)
"""Names of two columns that count answers, same first."""

SCORES = ("score", "p_same", "same_score", "same_probability", "match_probability")
"""Names of a column with the probability of "same", looked for where no column has answers."""


class Column(NamedTuple):
    """One column of a table: its name there and its values."""

    name: str
    values: NDArray[Any]


def read_columns(frame: Any, named: Mapping[str, Role]) -> dict[str, Column]:
    """Take the columns that `find_columns` chooses from any dataframe narwhals knows.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"item_a": [0], "item_b": [1], "Answer": ["same"]})
    >>> read_columns(table, {})["same"]
    Column(name='Answer', values=array(['same'], dtype=object))
    """
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise TypeError(
            f"frame is a {type(frame).__name__}, expected a pandas or polars DataFrame or a "
            f"pyarrow Table; a lazy frame must be collected first"
        ) from error
    found = find_columns(table.columns, named)
    return {role: Column(name, table[name].to_numpy()) for role, name in found.items()}


def columns_as_written(frame: Any) -> dict[str, NDArray[Any]]:
    """Return the columns chosen, question and level, where they look as `Pairs.to_frame` writes."""
    table = nw.from_native(frame, eager_only=True)
    kinds = {"chosen": "b", "question": "iu", "level": "OUTiu"}
    found = {name: table[name].to_numpy() for name in kinds if name in table.columns}
    return {name: one for name, one in found.items() if one.dtype.kind in kinds[name]}


def columns_of_items(items: Any) -> dict[str, NDArray[Any]]:
    """Return id or position, group and label of a frame of items; nothing of a list of ids."""
    if not hasattr(items, "columns"):
        return {}
    table = nw.from_native(items, eager_only=True)
    key = next((name for name in ("id", "position") if name in table.columns), None)
    if key is None:
        raise ValueError(
            f"items is a table with columns {list(table.columns)}: expected a list of ids, or a "
            "table with a column called id"
        )
    table = table.sort(key) if key == "position" else table
    return {n: table[n].to_numpy() for n in (key, "group", "label") if n in table.columns}


def frame_of(columns: Mapping[str, NDArray[Any]], backend: Backend) -> Any:
    """Return columns as a data frame of the package that ``backend`` names.

    >>> import numpy as np
    >>> frame_of({"left": np.array(["p"])}, "pandas").columns.tolist()
    ['left']
    """
    if backend not in (known := get_args(Backend)):
        raise ValueError(f"backend={backend!r}: {did_you_mean(backend, known)}")
    values = {name: column.tolist() for name, column in columns.items()}
    return nw.to_native(nw.from_dict(values, backend=backend))


class Asking(NamedTuple):
    """How a message asks for a column: as an argument in Python, as an option of a command."""

    form: str
    absent: str = ""

    def __call__(self, role: str, name: str = "...") -> str:
        """Return what to write to name the column of a role."""
        return self.form.format(role=role, name=name)


#: In Python; a command has a form of its own.
ARGUMENT = Asking("{role}={name}", ", or {role}=False for none")


def find_columns(
    columns: Sequence[str], named: Mapping[str, Role], asking: Asking = ARGUMENT
) -> dict[str, str]:
    """Return the column of each role in `ROLES`, among the columns of a table.

    `named` gives for a role a column name, None (or nothing) to guess from `ENDS` and `SPELLINGS`,
    or False to leave an optional role out. The result lacks an optional role for which no column
    is found; the others are required. `asking` words the messages.

    >>> find_columns(["item_a", "item_b", "Answer"], {})
    {'left': 'item_a', 'right': 'item_b', 'same': 'Answer'}
    """
    chosen = {role: named.get(role) for role in ROLES}
    if chosen["left"] is None and chosen["right"] is None:
        chosen["left"], chosen["right"] = _guess_ends(columns, asking)
    found = {role: _column_name(role, given, columns, asking) for role, given in chosen.items()}
    return {role: name for role, name in found.items() if name is not None}


def by_plain_name(columns: Iterable[str]) -> dict[str, str]:
    """Return the columns by their names in small letters, without blanks around them."""
    return {str(name).strip().lower(): name for name in columns}


def couples_of(columns: Iterable[str]) -> list[tuple[str, str]]:
    """Return the couples of `ENDS` among the columns.

    >>> couples_of(["Left", "right", "x"])
    [('Left', 'right')]
    """
    by_name = by_plain_name(columns)
    return [(by_name[a], by_name[b]) for a, b in ENDS if a in by_name and b in by_name]


def _guess_ends(columns: Sequence[str], asking: Asking) -> tuple[str, str]:
    """Find the one couple of columns that names the two items."""
    couples = couples_of(columns)
    if len(couples) == 1 or (couples and {"left", "right"} <= by_plain_name(columns).keys()):
        return couples[0]
    reason = (
        f"more than one couple of columns could hold the two items of a pair: {couples}"
        if couples
        else f"no two columns look like the two items of a pair; the table has {list(columns)}"
    )
    raise ValueError(f"{reason}. Name them: {asking('left')}, {asking('right')}")


def _column_name(role: str, given: Role, columns: Sequence[str], asking: Asking) -> str | None:
    """Name the column that plays `role`; more than one candidate is refused, not guessed at."""
    optional = role in OPTIONAL
    if given is False and optional:
        return None
    if given is not None:
        if given not in columns:
            raise ValueError(
                f"{asking(role, repr(given))}: the table has no such column; "
                + did_you_mean(str(given), columns)
            )
        return str(given)
    if role not in SPELLINGS:
        raise ValueError(f"only one of left and right was named: name {role} too, {asking(role)}")
    by_name = by_plain_name(columns)
    matches = [name for spelling, name in by_name.items() if spelling in SPELLINGS[role]]
    if role in by_name:  # the role's own name is no guess: it wins over every other spelling
        return by_name[role]
    if len(matches) > 1:
        raise ValueError(
            f"columns {', '.join(map(repr, matches))} could each be {role!r}: name one, "
            + asking(role, repr(matches[0]))
            + (asking.absent.format(role=role) if optional else "")
        )
    if not matches and not optional:
        raise ValueError(
            f"no column looks like {role!r}; the table has {list(columns)}. Name it: "
            + asking(role)
        )
    return matches[0] if matches else None
