"""Answers as other tools write them: one `Importer` per format, found by name or by its looks.

To add a format, write a module with one `Importer` and put it into `IMPORTERS`; a program that
uses the package calls `register`.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from noisypairs.app.files.columns import Columns
from noisypairs.app.files.contents import BadFile
from noisypairs.app.files.importers.ask import ASK
from noisypairs.app.files.importers.constraints import CONSTRAINTS
from noisypairs.app.files.importers.crowd_kit import CROWD_KIT
from noisypairs.app.files.importers.dedupe import DEDUPE
from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    Near,
    PairsFile,
    answer_table,
)
from noisypairs.app.files.importers.label_studio import LABEL_STUDIO
from noisypairs.app.files.importers.labelbox import LABELBOX
from noisypairs.app.files.importers.link_lists import LINK_LISTS
from noisypairs.app.files.importers.metric_learn import METRIC_LEARN
from noisypairs.app.files.importers.mturk import MTURK
from noisypairs.app.files.importers.plain import PLAIN
from noisypairs.app.files.importers.prodigy import PRODIGY
from noisypairs.app.files.importers.scale import SCALE
from noisypairs.app.files.importers.splink import SPLINK
from noisypairs.app.files.importers.toloka import TOLOKA
from noisypairs.app.files.importers.zooniverse import ZOONIVERSE
from noisypairs.app.files.known import KnownItems
from noisypairs.errors import did_you_mean

__all__ = [
    "FORMATS",
    "IMPORTERS",
    "Example",
    "ImportedTable",
    "Importer",
    "Near",
    "PairsFile",
    "answer_table",
    "import_pairs",
    "naming_near",
    "register",
]

IMPORTERS: dict[str, Importer] = {}
"""Every importer by name. A file is shown to the last one first: `PLAIN` takes anything."""

FORMATS: KeysView[str] = IMPORTERS.keys()
"""Names of the formats in which answers about pairs are read, always those registered now."""


def register(importer: Importer) -> None:
    """Add a format; files are shown to it before all formats that are registered already."""
    if importer.name in IMPORTERS:
        raise ValueError(f"there is a format {importer.name!r} already: choose another name")
    IMPORTERS[importer.name] = importer


for _importer in (
    PLAIN,
    CROWD_KIT,
    MTURK,
    TOLOKA,
    ZOONIVERSE,
    SPLINK,
    LABEL_STUDIO,
    LINK_LISTS,
    PRODIGY,
    LABELBOX,
    SCALE,
    DEDUPE,
    CONSTRAINTS,
    METRIC_LEARN,
    ASK,
):
    register(_importer)


def import_pairs(
    path: Path, columns: Columns, format: str | None = None, known: KnownItems | None = None
) -> ImportedTable:
    """Read answers in the format named, else in the first one that recognises the file."""
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: {did_you_mean(format, FORMATS)}")
    file = PairsFile(path, columns, known)
    if format is not None:
        return _named(IMPORTERS[format], file, {})
    near: dict[str, str] = {}
    with naming_near(near):
        for importer in reversed(IMPORTERS.values()):
            found = importer.recognises(file)
            if found:
                return _named(importer, file, near if importer is PLAIN else {})
            if isinstance(found, Near):
                near[importer.name] = str(found)
    raise AssertionError("a plain table takes any file")


def _named(importer: Importer, file: PairsFile, near: Mapping[str, str]) -> ImportedTable:
    found = importer.read(file)
    sources = found.sources or [found.table.source]
    return replace(found, sources=sources, format=importer.name, near=near)


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
