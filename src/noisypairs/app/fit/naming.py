"""Names for the kinds of a model in a file: kinds become classes, and `predict` gives classes."""

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
from noisypairs.app.files.file_table import FileTable
from noisypairs.app.files.frames import read_table
from noisypairs.app.model_archive import BadModelFile
from noisypairs.errors import collected_warnings, did_you_mean

#: What the two columns of a file of names may be called.
KIND_COLUMNS = ("kind", "kinds")
CLASS_COLUMNS = ("class", "name", "label", "classes")
#: How the accuracy is to be read once kinds have names.
BEFORE_NAMES = (
    "{how}. This is the accuracy of the kinds, before they had names: of classes it is no lower, "
    "if the names are right"
)


class Named(NamedTuple):
    """A model whose kinds have names, the facts to be written beside it, and notes."""

    pipeline: Pipeline
    facts: dict[str, Any]
    notes: list[str]


def name_file(model: Path, names: Path) -> Named:
    """Name the kinds of the model of a file by a table of kinds and classes.

    Kinds without a name stay classes of their own.
    """
    with collected_warnings() as notes:
        loaded = model_file.load(model)
    if loaded.edited:
        raise BadModelFile(model_file.EDITED.format(model))
    learner: Any = loaded.pipeline[-1]
    kind_class = getattr(learner, "kind_class_", None)
    if kind_class is None:
        raise ValueError(
            f"{model} has classes, not kinds: fit it again with --kinds auto, or name classes "
            "with --labels"
        )
    given = read_names(names, len(kind_class))
    with collected_warnings():  # kinds without a name are named below
        learner.name_kinds(given)
    missing = [str(kind) for kind in range(len(kind_class)) if kind not in given]
    if missing:
        notes.append(f"no name for kind {', '.join(missing)}: classes of their own")
    return Named(loaded.pipeline, _renamed(loaded.facts, learner), notes)


def read_names(path: Path, n_kinds: int) -> dict[int, str]:
    """Return {kind: class} from a table with the columns kind and class; empty cells are left out.

    A kind may be written as 3 or as "kind 3".
    """
    table = read_table(path)
    kinds = as_text(table.frame[_column(table, KIND_COLUMNS)])
    classes = as_text(table.frame[_column(table, CLASS_COLUMNS)])
    found: dict[int, str] = {}
    for row, (kind, name) in enumerate(zip(kinds, classes, strict=True)):
        if not name.strip():
            continue
        number = re.fullmatch(r"(?:kind\s*)?(\d{1,9})(?:\.0)?", kind.strip(), re.IGNORECASE)
        if number is None or int(number[1]) >= n_kinds:
            raise BadFile(
                f"{table.where(row)}: there is no kind {kind!r}: the kinds of this model are 0 to "
                f"{n_kinds - 1}, as the report numbers them"
            )
        if found.setdefault(int(number[1]), name.strip()) != name.strip():
            raise BadFile(
                f"{table.where(row)}: kind {number[1]} is {name!r} here and "
                f"{found[int(number[1])]!r} above: a kind has one name"
            )
    if not found:
        raise BadFile(f"{path} names no kind: give one row for each of the {n_kinds} kinds")
    return found


def _column(table: FileTable, names: tuple[str, ...]) -> str:
    columns = {str(name).strip().lower(): str(name) for name in table.frame.columns}
    for name in names:
        if name in columns:
            return columns[name]
    hint = did_you_mean(names[0], list(columns.values()))
    raise BadFile(
        f"{table.path} has no column {names[0]!r}: {hint}. A file of names has the columns kind "
        "and class"
    )


def _renamed(facts: Mapping[str, Any], learner: Any) -> dict[str, Any]:
    """Return the facts with the names, and the classes as the kinds make them up."""
    names: Mapping[int, Any] = learner.kind_names_
    kinds = [one | {"name": names.get(one["number"])} for one in facts["kinds"]]
    sizes = np.bincount(learner.kind_class_, weights=[one["n_items"] for one in kinds])
    shares = class_prior(learner.prior_, len(learner.classes_))
    rows = zip(learner.classes_, shares, sizes, strict=True)
    how = str(facts["accuracy_how"]).partition(". This is the accuracy of the kinds")[0]
    return dict(facts) | {
        "kinds": kinds,
        "classes": [
            {"name": str(name), "share": float(share), "n_items": int(size)}
            for name, share, size in rows
        ],
        "names_known": len(names) == len(kinds),
        "prior": None,
        "majority_share": float(shares.max()),
        "accuracy_how": BEFORE_NAMES.format(how=how),
    }
