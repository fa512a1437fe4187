"""The folder of a run: torn, damaged and foreign files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from noisypairs.app.experiments import load_records
from noisypairs.app.experiments.records import FolderMismatch, append, open_folder
from tests.app.experiments.made_up_records import CANCER, SETUP, record


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
