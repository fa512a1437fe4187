"""Toloka: a TSV of results with INPUT:, OUTPUT:, GOLDEN: and ASSIGNMENT: columns."""

from __future__ import annotations

from dataclasses import replace

from noisypairs.app.files.cells import as_text
from noisypairs.app.files.columns import Columns, find_ends
from noisypairs.app.files.contents import plural
from noisypairs.app.files.importers.importer import (
    Example,
    ImportedTable,
    Importer,
    Near,
    PairsFile,
    has_columns,
)
from noisypairs.app.files.importers.tasks import find_question, without_rejected

INPUT, OUTPUT, GOLDEN, WORKER = "INPUT:", "OUTPUT:", "GOLDEN:", "ASSIGNMENT:worker_id"
#: Assignments that nobody answered, or that were not accepted.
UNUSED = ("REJECTED", "SKIPPED", "EXPIRED", "ACTIVE")


def _recognises(file: PairsFile) -> bool | Near:
    return has_columns(file.column_names, "INPUT:*", "OUTPUT:*")


def _read(file: PairsFile) -> ImportedTable:
    columns, table, notes = file.named, file.table, list[str]()
    if "ASSIGNMENT:status" in table.frame:
        unused = as_text(table.frame["ASSIGNMENT:status"]).str.upper().isin(UNUSED).to_numpy()
        table, notes = without_rejected(table, unused)
    frame = table.frame
    inputs, outputs, golden = (
        {str(name)[len(mark) :]: name for name in frame.columns if str(name).startswith(mark)}
        for mark in (INPUT, OUTPUT, GOLDEN)
    )
    asked = {role: _bare(getattr(columns, role)) for role in ("left", "right")}
    left, right = find_ends(
        list(inputs),
        lambda name: as_text(frame[inputs[name]]).tolist(),
        replace(columns, **asked),
        table.path,
        file.known,
    )
    said = {name: as_text(frame[column]).tolist() for name, column in outputs.items()}
    question = find_question(said, _bare(columns.same), table.path, {})
    if question in golden and (known := as_text(frame[golden[question]]).ne("")).any():
        many = plural(int(known.sum()), "answer")
        notes.append(
            f"{table.path.name}: {many} to control tasks kept as answers; the known ones "
            f"({golden[question]}) are not used"
        )
    worker = columns.annotator or (WORKER if WORKER in frame else None)
    roles = Columns(inputs[left], inputs[right], outputs[question], worker, columns.id)
    used = frame[[name for name in frame.columns if name in roles.of_pairs.values()]]
    return ImportedTable(replace(table, frame=used), roles, notes=notes)


def _bare(name: str | None) -> str | None:
    return None if name is None else name.removeprefix(INPUT).removeprefix(OUTPUT)


TOLOKA = Importer(
    "toloka",
    "a file of results of Toloka",
    _recognises,
    _read,
    Example(
        "assignments.tsv",
        "INPUT:image_left\tINPUT:image_right\tOUTPUT:result\tGOLDEN:result\t"
        "ASSIGNMENT:worker_id\tASSIGNMENT:status\n"
        "p1.jpg\tp2.jpg\tsame\tsame\tw1\tAPPROVED\n"
        "p1.jpg\tp2.jpg\tsame\t\tw2\tAPPROVED\n"
        "p2.jpg\tp3.jpg\tdifferent\t\tw1\tSUBMITTED\n"
        "p2.jpg\tp3.jpg\tsame\t\tw3\tREJECTED\n",
    ),
    "Items from the two INPUT columns, the answer from OUTPUT, the annotator from "
    "ASSIGNMENT:worker_id. Rejected, skipped and expired assignments are left out and counted. "
    "Control tasks (GOLDEN) count as answers.",
    "https://github.com/Toloka/docs/blob/main/en/guide/concepts/result-of-eval.md",
)
