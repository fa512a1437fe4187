"""The folder of a run: torn, damaged and foreign files."""

from __future__ import annotations

import json
import os
import random
from dataclasses import replace
from pathlib import Path

import pytest

from noisypairs.experiments import load_records
from noisypairs.experiments.records import (
    FolderMismatch,
    Record,
    append,
    configuration_of,
    open_folder,
    set_aside,
)
from tests.experiments.made_up_records import CANCER, SETUP, record


def test_a_torn_last_line_is_dropped_and_the_next_record_starts_anew(tmp_path: Path) -> None:
    first, second = record(CANCER, 0.9), record(replace(CANCER, seed=1), 0.8)
    open_folder(tmp_path, SETUP, resume=False)
    append(tmp_path / "records.jsonl", first)
    with (tmp_path / "records.jsonl").open("ab") as file:
        file.write(second.line()[:40])
    assert load_records(tmp_path) == {CANCER: first}
    open_folder(tmp_path, SETUP, resume=True)
    append(tmp_path / "records.jsonl", second)
    assert list(load_records(tmp_path).values()) == [first, second]


def written(folder: Path, *lines: bytes) -> Path:
    """Make a folder whose records are these lines."""
    open_folder(folder, SETUP, resume=False)
    (folder / "records.jsonl").write_bytes(b"".join(lines))
    return folder


def test_a_torn_line_in_the_middle_is_set_aside_and_said(tmp_path: Path) -> None:
    first, second, third = (record(replace(CANCER, seed=k), 0.8) for k in range(3))
    folder = written(tmp_path, first.line(), second.line()[:40] + b"\n", third.line())
    note = open_folder(folder, SETUP, resume=True)
    assert note is not None
    assert "records.jsonl: 1 damaged line (number 2) set aside in" in note
    assert list(load_records(folder).values()) == [first, third]
    assert (folder / "records.damaged").read_bytes() == second.line()[:40] + b"\n"
    assert open_folder(folder, SETUP, resume=True) is None  # said once
    (folder / "records.jsonl").write_bytes(first.line() + b"[]\n")
    open_folder(folder, SETUP, resume=True)
    assert (folder / "records.damaged").read_bytes() == second.line()[:40] + b"\n[]\n"


def test_a_record_after_a_part_of_one_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = record(CANCER, 0.9), record(replace(CANCER, seed=1), 0.8)
    folder, write = written(tmp_path), os.write
    with monkeypatch.context() as full:
        full.setattr(os, "write", lambda handle, data: write(handle, data[:40]))
        with pytest.raises(OSError, match="the disk took only a part of a record"):
            append(folder / "records.jsonl", first)
    append(folder / "records.jsonl", second)
    open_folder(folder, SETUP, resume=True)
    assert list(load_records(folder).values()) == [second]


def test_damaged_lines_alone_are_not_written_over_without_resume(tmp_path: Path) -> None:
    folder = written(tmp_path, b"{}\n")
    with pytest.raises(FolderMismatch, match="add --resume"):
        open_folder(folder, SETUP, resume=False)
    assert (folder / "records.jsonl").read_bytes() == b"{}\n"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff\xfe",
        b"3",
        b"[" * 100_000,
        record(CANCER, 0.9).line().replace(b'"cancer"', b"[1]"),
        record(CANCER, 0.9).line().replace(b"0.9", b"NaN"),
        record(CANCER, 0.9).line().replace(b"0.9", b'"good"'),
        record(CANCER, 0.9).line().replace(b'"refused"', b'"refuse"'),
    ],
    ids=["empty", "no text", "number", "deep", "no name", "NaN", "no number", "no field"],
)
def test_what_is_no_record_is_set_aside(tmp_path: Path, line: bytes) -> None:
    first = record(replace(CANCER, seed=1), 0.9)
    folder = written(tmp_path, line.rstrip(b"\n") + b"\n", first.line())
    assert open_folder(folder, SETUP, resume=True) is not None
    assert list(load_records(folder).values()) == [first]


