"""Good files of every kind that a command reads: what the mutators start from.

A new kind of file gets a function here and a line in `KINDS`; a new way to change its content goes
into `mutators.BY_ENDING`.
"""

from __future__ import annotations

import gzip
import io
import json
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from noisypairs import cli
from noisypairs.app.ask.answers import Answers
from noisypairs.app.ask.database import Database
from noisypairs.app.ask.people import People
from noisypairs.app.ask.questions import RANDOM, Pick, Questions
from tests.fuzz.mutators import BY_ENDING

#: Few enough that a fit takes seconds, and enough that every command gets to its end.
N_ITEMS, N_ANSWERS = 24, 220


@dataclass(frozen=True)
class Sample:
    """Files that belong together: name -> content, and role in a command -> file or folder."""

    files: Mapping[str, bytes]
    roles: Mapping[str, str]

    def damaged(self, rng: Random) -> dict[str, bytes]:
        """Return the files with at least one of them changed."""
        names = sorted(self.files)
        chosen = set(rng.sample(names, rng.choice((1, 1, 1, len(names)))))
        return {
            name: rng.choice(BY_ENDING[Path(name).suffix])(content, rng)
            if name in chosen
            else content
            for name, content in self.files.items()
        }


def items_and_answers() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two clear classes with columns of every kind, and what three people said of them."""
    rng = np.random.default_rng(0)
    k = np.arange(N_ITEMS)
    y = k % 3 == 0
    ids = [f"{one:03d}" for one in k]
    items = pd.DataFrame(
        {
            "id": ids,
            "size": np.round(rng.normal(size=N_ITEMS) + 4 * y, 3),
            "colour": np.where(y == (rng.random(N_ITEMS) < 0.9), "red", "blue"),
            "note": [f"item, number {one % 5}" for one in k],
            "seen": [f"2024-02-{1 + one % 28:02d}" for one in k],
        }
    )
    left = rng.integers(0, N_ITEMS, N_ANSWERS)
    right = (left + rng.integers(1, N_ITEMS, N_ANSWERS)) % N_ITEMS
    same = (y[left] == y[right]) != (rng.random(N_ANSWERS) < 0.04)
    answers = pd.DataFrame(
        {
            "left": [ids[i] for i in left],
            "right": [ids[i] for i in right],
            "same": np.where(same, "yes", "no"),
            "worker": rng.choice(["ann", "bob", "cid"], N_ANSWERS),
        }
    )
    return items, answers


def _tables(ending: str, write: Callable[[pd.DataFrame], bytes]) -> Sample:
    items, answers = items_and_answers()
    labels = items[["id"]].head(4).assign(label=["yew", "ash", "ash", "yew"])
    found = {"items": items, "pairs": answers, "labels": labels}
    roles = {role: f"{role}{ending}" for role in found}
    return Sample({roles[role]: write(frame) for role, frame in found.items()}, roles)


def _csv(frame: pd.DataFrame, mark: str = ",") -> bytes:
    return frame.to_csv(index=False, sep=mark).encode()


def _parquet(frame: pd.DataFrame) -> bytes:
    written = io.BytesIO()
    frame.to_parquet(written, index=False)
    return written.getvalue()


def _json_lines(frame: pd.DataFrame) -> bytes:
    return frame.to_json(orient="records", lines=True).encode()


def _export(name: str, content: bytes, has_items: bool = True) -> Sample:
    """Return another tool's export, which may hold the items too."""
    if has_items:
        return Sample({name: content}, {"items": name, "pairs": name})
    files = {"items.csv": _csv(items_and_answers()[0]), name: content}
    return Sample(files, {"items": "items.csv", "pairs": name})


def _ask() -> Sample:
    """Return the store of a project, as `noisypairs ask` leaves it."""
    items, answers = items_and_answers()
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder, "answers.db"))
        database.run("PRAGMA synchronous = OFF")
        ids = list(items["id"])
        numbers, people = database.add_items(ids, [""] * len(ids)), People(database)
        questions, given = Questions(database, 0.0, seed=0), Answers(database)
        for left, right, same, worker in answers.itertuples(index=False):
            person = people.join(worker, known_too=True)
            ends = sorted((numbers[left], numbers[right]))
            question = questions.ask(person, Pick(*ends, RANDOM))
            said = "same" if same == "yes" else "different"
            given.record(person, question.number, said, 1.0, False)
        database.run("VACUUM INTO ?", str(Path(folder, "whole.db")))
        database.close()
        files = {"items.csv": _csv(items), "answers.db": Path(folder, "whole.db").read_bytes()}
    return Sample(files, {"items": "items.csv", "pairs": "answers.db"})


