"""The registry: formats are named, recognised, added or refused."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from noisypairs import cli
from noisypairs.app.files import FORMATS, BadFile, Columns, read_pairs
from noisypairs.app.files.importers import (
    IMPORTERS,
    ImportedTable,
    Importer,
    PairsFile,
    answer_table,
    register,
)
from tests.app.files.importers.linked_items import LINKED, answers


def test_formats_are_named_or_refused(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("left,right,same\na,b,1\n")
    with pytest.raises(ValueError, match="did you mean 'splink'"):
        read_pairs(path, format="spink")
    for name, message in {
        "splink": "splink labels need the columns",
        "crowd-kit": "has the columns task, worker and label",
        "mturk": "two columns must name the items",
        "links": "says must-link or cannot-link",
        "dedupe": "not valid JSON",
        "metric-learn": "no file of numpy arrays",
    }.items():
        with pytest.raises(BadFile, match=message):
            read_pairs(path, format=name)
    assert answers(read_pairs(path, format="table")) == {("a", "b", True)}


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
