"""The registry: formats are named, recognised, added or refused."""

from __future__ import annotations

import json
import re
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from noisypairs import cli
from noisypairs.app.files import FORMATS, BadFile, Columns, read_dataset, read_pairs
from noisypairs.app.files.importers import (
    IMPORTERS,
    ImportedTable,
    Importer,
    PairsFile,
    answer_table,
    register,
)
from noisypairs.pairs.levels import read_scale
from noisypairs.pairs.pairs import words_of
from tests.app.files.importers.linked_items import LINKED, answers


def test_formats_are_named_or_refused(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("left,right,same\na,b,1\n")
    with pytest.raises(ValueError, match="did you mean 'splink'"):
        read_pairs(path, format="spink")
    for name, message in {
        "splink": "a file of splink has the columns unique_id_l, unique_id_r",
        "crowd-kit": "has the columns task, worker or performer, label",
        "mturk": "has the columns HITId, Input",
        "toloka": "has the columns INPUT",
        "prodigy": "holds no tasks with an answer",
        "labelbox": "holds no labels",
        "scale": "holds no completed tasks",
        "label-studio": "has the columns annotation_id, annotator, lead_time",
        "constraints": "line 1: expected two items and 1 or -1",
        "links": "says must-link or cannot-link",
        "dedupe": "not valid JSON",
        "metric-learn": "cannot be read as numpy arrays",
    }.items():
        with pytest.raises(BadFile, match=message):
            read_pairs(path, format=name)
    assert answers(read_pairs(path, format="table")) == {("a", "b", True)}


SHAPES = Path(__file__).parents[3] / "data" / "formats"
EXPORTS = sorted(path for path in SHAPES.iterdir() if path.name != "items.csv")


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.name)
def test_every_tools_shape_gives_the_same_answers_about_the_items_of_a_file(path):
    data = read_dataset(SHAPES / "items.csv", path)
    assert data.format == max((n for n in FORMATS if path.name.startswith(n)), key=len)
    assert data.ids == ["a", "b", "c"]
    assert answers(data) == LINKED
    assert data.features["size"].tolist() == [1.5, 1.4, 8.0]
    if data.annotator_names is not None:
        assert len(data.annotator_names) == 2  # never who was rejected, cancelled or unsure


#: What these formats can say is yes or no alone.
YES_OR_NO = ("constraints", "dedupe")


@pytest.mark.parametrize(
    "path", [p for p in EXPORTS if not p.name.startswith(YES_OR_NO)], ids=lambda path: path.name
)
def test_every_tools_grades_are_levels(path, tmp_path):
    meant = {"same": "identical", "different": "far"}
    text = path.read_text()
    for word, sense in read_dataset(SHAPES / "items.csv", path).mapping.items():
        new = meant.get(sense, "unclear")
        text = re.sub(rf"(?<![\w/]){re.escape(word)}(?![\w/])", new, text)
    graded = tmp_path / path.name
    graded.write_text(text)
    scale = read_scale("far<near<close<identical", "unclear")
    data = read_dataset(SHAPES / "items.csv", graded, scale=scale)
    decided = data.pairs.yes_or_no()
    assert {
        (left, right, same) for left, right, same in answers(replace(data, pairs=decided))
    } == LINKED
    assert set(words_of(data.pairs)) <= {"far", "identical", "unclear"}


def test_every_format_has_a_file_in_its_shape_and_an_example():
    shown = {read_dataset(SHAPES / "items.csv", path).format for path in EXPORTS}
    assert shown == set(FORMATS) - {"metric-learn", "ask"}  # binary, see their own tests
    assert all(one.reading for one in IMPORTERS.values())
    assert all(
        one.example for name, one in IMPORTERS.items() if name != "ask"
    )  # a command writes it


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "ask"])
def test_the_examples_are_read_by_their_own_importers(name, tmp_path, monkeypatch):
    example = IMPORTERS[name].example
    path = tmp_path / example.file
    assert len(example.text.splitlines()) <= 6
    if example.code:
        monkeypatch.chdir(tmp_path)
        exec(example.text, {})
    else:
        path.write_text(example.text, encoding="utf-8")
    data = read_pairs(path)
    assert data.format == name
    assert {"same", "different"} <= set(data.mapping.values()) | {"same", "different"}
    assert 0 < data.pairs.same.sum() < data.pairs.n_pairs
    assert data.pairs.n_items >= 3


def test_the_page_of_formats_is_what_its_script_writes():
    script = runpy.run_path(str(SHAPES.parents[2] / "docs" / "formats.py"))
    assert script["TARGET"].read_text(encoding="utf-8") == script["page"](), "run docs/formats.py"


