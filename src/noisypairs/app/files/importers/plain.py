"""A plain table: one answer per row, with columns such as left, right and same."""

from __future__ import annotations

from noisypairs.app.files.importers.importer import ImportedTable, Importer, PairsFile


def _recognises(file: PairsFile) -> bool:  # noqa: ARG001 -- the last resort for any file
    return True


def _read(file: PairsFile) -> ImportedTable:
    return ImportedTable(file.table, file.named)


PLAIN = Importer("table", "a table with one answer per row", _recognises, _read)
