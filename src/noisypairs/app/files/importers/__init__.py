"""Answers as other tools write them: one `Importer` per format, found by name or by its looks.

To add a format, write a module with one `Importer` and put it into `IMPORTERS`; a program that
uses the package calls `register`.
"""

from __future__ import annotations

from collections.abc import KeysView
from dataclasses import replace
from pathlib import Path

from noisypairs.app.files.answers import Columns
from noisypairs.app.files.importers.ask import ASK
from noisypairs.app.files.importers.crowd_kit import CROWD_KIT
from noisypairs.app.files.importers.dedupe import DEDUPE
from noisypairs.app.files.importers.importer import ImportedTable, Importer, PairsFile, answer_table
from noisypairs.app.files.importers.label_studio import LABEL_STUDIO
from noisypairs.app.files.importers.link_lists import LINK_LISTS
from noisypairs.app.files.importers.metric_learn import METRIC_LEARN
from noisypairs.app.files.importers.mturk import MTURK
from noisypairs.app.files.importers.plain import PLAIN
from noisypairs.app.files.importers.splink import SPLINK
from noisypairs.errors import did_you_mean

__all__ = [
    "FORMATS",
    "IMPORTERS",
    "ImportedTable",
    "Importer",
    "PairsFile",
    "answer_table",
    "import_pairs",
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
    SPLINK,
    LINK_LISTS,
    LABEL_STUDIO,
    DEDUPE,
    METRIC_LEARN,
    ASK,
):
    register(_importer)


def import_pairs(path: Path, columns: Columns, format: str | None = None) -> ImportedTable:
    """Read answers in the format named, else in the first one that recognises the file."""
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: {did_you_mean(format, FORMATS)}")
    file = PairsFile(path, columns)
    if format is not None:
        importer = IMPORTERS[format]
    else:
        importer = next(one for one in reversed(IMPORTERS.values()) if one.recognises(file))
    found = importer.read(file)
    sources = found.sources or [found.table.source]
    return replace(found, sources=sources, format=importer.name)
