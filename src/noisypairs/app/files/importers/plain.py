"""A plain table: one answer per row, with columns such as left, right and same."""

from __future__ import annotations

from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    PairsFile,
)


def _recognises(file: PairsFile) -> bool:  # noqa: ARG001 -- the last resort for any file
    return True


def _read(file: PairsFile) -> ImportedTable:
    return ImportedTable(file.table, file.named)


PLAIN = Importer(
    "table",
    "a table with one answer per row: CSV, TSV, Parquet, JSON lines, Excel",
    _recognises,
    _read,
    Example(
        "pairs.csv",
        "left,right,same,worker\np1,p2,yes,ann\np2,p3,no,ann\np1,p3,no,bob\np1,p2,TRUE,bob\n",
    ),
    "Two columns hold ids of items, which the file of items tells; one holds answers, votes "
    "(n_same, n_different) or scores from 0 to 1; one may name the annotator and one the weight.",
)
