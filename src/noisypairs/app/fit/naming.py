"""Names for the groups of a model in a file, so that `predict` gives classes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from noisypairs.algebra import class_prior
from noisypairs.app import model_file
from noisypairs.app.files import BadFile
from noisypairs.app.files.cells import as_text
from noisypairs.app.files.table import FileTable, read_table
from noisypairs.app.model_archive import BadModelFile
from noisypairs.assess.words import class_title
from noisypairs.classifier import JointPairClassifier
from noisypairs.errors import collected_warnings, did_you_mean

#: What the two columns of a file of names may be called; a kind is a group counted from 0.
GROUP_COLUMNS = ("group", "groups", "kind", "kinds")
CLASS_COLUMNS = ("class", "name", "label", "classes")
#: How the accuracy is to be read once groups have names.
BEFORE_NAMES = (
    "{how}. This is the accuracy of the groups, before they had names: of classes it is no lower, "
    "if the names are right"
)


class Named(NamedTuple):
    """A model whose groups have names, the facts to be written beside it, and notes."""

    pipeline: Pipeline
    facts: dict[str, Any]
    notes: list[str]


def name_file(model: Path, names: Path) -> Named:
    """Name the groups of the model of a file by a table of groups and classes.

    Several groups may have one name; those without a name stay classes of their own.
    """
    with collected_warnings() as notes:
        loaded = model_file.load(model)
    if loaded.edited:
        raise BadModelFile(model_file.EDITED.format(model))
    learner: Any = loaded.pipeline[-1]
    groups = _groups(loaded.facts)
    given = read_names(names, len(groups))
    if isinstance(learner, JointPairClassifier):
        with collected_warnings():  # groups without a name are named below
            learner.name_kinds(given)
    elif len(set(given.values())) < len(given):
        raise ValueError(
            f"{names} gives two groups one name, and this model has only {len(groups)}: give each "
            "a name of its own"
        )
    else:
        titles = [given.get(k, class_title(k)) for k in range(len(groups))]
        learner.classes_ = np.array(titles)
    missing = [str(k + 1) for k in range(len(groups)) if k not in given]
    if missing:
        notes.append(f"no name for group {', '.join(missing)}: classes of their own")
    return Named(loaded.pipeline, _renamed(loaded.facts, learner, groups, given), notes)


def _groups(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return share and size of every group, as they were before any had a name."""
    return [dict(one) for one in facts.get("groups") or facts["classes"]]


def read_names(path: Path, n_groups: int) -> dict[int, str]:
    """Return {group from 0: class} from a table with the columns group and class.

    A group may be written as 3 or as "group 3". Rows with an empty class are left out. In a column
    called kind groups are counted from 0.
    """
    table = read_table(path)
    column = _column(table, GROUP_COLUMNS)
    first = 0 if column.strip().lower().startswith("kind") else 1
    groups = as_text(table.frame[column])
    classes = as_text(table.frame[_column(table, CLASS_COLUMNS)])
    found: dict[int, str] = {}
    for row, (group, name) in enumerate(zip(groups, classes, strict=True)):
        if not name.strip():
            continue
        number = re.fullmatch(
            r"(?:(?:kind|group)\s*)?(\d{1,9})(?:\.0)?", group.strip(), re.IGNORECASE
        )
        k = -1 if number is None else int(number[1]) - first
        if not 0 <= k < n_groups:
            raise BadFile(
                f"{table.where(row)}: there is no group {group!r}: the groups of this model are "
                f"{first} to {n_groups - 1 + first}, as the report numbers them"
            )
        if found.setdefault(k, name.strip()) != name.strip():
            raise BadFile(
                f"{table.where(row)}: group {group} is {name!r} here and {found[k]!r} above: a "
                "group has one name"
            )
    if not found:
        raise BadFile(f"{path} names no group: give one row for each of the {n_groups} groups")
    return found


def _column(table: FileTable, names: tuple[str, ...]) -> str:
    columns = {str(name).strip().lower(): str(name) for name in table.frame.columns}
    for name in names:
        if name in columns:
            return columns[name]
    hint = did_you_mean(names[0], list(columns.values()))
    raise BadFile(
        f"{table.path} has no column {names[0]!r}: {hint}. A file of names has the columns group "
        "and class"
    )


def _renamed(
    facts: Mapping[str, Any],
    learner: Any,
    groups: list[dict[str, Any]],
    given: Mapping[int, str],
) -> dict[str, Any]:
    """Return the facts with the names, and the classes as the groups make them up."""
    class_of = getattr(learner, "kind_class_", np.arange(len(groups)))
    titles = [class_title(name) for name in learner.classes_]
    sizes = np.bincount(class_of, weights=[one["n_items"] for one in groups]).astype(int)
    shares = class_prior(learner.prior_, len(titles))
    rows = zip(titles, shares, sizes, strict=True)
    how = str(facts["accuracy_how"]).partition(". This is the accuracy of the ")[0]
    return {
        **facts,
        "groups": [one | {"name": given.get(k)} for k, one in enumerate(groups)],
        "classes": [
            {"name": name, "share": float(share), "n_items": int(size)}
            for name, share, size in rows
        ],
        "names_known": len(given) == len(groups),
        "prior": None,
        "majority_share": float(shares.max()),
        "accuracy_how": BEFORE_NAMES.format(how=how),
    }