def _dedupe() -> Sample:
    items, answers = items_and_answers()
    records = {row["id"]: row for row in items.to_dict("records")}
    couples: dict[str, list[Any]] = {"match": [], "distinct": []}
    for left, right, same, _ in answers.itertuples(index=False):
        couple = {"__class__": "tuple", "__value__": [records[left], records[right]]}
        couples["match" if same == "yes" else "distinct"].append(couple)
    return _export("training.json", json.dumps(couples).encode())


def _label_studio() -> Sample:
    tasks = []
    for left, right, same, worker in items_and_answers()[1].itertuples(index=False):
        choice = {"type": "choices", "from_name": "q", "value": {"choices": [same]}}
        annotation = {"completed_by": {"id": 1, "email": worker}, "result": [choice]}
        data = {"text1": f"item {left}", "text2": f"item {right}"}
        tasks.append({"id": len(tasks), "data": data, "annotations": [annotation]})
    return _export("export.json", json.dumps(tasks).encode())


def _metric_learn() -> Sample:
    items, answers = items_and_answers()
    rows = items[["size"]].assign(k=np.arange(N_ITEMS) % 7).to_numpy(dtype=float)
    ends = answers[["left", "right"]].astype(int).to_numpy()
    written = io.BytesIO()
    np.savez(written, pairs=rows[ends], y=np.where(answers["same"] == "yes", 1, -1))
    return _export("tuples.npz", written.getvalue())


def _mturk() -> Sample:
    left, right, same, worker = (items_and_answers()[1][name] for name in items_and_answers()[1])
    batch = {"HITId": left + right, "WorkerId": worker, "AssignmentStatus": "Approved"}
    batch |= {"Input.item1_id": left, "Input.item2_id": right, "Answer.same": same}
    return _export("batch.csv", _csv(pd.DataFrame(batch)), has_items=False)


def _crowd_kit() -> Sample:
    answers = items_and_answers()[1]
    frame = {"task": answers["left"] + "|" + answers["right"], "worker": answers["worker"]}
    label = np.where(answers["same"] == "yes", "same", "different")
    return _export("crowd.csv", _csv(pd.DataFrame({**frame, "label": label})), has_items=False)


def _splink() -> Sample:
    answers = items_and_answers()[1]
    score = np.where(answers["same"] == "yes", 1.0, 0.0)
    named = {"unique_id_l": answers["left"], "unique_id_r": answers["right"]}
    frame = pd.DataFrame({**named, "clerical_match_score": score})
    return _export("labels.csv", _csv(frame), has_items=False)


def _links() -> Sample:
    items, answers = items_and_answers()
    files = {"items.csv": _csv(items)}
    for name, word in (("must_link.csv", "yes"), ("cannot_link.csv", "no")):
        files[name] = _csv(answers.loc[answers["same"] == word, ["left", "right"]])
    return Sample(files, {"items": "items.csv", "pairs": "must_link.csv"})


def _answered() -> list[tuple[str, str, str, str]]:
    return list(items_and_answers()[1].itertuples(index=False, name=None))


def _lines(records: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(one)}\n" for one in records).encode()


def _prodigy() -> Sample:
    said = {"yes": "accept", "no": "reject"}
    records = [
        {"left": a, "right": b, "answer": said[w], "_task_hash": k, "_annotator_id": who}
        for k, (a, b, w, who) in enumerate(_answered())
    ]
    return _export("db.jsonl", _lines(records), has_items=False)


def _labelbox() -> Sample:
    records = []
    for a, b, w, who in _answered():
        said = {"classifications": [{"name": "same", "radio_answer": {"name": w}}]}
        label = {"label_details": {"created_by": who}, "annotations": said}
        row = {"id": "r", "global_key": f"{a}|{b}"}
        records.append({"data_row": row, "projects": {"p": {"labels": [label]}}})
    return _export("export.jsonl", _lines(records), has_items=False)


