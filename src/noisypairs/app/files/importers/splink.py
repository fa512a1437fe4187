"""splink: labels with unique_id_l, unique_id_r, clerical_match_score, maybe source_dataset.

Where records come from several data sets their ids are written dataset-__-id, as splink does.
"""

from __future__ import annotations

from dataclasses import replace

from noisypairs.app.files.cells import as_text
from noisypairs.app.files.contents import BadFile, some
from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    Near,
    PairsFile,
    has_columns,
)

ENDS = ("unique_id_l", "unique_id_r")


def _recognises(file: PairsFile) -> bool | Near:
    return file.named.left in (None, ENDS[0]) and has_columns(file.column_names, *ENDS)


def _read(file: PairsFile) -> ImportedTable:
    columns, table = file.named, file.table
    frame, notes = table.frame.copy(), []
    if any(name not in frame for name in ENDS):
        raise BadFile(f"{table.path}: splink labels need the columns {some(ENDS)}")
    sets = [f"source_dataset_{side}" for side in "lr"]
    if all(name in frame for name in sets):
        sources = [as_text(frame[name]) for name in sets]
        if len(set(sources[0]) | set(sources[1])) > 1:
            for end, source in zip(ENDS, sources, strict=True):
                frame[end] = source + "-__-" + as_text(frame[end])
            notes.append(
                f"{table.path.name}: records of several data sets, so ids are written like "
                f"{frame[ENDS[0]].iloc[0]!r}; the items need a column of such ids"
            )
    scored = "clerical_match_score" if "clerical_match_score" in frame else None
    used = replace(columns, left=ENDS[0], right=ENDS[1], same=columns.same or scored)
    return ImportedTable(replace(table, frame=frame), used, notes=notes)


SPLINK = Importer(
    "splink",
    "splink's table of labels",
    _recognises,
    _read,
    Example(
        "labels.csv",
        "unique_id_l,source_dataset_l,unique_id_r,source_dataset_r,clerical_match_score\n"
        "p1,people,p2,people,1.0\np2,people,p3,people,0.0\np1,people,p3,people,0.1\n"
        "p3,people,p4,people,0.9\n",
    ),
    "Scores between 0 and 1 are answers with weights. Ids of records of several data sets are "
    "written dataset-__-id.",
    "https://moj-analytical-services.github.io/splink/demos/examples/duckdb/pairwise_labels.html",
)