def test_any_mutated_bytes_cost_their_own_lines_alone(tmp_path: Path) -> None:
    draw, specs = random.Random(12), [replace(CANCER, seed=k) for k in range(20)]
    whole = [record(spec, 0.9).line() for spec in specs]
    for _ in range(40):
        content = bytearray(b"".join(whole))
        for _ in range(3):
            content[draw.randrange(len(content))] = draw.randrange(256)
        (tmp_path / "records.jsonl").write_bytes(content)
        note = set_aside(tmp_path)
        kept, lines = (tmp_path / "records.jsonl").read_bytes(), content.splitlines(True)
        assert len(load_records(tmp_path)) >= len(specs) - 6
        assert all(line in kept for line in whole if line in lines)
        assert (note is None) == (kept == content)


def test_of_two_records_of_a_spec_the_first_counts(tmp_path: Path) -> None:
    for accuracy in (0.9, 0.1):
        append(tmp_path / "records.jsonl", record(CANCER, accuracy))
    assert load_records(tmp_path)[CANCER].accuracy == 0.9


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    append(tmp_path / "records.jsonl", record(CANCER, 0.9))
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write("{}\n")
    with pytest.raises(FolderMismatch, match=r"records.jsonl, line 2 is not a record"):
        load_records(tmp_path)


def test_a_line_of_other_types_is_no_record() -> None:
    good = json.loads(record(CANCER, 0.9).line())
    for change in ({"details": []}, {"refused": 3}, {"accuracy": "0.9"}, {"seconds": 1e300}):
        with pytest.raises(ValueError, match="Error"):
            Record.from_line(json.dumps(good | change).encode())
    for change in ({"dataset": ["cancer"]}, {"rates": [0.1]}, {"seed": "0"}, {"density": None}):
        line = json.dumps(good | {"spec": good["spec"] | change}).encode()
        with pytest.raises(ValueError, match="TypeError"):
            Record.from_line(line)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"decides": 1.5, "data": {}}', '{"decides": {}, "data": {"cancer": {}}}', "3"],
)
def test_a_damaged_configuration_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(FolderMismatch, match=r"run\.json cannot be read"):
        configuration_of(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decides": {"seed": 1}}, "seed is 0 there and 1 now"),
        ({"data": {"cancer": {"sha256": {"file": "xyz"}}}}, "'cancer' has another checksum"),
    ],
)
def test_a_folder_of_another_configuration_is_refused_untouched(
    tmp_path: Path, change: dict, message: str
) -> None:
    open_folder(tmp_path, SETUP, resume=False)
    before = (tmp_path / "run.json").read_bytes()
    with pytest.raises(FolderMismatch, match=message):
        open_folder(tmp_path, SETUP | change, resume=True)
    assert (tmp_path / "run.json").read_bytes() == before


def test_records_without_resume_are_refused(tmp_path: Path) -> None:
    open_folder(tmp_path, SETUP, resume=False)
    open_folder(tmp_path, SETUP, resume=False)  # nothing in it yet
    append(tmp_path / "records.jsonl", record(CANCER, 0.9))
    with pytest.raises(FolderMismatch, match="add --resume"):
        open_folder(tmp_path, SETUP, resume=False)


def test_a_folder_takes_further_tables(tmp_path: Path) -> None:
    open_folder(tmp_path, SETUP, resume=False)
    open_folder(tmp_path, SETUP | {"data": {"magic": {"sha256": {}}}}, resume=True)
    assert set(json.loads((tmp_path / "run.json").read_text())["data"]) == {"cancer", "magic"}


def test_records_that_nobody_accounts_for_are_refused(tmp_path: Path) -> None:
    append(tmp_path / "records.jsonl", record(CANCER, 0.9))
    with pytest.raises(FolderMismatch, match=r"no run.json"):
        open_folder(tmp_path, SETUP, resume=True)