def _scale() -> Sample:
    records = []
    for k, (a, b, w, _) in enumerate(_answered()):
        said = {"annotations": {"same": {"type": "category", "response": [[w]]}}}
        shown = {"left_id": a, "right_id": b}
        records.append({"task_id": f"t{k}", "metadata": shown, "params": {}, "response": said})
    return _export("tasks.json", json.dumps(records).encode(), has_items=False)


def _toloka() -> Sample:
    answers = items_and_answers()[1]
    names = {"INPUT:left": "left", "INPUT:right": "right", "OUTPUT:same": "same"}
    frame = pd.DataFrame({name: answers[column] for name, column in names.items()})
    frame["ASSIGNMENT:worker_id"], frame["ASSIGNMENT:status"] = answers["worker"], "APPROVED"
    return _export("pool.tsv", _csv(frame, "\t"), has_items=False)


def _zooniverse() -> Sample:
    rows = [
        {
            "classification_id": k,
            "user_name": who,
            "annotations": json.dumps([{"task": "T0", "value": w}]),
            "subject_data": json.dumps({f"{k}": {"left": a, "right": b}}),
        }
        for k, (a, b, w, who) in enumerate(_answered())
    ]
    return _export("classifications.csv", _csv(pd.DataFrame(rows)), has_items=False)


def _constraints() -> Sample:
    sign = {"yes": "1", "no": "-1"}
    lines = "".join(f"{a}\t{b}\t{sign[w]}\n" for a, b, w, _ in _answered())
    return _export("wine.tsv", lines.encode(), has_items=False)


def _workbook(frame: pd.DataFrame) -> bytes:
    written = io.BytesIO()
    frame.to_excel(written, index=False, engine="openpyxl")
    # Without the time of writing: the same seed must give the same damage.
    with zipfile.ZipFile(written) as old:
        members = {one: old.read(one) for one in old.namelist() if one != "docProps/core.xml"}
    again = io.BytesIO()
    with zipfile.ZipFile(again, "w", zipfile.ZIP_DEFLATED) as new:
        for name, content in members.items():
            new.writestr(zipfile.ZipInfo(name), content)
    return again.getvalue()


def _model() -> Sample:
    """Return a model file with its training data, as `noisypairs fit` writes it."""
    csv = _tables(".csv", _csv)
    words = "fit items.csv pairs.csv -o model.skops --classes 2 --estimator logistic --quiet"
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, content in csv.files.items():
            Path(name).write_bytes(content)
        done = CliRunner().invoke(cli.application(), words.split())
        assert done.exit_code == 0, done.stderr
        files = {name: Path(name).read_bytes() for name in ("model.skops", *csv.files)}
    return Sample(files, {"model": "model.skops", "new": "items.csv", **csv.roles})


#: Name of the kind -> its files.
KINDS: dict[str, Callable[[], Sample]] = {
    "csv": lambda: _tables(".csv", _csv),
    "tsv": lambda: _tables(".tsv", lambda frame: _csv(frame, "\t")),
    "gzip": lambda: _tables(".csv.gz", lambda frame: gzip.compress(_csv(frame), mtime=0)),
    "parquet": lambda: _tables(".parquet", _parquet),
    "json-lines": lambda: _tables(".jsonl", _json_lines),
    "workbook": lambda: _tables(".xlsx", _workbook),
    "constraints": _constraints,
    "ask": _ask,
    "crowd-kit": _crowd_kit,
    "dedupe": _dedupe,
    "label-studio": _label_studio,
    "labelbox": _labelbox,
    "links": _links,
    "metric-learn": _metric_learn,
    "mturk": _mturk,
    "prodigy": _prodigy,
    "scale": _scale,
    "splink": _splink,
    "toloka": _toloka,
    "zooniverse": _zooniverse,
    "model": _model,
}


def good_samples() -> dict[str, Sample]:
    """Return the samples of `KINDS`."""
    return {name: make() for name, make in KINDS.items()}


def made_samples(folder: Path, run: Callable[..., Any]) -> dict[str, Sample]:
    """Return what a longer command of this version writes: a folder of records."""
    run(f"{RECORDS} --out run")
    records = {f"run/{one}": (folder / "run" / one).read_bytes() for one in RECORD_FILES}
    return {"records": Sample(records, {"run": "run"})}


#: Cells that take a tenth of a second each.
RECORDS = "reproduce table1 --datasets cancer --methods km,km-cop --repeats 2 --pairs-per-item 2"
RECORDS += " --jobs 1 --quiet"
RECORD_FILES = ("run.json", "records.jsonl")