@pytest.mark.parametrize(
    ("name", "text", "near"),
    [
        ("batch.csv", "HITId,Input.x,Input.z\n1,a,b\n", r"mturk \(there is no column Answer.\*\)"),
        ("crowd.csv", "task,label\nt1,1\n", r"crowd-kit \(there is no column worker or"),
        ("t.tsv", "INPUT:u\tINPUT:v\na\tb\n", r"toloka \(there is no column OUTPUT:\*\)"),
        ("labels.csv", "unique_id_l,score\na,1\n", r"splink \(there is no column unique_id_r\)"),
        ("train.json", '{"matches": []}', r"dedupe \(the object has neither match nor distinct\)"),
        ("todo.jsonl", '{"_task_hash": 1, "u": 2}\n', r"prodigy \(the tasks have no answer"),
        ("rows.ndjson", '{"data_row": {"id": 1}}\n', r"labelbox \(the data rows have no proj"),
        ("t.ndjson", '{"task_id": 1, "params": {}}\n', r"scale \(no task has a response"),
        ("p.json", '[{"data": {"u": 1}}]', r"label-studio \(the tasks have no annotations\)"),
        ("c.cons", "a b 1\nb c -1\nb c d e\n", r"constraints \(line 3 is not two items"),
        ("z.csv", "annotations,subject_data,u\nx,y,z\n", "zooniverse .*classification_id, user"),
    ],
)  # fmt: skip
def test_a_file_in_no_format_is_told_which_it_is_almost_in_and_why_not(tmp_path, name, text, near):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadFile, match=f"almost a file of .*{near}.*; noisypairs formats shows"):
        read_pairs(path)


def test_a_plain_table_that_is_near_nothing_gets_no_such_hint(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("u,v,w\n1,2,3\n")
    with pytest.raises(BadFile) as caught:
        read_pairs(path)
    assert "almost" not in str(caught.value)
    assert "--left and --right" in str(caught.value)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".jsonl", ".npz", ".npy"])
def test_vectors_are_numeric_features_whatever_holds_them(tmp_path, ending):
    X = np.array([[0.5, -1.0, 2e-3], [0.25, 4.0, 1e5], [3.0, 0.0, -7.5]])
    path = tmp_path / f"items{ending}"
    if ending in (".npz", ".npy"):
        named = {"ids": np.array(["a", "b", "c"]), "embedding": X}
        np.savez(path, **named) if ending == ".npz" else np.save(path, X)
        (tmp_path / "items_ids.txt").write_text("a\nb\nc\n")
    else:
        frame = pd.DataFrame({"id": ["a", "b", "c"], "embedding": X.tolist()})
        match ending:
            case ".csv":
                frame.to_csv(path, index=False)
            case ".parquet":
                frame.to_parquet(path)
            case _:
                frame.to_json(path, orient="records", lines=True)
    data = read_dataset(path, SHAPES / "crowd-kit.csv")
    assert data.ids == ["a", "b", "c"]
    np.testing.assert_array_equal(data.features.to_numpy(), X)
    assert data.features.dtypes.map(lambda kind: kind.kind).eq("f").all()
    assert any("numeric features" in note for note in data.notes)


def read_signs(file: PairsFile) -> ImportedTable:
    """Read lines such as "a + b" (same) and "b - c" (different)."""
    left, sign, right = zip(*(line.split() for line in file.text.splitlines()), strict=True)
    data = {"left": left, "right": right, "same": [1 if mark == "+" else 0 for mark in sign]}
    table = answer_table(file.path, file.content.source(len(left)), data)
    return ImportedTable(table, Columns("left", "right", "same"))


SIGNS = Importer("signs", "a sign per pair", lambda file: file.extension == ".signs", read_signs)


@pytest.fixture
def signs(tmp_path):
    """A file in a format that is registered for this test alone."""
    register(SIGNS)
    path = tmp_path / "pairs.signs"
    path.write_text("a + b\nb - c\na - c\n")
    yield path
    del IMPORTERS["signs"]


def test_a_registered_format_is_recognised_and_named(signs):
    assert "signs" in FORMATS
    for format in (None, "signs"):
        data = read_pairs(signs, format=format)
        assert data.format == "signs"
        assert answers(data) == LINKED
        assert data.sources[0]["rows"] == 3
    with pytest.raises(ValueError, match="there is a format 'signs' already"):
        register(SIGNS)


def test_the_command_line_takes_a_registered_format(signs):
    words = ["annotators", str(signs), "--format", "signs"]
    done = CliRunner().invoke(cli.application(), words)
    assert "do not say who answered" in done.stderr  # read, though it names no annotators
    done = CliRunner().invoke(cli.application(), [*words[:3], "sign"])
    assert "did you mean 'signs'" in done.stderr


@pytest.mark.parametrize("ending", [".json", ".jsonl"])
def test_records_in_json_are_recognised_by_their_columns(tmp_path, ending):
    rows = [{"task": "a|b", "worker": "w", "label": 1}, {"task": "b|c", "worker": "w", "label": 0}]
    path = tmp_path / f"crowd{ending}"
    for text in ("\n".join(map(json.dumps, rows)) + "\n", json.dumps(rows)):
        path.write_text(text)
        data = read_pairs(path)
        assert data.format == "crowd-kit"
        assert answers(data) == {("a", "b", True), ("b", "c", False)}
